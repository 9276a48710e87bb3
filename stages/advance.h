/* The way of a photon to the end of its segment. It is straight, or bent by birefringence. */
#ifndef ICS_STAGES_ADVANCE_H
#define ICS_STAGES_ADVANCE_H

#include "stages/active.h"
#include "stages/birefringence.h"
#include "stages/hole_ice/hole.h"

/* Returns the strengths of birefringence, integrated over a segment (m) that starts at the photon.
 * A segment that starts in a column of hole ice is not deflected at all; other segments count as if
 * there were no columns. */
ICE_FN ice_birefringence_sum ice_birefringence_along(const ice_tables *tables,
                                                     const ice_photon *photon, float height,
                                                     float length)
{
    ice_birefringence_sum along = ice_birefringence_over(tables, height, photon->dz, length);
    if (ICE_HAS(tables, ICE_HAS_HOLES) && ice_in_hole(tables, photon->x, photon->y)) {
        along.diffusion = along.mean = 0.0f;
    }
    return along;
}

/* Sets bounce->birefringence for the photon at the start of its segment. Reads the height and the
 * length of the bounce. */
ICE_FN void ice_find_birefringence(const ice_tables *tables, const ice_photon *photon,
                                   ice_bounce *bounce)
{
    bounce->birefringence.diffusion = bounce->birefringence.mean = 0.0f;
    if (ICE_HAS(tables, ICE_HAS_BIREFRINGENCE)) {
        bounce->birefringence =
            ice_birefringence_along(tables, photon, bounce->height, bounce->length);
    }
}

/* Whether birefringence bends a segment with these integrals. In ice with columns of hole ice, a
 * segment that starts in a column is straight, to the bit as in stages/hole_ice/column.h. */
ICE_FN int32_t ice_is_bent(const ice_tables *tables, ice_birefringence_sum along)
{
    if (ICE_HAS(tables, ICE_HAS_HOLES) && along.diffusion == 0.0f && along.mean == 0.0f) {
        return 0;
    }
    return ICE_HAS(tables, ICE_HAS_BIREFRINGENCE) ? 1 : 0;
}

/* Moves a photon straight to the end of its segment. */
ICE_FN void ice_advance(ice_photon *photon, float length)
{
    photon->x = fmaf(length, photon->dx, photon->x);
    photon->y = fmaf(length, photon->dy, photon->y);
    photon->z = fmaf(length, photon->dz, photon->z);
    photon->path += length;
}

/* Moves a photon to the end of a bent segment of this length (m), and gives it the direction
 * there. Its path grows by the length, as if the segment were straight. */
ICE_FN void ice_advance_bent(const ice_tables *tables, const ice_bent_segment *bent, float length,
                             ice_photon *photon)
{
    const float fx = tables->flow_x, fy = tables->flow_y;
    photon->x = fmaf(bent->end.flow, fx, fmaf(-bent->end.sideways, fy, photon->x));
    photon->y = fmaf(bent->end.flow, fy, fmaf(bent->end.sideways, fx, photon->y));
    photon->z += bent->end.up;
    photon->path += length;
    ice_set_direction(photon, ice_of_flow(tables, bent->direction));
}

/* Moves a photon to the end of its segment of `length` (m). `along` has the integrals over the
 * segment, and `normal` the random numbers of its deflection; straight segments read neither. */
ICE_FN void ice_go_to_end(const ice_tables *tables, ice_birefringence_sum along, float length,
                          ice_normal normal, ice_photon *photon)
{
    if (ice_is_bent(tables, along)) {
        const ice_bent_segment bent =
            ice_bend(tables, ice_direction_of(photon), along, length, normal);
        ice_advance_bent(tables, &bent, length, photon);
    } else {
        ice_advance(photon, length);
    }
}

#endif
