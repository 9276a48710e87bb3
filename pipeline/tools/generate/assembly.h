/* Blocks of steps on several threads: planned in order, made by whoever has time, written in order.
 *
 * All threads are equal, the caller's is one of them. Each does what is most urgent: write the
 * block that is next, if it is complete; else plan the next piece of a block; else make the steps
 * of a piece that is planned. One at a time plans and one at a time writes, so that bytes are the
 * same for every number of threads. Blocks and pieces are a fixed number: where writing is slow, a
 * full pipe for one, the others wait.
 */
#ifndef ICS_TOOLS_GENERATE_ASSEMBLY_H
#define ICS_TOOLS_GENERATE_ASSEMBLY_H

#include "pipeline/icestream.h"

/* Steps in a block, 4 MiB, and those of a piece at most: a millisecond of work. */
enum { ICS_ASSEMBLY_BLOCK = 1 << 16, ICS_ASSEMBLY_PIECE = 1 << 12 };

/* What is done; all get `user`. */
typedef struct ics_assembly {
    void *user;
    size_t piece_bytes; /* of what `plan` says of a piece */
    /* Decides on the next steps, at most `most`: *count and *piece; *count 0: that was all. Called
     * in order, by one thread at a time. After an error, the steps that it has counted are still
     * made, and nothing more is planned. */
    int (*plan)(void *user, uint32_t most, void *piece, uint32_t *count, icestream_error *error);
    /* Makes these steps. Any thread, several at a time. */
    int (*make)(const void *user, const void *piece, icestream_step *out, icestream_error *error);
    /* Takes a block: ICS_ASSEMBLY_BLOCK steps, fewer only in the last one. Called in order, by one
     * thread at a time, and at least once, if without steps. */
    int (*write)(void *user, const icestream_step *steps, size_t count, icestream_error *error);
} ics_assembly;

/* Goes on until all is written or an error comes; threads: 1 .. 1024. The error is the first one in
 * the order of steps, whoever met it when: what is written before is the same as on one thread. All
 * threads have ended when this returns. Also ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED: threads cannot
 * be started.
 */
int ics_assembly_run(const ics_assembly *work, uint32_t threads, icestream_error *error);

#endif
