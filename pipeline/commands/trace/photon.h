/* Follows one photon on the CPU and reports every point of its path. Only `icestream trace` uses
 * it; runs do not. */
#ifndef ICS_COMMANDS_TRACE_PHOTON_H
#define ICS_COMMANDS_TRACE_PHOTON_H

#include "stages/photon.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stdbool.h>

typedef enum ics_trace_kind {
    ICS_TRACE_START,
    ICS_TRACE_SCATTER,
    ICS_TRACE_HIT,
    ICS_TRACE_ABSORBED, /* absorbed by the ice or by an excluded module */
    ICS_TRACE_LEFT,     /* left the world; or cannot reach any module, then at the last scatter */
    ICS_TRACE_STOPPED   /* stopped by the bounce limit */
} ics_trace_kind;

typedef struct ics_trace_point {
    ics_trace_kind kind;
    float x, y, z;    /* position (m) */
    float dx, dy, dz; /* direction of travel after the point; at the end of the path, before it */
    float path;       /* path length from the start (m) */
    float absorption; /* absorption depth passed so far; inside a segment in proportion to length */
    float wavelength; /* (nm) */
    uint32_t scatters;          /* scatters so far, with this point */
    const ice_arrival *arrival; /* the arrival of a hit, with emission 0; NULL at other points */
} ics_trace_point;

typedef struct ics_trace_sink {
    /* Receives the points in the order of the path. A result other than 0 stops the tracing. */
    int (*put)(void *self, const ics_trace_point *point);
    void *self;
} ics_trace_sink;

/* Returns whether these variants can be traced. The user's own headers cannot, because only
 * compiled kernels contain them. */
bool ics_trace_supports(const ice_variants *variants);

/* Follows one photon of an emission from its start to its end. Random numbers and results are the
 * same, bit by bit, as those of ics_graph_run with portable maths. `photon_id` may be outside the
 * emission. Returns 0, or the result with which the sink stopped. Several threads may call this at
 * the same time. */
int ics_trace_photon(const ice_variants *variants, const ice_tables *tables,
                     const ice_emission *emission, uint32_t photon_id, const ics_trace_sink *sink);

#endif
