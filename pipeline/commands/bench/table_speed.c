#include "pipeline/commands/bench/table_speed.h"

#include "base/error.h"
#include "base/plural.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/tabulate/tabulate.h"
#include "pipeline/photons/config/table.h"

#include <inttypes.h>
#include <jansson.h>

static const char *const headings[] = {"table",     "samples/photon", "bounces/photon", "time (s)",
                                       "ns/photon", "ns/sample",      "samples/s"};
enum { COLUMNS = sizeof headings / sizeof *headings };

static const char *coordinates(const icestream_config *config)
{
    return ics_config_tabulate(config) == ICS_TABULATE_CUSTOM ? "custom" : config->stages.tabulate;
}

static double ratio(double value, double divisor)
{
    return divisor > 0 ? value / divisor : 0;
}

static int print_text(const ics_bench *bench, const ics_tabulate_speed *speed, FILE *out,
                      icestream_error *error)
{
    const double photons = (double)speed->photons, samples = (double)speed->samples;
    fprintf(out,
            "%" PRIu64 " photons in %zu step%s of %s, into %" PRIu64
            " cells, on %s; best of %" PRIu32 "\n\n",
            speed->photons, speed->steps, ics_plural_s(speed->steps), speed->origin, speed->cells,
            speed->device, bench->repeats);
    ics_report *report = ics_report_create(headings, COLUMNS);
    ics_report_cell(report, "%s", coordinates(bench->config));
    ics_report_cell(report, "%.1f", ratio(samples, photons));
    ics_report_cell(report, "%.2f", ratio((double)speed->bounces, photons));
    ics_report_cell(report, "%.4g", speed->seconds);
    ics_report_cell(report, "%.4g", ratio(1e9 * speed->seconds, photons));
    ics_report_cell(report, "%.4g", ratio(1e9 * speed->seconds, samples));
    ics_report_cell(report, "%.3e", ratio(samples, speed->seconds));
    int status = ics_report_print(report, bench->options->markdown, 0, out, error);
    ics_report_destroy(report);
    return status == ICESTREAM_OK ? ics_report_end("bench", out, error) : status;
}

static int print_json(const ics_bench *bench, const ics_tabulate_speed *speed, FILE *out,
                      icestream_error *error)
{
    json_t *gpu = speed->on_gpu ? json_pack("{s:s}", "device", speed->name) : json_null();
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:o}", "name", "table", "coordinates",
                  coordinates(bench->config), "device", speed->device, "cells",
                  (json_int_t)speed->cells, "samples", (json_int_t)speed->samples, "bounces",
                  (json_int_t)speed->bounces, "seconds", speed->seconds, "samples_per_second",
                  ratio((double)speed->samples, speed->seconds), "gpu", gpu);
    return ics_report_json("bench",
                           json_pack("{s:s, s:I, s:I, s:I, s:[o]}", "steps_from", speed->origin,
                                     "steps", (json_int_t)speed->steps, "photons",
                                     (json_int_t)speed->photons, "best_of",
                                     (json_int_t)bench->repeats, "rows", row),
                           out, error);
}

int ics_bench_table(const ics_bench *bench, FILE *out, icestream_error *error)
{
    const icestream_bench_options *options = bench->options;
    ics_tabulate_speed speed;
    if (options->schedules != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "bench: found --schedules, which is about schedules that record hits, "
                             "and stages.tabulate, whose table has one kernel; expected no "
                             "--schedules, or --set stages.tabulate=none");
    }
    if (options->against != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "bench: found --against, which compares schedules that record hits, "
                             "and stages.tabulate; expected one of them");
    }
    ICS_TRY(ics_tabulate_measure(bench->config, options->files, options->once ? 0 : bench->repeats,
                                 options->progress, &speed, error));
    return options->json ? print_json(bench, &speed, out, error)
                         : print_text(bench, &speed, out, error);
}
