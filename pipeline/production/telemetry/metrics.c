#include "pipeline/production/telemetry/metrics.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "base/visible_text.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/production/telemetry/event.h"
#include "pipeline/production/telemetry/latency.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void ics_metrics_set_latency(ics_metrics *metrics, const ics_latency *latency)
{
    metrics->latency.count = latency->count;
    metrics->latency.sum = latency->sum;
    metrics->latency.p50 = ics_latency_quantile(latency, 0.5);
    metrics->latency.p90 = ics_latency_quantile(latency, 0.9);
    metrics->latency.p99 = ics_latency_quantile(latency, 0.99);
    metrics->latency.max = latency->max;
}

void ics_metrics_add_queue(ics_metrics *metrics, const char *name, uint64_t used, uint64_t limit)
{
    if (metrics->queue_count < ICS_METRICS_QUEUES) {
        ics_metrics_queue *queue = &metrics->queues[metrics->queue_count++];
        *queue = (ics_metrics_queue){.used = used, .limit = limit};
        snprintf(queue->name, sizeof queue->name, "%s", name);
    }
}

void ics_metrics_warn(ics_metrics_warnings *warnings, const char *text)
{
    const size_t at = warnings->total++ % ICS_METRICS_WARNINGS;
    warnings->last[at].time = ics_clock_unix();
    ics_visible_text(text, false, warnings->last[at].text, sizeof warnings->last[at].text);
}

/* ---- the text format ------------------------------------------------------------------------- */

static void put_family(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP icestream_%s %s\n# TYPE icestream_%s %s\n", name, help, name, type);
}

/* Writes a label in UTF-8: a text of other bytes would make the whole page invalid. */
static void put_label(FILE *out, const char *key, const char *value)
{
    char shown[1024];
    fprintf(out, "%s=\"", key);
    for (const char *at = ics_visible_text(value, false, shown, sizeof shown); *at != '\0'; ++at) {
        fputs(*at == '\\' || *at == '"' ? "\\" : "", out);
        fputc(*at, out);
    }
    fputc('"', out);
}

static void put_real(FILE *out, double value)
{
    if (isnan(value)) {
        fputs("NaN\n", out);
    } else if (isinf(value)) {
        fputs(value > 0.0 ? "+Inf\n" : "-Inf\n", out);
    } else {
        fprintf(out, "%.17g\n", value);
    }
}

static void put_whole(FILE *out, const char *name, const char *type, const char *help,
                      uint64_t value)
{
    put_family(out, name, type, help);
    fprintf(out, "icestream_%s %" PRIu64 "\n", name, value);
}

static void put_process(FILE *out, const ics_metrics *metrics)
{
    put_family(out, "build_info", "gauge", "Version of icestream; always 1.");
    fputs("icestream_build_info{", out);
    put_label(out, "version", ICESTREAM_VERSION);
    fputs("} 1\n", out);
    put_family(out, "start_time_seconds", "gauge", "When the run was started, since 1970.");
    fputs("icestream_start_time_seconds ", out);
    put_real(out, metrics->start_time);
    put_whole(out, "paused", "gauge", "1 while the run waits for room on a disk.",
              metrics->paused ? 1 : 0);
    put_whole(out, "photons_total", "counter", "Photons propagated to their end.",
              metrics->photons);
    put_whole(out, "hits_total", "counter", "Hits recorded.", metrics->hits);
    put_whole(out, "bounces_total", "counter", "Segments propagated.", metrics->bounces);
    put_whole(out, "read_bytes_total", "counter", "Bytes of step files read.", metrics->bytes_read);
    put_whole(out, "written_bytes_total", "counter", "Bytes of hit files written.",
              metrics->bytes_written);
    put_whole(out, "retries_total", "counter", "File operations that were tried again.",
              metrics->retries);
    put_whole(out, "warnings_total", "counter", "Warnings, and files and devices that failed.",
              metrics->warnings.total);
}

static void put_account(FILE *out, const ics_metrics *metrics)
{
    const struct {
        const char *end;
        uint64_t count;
    } ends[] = {{"absorbed", metrics->absorbed},
                {"detected", metrics->detected},
                {"left", metrics->left},
                {"stopped", metrics->stopped}};
    put_family(out, "photon_ends_total", "counter", "Photons by how they ended.");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
        fprintf(out, "icestream_photon_ends_total{end=\"%s\"} %" PRIu64 "\n", ends[i].end,
                ends[i].count);
    }
}

static void put_files(FILE *out, const ics_metrics *metrics)
{
    const struct {
        const char *result;
        uint64_t count;
    } ends[] = {{"done", metrics->files_done},
                {"skipped", metrics->files_skipped},
                {"quarantined", metrics->files_quarantined},
                {"failed", metrics->files_failed}};
    put_whole(out, "files_taken_total", "counter", "Step files accepted.", metrics->files_taken);
    put_family(out, "files_total", "counter", "Step files by how they ended.");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
        fprintf(out, "icestream_files_total{result=\"%s\"} %" PRIu64 "\n", ends[i].result,
                ends[i].count);
    }
    put_whole(out, "files_waiting", "gauge", "Step files that are known and not begun.",
              metrics->files_waiting);
    put_whole(out, "files_claimed", "gauge", "Step files that this process holds now.",
              metrics->files_claimed);
}

static void put_latency(FILE *out, const ics_metrics *metrics)
{
    static const char name[] = "file_latency_seconds";
    bool any = metrics->latency.count > 0;
    const struct {
        const char *share;
        double seconds;
    } quantiles[] = {{"0.5", metrics->latency.p50},
                     {"0.9", metrics->latency.p90},
                     {"0.99", metrics->latency.p99}};
    put_family(out, name, "summary", "From a step file's arrival to the commit of its hits.");
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; ++i) {
        fprintf(out, "icestream_%s{quantile=\"%s\"} ", name, quantiles[i].share);
        put_real(out, any ? quantiles[i].seconds : NAN);
    }
    fprintf(out, "icestream_%s_sum ", name);
    put_real(out, metrics->latency.sum);
    fprintf(out, "icestream_%s_count %" PRIu64 "\n", name, metrics->latency.count);
    put_family(out, "file_latency_max_seconds", "gauge", "The longest of these.");
    fputs("icestream_file_latency_max_seconds ", out);
    put_real(out, metrics->latency.max);
}

static void put_device_labels(FILE *out, const char *name, const ics_metrics_device *device)
{
    fprintf(out, "icestream_%s{", name);
    put_label(out, "device", device->id);
    fputc(',', out);
    put_label(out, "name", device->name);
    fputs("} ", out);
}

static void put_devices(FILE *out, const ics_metrics *metrics)
{
    size_t count = metrics->device_count;
    if (count == 0) {
        return;
    }
    put_family(out, "device_photons_total", "counter", "Photons that a device propagated.");
    for (size_t i = 0; i < count; ++i) {
        put_device_labels(out, "device_photons_total", &metrics->devices[i]);
        fprintf(out, "%" PRIu64 "\n", metrics->devices[i].photons);
    }
    put_family(out, "device_busy_seconds_total", "counter", "Time that a device computed.");
    for (size_t i = 0; i < count; ++i) {
        put_device_labels(out, "device_busy_seconds_total", &metrics->devices[i]);
        put_real(out, metrics->devices[i].seconds_busy);
    }
    put_family(out, "device_up", "gauge", "1 while a device takes part, 0 after it was lost.");
    for (size_t i = 0; i < count; ++i) {
        put_device_labels(out, "device_up", &metrics->devices[i]);
        fprintf(out, "%d\n", metrics->devices[i].alive ? 1 : 0);
    }
}

static void put_queues(FILE *out, const ics_metrics *metrics)
{
    const struct {
        const char *name, *help;
    } families[] = {{"queue_entries", "Entries that wait in a queue."},
                    {"queue_limit_entries", "Entries that a queue can hold."}};
    for (size_t i = 0; metrics->queue_count > 0 && i < 2; ++i) {
        put_family(out, families[i].name, "gauge", families[i].help);
        for (size_t j = 0; j < metrics->queue_count; ++j) {
            const ics_metrics_queue *queue = &metrics->queues[j];
            fprintf(out, "icestream_%s{", families[i].name);
            put_label(out, "queue", queue->name);
            fprintf(out, "} %" PRIu64 "\n", i == 0 ? queue->used : queue->limit);
        }
    }
}

static void put_all(FILE *out, const ics_metrics *metrics)
{
    put_process(out, metrics);
    put_account(out, metrics);
    put_files(out, metrics);
    put_latency(out, metrics);
    put_devices(out, metrics);
    put_queues(out, metrics);
}

/* Writes the samples again with the worker as their first label, and other lines as they are. */
static void put_with_worker(FILE *out, const char *text, const char *worker)
{
    for (const char *line = text, *end; *line != '\0'; line = end) {
        const size_t name = *line != '#' ? strcspn(line, "{ ") : 0;
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        fprintf(out, "%.*s", (int)name, line);
        if (name > 0) {
            fputc('{', out);
            put_label(out, "worker", worker);
            fputs(line[name] == '{' ? "," : "}", out);
        }
        line += name + (line[name] == '{');
        fprintf(out, "%.*s", (int)(end - line), line);
    }
}

/* Closes a text that grew in memory. */
static void finish(FILE *out)
{
    const bool is_whole = ferror(out) == 0;
    if (fclose(out) != 0 || !is_whole) {
        ics_new_made(NULL);
    }
}

char *ics_metrics_text(const ics_metrics *metrics, size_t *size)
{
    char *text = NULL, *labelled = NULL;
    FILE *out = ics_new_made(open_memstream(&text, size));
    put_all(out, metrics);
    finish(out);
    if (metrics->worker[0] == '\0') {
        return text;
    }
    out = ics_new_made(open_memstream(&labelled, size));
    put_with_worker(out, text, metrics->worker);
    finish(out);
    free(text);
    return labelled;
}

int ics_metrics_write(const ics_metrics *metrics, const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    size_t size = 0;
    ICS_FREES char *text = ics_metrics_text(metrics, &size);
    ICS_TRY(ics_output_create(path, true, &output, error));
    ICS_TRY(ics_output_write(output, text, size, error));
    return ics_output_commit(output, error);
}

/* ---- samples --------------------------------------------------------------------------------- */

bool ics_metrics_sample_is_due(double *last, double seconds)
{
    enum { PART = 60 };
    const double early = 0.1; /* s, by which a timer of one second may be early */
    const double part = seconds / PART;
    if (seconds - *last < (part > 1.0 ? part : 1.0) - early) {
        return false;
    }
    *last = seconds;
    return true;
}

void ics_metrics_sample(const ics_metrics *metrics, double seconds, ics_event *out)
{
    json_t *devices = json_object(), *queues = json_object();
    for (size_t i = 0; i < metrics->device_count; ++i) {
        const ics_metrics_device *device = &metrics->devices[i];
        json_object_set_new(devices, device->id, json_integer((json_int_t)device->photons));
    }
    for (size_t i = 0; i < metrics->queue_count; ++i) {
        const ics_metrics_queue *queue = &metrics->queues[i];
        json_object_set_new(queues, queue->name,
                            json_pack("[I, I]", (json_int_t)queue->used, (json_int_t)queue->limit));
    }
    *out = (ics_event){.kind = ICS_EVENT_SAMPLE,
                       .photons = metrics->photons,
                       .hits = metrics->hits,
                       .files = metrics->files_done + metrics->files_skipped,
                       .seconds = seconds,
                       .more = json_pack("{s:o, s:o}", "devices", devices, "queues", queues)};
}
