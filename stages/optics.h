/* Optics of ice at one wavelength: indices of refraction, scattering, absorption (physics.md 4). */
#ifndef ICS_STAGES_OPTICS_H
#define ICS_STAGES_OPTICS_H

#include "stages/maths.h"
#include "stages/tables.h"

/* Price & Woschnagg, Astropart. Phys. 15 (2001) 97; x = wavelength in micrometres. The group index
 * has its own fit: it is the phase index times a second polynomial. */
#define ICE_PHASE_INDEX(M) M(1.55749) M(-1.57988) M(3.99993) M(-4.68271) M(2.09354)
#define ICE_GROUP_RATIO(M) M(1.227106) M(-0.954648) M(1.42568) M(-0.711832)

/* Horner's rule from the lists above, in single and in double precision. */
#define ICE_LIST_FLOAT(value)  (float)(value),
#define ICE_LIST_DOUBLE(value) (value),

/* Phase index of refraction; wavelength in nm, ICE_WAVELENGTH_MIN .. MAX. */
ICE_FN float ice_phase_index(float wavelength)
{
    const float c[] = {ICE_PHASE_INDEX(ICE_LIST_FLOAT)};
    const float x = wavelength * 1e-3f;
    return fmaf(fmaf(fmaf(fmaf(c[4], x, c[3]), x, c[2]), x, c[1]), x, c[0]);
}

#if !defined(__CUDACC__)
/* The same in double precision, for building tables and for times. */
ICE_FN double ice_phase_index_double(double wavelength)
{
    const double c[] = {ICE_PHASE_INDEX(ICE_LIST_DOUBLE)};
    const double x = wavelength * 1e-3;
    return (((c[4] * x + c[3]) * x + c[2]) * x + c[1]) * x + c[0];
}

/* Group index: light travels at c / group index. */
ICE_FN double ice_group_index_double(double wavelength)
{
    const double c[] = {ICE_GROUP_RATIO(ICE_LIST_DOUBLE)};
    const double x = wavelength * 1e-3;
    return ice_phase_index_double(wavelength) * (((c[3] * x + c[2]) * x + c[1]) * x + c[0]);
}
#endif

/* The wavelength's factors of the layer coefficients (physics.md 5.3, separability). */
typedef struct ice_optics {
    float scattering; /* ws = (wl/400)^-alpha */
    float dust;       /* wk = (wl/400)^-kappa */
    float ice;        /* A exp(-B/wl), 1/m */
} ice_optics;

/* Of a medium that is given by tables over the wavelength: a row for every nanometre. */
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

/* Phase index of the run's medium. */
ICE_FN float ice_medium_index(const ice_tables *tables, float wavelength)
{
    if (tables->features & ICE_HAS_SPECTRAL_OPTICS) {
        return ice_spectral_at(tables, wavelength).phase_index;
    }
    return ice_phase_index(wavelength);
}

ICE_FN ice_optics ice_optics_at(const ice_tables *tables, float wavelength)
{
    if (tables->features & ICE_HAS_SPECTRAL_OPTICS) {
        const ice_spectral_row row = ice_spectral_at(tables, wavelength);
        const ice_optics water = {row.scattering, row.absorption, 0.0f};
        return water;
    }
    const float log_ratio = ice_log(wavelength * 0.0025f);
    ice_optics optics;
    optics.scattering = ice_exp(-tables->alpha * log_ratio);
    optics.dust = ice_exp(-tables->kappa * log_ratio);
    optics.ice = tables->absorption_a * ice_exp(-ice_div(tables->absorption_b, wavelength));
    return optics;
}

/* Geometric scattering coefficient b of a row, 1/m (of a row integrated over depth: optical depth).
 */
ICE_FN float ice_scattering(ice_optics optics, float scattering, float bubbles)
{
    return fmaf(optics.scattering, scattering, bubbles);
}

/* Absorption coefficient a of a row, 1/m (of a row integrated over depth: optical depth). */
ICE_FN float ice_absorption(ice_optics optics, float dust, float ice)
{
    return fmaf(optics.dust, dust, optics.ice * ice);
}

/* The layer that holds height z; the outermost layers continue without limit. */
ICE_FN int32_t ice_layer_at(const ice_tables *tables, float z)
{
    return ice_cell(fmaf(z, tables->inverse_thickness, tables->layer_of_zero),
                    tables->layer_count - 1);
}

/* z of the lower face of layer j, m; the upper face is the next layer's lower face. */
ICE_FN float ice_face(const ice_tables *tables, int32_t layer)
{
    return fmaf((float)layer, tables->thickness, tables->bottom);
}

#endif
