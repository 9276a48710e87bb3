/* What `icestream validate` says about the models. */
#include "pipeline/models/ice.h"
#include "pipeline/models/models.h"
#include "pipeline/models/module_grid.h"

#include <math.h>

typedef struct range {
    double low, high;
} range;

static const range nothing = {INFINITY, -INFINITY};

static void widen(range *r, double value)
{
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static void describe_medium(const ice_medium *medium, FILE *out)
{
    const double wavelength = 400;
    range scattering = nothing, absorption = nothing;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        widen(&scattering, 1 / is_medium_scattering(medium, i, wavelength));
        widen(&absorption, 1 / is_medium_absorption(medium, i, wavelength));
    }
    fprintf(out, "ice        %s\n", medium->name);
    if (medium->layer_count == 1) {
        fprintf(out, "  layers   1, the same everywhere\n");
    } else {
        double top = medium->bottom + medium->thickness * (double)medium->layer_count;
        fprintf(out, "  layers   %zu of %.6g m, z %.2f .. %.2f m (depth %.2f .. %.2f m)\n",
                medium->layer_count, medium->thickness, medium->bottom, top,
                ICE_DETECTOR_DEPTH - top, ICE_DETECTOR_DEPTH - medium->bottom);
    }
    fprintf(out,
            "  lengths  effective scattering %.4g .. %.4g m, absorption %.4g .. %.4g m at %g nm\n",
            scattering.low, scattering.high, absorption.low, absorption.high, wavelength);
    fprintf(out, "  angles   mean cosine %.6g, simplified Liu %.6g\n", medium->mean_cosine,
            medium->liu_fraction);
    if (isfinite(medium->absorb_above))
        fprintf(out, "  world    ends above z = %.6g m\n", medium->absorb_above);
    if (isfinite(medium->absorb_below))
        fprintf(out, "  world    ends below z = %.6g m\n", medium->absorb_below);
}

static void describe_detector(const ice_detector *detector, FILE *out)
{
    range x = nothing, y = nothing, z = nothing;
    size_t strings = 0, excluded = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        widen(&x, module->x);
        widen(&y, module->y);
        widen(&z, module->z);
        excluded += module->absorbs;
        /* Modules are sorted by string. */
        strings += i == 0 || module->string != module[-1].string;
    }
    fprintf(out, "detector   %s\n", detector->name);
    fprintf(out, "  modules  %zu on %zu strings, %zu excluded, radius %.6g m, oversize %.6g%s\n",
            detector->module_count, strings, excluded, detector->radius, detector->oversize,
            detector->keep_hit_photons ? ", photons go on after a hit" : "");
    fprintf(out, "  box      x %.2f .. %.2f, y %.2f .. %.2f, z %.2f .. %.2f m\n", x.low, x.high,
            y.low, y.high, z.low, z.high);
    double closest;
    if (is_modules_closest(detector->modules, detector->module_count, 2 * detector->radius,
                           &closest) == IS_OK &&
        isfinite(closest))
        fprintf(out, "  nearest  %.6g m between the two closest centres\n", closest);
}

static void describe_light(const ice_light *light, FILE *out)
{
    const ice_spectrum *cherenkov = &light->spectra[0];
    fprintf(out, "light      %zu spectra\n", light->count);
    fprintf(out, "  yield    %.6g Cherenkov photons per metre at beta 1, %g .. %g nm\n",
            light->photons_per_metre, cherenkov->wavelength[0],
            cherenkov->wavelength[cherenkov->count - 1]);
    for (size_t i = 1; i < light->count; ++i) {
        const ice_spectrum *spectrum = &light->spectra[i];
        fprintf(out, "  %-8zu %s", i, spectrum->name);
        if (spectrum->count > 1)
            fprintf(out, ", %.4g .. %.4g nm", spectrum->wavelength[0],
                    spectrum->wavelength[spectrum->count - 1]);
        fprintf(out, "\n");
    }
}

void is_models_describe(const is_models *models, FILE *out)
{
    describe_medium(models->medium, out);
    describe_detector(models->detector, out);
    describe_light(models->light, out);
    fprintf(out, "digests    ice %s\n           detector %s\n           light %s\n",
            models->ice_digest, models->detector_digest, models->light_digest);
    for (size_t i = 0; i < models->warnings.count; ++i)
        fprintf(out, "warning    %s\n", models->warnings.items[i]);
}
