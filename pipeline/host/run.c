/* is_run: step files through the device to hit files. */
#include "pipeline/error.h"
#include "pipeline/host/run_state.h"
#include "pipeline/models/ice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static void announce(is_run_state *run)
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
    is_run_say(run, IS_EVENT_MESSAGE, "icestream %s: %s, ice %s%s, detector %s (%zu modules)",
               IS_VERSION, source, run->models->medium->name,
               is_medium_features_text(run->models->medium, text, sizeof text),
               run->models->detector->name, run->models->detector->module_count);
    /* A reason that is a warning is told as one. */
    const char *reason = run->device_options.warn ? "" : run->device_options.reason;
    is_run_say(run, IS_EVENT_MESSAGE, "device: %s%s%s%s",
               is_device_text(run->device, text, sizeof text), reason[0] != '\0' ? " (" : "",
               reason, reason[0] != '\0' ? ")" : "");
    is_run_tell_news(run);
}

static void report(is_run_state *run)
{
    double seconds = is_seconds() - run->events.progress.start;
    double photons = (double)run->account.created;
    char photon_text[32], hit_text[32], electron_text[32], rate_text[32];
    char electrons[64] = "";
    if (run->common.content != NULL) {
        snprintf(electrons, sizeof electrons, ", %s photo-electrons",
                 is_count_text((double)run->account.photo_electrons, electron_text));
    }
    is_run_say(run, IS_EVENT_MESSAGE,
               "%zu file%s done, %zu skipped, %zu set aside, %zu left: %s photons, %s hits%s in "
               "%.2f s, %s photons/s (%.3g ns per photon)",
               is_run_count(run, IS_UNIT_DONE), is_run_count(run, IS_UNIT_DONE) == 1 ? "" : "s",
               is_run_count(run, IS_UNIT_SKIPPED), is_run_count(run, IS_UNIT_SET_ASIDE),
               is_run_unfinished(run), is_count_text(photons, photon_text),
               is_count_text((double)run->account.hits, hit_text), electrons, seconds,
               is_count_text(seconds > 0.0 ? photons / seconds : 0.0, rate_text),
               photons > 0.0 ? 1e9 * seconds / photons : 0.0);
}

/* Names of workers are names of folders; two living processes have different ones. */
static void name_worker(is_run_state *run)
{
    char host[64] = "host";
    if (run->config->source.worker != NULL) {
        snprintf(run->worker, sizeof run->worker, "%s", run->config->source.worker);
        return;
    }
    gethostname(host, sizeof host - 1);
    snprintf(run->worker, sizeof run->worker, "%s-%ld-%llx", host, (long)getpid(),
             (unsigned long long)(1e3 * is_event_now()));
}

/* Eight digits of the worker's name, so that names of files stay short. */
static void name_writer(is_run_state *run)
{
    uint32_t hash = 2166136261u; /* FNV-1a: different for different workers is all it has to be */
    for (const char *at = run->worker; *at != '\0'; ++at) {
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    snprintf(run->writer, sizeof run->writer, "%08x", hash);
    run->common.writer = run->writer;
}

int is_run(const is_config *config, const is_run_options *options, is_error *error)
{
    is_run_state *run = calloc(1, sizeof *run);
    is_error *result = calloc(1, sizeof *result);
    if (run == NULL || result == NULL) {
        free(run);
        free(result);
        return is_error_set(error, IS_E_MEMORY, "out of memory for a run");
    }
    run->config = config;
    run->options = options;
    name_worker(run);
    name_writer(run);
    run->start_time = is_event_now();
    run->events = is_events_begin(options->quiet ? NULL : options->progress,
                                  options->log_json ? IS_LOG_JSON : IS_LOG_TEXT, run->worker);
    int status = is_run_setup(run, result);
    if (status == IS_OK) {
        announce(run);
        status = is_run_loop(run, result);
        report(run);
        is_error late = {.status = IS_OK};
        if (is_run_summary(run, result, &late) != IS_OK) {
            /* A run whose only fault is the summary is an output error. */
            status = is_error_add(result, late.status, "%s", late.text);
        }
        is_run_tell_stop(run, result);
        is_run_publish_last(run);
    }
    is_run_teardown(run);
    free(run);
    is_error_copy(error, result);
    free(result);
    return status;
}
