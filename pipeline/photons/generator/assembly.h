/* Makes steps on several threads, block by block. A block consists of pieces. Pieces are planned in
 * order, any free thread makes their steps, and blocks are written in order.
 *
 * All threads do the same work, and the thread of the caller is one of them. A free thread does the
 * first of these that is possible: it writes the next block if that block is complete; it plans the
 * next piece of a block; it makes the steps of a planned piece. At any time at most one thread
 * plans and at most one writes, so the bytes are the same for every number of threads. The number
 * of blocks and of pieces is fixed: if writing is slow, for example into a full pipe, the other
 * threads wait.
 */
#ifndef ICS_PHOTONS_GENERATOR_ASSEMBLY_H
#define ICS_PHOTONS_GENERATOR_ASSEMBLY_H

#include "pipeline/icestream.h"

/* The steps of a block (4 MiB), and the largest number of steps in a piece: they take about a
 * millisecond. */
enum { ICS_ASSEMBLY_BLOCK = 1 << 16, ICS_ASSEMBLY_PIECE = 1 << 12 };

/* The functions that do the work. Each gets `user`. */
typedef struct ics_assembly {
    void *user;
    size_t piece_bytes; /* size of a piece, which `plan` fills */
    /* Plans the next steps, at most `most`: stores their number in *count and what `make` needs in
     * *piece. *count is 0 if there are no more steps. Called in order, by one thread at a time.
     * After an error the planned steps are still made, and nothing more is planned. */
    int (*plan)(void *user, uint32_t most, void *piece, uint32_t *count, icestream_error *error);
    /* Makes the steps of a piece. Several threads call it at the same time. */
    int (*make)(void *user, const void *piece, icestream_step *out, icestream_error *error);
    /* Writes a block. It has ICS_ASSEMBLY_BLOCK steps; only the last one can have fewer. Called in
     * order, by one thread at a time, and at least once: without any steps, with an empty block. */
    int (*write)(void *user, const icestream_step *steps, size_t count, icestream_error *error);
} ics_assembly;

/* Makes and writes all steps, or stops at an error. `threads` is from 1 to 1024. The error is the
 * first one in the order of the steps, so the blocks written before it are the same as on one
 * thread. All threads have ended when this returns. Also ICESTREAM_E_MEMORY; ICESTREAM_E_FAILED:
 * threads cannot be started. */
int ics_assembly_run(const ics_assembly *work, uint32_t threads, icestream_error *error);

#endif
