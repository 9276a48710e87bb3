#include "pipeline/production/telemetry/sink_folder.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/production/telemetry/event.h"

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

typedef struct folder_path {
    char text[PATH_MAX];
} folder_path;

/* A path that does not fit becomes "", which no file has. */
static folder_path join(const char *folder, const char *name)
{
    folder_path path;
    if (snprintf(path.text, sizeof path.text, "%s/%s", folder, name) >= PATH_MAX) {
        path.text[0] = '\0';
    }
    return path;
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

/* Calls `look` for every entry of a folder that does not begin with a dot. Returns 0, or errno. */
static int for_each(const char *folder, void (*look)(void *user, int descriptor, const char *name),
                    void *user)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return errno;
    }
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL; errno = 0) {
        if (entry->d_name[0] != '.') {
            look(user, dirfd(entries), entry->d_name);
        }
    }
    const int failure = errno;
    closedir(entries);
    return failure;
}

static void count_entry(void *user, int descriptor, const char *name)
{
    (void)descriptor;
    (void)name;
    ++*(uint64_t *)user;
}

/* Adds a note about a folder that cannot be read. A missing folder needs no note. Returns false if
 * out of memory. */
static bool note(json_t *notes, const char *folder, int failure)
{
    return failure == 0 || failure == ENOENT ||
           json_array_append_new(
               notes, json_sprintf("%s: cannot be read: %s", folder, strerror(failure))) == 0;
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
    bool no_memory;
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

/* Adds the path of a checkpoint. A path that is not UTF-8 is no text of JSON and is left out. */
static void keep_checkpoint(sink_look *look, const char *name)
{
    json_t *text = json_string(join(look->folder, name).text);
    look->no_memory |= text != NULL && json_array_append_new(look->out->checkpoints, text) != 0;
}

static void keep_journal(sink_look *look, const char *name, const struct stat *about)
{
    found_journal *grown = reallocarray(look->journals, look->count + 1, sizeof *grown);
    if (grown == NULL) {
        look->no_memory = true;
        return;
    }
    look->journals = grown;
    grown += look->count++;
    grown->time = modified(about);
    grown->current = strcmp(name, "run.journal") == 0;
    snprintf(grown->name, sizeof grown->name, "%s", name);
}

static void look_at_sink(void *user, int descriptor, const char *name)
{
    sink_look *look = user;
    struct stat about;
    const bool hits = ends_with(name, ".hits.npy"), journal = is_journal_name(name);
    look->out->parts += ends_with(name, ".part");
    look->out->commands += ends_with(name, ".hits.npy.command");
    if (ends_with(name, ".checkpoint")) {
        keep_checkpoint(look, name);
    }
    if ((!hits && !journal) || fstatat(descriptor, name, &about, 0) != 0 ||
        !S_ISREG(about.st_mode)) {
        return;
    }
    if (hits) {
        look->out->hit_files++;
        look->out->hit_bytes += (uint64_t)about.st_size;
    } else {
        keep_journal(look, name, &about);
    }
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

/* Makes the list of journals. */
static void take_journals(sink_look *look)
{
    ics_sink_folder *out = look->out;
    out->journals = calloc(look->count + 1, sizeof *out->journals);
    look->no_memory |= out->journals == NULL;
    if (look->count > 0) {
        qsort(look->journals, look->count, sizeof *look->journals, compare_journals);
    }
    for (size_t i = 0; i < look->count && !look->no_memory; ++i) {
        look->no_memory =
            asprintf(&out->journals[i], "%s/%s", look->folder, look->journals[i].name) < 0;
        out->journal_count += !look->no_memory;
    }
}

int ics_sink_folder_look(const char *folder, ics_sink_folder *out, icestream_error *error)
{
    *out = (ics_sink_folder){.checkpoints = json_array()};
    sink_look look = {.folder = folder, .out = out};
    const int failure = for_each(folder, look_at_sink, &look);
    take_journals(&look);
    free(look.journals);
    if (failure == 0 && !look.no_memory) {
        return ICESTREAM_OK;
    }
    ics_sink_folder_free(out);
    return failure == 0
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
    folder_path path;
} found_reason;

typedef struct quarantine_look {
    const char *folder;
    uint64_t count;
    found_reason newest[ICS_REASONS_SHOWN]; /* the newest first */
    size_t kept;
} quarantine_look;

static void look_at_reason(void *user, int descriptor, const char *name)
{
    quarantine_look *look = user;
    struct stat about;
    if (!ends_with(name, ".reason") || fstatat(descriptor, name, &about, 0) != 0) {
        return;
    }
    look->count++;
    size_t index = look->kept;
    while (index > 0 && look->newest[index - 1].time < modified(&about)) {
        --index;
    }
    if (index == ICS_REASONS_SHOWN) {
        return;
    }
    look->kept += look->kept < ICS_REASONS_SHOWN;
    memmove(&look->newest[index + 1], &look->newest[index],
            (look->kept - index - 1) * sizeof *look->newest);
    look->newest[index] = (found_reason){modified(&about), join(look->folder, name)};
}

/* Reads the first line of a reason; JSON null if it cannot be read. NULL: out of memory. */
static json_t *reason_json(const char *path)
{
    char text[1024];
    ICS_CLOSES_DESCRIPTOR int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const ssize_t got = descriptor >= 0 ? read(descriptor, text, sizeof text - 1) : -1;
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
    json_auto_t *newest = json_array();
    for (size_t i = 0; i < look.kept && good; ++i) {
        good =
            json_array_append_new(newest, json_pack("{s:o, s:o, s:o}", "reason_file",
                                                    ics_json_text(look.newest[i].path.text), "time",
                                                    time_json(look.newest[i].time), "reason",
                                                    reason_json(look.newest[i].path.text))) == 0;
    }
    return good ? json_pack("{s:I, s:O}", "count", (json_int_t)look.count, "newest", newest) : NULL;
}

/* ---- spool ----------------------------------------------------------------------------------- */

typedef struct spool_look {
    const char *claimed; /* folder */
    double now;
    json_t *workers, *notes;
    bool no_memory;
} spool_look;

/* Describes a worker. NULL: out of memory. */
static json_t *lease_json(const char *folder, const char *worker, uint64_t files, double now)
{
    const folder_path path = join(folder, ".lease");
    struct stat about;
    const bool there = stat(path.text, &about) == 0;
    /* The text of a lease says how long a heartbeat counts, and which process owns it. */
    json_auto_t *lease = there ? json_load_file(path.text, 0, NULL) : NULL;
    const json_t *seconds = json_object_get(lease, "lease_s");
    const double heartbeat = there ? modified(&about) : 0.0;
    const bool expired =
        !there || (json_is_number(seconds) && now - heartbeat > json_number_value(seconds));
    return json_pack("{s:o, s:O?, s:O?, s:I, s:o?, s:O?, s:b}", "worker", ics_json_text(worker),
                     "host", json_object_get(lease, "host"), "pid", json_object_get(lease, "pid"),
                     "files", (json_int_t)files, "heartbeat", there ? time_json(heartbeat) : NULL,
                     "lease", seconds, "expired", (int)expired);
}

static void look_at_worker(void *user, int descriptor, const char *name)
{
    spool_look *look = user;
    const folder_path folder = join(look->claimed, name);
    uint64_t files = 0;
    (void)descriptor;
    const int failure = for_each(folder.text, count_entry, &files);
    if (failure == ENOTDIR) {
        return; /* only folders are workers */
    }
    look->no_memory |=
        !note(look->notes, folder.text, failure) ||
        (failure == 0 && json_array_append_new(
                             look->workers, lease_json(folder.text, name, files, look->now)) != 0);
}

/* Counts the entries of SPOOL/name. Returns false if out of memory. */
static bool count_folder(const char *spool, const char *name, uint64_t *count, json_t *notes)
{
    const folder_path folder = join(spool, name);
    return note(notes, folder.text, for_each(folder.text, count_entry, count));
}

json_t *ics_sink_folder_look_spool(const char *folder, double now, json_t *notes)
{
    const folder_path claimed = join(folder, "claimed");
    uint64_t done = 0, kept = 0;
    json_auto_t *workers = json_array();
    spool_look look = {.claimed = claimed.text, .now = now, .workers = workers, .notes = notes};
    const bool good = note(notes, claimed.text, for_each(claimed.text, look_at_worker, &look)) &&
                      !look.no_memory && count_folder(folder, "done", &done, notes) &&
                      count_folder(folder, "marks", &kept, notes);
    return good ? json_pack("{s:o, s:I, s:I, s:O}", "folder", ics_json_text(folder), "done",
                            (json_int_t)done, "kept", (json_int_t)kept, "workers", workers)
                : NULL;
}
