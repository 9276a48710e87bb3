/* Reading a checkpoint: bytes, the header, which says what the checkpoint belongs to, and records.
 */
#include "base/disk.h"
#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/production/checkpoint/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 18,  /* bytes of a record that are read at a time */
    PIECE_HITS = 1 << 16,   /* hits that are given to the collector at a time: 4 MiB */
    PIECE_INTERVALS = 1024, /* intervals that are read at a time */
};

/* ---- bytes and the header ---------------------------------------------------------------------
 */

int ics_checkpoint_failed(const ics_checkpoint *checkpoint, const char *what,
                          icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: %s: %s", checkpoint->path,
                               what, strerror(errno));
}

/* Reads from the checkpoint, or from the file of its rows. */
static int read_bytes(const ics_checkpoint *checkpoint, int file, uint64_t offset, void *bytes,
                      size_t size, icestream_error *error)
{
    const size_t got = ics_disk_read_at(file, bytes, size, (off_t)offset);
    if (got == size) {
        return ICESTREAM_OK;
    }
    return errno != 0 ? ics_checkpoint_failed(checkpoint, "cannot be read", error)
                      : ics_error_set(error, ICESTREAM_E_INPUT,
                                      "%s: found the end of the file after %" PRIu64
                                      " bytes, expected %zu more",
                                      checkpoint->path, offset + got, size - got);
}

int ics_checkpoint_read(const ics_checkpoint *checkpoint, uint64_t offset, void *bytes, size_t size,
                        icestream_error *error)
{
    return read_bytes(checkpoint, checkpoint->file, offset, bytes, size, error);
}

bool ics_checkpoint_has_rows(const ics_checkpoint_head *head)
{
    return memcmp(head->magic, ICS_CHECKPOINT_ROWS, sizeof head->magic) == 0;
}

char *ics_checkpoint_rows_path(const char *path)
{
    char *out = NULL;
    return asprintf(&out, "%s.rows", path) >= 0 ? out : NULL;
}

int ics_checkpoint_open_rows(ics_checkpoint *checkpoint, icestream_error *error)
{
    ICS_FREES char *path = ics_checkpoint_rows_path(checkpoint->path);
    if (path == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    checkpoint->rows_file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    return checkpoint->rows_file >= 0 || errno == ENOENT
               ? ICESTREAM_OK
               : ics_checkpoint_failed(checkpoint, "its rows cannot be opened", error);
}

int ics_checkpoint_read_hits(const ics_checkpoint *checkpoint, uint64_t offset,
                             const ics_checkpoint_head *head, uint64_t first, icestream_hit *hits,
                             size_t count, icestream_error *error)
{
    const uint64_t body = offset + sizeof *head + head->intervals * sizeof(ics_photon_interval);
    const size_t size = count * sizeof *hits;
    ics_checkpoint_rows rows;
    if (!ics_checkpoint_has_rows(head)) {
        return ics_checkpoint_read(checkpoint, body + first * sizeof *hits, hits, size, error);
    }
    ICS_TRY(ics_checkpoint_read(checkpoint, body, &rows, sizeof rows, error));
    if (checkpoint->rows_file < 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found no file of its rows (%s.rows)",
                             checkpoint->path, checkpoint->path);
    }
    return read_bytes(checkpoint, checkpoint->rows_file,
                      ICS_NPY_OWN_HEADER + (rows.first + first) * sizeof *hits, hits, size, error);
}

bool ics_checkpoint_begins(int file, size_t least)
{
    char magic[sizeof ICS_CHECKPOINT_MAGIC - 1];
    struct stat about;
    const ssize_t got = fstat(file, &about) == 0 && S_ISREG(about.st_mode)
                            ? TEMP_FAILURE_RETRY(pread(file, magic, sizeof magic, 0))
                            : -1;
    return got >= (ssize_t)least && memcmp(magic, ICS_CHECKPOINT_MAGIC, (size_t)got) == 0;
}

int ics_checkpoint_read_origin(ics_checkpoint *checkpoint, json_t **out, icestream_error *error)
{
    ics_checkpoint_header header;
    ICS_TRY(ics_checkpoint_read(checkpoint, 0, &header, sizeof header, error));
    if (memcmp(header.magic, ICS_CHECKPOINT_MAGIC, sizeof header.magic) != 0 ||
        header.length > ICS_CHECKPOINT_ORIGIN) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found another beginning, expected that of a checkpoint (%s)",
                             checkpoint->path, ICS_CHECKPOINT_MAGIC);
    }
    ICS_FREES char *text = malloc(header.length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path);
    }
    ICS_TRY(ics_checkpoint_read(checkpoint, sizeof header, text, header.length, error));
    if (ics_crc32c(0, text, header.length) != header.crc32c) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a header that does not have its checksum, expected the "
                             "header that was written",
                             checkpoint->path);
    }
    *out = ics_json_read(text, header.length, 0, NULL);
    checkpoint->records = checkpoint->end = sizeof header + header.length;
    return *out == NULL && errno == ENOMEM
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", checkpoint->path)
               : ICESTREAM_OK;
}

/* ---- records -----------------------------------------------------------------------------------
 */

/* ICESTREAM_E_INTERRUPTED if *cancel became true. */
static int check_cancel(const ics_checkpoint *checkpoint, const atomic_bool *cancel,
                        icestream_error *error)
{
    return cancel != NULL && atomic_load(cancel)
               ? ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while reading it",
                               checkpoint->path)
               : ICESTREAM_OK;
}

/* The bytes of a record between its head and its tail. */
static uint64_t body_size(const ics_checkpoint_head *head)
{
    return head->intervals * sizeof(ics_photon_interval) +
           (ics_checkpoint_has_rows(head) ? sizeof(ics_checkpoint_rows)
                                          : head->hits * sizeof(icestream_hit));
}

uint64_t ics_checkpoint_record_size(const ics_checkpoint_head *head)
{
    return sizeof *head + body_size(head) + sizeof(ics_checkpoint_tail);
}

bool ics_checkpoint_head_is_good(const ics_checkpoint_head *head, uint64_t left)
{
    const bool has_rows = ics_checkpoint_has_rows(head);
    return (has_rows || memcmp(head->magic, ICS_CHECKPOINT_HEAD, sizeof head->magic) == 0) &&
           head->crc32c == ics_crc32c(0, head, offsetof(ics_checkpoint_head, crc32c)) &&
           head->intervals <= ICS_CHECKPOINT_INTERVALS &&
           (has_rows || head->hits <= left / sizeof(icestream_hit)) &&
           ics_checkpoint_record_size(head) <= left;
}

/* The search for good records. */
typedef struct survey {
    const ics_checkpoint *checkpoint;
    uint64_t photons; /* photons of the step file */
    uint64_t size;    /* size of the file (bytes) */
    const atomic_bool *cancel;
    char *piece; /* [PIECE_BYTES] */
    ics_checkpoint_part *sum;
} survey;

/* Reads the head of the record at `offset`. Returns ICESTREAM_E_INPUT if there is no whole record.
 */
static int read_head(const survey *at, uint64_t offset, ics_checkpoint_head *out,
                     icestream_error *error)
{
    ICS_TRY(ics_checkpoint_read(at->checkpoint, offset, out, sizeof *out, error));
    return ics_checkpoint_head_is_good(out, at->size - offset)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT, "%s: found an incomplete record",
                               at->checkpoint->path);
}

static int check_sum(const survey *at, uint64_t offset, const ics_checkpoint_head *head,
                     icestream_error *error)
{
    uint32_t crc = 0;
    uint64_t next = offset + sizeof *head;
    ics_checkpoint_tail tail;
    for (uint64_t left = body_size(head); left > 0;) {
        size_t size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        ICS_TRY(check_cancel(at->checkpoint, at->cancel, error));
        ICS_TRY(ics_checkpoint_read(at->checkpoint, next, at->piece, size, error));
        crc = ics_crc32c(crc, at->piece, size);
        next += size;
        left -= size;
    }
    ICS_TRY(ics_checkpoint_read(at->checkpoint, next, &tail, sizeof tail, error));
    return tail.crc32c == crc && memcmp(tail.magic, ICS_CHECKPOINT_TAIL, sizeof tail.magic) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT, "%s: found a damaged record",
                               at->checkpoint->path);
}

/* Compares the rows of a record with their checksum. */
static int check_rows(const survey *at, uint64_t offset, const ics_checkpoint_head *head,
                      icestream_error *error)
{
    enum { HITS = PIECE_BYTES / sizeof(icestream_hit) };
    const uint64_t body = offset + sizeof *head + head->intervals * sizeof(ics_photon_interval);
    uint32_t crc = 0;
    ics_checkpoint_rows rows;
    ICS_TRY(ics_checkpoint_read(at->checkpoint, body, &rows, sizeof rows, error));
    for (uint64_t done = 0; done < head->hits;) {
        const uint64_t left = head->hits - done;
        const size_t count = left < HITS ? (size_t)left : HITS;
        icestream_hit *hits = (icestream_hit *)(void *)at->piece;
        ICS_TRY(check_cancel(at->checkpoint, at->cancel, error));
        ICS_TRY(ics_checkpoint_read_hits(at->checkpoint, offset, head, done, hits, count, error));
        crc = ics_crc32c(crc, hits, count * sizeof *hits);
        done += count;
    }
    return crc == rows.crc32c ? ICESTREAM_OK
                              : ics_error_set(error, ICESTREAM_E_INPUT,
                                              "%s: found rows that do not have their checksum",
                                              at->checkpoint->path);
}

/* Adds the intervals of a record to `all`. *count: photons in them. */
static int add_intervals(const survey *at, uint64_t offset, const ics_checkpoint_head *head,
                         ics_photon_intervals *all, icestream_error *error)
{
    ics_photon_interval items[PIECE_INTERVALS];
    for (uint64_t done = 0; done < head->intervals;) {
        uint64_t left = head->intervals - done;
        size_t count = left < PIECE_INTERVALS ? (size_t)left : PIECE_INTERVALS;
        ICS_TRY(ics_checkpoint_read(at->checkpoint, offset + sizeof *head + done * sizeof *items,
                                    items, count * sizeof *items, error));
        for (size_t i = 0; i < count; ++i) {
            if (items[i].end > at->photons) {
                return ics_error_set(error, ICESTREAM_E_INPUT,
                                     "%s: found photons behind the end of the step file",
                                     at->checkpoint->path);
            }
            ICS_TRY(ics_photon_intervals_add(all, items[i], error));
        }
        done += count;
    }
    return ICESTREAM_OK;
}

/* Checks the photons of a record, which must be new, and its account. */
static int check_record(const survey *at, const ics_checkpoint_head *head,
                        const ics_photon_intervals *of_record, icestream_error *error)
{
    const uint64_t hits = head->account.hits - head->account.undetected;
    const bool has_sums = at->checkpoint->has_sums && head->hits <= hits;
    if (ics_batch_account_check(&head->account, of_record->photons, has_sums ? hits : head->hits,
                                error) != ICESTREAM_OK) {
        return error->status = ICESTREAM_E_INPUT;
    }
    for (size_t i = 0; i < of_record->count; ++i) {
        ics_photon_interval known;
        if (ics_photon_intervals_find(&at->sum->photons, of_record->items[i].first, &known) &&
            known.first < of_record->items[i].end) {
            return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found photons twice",
                                 at->checkpoint->path);
        }
    }
    return ICESTREAM_OK;
}

/* Adds a record to the sum, which changes only at the end: a record counts if all of it is good. */
static int add_record(const survey *at, uint64_t offset, const ics_checkpoint_head *head,
                      icestream_error *error)
{
    ics_photon_intervals of_record = {.items = NULL};
    int status = add_intervals(at, offset, head, &of_record, error);
    status = status ? status : check_record(at, head, &of_record, error);
    for (size_t i = 0; status == ICESTREAM_OK && i < of_record.count; ++i) {
        status = ics_photon_intervals_add(&at->sum->photons, of_record.items[i], error);
    }
    ics_photon_intervals_clear(&of_record);
    ICS_TRY(status);
    ics_batch_account_add(&at->sum->account, &head->account);
    at->sum->maths |= (ics_maths_used)(head->maths & ICS_MATHS_MIXED);
    ics_kernels_add(&at->sum->kernels, &(ics_kernels){.code = head->kernels});
    return ICESTREAM_OK;
}

/* Reads the record at *end, checks and adds it, and moves *end behind it. */
static int take_record(const survey *at, uint64_t *end, icestream_error *error)
{
    ics_checkpoint_head head;
    ICS_TRY(read_head(at, *end, &head, error));
    ICS_TRY(check_sum(at, *end, &head, error));
    if (ics_checkpoint_has_rows(&head)) {
        ICS_TRY(check_rows(at, *end, &head, error));
    }
    ICS_TRY(add_record(at, *end, &head, error));
    *end += ics_checkpoint_record_size(&head);
    return ICESTREAM_OK;
}

/* Finds the end of the last good record. */
static int find_end(const survey *at, uint64_t *end, icestream_error *error)
{
    int status = ICESTREAM_OK;
    while (status == ICESTREAM_OK && at->size - *end >= sizeof(ics_checkpoint_head)) {
        status = take_record(at, end, error);
    }
    if (status == ICESTREAM_E_INPUT) { /* what follows is not used */
        *error = (icestream_error){.status = ICESTREAM_OK};
        status = ICESTREAM_OK;
    }
    return status;
}

int ics_checkpoint_survey(ics_checkpoint *checkpoint, uint64_t photons, const atomic_bool *cancel,
                          ics_checkpoint_part *out, uint64_t *cut, icestream_error *error)
{
    struct stat about;
    *out = (ics_checkpoint_part){.maths = ICS_MATHS_NONE};
    if (fstat(checkpoint->file, &about) < 0) {
        return ics_checkpoint_failed(checkpoint, "cannot be read", error);
    }
    ICS_FREES char *piece = malloc(PIECE_BYTES);
    survey at = {.checkpoint = checkpoint,
                 .photons = photons,
                 .size = (uint64_t)about.st_size,
                 .cancel = cancel,
                 .piece = piece,
                 .sum = out};
    checkpoint->end = checkpoint->records;
    int status = piece != NULL ? find_end(&at, &checkpoint->end, error)
                               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory",
                                               checkpoint->path);
    *cut = at.size > checkpoint->end ? at.size - checkpoint->end : 0;
    if (status == ICESTREAM_OK && *cut > 0 && checkpoint->ours &&
        TEMP_FAILURE_RETRY(ftruncate(checkpoint->file, (off_t)checkpoint->end)) < 0) {
        status = ics_checkpoint_failed(checkpoint, "cannot be shortened", error);
    }
    if (status != ICESTREAM_OK) {
        ics_photon_intervals_clear(&out->photons);
    }
    return status;
}

/* Gives the hits of one record to the collector. */
static int collect_record(const ics_checkpoint *checkpoint, uint64_t offset,
                          const ics_checkpoint_head *head, ics_collector *collector,
                          icestream_error *error)
{
    for (uint64_t done = 0; done < head->hits;) {
        const uint64_t left = head->hits - done;
        size_t count = left < PIECE_HITS ? (size_t)left : PIECE_HITS;
        ICS_FREES icestream_hit *hits = malloc(count * sizeof *hits);
        if (hits == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its hits",
                                 checkpoint->path);
        }
        ICS_TRY(ics_checkpoint_read_hits(checkpoint, offset, head, done, hits, count, error));
        ICS_TRY(ics_collector_add(collector, ICS_HAND_OVER(hits), count, error));
        done += count;
    }
    return ICESTREAM_OK;
}

int ics_checkpoint_collect(ics_checkpoint *checkpoint, ics_collector *collector,
                           const atomic_bool *cancel, icestream_error *error)
{
    uint64_t offset = checkpoint->records;
    while (offset < checkpoint->end) {
        ics_checkpoint_head head;
        ICS_TRY(check_cancel(checkpoint, cancel, error));
        ICS_TRY(ics_checkpoint_read(checkpoint, offset, &head, sizeof head, error));
        ICS_TRY(collect_record(checkpoint, offset, &head, collector, error));
        offset += ics_checkpoint_record_size(&head);
    }
    return ICESTREAM_OK;
}
