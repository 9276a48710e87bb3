/* Opening and writing a checkpoint. checkpoint_read.c reads its records. */
#include "base/disk.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/checkpoint/checkpoint_state.h"
#include "pipeline/checkpoint/settings.h"
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/hit_bins.h"
#include "pipeline/files/output.h"

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

static int make(const char *path, int flags, ics_checkpoint **out, bool *there,
                icestream_error *error)
{
    ics_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    *out = NULL;
    *there = false;
    if (checkpoint != NULL) {
        checkpoint->file = checkpoint->rows_file = -1;
        checkpoint->path = strdup(path);
    }
    if (checkpoint == NULL || checkpoint->path == NULL) {
        ics_checkpoint_close(checkpoint);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    int status = open_file(checkpoint, flags, there, error);
    if (status != ICESTREAM_OK || !*there) {
        ics_checkpoint_close(checkpoint);
        return status;
    }
    *out = checkpoint;
    return ICESTREAM_OK;
}

/* ---- what the hits depend on ----------------------------------------------------------------- */

/* Compares the members of two objects. Writes the name of the first that differs, and both values.
 * Returns false if all are equal. */
static bool find_difference(const json_t *found, const json_t *expected, char *text, size_t size)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        const json_t *other = json_object_get(found, key);
        if (json_is_object(value)) {
            if (find_difference(other, value, text, size)) {
                return true;
            }
        } else if (!json_equal(other, value)) {
            const char *had = json_string_value(other), *wanted = json_string_value(value);
            snprintf(text, size, "%s: found %.64s, expected %.64s", key,
                     had != NULL ? had : "nothing", wanted != NULL ? wanted : "nothing");
            return true;
        }
    }
    return false;
}

/* Whether seed, a setting or the content differs. Names each setting with both values: a digest
 * says nothing to people. Of a run that makes its steps, the particles are settings like others. */
static bool has_other_settings(const ics_checkpoint *checkpoint, const json_t *found,
                               const json_t *origin, icestream_error *error)
{
    json_t *list = NULL;
    icestream_error ignored = {.status = ICESTREAM_OK};
    const int status = ics_settings_compare(found, origin, &list, &ignored);
    const size_t count = status == ICESTREAM_OK ? json_array_size(list) : 0;
    json_decref(list);
    const json_t *had = json_object_get(found, "content");
    const json_t *wanted = json_object_get(origin, "content");
    char bins[200];
    if (count > 0) {
        ics_settings_explain(checkpoint->path, found, origin, error);
    } else if (had != wanted && !json_equal(had, wanted)) {
        const char *old = json_string_value(had), *new = json_string_value(wanted);
        ics_error_set(error, ICESTREAM_E_CONFIG, "%s: content: found %.64s, expected %.64s",
                      checkpoint->path, old != NULL ? old : "nothing",
                      new != NULL ? new : "nothing");
    } else if (!ics_hit_bins_same(found, origin, bins, sizeof bins)) {
        ics_error_set(error, ICESTREAM_E_CONFIG, "%s: %s", checkpoint->path, bins);
    } else {
        return false;
    }
    error->status = ICESTREAM_E_CONFIG;
    return true;
}

static int compare_origin(const ics_checkpoint *checkpoint, json_t *found, const json_t *origin,
                          icestream_error *error)
{
    char difference[512];
    json_object_del(found, ICS_CHECKPOINT_WRITTEN);
    if (has_other_settings(checkpoint, found, origin, error)) {
        return ICESTREAM_E_CONFIG;
    }
    bool differs = find_difference(found, origin, difference, sizeof difference);
    if (!differs && !json_equal(found, origin)) {
        differs = true;
        snprintf(difference, sizeof difference, "found other keys than those of this run");
    }
    return differs ? ics_error_set(error, ICESTREAM_E_INPUT, "%s: %s", checkpoint->path, difference)
                   : ICESTREAM_OK;
}

static int read_header(ics_checkpoint *checkpoint, const json_t *origin, icestream_error *error)
{
    json_t *found = NULL;
    ICS_TRY(ics_checkpoint_read_origin(checkpoint, &found, error));
    int status = compare_origin(checkpoint, found, origin, error);
    json_decref(found);
    return status;
}

int ics_checkpoint_open(const char *path, const json_t *origin, ics_checkpoint **out,
                        icestream_error *error)
{
    bool there = false;
    int status = make(path, 0, out, &there, error);
    if (status == ICESTREAM_OK && there) {
        (*out)->has_sums = json_object_get(origin, "bin_ns") != NULL;
        status = read_header(*out, origin, error);
        if (status == ICESTREAM_OK) {
            status = ics_checkpoint_open_rows(*out, error);
        }
    }
    if (status != ICESTREAM_OK) {
        ics_checkpoint_close(*out);
        *out = NULL;
    }
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Appends bytes behind checkpoint->end, which moves on. */
static int put(ics_checkpoint *checkpoint, const void *bytes, size_t size, icestream_error *error)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t count =
            TEMP_FAILURE_RETRY(pwrite(checkpoint->file, next, size, (off_t)checkpoint->end));
        if (count <= 0) {
            errno = count == 0 ? EIO : errno;
            return ics_checkpoint_failed(checkpoint, "cannot be written", error);
        }
        next += count;
        size -= (size_t)count;
        checkpoint->end += (uint64_t)count;
    }
    return ICESTREAM_OK;
}

static int write_header(ics_checkpoint *checkpoint, const json_t *origin, icestream_error *error)
{
    ics_checkpoint_header header = {.length = 0};
    char *text = ics_json_dump(origin, JSON_COMPACT);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    memcpy(header.magic, ICS_CHECKPOINT_MAGIC, sizeof header.magic);
    header.length = (uint32_t)strlen(text);
    header.crc32c = ics_crc32c(0, text, header.length);
    int status = put(checkpoint, &header, sizeof header, error);
    if (status == ICESTREAM_OK) {
        status = put(checkpoint, text, header.length, error);
    }
    free(text);
    checkpoint->records = checkpoint->end;
    return status;
}

/* Whether the file begins like a checkpoint. A file without a byte is one, too: its writer was
 * killed before it wrote the header. */
static bool is_checkpoint(int file)
{
    char magic[sizeof ICS_CHECKPOINT_MAGIC - 1];
    struct stat about;
    ssize_t got = fstat(file, &about) == 0 && S_ISREG(about.st_mode)
                      ? TEMP_FAILURE_RETRY(pread(file, magic, sizeof magic, 0))
                      : -1;
    return got >= 0 && memcmp(magic, ICS_CHECKPOINT_MAGIC, (size_t)got) == 0;
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
    if (!is_checkpoint(checkpoint->file)) {
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
    bool there = false;
    int status = make(path, O_CREAT, out, &there, error);
    if (status == ICESTREAM_OK && !there) { /* the folder was removed */
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ENOENT, "%s: cannot be made: %s",
                                   path, strerror(ENOENT));
    }
    if (status == ICESTREAM_OK) {
        status = start(*out, origin, error);
    }
    if (status != ICESTREAM_OK) {
        ics_checkpoint_close(*out);
        *out = NULL;
    }
    return status;
}

/* A record that is being written. */
typedef struct record {
    ics_checkpoint *checkpoint;
    uint32_t crc32c;
} record;

/* An ics_hits_receiver. */
static int put_hits(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    record *at = user;
    at->crc32c = ics_crc32c(at->crc32c, hits, count * sizeof *hits);
    return put(at->checkpoint, hits, count * sizeof *hits, error);
}

/* `kind`: ICS_CHECKPOINT_HEAD or ICS_CHECKPOINT_ROWS. */
static int begin_record(record *at, const char *kind, const ics_checkpoint_part *part,
                        uint64_t hits, icestream_error *error)
{
    ics_checkpoint_head head = {.maths = (uint32_t)part->maths,
                                .intervals = part->photons.count,
                                .hits = hits,
                                .account = part->account};
    size_t size = part->photons.count * sizeof *part->photons.items;
    if (part->photons.count > ICS_CHECKPOINT_INTERVALS) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found %zu intervals of finished photons, expected at most %d",
                             at->checkpoint->path, part->photons.count, ICS_CHECKPOINT_INTERVALS);
    }
    memcpy(head.magic, kind, sizeof head.magic);
    head.crc32c = ics_crc32c(0, &head, offsetof(ics_checkpoint_head, crc32c));
    at->crc32c = ics_crc32c(0, part->photons.items, size);
    ICS_TRY(put(at->checkpoint, &head, sizeof head, error));
    return put(at->checkpoint, part->photons.items, size, error);
}

/* Ends the record. If it failed, removes what was written of it, because that may be what fills the
 * disk. */
static int end_record(record *at, uint64_t start_of_record, int status, icestream_error *error)
{
    ics_checkpoint_tail tail = {.crc32c = at->crc32c};
    memcpy(tail.magic, ICS_CHECKPOINT_TAIL, sizeof tail.magic);
    if (status == ICESTREAM_OK) {
        status = put(at->checkpoint, &tail, sizeof tail, error);
    }
    if (status != ICESTREAM_OK) {
        at->checkpoint->end = start_of_record;
        (void)!ftruncate(at->checkpoint->file, (off_t)start_of_record); /* else the next run does */
    }
    return status;
}

int ics_checkpoint_append(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                          const icestream_hit *hits, size_t count, icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    uint64_t start_of_record = checkpoint->end;
    int status = begin_record(&at, ICS_CHECKPOINT_HEAD, part, count, error);
    if (status == ICESTREAM_OK) {
        status = put_hits(&at, hits, count, error);
    }
    return end_record(&at, start_of_record, status, error);
}

int ics_checkpoint_append_all(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                              ics_collector *collector, const atomic_bool *cancel,
                              icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    uint64_t start_of_record = checkpoint->end;
    int status =
        begin_record(&at, ICS_CHECKPOINT_HEAD, part, ics_collector_count(collector), error);
    if (status == ICESTREAM_OK) {
        status = ics_collector_merge(collector, put_hits, &at, cancel, error);
    }
    return end_record(&at, start_of_record, status, error);
}

int ics_checkpoint_append_rows(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                               const ics_checkpoint_rows *rows, uint64_t count,
                               icestream_error *error)
{
    record at = {.checkpoint = checkpoint};
    uint64_t start_of_record = checkpoint->end;
    int status = begin_record(&at, ICS_CHECKPOINT_ROWS, part, count, error);
    if (status == ICESTREAM_OK) {
        at.crc32c = ics_crc32c(at.crc32c, rows, sizeof *rows);
        status = put(checkpoint, rows, sizeof *rows, error);
    }
    return end_record(&at, start_of_record, status, error);
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
    int file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (file < 0 && errno == ENOENT) {
        return ICESTREAM_OK;
    }
    if (file < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: cannot be opened: %s",
                                   path, strerror(errno));
    }
    const bool known = is_checkpoint(file);
    close(file);
    if (!known) {
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
    char *rows = ics_checkpoint_rows_path(path);
    if (rows != NULL && ics_early_rows_is_file(rows)) {
        (void)!unlink(rows); /* without a checkpoint it is only garbage */
    }
    free(rows);
    return ics_checkpoint_remove_records(path, error);
}
