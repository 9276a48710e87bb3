/* Tilt of ice layers from files (physics.md 6.1). */
#ifndef ICS_PHOTONS_MODELS_ICE_TILT_H
#define ICS_PHOTONS_MODELS_ICE_TILT_H

#include "physics/model.h"
#include "pipeline/photons/models/text/text.h"

#include <math.h>

/* All readers fill a tilt that continues linearly outside its table and has its origin at 0, or
 * leave it empty after an error. Depths increase in equal steps (within 1e-5 of a step); there are
 * at most 4096 of them. Shifts are within +-1000 m. Errors: ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY.
 */

/* Reads tilt.par and tilt.dat. tilt.par: the number of a string and its position along azimuth 225
 * degrees, ascending, one position being 0. tilt.dat: a depth and the shift at every station of
 * tilt.par. */
int ics_ice_ppc_tilt_line_read(const ics_text *stations, const ics_text *shifts, ice_tilt *out,
                               icestream_error *error);

/* Reads tilt.set and tilt.map. tilt.set: two rows of azimuth, first coordinate, step, number of
 * nodes, cut. tilt.map: a depth and the shift at every node, first axis fastest. The nodes are a
 * hexagon with six sides. */
int ics_ice_ppc_tilt_map_read(const ics_text *axes, const ics_text *shifts, ice_tilt *out,
                              icestream_error *error);

/* Reads the two files of one of these tilts, whose paths are given; is_map: tilt.set and tilt.map.
 */
int ics_ice_ppc_tilt_read(const char *nodes, const char *shifts, bool is_map, ice_tilt *out,
                          icestream_error *error);

/* Reads CSV: depth_m, position_m, shift_m, with the same ascending positions at every depth.
 * `azimuth` is that of the line of positions, rad. */
int ics_ice_csv_tilt_read(const ics_text *text, double azimuth, ice_tilt *out,
                          icestream_error *error);

/* Returns the number of nodes of a map. */
size_t ics_ice_tilt_node_count(const ice_tilt *tilt);
/* Gives the smallest and the largest shift in the table, m; 0 and 0 without a table. */
void ics_ice_tilt_range(const ice_tilt *tilt, double *low, double *high);

/* Frees what the tilt owns and empties it. */
void ics_ice_tilt_free(ice_tilt *tilt);

/* By how many metres the layers rise in one metre at most, between neighbouring stations of a tilt
 * along a line; 0 for other tilts. */
static inline double ics_ice_tilt_steepness(const ice_tilt *tilt)
{
    double steepest = 0;
    for (size_t i = 0; tilt->kind == ICE_TILT_LINE && i < tilt->depth_count; ++i) {
        const double *shifts = tilt->shifts + i * tilt->station_count;
        for (size_t k = 1; k < tilt->station_count; ++k) {
            const double distance = tilt->stations[k] - tilt->stations[k - 1];
            steepest = fmax(steepest, fabs((shifts[k] - shifts[k - 1]) / distance));
        }
    }
    return steepest;
}

/* ---- depths in equal steps --------------------------------------------------------------------
 */

/* Tables have their depths in equal steps, as ppc takes them: from the first depth and the last.
 * Files round their depths. */

/* How far equal steps may move the ice (m). Layers are 10 m thick, and their tilt is known to
 * metres. */
#define ICS_UNEVEN_MOST 0.1
/* Less than this (m) is not worth a warning. */
#define ICS_UNEVEN_LEAST 1e-3

typedef struct ics_ice_steps {
    double step;     /* m: the mean step */
    double uneven;   /* m: the largest distance of a depth from equal steps */
    size_t row;      /* the row whose step differs most from the others */
    double usual;    /* m: the step of the others */
    double expected; /* the depth of this row if its step were the usual one */
} ics_ice_steps;

/* Looks at `count` >= 2 depths, which increase; the next depth is `stride` bytes behind a depth. */
ics_ice_steps ics_ice_steps_of(const double *depths, size_t stride, size_t count);

#endif
