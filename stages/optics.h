/* Optics of the medium at one wavelength: indices of refraction, scattering and absorption
 * (physics.md 4). */
#ifndef ICS_STAGES_OPTICS_H
#define ICS_STAGES_OPTICS_H

#include "stages/maths.h"
#include "stages/tables.h"

/* The fit of Price & Woschnagg, Astropart. Phys. 15 (2001) 97 (physics.md 4.1): coefficients of
 * x^0, x^1, ... with x = wavelength in micrometres. The group index is the phase index times the
 * second polynomial. */
#define ICE_PHASE_INDEX(M) M(1.55749) M(-1.57988) M(3.99993) M(-4.68271) M(2.09354)
#define ICE_GROUP_RATIO(M) M(1.227106) M(-0.954648) M(1.42568) M(-0.711832)

/* Make the elements of an array from a list above, in single and in double precision. */
#define ICE_LIST_FLOAT(value)  (float)(value),
#define ICE_LIST_DOUBLE(value) (value),

/* Returns the phase index of ice; wavelength in nm, ICE_WAVELENGTH_MIN .. ICE_WAVELENGTH_MAX. */
ICE_FN float ice_phase_index(float wavelength)
{
    const float c[] = {ICE_PHASE_INDEX(ICE_LIST_FLOAT)};
    const float x = wavelength * 1e-3f;
    return fmaf(fmaf(fmaf(fmaf(c[4], x, c[3]), x, c[2]), x, c[1]), x, c[0]);
}

#if !defined(__CUDACC_RTC__)
/* The same in double precision, for models and for the group index. Kernels of a run have no use
 * for it. */
ICE_FN double ice_phase_index_double(double wavelength)
{
    const double c[] = {ICE_PHASE_INDEX(ICE_LIST_DOUBLE)};
    const double x = wavelength * 1e-3;
    return (((c[4] * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0];
}

/* Returns the group index of ice. Pulses of light travel at c / group index. */
ICE_FN double ice_group_index_double(double wavelength)
{
    const double c[] = {ICE_GROUP_RATIO(ICE_LIST_DOUBLE)};
    const double x = wavelength * 1e-3;
    return ice_phase_index_double(wavelength) * (((c[3] * x + c[2]) * x + c[1]) * x + c[0]);
}
#endif

/* The three factors of the coefficients of a layer that depend on the wavelength (physics.md 5.3,
 * "Separability"). In a medium that is given by tables (4.6), the first two are the coefficients of
 * the table (1/m), and the third is 0. */
typedef struct ice_optics {
    float scattering; /* (wl/400)^-alpha */
    float dust;       /* (wl/400)^-kappa */
    float ice;        /* A exp(-B/wl), 1/m */
    float clearest;   /* ice_clearest_cost(), 1/m; only for the reach bound */
} ice_optics;

/* Returns the optics at a wavelength (nm) of a medium that is given by tables (physics.md 4.6), by
 * interpolation between the rows, one for every nanometre. */
ICE_FN ice_spectral_row ice_spectral_at(const ice_tables *tables, float wavelength)
{
    const float position = wavelength - (float)ICE_SPECTRAL_FIRST;
    const int32_t row = ice_cell(position, ICE_SPECTRAL_ROWS - 2);
    const float t = position - (float)row;
    const ice_spectral_row *low = &tables->spectral[row], *high = low + 1;
    ice_spectral_row at;
    at.scattering = fmaf(t, high->scattering - low->scattering, low->scattering);
    at.absorption = fmaf(t, high->absorption - low->absorption, low->absorption);
    at.phase_index = fmaf(t, high->phase_index - low->phase_index, low->phase_index);
    at.group_index = fmaf(t, high->group_index - low->group_index, low->group_index);
    return at;
}

/* Returns the phase index of the medium at a wavelength (nm). */
ICE_FN float ice_medium_index(const ice_tables *tables, float wavelength)
{
    if (ICE_HAS(tables, ICE_HAS_SPECTRAL_OPTICS)) {
        return ice_spectral_at(tables, wavelength).phase_index;
    }
    return ice_phase_index(wavelength);
}

/* 1 / speed of light, ns/m. */
#define ICE_INVERSE_C 3.33564095f

/* Returns the time that light of this wavelength (nm) takes for a metre, ns. */
ICE_FN float ice_slowness(const ice_tables *tables, float wavelength)
{
    if (ICE_HAS(tables, ICE_HAS_SPECTRAL_OPTICS)) {
        return ice_spectral_at(tables, wavelength).group_index * ICE_INVERSE_C;
    }
    const float c[] = {ICE_GROUP_RATIO(ICE_LIST_FLOAT)};
    const float x = wavelength * 1e-3f;
    return ice_phase_index(wavelength) * fmaf(fmaf(fmaf(c[3], x, c[2]), x, c[1]), x, c[0]) *
           ICE_INVERSE_C;
}

/* Returns the optics with a `clearest` of 0. */
ICE_FN ice_optics ice_layer_optics_at(const ice_tables *tables, float wavelength)
{
    if (ICE_HAS(tables, ICE_HAS_SPECTRAL_OPTICS)) {
        const ice_spectral_row row = ice_spectral_at(tables, wavelength);
        const ice_optics water = {row.scattering, row.absorption, 0.0f, 0.0f};
        return water;
    }
    const float log_ratio = ice_log(wavelength * 0.0025f);
    ice_optics optics;
    optics.scattering = ice_exp(-tables->alpha * log_ratio);
    optics.dust = ice_exp(-tables->kappa * log_ratio);
    optics.ice = tables->absorption_a * ice_exp(-ice_div(tables->absorption_b, wavelength));
    optics.clearest = 0.0f;
    return optics;
}

/* Returns the geometric scattering coefficient b (1/m) for the numbers of a layer. For numbers that
 * are integrated over depth, it returns an optical depth. */
ICE_FN float ice_scattering(ice_optics optics, float scattering, float bubbles)
{
    return fmaf(optics.scattering, scattering, bubbles);
}

/* The same for the absorption coefficient a. */
ICE_FN float ice_absorption(ice_optics optics, float dust, float ice)
{
    return fmaf(optics.dust, dust, optics.ice * ice);
}

/* Returns a lower bound (1/m) of the absorption coefficient everywhere, and in all directions, for
 * the reach bound (stages/reach.h). */
ICE_FN float ice_clearest_cost(const ice_tables *tables, ice_optics optics)
{
    const float cost = ice_absorption(optics, tables->clearest_dust, tables->clearest_ice);
    return ICE_HAS(tables, ICE_HAS_HOLES)
               ? ice_min(cost, ICE_REACH_SAFETY * tables->hole.absorption)
               : cost;
}

/* Returns the optics at a wavelength (nm). */
ICE_FN ice_optics ice_optics_at(const ice_tables *tables, float wavelength)
{
    ice_optics optics = ice_layer_optics_at(tables, wavelength);
    optics.clearest = ice_clearest_cost(tables, optics);
    return optics;
}

/* Returns the layer that contains the height z (m); the outermost layers continue without limit. */
ICE_FN int32_t ice_layer_at(const ice_tables *tables, float z)
{
    return ice_cell(fmaf(z, tables->inverse_thickness, tables->layer_of_zero),
                    tables->layer_count - 1);
}

/* Returns the height (m) of the lower face of a layer, which is the upper face of the layer below.
 */
ICE_FN float ice_face(const ice_tables *tables, int32_t layer)
{
    return fmaf((float)layer, tables->thickness, tables->bottom);
}

#endif
