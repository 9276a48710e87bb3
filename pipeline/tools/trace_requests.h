/* Which photons `icestream trace` is to follow: those of hits, and those that were named. */
#ifndef IS_TRACE_REQUESTS_H
#define IS_TRACE_REQUESTS_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* One photon. */
typedef struct is_trace_request {
    uint64_t event_id;
    uint32_t step_id, photon_id;
} is_trace_request;

typedef struct is_trace_requests {
    is_trace_request *items; /* [count], ascending, each photon once */
    size_t count, capacity;
    is_hit *hits; /* [hit_count], in the order of hit files: what was selected */
    size_t hit_count, hit_capacity;
    json_t *metadata; /* of the hit file; NULL: it has none, or there is no such file */
} is_trace_requests;

/* Gathers the requests of `options`, all in memory. IS_E_USAGE: a mistake in the texts, or no
 * photon is named at all; IS_E_CONFIG: in a list of photons; IS_E_INPUT: a bad hit file;
 * IS_E_MEMORY. */
int is_trace_requests_create(const is_trace_options *options, is_trace_requests *out,
                             is_error *error);
/* Fine with zeroed requests. */
void is_trace_requests_free(is_trace_requests *requests);

/* The first request of a step or of later ones. */
size_t is_trace_requests_find(const is_trace_requests *requests, uint64_t event_id,
                              uint32_t step_id);

#endif
