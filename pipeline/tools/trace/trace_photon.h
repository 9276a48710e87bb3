/* One photon on the CPU, with every point of its path: for replay, never for runs. */
#ifndef ICS_TOOLS_TRACE_TRACE_PHOTON_H
#define ICS_TOOLS_TRACE_TRACE_PHOTON_H

#include "stages/photon.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stdbool.h>

typedef enum ics_trace_kind {
    ICS_TRACE_START,
    ICS_TRACE_SCATTER,
    ICS_TRACE_HIT,
    ICS_TRACE_ABSORBED, /* by the ice or by an excluded module */
    ICS_TRACE_LEFT,     /* the world, or the reach of all modules (there where it scattered last) */
    ICS_TRACE_STOPPED   /* by the bounce limit */
} ics_trace_kind;

typedef struct ics_trace_point {
    ics_trace_kind kind;
    float x, y, z;     /* m */
    float dx, dy, dz;  /* direction of travel after the point; where the photon ends, before it */
    float path;        /* m, from the start */
    float absorption;  /* optical depth of absorption passed; within a segment by its length */
    float wavelength;  /* nm */
    uint32_t scatters; /* so far, this one included */
    const ice_arrival *arrival; /* hits only; its emission is 0 */
} ics_trace_point;

typedef struct ics_trace_sink {
    /* Takes the points in the order of the flight; not 0: gives up. */
    int (*put)(void *self, const ics_trace_point *point);
    void *self;
} ics_trace_sink;

/* Whether these variants can be traced: not the user's own headers, which only compiled kernels
 * have. */
bool ics_trace_supports(const ice_variants *variants);

/* Carries one photon of an emission from its start to its end, as ics_graph_run does with portable
 * maths: the same random numbers, the same bits. `photon_id` need not be one of the emission's.
 * Returns 0, or what the sink gave up with. May be called from several threads at once. */
int ics_trace_photon(const ice_variants *variants, const ice_tables *tables,
                     const ice_emission *emission, uint32_t photon_id, const ics_trace_sink *sink);

#endif
