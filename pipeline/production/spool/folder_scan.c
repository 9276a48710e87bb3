/* Looking through the shared folder for step files. */
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/spool/folder_state.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_PAUSE  INT64_C(60000000000) /* ns, from one scan to the next */
#define COARSEST_CLOCK INT64_C(2500000000)  /* ns: some file systems count in steps of 2 s */

const char *ics_folder_parse(const char *file, uint32_t *attempt)
{
    uint64_t number = 0;
    const char *end = file;
    for (; *end >= '0' && *end <= '9' && number < UINT32_MAX; ++end) {
        number = 10 * number + (uint64_t)(*end - '0');
    }
    if (number == 0 || number >= UINT32_MAX || *end != '~' || end[1] == 0) {
        return NULL;
    }
    *attempt = (uint32_t)number;
    return end + 1;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

bool ics_claims_is_step_file(const char *pattern, const char *name)
{
    return name[0] != '.' && !ends_with(name, ".part") && !ends_with(name, ".tmp") &&
           (pattern == NULL || fnmatch(pattern, name, 0) == 0);
}

int ics_folder_look(const ics_folder *folder, const char *file, ics_path *target,
                    struct stat *about)
{
    struct stat entry;
    if (lstat(file, &entry) != 0) {
        return -1;
    }
    ics_path path = ics_spool_path_format("%s", file);
    *about = entry;
    if (S_ISLNK(entry.st_mode)) {
        char text[PATH_MAX];
        ssize_t length = readlink(file, text, sizeof text - 1);
        if (length < 0) {
            return -1;
        }
        text[length] = 0;
        path = text[0] == '/' ? ics_spool_path_format("%s", text)
                              : ics_spool_path_join(folder->directory, text);
        if (stat(path.text, about) != 0) {
            return -1;
        }
        about->st_ctim = entry.st_ctim; /* the file arrived when the link arrived */
    }
    if (target != NULL) {
        *target = path;
    }
    return 0;
}

int ics_folder_look_done(ics_folder *folder, const char *name, ics_identity identity)
{
    int marked = ics_marks_has(folder->marks, name, identity);
    if (marked != 1 || folder->options.has_results == NULL) {
        return marked;
    }
    return folder->options.has_results(folder->options.user, name) ? 1 : 0;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static int compare_candidates(const void *left, const void *right)
{
    const ics_candidate *a = left, *b = right;
    return a->arrived_ns != b->arrived_ns ? (a->arrived_ns < b->arrived_ns ? -1 : 1)
                                          : strcmp(a->name, b->name);
}

static void add_candidate(ics_candidates *list, const char *name, const struct stat *about)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = ics_new_size(list->items, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] =
        (ics_candidate){.name = ics_new_copy(name),
                        .arrived_ns = (int64_t)about->st_ctim.tv_sec * INT64_C(1000000000) +
                                      about->st_ctim.tv_nsec};
}

/* Notes why a file with the name of a step file cannot be claimed, unless it is gone. */
static void note_unusable(ics_folder *folder, const char *path, const char *name, int cause)
{
    if (ics_spool_path_exists(path)) {
        ics_folder_note(folder, name, "%s: %s, expected a file; it is left where it is", path,
                        cause == ENOENT ? "found a link that leads nowhere" : strerror(cause));
    }
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a folder"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISFIFO(mode) ? "a pipe"
                            : "a device";
}

typedef struct scan {
    ics_folder *folder;
    ics_candidates *out;
} scan;

/* Adds one name to the candidates if it is a waiting step file. 0, or -1 with errno. Finished files
 * are not kept in memory: there may be 1e5 of them. */
static int consider(void *user, const char *name)
{
    const scan *self = user;
    ics_folder *folder = self->folder;
    struct stat about;
    ics_path path = ics_spool_path_join(folder->directory, name);
    if (!ics_claims_is_step_file(folder->pattern, name)) {
        return 0;
    }
    if (folder->options.is_output != NULL &&
        folder->options.is_output(folder->options.user, name)) {
        ics_folder_note(folder, name,
                        "%s: found the name of an output, expected a step file; it is left where "
                        "it is",
                        path.text);
        return 0;
    }
    if (ics_folder_look(folder, path.text, NULL, &about) != 0) {
        if (errno == ENOMEM) { /* of the kernel */
            return -1;
        }
        note_unusable(folder, path.text, name, errno);
        return 0;
    }
    if (!S_ISREG(about.st_mode)) {
        ics_folder_note(folder, name, "%s: found %s, expected a file; it is left where it is",
                        path.text, kind_of(about.st_mode));
        return 0;
    }
    if (strlen(name) > ICS_CLAIM_NAME_MAX) {
        ics_folder_note(
            folder, name,
            "%s: found a name of %zu bytes, expected at most %d; it is left where it is", path.text,
            strlen(name), ICS_CLAIM_NAME_MAX);
        return 0;
    }
    int done = ics_folder_look_done(folder, name, ics_marks_identity_of(&about));
    if (done == 0) {
        add_candidate(self->out, name, &about);
    }
    return done < 0 ? -1 : 0;
}

/* Lists the names that workers are processing. A newer file with such a name must wait, because
 * both files would have the same output. */
static int list_busy(const ics_folder *folder, ics_names *busy)
{
    ICS_FREES_NAMES ics_names workers = {0};
    int result = ics_spool_folder_list(folder->claimed.text, &workers);
    for (size_t i = 0; i < workers.count && result == 0; ++i) {
        ICS_FREES_NAMES ics_names files = {0};
        result = ics_spool_folder_list(
            ics_spool_path_join(folder->claimed.text, workers.items[i]).text, &files);
        if (result != 0 && ics_spool_is_gone(errno)) {
            result = 0; /* the folder was removed in between */
        }
        for (size_t j = 0; j < files.count && result == 0; ++j) {
            uint32_t attempt;
            const char *name = ics_folder_parse(files.items[j], &attempt);
            if (name != NULL) {
                ics_spool_names_add(busy, name);
            }
        }
    }
    ics_spool_names_sort(busy);
    return result;
}

/* Removes busy names from the candidates. */
static void leave_out(ics_candidates *list, const ics_names *busy)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i) {
        if (ics_spool_names_have(busy, list->items[i].name)) {
            free(list->items[i].name);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
}

bool ics_folder_is_unchanged(const ics_folder *folder)
{
    const ics_unchanged *unchanged = &folder->unchanged;
    struct stat about;
    return unchanged->known && folder->now_ns - unchanged->since_ns < LONGEST_PAUSE &&
           folder->now_ns >= unchanged->since_ns && stat(folder->directory, &about) == 0 &&
           ics_spool_modified_ns(&about) == unchanged->modified_ns;
}

/* Remembers whether a scan found nothing. A very recent modification time proves nothing: a change
 * right after the scan may have left the same time. */
static void note_unchanged(ics_folder *folder, const struct stat *before, bool nothing)
{
    folder->unchanged = (ics_unchanged){
        .known = nothing && folder->now_ns - ics_spool_modified_ns(before) > COARSEST_CLOCK,
        .modified_ns = ics_spool_modified_ns(before),
        .since_ns = folder->now_ns};
}

int ics_folder_scan(ics_folder *folder, ics_candidates *out, icestream_error *error)
{
    struct stat before = {0};
    bool seen = stat(folder->directory, &before) == 0;
    ICS_FREES_NAMES ics_names busy = {0};
    *out = (ics_candidates){0};
    scan self = {.folder = folder, .out = out};
    /* In this order: a file that is claimed between the two steps is found in the second. */
    int result = ics_spool_folder_visit(folder->directory, consider, &self);
    if (result == 0) {
        result = list_busy(folder, &busy);
    }
    if (result != 0) {
        const int status =
            ics_spool_error(error, folder->directory, "cannot be searched for step files", NULL);
        folder->unchanged.known = false;
        ics_folder_candidates_free(out);
        return status;
    }
    leave_out(out, &busy);
    note_unchanged(folder, &before, seen && busy.count == 0 && out->count == 0);
    for (size_t i = 0; folder->options.by_name && i < out->count; ++i) {
        out->items[i].arrived_ns = 0;
    }
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof *out->items, compare_candidates);
    }
    return ICESTREAM_OK;
}
