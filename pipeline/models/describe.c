/* What `icestream validate` says about the models. */
#include "physics/light/light_cascade.h"
#include "pipeline/models/detector/angular.h"
#include "pipeline/models/detector/module_grid.h"
#include "pipeline/models/ice/ice_features.h"
#include "pipeline/models/ice/ice_tilt.h"
#include "pipeline/models/models.h"

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

static const double degrees = 180 / M_PI;

static void describe_tilt(const ice_tilt *tilt, FILE *out)
{
    double low, high;
    ics_ice_tilt_range(tilt, &low, &high);
    fprintf(out, "  tilt     layers %.4g .. %.4g m higher, ", low, high);
    if (tilt->kind == ICE_TILT_MAP) {
        fprintf(out, "map of %zu nodes, outside as at its edge, in depth %s\n",
                ics_ice_tilt_node_count(tilt), tilt->clamp ? "as well" : "linear");
    } else {
        fprintf(out, "%zu stations along azimuth %.6g, origin %.6g m, outside %s\n",
                tilt->station_count, tilt->azimuth * degrees, tilt->origin,
                tilt->clamp ? "as at its edge" : "linear");
    }
}

static void describe_anisotropy(const ice_medium *medium, unsigned features, FILE *out)
{
    range along = nothing, across = nothing;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        widen(&along, exp(medium->layers[i].anisotropy_along));
        widen(&across, exp(medium->layers[i].anisotropy_across));
    }
    const double *k = medium->absorption_anisotropy;
    if (features & ICS_ICE_SCATTERING_ANISOTROPY) {
        fprintf(out, "  scatters k1 %.4g .. %.4g along, k2 %.4g .. %.4g across the flow\n",
                along.low, along.high, across.low, across.high);
    }
    if (k[0] != 0 || k[1] != 0 || k[2] != 0) {
        fprintf(out, "  absorbs  K %.6g along, %.6g across the flow, %.6g vertically\n", exp(k[0]),
                exp(k[1]), exp(k[2]));
    }
    if (medium->absorption_exponent != 0) {
        fprintf(out, "  absorbs  as k1, k2 to the power of %.4g\n", medium->absorption_exponent);
    }
}

static void describe_birefringence(const ice_medium *medium, FILE *out)
{
    static const char *const taken[] = {
        [ICE_TAKEN_NOTHING] = "nothing (none)",
        [ICE_TAKEN_CONSTANT] = "the same at every wavelength (constant)",
        [ICE_TAKEN_SCALED] = "that at 400 nm, elsewhere as of dust (scaled)",
    };
    range strength = nothing;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        widen(&strength, medium->layers[i].birefringence);
    }
    fprintf(out,
            "  crystals birefringence of strength %.4g .. %.4g, scatters %.6g 1/m at strength 1\n",
            strength.low, strength.high, ics_ice_birefringence_scattering(&medium->birefringence));
    fprintf(out, "           taken for it out of the scattering: %s\n", taken[medium->taken]);
}

/* What there is beyond flat layers that look alike in all directions. */
static void describe_features(const ice_medium *medium, FILE *out)
{
    const unsigned features = ics_ice_features(medium);
    if (features & ICS_ICE_TILT) {
        describe_tilt(&medium->tilt, out);
    }
    if (features &
        (ICS_ICE_SCATTERING_ANISOTROPY | ICS_ICE_ABSORPTION_ANISOTROPY | ICS_ICE_BIREFRINGENCE)) {
        fprintf(out, "  flow     azimuth %.6g\n", medium->flow_azimuth * degrees);
    }
    describe_anisotropy(medium, features, out);
    if (features & ICS_ICE_BIREFRINGENCE) {
        describe_birefringence(medium, out);
    }
    if (features & ICS_ICE_HOLE) {
        fprintf(out,
                "  holes    radius %.4g m, effective scattering %.4g m, absorption %.4g m, mean "
                "cosine %.6g\n",
                medium->hole.radius, medium->hole.effective_scattering, medium->hole.absorption,
                medium->hole.mean_cosine);
    }
}

/* Of water, at the wavelength of which light goes farthest. */
static void describe_water(const ice_medium *medium, FILE *out)
{
    double best = ICE_WAVELENGTH_MIN;
    for (double x = best; x <= ICE_WAVELENGTH_MAX; x += 1) {
        if (ics_ice_absorption(medium, 0, x) < ics_ice_absorption(medium, 0, best)) {
            best = x;
        }
    }
    fprintf(out,
            "  clearest absorption %.4g m, effective scattering %.4g m at %g nm, phase index %.6g, "
            "group index %.6g\n",
            1 / ics_ice_absorption(medium, 0, best), 1 / ics_ice_scattering(medium, 0, best), best,
            ics_ice_phase_index(medium, best), ics_ice_group_index(medium, best));
    fprintf(out, "  angles   particles of mean cosine %.6g, molecules scatter %.4g of the light\n",
            medium->mean_cosine, medium->rayleigh_fraction);
    if (medium->density > 0) {
        fprintf(out, "  density  %.6g g/cm3\n", medium->density);
    } else {
        fprintf(
            out,
            "  density  not given: particles make light as in ice of %.6g g/cm3; give density\n",
            ICE_DENSITY);
    }
}

static void describe_medium(const ice_medium *medium, FILE *out)
{
    const double wavelength = 400;
    range scattering = nothing, absorption = nothing;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        widen(&scattering, 1 / ics_ice_scattering(medium, i, wavelength));
        widen(&absorption, 1 / ics_ice_absorption(medium, i, wavelength));
    }
    fprintf(out, "ice        %s\n", medium->name);
    if (medium->layer_count == 1) {
        fprintf(out, "  layers   1, the same everywhere\n");
    } else {
        double top = medium->bottom + medium->thickness * (double)medium->layer_count;
        fprintf(out, "  layers   %zu of %.6g m, z %.2f .. %.2f m", medium->layer_count,
                medium->thickness, medium->bottom, top);
        if (medium->spectral == NULL) { /* which may be any water's, at any depth */
            fprintf(out, " (depth %.2f .. %.2f m)", ICE_DETECTOR_DEPTH - top,
                    ICE_DETECTOR_DEPTH - medium->bottom);
        }
        fprintf(out, "\n");
    }
    fprintf(out,
            "  lengths  effective scattering %.4g .. %.4g m, absorption %.4g .. %.4g m at %g nm\n",
            scattering.low, scattering.high, absorption.low, absorption.high, wavelength);
    if (medium->spectral != NULL) {
        describe_water(medium, out);
    } else {
        fprintf(out, "  angles   mean cosine %.6g, simplified Liu %.6g\n", medium->mean_cosine,
                medium->liu_fraction);
    }
    describe_features(medium, out);
    if (isfinite(medium->absorb_above)) {
        fprintf(out, "  world    ends above z = %.6g m\n", medium->absorb_above);
    }
    if (isfinite(medium->absorb_below)) {
        fprintf(out, "  world    ends below z = %.6g m\n", medium->absorb_below);
    }
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
    if (ics_module_grid_closest(detector->modules, detector->module_count, 2 * detector->radius,
                                &closest) == ICESTREAM_OK &&
        isfinite(closest)) {
        fprintf(out, "  nearest  %.6g m between the two closest centres\n", closest);
    }
}

static void describe_detection(const ice_detector *detector, const ics_detection *detection,
                               FILE *out)
{
    const ice_angular *angular = &detector->angular;
    size_t efficient = 0, cables = 0, tilted = 0, off = 0;
    if (detection == NULL) {
        return;
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        efficient += module->efficiency != 1 || module->acceptance > 0;
        cables += module->has_cable;
        tilted += module->back[0] != 0 || module->back[1] != 0 || module->back[2] != 0;
        off += module->is_off;
    }
    fprintf(out, "  detect   photo-electrons; hit files carry %s\n",
            detection->content == ICS_CONTENT_PE        ? "those alone"
            : detection->content == ICS_CONTENT_PHOTONS ? "all photons alike"
                                                        : "all photons, those marked by pmt 0");
    if (angular->has_edge) {
        fprintf(out, "  angles   light that arrives beyond a cosine of %.6g, mean %.6g\n",
                angular->edge, ics_angular_mean(angular));
    } else {
        fprintf(out, "  angles   acceptance of maximum %.6g, mean %.6g\n", angular->maximum,
                ics_angular_mean(angular));
    }
    fprintf(out,
            "  differ   %zu modules in efficiency, %zu have a cable, %zu an axis of their own, "
            "%zu are off\n",
            efficient, cables, tilted, off);
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
        if (spectrum->count > 1) {
            fprintf(out, ", %.4g .. %.4g nm", spectrum->wavelength[0],
                    spectrum->wavelength[spectrum->count - 1]);
        }
        fprintf(out, "\n");
    }
}

void ics_models_describe(const ics_models *models, FILE *out)
{
    describe_medium(models->medium, out);
    describe_detector(models->detector, out);
    describe_detection(models->detector, models->detection, out);
    describe_light(models->light, out);
    fprintf(out, "digests    ice %s\n           detector %s\n           light %s\n",
            models->ice_digest, models->detector_digest, models->light_digest);
    for (size_t i = 0; i < models->warnings.count; ++i) {
        fprintf(out, "warning    %s\n", models->warnings.items[i]);
    }
}
