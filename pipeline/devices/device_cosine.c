#include "pipeline/devices/device_cosine.h"

#include <math.h>
#include <stdio.h>

/* Relative error of effective scattering lengths that no warning names. */
#define MEAN_COSINE_SLACK 0.01

int ics_device_cosine_check(const ics_device_parts *parts, const ics_graph *graph,
                            icestream_error *error)
{
    const ice_scatter_constants *ice = &parts->tables->device.scatter;
    const char *header = parts->options->graph.custom[ICS_STAGE_SCATTER];
    if (header == NULL) {
        return ICESTREAM_OK;
    }
    /* Scattering by molecules has the mean cosine 0. */
    const double expected = (double)ice->g * (1.0 - (double)ice->molecules.fraction);
    const double found = ics_graph_mean_cosine(graph);
    const double factor = (1.0 - expected) / (1.0 - found);
    if (!(fabs(found) <= 1.0 + MEAN_COSINE_SLACK)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: stages.scatter: found a mean cosine of %.3g, expected a "
                             "number from -1 to 1 (device.check: true names the first wrong value)",
                             header, isnan(found) ? fabs(found) : found); /* NaN has a sign */
    }
    if (fabs(factor - 1.0) <= MEAN_COSINE_SLACK) {
        return ICESTREAM_OK;
    }
    char line[1024];
    snprintf(line, sizeof line,
             "stages.scatter: %s has the mean cosine %.3g, and the ice has %.3g: effective "
             "scattering lengths are multiplied by %.3g; expected mean_cosine: %.3g in the ice "
             "file, or another function (docs/stages.md)",
             header, found, expected, factor, found);
    parts->note(parts->note_user, true, line);
    return ICESTREAM_OK;
}
