/* icestream_layers: how the layers of a run's ice or water scatter and absorb, for plots. */
#include "base/error.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/models/ice/ice.h"

#include <errno.h>
#include <string.h>

static int put_layers(const ice_medium *medium, double wavelength, FILE *out,
                      icestream_error *error)
{
    fprintf(out, "bottom,top,scattering,absorption\n");
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const double bottom = medium->bottom + medium->thickness * (double)i;
        fprintf(out, "%.15g,%.15g,%.15g,%.15g\n", bottom, bottom + medium->thickness,
                1 / ics_ice_scattering(medium, i, wavelength),
                1 / ics_ice_absorption(medium, i, wavelength));
    }
    if (fflush(out) != 0 || ferror(out)) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "layers: cannot write: %s",
                                   strerror(errno));
    }
    return ICESTREAM_OK;
}

int icestream_layers(const icestream_config *config, double wavelength, FILE *out,
                     icestream_error *error)
{
    ice_medium *medium = NULL;
    ics_ice_factors factors;
    ics_warnings warnings = {0};
    if (!(wavelength >= ICE_WAVELENGTH_MIN && wavelength <= ICE_WAVELENGTH_MAX)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "wavelength: found %g, expected a number from %g to %g nm", wavelength,
                             ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
    }
    ICS_TRY(ics_config_check_files(config, "ice.", error));
    int status = ics_ice_create(config, &medium, &factors, &warnings, error);
    if (status == ICESTREAM_OK) {
        status = put_layers(medium, wavelength, out, error);
    }
    ics_warnings_free(&warnings);
    ics_ice_destroy(medium);
    return status;
}
