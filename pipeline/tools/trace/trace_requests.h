/* Which photons `icestream trace` is to follow: those of hits, and those that were named. */
#ifndef ICS_TOOLS_TRACE_TRACE_REQUESTS_H
#define ICS_TOOLS_TRACE_TRACE_REQUESTS_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* One photon. */
typedef struct ics_trace_request {
    uint64_t event_id;
    uint32_t step_id, photon_id;
} ics_trace_request;

typedef struct ics_trace_requests {
    ics_trace_request *items; /* [count], ascending, each photon once */
    size_t count, capacity;
    icestream_hit *hits; /* [hit_count], in the order of hit files: what was selected */
    size_t hit_count, hit_capacity;
    json_t *metadata; /* of the hit file; NULL: it has none, or there is no such file */
} ics_trace_requests;

/* Gathers the requests of `options`, all in memory. ICESTREAM_E_USAGE: a mistake in the texts, or
 * no photon is named at all; ICESTREAM_E_CONFIG: in a list of photons; ICESTREAM_E_INPUT: a bad hit
 * file; ICESTREAM_E_MEMORY. */
int ics_trace_requests_create(const icestream_trace_options *options, ics_trace_requests *out,
                              icestream_error *error);
/* Fine with zeroed requests. */
void ics_trace_requests_free(ics_trace_requests *requests);

/* The first request of a step or of later ones. */
size_t ics_trace_requests_find(const ics_trace_requests *requests, uint64_t event_id,
                               uint32_t step_id);

#endif
