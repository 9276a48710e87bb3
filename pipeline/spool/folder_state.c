/* What several files of the room do with the state of a worker's claims. */
#include "pipeline/spool/folder_state.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

void ics_folder_note(ics_folder *folder, const char *key, const char *format, ...)
{
    if (folder->note == NULL || folder->noted.count > ICS_NOTES_MAX ||
        ics_spool_names_have(&folder->noted, key)) {
        return;
    }
    if (folder->noted.count == ICS_NOTES_MAX) {
        key = "";
        format = "more files are passed over in the input folder; no more of them are reported";
    }
    if (ics_spool_names_add(&folder->noted, key) != 0) {
        return; /* told another time */
    }
    ics_spool_names_sort(&folder->noted);
    char line[2 * PATH_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    folder->note(folder->user, line);
}

int ics_folder_beat(ics_folder *folder, icestream_error *error)
{
    int result = ics_lease_beat(folder->home.text, &folder->now_ns);
    if (result != 0 && (errno == ENOENT || errno == ESTALE)) {
        result = ics_lease_write(folder->home.text, folder->lease);
        if (result == 0) {
            result = ics_lease_beat(folder->home.text, &folder->now_ns);
        }
    }
    return result == 0 ? ICESTREAM_OK
                       : ics_spool_error(error, folder->home.text,
                                         "cannot renew this worker's lease", NULL);
}

ics_held_claim *ics_folder_held(const ics_folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->held_count; ++i) {
        if (strcmp(folder->held[i].name, name) == 0) {
            return &folder->held[i];
        }
    }
    return NULL;
}

int ics_folder_put_back(ics_folder *folder, const char *file, const char *name, bool finished,
                        bool *there, icestream_error *error)
{
    ics_path to = ics_spool_path_join(folder->directory, name);
    int result = ics_spool_move(file, to.text);
    if (result != 0 && errno == EEXIST && finished) {
        result = ics_spool_move_numbered(file, folder->done.text, name, &to);
    } else if (result != 0 && errno == EEXIST) {
        folder->left_at_home = true;
        *there = true;
        return ICESTREAM_OK;
    }
    int cause = errno;
    *there = result == 0 || ics_spool_path_exists(file);
    errno = cause;
    return result == 0 || !*there
               ? ICESTREAM_OK
               : ics_spool_error(error, file, "cannot be put back into the input folder", NULL);
}
