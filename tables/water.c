/* Tables of a medium whose optics are given by wavelength, such as water. */
#include "base/error.h"
#include "tables/internal.h"

#include <math.h>

_Static_assert(ICE_SPECTRAL_FIRST == (int)ICE_WAVELENGTH_MIN &&
                   ICE_SPECTRAL_FIRST + ICE_SPECTRAL_ROWS - 1 == (int)ICE_WAVELENGTH_MAX,
               "rows of optics span the band");

uint32_t ics_tables_find_water(const ice_medium *medium)
{
    return medium->spectral != NULL ? ICE_HAS_SPECTRAL_OPTICS : 0;
}

int ics_tables_build_water(ics_table_builder *builder, const ice_medium *medium,
                           const ice_detector *detector)
{
    (void)detector;
    ice_spectral_row *rows;
    ICS_TRY(ics_tables_array(builder, &builder->tables->spectral, ICE_SPECTRAL_ROWS, sizeof *rows,
                             &rows));
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        const ice_spectral_optics *at = &medium->spectral[i];
        if (!(at->scattering > 0.0 && at->absorption > 0.0 && at->phase_index > 1.0 &&
              at->group_index > 1.0)) {
            return ics_error_set(
                builder->error, ICESTREAM_E_CONFIG,
                "optics at %d nm: scattering %g 1/m, absorption %g 1/m, indices %g and %g: "
                "expected coefficients above 0 and indices above 1",
                ICE_SPECTRAL_FIRST + i, at->scattering, at->absorption, at->phase_index,
                at->group_index);
        }
        rows[i].scattering = (float)fmax(at->scattering, (double)ICE_LEAST_COEFFICIENT);
        rows[i].absorption = (float)fmax(at->absorption, (double)ICE_LEAST_COEFFICIENT);
        rows[i].phase_index = (float)at->phase_index;
        rows[i].group_index = (float)at->group_index;
    }
    return ICESTREAM_OK;
}
