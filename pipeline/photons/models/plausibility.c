#include "pipeline/photons/models/plausibility.h"

#include "base/processors.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/models/plausibility_parts.h"

#include <math.h>
#include <stdlib.h>

/* ---- the run --------------------------------------------------------------------------------- */

/* The number of segments that a photon of this medium flies on average before it is absorbed, at
 * 400 nm, in the mean of all layers. */
static double mean_segments(const ice_medium *medium)
{
    double sum = 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        sum += ics_ice_scattering(medium, i, ICS_PLAUSIBILITY_WAVELENGTH) /
               (1 - medium->mean_cosine) /
               ics_ice_absorption(medium, i, ICS_PLAUSIBILITY_WAVELENGTH);
    }
    return sum / (double)medium->layer_count;
}

static void check_run(const ics_inspection *self)
{
    enum { MOST_PER_CORE = 4 };
    const double times = 10; /* of the mean: one photon in 20 000 flies more segments */
    const double segments = mean_segments(self->medium);
    const uint32_t limit = self->config->run.bounce_limit, threads = self->config->device.threads;
    const uint32_t cores = ics_processors_count();
    ics_plausibility_expect(
        self, limit >= times * segments, (ics_value_place){.key = "run.bounce_limit"},
        "run.bounce_limit: found %u, and photons of this ice scatter %.3g times on average before "
        "they are absorbed, so that many are stopped too early; usual: at least %.0f for such ice",
        limit, segments, fmax(1e4, 1e3 * ceil(times * segments / 1e3)));
    ics_plausibility_expect(
        self, threads <= MOST_PER_CORE * cores, (ics_value_place){.key = "device.threads"},
        "device.threads: found %u, and this process has %u core%s; usual: auto, one thread per "
        "core",
        threads, cores, cores == 1 ? "" : "s");
}

/* ---- the environment ------------------------------------------------------------------------- */

/* Variables of the environment that ppc reads and icestream does not: users of ppc set them by
 * habit. docs/for-ppc-users.md has the same table. */

/* A variable, and what to give instead. `key`: a run that gives it needs no warning; NULL: what is
 * to give is no key of a run. */
static const struct {
    const char *name, *key, *instead;
} variables[] = {
    {"PPCTABLESDIR", "ice.directory", "ice.directory"},
    {"ICEMODELDIR", "ice.directory", "ice.directory"},
    {"TILTMODELDIR", "ice.directory", "ice.directory"},
    {"PPCHOLEICE", "detector.angular_acceptance", "detector.angular_acceptance"},
    {"OVSZ", "detector.oversize", "detector.oversize"},
    {"WFLA", "light.spectra", "light.spectra: [{line: NM}], and spectrum: 7 at the flasher"},
    {"FLWL", "light.acceptance", "light.acceptance or light.spectra"},
    {"FWID", NULL, "beam_width or beam at the flasher"},
    {"FLDR", NULL,
     "one flasher for each LED, with led and led_azimuth, or with zenith and azimuth"},
    {"FZCR", NULL, "zenith and azimuth of the flasher"},
    {"ELEV", NULL, "zenith and azimuth of the flasher"},
    {"FTLT", NULL, "zenith and azimuth of the tilted LED"},
    {"OFLA", "detector.excluded", "detector.excluded without the flashing module"},
    {"BFRM", "ice.birefringence_subtraction", "ice.birefringence_subtraction"},
    {"BFRA", NULL, "the columns of birefringence of an ice file"},
    {"BFRB", NULL, "the columns of birefringence of an ice file"},
    {"ABSM", NULL, "the file version of the ice folder"},
};

static void check_environment(const ics_inspection *self)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; ++i) {
        const char *value = getenv(variables[i].name), *key = variables[i].key;
        if (value != NULL && (key == NULL || !ics_plausibility_is_given(self, key))) {
            ics_warnings_add(self->warnings,
                             "the environment has %s=%s, a variable of ppc, which icestream "
                             "does not read; usual: %s",
                             variables[i].name, value, variables[i].instead);
        }
    }
}

/* ---- all together ---------------------------------------------------------------------------- */

static ics_inspection inspection_of(const icestream_config *config, ics_models *models)
{
    return (ics_inspection){.config = config,
                            .medium = models->medium,
                            .detector = models->detector,
                            .light = models->light,
                            .warnings = &models->warnings};
}

/* ---- light ----------------------------------------------------------------------------------- */

int ics_plausibility_check_workload(const icestream_config *config, ics_models *models)
{
    const ics_inspection self = inspection_of(config, models);
    const ics_value_place place = {.key = "workload.position"};
    const double *at = config->workload.position;
    ics_light_box box = ICS_LIGHT_BOX_EMPTY;
    char text[512];
    if (config->workload.kind != ICS_WORKLOAD_POINT) {
        return ICESTREAM_OK; /* the other kinds have fixed positions around the origin */
    }
    const ics_light_limits limits = ics_light_limits_of(models->medium, models->detector);
    ics_light_box_add(&box, at[0], at[1], at[2]);
    const bool is_in_ice = ics_light_judge(&limits, &box, text, sizeof text) == ICS_LIGHT_IN_ICE;
    ics_plausibility_expect(&self, is_in_ice, place, "workload.position: %s", text);
    double distance = 0;
    ics_light_blocks modules;
    ics_light_blocks_of(models->detector, &modules);
    const ice_module *module = ics_light_nearest(&modules, at, at, &distance);
    if (module != NULL && distance < models->detector->radius) {
        ics_plausibility_expect(
            &self, false, place,
            "workload.position: found light inside string %u, module %u, which records its own "
            "light; usual: detector.excluded: [[%u, %u]] for a module that flashes",
            module->string, module->module, module->string, module->module);
    } else if (ics_oversize_near_text(&modules, at, at, NULL, text, sizeof text)) {
        ics_plausibility_expect(&self, false, place, "workload.position: %s", text);
    }
    return models->warnings.status;
}

int ics_plausibility_check(const icestream_config *config, ics_models *models)
{
    const ics_inspection self = inspection_of(config, models);
    ics_plausibility_check_detector(&self);
    ics_plausibility_check_ice(&self);
    check_run(&self);
    check_environment(&self);
    ics_plausibility_check_folder(&self);
    return models->warnings.status;
}
