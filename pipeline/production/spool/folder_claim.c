/* Claiming one file. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Claims a file by renaming it. Returns 1 if it is ours, 0 if another worker was faster, -1 with
 * errno. A link and an unlink instead could succeed for two workers. A plain rename would replace
 * `to`, but only this worker makes names in its folder, so `to` cannot appear after the first line.
 */
static int claim_file(const char *from, const char *to)
{
    if (ics_spool_path_exists(to)) {
        return 0; /* an older file with this name is still claimed and must be finished first */
    }
    if (rename(from, to) == 0) {
        return 1;
    }
    if (errno != ENOENT && errno != ESTALE) {
        return -1;
    }
    /* A file server may rename the file, lose its answer, and find nothing when it is asked again.
     */
    if (ics_spool_path_exists(to)) {
        return 1;
    }
    errno = ENOENT;
    return ics_spool_path_exists(from) ? -1 : 0;
}

/* Calls claim_file(). Creates this worker's folder again if other workers removed it as expired. */
static int claim_file_home(ics_claim_request *request, const ics_claimable *what, const char *to)
{
    int result = claim_file(what->from.text, to);
    for (unsigned tries = 0; result < 0 && errno == ENOENT && tries < ICS_FOLDER_TRIES; ++tries) {
        if (ics_folder_beat(request->folder, request->error) != ICESTREAM_OK) {
            return -1;
        }
        result = claim_file(what->from.text, to);
    }
    return result;
}

bool ics_folder_denied(int cause)
{
    return cause == EACCES || cause == EPERM;
}

/* Whether errno describes a lasting fault of this file. */
static bool is_final(int cause)
{
    return cause == ENOENT || cause == ENOTDIR || cause == ELOOP || cause == EACCES ||
           cause == EPERM || cause == ENAMETOOLONG;
}

/* The reason why a file must not be processed; NULL: none. `look`: errno of ics_folder_look(), or
 * 0.
 */
static char *refusal_of(const ics_folder *folder, const ics_claimable *what, int look,
                        const struct stat *about)
{
    if (look != 0) {
        return ics_new_text("%s: cannot be examined: %s", what->name, strerror(look));
    }
    if (!S_ISREG(about->st_mode)) {
        return ics_new_text("%s: found something that is not a file, expected a step file",
                            what->name);
    }
    if (folder->options.attempts == 0 || what->attempt <= folder->options.attempts) {
        return NULL;
    }
    return ics_new_text("%s: begun %" PRIu32 " times by workers that ended before it was finished, "
                        "the last time by %s; it is quarantined because it may be what ends them",
                        what->name, what->attempt - 1, what->before);
}

/* Remembers a file that was claimed and could not be returned. No worker has begun it, so the next
 * take tries again and does not count another attempt. */
static void strand(ics_folder *folder, const ics_path *file)
{
    const char *name = strrchr(file->text, '/') + 1;
    folder->left_at_home = true;
    if (!ics_spool_names_have(&folder->stranded, name)) {
        ics_spool_names_add(&folder->stranded, name);
        ics_spool_names_sort(&folder->stranded);
    }
}

/* Adds a claim to the request and to the held claims. */
static void add_claim(ics_claim_request *request, const ics_claimable *what, const ics_path *file,
                      const ics_path *target, const struct stat *about, int look)
{
    ics_folder *folder = request->folder;
    if (folder->held_count == folder->held_capacity) {
        folder->held_capacity = folder->held_capacity == 0 ? 16 : 2 * folder->held_capacity;
        folder->held = ics_new_size(folder->held, folder->held_capacity, sizeof *folder->held);
    }
    folder->held[folder->held_count++] = (ics_held_claim){.name = ics_new_copy(what->name),
                                                          .file = *file,
                                                          .ticket = ++folder->tickets,
                                                          .identity = ics_marks_identity_of(about)};
    request->out[request->count++] = (ics_claim){.name = ics_new_copy(what->name),
                                                 .path = ics_new_copy(target->text),
                                                 .bytes = (uint64_t)about->st_size,
                                                 .arrived = (double)about->st_ctim.tv_sec +
                                                            1e-9 * (double)about->st_ctim.tv_nsec,
                                                 .attempt = what->attempt,
                                                 .refusal = refusal_of(folder, what, look, about),
                                                 .ticket = folder->tickets};
}

/* Adds a file of this worker's folder to the request, unless it is done already or is gone. */
static int describe(ics_claim_request *request, const ics_claimable *what, const ics_path *file)
{
    ics_folder *folder = request->folder;
    struct stat about = {0};
    ics_path target = *file;
    int look = ics_folder_look(folder, file->text, &target, &about) == 0 ? 0 : errno;
    if (look != 0 && !ics_spool_path_exists(file->text)) {
        return ICESTREAM_OK;
    }
    errno = look;
    if (look != 0 && !is_final(look)) {
        return ics_spool_error(request->error, file->text, "cannot be examined", NULL);
    }
    int done =
        look == 0 ? ics_folder_look_done(folder, what->name, ics_marks_identity_of(&about)) : 0;
    if (done < 0) {
        return ics_spool_error(request->error, folder->marks_folder.text,
                               "cannot look for a mark in it", NULL);
    }
    if (done > 0) {
        /* A worker was killed after it had marked the file and before it moved it back. Or another
         * worker finished the file between our scan and our claim. */
        bool there = true;
        return ics_folder_put_back(folder, file->text, what->name, true, &there, request->error);
    }
    add_claim(request, what, file, &target, &about, look);
    return ICESTREAM_OK;
}

int ics_folder_claim(ics_claim_request *request, const ics_claimable *what)
{
    ics_folder *folder = request->folder;
    struct stat before;
    size_t count = request->count;
    /* The time of arrival must be read before the rename, which changes it. */
    bool known = ics_folder_look(folder, what->from.text, NULL, &before) == 0;
    if (known && what->before == NULL &&
        ics_folder_look_done(folder, what->name, ics_marks_identity_of(&before)) == 1) {
        return ICESTREAM_OK; /* another worker finished the file after our scan */
    }
    ics_path to =
        ics_spool_path_format("%s/%" PRIu32 "~%s", folder->home.text, what->attempt, what->name);
    bool here = strcmp(what->from.text, to.text) == 0; /* a stranded file */
    int result = here ? 1 : claim_file_home(request, what, to.text);
    if (result < 0 && ics_folder_denied(errno)) {
        ics_folder_note(folder, what->from.text,
                        "%s: cannot be claimed: %s; it is left where it is", what->from.text,
                        strerror(errno));
        return ICESTREAM_OK;
    }
    if (result < 0) {
        return ics_spool_error(request->error, what->from.text, "cannot be claimed", NULL);
    }
    if (result == 0 && ics_spool_path_exists(to.text)) {
        folder->left_at_home = true;
    }
    int status = result == 1 ? describe(request, what, &to) : ICESTREAM_OK;
    if (status != ICESTREAM_OK) {
        strand(folder, &to);
    }
    if (request->count > count && known) {
        request->out[count].arrived =
            (double)before.st_ctim.tv_sec + 1e-9 * (double)before.st_ctim.tv_nsec;
    }
    return status;
}
