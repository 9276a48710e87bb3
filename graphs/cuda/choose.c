/* schedule: auto. Every candidate computes the first batch of the real input, and the run continues
 * with the fastest one. The rows of graphs/schedule.c name the candidates. */
#include "base/error.h"
#include "graphs/cuda/choice.h"

#include <stdio.h>
#include <string.h>

enum { WARM_UP = 2, MEASURED = 6 }; /* batches */

/* ---- measuring ------------------------------------------------------------------------------- */

/* Computes a batch `times` times and drops the hits. */
static int compute(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, uint32_t times,
                   icestream_error *error)
{
    uint32_t sent = 0, done = 0;
    while (done < times) {
        while (sent < times && sent - done < ics_gpu_credits(gpu)) {
            ICS_TRY(ics_gpu_submit(gpu, emissions, count, NULL, error));
            ++sent;
        }
        ICS_TRY(ics_gpu_advance(gpu, error));
        ics_gpu_result result;
        bool any = false;
        while (ics_gpu_take(gpu, &result)) {
            ics_graph_arrivals_free(&result.arrivals);
            ++done;
            any = true;
        }
        if (!any && done < times) {
            ics_gpu_wait(gpu, 1);
        }
    }
    return ICESTREAM_OK;
}

/* Sets *seconds to the time (s) of a batch. */
static int measure(const ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, double *seconds,
                   icestream_error *error)
{
    ics_gpu *gpu = NULL;
    int status = ics_gpu_create(options, tables, &gpu, error);
    if (status == ICESTREAM_OK) {
        status = compute(gpu, emissions, count, WARM_UP, error);
    }
    if (status == ICESTREAM_OK) {
        ics_gpu_usage before, after;
        ics_gpu_usage_of(gpu, &before);
        status = compute(gpu, emissions, count, MEASURED, error);
        ics_gpu_usage_of(gpu, &after);
        *seconds = (after.seconds - before.seconds) / MEASURED;
    }
    ics_gpu_destroy(gpu);
    return status;
}

/* ---- choosing -------------------------------------------------------------------------------- */

/* A text of a fixed size that lines are added to; what does not fit is left out. */
typedef struct report_text {
    char *text;
    size_t size;
} report_text;

static void report_line(report_text report, const ics_gpu_options *options, const char *result)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    const size_t used = strlen(report.text);
    if (used >= report.size) {
        return;
    }
    snprintf(report.text + used, report.size - used, "%s, pool %u, block %u%s%.0u%s%.0u: %s\n",
             ics_graph_schedule_name(options->schedule), options->pool, options->block,
             schedule->long_visits ? ", bounces per wave " : "",
             schedule->long_visits ? options->bounces_per_wave : 0,
             schedule->has_refill ? ", refill " : "", schedule->has_refill ? options->refill : 0,
             result);
}

/* Measures all candidates. *best: the number of the fastest one. ICESTREAM_E_MEMORY: none fits into
 * the memory. Any other error: the device failed. */
static int measure_all(const ics_choice_request *wanted, const ice_emission *emissions,
                       uint32_t count, report_text report, int *best, icestream_error *error)
{
    uint64_t photons = 0;
    for (uint32_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
    }
    *best = -1;
    double best_seconds = 0;
    int status = ICESTREAM_OK;
    ics_gpu_options tried;
    for (size_t i = 0; ics_choice_candidate(wanted, i, &tried); ++i) {
        if (!ics_schedule_accepts_block(ics_schedule_row(tried.schedule), tried.block)) {
            report_line(report, &tried, "not with blocks of this size");
            continue;
        }
        double seconds = 0;
        status = measure(&tried, wanted->tables, emissions, count, &seconds, error);
        if (status == ICESTREAM_E_MEMORY) {
            report_line(report, &tried, "too little memory");
            continue;
        }
        if (status != ICESTREAM_OK) {
            return status;
        }
        char result[64];
        snprintf(result, sizeof result, "%.3f ns per photon", 1e9 * seconds / (double)photons);
        report_line(report, &tried, result);
        if (*best < 0 || seconds < best_seconds) {
            *best = (int)i;
            best_seconds = seconds;
        }
    }
    if (*best < 0 && status == ICESTREAM_OK) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "no schedule takes blocks of this size");
    }
    return *best < 0 ? status : ICESTREAM_OK;
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    report[0] = '\0';
    const report_text lines = {report, report_size};
    const ics_gpu_options given = *options;
    ics_choice_request wanted = {.options = &given, .tables = tables};
    memset(&wanted.device, 0, sizeof wanted.device); /* the key digests its padding, too */
    ICS_TRY(ics_gpu_describe(options->ordinal, &wanted.device, error));
    wanted.device.memory_free = 0; /* changes from moment to moment */
    char path[4200] = "";
    const bool cached = ics_choice_path(&wanted, path, sizeof path) == 0;
    const int before = cached ? ics_choice_read(path) : -1;
    if (before >= 0 && ics_choice_candidate(&wanted, (size_t)before, options)) {
        report_line(lines, options, "chosen by an earlier run");
        return ICESTREAM_OK;
    }
    int best = -1;
    ICS_TRY(measure_all(&wanted, emissions, count, lines, &best, error));
    (void)ics_choice_candidate(&wanted, (size_t)best, options);
    report_line(lines, options, "chosen");
    if (cached) {
        ics_choice_write(path, best);
    }
    return ICESTREAM_OK;
}
