#include "pipeline/models/plausibility.h"

#include "base/error.h"
#include "base/processors.h"
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/models/light/light_region.h"
#include "pipeline/models/oversize.h"
#include "pipeline/models/plausibility_folder.h"
#include "pipeline/models/plausibility_parts.h"

#include <math.h>

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

static int check_bounce_limit(const ics_inspection *self)
{
    const double times = 10; /* of the mean: one photon in 20 000 flies more segments */
    const double segments = mean_segments(self->medium);
    char place[ICS_PLAUSIBILITY_PLACE];
    if (self->config->run.bounce_limit >= times * segments) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: run.bounce_limit: found %u, and photons of this ice scatter %.3g times on average "
        "before they are absorbed, so that many are stopped too early; usual: at least %.0f for "
        "such ice",
        ics_config_place(self->config, "run.bounce_limit", place, sizeof place),
        self->config->run.bounce_limit, segments, fmax(1e4, 1e3 * ceil(times * segments / 1e3)));
}

static int check_threads(const ics_inspection *self)
{
    enum { MOST_PER_CORE = 4 };
    char place[ICS_PLAUSIBILITY_PLACE];
    const uint32_t cores = ics_processors_count();
    if (self->config->device.threads <= MOST_PER_CORE * cores) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(self->warnings,
                            "%s: device.threads: found %u, and this process has %u core%s; usual: "
                            "auto, one thread per core",
                            ics_config_place(self->config, "device.threads", place, sizeof place),
                            self->config->device.threads, cores, cores == 1 ? "" : "s");
}

/* ---- light ----------------------------------------------------------------------------------- */

int ics_plausibility_check_workload(const icestream_config *config, ics_models *models)
{
    const double *at = config->workload.position;
    ics_light_box box = ICS_LIGHT_BOX_EMPTY;
    char buffer[ICS_PLAUSIBILITY_PLACE], text[512];
    if (config->workload.kind != ICS_WORKLOAD_POINT) {
        return ICESTREAM_OK; /* the other kinds have fixed positions around the origin */
    }
    const char *place = ics_config_place(config, "workload.position", buffer, sizeof buffer);
    const ics_light_limits limits = ics_light_limits_of(models->medium, models->detector);
    ics_light_box_add(&box, at[0], at[1], at[2]);
    if (ics_light_judge(&limits, &box, text, sizeof text) != ICS_LIGHT_IN_ICE) {
        ICS_TRY(ics_warnings_add(&models->warnings, "%s: workload.position: %s", place, text));
    }
    double distance = 0;
    const ice_module *module = ics_light_nearest(models->detector, at, at, &distance);
    if (module != NULL && distance < models->detector->radius) {
        ICS_TRY(ics_warnings_add(&models->warnings,
                                 "%s: workload.position: found light inside string %u, module %u, "
                                 "which records its own light; usual: detector.excluded: [[%u, "
                                 "%u]] for a module that flashes",
                                 place, module->string, module->module, module->string,
                                 module->module));
    } else if (ics_oversize_near_text(models->detector, at, at, NULL, text, sizeof text)) {
        ICS_TRY(ics_warnings_add(&models->warnings, "%s: workload.position: %s", place, text));
    }
    return ICESTREAM_OK;
}

int ics_plausibility_check(const icestream_config *config, ics_models *models)
{
    static int (*const checks[])(const ics_inspection *) = {
        ics_plausibility_check_detector, ics_plausibility_check_ice, check_bounce_limit,
        check_threads, ics_plausibility_check_environment};
    const ics_inspection self = {.config = config,
                                 .medium = models->medium,
                                 .detector = models->detector,
                                 .light = models->light,
                                 .warnings = &models->warnings};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        ICS_TRY(checks[i](&self));
    }
    return ics_plausibility_check_folder(config, models);
}
