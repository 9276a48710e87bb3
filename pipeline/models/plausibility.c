#include "pipeline/models/plausibility.h"

#include "base/error.h"
#include "pipeline/models/detector/detector_layout.h"
#include "pipeline/models/detector/module_grid.h"
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/models/light/light_region.h"
#include "pipeline/models/plausibility_folder.h"
#include "pipeline/models/range.h"

#include <math.h>
#include <sched.h>

/* What is checked. */
typedef struct inspection {
    const icestream_config *config;
    const ice_medium *medium;
    const ice_detector *detector;
    ics_warnings *warnings;
} inspection;

enum { PLACE = 1200 };

/* The wavelength (nm) at which coefficients are judged. */
static const double wavelength = 400;

/* ---- the detector ---------------------------------------------------------------------------- */

/* Modules that share a fault, so that one warning is about all of them. */
typedef struct module_fault {
    size_t count;
    const ice_module *first;
} module_fault;

static int warn_of_modules(const inspection *self, const module_fault *fault, const char *text,
                           double limit)
{
    char place[PLACE];
    if (fault->count == 0) {
        return ICESTREAM_OK;
    }
    const size_t line = ics_detector_layout_line(self->detector, fault->first);
    if (line > 0) {
        snprintf(place, sizeof place, "%s:%zu", self->detector->name, line);
    } else {
        snprintf(place, sizeof place, "%s", self->detector->name);
    }
    return ics_warnings_add(self->warnings,
                            "%s: string %u, module %u: z: found %.6g m, which is %s (z = %.6g m); "
                            "%zu of %zu modules are; usual: modules inside the ice, z = %g m minus "
                            "their depth",
                            place, fault->first->string, fault->first->module, fault->first->z,
                            text, limit, fault->count, self->detector->module_count,
                            ICE_DETECTOR_DEPTH);
}

/* Modules that no photon reaches, or where the ice is not known. */
static int check_positions(const inspection *self)
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

static int check_oversize(const inspection *self)
{
    const ice_detector *detector = self->detector;
    const double width = 2 * detector->radius * detector->oversize;
    double closest;
    char place[PLACE];
    if (detector->oversize <= 1) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_module_grid_closest(detector->modules, detector->module_count, 2 * detector->radius,
                                    &closest));
    if (closest >= width) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: detector.oversize: found %g, with which modules are %.4g m wide, and the two closest "
        "are %.4g m apart, so that they take light from each other; usual: at most %.3g",
        ics_config_place(self->config, "detector.oversize", place, sizeof place),
        detector->oversize, width, closest, floor(10 * closest / (2 * detector->radius)) / 10);
}

/* ---- the ice --------------------------------------------------------------------------------- */

/* Lengths (m) of the clearest layer. */
static void find_longest(const ice_medium *medium, double *scattering, double *absorption)
{
    *scattering = *absorption = 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        *scattering = fmax(*scattering, 1 / ics_ice_scattering(medium, i, wavelength));
        *absorption = fmax(*absorption, 1 / ics_ice_absorption(medium, i, wavelength));
    }
}

/* A file of lengths in place of coefficients makes ice in which light flies some centimetres. */
static int check_coefficients(const inspection *self)
{
    const double shortest = 1; /* m: no layer of natural ice or water is clearer, if all are not */
    double scattering, absorption;
    char place[PLACE];
    find_longest(self->medium, &scattering, &absorption);
    if (scattering >= shortest && absorption >= shortest) {
        return ICESTREAM_OK;
    }
    const bool is_water = self->medium->spectral != NULL;
    const bool scatters = scattering < shortest;
    return ics_warnings_add(
        self->warnings,
        "%s: %s: found %.3g 1/m at 400 nm in the clearest layer, a length of %.3g m; usual: %s; "
        "does the file have lengths (m) where coefficients (1/m) belong%s?",
        ics_plausibility_ice_place(self->config, is_water ? "optics" : "layers", 0, place,
                                   sizeof place),
        scatters ? "effective scattering" : "absorption", 1 / (scatters ? scattering : absorption),
        scatters ? scattering : absorption,
        scatters ? "0.005 to 0.5 1/m, 2 to 200 m" : "0.003 to 0.2 1/m, 5 to 300 m",
        is_water ? ", or the other way round" : "");
}

/* ln k of real ice is about 0.04 along the flow and -0.08 across it. */
static int check_anisotropy(const inspection *self)
{
    enum { SETTING = 6 };
    const double most = 0.5, most_absorption = 1.2;
    ics_range along = ics_range_empty, across = ics_range_empty, absorption = ics_range_empty;
    char place[PLACE];
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        ics_range_add(&along, self->medium->layers[i].anisotropy_along);
        ics_range_add(&across, self->medium->layers[i].anisotropy_across);
    }
    for (size_t i = 0; i < 3; ++i) {
        ics_range_add(&absorption, self->medium->absorption_anisotropy[i]);
    }
    if (along.high > most || along.low < -most || across.high > most || across.low < -most) {
        return ics_warnings_add(
            self->warnings,
            "%s: anisotropy: found logarithms up to %.4g along and %.4g across the flow, which are "
            "factors of %.4g and %.4g; usual: logarithms between -0.2 and 0.2, such as 0.04 and "
            "-0.08; are these the factors k1 and k2 themselves?",
            ics_plausibility_ice_place(self->config, "anisotropy", SETTING, place, sizeof place),
            fmax(along.high, -along.low), fmax(across.high, -across.low),
            exp(fmax(along.high, -along.low)), exp(fmax(across.high, -across.low)));
    }
    if (along.low < 0 && along.high <= 0 && across.high > 0 && across.low >= 0) {
        return ics_warnings_add(
            self->warnings,
            "%s: anisotropy: found a logarithm of %.4g along and %.4g across the flow; usual: the "
            "first above 0 and the second below 0, such as 0.04 and -0.08; are they swapped?",
            ics_plausibility_ice_place(self->config, "anisotropy", SETTING, place, sizeof place),
            along.low, across.high);
    }
    if (absorption.high > most_absorption || absorption.low < -most_absorption) {
        return ics_warnings_add(
            self->warnings,
            "%s: absorption_anisotropy: found logarithms from %.4g to %.4g, which are factors from "
            "%.4g to %.4g; usual: 0.6, -0.3, -0.3",
            ics_plausibility_ice_place(self->config, "absorption_anisotropy", SETTING + 7, place,
                                       sizeof place),
            absorption.low, absorption.high, exp(absorption.low), exp(absorption.high));
    }
    return ICESTREAM_OK;
}

static int check_angles(const inspection *self)
{
    enum { SETTING = 4, SETTING_HOLE = 12 };
    const ice_medium *medium = self->medium;
    const bool is_water = medium->spectral != NULL;
    char place[PLACE];
    if (medium->mean_cosine < 0) {
        ICS_TRY(ics_warnings_add(
            self->warnings,
            "%s: mean_cosine: found %g, light that scatters backwards; usual: 0.8 to 0.95 (0 for "
            "molecules)",
            ics_plausibility_ice_place(self->config,
                                       is_water ? "scattering.mean_cosine" : "mean_cosine", SETTING,
                                       place, sizeof place),
            medium->mean_cosine));
    }
    if (medium->hole.radius > 0 && medium->hole.mean_cosine < 0) {
        ICS_TRY(ics_warnings_add(self->warnings,
                                 "%s: hole.mean_cosine: found %g, light that scatters backwards; "
                                 "usual: 0.8 to 0.95",
                                 ics_plausibility_ice_place(self->config, "hole.mean_cosine",
                                                            SETTING_HOLE, place, sizeof place),
                                 medium->hole.mean_cosine));
    }
    return ICESTREAM_OK;
}

/* Columns of bubbles have half the radius of a module, drill holes twice. */
static int check_hole(const inspection *self)
{
    enum { SETTING = 8 };
    const double least = 0.4 * self->detector->radius, radius = self->medium->hole.radius;
    char place[PLACE];
    if (!(radius > 0) || radius >= least) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: hole.radius: found %.4g m, much narrower than the modules (%.4g m), so that light "
        "reaches them past the hole ice; usual: 0.08 m (a column of bubbles) to 0.3 m (the whole "
        "drill hole)",
        ics_plausibility_ice_place(self->config, "hole.radius", SETTING, place, sizeof place),
        radius, self->detector->radius);
}

/* ---- the run --------------------------------------------------------------------------------- */

double ics_plausibility_segments(const ice_medium *medium)
{
    double sum = 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        sum += ics_ice_scattering(medium, i, wavelength) / (1 - medium->mean_cosine) /
               ics_ice_absorption(medium, i, wavelength);
    }
    return sum / (double)medium->layer_count;
}

static int check_bounce_limit(const inspection *self)
{
    const double times = 10; /* of the mean: one photon in 20 000 flies more segments */
    const double segments = ics_plausibility_segments(self->medium);
    char place[PLACE];
    if (self->config->run.bounce_limit >= times * segments) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: run.bounce_limit: found %u, and photons of this ice scatter %.3g times on average "
        "before they are absorbed, so that many are stopped too early; usual: 10000",
        ics_config_place(self->config, "run.bounce_limit", place, sizeof place),
        self->config->run.bounce_limit, segments);
}

static int check_threads(const inspection *self)
{
    enum { MOST_PER_CORE = 4 };
    cpu_set_t set;
    char place[PLACE];
    const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    if (cores == 0 || self->config->device.threads <= (uint32_t)(MOST_PER_CORE * cores)) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings,
                            "%s: device.threads: found %u, and this process has %d core%s; usual: "
                            "auto, one thread per core",
                            ics_config_place(self->config, "device.threads", place, sizeof place),
                            self->config->device.threads, cores, cores == 1 ? "" : "s");
}

/* ---- light ----------------------------------------------------------------------------------- */

int ics_plausibility_check_workload(const icestream_config *config, ics_models *models)
{
    const double *at = config->workload.position;
    ics_light_box box = ICS_LIGHT_BOX_EMPTY;
    char buffer[PLACE], text[512];
    if (config->workload.kind != ICS_WORKLOAD_POINT) {
        return ICESTREAM_OK; /* the other kinds have fixed positions around the origin */
    }
    const char *place = ics_config_place(config, "workload.position", buffer, sizeof buffer);
    const ics_light_limits limits = ics_light_limits_of(models->medium, models->detector);
    ics_light_box_add(&box, at[0], at[1], at[2]);
    if (ics_light_judge(&limits, &box, text, sizeof text) != ICS_LIGHT_IN_ICE) {
        ICS_TRY(ics_warnings_add(&models->warnings, "%s: workload.position: %s", place, text));
    }
    const ice_module *module = ics_light_module_at(models->detector, at[0], at[1], at[2]);
    if (module != NULL) {
        ICS_TRY(ics_warnings_add(&models->warnings,
                                 "%s: workload.position: found light inside string %u, module %u, "
                                 "which records its own light; usual: detector.excluded: [[%u, "
                                 "%u]] for a module that flashes",
                                 place, module->string, module->module, module->string,
                                 module->module));
    }
    return ICESTREAM_OK;
}

int ics_plausibility_check(const icestream_config *config, ics_models *models)
{
    static int (*const checks[])(const inspection *) = {
        check_positions, check_oversize, check_coefficients, check_anisotropy,
        check_angles,    check_hole,     check_bounce_limit, check_threads};
    const inspection self = {.config = config,
                             .medium = models->medium,
                             .detector = models->detector,
                             .warnings = &models->warnings};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        ICS_TRY(checks[i](&self));
    }
    return ics_plausibility_check_folder(config, models);
}
