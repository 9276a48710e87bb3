#include "pipeline/telemetry/sink_folder.h"

#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/telemetry/event.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

static double modified(const struct stat *about)
{
    return (double)about->st_mtim.tv_sec + 1e-9 * (double)about->st_mtim.tv_nsec;
}

static json_t *time_json(double time)
{
    char text[ICS_EVENT_TIME];
    return json_string(ics_event_time_text(time, text));
}

/* Calls `look` for every entry of a folder that does not begin with a dot. If `look` returns false,
 * the visit ends. Returns 0, or errno; ENOMEM if `look` returned false. */
static int for_each(const char *folder, bool (*look)(void *user, int descriptor, const char *name),
                    void *user)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return errno;
    }
    int failure = 0;
    while (failure == 0) {
        errno = 0;
        const struct dirent *entry = readdir(entries);
        if (entry == NULL) {
            failure = errno;
            break;
        }
        if (entry->d_name[0] != '.' && !look(user, dirfd(entries), entry->d_name)) {
            failure = ENOMEM;
        }
    }
    closedir(entries);
    return failure;
}

static bool count_entry(void *user, int descriptor, const char *name)
{
    (void)descriptor;
    (void)name;
    ++*(uint64_t *)user;
    return true;
}

/* Adds a note about a folder that cannot be read. A missing folder needs no note. Returns false if
 * out of memory. */
static bool note(json_t *notes, const char *folder, int failure)
{
    return failure == 0 || failure == ENOENT ||
           (failure != ENOMEM &&
            json_array_append_new(
                notes, json_sprintf("%s: cannot be read: %s", folder, strerror(failure))) == 0);
}

/* ---- the sink's folder ----------------------------------------------------------------------- */

typedef struct found_journal {
    double time;
    bool current;
    char name[NAME_MAX + 1];
} found_journal;

typedef struct sink_look {
    const char *folder;
    ics_sink_folder *out;
    found_journal *journals;
    size_t count;
} sink_look;

/* Whether a name is run.journal or a rotated file such as run.journal.1 or run.journal-20261121,
 * but not a compressed one. */
static bool is_journal_name(const char *name)
{
    static const char base[] = "run.journal";
    static const char *const others[] = {".gz", ".bz2", ".xz", ".zst", ".part"};
    if (strncmp(name, base, sizeof base - 1) != 0) {
        return false;
    }
    char next = name[sizeof base - 1];
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (ends_with(name, others[i])) {
            return false;
        }
    }
    return next == '\0' || next == '.' || next == '-';
}

/* Adds the path of a checkpoint. A path that is not UTF-8 is no text of JSON and is left out.
 * Returns false if out of memory. */
static bool keep_name(const sink_look *look, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", look->folder, name) < 0) {
        return false;
    }
    json_t *text = json_string(path);
    free(path);
    return text == NULL || json_array_append_new(look->out->checkpoints, text) == 0;
}

static bool look_at_sink(void *user, int descriptor, const char *name)
{
    sink_look *look = user;
    struct stat about;
    bool hits = ends_with(name, ".hits.npy"), journal = is_journal_name(name);
    if (ends_with(name, ".part")) {
        look->out->parts++;
    }
    if (ends_with(name, ".hits.npy.command")) {
        look->out->commands++;
    }
    if (ends_with(name, ".checkpoint") && !keep_name(look, name)) {
        return false;
    }
    if ((!hits && !journal) || fstatat(descriptor, name, &about, 0) != 0 ||
        !S_ISREG(about.st_mode)) {
        return true;
    }
    if (hits) {
        look->out->hit_files++;
        look->out->hit_bytes += (uint64_t)about.st_size;
        return true;
    }
    found_journal *grown = reallocarray(look->journals, look->count + 1, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    look->journals = grown;
    grown[look->count].time = modified(&about);
    grown[look->count].current = strcmp(name, "run.journal") == 0;
    snprintf(grown[look->count].name, sizeof grown->name, "%s", name);
    look->count++;
    return true;
}

/* Sorts journals by time. run.journal is the newest in any case. */
static int compare_journals(const void *a, const void *b)
{
    const found_journal *left = a, *right = b;
    if (left->current != right->current) {
        return left->current ? 1 : -1;
    }
    return (left->time > right->time) - (left->time < right->time);
}

/* Makes the list of journals. Returns false if out of memory. */
static bool take_journals(const sink_look *look, const char *folder, ics_sink_folder *out)
{
    out->journals = calloc(look->count + 1, sizeof *out->journals);
    if (out->journals == NULL) {
        return false;
    }
    if (look->count > 0) {
        qsort(look->journals, look->count, sizeof *look->journals, compare_journals);
    }
    for (size_t i = 0; i < look->count; ++i) {
        if (asprintf(&out->journals[i], "%s/%s", folder, look->journals[i].name) < 0) {
            return false;
        }
        out->journal_count++;
    }
    return true;
}

int ics_sink_folder_look(const char *folder, ics_sink_folder *out, icestream_error *error)
{
    *out = (ics_sink_folder){.checkpoints = json_array()};
    sink_look look = {.folder = folder, .out = out};
    int failure = out->checkpoints != NULL ? for_each(folder, look_at_sink, &look) : ENOMEM;
    if (failure == 0 && !take_journals(&look, folder, out)) {
        failure = ENOMEM;
    }
    free(look.journals);
    if (failure == 0) {
        return ICESTREAM_OK;
    }
    ics_sink_folder_free(out);
    return failure == ENOMEM
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", folder)
               : ics_error_set(error, ICESTREAM_E_INPUT, "%s: %s", folder, strerror(failure));
}

void ics_sink_folder_free(ics_sink_folder *folder)
{
    for (size_t i = 0; i < folder->journal_count; ++i) {
        free(folder->journals[i]);
    }
    free(folder->journals);
    json_decref(folder->checkpoints);
    *folder = (ics_sink_folder){.hit_files = 0};
}

/* ---- quarantine ------------------------------------------------------------------------------ */

typedef struct found_reason {
    double time;
    char *path;
} found_reason;

typedef struct quarantine_look {
    const char *folder;
    uint64_t count;
    found_reason newest[ICS_REASONS_SHOWN]; /* the newest first */
    size_t kept;
} quarantine_look;

static bool look_at_reason(void *user, int descriptor, const char *name)
{
    quarantine_look *look = user;
    struct stat about;
    if (!ends_with(name, ".reason") || fstatat(descriptor, name, &about, 0) != 0) {
        return true;
    }
    look->count++;
    size_t index = look->kept;
    while (index > 0 && look->newest[index - 1].time < modified(&about)) {
        --index;
    }
    if (index == ICS_REASONS_SHOWN) {
        return true;
    }
    char *path = NULL;
    if (asprintf(&path, "%s/%s", look->folder, name) < 0) {
        return false;
    }
    if (look->kept == ICS_REASONS_SHOWN) {
        free(look->newest[--look->kept].path);
    }
    memmove(&look->newest[index + 1], &look->newest[index],
            (look->kept - index) * sizeof *look->newest);
    look->newest[index] = (found_reason){modified(&about), path};
    look->kept++;
    return true;
}

/* Reads the first line of a reason; JSON null if it cannot be read. NULL: out of memory. */
static json_t *reason_json(const char *path)
{
    char text[1024];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t got = descriptor >= 0 ? read(descriptor, text, sizeof text - 1) : -1;
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (got < 0) {
        return json_null();
    }
    text[got] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return ics_json_text(text);
}

static bool same_folder(const char *left, const char *right)
{
    struct stat a, b;
    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

json_t *ics_sink_folder_look_quarantine(const json_t *folders, json_t *notes)
{
    quarantine_look look = {.count = 0};
    bool good = true;
    for (size_t i = 0; i < json_array_size(folders) && good; ++i) {
        look.folder = json_string_value(json_array_get(folders, i));
        bool seen = false;
        for (size_t j = 0; j < i; ++j) {
            seen |= same_folder(look.folder, json_string_value(json_array_get(folders, j)));
        }
        good = seen || note(notes, look.folder, for_each(look.folder, look_at_reason, &look));
    }
    json_t *newest = json_array();
    for (size_t i = 0; i < look.kept; ++i) {
        if (good) {
            good =
                json_array_append_new(newest, json_pack("{s:o, s:o, s:o}", "reason_file",
                                                        ics_json_text(look.newest[i].path), "time",
                                                        time_json(look.newest[i].time), "reason",
                                                        reason_json(look.newest[i].path))) == 0;
        }
        free(look.newest[i].path);
    }
    if (!good) {
        json_decref(newest);
        return NULL;
    }
    return json_pack("{s:I, s:o}", "count", (json_int_t)look.count, "newest", newest);
}

/* ---- spool ----------------------------------------------------------------------------------- */

typedef struct spool_look {
    const char *claimed; /* folder */
    double now;
    json_t *workers, *notes;
} spool_look;

/* Describes a worker. NULL: out of memory. */
static json_t *lease_json(const char *folder, const char *worker, uint64_t files, double now)
{
    char *path = NULL;
    struct stat about;
    if (asprintf(&path, "%s/.lease", folder) < 0) {
        return NULL;
    }
    bool there = stat(path, &about) == 0;
    /* The text of a lease says how long a heartbeat counts, and which process owns it. */
    json_t *lease = there ? json_load_file(path, 0, NULL) : NULL;
    const json_t *seconds = json_object_get(lease, "lease_s");
    double heartbeat = there ? modified(&about) : 0.0;
    bool expired =
        !there || (json_is_number(seconds) && now - heartbeat > json_number_value(seconds));
    json_t *result =
        json_pack("{s:o, s:O?, s:O?, s:I, s:o?, s:O?, s:b}", "worker", ics_json_text(worker),
                  "host", json_object_get(lease, "host"), "pid", json_object_get(lease, "pid"),
                  "files", (json_int_t)files, "heartbeat", there ? time_json(heartbeat) : NULL,
                  "lease", seconds, "expired", (int)expired);
    json_decref(lease);
    free(path);
    return result;
}

static bool look_at_worker(void *user, int descriptor, const char *name)
{
    spool_look *look = user;
    char *folder = NULL;
    uint64_t files = 0;
    (void)descriptor;
    if (asprintf(&folder, "%s/%s", look->claimed, name) < 0) {
        return false;
    }
    int failure = for_each(folder, count_entry, &files);
    /* Only folders are workers. */
    bool good = failure == ENOTDIR || note(look->notes, folder, failure);
    if (good && failure == 0) {
        good =
            json_array_append_new(look->workers, lease_json(folder, name, files, look->now)) == 0;
    }
    free(folder);
    return good;
}

/* Counts the entries of SPOOL/name. Returns false if out of memory. */
static bool count_folder(const char *spool, const char *name, uint64_t *count, json_t *notes)
{
    char *folder = NULL;
    if (asprintf(&folder, "%s/%s", spool, name) < 0) {
        return false;
    }
    bool good = note(notes, folder, for_each(folder, count_entry, count));
    free(folder);
    return good;
}

json_t *ics_sink_folder_look_spool(const char *folder, double now, json_t *notes)
{
    char *claimed = NULL;
    uint64_t done = 0, kept = 0;
    spool_look look = {.now = now, .workers = json_array(), .notes = notes};
    if (asprintf(&claimed, "%s/claimed", folder) < 0) {
        claimed = NULL;
    }
    look.claimed = claimed;
    bool good = claimed != NULL && look.workers != NULL &&
                note(notes, claimed, for_each(claimed, look_at_worker, &look)) &&
                count_folder(folder, "done", &done, notes) &&
                count_folder(folder, "marks", &kept, notes);
    free(claimed);
    if (!good) {
        json_decref(look.workers);
        return NULL;
    }
    return json_pack("{s:o, s:I, s:I, s:o}", "folder", ics_json_text(folder), "done",
                     (json_int_t)done, "kept", (json_int_t)kept, "workers", look.workers);
}
