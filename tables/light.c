/* Tables of light: wavelengths by the cumulative distribution of each spectrum. */
#include "base/cleanup.h"
#include "base/error.h"
#include "tables/internal.h"

#include <math.h>
#include <stdlib.h>

/* Computes the cumulative distribution at the points of a spectrum by the trapezoid rule,
 * normalised to 1. Returns false if the spectrum has no light. */
static bool integrate(const ice_spectrum *spectrum, double *cumulative)
{
    cumulative[0] = 0.0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        cumulative[i] =
            cumulative[i - 1] + 0.5 * (spectrum->density[i] + spectrum->density[i - 1]) *
                                    (spectrum->wavelength[i] - spectrum->wavelength[i - 1]);
    }
    const double total = cumulative[spectrum->count - 1];
    if (!(total > 0.0 && isfinite(total))) {
        return false;
    }
    for (size_t i = 0; i < spectrum->count; ++i) {
        cumulative[i] /= total;
    }
    return true;
}

/* Returns the wavelength (nm) at u of the cumulative distribution, exactly (physics.md 3.4). *bin
 * is where the search begins, and afterwards the bin of the result; it is 0 before the first call,
 * and u must not descend from call to call. */
static double invert(const ice_spectrum *spectrum, const double *cumulative, double u, size_t *bin)
{
    const size_t last = spectrum->count - 2;
    while (*bin < last && cumulative[*bin + 1] <= u) {
        ++*bin;
    }
    /* For u = 1 the wavelength is where the density ends, which may be before the end of the table.
     */
    while (*bin > 0 && cumulative[*bin + 1] <= cumulative[*bin]) {
        --*bin;
    }
    const double left = spectrum->wavelength[*bin];
    const double width = spectrum->wavelength[*bin + 1] - left;
    const double share = cumulative[*bin + 1] - cumulative[*bin];
    const double p0 = spectrum->density[*bin], p1 = spectrum->density[*bin + 1];
    const double fraction = share > 0.0 ? (u - cumulative[*bin]) / share : 0.0;
    /* x is the fraction of the bin at which the area of the trapezoid from p0 to p1 equals `area`.
     * This form of the solution has no cancellation. */
    const double area = 0.5 * (p0 + p1) * fmin(fmax(fraction, 0.0), 1.0);
    const double root = sqrt(fmax(p0 * p0 + 2.0 * (p1 - p0) * area, 0.0));
    const double x = p0 + root > 0.0 ? 2.0 * area / (p0 + root) : 0.0;
    return left + width * fmin(fmax(x, 0.0), 1.0);
}

static int fill_spectrum(ics_table_builder *builder, const ice_spectrum *spectrum, float *table)
{
    if (spectrum->count == 1) {
        for (size_t i = 0; i < ICE_WAVELENGTH_TABLE; ++i) {
            table[i] = (float)spectrum->wavelength[0];
        }
        return ICESTREAM_OK;
    }
    ICS_FREES double *cumulative = malloc(spectrum->count * sizeof *cumulative);
    if (cumulative == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY, "out of memory for spectrum %s",
                             spectrum->name);
    }
    if (!integrate(spectrum, cumulative)) {
        return ics_error_set(builder->error, ICESTREAM_E_CONFIG,
                             "spectrum %s: its density is zero everywhere", spectrum->name);
    }
    const double tail = ICE_WAVELENGTH_TAIL;
    const double starts[3] = {0.0, 0.0, 1.0 - tail};
    const double widths[3] = {1.0, tail, tail};
    for (int stretch = 0; stretch < 3; ++stretch) {
        size_t bin = 0;
        for (size_t knot = 0; knot <= ICE_WAVELENGTH_KNOTS; ++knot) {
            const double u =
                starts[stretch] + widths[stretch] * (double)knot / ICE_WAVELENGTH_KNOTS;
            *table++ = (float)invert(spectrum, cumulative, u, &bin);
        }
    }
    return ICESTREAM_OK;
}

int ics_tables_build_light(ics_table_builder *builder, const ice_light *light)
{
    ice_tables *tables = builder->tables;
    float *wavelengths;
    ICS_TRY(ics_tables_array(builder, &tables->wavelengths, light->count * ICE_WAVELENGTH_TABLE,
                             sizeof *wavelengths, &wavelengths));
    tables->spectrum_count = (uint32_t)light->count;
    for (size_t i = 0; i < light->count; ++i) {
        ICS_TRY(fill_spectrum(builder, &light->spectra[i], wavelengths + i * ICE_WAVELENGTH_TABLE));
    }
    return ICESTREAM_OK;
}
