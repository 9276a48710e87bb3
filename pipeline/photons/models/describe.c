/* What `icestream validate` says about the models. */
#include "base/plural.h"
#include "base/visible_text.h"
#include "physics/light/light_cascade.h"
#include "physics/light/light_curve.h"
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/scatter.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/models/types/transit_times.h"

#include <math.h>

/* Bytes of a name, which may come from a file and hold control characters. */
enum { NAME = 4096 };

/* Describes water at the wavelength of its smallest absorption. */
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
        fprintf(out,
                "  density  not given: particles make as much light as in ice of %.6g g/cm3; give "
                "the key density\n",
                ICE_DENSITY);
    }
}

static void describe_medium(const ics_models *models, FILE *out)
{
    const ice_medium *medium = models->medium;
    const double wavelength = 400;
    ics_range scattering = ics_range_empty, absorption = ics_range_empty;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ics_range_add(&scattering, 1 / ics_ice_scattering(medium, i, wavelength));
        ics_range_add(&absorption, 1 / ics_ice_absorption(medium, i, wavelength));
    }
    char name[NAME];
    fprintf(out, "ice        %s\n", ics_visible_text(medium->name, false, name, sizeof name));
    if (medium->layer_count == 1) {
        fprintf(out, "  layers   1, the same everywhere\n");
    } else {
        double top = medium->bottom + medium->thickness * (double)medium->layer_count;
        fprintf(out, "  layers   %zu of %.6g m, z %.2f .. %.2f m", medium->layer_count,
                medium->thickness, medium->bottom, top);
        if (medium->spectral == NULL) { /* the water may be at any depth */
            fprintf(out, " (depth %.2f .. %.2f m)", ICE_DETECTOR_DEPTH - top,
                    ICE_DETECTOR_DEPTH - medium->bottom);
        }
        fprintf(out, "\n");
    }
    fprintf(out,
            "  lengths  effective scattering %.4g .. %.4g m, absorption %.4g .. %.4g m at %g nm\n",
            scattering.low, scattering.high, absorption.low, absorption.high, wavelength);
    if (models->scattering_factor != 1 || models->absorption_factor != 1) {
        fprintf(out, "  scaled   scattering by %.6g, absorption by %.6g\n",
                models->scattering_factor, models->absorption_factor);
    }
    if (medium->spectral != NULL) {
        describe_water(medium, out);
    } else {
        fprintf(out, "  angles   mean cosine %.6g, simplified Liu %.6g\n", medium->mean_cosine,
                medium->liu_fraction);
    }
    ics_ice_scatter_describe(medium, out);
    ics_ice_features_describe(medium, out);
    if (isfinite(medium->absorb_above)) {
        fprintf(out, "  world    ends above z = %.6g m\n", medium->absorb_above);
    }
    if (isfinite(medium->absorb_below)) {
        fprintf(out, "  world    ends below z = %.6g m\n", medium->absorb_below);
    }
}

/* Describes the table of effective areas of a type. */
static void describe_areas(const ice_module_type *type, FILE *out)
{
    double largest = 0;
    for (size_t k = 0; k < type->pmt_count; ++k) {
        largest = fmax(largest, type->pmts[k].largest_area);
    }
    if (type->table.ring_count > 0) {
        fprintf(out,
                "           effective areas in %zu directions on %zu rings; the largest "
                "of a PMT is %.6g m2\n",
                type->table.direction_count, type->table.ring_count, largest);
    }
}

/* Describes an acceptance by wavelength (nm), up to the end of the line. */
static void describe_curve(const double *wavelengths, const double *values, size_t count, FILE *out)
{
    size_t best = 0;
    for (size_t i = 1; i < count; ++i) {
        best = values[i] > values[best] ? i : best;
    }
    fprintf(out, "%.4g at 400 nm, at most %.4g (%g nm), from %g to %g nm\n",
            ice_curve_at(wavelengths, values, count, 400), values[best], wavelengths[best],
            wavelengths[0], wavelengths[count - 1]);
}

/* Describes what the PMTs of a type accept by angle and by wavelength. */
static void describe_acceptance(const ice_module_type *type, FILE *out)
{
    const ice_pmt_acceptance *acceptance = &type->acceptance;
    ics_range ratios = ics_range_empty;
    for (size_t i = 0; i < acceptance->count; ++i) {
        ics_range_add(&ratios, acceptance->ratios[i]);
    }
    if (acceptance->angular.count > 0) {
        fprintf(out, "           acceptance by the cosine to a PMT: maximum %.6g, mean %.6g\n",
                acceptance->angular.maximum, ics_angular_mean(&acceptance->angular));
    }
    if (acceptance->own_count > 0) {
        const ice_pmt_acceptance *own = acceptance;
        fprintf(out, "           acceptance of a PMT: ");
        describe_curve(own->own_wavelengths, own->own, own->own_count, out);
    }
    if (acceptance->count > 0) {
        fprintf(out, "           acceptance by wavelength: %.6g .. %.6g of that of the light\n",
                ratios.low, ratios.high);
    }
    if (type->own_count > 0) {
        fprintf(out, "           %zu PMTs give their own acceptance\n", type->own_count);
    }
}

/* Describes the distributions of the transit times of the PMTs of a type. */
static void describe_transit(const ice_module_type *type, FILE *out)
{
    const ice_transit *transit = &type->transit;
    if (transit->count > 0) {
        fprintf(out, "           transit times from a table: %.6g .. %.6g ns, mean %.6g ns\n",
                transit->ranges[0].from, transit->ranges[transit->count - 1].to,
                ics_transit_times_mean(transit));
    }
    if (type->own_transit_count > 0) {
        fprintf(out, "           %zu PMTs give their own transit times\n", type->own_transit_count);
    }
}

/* Describes the types of modules, and the cables between them. */
static void describe_types(const ice_detector *detector, FILE *out)
{
#define SHAPE_WORD(NAME, name, yaml, sizes, text) yaml,
    static const char *const shapes[] = {ICE_SHAPES(SHAPE_WORD)};
    size_t tilted = 0;
    char name[NAME];
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        size_t count = 0;
        for (size_t k = 0; k < detector->module_count; ++k) {
            count += detector->modules[k].type == i;
        }
        fprintf(out,
                "  type     %s: %zu module%s, %s%s, radius %.6g m, half height %.6g m, %zu PMT%s\n",
                ics_visible_text(type->name, false, name, sizeof name), count, ics_plural_s(count),
                shapes[type->shape], type->open_ends ? " without ends" : "", type->radius,
                type->half_height, type->pmt_count, ics_plural_s(type->pmt_count));
        if (type->shape == ICE_SHAPE_MESH) {
            fprintf(out, "           %zu triangles, at most %.6g m from the centre\n",
                    type->mesh.triangle_count, type->reach);
        }
        describe_areas(type, out);
        describe_acceptance(type, out);
        describe_transit(type, out);
    }
    for (size_t k = 0; k < detector->module_count; ++k) {
        tilted += detector->modules[k].orientation > 0;
    }
    if (tilted > 0) {
        fprintf(out, "  turned   %zu module%s not upright\n", tilted,
                tilted == 1 ? " is" : "s are");
    }
    if (detector->cable_count > 0) {
        fprintf(out, "  cables   %zu between modules of strings, radius %.6g m\n",
                detector->cable_count, detector->cables[0].radius);
    }
}

/* What is nowhere else in the description: what photons do at a hit. */
static const char *hit_of(const ice_detector *detector)
{
    const bool is_wide = detector->oversize > 1;
    return detector->keep_hit_photons                ? ", photons continue after a hit"
           : is_wide && !detector->ends_at_true_size ? ", photons stop at their first hit"
           : is_wide                                 ? ", photons end at modules of true size"
                                                     : "";
}

static void describe_oversize(const ice_medium *medium, const ice_detector *detector, FILE *out)
{
    ics_oversize_effects effects;
    char text[ICS_OVERSIZE_TEXT];
    if (ics_oversize_effects_of(medium, detector, &effects)) {
        fprintf(out, "  oversize hits are %s; %s\n",
                detector->crossing == ICE_CROSSING_ENTRY ? "entries" : "crossings of a disc",
                ics_oversize_text(&effects, text));
    }
}

static void describe_detector(const ice_detector *detector, const char *from, FILE *out)
{
    ics_range x = ics_range_empty, y = ics_range_empty, z = ics_range_empty;
    size_t strings = 0, excluded = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        ics_range_add(&x, module->x);
        ics_range_add(&y, module->y);
        ics_range_add(&z, module->z);
        excluded += module->absorbs;
        /* Modules are sorted by string. */
        strings += i == 0 || module->string != module[-1].string;
    }
    char name[NAME];
    fprintf(out, "detector   %s\n  from     %s\n",
            ics_visible_text(detector->name, false, name, sizeof name), from);
    fprintf(out, "  modules  %zu on %zu string%s, %zu excluded, radius %.6g m, oversize %.6g%s\n",
            detector->module_count, strings, ics_plural_s(strings), excluded, detector->radius,
            detector->oversize, hit_of(detector));
    fprintf(out, "  box      x %.2f .. %.2f, y %.2f .. %.2f, z %.2f .. %.2f m\n", x.low, x.high,
            y.low, y.high, z.low, z.high);
    if (isfinite(detector->closest)) {
        fprintf(out, "  nearest  %.6g m between the two closest centres\n", detector->closest);
    }
    describe_types(detector, out);
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
    fprintf(out, "  detect   photo-electrons; hit files contain %s\n",
            detection->content == ICS_CONTENT_PE        ? "only these"
            : detection->content == ICS_CONTENT_PHOTONS ? "all photons, without a mark"
            : detection->tables.pmts != NULL
                ? "all photons; photo-electrons have the number of their PMT"
                : "all photons; photo-electrons have pmt 0");
    if (detection->tables.pmts != NULL) {
        fprintf(out, "  PMTs     %s, largest value %.6g\n", detection->variant->name,
                angular->maximum);
    } else if (angular->has_edge) {
        fprintf(out, "  angles   light that arrives beyond a cosine of %.6g, mean %.6g\n",
                angular->edge, ics_angular_mean(angular));
    } else {
        fprintf(out, "  angles   acceptance of maximum %.6g, mean %.6g\n", angular->maximum,
                ics_angular_mean(angular));
    }
    fprintf(out,
            "  sensors  %zu with another efficiency, %zu with a cable, %zu with a tilted axis, %zu "
            "off\n",
            efficient, cables, tilted, off);
}

static void describe_light(const ice_light *light, FILE *out)
{
    const ice_spectrum *cherenkov = &light->spectra[0];
    char name[NAME];
    fprintf(out, "light      %zu spectr%s\n", light->count, light->count == 1 ? "um" : "a");
    if (light->bias_count == 0) {
        fprintf(out, "  accepts  all light: light.acceptance is none\n");
    } else {
        fprintf(out, "  accepts  %s\n           ",
                ics_visible_text(light->acceptance_from, false, name, sizeof name));
        describe_curve(light->bias_wavelength, light->standard_acceptance, light->bias_count, out);
    }
    fprintf(out, "  yield    %.6g Cherenkov photons per metre at beta 1, %g .. %g nm\n",
            light->photons_per_metre, cherenkov->wavelength[0],
            cherenkov->wavelength[cherenkov->count - 1]);
    for (size_t i = 1; i < light->count; ++i) {
        const ice_spectrum *spectrum = &light->spectra[i];
        fprintf(out, "  %-8zu %s", i, ics_visible_text(spectrum->name, false, name, sizeof name));
        if (spectrum->count > 1) {
            fprintf(out, ", %.4g .. %.4g nm", spectrum->wavelength[0],
                    spectrum->wavelength[spectrum->count - 1]);
        }
        fprintf(out, "\n");
    }
}

void ics_models_describe(const ics_models *models, FILE *out)
{
    describe_medium(models, out);
    describe_detector(models->detector, models->detector_from, out);
    describe_oversize(models->medium, models->detector, out);
    describe_detection(models->detector, models->detection, out);
    describe_light(models->light, out);
    fprintf(out, "digests    ice %s\n           detector %s\n           light %s\n",
            models->ice_digest, models->detector_digest, models->light_digest);
    ics_warnings_print(&models->warnings, 0, "warning    ", out);
}
