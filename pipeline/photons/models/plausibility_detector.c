/* Values of the detector that are legal and most likely mistakes. */
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/models/plausibility_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ------------------------------------------------------------------------------- */

/* Modules that no photon reaches, or where the ice is not known. One warning is about all modules
 * that share a fault. */
static void check_positions(const ics_inspection *self)
{
    static const char *const texts[ICS_LIGHT_POSITIONS] = {
        [ICS_LIGHT_IN_AIR] = "above the surface of the ice",
        [ICS_LIGHT_IN_ROCK] = "below the ice",
        [ICS_LIGHT_ABOVE_WORLD] = "above ice.absorb_above, where photons end",
        [ICS_LIGHT_BELOW_WORLD] = "below ice.absorb_below, where photons end",
        [ICS_LIGHT_ABOVE_TABLE] = "far above the table of the ice",
        [ICS_LIGHT_BELOW_TABLE] = "far below the table of the ice",
    };
    struct {
        size_t count;
        const ice_module *first;
        double limit; /* z (m) */
    } faults[ICS_LIGHT_POSITIONS] = {{0}};
    const ics_light_limits all = ics_light_limits_of(self->medium, self->detector);
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        const ice_module *module = &self->detector->modules[i];
        double limit;
        const ics_light_position where = ics_light_position_of(&all, module->z, &limit);
        faults[where].limit = limit;
        if (faults[where].count++ == 0) {
            faults[where].first = module;
        }
    }
    for (size_t i = 0; i < ICS_LIGHT_POSITIONS; ++i) {
        const ice_module *first = faults[i].first;
        if (first != NULL && texts[i] != NULL) {
            ics_plausibility_expect(
                self, false, (ics_value_place){.module = first},
                "string %u, module %u: z: found %.6g m, which is %s (z = %.6g m); %zu of %zu "
                "modules are; usual: modules inside the ice, z = %g m minus their depth",
                first->string, first->module, first->z, texts[i], faults[i].limit, faults[i].count,
                self->detector->module_count, ICE_DETECTOR_DEPTH);
        }
    }
}

/* Strings are upright. A module far away from the others of its string has a wrong position, or the
 * number of another string. */
static void check_strings(const ics_inspection *self)
{
    const double most = 100; /* m: strings in moving water lean by less */
    const ice_module *modules = self->detector->modules, *worst = modules + 1;
    size_t count = 0;
    for (size_t i = 1; i < self->detector->module_count; ++i) { /* sorted by string */
        const ice_module *it = &modules[i], *before = it - 1;
        if (it->string == before->string && hypot(it->x - before->x, it->y - before->y) > most &&
            count++ == 0) {
            worst = it;
        }
    }
    if (count > 0) {
        const ice_module *other = worst - 1;
        ics_plausibility_expect(
            self, false, (ics_value_place){.module = worst},
            "string %u, module %u: x, y: found %.6g, %.6g m, which is %.5g m away from module %u "
            "of this string; %zu such step%s between neighbours; usual: less than %g m, because "
            "strings are upright, and cables and hole ice follow them",
            worst->string, worst->module, worst->x, worst->y,
            hypot(worst->x - other->x, worst->y - other->y), other->module, count,
            count == 1 ? "" : "s", most);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Positions in centimetres make modules that are hundreds of metres apart. Glass spheres of
 * telescopes have diameters of 25 to 45 cm. */
static void check_sizes(const ics_inspection *self)
{
    const double distant = 500; /* m: modules share hardly any light at this distance */
    const double narrowest = 0.02, widest = 0.6, longest = 0.8;
    const ice_detector *detector = self->detector;
    const double radius = detector->radius, stated = detector->stated_radius;
    const double closest = detector->closest, width = 2 * radius * detector->oversize;
    ics_plausibility_expect(
        self, detector->module_count < 2 || closest <= distant,
        (ics_value_place){.module = detector->modules},
        "x, y, z: found modules that are at least %.5g m apart; usual: 1 to 150 m between "
        "neighbours of a string; is the unit another one, as cm?",
        closest);
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        ics_plausibility_expect(self, type->reach >= narrowest && type->reach <= longest,
                                (ics_value_place){.key = "detector.types"},
                                "type %s: found %g m from its centre to its farthest point; usual: "
                                "0.1 to 0.7 m",
                                type->name, type->reach);
    }
    ics_plausibility_expect(self,
                            detector->type_count > 0 || (radius >= narrowest && radius <= widest),
                            (ics_value_place){.key = "detector.radius"},
                            "detector.radius: found %g m; usual: 0.1 to 0.25 m", radius);
    /* A file may say a radius, which only detector.radius changes. */
    ics_plausibility_expect(
        self,
        !(stated > 0) || detector->type_count > 0 ||
            fabs(stated - self->config->detector.radius) < 1e-6 ||
            ics_plausibility_is_given(self, "detector.radius"),
        (ics_value_place){.file = detector->name},
        "found a radius of %.6g m, and detector.radius has its default, %.6g m; usual: "
        "detector.radius: %.6g, or that of the true module",
        stated, self->config->detector.radius, stated);
    ics_plausibility_expect(
        self, detector->oversize <= 1 || closest >= width,
        (ics_value_place){.key = "detector.oversize"},
        "detector.oversize: found %g, with which modules are %.4g m wide, and the two closest are "
        "%.4g m apart, so that they overlap; usual: at most %.3g",
        detector->oversize, width, closest, floor(10 * closest / (2 * radius)) / 10);
}

/* Modules of a telescope in water that are simulated in ice, or the other way round. */
static void check_surroundings(const ics_inspection *self)
{
    const bool is_water = self->medium->spectral != NULL;
    const ice_surroundings_kind said = self->detector->surroundings;
    ics_plausibility_expect(
        self, said == ICE_SURROUNDINGS_UNKNOWN || (said == ICE_SURROUNDINGS_WATER) == is_water,
        (ics_value_place){.file = self->detector->name},
        "found modules in %s, and light flies in %s; usual: %s", is_water ? "ice" : "water",
        is_water ? "water" : "ice",
        is_water ? "ice of layers, without the key optics"
                 : "ice.file: a file of water (configs/media/sea-water.yaml)");
}

/* Sums of weights that are wrong everywhere. What happens near the light is no fault of a run whose
 * light is elsewhere. */
static void check_oversized_sums(const ics_inspection *self)
{
    ics_oversize_effects effects = {0};
    if (!ics_oversize_effects_of(self->medium, self->detector, &effects)) {
        return;
    }
    ics_plausibility_expect(
        self, fmax(fabs(effects.sum.mean), fabs(effects.sum.worst)) < ICS_OVERSIZE_WARNING,
        (ics_value_place){.key = "detector.oversize"},
        "detector.oversize: found %g, with which sums are wrong by more than %g %% (%+.1f %%, of "
        "the worst module %+.1f %%); usual: 1, or detector.keep_hit_photons: auto",
        self->detector->oversize, 100 * ICS_OVERSIZE_WARNING, 100 * effects.sum.mean,
        100 * effects.sum.worst);
}

/* ---- efficiencies ---------------------------------------------------------------------------- */

/* Percent in place of shares; relative efficiencies of modules are about 1. They come from the file
 * of detector.efficiencies, or from the list of modules. */
static void check_efficiencies(const ics_inspection *self)
{
    const double least = 0.01, most = 10;
    const char *value = self->config->detector.efficiencies;
    const ice_module *worst = NULL;
    char *path = NULL;
    size_t count = 0;
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        const ice_module *module = &self->detector->modules[i];
        if (module->efficiency < least || module->efficiency > most) {
            ++count;
            worst = worst != NULL ? worst : module;
        }
    }
    if (worst == NULL) {
        return;
    }
    if (strcmp(value, "auto") != 0 || ics_sensors_detecting(self->config)) {
        path = ics_plausibility_find_file(self, value, "eff-f2k");
    }
    ics_plausibility_expect(
        self, false, (ics_value_place){.file = path, .module = worst},
        "string %u, module %u: efficiency: found %g; %zu of %zu modules are below %g or above %g; "
        "usual: 0.5 to 2, relative to the standard module; is it in percent?",
        worst->string, worst->module, worst->efficiency, count, self->detector->module_count, least,
        most);
    free(path);
}

/* Modules of high efficiency differ by another curve. Without that curve ppc has no acceptance for
 * their type, and records no light of them (irde in ini.cxx, print() in f2k.cxx of ppc). */
static void check_types(const ics_inspection *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->detector->module_count; ++i) {
        count += self->detector->modules[i].acceptance > 0;
    }
    if (count == 0 || strcmp(self->config->light.high_efficiency, "auto") != 0) {
        return;
    }
    char *path = ics_plausibility_find_file(self, "auto", "wv.rde");
    ics_plausibility_expect(
        self, path != NULL, (ics_value_place){.key = "light.high_efficiency"},
        "light.high_efficiency: found auto, but no wv.rde lies in the folder of the ice, and %zu "
        "module%s of type 1 (high efficiency), which count%s as standard by wavelength, while ppc "
        "records no light of them; usual: a file like wv.rde, or none if this is meant",
        count, count == 1 ? " is" : "s are", count == 1 ? "s" : "");
    free(path);
}

/* A quantum efficiency, or an effective area divided by the area of the module. Tables of effective
 * areas may go with an acceptance in any unit. */
static void check_acceptance(const ics_inspection *self)
{
    const double least = 0.03, most = 0.5;
    const ice_detector *detector = self->detector;
    const ice_light *light = self->light;
    double largest = 0;
    for (size_t i = 0; i < light->bias_count; ++i) {
        largest = fmax(largest, light->standard_acceptance[i]);
    }
    ics_plausibility_expect(
        self,
        light->bias_count == 0 || (largest >= least && largest <= most) ||
            (detector->type_count > 0 && detector->types[0].table.ring_count > 0),
        (ics_value_place){.key = "light.acceptance"},
        "light.acceptance: %s: found %.4g at the best wavelength; usual: 0.05 to 0.45, the share "
        "of "
        "the light on a module or on the window of a PMT that is detected; is it %s?",
        light->acceptance_from, largest,
        largest < least ? "an effective area in m2" : "relative to the best wavelength");
}

/* Returns the mean over all directions of what a flat window of area 1 detects with an acceptance
 * by the cosine to its axis, as pmt-place has it. */
static double mean_of_place(const ice_angular *angular)
{
    enum { POINTS = 64 };
    double sum = 0;
    for (int i = 0; i < POINTS; ++i) {
        const double x = (i + 0.5) / POINTS;
        sum += x * (angular->count > 0 ? ics_angular_at(angular, x) : 1) / POINTS;
    }
    return sum / 2;
}

/* A type says by beta how pmt-plane counts light from the side, and by angular_polynomial how
 * pmt-place does. Both should say the same on average. */
static void check_windows(const ics_inspection *self)
{
    const double most = 1.1;
    for (size_t i = 0; i < self->detector->type_count; ++i) {
        const ice_module_type *type = &self->detector->types[i];
        if (strcmp(self->config->stages.detect, "pmt-plane") != 0 || type->pmt_count == 0 ||
            !(type->pmts[0].radius > 0)) {
            continue;
        }
        const double plane = type->beta < -1 ? ICE_PI / 4 : 1 / (2 * (1 + type->beta));
        const double ratio = plane / mean_of_place(&type->acceptance.angular);
        ics_plausibility_expect(
            self, ratio < most && ratio > 1 / most, (ics_value_place){.key = "detector.types"},
            "type %s: beta: found %.4g, with which pmt-plane detects %.3g times as much light as "
            "pmt-place, averaged over directions; usual: beta 1 for windows without an "
            "angular_polynomial, or one with the same mean",
            type->name, type->beta, ratio);
    }
}

void ics_plausibility_check_detector(const ics_inspection *self)
{
    check_positions(self);
    check_strings(self);
    check_sizes(self);
    check_surroundings(self);
    check_oversized_sums(self);
    check_efficiencies(self);
    check_types(self);
    check_acceptance(self);
    check_windows(self);
}
