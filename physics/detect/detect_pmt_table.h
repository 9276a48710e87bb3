/* detect: pmt-table. Decides which PMT of a module detects an arrival, from a table of effective
 * areas over the direction of the light, such as a detailed simulation of the module gives
 * (physics.md 8.16). */
#ifndef ICS_PHYSICS_DETECT_DETECT_PMT_TABLE_H
#define ICS_PHYSICS_DETECT_DETECT_PMT_TABLE_H

#include "physics/detect/pmt.h"

#define ICE_PMT_TURN 6.28318530717958647692 /* 2 pi */

/* The directions of a table around the direction of the light, and their shares, whose sum is 1:
 * two of the ring above, two of the ring below. */
typedef struct ice_pmt_around {
    uint32_t directions[4];
    double shares[4];
} ice_pmt_around;

/* Gives the two directions of a ring around an azimuth in [0, 2 pi), and their shares, whose sum is
 * `share`. */
ICE_FN void ice_pmt_around_ring(const ice_pmt_ring *ring, const float *azimuths, double azimuth,
                                double share, uint32_t directions[2], double shares[2])
{
    const float *own = azimuths + ring->first;
    uint32_t low = 0, high = ring->count; /* the first one beyond the azimuth is in low .. high */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)own[middle] <= azimuth) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const uint32_t before = low > 0 ? low - 1 : ring->count - 1, after = low % ring->count;
    double width = (double)own[after] - (double)own[before], on = azimuth - (double)own[before];
    width += width > 0 ? 0 : ICE_PMT_TURN; /* the last and the first direction, or a single one */
    on += on < 0 ? ICE_PMT_TURN : 0;
    directions[0] = ring->first + before;
    directions[1] = ring->first + after;
    shares[1] = share * fmin(on / width, 1);
    shares[0] = share - shares[1];
}

/* Finds the directions of a table around the light that travels along `direction` in the frame of
 * the module. The type must have a table. */
ICE_FN void ice_pmt_table_around(const ice_pmt_tables *tables, const ice_pmt_grid *grid,
                                 const double direction[3], ice_pmt_around *out)
{
    const ice_pmt_ring *rings = tables->rings + grid->first_ring;
    const float *azimuths = tables->azimuths + grid->first_azimuth;
    const double zenith = atan2(hypot(direction[0], direction[1]), -direction[2]);
    double azimuth = atan2(-direction[1], -direction[0]);
    azimuth += azimuth < 0 ? ICE_PMT_TURN : 0;
    uint32_t low = 0, high = grid->ring_count - 1;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if ((double)rings[middle].zenith <= zenith) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double first = (double)rings[low].zenith, width = (double)rings[high].zenith - first;
    const double share = fmax(fmin((zenith - first) / width, 1), 0);
    ice_pmt_around_ring(&rings[low], azimuths, azimuth, 1 - share, out->directions, out->shares);
    ice_pmt_around_ring(&rings[high], azimuths, azimuth, share, out->directions + 2,
                        out->shares + 2);
}

/* Returns what the PMTs 0 .. `last` of a type detect, divided by the largest value. It never
 * decreases with `last`, because the shares are not negative and rounding keeps the order. */
ICE_FN double ice_pmt_table_sum(const ice_pmt_tables *tables, const ice_pmt_grid *grid,
                                uint32_t count, const ice_pmt_around *around, uint32_t last)
{
    const float *sums = tables->sums + grid->first_sum + last;
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += around->shares[i] * (double)sums[(size_t)around->directions[i] * count];
    }
    return sum;
}

/* The same with the acceptance of every PMT at a wavelength (nm), if the PMTs of the type differ in
 * it. It never decreases with `last` either. */
ICE_FN double ice_pmt_table_accepted(const ice_pmt_tables *tables, const ice_pmt_type *type,
                                     const ice_pmt_around *around, uint32_t last, float wavelength)
{
    const ice_pmt_grid *grid = &tables->grids[type - tables->types];
    if (!type->own_responses) {
        return ice_pmt_table_sum(tables, grid, type->count, around, last);
    }
    double sum = 0, before = 0;
    for (uint32_t k = 0; k <= last; ++k) {
        const double until = ice_pmt_table_sum(tables, grid, type->count, around, k);
        sum += (until - before) * (double)ice_pmt_own_ratio(
                                      tables, type, &tables->windows[type->first + k], wavelength);
        before = until;
    }
    return sum;
}

ICE_FN float ice_detect_pmt_table(const ice_detection *detection, const ice_arrival *arrival)
{
    const float common = ice_pmt_common(detection, arrival);
    double direction[3], impact[3];
    if (!(common > 0.0f)) {
        return 0.0f;
    }
    const ice_pmt_tables *tables = detection->pmts;
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    const ice_pmt_grid *grid = &tables->grids[type - tables->types];
    if (grid->ring_count == 0) {
        return 0.0f;
    }
    ice_pmt_around around;
    ice_pmt_table_around(tables, grid, direction, &around);
    return common * (float)ice_pmt_table_accepted(tables, type, &around, type->count - 1,
                                                  arrival->wavelength);
}

/* Returns the PMT that detects the light; `share` in [0, 1) is uniform. The probability of the
 * arrival must be above 0. */
ICE_FN int32_t ice_pmt_of_pmt_table(const ice_detection *detection, const ice_arrival *arrival,
                                    float share)
{
    double direction[3], impact[3];
    const ice_pmt_tables *tables = detection->pmts;
    const ice_pmt_type *type = ice_pmt_view(detection, arrival, direction, impact);
    const ice_pmt_grid *grid = &tables->grids[type - tables->types];
    ice_pmt_around around;
    ice_pmt_table_around(tables, grid, direction, &around);
    uint32_t low = 0, high = type->count - 1;
    const double wanted =
        (double)share * ice_pmt_table_accepted(tables, type, &around, high, arrival->wavelength);
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ice_pmt_table_accepted(tables, type, &around, middle, arrival->wavelength) > wanted) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return (int32_t)low;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_detect_pmt_table                                                            \
    "detector.types detector.om_conf detector.om_map detector.om_tables light.acceptance "         \
    "light.high_efficiency detector.efficiencies detector.cables detector.cable_radius "           \
    "detector.cable_length detector.voltages"

#endif
