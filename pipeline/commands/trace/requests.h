/* The photons that `icestream trace` follows: the photons of chosen hits, and named photons. */
#ifndef ICS_COMMANDS_TRACE_REQUESTS_H
#define ICS_COMMANDS_TRACE_REQUESTS_H

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
    icestream_hit *hits; /* [hit_count], the chosen hits, in the order of hit files */
    size_t hit_count, hit_capacity;
    json_t *metadata; /* metadata of the hit file; NULL: without metadata, or without a hit file */
} ics_trace_requests;

/* Collects the requests of `options` in memory. The caller frees *out with ics_trace_requests_free.
 * ICESTREAM_E_USAGE: a text is wrong, or no photon is named; ICESTREAM_E_CONFIG: a list of photons
 * is wrong; ICESTREAM_E_INPUT: a bad hit file; ICESTREAM_E_MEMORY. */
int ics_trace_requests_create(const icestream_trace_options *options, ics_trace_requests *out,
                              icestream_error *error);
/* Accepts requests of zeros. */
void ics_trace_requests_free(ics_trace_requests *requests);

/* Returns the index of the first request that belongs to this step or to a later one. */
size_t ics_trace_requests_find(const ics_trace_requests *requests, uint64_t event_id,
                               uint32_t step_id);

#endif
