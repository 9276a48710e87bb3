#include "pipeline/production/run/setup.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "base/terminal.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/models/oversize.h"
#include "pipeline/photons/session/world.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/generated_steps.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/loop.h"
#include "pipeline/production/run/own_outputs.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/resume.h"
#include "pipeline/production/run/summary.h"
#include "pipeline/production/run/unit_states.h"
#include "pipeline/production/run/warnings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BATCHES_WITH_WRITERS = 3, /* so that the device does not wait for writers */
    IO_MORE = 512,   /* jobs of the I/O thread in addition to one for each open unit: lines of the
                        journal */
    GPUS_SERVED = 4, /* GPUs that get their own threads; further ones share these */
};

/* The order in which the loop calls its parts. Units go from the intake to the end of their claims.
 * Batches are made before units are checked, so that the device gets work first. At the end of the
 * run the last part is called first: hits are saved before claims are given back. */
static const ics_run_part *const parts[] = {
    &ics_run_unit_part,    &ics_run_clients_part,   &ics_run_intake_part, &ics_run_disk_full_part,
    &ics_run_fetch_part,   &ics_run_propagate_part, &ics_run_check_part,  &ics_run_write_part,
    &ics_run_command_part, &ics_run_ending_part,    &ics_run_save_part,
};

static int check_existing_outputs(const ics_run_state *run, icestream_error *error)
{
    if (run->options->force || run->options->resume) {
        return ICESTREAM_OK;
    }
    icestream_error found = {.status = ICESTREAM_OK};
    size_t count = 0;
    for (size_t i = 0; i < run->inputs.count; ++i) {
        const char *output = run->inputs.items[i].output;
        struct stat about;
        if (output != NULL && lstat(output, &about) == 0) {
            ics_error_add(&found, ICESTREAM_E_OUTPUT, "%s: already exists", output);
            count++;
        }
    }
    if (count > 0) {
        ics_error_add(
            &found, ICESTREAM_E_OUTPUT,
            "nothing was computed; --resume keeps outputs that match, --force overwrites");
    }
    return ics_error_copy(error, &found);
}

/* Makes sink.directory and the folders above it, and checks that files can be made in it. */
static int make_directory(const char *path, icestream_error *error)
{
    int failure = ics_disk_make_folders(path, 0777) == 0 ? 0 : errno;
    if (failure == 0 && access(path, W_OK | X_OK) != 0) {
        failure = errno;
    }
    return failure == 0 ? ICESTREAM_OK
                        : ics_error_set(error, ICESTREAM_E_OUTPUT, "sink.directory: %s: %s", path,
                                        strerror(failure));
}

static int check_streams(const ics_run_state *run, icestream_error *error)
{
    for (size_t i = 0; i < run->inputs.count; ++i) {
        if (run->inputs.items[i].source->continues && run->inputs.items[i].path == NULL) {
            return ics_terminal_check_input("source.files", error);
        }
    }
    return ICESTREAM_OK;
}

static int plan_outputs(ics_run_state *run, icestream_error *error)
{
    const char *directory = run->config->sink.directory;
    run->common.sink = strcmp(directory, "-") == 0 ? &ics_sink_stream : &ics_sink_files;
    if (!run->common.sink->files) {
        return ics_terminal_check_output("sink.directory", error);
    }
    ICS_TRY(check_existing_outputs(run, error));
    return make_directory(directory, error);
}

/* Chooses the quarantine and opens the journal. If hits go to standard output, both exist only
 * where the configuration names them, and with sink.records: false the journal does. */
static int open_records(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    if (run->common.sink->files || config->sink.quarantine != NULL) {
        run->common.quarantine = ics_run_name_in_sink(run, config->sink.quarantine, "quarantine");
    }
    const char *path = run->records[ICS_RECORD_JOURNAL];
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    pthread_mutex_init(&run->journal.lock, NULL);
    ICS_TRY(ics_journal_create(path, run->common.worker, &run->journal.journal, error));
    run->common.journal = &run->journal;
    return ICESTREAM_OK;
}

static void create_units(ics_run_state *run)
{
    for (size_t i = 0; i < run->inputs.count; ++i) {
        const ics_input *input = &run->inputs.items[i];
        ics_run_unit_append(run, ics_unit_create(&run->common, input, 0));
        run->bytes_total += input->bytes;
        run->streaming = run->streaming || input->source->continues;
    }
    run->files_total = run->inputs.count;
}

/* Says which defaults have changed. */
static void log_changes(ics_run_state *run)
{
    char text[ICS_EVENT_TEXT];
    const ics_config_change *rows = ics_config_changes;
    while (ics_config_next_change(&rows, run->config, ICS_USE_RUN, text, sizeof text) != NULL) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "%s", text);
    }
}

static void log_oversize(ics_run_state *run)
{
    ics_oversize_effects effects;
    char text[ICS_OVERSIZE_TEXT];
    const ics_models *models = run->models;
    if (ics_oversize_effects_of(models->medium, models->detector, &effects)) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "detector.oversize %g: %s",
                         models->detector->oversize, ics_oversize_text(&effects, text));
    }
}

static int load_world(ics_run_state *run, icestream_error *error)
{
    ICS_TRY(ics_world_load_models(run->config, &run->models, error));
    const ics_models *models = run->models;
    ics_run_warnings_begin(run);
    for (size_t i = 0; i < models->warnings.count; ++i) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", models->warnings.items[i]);
    }
    log_changes(run);
    log_oversize(run);
    run->common.spectrum_count = (uint32_t)models->light->count;
    run->common.models = models;
    run->common.content =
        models->detection != NULL ? ics_config_content_name(models->detection->content) : NULL;
    ICS_TRY(ics_origin_create(run->config, models, &run->common.origin, error));
    ICS_TRY(ics_light_record_create(run->config, models, true, &run->common.light, error));
    ICS_TRY(ics_origin_settings(run->config, models, &run->common.origin.settings, error));
    return ics_world_create_tables(run->config, models, &run->tables, error);
}

/* With a CPU as the device, one thread checks the next file while another one cuts this file into
 * batches, and one writer is rarely busy. A GPU computes more steps than one thread can check or
 * cut, and writers wait for the disk at the end of each file. */
static ics_run_shape choose_shape(const ics_run_state *run)
{
    ics_run_shape shape = {
        .readers = 2, .units_ahead = 2, .filling = 1, .writers = 1, .hit_memory = 48 << 20};
    ics_device_facts facts;
    ics_device_facts_of(run->device, &facts);
    if (facts.is_gpu) {
        uint32_t times = facts.gpus < GPUS_SERVED ? facts.gpus : GPUS_SERVED;
        shape = (ics_run_shape){.readers = 6 * times,
                                .units_ahead = 6 * times,
                                .filling = 3 * times,
                                .writers = ICS_RUN_WRITERS / GPUS_SERVED * times,
                                .hit_memory = (size_t)(512 << 20) * times};
    }
    if (!run->common.sink->files) {
        /* Messages are written one after the other. */
        shape.writers = 1;
    }
    return shape;
}

static int start_writers(ics_run_state *run, ics_post to_loop, icestream_error *error)
{
    for (uint32_t i = 0; i < run->shape.writers; ++i) {
        ICS_TRY(ics_workers_create("writer", 1, 2 * run->units.open_limit, NULL, to_loop,
                                   &run->jobs.writers[i], error));
    }
    return ICESTREAM_OK;
}

static void on_compiler(void *user, const char *line)
{
    ics_run_state *run = user;
    run->loop.compiler_began = ics_clock_seconds();
    ics_run_log_text(run, ICS_EVENT_MESSAGE, "%s", line);
}

/* Makes the engine. The time of a compiler is no part of the run's speed. */
static int create_engine(ics_run_state *run, ics_post to_loop, icestream_error *error)
{
    const ics_world world = {.models = run->models, .tables = run->tables, .sums = run->config};
    run->device_options.cancel = &run->common.cancel;
    run->device_options.compiling = (ics_stage_compiling){on_compiler, run};
    ics_device_wake_end(run->wake);
    run->wake = NULL;
    const ics_engine_parts parts_of_engine = {.device = &run->device_options,
                                              .tables = run->tables,
                                              .models = ics_world_hit_models(&world),
                                              .batch_photons = run->config->graph.batch,
                                              .least_beta = run->warnings.inputs.least_beta,
                                              .loop = to_loop};
    ICS_TRY(ics_engine_create(&parts_of_engine, &run->engine, error));
    if (run->loop.compiler_began > 0.0) {
        run->loop.compiler_seconds = ics_clock_seconds() - run->loop.compiler_began;
        run->log.events.progress.idle += run->loop.compiler_seconds;
    }
    return ICESTREAM_OK;
}

static int start_workers(ics_run_state *run, icestream_error *error)
{
    run->common.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (run->common.wake < 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot make an event descriptor: %s",
                             strerror(errno));
    }
    ICS_TRY(ics_run_loop_open(run, error));
    const ics_post to_loop = {.post = ics_workers_mailbox_post, .user = run->loop.mailbox};
    ICS_TRY(create_engine(run, to_loop, error));
    run->engine->owner = ics_run_propagate_owner(run);
    run->device = run->engine->device;
    ics_device_facts facts;
    ics_device_facts_of(run->device, &facts);
    run->common.makers = ics_world_makers(&facts);
    run->common.maths = ics_run_may_mix_maths(run->config) ? ICS_MATHS_MIXED : facts.maths;
    run->shape = choose_shape(run);
    run->common.budget.limit = run->shape.hit_memory;
    ics_engine_allow_more(run->engine, (int32_t)run->shape.filling + BATCHES_WITH_WRITERS);
    const uint32_t batches = (uint32_t)run->engine->credits;
    run->units.open_limit = batches + run->shape.readers;
    /* With small files every batch may belong to another open unit. Queues have room for all. */
    ICS_TRY(ics_workers_create("reader", run->shape.readers, run->units.open_limit, NULL, to_loop,
                               &run->jobs.readers, error));
    ICS_TRY(ics_workers_create("io", 1, run->units.open_limit + IO_MORE, NULL, to_loop,
                               &run->jobs.io, error));
    return start_writers(run, to_loop, error);
}

static int open_listener(ics_run_state *run, icestream_error *error)
{
    const ics_metrics_listener_options options = {
        .address = run->config->metrics.listen,
        .token_file = run->config->metrics.token,
        .about = {.worker = run->common.worker, .configuration = run->config->path}};
    if (options.address != NULL &&
        ics_metrics_listener_create(&options, &run->measures.listener, error) != ICESTREAM_OK) {
        return ics_config_blame(run->config, "metrics.listen", error);
    }
    return ICESTREAM_OK;
}

int ics_run_setup(ics_run_state *run, icestream_error *error)
{
    STAILQ_INIT(&run->units.complete);
    STAILQ_INIT(&run->units.ending);
    STAILQ_INIT(&run->commands.programs);
    run->common.config = run->config;
    run->common.options = run->options;
    run->common.wake = run->clients.lock = -1;
    atomic_init(&run->common.budget.used, 0);
    atomic_init(&run->common.stop, false);
    atomic_init(&run->common.cancel, false);

    run->loop.parts = parts;
    run->loop.part_count = sizeof parts / sizeof *parts;

    ICS_TRY(ics_run_own_outputs_check(run, error));
    ICS_TRY(ics_config_table_refuse(run->config, "run", error));
    ICS_TRY(ics_device_options_from_config(run->config, &run->device_options, error));
    run->wake = ics_device_wake_begin(&run->device_options);
    for (ics_user_program program = 0; program < ICS_PROGRAMS; ++program) {
        ICS_TRY(ics_config_find_program(run->config, program, &run->programs[program], error));
    }
    ICS_TRY(ics_inputs_plan(run->config, &run->inputs, error));
    ICS_TRY(load_world(run, error));
    ICS_TRY(check_streams(run, error));
    ICS_TRY(plan_outputs(run, error));
    ICS_TRY(ics_run_generated_plan(run, error));
    if (run->options->resume && !run->options->force && run->common.sink->files) {
        ICS_TRY(ics_run_check_settings(run, error));
    }
    if (!run->options->force && run->config->sink.checkpoint > 0.0) {
        ICS_TRY(ics_run_check_checkpoints(run, error));
    }
    ICS_TRY(ics_run_fetch_open(run, error));
    create_units(run);
    ICS_TRY(open_records(run, error));
    ICS_TRY(ics_run_summary_open(run, error));
    ICS_TRY(start_workers(run, error));
    ICS_TRY(ics_run_find_merged(run, error));
    ICS_TRY(ics_run_clients_open(run, error));
    ICS_TRY(ics_run_intake_open(run, error));
    ICS_TRY(open_listener(run, error));
    return run->options->resume && run->common.sink->files ? ics_run_check_maths(run, error)
                                                           : ICESTREAM_OK;
}

static void close_report(ics_run_state *run, ics_report_file *file)
{
    icestream_error why = {.status = ICESTREAM_OK};
    ics_report_file_close(file, &why);
    if (why.status != ICESTREAM_OK) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", why.text);
    }
}

void ics_run_teardown(ics_run_state *run)
{
    ics_workers_destroy(run->jobs.readers);
    for (uint32_t i = 0; i < ICS_RUN_WRITERS; ++i) {
        ics_workers_destroy(run->jobs.writers[i]);
    }
    ics_workers_destroy(run->jobs.io);
    ics_metrics_listener_destroy(run->measures.listener);
    ics_device_wake_end(run->wake);
    ics_engine_destroy(run->engine);
    ics_run_loop_close(run);
    while (run->units.first != NULL) {
        ics_unit *next = run->units.first->next;
        ics_unit_destroy(run->units.first);
        run->units.first = next;
    }
    if (run->common.wake >= 0) {
        close(run->common.wake);
    }
    ics_known_hits_destroy(run->common.known);
    ics_run_command_destroy(run);
    ics_run_fetch_destroy(run);
    ics_run_intake_destroy(run);
    ics_run_own_outputs_destroy(run);
    ics_run_clients_destroy(run);
    close_report(run, &run->summary_file);
    close_report(run, &run->metrics_file);
    if (run->common.journal != NULL) {
        ics_journal_destroy(run->journal.journal);
        pthread_mutex_destroy(&run->journal.lock);
    }
    free(run->common.quarantine);
    free(run->common.keep_steps);
    for (ics_user_program program = 0; program < ICS_PROGRAMS; ++program) {
        free(run->programs[program]);
    }
    json_decref(run->common.light);
    json_decref(run->common.origin.settings);
    ics_tables_destroy(run->tables);
    ics_run_warnings_destroy(run);
    ics_models_destroy(run->models);
    ics_inputs_free(&run->inputs);
}
