/* icestream_compare: runs the same steps through several schedules or two configurations, and
 * compares the hits. */
#include "pipeline/commands/compare/compare.h"

#include "base/error.h"
#include "pipeline/commands/measure/schedules.h"
#include "pipeline/photons/models/light_record.h"

#include <stdlib.h>
#include <string.h>

/* ---- participants ---------------------------------------------------------------------------- */

/* Adds the participants of one configuration: the schedules of --schedules; without that option
 * every schedule of the device, or graph.schedule if there is a second configuration. */
static int choose_participants(ics_comparison *comparison, const icestream_config *config, bool gpu,
                               icestream_error *error)
{
    ics_schedule_list list = ics_schedules_of_device(gpu);
    if (comparison->options->schedules != NULL) {
        ICS_TRY(ics_schedules_parse(comparison->options->schedules, gpu, &list, error));
    } else if (comparison->against != NULL) {
        list = (ics_schedule_list){.items = {config->graph.schedule}, .count = 1};
    }
    if (comparison->against == NULL && list.count < 2) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "compare: one schedule alone cannot be compared; name two schedules "
                             "or use --against");
    }
    for (size_t i = 0; i < list.count; ++i) {
        comparison->participants[comparison->count++] = (ics_compare_participant){
            .config = config, .against = config == comparison->against, .schedule = list.items[i]};
    }
    return ICESTREAM_OK;
}

/* ---- running and judging ------------------------------------------------------------------- */

static const ics_step_list *steps_of(const ics_comparison *comparison, bool against)
{
    return against && comparison->light.kind == ICS_COMPARE_LIGHT_OWN ? &comparison->against_steps
                                                                      : &comparison->steps;
}

static int run_one(ics_comparison *comparison, const ics_experiment *experiment,
                   ics_compare_participant *one, icestream_error *error)
{
    ics_row *row = &one->row;
    const ics_step_list *steps = steps_of(comparison, one->against);
    char name[64];
    snprintf(name, sizeof name, "%s%s", ics_graph_schedule_name(one->schedule),
             one->against ? " (against)" : "");
    ics_task_progress_next(&comparison->progress, name);
    ICS_TRY(ics_experiment_run(experiment, one->schedule, 0, steps, &row->best, error));
    ics_rows_set_name(row);
    const size_t length = strlen(row->name);
    if (one->against) {
        snprintf(row->name + length, sizeof row->name - length, " (against)");
    }
    /* Another run times every kernel. */
    return row->best.on_gpu && ics_experiment_can_profile(one->schedule)
               ? ics_experiment_profile(experiment, one->schedule, steps, row->stage_seconds, error)
               : ICESTREAM_OK;
}

/* Checks what the stages return, if one of them is a header of the user: a comparison of impossible
 * values would look like one of physics. */
static int check_headers(ics_comparison *comparison, const icestream_config *config,
                         const ics_experiment *experiment, icestream_error *error)
{
    const ics_compare_participant *first = comparison->participants;
    while (first->config != config) {
        ++first; /* every configuration has a participant */
    }
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        if (config->stages.custom[stage] != NULL) {
            ics_task_progress_next(&comparison->progress, "checking the stages");
            return ics_experiment_check(experiment, first->schedule,
                                        steps_of(comparison, first->against), error);
        }
    }
    return ICESTREAM_OK;
}

/* The steps must not name a spectrum that the configuration does not have. */
static int check_spectra(const ics_step_list *steps, const ics_experiment *experiment,
                         icestream_error *error)
{
    const uint32_t spectra = ics_experiment_spectra(experiment);
    for (size_t i = 0; i < steps->count; ++i) {
        if (steps->steps[i].spectrum >= spectra) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "compare: step %zu has spectrum %u, but the configuration's light "
                                 "has only %u spectra",
                                 i, steps->steps[i].spectrum, spectra);
        }
    }
    return ICESTREAM_OK;
}

/* Loads the steps of the first configuration, or chooses those of the second one. */
static int choose_steps(ics_comparison *comparison, const icestream_config *config,
                        const ics_experiment *experiment, icestream_error *error)
{
    const ics_models *models = ics_experiment_models(experiment);
    const bool against = config == comparison->against;
    if (against) {
        ICS_TRY(ics_compare_light_choose(comparison, models, error));
    } else {
        ICS_TRY(ics_step_list_of_run(config, models, &comparison->steps, error));
        ICS_TRY(ics_compare_band_find(models, &comparison->light.spectra, error));
        ICS_TRY(ics_light_record_create(config, models, true, &comparison->light.first, error));
    }
    return check_spectra(steps_of(comparison, against), experiment, error);
}

/* Runs the participants of one configuration. Its tables exist only during this call. */
static int run_config(ics_comparison *comparison, const icestream_config *config,
                      icestream_error *error)
{
    ICS_DESTROYS(ics_experiment_destroy) ics_experiment *experiment = NULL;
    ICS_TRY(ics_experiment_create(config, &experiment, error));
    ics_experiment_show(experiment, &comparison->progress);
    ICS_TRY(choose_participants(comparison, config, ics_experiment_on_gpu(experiment), error));
    ICS_TRY(choose_steps(comparison, config, experiment, error));
    *(config == comparison->config ? &comparison->origin : &comparison->against_origin) =
        *ics_experiment_origin(experiment);
    ICS_TRY(check_headers(comparison, config, experiment, error));
    for (size_t i = 0; i < comparison->count; ++i) {
        if (comparison->participants[i].config == config) {
            ICS_TRY(run_one(comparison, experiment, &comparison->participants[i], error));
        }
    }
    return ICESTREAM_OK;
}

/* ---- judging ------------------------------------------------------------------------------- */

static int judge(ics_comparison *comparison, size_t other, icestream_error *error)
{
    const ics_compare_participant *first = &comparison->participants[0];
    const ics_compare_participant *second = &comparison->participants[other];
    const ics_measurement *one = &first->row.best, *two = &second->row.best;
    ics_compare_pair *pair = &comparison->pairs[other];
    *pair = (ics_compare_pair){
        .other = other,
        .same_seed = first->config->run.seed == second->config->run.seed,
        .expect_account = first->config->graph.reach_cull == second->config->graph.reach_cull,
        .same_account = memcmp(&one->account, &two->account, sizeof(icestream_account)) == 0};
    ics_compare_list_differences(comparison, first, second, pair->differences,
                                 sizeof pair->differences);
    pair->expect_identical = pair->differences[0] == '\0';
    ics_hit_sample a = {one->hits, one->hit_count, comparison->steps.photons};
    ics_hit_sample b = {two->hits, two->hit_count, steps_of(comparison, second->against)->photons};
    const bool by_weight = second->against && comparison->light.by_weight;
    int status = by_weight ? ics_verdict_reach_by_weight(&a, &b, comparison->light.band,
                                                         &pair->verdict, error)
                           : ics_verdict_reach(&a, &b, &pair->verdict, error);
    if (pair->expect_identical) {
        pair->holds = pair->verdict.kind == ICS_VERDICT_IDENTICAL &&
                      (pair->same_account || !pair->expect_account);
    } else {
        pair->holds = pair->verdict.kind == ICS_VERDICT_IDENTICAL ||
                      pair->verdict.kind == ICS_VERDICT_COMPATIBLE;
    }
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Makes the error: one line for each pair whose hits are not as expected. */
static int conclude(const ics_comparison *comparison, icestream_error *error)
{
    int status = ICESTREAM_OK;
    ics_error_set(error, ICESTREAM_OK, "%s", "");
    for (size_t i = 1; i < comparison->count; ++i) {
        const ics_compare_pair *pair = &comparison->pairs[i];
        if (pair->holds) {
            continue;
        }
        const char *found = pair->verdict.kind == ICS_VERDICT_EMPTY ? "no hits in either"
                            : pair->verdict.kind == ICS_VERDICT_IDENTICAL
                                ? "equal hits but different photon accounts"
                            : pair->expect_identical ? "hits that differ"
                                                     : "hits that are not compatible";
        status = ICESTREAM_E_DIFFERENT;
        ics_error_add(error, status, "compare: %s and %s: found %s, expected %s hits%s%s",
                      comparison->participants[0].row.name, comparison->participants[i].row.name,
                      found, pair->expect_identical ? "identical" : "compatible",
                      pair->expect_identical ? "" : "; they differ in: ", pair->differences);
    }
    return status;
}

static int run_all(ics_comparison *comparison, icestream_error *error)
{
    ICS_TRY(run_config(comparison, comparison->config, error));
    return comparison->against != NULL ? run_config(comparison, comparison->against, error)
                                       : ICESTREAM_OK;
}

static int compare(ics_comparison *comparison, FILE *out, icestream_error *error)
{
    const int status = run_all(comparison, error);
    bool holds = true;
    ics_task_progress_end(&comparison->progress);
    ICS_TRY(status);
    for (size_t i = 1; i < comparison->count; ++i) {
        ICS_TRY(judge(comparison, i, error));
        holds = holds && comparison->pairs[i].holds;
    }
    ICS_TRY(comparison->options->json ? ics_compare_print_json(comparison, holds, out, error)
                                      : ics_compare_print_text(comparison, out, error));
    return holds ? ICESTREAM_OK : conclude(comparison, error);
}

int icestream_compare(const icestream_config *config, const icestream_compare_options *options,
                      FILE *out, icestream_error *error)
{
    ICS_FREES ics_comparison *comparison = calloc(1, sizeof *comparison);
    if (comparison == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory");
    }
    comparison->config = config;
    comparison->against = options->against;
    comparison->options = options;
    comparison->progress = ics_task_progress_begin(options->progress);
    const int status = compare(comparison, out, error);
    ics_step_list_free(&comparison->steps);
    ics_step_list_free(&comparison->against_steps);
    json_decref(comparison->light.first);
    json_decref(comparison->light.differences);
    for (size_t i = 0; i < comparison->count; ++i) {
        ics_experiment_measurement_free(&comparison->participants[i].row.best);
    }
    return status;
}
