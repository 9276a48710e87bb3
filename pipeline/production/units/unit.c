/* Making and checking a unit. unit_propagation.c is its side of the engine, units/output.c writes
 * its output, units/claim.c ends its claim. */
#include "pipeline/production/units/unit.h"

#include "base/container.h"
#include "base/error.h"
#include "base/new.h"
#include "base/url.h"
#include "pipeline/photons/config/hit_name.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/production/units/damaged_hits.h"
#include "pipeline/production/units/hit_path.h"
#include "pipeline/production/units/sources.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ics_unit *ics_unit_create(ics_unit_common *common, const ics_input *input, uint64_t message)
{
    char shown[ICS_URL_MOST + 1];
    const char *name = input->url != NULL    ? ics_url_shown(input->url, shown)
                       : input->path != NULL ? input->path
                                             : input->source->nameless;
    ics_unit *unit = ICS_NEW(ics_unit);
    unit->common = common;
    unit->input = input;
    unit->message = message;
    unit->name = input->source->continues ? ics_new_text("%s, message %" PRIu64, name, message)
                                          : ics_new_copy(name);
    if (common->sink->files) {
        unit->output = input->output != NULL
                           ? ics_new_copy(input->output)
                           : ics_new_made(input->source->output(common->config, input, message));
        unit->replaces = ics_output_mark_of(unit->output);
    }
    return unit;
}

ics_unit *ics_unit_create_claimed(ics_unit_common *common, const ics_claim *claim, const char *name)
{
    ics_unit *unit = ICS_NEW(ics_unit);
    unit->common = common;
    unit->claim = *claim;
    unit->arrived = claim->arrived;
    unit->own_input = (ics_input){
        .source = &ics_source_file, .path = claim->path, .url = claim->url, .bytes = claim->bytes};
    unit->input = &unit->own_input;
    unit->name = ics_new_copy(name);
    unit->output = common->sink->files
                       ? ics_new_made(ics_hit_path_of_file(common->config, claim->name))
                       : NULL;
    return unit;
}

void ics_unit_destroy(ics_unit *unit)
{
    if (unit != NULL) {
        ics_unit_close(unit);
        ics_claims_claim_free(&unit->claim);
        free(unit->name);
        free(unit->output);
        free(unit->checkpoint);
        free(atomic_exchange(&unit->notice, NULL));
        free(unit->refusal);
        json_decref(unit->light_mismatch);
        json_decref(unit->light_settings);
        free(unit);
    }
}

void ics_unit_open(ics_unit *unit)
{
    unit->account = unit->taken_over = (icestream_account){0};
    unit->summary = (ics_step_summary){0};
    atomic_store(&unit->digest_due, false);
    unit->maths = ICS_MATHS_NONE;
    unit->kernels = (ics_kernels){.code = 0};
    unit->seconds = 0.0;
    unit->work = ICS_NEW(ics_unit_work);
    unit->work->pipe = -1;
    ics_propagation *propagation = &unit->work->propagation;
    propagation->name = unit->name;
    propagation->user = unit;
    propagation->source =
        (ics_step_source){.read = ics_unit_read, .pass_over = ics_unit_pass_over, .user = unit};
    propagation->sink = (ics_hit_sink){.add = ics_unit_store, .user = unit};
    if (ics_engine_begin_reading(propagation) != ICESTREAM_OK) {
        ics_new_fail();
    }
}

void ics_unit_close_reader(ics_unit *unit)
{
    unit->input->source->close(unit);
    ics_engine_end_reading(&unit->work->propagation);
}

void ics_unit_close(ics_unit *unit)
{
    if (unit->work != NULL) {
        ics_unit_close_reader(unit);
        ics_collector_destroy(unit->work->collector);
        ics_unit_close_saving(unit->work);
        free(unit->work->found_in);
        free(unit->work->unlike);
        free(unit->work);
        unit->work = NULL;
    }
}

bool ics_unit_has_jobs(const ics_unit *unit)
{
    return unit->jobs_out > 0 || (unit->work != NULL && unit->work->propagation.out > 0);
}

void ics_unit_use_found_output(ics_unit *unit)
{
    if (unit->work->found_in != NULL) {
        free(unit->output);
        unit->output = unit->work->found_in;
        unit->work->found_in = NULL;
    }
}

/* ---- hits that exist already ----------------------------------------------------------------- */

/* Whether the name of the output says nothing about its step file, because sink.name has no {stem}.
 * Hits of another step file under this name are most likely somebody's results. */
static bool is_named_alone(const ics_unit *unit)
{
    return !ics_hit_name_has_stem(unit->common->config->sink.name);
}

/* Decides what becomes of an existing output that does not match. An output that is not sound goes
 * to the quarantine, and is made again. With --resume an output that was made from another step
 * file is made again, if it has the name of its step file; hits of other settings, or of other
 * particles of a run that makes its steps, are replaced only with --force. */
static int judge_unlike(ics_unit *unit, ics_hit_verdict verdict, const icestream_error *why,
                        icestream_error *error)
{
    const icestream_run_options *options = unit->common->options;
    if (verdict == ICS_HITS_MATCH || verdict == ICS_HITS_MISSING) {
        return ICESTREAM_OK;
    }
    if (verdict == ICS_HITS_UNSOUND && !options->force) {
        return ics_unit_quarantine_hits(unit, why->text, error);
    }
    unit->work->in_the_way = !options->resume ||
                             (verdict == ICS_HITS_OTHER_SETTINGS && !options->force) ||
                             (is_named_alone(unit) && !options->force);
    free(unit->work->unlike);
    unit->work->unlike = ics_new_copy(why->text);
    return ICESTREAM_OK;
}

static int judge_once(ics_unit *unit, ics_hit_verdict *out, icestream_error *why,
                      icestream_error *error)
{
    json_auto_t *expected = NULL;
    ICS_TRY(ics_unit_origin(unit, &expected, error));
    return ics_unit_judge_hits(unit, expected, out, why, error);
}

/* Judges the output by either digest of a large step file. The unit keeps the digest that fits. */
static int judge_output(ics_unit *unit, ics_hit_verdict *out, icestream_error *why,
                        icestream_error *error)
{
    ICS_TRY(judge_once(unit, out, why, error));
    if (*out != ICS_HITS_OTHER_INPUT || !ics_parts_digest_has_parts(unit->summary.digest)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_unit_change_digest(unit, error));
    ICS_TRY(judge_once(unit, out, why, error));
    return *out == ICS_HITS_OTHER_INPUT ? ics_unit_change_digest(unit, error) : ICESTREAM_OK;
}

/* Finds out whether the output exists and was made from the same input with the same settings. An
 * existing output that cannot be read may be replaced with --resume or --force. Otherwise this is
 * an error of the output (ICESTREAM_E_OUTPUT), and not of the step file. */
static int compare_output(ics_unit *unit, icestream_error *error)
{
    const icestream_run_options *options = unit->common->options;
    icestream_error why;
    ics_hit_verdict verdict = ICS_HITS_MISSING;
    if (access(unit->output, F_OK) != 0 && errno == ENOENT) {
        unit->work->matches = false;
        return ICESTREAM_OK; /* nothing needs the digest yet */
    }
    ICS_TRY(ics_unit_await_digest(unit, &unit->common->stop, error));
    const int status = judge_output(unit, &verdict, &why, error);
    if ((status == ICESTREAM_E_OUTPUT && options->force) ||
        (status == ICESTREAM_E_INPUT && (options->resume || options->force))) {
        unit->work->blocked = false;
        *error = (icestream_error){.status = ICESTREAM_OK};
        return ICESTREAM_OK;
    }
    if (status == ICESTREAM_E_INPUT) {
        return error->status = ICESTREAM_E_OUTPUT;
    }
    ICS_TRY(status);
    unit->work->matches = verdict == ICS_HITS_MATCH;
    /* The worker that made the output may have been killed before the name was synced. */
    return unit->work->matches && unit->claim.name != NULL
               ? ics_output_sync_folder(unit->output, error)
               : judge_unlike(unit, verdict, &why, error);
}

/* Another worker may have finished a claimed file and may have been killed before it ended its
 * claim. */
static int look_for_output(ics_unit *unit, icestream_error *error)
{
    const icestream_run_options *options = unit->common->options;
    bool claimed = unit->claim.name != NULL;
    if (unit->output == NULL || (!options->resume && (!claimed || options->force))) {
        return ICESTREAM_OK;
    }
    ICS_TRY(compare_output(unit, error));
    return unit->work->matches ? ics_output_clean(unit->output, error) : ICESTREAM_OK;
}

/* Looks for a hit file of several step files that has the hits of this unit. Fills found_in and
 * matches. ICESTREAM_E_INPUT: there is one, but neither the file is claimed nor --resume given. */
static int look_for_merged(ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    ics_unit_work *work = unit->work;
    if (common->known == NULL || work->matches) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_unit_await_digest(unit, &common->stop, error));
    free(work->found_in);
    /* The worker that had the claim before may have finished such a file since this run began. */
    ICS_TRY(ics_known_hits_find(common->known, unit->summary.digest, unit->claim.attempt > 1,
                                &work->found_in, error));
    if (work->found_in == NULL && ics_parts_digest_has_parts(unit->summary.digest)) {
        ICS_TRY(ics_unit_change_digest(unit, error));
        ICS_TRY(ics_known_hits_find(common->known, unit->summary.digest, false, &work->found_in,
                                    error));
        ICS_TRY(work->found_in == NULL ? ics_unit_change_digest(unit, error) : ICESTREAM_OK);
    }
    ICS_TRY(ics_unit_quarantine_merged(unit, error));
    if (work->found_in == NULL) {
        return ICESTREAM_OK;
    }
    work->matches = unit->claim.name != NULL || common->options->resume;
    return work->matches
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: found its hits in %s already, expected none (--resume "
                               "skips such files)",
                               unit->name, work->found_in);
}

/* Compares existing hits with the unit, whose digest is known. */
static int look_for_hits(ics_unit *unit, icestream_error *error)
{
    ICS_TRY(look_for_output(unit, error));
    if (unit->work->in_the_way) {
        /* A claimed step file leaves the folder with the reason; a named one is not at fault. */
        unit->work->blocked = is_named_alone(unit);
        const int kind = unit->work->blocked ? ICESTREAM_E_OUTPUT : ICESTREAM_E_INPUT;
        ics_error_set(error, kind,
                      "%s: found hits of another input or of other settings in %s, "
                      "expected none (--force overwrites)",
                      unit->name, unit->output);
        return ics_error_add(error, kind, "%s", unit->work->unlike);
    }
    return look_for_merged(unit, error);
}

static int check(ics_unit *unit, icestream_error *error)
{
    const ics_source *source = unit->input->source;
    ics_unit_look_for_claim(unit);
    if (unit->work->lost) {
        return ICESTREAM_OK;
    }
    ICS_TRY(source->open(unit, error));
    if (source->repeats) {
        ICS_TRY(look_for_hits(unit, error));
    }
    return unit->work->found ? ics_unit_read_checkpoint(unit, error) : ICESTREAM_OK;
}

void ics_unit_check(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = ICS_CONTAINER_OF(job, ics_unit, reader_job);
    icestream_error *error = &unit->work->read_error;
    error->status = ICESTREAM_OK;
    unit->work->blocked = false;
    ics_step_watch_begin(&unit->work->propagation.feed.watch);
    check(unit, error);
    ics_unit_look_for_command(unit);
}
