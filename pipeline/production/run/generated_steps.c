#include "pipeline/production/run/generated_steps.h"

#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/warnings.h"
#include "pipeline/production/units/hit_path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Where generated steps are kept; *out is for the caller to free, NULL: nowhere. */
static int name_kept_steps(const ics_run_state *run, char **out, icestream_error *error)
{
    const char *asked = run->options->keep_steps;
    *out = NULL;
    if (asked == NULL) {
        return ICESTREAM_OK;
    }
    if (!ics_config_generates(run->config)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--keep-steps: found a run of step files, expected particles or a "
                             "workload and no source");
    }
    if (asked[0] == '\0' && !run->common.sink->files) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--keep-steps: found sink.directory \"-\", which has no folder for "
                             "the steps, expected --keep-steps=FILE");
    }
    if (strcmp(asked, "-") == 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--keep-steps: found -, which is standard output, expected the name "
                             "of a file (icestream generate -o - writes steps there)");
    }
    *out = asked[0] != '\0' ? ics_new_copy(asked)
                            : ics_new_made(ics_hit_path_of_light(run->config, "{stem}.steps.npy"));
    return ICESTREAM_OK;
}

/* Refuses what steps that the run makes cannot do, and says which light is not used. */
int ics_run_generated_plan(ics_run_state *run, icestream_error *error)
{
    char where[1024];
    const icestream_config *config = run->config;
    ICS_TRY(name_kept_steps(run, &run->common.keep_steps, error));
    if (ics_config_has_source(config) && ics_config_has_light(config)) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE,
                         "the run reads the steps of its source, because one is given; %s",
                         ics_config_has_particles(config) ? "it makes none of the particles"
                                                          : "it makes none of the workload");
    }
    if (run->common.keep_steps != NULL) {
        ICS_TRY(ics_config_check_output(config, "--keep-steps", run->common.keep_steps, error));
    }
    struct stat about;
    const bool replaces = run->options->force || run->options->resume;
    if (run->common.keep_steps != NULL && !replaces && lstat(run->common.keep_steps, &about) == 0) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: already exists\nnothing was computed; --force overwrites",
                             run->common.keep_steps);
    }
    const ics_source *source = run->inputs.count > 0 ? run->inputs.items[0].source : NULL;
    if (source != NULL && source->makes && !source->repeats && run->options->resume) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: particles.file: found a pipe, which cannot be compared "
                             "with earlier hits, expected a file with --resume",
                             ics_config_place(config, "particles.file", where, sizeof where));
    }
    return ICESTREAM_OK;
}

void ics_run_generated_warn(ics_run_state *run, const ics_unit *unit)
{
    const ics_warnings *warnings = &unit->work->warnings;
    for (size_t i = 0; i < warnings->count; ++i) {
        ics_run_warnings_add(run, "%s", warnings->items[i]);
    }
}

void ics_run_generated_log(ics_run_state *run, const ics_unit *unit)
{
    char text[160];
    const char *file = run->common.keep_steps;
    ics_run_log_text(run, ICS_EVENT_MESSAGE, "%s: makes steps: %s%s%s", unit->name,
                     ics_forecast_text(&unit->work->forecast, text, sizeof text),
                     file != NULL ? ", kept in " : "", file != NULL ? file : "");
    ics_run_generated_warn(run, unit);
}
