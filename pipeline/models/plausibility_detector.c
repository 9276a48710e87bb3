/* Values of the detector that are legal and most likely mistakes. */
#include "pipeline/models/detector/detector_layout.h"
#include "pipeline/models/detector/sensors.h"
#include "pipeline/models/light/light_region.h"
#include "pipeline/models/oversize.h"
#include "pipeline/models/plausibility_parts.h"
#include "pipeline/models/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ------------------------------------------------------------------------------- */

/* Modules that share a fault, so that one warning is about all of them. */
typedef struct module_fault {
    size_t count;
    const ice_module *first;
} module_fault;

/* The place of a module: "file:line", or the name of the built-in detector. */
static const char *place_of(const ics_inspection *self, const ice_module *module,
                            char place[ICS_PLAUSIBILITY_PLACE])
{
    const size_t line = ics_detector_layout_line(self->detector, module);
    snprintf(place, ICS_PLAUSIBILITY_PLACE, line > 0 ? "%s:%zu" : "%s", self->detector->name, line);
    return place;
}

static int warn_of_modules(const ics_inspection *self, const module_fault *fault, const char *text,
                           double limit)
{
    char place[ICS_PLAUSIBILITY_PLACE];
    if (fault->count == 0) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings,
                            "%s: string %u, module %u: z: found %.6g m, which is %s (z = %.6g m); "
                            "%zu of %zu modules are; usual: modules inside the ice, z = %g m minus "
                            "their depth",
                            place_of(self, fault->first, place), fault->first->string,
                            fault->first->module, fault->first->z, text, limit, fault->count,
                            self->detector->module_count, ICE_DETECTOR_DEPTH);
}

/* Modules that no photon reaches, or where the ice is not known. */
static int check_positions(const ics_inspection *self)
{
    static const char *const texts[ICS_LIGHT_POSITIONS] = {
        [ICS_LIGHT_IN_AIR] = "above the surface of the ice",
        [ICS_LIGHT_IN_ROCK] = "below the ice",
        [ICS_LIGHT_ABOVE_WORLD] = "above ice.absorb_above, where photons end",
        [ICS_LIGHT_BELOW_WORLD] = "below ice.absorb_below, where photons end",
        [ICS_LIGHT_ABOVE_TABLE] = "far above the table of the ice",
        [ICS_LIGHT_BELOW_TABLE] = "far below the table of the ice",
    };
    module_fault faults[ICS_LIGHT_POSITIONS] = {{0}};
    double limits[ICS_LIGHT_POSITIONS] = {0};
    const ics_light_limits all = ics_light_limits_of(self->medium, self->detector);
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        const ice_module *module = &self->detector->modules[i];
        double limit;
        const ics_light_position where = ics_light_position_of(&all, module->z, &limit);
        limits[where] = limit;
        if (faults[where].count++ == 0) {
            faults[where].first = module;
        }
    }
    for (ics_light_position where = ICS_LIGHT_IN_ICE + 1; where < ICS_LIGHT_POSITIONS; ++where) {
        if (texts[where] != NULL) {
            ICS_TRY(warn_of_modules(self, &faults[where], texts[where], limits[where]));
        }
    }
    return ICESTREAM_OK;
}

/* Strings are upright. A module far away from the others of its string has a wrong position, or the
 * number of another string. */
static int check_strings(const ics_inspection *self)
{
    const double most = 100; /* m: strings in moving water lean by less */
    const ice_module *modules = self->detector->modules;
    char place[ICS_PLAUSIBILITY_PLACE];
    size_t count = 0, first = 0;
    const ice_module *worst = NULL, *other = NULL;
    for (size_t i = 1; i < self->detector->module_count; ++i) { /* sorted by string */
        if (modules[i].string != modules[first].string) {
            first = i;
            continue;
        }
        const ice_module *before = &modules[i - 1];
        if (hypot(modules[i].x - before->x, modules[i].y - before->y) > most) {
            ++count;
            worst = worst != NULL ? worst : &modules[i];
            other = other != NULL ? other : before;
        }
    }
    return count == 0
               ? ICESTREAM_OK
               : ics_warnings_add(
                     self->warnings,
                     "%s: string %u, module %u: x, y: found %.6g, %.6g m, which is %.5g m away "
                     "from "
                     "module %u of this string; %zu such step%s between neighbours; usual: less "
                     "than %g m, because strings are upright, and cables and hole ice follow them",
                     place_of(self, worst, place), worst->string, worst->module, worst->x, worst->y,
                     hypot(worst->x - other->x, worst->y - other->y), other->module, count,
                     count == 1 ? "" : "s", most);
}

/* Positions in centimetres make modules that are hundreds of metres apart. */
static int check_distances(const ics_inspection *self)
{
    const double most = 500; /* m: modules share hardly any light at this distance */
    const double closest = self->detector->closest;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (self->detector->module_count < 2 || closest <= most) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings,
                            "%s: x, y, z: found modules that are at least %.5g m apart; usual: 1 "
                            "to 150 m between neighbours of a string; is the unit another one, as "
                            "cm?",
                            place_of(self, self->detector->modules, place), closest);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Glass spheres of telescopes have diameters of 25 to 45 cm. */
static int check_radius(const ics_inspection *self)
{
    const double least = 0.02, most = 0.6;
    const double radius = self->detector->radius;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (radius >= least && radius <= most) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings, "%s: detector.radius: found %g m; usual: 0.1 to 0.25 m",
                            ics_config_place(self->config, "detector.radius", place, sizeof place),
                            radius);
}

/* A file that says a radius, which only detector.radius changes. */
static int check_stated_radius(const ics_inspection *self)
{
    const ice_detector *detector = self->detector;
    const double stated = detector->stated_radius;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (!(stated > 0) || detector->type_count > 0 || stated == self->config->detector.radius ||
        strcmp(ics_config_place(self->config, "detector.radius", place, sizeof place), "default") !=
            0) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings,
                            "%s: found a radius of %.6g m, and detector.radius has its default, "
                            "%.6g m; usual: detector.radius: %.6g, or that of the true module",
                            detector->name, stated, self->config->detector.radius, stated);
}

/* Modules of a telescope in water that are simulated in ice, or the other way round. */
static int check_surroundings(const ics_inspection *self)
{
    const bool is_water = self->medium->spectral != NULL;
    const ice_surroundings_kind said = self->detector->surroundings;
    if (said == ICE_SURROUNDINGS_UNKNOWN || (said == ICE_SURROUNDINGS_WATER) == is_water) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings, "%s: found modules in %s, and light flies in %s; usual: %s",
        self->detector->name, is_water ? "ice" : "water", is_water ? "water" : "ice",
        is_water ? "ice of layers, without the key optics"
                 : "ice.file: a file of water (configs/media/sea-water.yaml)");
}

static int check_oversize(const ics_inspection *self)
{
    const ice_detector *detector = self->detector;
    const double width = 2 * detector->radius * detector->oversize;
    const double closest = detector->closest;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (detector->oversize <= 1 || closest >= width) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: detector.oversize: found %g, with which modules are %.4g m wide, and the two closest "
        "are %.4g m apart, so that they overlap; usual: at most %.3g",
        ics_config_place(self->config, "detector.oversize", place, sizeof place),
        detector->oversize, width, closest, floor(10 * closest / (2 * detector->radius)) / 10);
}

/* Sums of weights that are wrong everywhere. What happens near the light is no fault of a run whose
 * light is elsewhere. */
static int check_oversized_sums(const ics_inspection *self)
{
    ics_oversize_effects effects;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (!ics_oversize_effects_of(self->medium, self->detector, &effects) ||
        fmax(fabs(effects.sum.mean), fabs(effects.sum.worst)) < ICS_OVERSIZE_WARNING) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: detector.oversize: found %g, with which sums are wrong by more "
        "than %g %% (%+.1f %%, of the worst module %+.1f %%); usual: 1, or "
        "detector.keep_hit_photons: auto",
        ics_config_place(self->config, "detector.oversize", place, sizeof place),
        self->detector->oversize, 100 * ICS_OVERSIZE_WARNING, 100 * effects.sum.mean,
        100 * effects.sum.worst);
}

/* ---- efficiencies ---------------------------------------------------------------------------- */

/* The file that an efficiency comes from, and the line if it is the list of modules. */
static const char *place_of_efficiency(const ics_inspection *self, const ice_module *module,
                                       char place[ICS_PLAUSIBILITY_PLACE])
{
    icestream_error unused = {.status = ICESTREAM_OK};
    char *path = NULL;
    if (strcmp(self->config->detector.efficiencies, "auto") != 0 ||
        ics_sensors_detecting(self->config)) {
        ics_sensors_model_file(self->config, self->config->detector.efficiencies, "eff-f2k", &path,
                               &unused);
    }
    if (path == NULL) {
        return place_of(self, module, place);
    }
    snprintf(place, ICS_PLAUSIBILITY_PLACE, "%s", path);
    free(path);
    return place;
}

/* Percent in place of shares; relative efficiencies of modules are about 1. */
static int check_efficiencies(const ics_inspection *self)
{
    const double least = 0.01, most = 10;
    const ice_module *worst = NULL;
    size_t count = 0;
    char place[ICS_PLAUSIBILITY_PLACE];
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        const ice_module *module = &self->detector->modules[i];
        if (module->efficiency < least || module->efficiency > most) {
            ++count;
            worst = worst != NULL ? worst : module;
        }
    }
    return worst == NULL
               ? ICESTREAM_OK
               : ics_warnings_add(
                     self->warnings,
                     "%s: string %u, module %u: efficiency: found %g; %zu of %zu modules are below "
                     "%g or above %g; usual: 0.5 to 2, relative to the standard module; is it in "
                     "percent?",
                     place_of_efficiency(self, worst, place), worst->string, worst->module,
                     worst->efficiency, count, self->detector->module_count, least, most);
}

/* Modules of high efficiency differ by another curve. Without that curve ppc has no acceptance for
 * their type, and records no light of them (irde in ini.cxx, print() in f2k.cxx of ppc). */
static int check_types(const ics_inspection *self)
{
    size_t count = 0;
    char place[ICS_PLAUSIBILITY_PLACE], *path;
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        count += self->detector->modules[i].acceptance > 0;
    }
    if (count == 0 || strcmp(self->config->light.high_efficiency, "auto") != 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_sensors_model_file(self->config, "auto", "wv.rde", &path, NULL));
    if (path != NULL) {
        free(path);
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: light.high_efficiency: found auto, but no wv.rde lies in the folder of the ice, and "
        "%zu module%s of type 1 (high efficiency), which count%s as standard by wavelength, while "
        "ppc records no light of them; usual: a file like wv.rde, or none if this is meant",
        ics_config_place(self->config, "light.high_efficiency", place, sizeof place), count,
        count == 1 ? " is" : "s are", count == 1 ? "s" : "");
}

/* A quantum efficiency, or an effective area divided by the area of the module. Tables of effective
 * areas may go with an acceptance in any unit. */
static int check_acceptance(const ics_inspection *self)
{
    const double least = 0.03, most = 0.5;
    const ice_light *light = self->light;
    char place[ICS_PLAUSIBILITY_PLACE];
    double largest = 0;
    for (size_t i = 0; i < light->bias_count; ++i) {
        largest = fmax(largest, light->standard_acceptance[i]);
    }
    if (light->bias_count == 0 || (largest >= least && largest <= most) ||
        (self->detector->type_count > 0 && self->detector->types[0].table.ring_count > 0)) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: light.acceptance: %s: found %.4g at the best wavelength; usual: 0.05 to 0.45, the "
        "share "
        "of the light on a module or on the window of a PMT that is detected; is it %s?",
        ics_config_place(self->config, "light.acceptance", place, sizeof place),
        light->acceptance_from, largest,
        largest < least ? "an effective area in m2" : "relative to the best wavelength");
}

int ics_plausibility_check_detector(const ics_inspection *self)
{
    static int (*const checks[])(const ics_inspection *) = {
        check_positions,     check_strings,      check_distances, check_radius,
        check_stated_radius, check_surroundings, check_oversize,  check_oversized_sums,
        check_efficiencies,  check_types,        check_acceptance};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        ICS_TRY(checks[i](self));
    }
    return ICESTREAM_OK;
}
