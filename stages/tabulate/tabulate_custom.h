/* tabulate with a header of the user, which computes the coordinates of a sample (docs/stages.md).
 *
 * If ICE_CUSTOM_tabulate is defined, it is the quoted name of the file to include. That file
 * defines ICE_TABULATE_COORDINATES, the number of its coordinates (1 to ICE_TABULATE_AXES), and
 *
 *     ICE_FN ice_tabulate_coordinates ice_tabulate_custom(const ice_tables *tables,
 *                                                         const ice_tabulation *table,
 *                                                         const ice_tabulate_view *view);
 *
 * Axis i of table.axes bins coordinate i.
 */
#ifndef ICS_STAGES_TABULATE_TABULATE_CUSTOM_H
#define ICS_STAGES_TABULATE_TABULATE_CUSTOM_H

#include "stages/check.h"
#include "stages/tabulate/tabulate.h"

/* A sample, as a header gets it. */
typedef struct ice_tabulate_view {
    float x, y, z;          /* position in the detector, m */
    float dx, dy, dz;       /* direction of the photon in the detector, of length 1 */
    float own[3];           /* position in the frame of the source: along its u, v and w, m */
    float own_direction[3]; /* direction of the photon in that frame */
    float time;             /* ns after the source */
    float slowness;         /* slowness of the photon (ns/m) */
    ice_tabulate_origin source;
} ice_tabulate_view;

/* What a header returns. */
typedef struct ice_tabulate_coordinates {
    float at[ICE_TABULATE_AXES];
    int32_t ends; /* 1: the photon ends, and neither this sample nor a later one of it counts */
} ice_tabulate_coordinates;

#if defined(ICE_CUSTOM_tabulate)
#include ICE_CUSTOM_tabulate
#if !defined(ICE_TABULATE_COORDINATES)
#error "the header of stages.tabulate must define ICE_TABULATE_COORDINATES (docs/stages.md)"
#elif ICE_TABULATE_COORDINATES < 1 || ICE_TABULATE_COORDINATES > 5
#error "ICE_TABULATE_COORDINATES must be a number from 1 to 5 (docs/stages.md)"
#endif

/* Returns the sample at a distance (m) from the start of a segment. */
ICE_FN ice_tabulate_view ice_tabulate_view_of(const ice_tabulate_origin *source,
                                              const ice_tabulate_way *way, float distance)
{
    const ice_tabulate_sample at = ice_tabulate_sample_at(way, distance, 0.0f);
    ice_tabulate_view view;
    view.source = *source;
    view.own[0] = at.x;
    view.own[1] = at.y;
    view.own[2] = at.z;
    view.own_direction[0] = way->dx;
    view.own_direction[1] = way->dy;
    view.own_direction[2] = way->dz;
    view.x = fmaf(source->ux, at.x, fmaf(source->vx, at.y, fmaf(source->wx, at.z, source->x)));
    view.y = fmaf(source->uy, at.x, fmaf(source->vy, at.y, fmaf(source->wy, at.z, source->y)));
    view.z = fmaf(source->uz, at.x, fmaf(source->vz, at.y, fmaf(source->wz, at.z, source->z)));
    view.dx = fmaf(source->ux, way->dx, fmaf(source->vx, way->dy, source->wx * way->dz));
    view.dy = fmaf(source->uy, way->dx, fmaf(source->vy, way->dy, source->wy * way->dz));
    view.dz = way->impact;
    view.time = at.time;
    view.slowness = way->slowness;
    return view;
}

#if defined(ICE_CHECK)
/* A coordinate that is no number lies below its axis, as without the check. */
ICE_FN ice_tabulate_coordinates ice_checked_coordinates(ice_tabulate_coordinates returned,
                                                        const ice_tabulate_view *view)
{
    for (int32_t i = 0; i < ICE_TABULATE_COORDINATES; ++i) {
        if (returned.at[i] == returned.at[i] || !ICE_FAULT_IS_FIRST(ICE_FAULT_COORDINATE)) {
            continue;
        }
        ice_fault_found.value = returned.at[i];
        ice_fault_found.given[0] = view->x;
        ice_fault_found.given[1] = view->y;
        ice_fault_found.given[2] = view->z;
        ice_fault_found.given[3] = view->dx;
        ice_fault_found.given[4] = view->dy;
        ice_fault_found.given[5] = view->dz;
        ice_fault_found.given[6] = view->time;
    }
    return returned;
}
#else
#define ice_checked_coordinates(returned, view) (returned)
#endif

/* Returns the coordinates of the sample at a distance (m) from the start of a segment. */
ICE_FN ice_tabulate_coordinates ice_tabulate_ask(const ice_tables *tables,
                                                 const ice_tabulation *table,
                                                 const ice_tabulate_origin *source,
                                                 const ice_tabulate_way *way, float distance)
{
    const ice_tabulate_view view = ice_tabulate_view_of(source, way, distance);
    return ice_checked_coordinates(ice_tabulate_custom(tables, table, &view), &view);
}
#endif

#endif
