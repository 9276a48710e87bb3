#include "pipeline/production/run/summary.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "base/new.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/production/run/exit_status.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/warnings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The key photo_electrons is missing if the run makes no photo-electrons: 0 would look like a
 * result. */
static json_t *account_json(const ics_unit_common *common, const icestream_account *account)
{
    json_t *object = ics_new_made(json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "created", (json_int_t)account->created, "absorbed",
        (json_int_t)account->absorbed, "detected", (json_int_t)account->detected, "left",
        (json_int_t)account->left, "stopped", (json_int_t)account->stopped, "hits",
        (json_int_t)account->hits, "bounces", (json_int_t)account->bounces));
    if (common->content != NULL) {
        ics_new_member(object, "photo_electrons",
                       json_integer((json_int_t)account->photo_electrons));
    }
    return object;
}

/* What checkpoints of earlier runs had. */
static json_t *taken_over_json(const icestream_account *account)
{
    return json_pack("{s:I, s:I}", "photons", (json_int_t)account->created, "hits",
                     (json_int_t)account->hits);
}

/* Keys that do not apply are null ("o?" and "s?"). */
static json_t *unit_json(const ics_unit *unit)
{
    bool done = unit->result == ICS_RESULT_DONE || unit->result == ICS_RESULT_UNDELIVERED;
    /* Of generated steps that were not made again, the numbers are estimates. */
    bool skipped = unit->result == ICS_RESULT_SKIPPED;
    bool read = done || (skipped && !unit->input->source->makes);
    return json_pack("{s:o, s:o?, s:s, s:o?, s:o?, s:s?, s:o?, s:s?, s:o?, s:o?}", "input",
                     ics_json_text(unit->name), "output", ics_json_text(unit->output), "status",
                     ics_unit_rules_result_text(unit->result), "steps",
                     read ? json_integer((json_int_t)unit->summary.rows) : NULL, "photons",
                     read ? json_integer((json_int_t)unit->summary.photons) : NULL, "input_digest",
                     done || skipped ? unit->summary.digest : NULL, "account",
                     done ? account_json(unit->common, &unit->account) : NULL, "math",
                     done ? ics_metadata_maths_name(unit->maths) : NULL, "taken_over",
                     unit->taken_over.created > 0 ? taken_over_json(&unit->taken_over) : NULL,
                     "error", ics_json_text(unit->refusal));
}

/* The sum of the weights of the hits that this run computed; null if they became waveforms. */
static json_t *weights_json(const ics_run_state *run)
{
    const ics_weight_estimate all = ics_weight_sum_estimate(&run->engine->sums.weights);
    return run->config->sink.hits == ICS_CONTENT_WAVEFORMS
               ? json_null()
               : json_pack("{s:f, s:f, s:f}", "sum", all.sum, "error", all.error, "effective",
                           all.effective);
}

/* Null if files are claimed, because their number has no limit: the journal has them. */
static json_t *files_json(const ics_run_state *run)
{
    if (run->units.forgets) {
        return json_null();
    }
    json_t *files = ics_new_made(json_array());
    for (const ics_unit *unit = run->units.first; unit != NULL; unit = unit->next) {
        if (unit->result != ICS_RESULT_ABSENT) {
            ics_new_item(files, unit_json(unit));
        }
    }
    return files;
}

static json_t *speed_json(const ics_run_state *run)
{
    double seconds = ics_clock_seconds() - run->log.events.progress.start;
    double photons = (double)run->engine->sums.account.created;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    double running = ics_clock_seconds() - run->loop.start;
    return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "seconds", seconds,
                     "seconds_running", running, "seconds_computing", run->engine->sums.seconds,
                     "loop_cpu_seconds", run->loop.cpu_seconds, "photons_per_second",
                     seconds > 0.0 ? photons / seconds : 0.0, "photons_per_second_running",
                     running > 0.0 ? photons / running : 0.0, "ns_per_photon",
                     photons > 0.0 ? 1e9 * seconds / photons : 0.0, "thread_ns_per_photon",
                     photons > 0.0 ? 1e9 * run->engine->sums.seconds / photons : 0.0,
                     "peak_memory_bytes", (json_int_t)usage.ru_maxrss * 1024);
}

/* Makes an array of texts from lines. */
static json_t *lines_json(const char *lines)
{
    json_t *array = ics_new_made(json_array());
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        char *line = ics_new_text("%.*s", (int)length, lines);
        ics_new_item(array, ics_json_text(line));
        free(line);
        lines += length + (lines[length] == '\n');
    }
    return array;
}

/* The settings and the work of the GPU; null on a CPU. */
static json_t *gpu_json(const ics_run_state *run, const ics_device_facts *facts)
{
    const ics_gpu_options *options = &facts->gpu;
    const ics_gpu_usage *usage = &facts->usage;
    double photons = (double)run->engine->sums.account.created;
    if (!facts->is_gpu && usage->launches == 0) {
        return json_null();
    }
    return json_pack(
        "{s:i,s:s,s:I,s:I,s:I,s:I,s:b,s:I,s:I,s:I,s:I,s:f,s:o?,s:I,s:I,s:I,s:I,s:f}", "index",
        options->ordinal, "math", options->math == ICS_MATH_PORTABLE ? "portable" : "fast", "lanes",
        (json_int_t)options->lanes, "block", (json_int_t)options->block, "blocks_per_processor",
        (json_int_t)options->blocks_per_processor, "bounces_per_wave",
        (json_int_t)options->bounces_per_wave, "join", (int)options->join, "refill",
        (json_int_t)options->refill, "hits", (json_int_t)options->hits, "batch_steps",
        (json_int_t)options->batch_emissions, "batch_photons", (json_int_t)options->batch_photons,
        "kernel_seconds", usage->seconds, "kernel_ns_per_photon",
        facts->is_gpu && photons > 0.0 ? json_real(1e9 * usage->seconds / photons) : NULL,
        "launches", (json_int_t)usage->launches, "waves", (json_int_t)usage->waves, "device_bytes",
        (json_int_t)usage->device_bytes, "downloaded_bytes", (json_int_t)usage->downloaded_bytes,
        "trial_seconds", usage->trial_seconds);
}

/* The work of each device. */
static json_t *members_json(const ics_run_state *run)
{
    json_t *members = ics_new_made(json_array());
    ics_device_member_facts facts;
    for (uint32_t i = 0; ics_device_member_facts_of(run->device, i, &facts); ++i) {
        ics_new_item(members,
                     json_pack("{s:o, s:o?, s:b, s:I, s:I, s:f}", "name", ics_json_text(facts.name),
                               "index", facts.is_gpu ? json_integer(facts.ordinal) : NULL, "alive",
                               facts.alive, "batches", (json_int_t)facts.batches, "photons",
                               (json_int_t)facts.photons, "seconds_busy", facts.seconds));
    }
    return members;
}

static json_t *device_json(const ics_run_state *run)
{
    ics_device_facts facts;
    ics_device_notes notes;
    ics_device_facts_of(run->device, &facts);
    ics_device_notes_of(run->device, &notes);
    const char *reason = run->device_options.reason;
    return json_pack("{s:s, s:o, s:o?, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "backend",
                     facts.is_gpu ? "cuda" : "cpu", "name", ics_json_text(facts.first_name),
                     "reason", reason[0] != '\0' ? ics_json_text(reason) : NULL, "schedule",
                     ics_graph_schedule_name(facts.schedule), "instruction_set",
                     facts.instruction_set, "threads", (json_int_t)facts.threads, "pool",
                     (json_int_t)facts.pool, "gpu", gpu_json(run, &facts), "members",
                     members_json(run), "choice", lines_json(notes.choice), "warnings",
                     lines_json(notes.warnings));
}

static json_t *summary_json(const ics_run_state *run, const icestream_error *result)
{
    const ics_origin *origin = &run->common.origin;
    char seed[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)origin->seed);
    return json_pack(
        "{s:s, s:s, s:o?, s:s, s:i, s:o?, s:s, s:o, "
        "s:{s:s, s:s, s:s}, s:{s:I, s:I, s:I, s:I, s:I, s:I}, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "schema", "icestream.summary", "version", ICESTREAM_VERSION, "configuration",
        ics_json_text(run->config->path), "status", icestream_status_text(result->status),
        "exit_status", ics_run_exit_status(run, result->status), "error",
        result->status != ICESTREAM_OK ? ics_json_text(result->text) : NULL, "seed", seed, "device",
        device_json(run), "digests", "configuration", origin->configuration, "ice", origin->ice,
        "detector", origin->detector, "file_counts", "done",
        (json_int_t)run->units.results[ICS_RESULT_DONE], "skipped",
        (json_int_t)run->units.results[ICS_RESULT_SKIPPED], "set_aside",
        (json_int_t)run->units.results[ICS_RESULT_QUARANTINED], "left",
        (json_int_t)ics_run_left(run), "lost", (json_int_t)run->units.results[ICS_RESULT_LOST],
        "command_failed", (json_int_t)run->units.results[ICS_RESULT_UNDELIVERED], "retries",
        (json_int_t)run->retries.total, "latency", ics_latency_json(&run->units.latency), "account",
        account_json(&run->common, &run->engine->sums.account), "weights", weights_json(run),
        "taken_over", taken_over_json(&run->taken_over), "speed", speed_json(run), "files",
        files_json(run), "warnings", ics_run_warnings_json(run));
}

static int refuse_link(const char *path, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, ELOOP,
                               "%s: found a symbolic link, expected a summary or no file", path);
}

static int write_to_device(const char *path, const char *text, icestream_error *error)
{
    const int descriptor = ics_disk_open_output(path, O_WRONLY);
    if (descriptor < 0 && errno == ELOOP) {
        return refuse_link(path, error);
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool written = file != NULL && fputs(text, file) >= 0;
    if ((file != NULL && fclose(file) != 0) || !written) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot write the summary: %s", path,
                             strerror(errno));
    }
    return ICESTREAM_OK;
}

static int write_to_stdout(const char *text, icestream_error *error)
{
    errno = 0;
    return fputs(text, stdout) >= 0 && fflush(stdout) == 0
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "standard output: cannot write the summary: %s",
                                     strerror(errno));
}

static int write_to_file(const char *path, const char *writer, const char *text,
                         icestream_error *error)
{
    ics_output *output = NULL;
    ICS_TRY(ics_output_create_as(path, writer, true, &output, error));
    int status = ics_output_write(output, text, strlen(text), error);
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    return status;
}

/* A program that reads the summary sees the old or the new one, never a part. Runs that share the
 * folder have different .part files. A path that is not a regular file, such as /dev/null, is
 * written to and not replaced. */
static int write_summary(const char *path, const char *writer, const json_t *summary,
                         icestream_error *error)
{
    struct stat about;
    const bool is_stdout = strcmp(path, "-") == 0;
    const bool replace = lstat(path, &about) != 0 || S_ISREG(about.st_mode);
    ICS_FREES char *json =
        ics_new_made(ics_json_dump(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(9)));
    ICS_FREES char *text = ics_new_text("%s\n", json);
    return is_stdout ? write_to_stdout(text, error)
           : replace ? write_to_file(path, writer, text, error)
                     : write_to_device(path, text, error);
}

/* Logs that a file of this run has another name than the configured one, or may lose it. */
static void report_name(ics_run_state *run, const ics_report_file *file, const char *wanted)
{
    if (file->is_other) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE,
                         "%s: another run writes this file at the moment; this run writes %s",
                         wanted, file->path);
    } else if (file->lock_fault != 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING,
                         "%s: cannot lock %s: %s, so a second run that writes this file would not "
                         "be noticed; give each run its own path",
                         wanted, file->lock_path, strerror(file->lock_fault));
    }
}

static int open_summary(ics_run_state *run, const char *path, icestream_error *error)
{
    if (strcmp(path, "-") == 0) {
        run->summary_file = (ics_report_file){.path = ics_new_copy(path), .lock = -1};
        return !run->common.sink->files
                   ? ics_error_set(error, ICESTREAM_E_USAGE,
                                   "--summary: found -, and sink.directory is \"-\", too; expected "
                                   "standard output for one of them")
                   : ICESTREAM_OK;
    }
    struct stat about;
    ICS_TRY(ics_report_file_open(path, run->common.worker, &run->summary_file, error));
    report_name(run, &run->summary_file, path);
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode) && !ics_disk_is_own_stream(path)
               ? refuse_link(path, error)
               : ics_output_clean_writers(run->summary_file.path, error);
}

int ics_run_summary_open(ics_run_state *run, icestream_error *error)
{
    const char *summary = run->records[ICS_RECORD_SUMMARY];
    const char *metrics = run->records[ICS_RECORD_METRICS];
    if (summary != NULL) {
        ICS_TRY(open_summary(run, summary, error));
    }
    if (metrics != NULL) {
        ICS_TRY(ics_report_file_open(metrics, run->common.worker, &run->metrics_file, error));
        report_name(run, &run->metrics_file, metrics);
    }
    return ICESTREAM_OK;
}

int ics_run_summary(const ics_run_state *run, const icestream_error *result, icestream_error *error)
{
    const char *path = run->summary_file.path;
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    json_auto_t *summary = ics_new_made(summary_json(run, result));
    return write_summary(path, run->common.writer, summary, error);
}
