/* One photon on the CPU, with every point of its path: for replay, never for runs. */
#ifndef IS_TRACE_H
#define IS_TRACE_H

#include "kernels/tables.h"
#include "stages/photon.h"
#include "stages/variants.h"

#include <stdbool.h>

typedef enum is_trace_kind {
    IS_TRACE_START,
    IS_TRACE_SCATTER,
    IS_TRACE_HIT,
    IS_TRACE_ABSORBED, /* by the ice or by an excluded module */
    IS_TRACE_LEFT,     /* the world, or the reach of all modules (there where it scattered last) */
    IS_TRACE_STOPPED   /* by the bounce limit */
} is_trace_kind;

typedef struct is_trace_point {
    is_trace_kind kind;
    float x, y, z;     /* m */
    float dx, dy, dz;  /* direction of travel after the point; where the photon ends, before it */
    float path;        /* m, from the start */
    float absorption;  /* optical depth of absorption passed; within a segment by its length */
    float wavelength;  /* nm */
    uint32_t scatters; /* so far, this one included */
    const ice_arrival *arrival; /* hits only; its emission is 0 */
} is_trace_point;

typedef struct is_trace_sink {
    /* Takes the points in the order of the flight; not 0: gives up. */
    int (*put)(void *self, const is_trace_point *point);
    void *self;
} is_trace_sink;

/* Whether these variants can be traced: not the user's own headers, which only compiled kernels
 * have. */
bool is_trace_supports(const ice_variants *variants);

/* Carries one photon of an emission from its start to its end, as is_graph_run does with portable
 * maths: the same random numbers, the same bits. `photon_id` need not be one of the emission's.
 * Returns 0, or what the sink gave up with. May be called from several threads at once. */
int is_trace_photon(const ice_variants *variants, const ice_tables *tables,
                    const ice_emission *emission, uint32_t photon_id, const is_trace_sink *sink);

#endif
