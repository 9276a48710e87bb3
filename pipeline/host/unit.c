/* A unit's life and its reading; unit_output.c has its writing. */
#include "pipeline/host/unit.h"

#include "pipeline/error.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/output.h"
#include "pipeline/source/fifo.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    UNIT_ROWS = 4096, /* steps read at a time: 256 KiB */
};

/* Whether units have hit files of their own. */
static bool has_outputs(const is_run_common *common)
{
    return !common->to_stdout && common->config->sink.rotate == 0;
}

int is_unit_create(is_run_common *common, const is_input *input, uint64_t message, is_unit **out,
                   is_error *error)
{
    is_unit *unit = calloc(1, sizeof *unit);
    if (unit != NULL) {
        unit->common = common;
        unit->input = input;
        unit->message = message;
        const char *name = input->path != NULL ? input->path : "standard input";
        if (!input->stream) {
            unit->name = strdup(name);
        } else if (asprintf(&unit->name, "%s, message %" PRIu64, name, message) < 0) {
            unit->name = NULL;
        }
        if (has_outputs(common)) {
            const char *directory = common->config->sink.directory;
            unit->output = input->stream ? is_inputs_message_output(directory, input, message)
                                         : strdup(input->output);
        }
    }
    if (unit == NULL || unit->name == NULL || (unit->output == NULL && has_outputs(common))) {
        is_unit_destroy(unit);
        return is_error_set(error, IS_E_MEMORY, "out of memory for the list of step files");
    }
    *out = unit;
    return IS_OK;
}

int is_unit_create_claimed(is_run_common *common, is_claim *claim, const char *name, is_unit **out,
                           is_error *error)
{
    is_unit *unit = calloc(1, sizeof *unit);
    if (unit == NULL) {
        is_claim_free(claim);
        return is_error_set(error, IS_E_MEMORY, "out of memory for claimed step files");
    }
    unit->common = common;
    unit->claim = *claim;
    unit->held = true;
    unit->arrived = claim->arrived;
    unit->own_input = (is_input){.path = claim->path, .bytes = claim->bytes};
    unit->input = &unit->own_input;
    unit->name = strdup(name);
    unit->output =
        has_outputs(common) ? is_inputs_output(common->config->sink.directory, claim->name) : NULL;
    if (unit->name == NULL || (unit->output == NULL && has_outputs(common))) {
        is_unit_destroy(unit);
        return is_error_set(error, IS_E_MEMORY, "out of memory for claimed step files");
    }
    *out = unit;
    return IS_OK;
}

void is_unit_destroy(is_unit *unit)
{
    if (unit != NULL) {
        is_unit_close(unit);
        is_claim_free(&unit->claim);
        free(unit->name);
        free(unit->output);
        free(unit->set_aside_reason);
        free(unit);
    }
}

int is_unit_open(is_unit *unit, is_error *error)
{
    unit->work = calloc(1, sizeof *unit->work);
    if (unit->work != NULL) {
        unit->work->pipe = -1;
        unit->work->rows = calloc(UNIT_ROWS, sizeof *unit->work->rows);
    }
    if (unit->work == NULL || unit->work->rows == NULL) {
        is_unit_close(unit);
        return is_error_set(error, IS_E_MEMORY, "out of memory for reading %s", unit->name);
    }
    return IS_OK;
}

void is_unit_close_reader(is_unit *unit)
{
    is_step_reader_destroy(unit->work->reader);
    unit->work->reader = NULL;
    if (unit->work->pipe >= 0) {
        close(unit->work->pipe);
        unit->work->pipe = -1;
    }
    free(unit->work->rows);
    unit->work->rows = NULL;
    is_batch_destroy(unit->work->batch);
    unit->work->batch = NULL;
}

void is_unit_close(is_unit *unit)
{
    if (unit->work != NULL) {
        is_unit_close_reader(unit);
        is_collector_destroy(unit->work->collector);
        free(unit->work->found_in);
        free(unit->work);
        unit->work = NULL;
    }
}

int is_unit_begin_anew(is_unit *unit, is_error *error)
{
    is_unit_close(unit);
    unit->account = (is_account){0};
    unit->summary = (is_step_summary){0};
    unit->maths = IS_MATHS_NONE;
    unit->seconds = 0.0;
    return is_unit_open(unit, error);
}

static is_unit *unit_of_reader_job(is_job *job)
{
    return (is_unit *)((char *)job - offsetof(is_unit, reader_job));
}

/* Whether the output is already there, made from the same input by the same settings. One that
 * cannot be read for the moment may be replaced if the user said so; otherwise that is trouble of
 * the output, and not of the step file. */
static int compare_output(is_unit *unit, is_error *error)
{
    json_t *expected = NULL;
    int status =
        is_run_origin_metadata(&unit->common->origin, unit->summary.digest, &expected, error);
    if (status == IS_OK) {
        status = is_hit_file_matches(unit->output, expected, true, &unit->work->matches, error);
    }
    json_decref(expected);
    if (status == IS_E_INPUT) {
        error->status =
            unit->common->options->resume || unit->common->options->force ? IS_OK : IS_E_OUTPUT;
        return error->status;
    }
    /* Who made it may have been killed before its name was on the medium. */
    return status == IS_OK && unit->work->matches && unit->claim.name != NULL
               ? is_output_sync_folder(unit->output, error)
               : status;
}

/* A claimed file may have been finished by somebody who was killed before he could say so. */
static int look_for_output(is_unit *unit, is_error *error)
{
    const is_run_options *options = unit->common->options;
    bool claimed = unit->claim.name != NULL;
    if (unit->output == NULL || (!options->resume && (!claimed || options->force))) {
        return IS_OK;
    }
    int status = compare_output(unit, error);
    unit->work->in_the_way = status == IS_OK && !unit->work->matches && !options->resume &&
                             access(unit->output, F_OK) == 0;
    if (status == IS_OK && unit->work->matches) {
        status = is_output_clean(unit->output, error);
    }
    return status;
}

int is_unit_look_for_volume(is_unit *unit, is_error *error)
{
    is_run_common *common = unit->common;
    is_unit_work *work = unit->work;
    if (common->known == NULL) {
        return IS_OK;
    }
    free(work->found_in);
    /* Who had a claim before may have committed a volume since the start of this run. */
    int status = is_known_hits_find(common->known, unit->summary.digest, unit->claim.attempt > 1,
                                    &work->found_in, error);
    if (status != IS_OK || work->found_in == NULL) {
        return status;
    }
    work->matches = unit->claim.name != NULL || common->options->resume;
    return work->matches ? IS_OK
                         : is_error_set(error, IS_E_INPUT,
                                        "%s: found its hits in %s already, expected none (--resume "
                                        "skips such files)",
                                        unit->name, work->found_in);
}

/* Who was stopped for a while may have lost what he had taken before. */
static int look_for_claim(is_unit *unit, is_error *error)
{
    bool held = true;
    int status = IS_OK;
    if (unit->claim.name != NULL) {
        status = is_run_claims_holds(unit->common->claims, &unit->claim, &held, error);
    }
    unit->work->lost = status == IS_OK && !held;
    return status;
}

static int check_file(is_unit *unit, is_error *error)
{
    is_run_common *common = unit->common;
    int status = look_for_claim(unit, error);
    if (status != IS_OK || unit->work->lost) {
        return status;
    }
    status =
        is_step_reader_open(unit->input->path, common->spectrum_count, &unit->work->reader, error);
    if (status == IS_OK) {
        status = is_step_reader_check(unit->work->reader, &unit->summary, &common->stop, error);
    }
    if (status == IS_OK) {
        status = look_for_output(unit, error);
    }
    if (status == IS_OK && unit->work->in_the_way) {
        status = is_error_set(error, IS_E_INPUT,
                              "%s: found hits of another input or of other settings in %s, "
                              "expected none (--force overwrites)",
                              unit->name, unit->output);
    }
    return status == IS_OK ? is_unit_look_for_volume(unit, error) : status;
}

static int find_message(is_unit *unit, is_error *error)
{
    is_run_common *common = unit->common;
    int status = IS_OK;
    const char *path = unit->input->path;
    if (unit->work->reader == NULL && path != NULL) {
        status = is_fifo_open(path, &unit->work->pipe, error);
    }
    if (unit->work->reader == NULL && status == IS_OK) {
        status = is_step_reader_open_stream(
            path != NULL ? unit->work->pipe : STDIN_FILENO, path != NULL ? path : "standard input",
            common->spectrum_count, common->wake, &unit->work->reader, error);
    }
    if (status == IS_OK) {
        status = is_step_reader_next(unit->work->reader, &unit->work->found, error);
    }
    return status;
}

void is_unit_check(is_job *job, void *thread_state)
{
    (void)thread_state;
    is_unit *unit = unit_of_reader_job(job);
    is_error *error = &unit->work->read_error;
    error->status = IS_OK;
    if (!unit->input->stream) {
        check_file(unit, error);
    } else {
        find_message(unit, error);
    }
}

/* Batches of a small file are made smaller, so that every thread gets some. */
static uint64_t choose_batch_photons(const is_unit *unit)
{
    const is_batch_limits *limits = &unit->work->limits;
    if (unit->common->config->graph.batch != 0) {
        return unit->common->config->graph.batch;
    }
    uint64_t share = unit->summary.photons / limits->shares;
    if (unit->input->stream || share > limits->photons) {
        return limits->photons;
    }
    return share > limits->least_photons ? share : limits->least_photons;
}

static int fill_batch(is_unit *unit, is_error *error)
{
    bool full = false;
    while (!full) {
        int status = is_batch_fill(unit->work->batch, &unit->work->cursor, &full, error);
        if (status != IS_OK || full) {
            return status;
        }
        size_t got = 0;
        status = is_step_reader_read(unit->work->reader, unit->work->rows, UNIT_ROWS, &got, error);
        if (status != IS_OK) {
            return status;
        }
        unit->work->cursor = (is_step_cursor){.steps = unit->work->rows, .count = got};
        if (got == 0) {
            unit->work->at_end = true;
            if (unit->input->stream) {
                is_step_reader_summary(unit->work->reader, &unit->summary);
            }
            return IS_OK;
        }
    }
    return IS_OK;
}

void is_unit_fill(is_job *job, void *thread_state)
{
    (void)thread_state;
    is_unit *unit = unit_of_reader_job(job);
    is_error *error = &unit->work->read_error;
    error->status = IS_OK;
    int status = IS_OK;
    if (unit->work->batch == NULL) {
        status = is_batch_create(&unit->work->limits, choose_batch_photons(unit),
                                 &unit->work->batch, error);
    } else {
        is_batch_reset(unit->work->batch, &unit->work->limits, choose_batch_photons(unit));
    }
    if (status == IS_OK) {
        status = fill_batch(unit, error);
    }
    if (status != IS_OK || unit->work->batch->count == 0) {
        is_batch_destroy(unit->work->batch);
        unit->work->batch = NULL;
    }
}
