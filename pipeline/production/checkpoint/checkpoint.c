/* Opening and writing a checkpoint. checkpoint/read.c reads its records. */
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/provenance/settings.h"
#include "pipeline/production/checkpoint/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- opening --------------------------------------------------------------------------------- */

void ics_checkpoint_close(ics_checkpoint *checkpoint)
{
    if (checkpoint != NULL) {
        if (checkpoint->file >= 0) {
            close(checkpoint->file);
        }
        if (checkpoint->rows_file >= 0) {
            close(checkpoint->rows_file);
        }
        free(checkpoint->path);
        free(checkpoint);
    }
}

bool ics_checkpoint_is_ours(const ics_checkpoint *checkpoint)
{
    return checkpoint->ours;
}

/* Whether the open file still has its name: another process may have removed the file before. */
static bool has_name(const ics_checkpoint *checkpoint)
{
    struct stat opened, named;
    return fstat(checkpoint->file, &opened) == 0 && stat(checkpoint->path, &named) == 0 &&
           opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

void ics_checkpoint_await_lock(ics_checkpoint *checkpoint, char holder[32])
{
    if (!checkpoint->ours) {
        checkpoint->ours = ics_disk_lock_open_file(checkpoint->file) == 0 && has_name(checkpoint);
    }
    (void)ics_disk_lock_holder(checkpoint->file, holder);
}

/* Opens the file and tries to lock it. *there false: there is no such file. */
static int open_file(ics_checkpoint *checkpoint, int flags, bool *there, icestream_error *error)
{
    struct stat opened;
    flags |= O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    checkpoint->file = TEMP_FAILURE_RETRY(open(checkpoint->path, flags, 0666));
    *there = checkpoint->file >= 0 || errno != ENOENT;
    if (!*there) {
        return ICESTREAM_OK;
    }
    if (checkpoint->file < 0 || fstat(checkpoint->file, &opened) < 0) {
        return ics_checkpoint_failed(checkpoint, "cannot be opened", error);
    }
    if (!S_ISREG(opened.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found something that is not a file, expected a checkpoint",
                             checkpoint->path);
    }
    checkpoint->ours = TEMP_FAILURE_RETRY(flock(checkpoint->file, LOCK_EX | LOCK_NB)) == 0;
    if (!checkpoint->ours && errno != EWOULDBLOCK) {
        return ics_checkpoint_failed(checkpoint, "cannot be locked", error);
    }
    return ICESTREAM_OK;
}

/* Opens and locks the file. *out NULL without an error: there is no such file. */
static int make(const char *path, int flags, ics_checkpoint **out, icestream_error *error)
{
    ICS_DESTROYS(ics_checkpoint_close) ics_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    bool there = false;
    *out = NULL;
    if (checkpoint != NULL) {
        checkpoint->file = checkpoint->rows_file = -1;
        checkpoint->path = strdup(path);
    }
    if (checkpoint == NULL || checkpoint->path == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    ICS_TRY(open_file(checkpoint, flags, &there, error));
    *out = there ? ICS_HAND_OVER(checkpoint) : NULL;
    return ICESTREAM_OK;
}

/* ---- what the hits depend on ----------------------------------------------------------------- */

static bool is_same(const json_t *left, const json_t *right)
{
    return left == right || json_equal(left, right);
}

static void write_difference(const char *key, const json_t *found, const json_t *expected,
                             char *text, size_t size)
{
    const char *had = json_string_value(found), *wanted = json_string_value(expected);
    snprintf(text, size, "%s: found %.64s, expected %.64s", key, had != NULL ? had : "nothing",
             wanted != NULL ? wanted : "nothing");
}

/* Compares the members of two objects. Writes the name of the first that differs, and both values.
 * Returns false if all are equal. */
static bool find_difference(const json_t *found, const json_t *expected, char *text, size_t size)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        const json_t *other = json_object_get(found, key);
        if (json_is_object(value) ? find_difference(other, value, text, size)
                                  : !json_equal(other, value)) {
            if (!json_is_object(value)) {
                write_difference(key, other, value, text, size);
            }
            return true;
        }
    }
    return false;
}

/* Compares seed, settings, content and bins. Names each setting with both values: a digest says
 * nothing to people. Of a run that makes its steps, the particles are settings like others. */
static int compare_settings(const char *path, const json_t *found, const json_t *origin,
                            icestream_error *error)
{
    char difference[200];
    const json_t *had = json_object_get(found, "content");
    const json_t *wanted = json_object_get(origin, "content");
    if (ics_settings_explain(path, found, origin, error)) {
        return error->status = ICESTREAM_E_CONFIG;
    }
    if (!is_same(had, wanted)) {
        write_difference("content", had, wanted, difference, sizeof difference);
    } else if (ics_hit_bins_same(found, origin, difference, sizeof difference)) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: %s", path, difference);
}

static int compare_origin(const char *path, const json_t *found, const json_t *origin,
                          icestream_error *error)
{
    char difference[512] = "found other keys than those of this run";
    ICS_TRY(compare_settings(path, found, origin, error));
    return find_difference(found, origin, difference, sizeof difference) ||
                   !json_equal(found, origin)
               ? ics_error_set(error, ICESTREAM_E_INPUT, "%s: %s", path, difference)
               : ICESTREAM_OK;
}

static int read_header(ics_checkpoint *checkpoint, const json_t *origin, icestream_error *error)
{
    json_auto_t *found = NULL;
    ICS_TRY(ics_checkpoint_read_origin(checkpoint, &found, error));
    json_object_del(found, ICS_CHECKPOINT_WRITTEN);
    ICS_TRY(compare_origin(checkpoint->path, found, origin, error));
    checkpoint->has_sums = json_object_get(origin, "bin_ns") != NULL;
    return ics_checkpoint_open_rows(checkpoint, error);
}

int ics_checkpoint_open(const char *path, const json_t *origin, ics_checkpoint **out,
                        icestream_error *error)
{
    ICS_DESTROYS(ics_checkpoint_close) ics_checkpoint *checkpoint = NULL;
    *out = NULL;
    ICS_TRY(make(path, 0, &checkpoint, error));
    if (checkpoint != NULL) {
        ICS_TRY(read_header(checkpoint, origin, error));
    }
    *out = ICS_HAND_OVER(checkpoint);
    return ICESTREAM_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Appends bytes behind checkpoint->end, which moves on. */
static int put(ics_checkpoint *checkpoint, const void *bytes, size_t size, icestream_error *error)
{
    const size_t done = ics_disk_write_at(checkpoint->file, bytes, size, (off_t)checkpoint->end);
    checkpoint->end += done;
    return done == size ? ICESTREAM_OK
                        : ics_checkpoint_failed(checkpoint, "cannot be written", error);
}

static int write_header(ics_checkpoint *checkpoint, const json_t *origin, icestream_error *error)
{
    ics_checkpoint_header header = {.length = 0};
    ICS_FREES char *text = ics_json_dump(origin, JSON_COMPACT);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    memcpy(header.magic, ICS_CHECKPOINT_MAGIC, sizeof header.magic);
    header.length = (uint32_t)strlen(text);
    header.crc32c = ics_crc32c(0, text, header.length);
    ICS_TRY(put(checkpoint, &header, sizeof header, error));
    ICS_TRY(put(checkpoint, text, header.length, error));
    checkpoint->records = checkpoint->end;
    return ICESTREAM_OK;
}

static int found_other_file(const char *path, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_OUTPUT,
                         "%s: found a file that icestream did not make, expected a checkpoint or "
                         "no file",
                         path);
}

/* Empties the file, which must be a checkpoint and ours, and writes the header. */
static int start(ics_checkpoint *checkpoint, const json_t *origin, icestream_error *error)
{
    if (!checkpoint->ours || !has_name(checkpoint)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found another process using it, expected to be the only one",
                             checkpoint->path);
    }
    if (!ics_checkpoint_begins(checkpoint->file, 0)) {
        return found_other_file(checkpoint->path, error);
    }
    if (TEMP_FAILURE_RETRY(ftruncate(checkpoint->file, 0)) < 0) {
        return ics_checkpoint_failed(checkpoint, "cannot be emptied", error);
    }
    ICS_TRY(write_header(checkpoint, origin, error));
    return ics_output_sync_folder(checkpoint->path, error);
}

int ics_checkpoint_create(const char *path, const json_t *origin, ics_checkpoint **out,
                          icestream_error *error)
{
    ICS_DESTROYS(ics_checkpoint_close) ics_checkpoint *checkpoint = NULL;
    *out = NULL;
    ICS_TRY(make(path, O_CREAT, &checkpoint, error));
    if (checkpoint == NULL) { /* the folder was removed */
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ENOENT, "%s: cannot be made: %s",
                                   path, strerror(ENOENT));
    }
    ICS_TRY(start(checkpoint, origin, error));
    *out = ICS_HAND_OVER(checkpoint);
    return ICESTREAM_OK;
}

/* A record that is being written. */
typedef struct record {
    ics_checkpoint *checkpoint;
    uint32_t crc32c;
} record;

static int put_summed(record *at, const void *bytes, size_t size, icestream_error *error)
{
    at->crc32c = ics_crc32c(at->crc32c, bytes, size);
    return put(at->checkpoint, bytes, size, error);
}

/* An ics_hits_receiver. */
static int put_hits(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    return put_summed(user, hits, count * sizeof *hits, error);
}

/* `kind`: ICS_CHECKPOINT_HEAD or ICS_CHECKPOINT_ROWS. */
static int begin_record(record *at, const char *kind, const ics_checkpoint_part *part,
                        uint64_t hits, icestream_error *error)
{
    ics_checkpoint_head head = {.maths = (uint32_t)part->maths,
                                .intervals = part->photons.count,
                                .hits = hits,
                                .account = part->account,
                                .kernels = part->kernels.code};
    if (part->photons.count > ICS_CHECKPOINT_INTERVALS) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found %zu intervals of finished photons, expected at most %d",
                             at->checkpoint->path, part->photons.count, ICS_CHECKPOINT_INTERVALS);
    }
    memcpy(head.magic, kind, sizeof head.magic);
    head.crc32c = ics_crc32c(0, &head, offsetof(ics_checkpoint_head, crc32c));
    ICS_TRY(put(at->checkpoint, &head, sizeof head, error));
    return put_summed(at, part->photons.items, part->photons.count * sizeof *part->photons.items,
                      error);
}

static int put_tail(const record *at, icestream_error *error)
{
    ics_checkpoint_tail tail = {.crc32c = at->crc32c};
    memcpy(tail.magic, ICS_CHECKPOINT_TAIL, sizeof tail.magic);
    return put(at->checkpoint, &tail, sizeof tail, error);
}

/* Ends a record. If it failed, removes what was written of it, because that may be what fills the
 * disk. */
static int end_record(const record *at, uint64_t begin, int status, icestream_error *error)
{
    ics_checkpoint *checkpoint = at->checkpoint;
    status = status == ICESTREAM_OK ? put_tail(at, error) : status;
    if (status != ICESTREAM_OK) {
        checkpoint->end = begin;
        (void)!ftruncate(checkpoint->file, (off_t)begin); /* else the next run does */
    }
    return status;
}

int ics_checkpoint_append(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                          const icestream_hit *hits, size_t count, icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    const uint64_t begin = checkpoint->end;
    const int status = begin_record(&at, ICS_CHECKPOINT_HEAD, part, count, error);
    return end_record(&at, begin, status ? status : put_hits(&at, hits, count, error), error);
}

int ics_checkpoint_append_all(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                              ics_collector *collector, const atomic_bool *cancel,
                              icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    const uint64_t begin = checkpoint->end, count = ics_collector_count(collector);
    int status = begin_record(&at, ICS_CHECKPOINT_HEAD, part, count, error);
    status = status ? status : ics_collector_merge(collector, put_hits, &at, cancel, error);
    return end_record(&at, begin, status, error);
}

int ics_checkpoint_append_rows(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                               const ics_checkpoint_rows *rows, uint64_t count,
                               icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    const uint64_t begin = checkpoint->end;
    const int status = begin_record(&at, ICS_CHECKPOINT_ROWS, part, count, error);
    return end_record(&at, begin, status ? status : put_summed(&at, rows, sizeof *rows, error),
                      error);
}

int ics_checkpoint_sync(ics_checkpoint *checkpoint, icestream_error *error)
{
    return TEMP_FAILURE_RETRY(fdatasync(checkpoint->file)) < 0
               ? ics_checkpoint_failed(checkpoint, "cannot be written to the disk", error)
               : ICESTREAM_OK;
}

/* ---- removing -------------------------------------------------------------------------------- */

int ics_checkpoint_remove_records(const char *path, icestream_error *error)
{
    ICS_CLOSES_DESCRIPTOR int file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file < 0 && errno == ENOENT) {
        return ICESTREAM_OK;
    }
    if (file < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: cannot be opened: %s",
                                   path, strerror(errno));
    }
    if (!ics_checkpoint_begins(file, 0)) {
        return found_other_file(path, error);
    }
    if (unlink(path) < 0 && errno != ENOENT) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: cannot be removed: %s",
                                   path, strerror(errno));
    }
    return ICESTREAM_OK;
}

int ics_checkpoint_remove(const char *path, icestream_error *error)
{
    ICS_FREES char *rows = ics_checkpoint_rows_path(path);
    if (rows != NULL && ics_early_rows_is_file(rows)) {
        (void)!unlink(rows); /* without a checkpoint it is only garbage */
    }
    return ics_checkpoint_remove_records(path, error);
}
