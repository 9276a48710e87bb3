/* A checkpoint: the hits of the part of a step file that is computed, in a file that is only
 * appended to (files.md 6.4). A later run takes them over and computes the rest.
 *
 * A checkpoint is a header, which says what the hits depend on, and records. A record has the
 * photons of one or more batches, their account, and their hits. Each record has a checksum, so
 * that a record that a killed process left incomplete is found and cut off. Hits that a collector
 * has written as rows of the hit file (collect/early_rows.h) are not written again: the file of the
 * rows has a name next to the checkpoint, and the record has the numbers of its rows and their
 * checksum.
 *
 * The process that has the lock of the file may write. Another process may read the file at the
 * same time: it finds complete records, and no photon twice. A checkpoint belongs to one thread at
 * a time. Errors: ICESTREAM_E_INPUT: the file is no checkpoint, or one of other hits;
 * ICESTREAM_E_OUTPUT: it cannot be opened, read or written, the cause says why; ICESTREAM_E_MEMORY;
 * the text names the file.
 */
#ifndef ICS_PRODUCTION_CHECKPOINT_CHECKPOINT_H
#define ICS_PRODUCTION_CHECKPOINT_CHECKPOINT_H

#include "base/cleanup.h"
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/devices/photon_intervals.h"

#include <jansson.h>

typedef struct ics_checkpoint ics_checkpoint;

/* Some photons of a step file, and what became of them. */
typedef struct ics_checkpoint_part {
    ics_photon_intervals photons;
    icestream_account account;
    ics_maths_used maths;
    ics_kernels kernels; /* of fast maths; a part that was read has no name of a GPU */
} ics_checkpoint_part;

/* Opens the checkpoint at `path` for reading, and for appending if no other process has its lock.
 * *out NULL without an error: there is no such file. `origin`: what the hits must depend on
 * (ics_origin_metadata). ICESTREAM_E_CONFIG: it is a checkpoint of other settings, and the text
 * names each of them with both values. ICESTREAM_E_INPUT also: it is one of another step file. */
int ics_checkpoint_open(const char *path, const json_t *origin, ics_checkpoint **out,
                        icestream_error *error);
/* Reads all records and checks them. What follows the last good record is cut off, or ignored if
 * another process has the lock. `photons`: number of photons of the step file. *out is the sum of
 * all records, whose intervals belong to the caller; *cut: number of bytes behind the last good
 * record. ICESTREAM_E_INTERRUPTED: *cancel became true. */
int ics_checkpoint_survey(ics_checkpoint *checkpoint, uint64_t photons, const atomic_bool *cancel,
                          ics_checkpoint_part *out, uint64_t *cut, icestream_error *error);
/* After ics_checkpoint_survey: gives all hits to the collector. ICESTREAM_E_INTERRUPTED, and the
 * errors of ics_collector_add. */
int ics_checkpoint_collect(ics_checkpoint *checkpoint, ics_collector *collector,
                           const atomic_bool *cancel, icestream_error *error);

/* Makes an empty checkpoint, in place of an older one. ICESTREAM_E_OUTPUT also if another process
 * has the lock of the older one. */
int ics_checkpoint_create(const char *path, const json_t *origin, ics_checkpoint **out,
                          icestream_error *error);
/* Whether this process has the lock. Only then may the functions below be called. */
bool ics_checkpoint_is_ours(const ics_checkpoint *checkpoint);
/* If another process holds the lock, waits for it at most ICS_DISK_LOCK_WAIT s, because a process
 * that was killed may be about to end. Then writes which process holds it: " (process 123)". */
void ics_checkpoint_await_lock(ics_checkpoint *checkpoint, char holder[32]);
/* Appends a record with `count` hits, sorted by ics_hit_sort_order. After an error the file ends
 * with the record before. */
int ics_checkpoint_append(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                          const icestream_hit *hits, size_t count, icestream_error *error);
/* The same with all hits of a collector, which keeps them. ICESTREAM_E_INTERRUPTED. */
int ics_checkpoint_append_all(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                              ics_collector *collector, const atomic_bool *cancel,
                              icestream_error *error);
/* The rows of a file that are the hits of a record, as the record stores them. */
typedef struct ics_checkpoint_rows {
    uint64_t first;    /* the row n is at the byte ICS_NPY_OWN_HEADER + 64 n */
    uint32_t crc32c;   /* checksum of all rows */
    uint32_t reserved; /* 0 */
} ics_checkpoint_rows;

/* The name of the file of rows: PATH.rows. For the caller to free; NULL without memory. */
char *ics_checkpoint_rows_path(const char *path);
/* The same with `count` hits that are rows of PATH.rows. */
int ics_checkpoint_append_rows(ics_checkpoint *checkpoint, const ics_checkpoint_part *part,
                               const ics_checkpoint_rows *rows, uint64_t count,
                               icestream_error *error);
/* Waits until all records are on the disk. */
int ics_checkpoint_sync(ics_checkpoint *checkpoint, icestream_error *error);

/* Closes the file, which stays. Accepts NULL. */
void ics_checkpoint_close(ics_checkpoint *checkpoint);
ICS_CAN_DESTROY(ics_checkpoint, ics_checkpoint_close)
/* Removes the file at `path` and that of its rows if it is a checkpoint; a missing file is no
 * error. ICESTREAM_E_OUTPUT: it is something else, or cannot be removed. */
int ics_checkpoint_remove(const char *path, icestream_error *error);
/* The same without the file of rows, which keeps its name. */
int ics_checkpoint_remove_records(const char *path, icestream_error *error);

#endif
