/* Reading the records of a checkpoint. */
#include "base/error.h"
#include "pipeline/checkpoint/checkpoint_state.h"
#include "pipeline/files/format/crc32c.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 1 << 18,  /* bytes of a record that are read at a time */
    PIECE_HITS = 1 << 16,   /* hits that are given to the collector at a time: 4 MiB */
    PIECE_INTERVALS = 1024, /* intervals that are read at a time */
};

static int interrupted(const ics_checkpoint *checkpoint, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while reading it",
                         checkpoint->path);
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
        if (at->cancel != NULL && atomic_load(at->cancel)) {
            return interrupted(at->checkpoint, error);
        }
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
        if (at->cancel != NULL && atomic_load(at->cancel)) {
            return interrupted(at->checkpoint, error);
        }
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

/* Adds the record to the sum. After an error the intervals of the sum may be incomplete: the record
 * counts only if all of it is good, so `at->sum` is changed at the end. */
static int add_record(const survey *at, uint64_t offset, const ics_checkpoint_head *head,
                      icestream_error *error)
{
    ics_photon_intervals of_record = {.items = NULL};
    ics_photon_intervals *all = &at->sum->photons;
    int status = add_intervals(at, offset, head, &of_record, error);
    if (status == ICESTREAM_OK) {
        const uint64_t hits = head->account.hits - head->account.undetected;
        const bool has_sums = at->checkpoint->has_sums && head->hits <= hits;
        status = ics_batch_account_check(&head->account, of_record.photons,
                                         has_sums ? hits : head->hits, error);
        status = status != ICESTREAM_OK ? error->status = ICESTREAM_E_INPUT : status;
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < of_record.count; ++i) {
        ics_photon_interval known;
        if (ics_photon_intervals_find(all, of_record.items[i].first, &known) &&
            known.first < of_record.items[i].end) {
            status = ics_error_set(error, ICESTREAM_E_INPUT, "%s: found photons twice",
                                   at->checkpoint->path);
        }
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < of_record.count; ++i) {
        status = ics_photon_intervals_add(all, of_record.items[i], error);
    }
    ics_photon_intervals_clear(&of_record);
    if (status == ICESTREAM_OK) {
        ics_batch_account_add(&at->sum->account, &head->account);
        at->sum->maths |= (ics_maths_used)(head->maths & ICS_MATHS_MIXED);
    }
    return status;
}

/* Finds the end of the last good record. */
static int find_end(const survey *at, uint64_t *end, icestream_error *error)
{
    int status = ICESTREAM_OK;
    while (status == ICESTREAM_OK && at->size - *end >= sizeof(ics_checkpoint_head)) {
        ics_checkpoint_head head;
        status = read_head(at, *end, &head, error);
        if (status == ICESTREAM_OK) {
            status = check_sum(at, *end, &head, error);
        }
        if (status == ICESTREAM_OK && ics_checkpoint_has_rows(&head)) {
            status = check_rows(at, *end, &head, error);
        }
        if (status == ICESTREAM_OK) {
            status = add_record(at, *end, &head, error);
        }
        *end += status == ICESTREAM_OK ? ics_checkpoint_record_size(&head) : 0;
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
    survey at = {.checkpoint = checkpoint,
                 .photons = photons,
                 .size = (uint64_t)about.st_size,
                 .cancel = cancel,
                 .piece = malloc(PIECE_BYTES),
                 .sum = out};
    checkpoint->end = checkpoint->records;
    int status = at.piece != NULL ? find_end(&at, &checkpoint->end, error)
                                  : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory",
                                                  checkpoint->path);
    free(at.piece);
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
        icestream_hit *hits = malloc(count * sizeof *hits);
        if (hits == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for its hits",
                                 checkpoint->path);
        }
        int status = ics_checkpoint_read_hits(checkpoint, offset, head, done, hits, count, error);
        if (status != ICESTREAM_OK) {
            free(hits);
            return status;
        }
        ICS_TRY(ics_collector_add(collector, hits, count, error));
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
        if (cancel != NULL && atomic_load(cancel)) {
            return interrupted(checkpoint, error);
        }
        ICS_TRY(ics_checkpoint_read(checkpoint, offset, &head, sizeof head, error));
        ICS_TRY(collect_record(checkpoint, offset, &head, collector, error));
        offset += ics_checkpoint_record_size(&head);
    }
    return ICESTREAM_OK;
}
