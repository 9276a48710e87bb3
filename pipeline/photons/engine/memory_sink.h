/* A sink that keeps hits in memory, until they are taken as one array. */
#ifndef ICS_PHOTONS_ENGINE_MEMORY_SINK_H
#define ICS_PHOTONS_ENGINE_MEMORY_SINK_H

#include "pipeline/photons/devices/batch.h"

/* The hits of a batch. */
typedef struct ics_memory_part {
    uint64_t index; /* index of the batch within its propagation */
    icestream_hit *hits;
    size_t count;
} ics_memory_part;

/* Zero-initialise, and set the name. */
typedef struct ics_memory_sink {
    const char *name;       /* name of the steps in messages */
    ics_memory_part *parts; /* [count], in the order in which the batches came back */
    size_t count, capacity;
} ics_memory_sink;

/* The `add` of ics_hit_sink; `user` is the sink. Takes the hits over, without copying them.
 * ICESTREAM_E_MEMORY. */
int ics_memory_sink_add(void *user, ics_batch *batch, icestream_error *error);
/* Makes one array of all hits, in the order of hit files, which the caller frees, and empties the
 * sink. *out NULL: there are none. ICESTREAM_E_MEMORY. */
int ics_memory_sink_take(ics_memory_sink *sink, icestream_hit **out, size_t *count,
                         icestream_error *error);
/* Frees the hits. */
void ics_memory_sink_clear(ics_memory_sink *sink);

#endif
