/* icestream_run: from step files, through the device, to hit files. */
#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "base/plural.h"
#include "base/url.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/production/run/exit_status.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/loop.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/progress.h"
#include "pipeline/production/run/setup.h"
#include "pipeline/production/run/summary.h"
#include "pipeline/production/run/warnings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static void announce(ics_run_state *run)
{
    char source[512];
    if (run->common.intake_folder != NULL) {
        snprintf(source, sizeof source, "%s %.400s", run->intake.watching ? "watching" : "files in",
                 run->common.intake_folder);
    } else {
        snprintf(source, sizeof source, "%zu input%s", run->inputs.count,
                 run->inputs.count == 1 ? "" : "s");
    }
    char text[512];
    ics_run_log_text(
        run, ICS_EVENT_MESSAGE, "icestream %s: %s, ice %s%s, detector %s (%zu module%s)",
        ICESTREAM_VERSION, source, run->models->medium->name,
        ics_ice_features_text(run->models->medium, text, sizeof text), run->models->detector->name,
        run->models->detector->module_count, run->models->detector->module_count == 1 ? "" : "s");
    /* A reason that is a warning is logged by ics_run_log_device. */
    const char *reason = run->device_options.warn ? "" : run->device_options.reason;
    ics_run_log_text(run, ICS_EVENT_MESSAGE, "device: %s%s%s%s",
                     ics_device_text(run->device, text, sizeof text), reason[0] != '\0' ? " (" : "",
                     reason, reason[0] != '\0' ? ")" : "");
    if (run->device_options.unused[0] != '\0') {
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "the CPU does not use keys for a GPU: %s",
                         run->device_options.unused);
    }
    if (run->measures.listener != NULL) {
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "live page of this run: %s",
                         ics_metrics_listener_url(run->measures.listener, text));
    }
    ics_run_log_device(run);
}

/* Logs what was assumed of steps that do not say what their light was made with. */
static void report_assumption(ics_run_state *run)
{
    char text[512];
    if (run->units.no_record > 0) {
        ics_run_log_text(
            run, ICS_EVENT_MESSAGE,
            "%zu of the inputs %s no record of %s light: numbers of photons were taken as those "
            "after thinning for %s, unless a step says that it is not thinned (files.md 2.5)",
            run->units.no_record, run->units.no_record == 1 ? "has" : "have",
            run->units.no_record == 1 ? "its" : "their",
            ics_light_record_assumed(run->common.light, text, sizeof text));
    }
}

/* Logs where the hits are: the hit file of the only input, or the folder. */
static void report_hits(ics_run_state *run)
{
    const size_t *results = run->units.results;
    const char *only = run->inputs.count == 1 ? run->inputs.items[0].output : NULL;
    if (run->common.sink->files && results[ICS_RESULT_DONE] + results[ICS_RESULT_SKIPPED] > 0) {
        char shown[ICS_URL_MOST + 1];
        ics_run_log_text(run, ICS_EVENT_MESSAGE, "hits: %s",
                         run->config->sink.url != NULL ? ics_url_shown(run->config->sink.url, shown)
                         : only != NULL                ? only
                                                       : run->config->sink.directory);
    }
}

static void report(ics_run_state *run)
{
    double seconds = ics_clock_seconds() - run->log.events.progress.start;
    double photons = (double)run->engine->sums.account.created;
    char photon_text[32], hit_text[32], electron_text[32], rate_text[32];
    char electrons[64] = "", commands[96] = "", speed[96] = "", whole[128] = "", idle[96] = "";
    const double waited = run->log.events.progress.idle - run->loop.compiler_seconds;
    const double computing = seconds - run->log.events.progress.idle;
    const size_t undelivered = run->units.results[ICS_RESULT_UNDELIVERED];
    const size_t left = ics_run_command_count_failed(run);
    const char *delivery = ics_config_delivery(run->config);
    if (undelivered > 0) {
        snprintf(commands, sizeof commands, ", %zu with a failed %s", undelivered, delivery);
    } else if (left > 0) {
        snprintf(commands, sizeof commands, " (for %zu only %s has not succeeded)", left, delivery);
    }
    report_assumption(run);
    if (run->taken_over.created > 0) {
        snprintf(whole, sizeof whole, "; with the checkpoint %s photons, %s hits",
                 ics_progress_count_text(photons + (double)run->taken_over.created, photon_text),
                 ics_progress_count_text(
                     (double)(run->engine->sums.account.hits + run->taken_over.hits), hit_text));
    }
    if (run->common.content != NULL) {
        snprintf(electrons, sizeof electrons, ", %s photo-electrons",
                 ics_progress_count_text((double)run->engine->sums.account.photo_electrons,
                                         electron_text));
    }
    if (run->loop.compiler_seconds > 0.0) {
        snprintf(idle, sizeof idle, " (%.3g s of it for the compiler)", run->loop.compiler_seconds);
    } else if (waited >= 1.0) {
        snprintf(idle, sizeof idle, " (%.3g s of it waiting for steps)", waited);
    }
    if (photons > 0.0 && computing > 0.0) {
        const double each = 1e9 * computing / photons; /* ns */
        snprintf(speed, sizeof speed,
                 each < 100.0 ? ", %s photons/s (%.3g ns per photon)"
                              : ", %s photons/s (%.0f ns per photon)",
                 ics_progress_count_text(photons / computing, rate_text), each);
    }
    ics_run_log_text(
        run, ICS_EVENT_MESSAGE,
        "%zu file%s done, %zu skipped, %zu %s, %zu left%s: %s photon%s, %s hit%s%s in "
        "%.2f s%s%s%s",
        run->units.results[ICS_RESULT_DONE], run->units.results[ICS_RESULT_DONE] == 1 ? "" : "s",
        run->units.results[ICS_RESULT_SKIPPED], run->units.results[ICS_RESULT_QUARANTINED],
        run->units.list_refused ? "refused" : "quarantined", ics_run_left(run), commands,
        ics_progress_count_text(photons, photon_text),
        ics_plural_s(run->engine->sums.account.created),
        ics_progress_count_text((double)run->engine->sums.account.hits, hit_text),
        ics_plural_s(run->engine->sums.account.hits), electrons, seconds, idle, speed, whole);
    report_hits(run);
    if (run->engine->sums.account.hits > run->engine->sums.account.undetected &&
        run->config->sink.hits != ICS_CONTENT_WAVEFORMS) {
        char weights[ICS_WEIGHT_TEXT];
        ics_run_log_text(
            run, ICS_EVENT_MESSAGE, "sum of weights: %s",
            ics_weight_estimate_text(ics_weight_sum_estimate(&run->engine->sums.weights), weights));
    }
}

/* The name of a worker is the name of a folder. Two processes that run have different names. */
static void name_worker(ics_run_state *run)
{
    char host[64] = "host";
    if (run->config->source.worker != NULL) {
        snprintf(run->common.worker, sizeof run->common.worker, "%s", run->config->source.worker);
        return;
    }
    gethostname(host, sizeof host - 1);
    snprintf(run->common.worker, sizeof run->common.worker, "%s-%ld-%llx", host, (long)getpid(),
             (unsigned long long)(1e3 * ics_clock_unix()));
}

/* Makes eight digits from the name of the worker, so that names of files stay short. */
static void name_writer(ics_run_state *run)
{
    uint32_t hash = 2166136261u; /* FNV-1a: it only needs to differ between workers */
    for (const char *at = run->common.worker; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    snprintf(run->common.writer, sizeof run->common.writer, "%08x", hash);
}

int icestream_run(const icestream_config *config, const icestream_run_options *options,
                  icestream_error *error)
{
    ics_run_state *run = ICS_NEW(ics_run_state);
    icestream_error *result = ICS_NEW(icestream_error);
    run->config = config;
    run->options = options;
    name_worker(run);
    name_writer(run);
    run->start_time = ics_clock_unix();
    run->log.events = ics_events_begin(
        options->progress, options->log_json ? ICS_LOG_JSON : ICS_LOG_TEXT, run->common.worker);
    if (options->quiet) {
        /* The error of a run that claims files does not repeat why they were refused. */
        ics_events_hush(&run->log.events, config->source.directory != NULL);
    }
    int status = ics_run_setup(run, result);
    if (status == ICESTREAM_OK) {
        announce(run);
        ics_run_loop_run(run);
        ics_run_intake_count_left(run);
        status = ics_run_decide_status(run, result);
        report(run);
        ics_run_warnings_check_results(run);
        icestream_error late = {.status = ICESTREAM_OK};
        if (ics_run_summary(run, result, &late) != ICESTREAM_OK) {
            /* A run whose only fault is the summary is an output error. */
            status = ics_error_add(result, late.status, "%s", late.text);
        }
        ics_run_progress_sample(run, true);
        ics_run_log_stop(run, result);
        ics_run_progress_publish_last(run, ics_run_exit_status(run, result->status));
    }
    ics_run_teardown(run);
    free(run);
    ics_error_copy(error, result);
    free(result);
    return status;
}
