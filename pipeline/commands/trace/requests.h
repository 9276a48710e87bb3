/* The photons that `icestream trace` follows: the photons of chosen hits, and named photons. */
#ifndef ICS_COMMANDS_TRACE_REQUESTS_H
#define ICS_COMMANDS_TRACE_REQUESTS_H

#include "pipeline/photons/replay/steps.h"

typedef struct ics_trace_requests {
    ics_replay_photon *items; /* [count], ascending, each photon once */
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

#endif
