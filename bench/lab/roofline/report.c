#include "bench/lab/roofline/report.h"

#include "pipeline/tools/measure/report.h"

#include <inttypes.h>

static const char *const counter_headings[] = {
    "kernel",  "launches", "ms",          "instructions/bounce", "threads of 32",
    "issue %", "busy %",   "L1 B/bounce", "L2 B/bounce",         "HBM B/bounce"};
static const char *const table_headings[] = {
    "kernel",  "launches", "ms",          "instructions/sample", "threads of 32",
    "issue %", "busy %",   "L1 B/sample", "L2 B/sample",         "HBM B/sample"};
static const char *const roof_headings[] = {
    "kernel",           "GIPS",    "roof", "peak", "instructions/L1", "instructions/L2",
    "instructions/HBM", "issue %", "L1 %", "L2 %", "HBM %",           "bound by"};

enum {
    COUNTER_COLUMNS = sizeof counter_headings / sizeof *counter_headings,
    ROOF_COLUMNS = sizeof roof_headings / sizeof *roof_headings
};

static void add_counters(ics_report *report, const ics_roofline_sums *sums, uint64_t divisor)
{
    const ics_roofline_figures figures = ics_roofline_compute(sums, divisor);
    ics_report_cell(report, "%" PRIu64, sums->launches);
    ics_report_cell(report, "%.3f", 1e3 * sums->seconds);
    ics_report_cell(report, "%.1f", figures.instructions_per_bounce);
    ics_report_cell(report, "%.1f", figures.threads);
    ics_report_cell(report, "%.1f", 100 * figures.issue);
    ics_report_cell(report, "%.1f", 100 * figures.busy);
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        ics_report_cell(report, "%.2f", figures.bytes_per_bounce[i]);
    }
}

static void add_roof(ics_report *report, const ics_roofline_sums *sums, uint64_t divisor)
{
    const ics_roofline_figures figures = ics_roofline_compute(sums, divisor);
    ics_report_cell(report, "%.1f", figures.gips);
    ics_report_cell(report, "%.1f", figures.roof_gips);
    ics_report_cell(report, "%.1f", figures.peak_gips);
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        ics_report_number(report, figures.intensity[i], 2);
    }
    ics_report_cell(report, "%.1f", 100 * figures.instruction_share);
    for (int i = 0; i < ICS_ROOFLINE_LEVELS; ++i) {
        ics_report_cell(report, "%.1f", 100 * figures.level_share[i]);
    }
    ics_report_cell(report, "%s", ics_roofline_bound_name(figures.bound));
}

typedef void (*add_function)(ics_report *report, const ics_roofline_sums *sums, uint64_t divisor);

static void add_schedule(ics_report *report, const ics_roofline *one, add_function add)
{
    if (one->count != 1) {
        ics_report_cell(report, "%s", one->name);
        add(report, &one->all, ics_roofline_divisor(one));
    }
    for (size_t i = 0; i < one->count; ++i) {
        ics_report_cell(report, "%s %s", one->name, one->kernels[i].name);
        add(report, &one->kernels[i].sums, ics_roofline_divisor(one));
    }
}

int ics_roofline_print(const ics_roofline *schedules, size_t count, bool markdown, FILE *out,
                       icestream_error *error)
{
    const bool tabulates = count > 0 && schedules[0].samples > 0;
    ics_report *counters =
        ics_report_create(tabulates ? table_headings : counter_headings, COUNTER_COLUMNS);
    ics_report *roofs = ics_report_create(roof_headings, ROOF_COLUMNS);
    for (size_t i = 0; i < count; ++i) {
        add_schedule(counters, &schedules[i], add_counters);
        add_schedule(roofs, &schedules[i], add_roof);
    }
    int status = ics_report_print(counters, markdown, 0, out, error);
    if (status == ICESTREAM_OK) {
        fputc('\n', out);
        status = ics_report_print(roofs, markdown, 0, out, error);
    }
    ics_report_destroy(counters);
    ics_report_destroy(roofs);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *levels_json(const double *values)
{
    return json_pack("{s:f, s:f, s:f}", "l1", values[ICS_ROOFLINE_L1], "l2",
                     values[ICS_ROOFLINE_L2], "hbm", values[ICS_ROOFLINE_HBM]);
}

/* Of the kernel, or of the whole run without a name. */
static json_t *sums_json(const ics_roofline *one, const char *kernel, const ics_roofline_sums *sums)
{
    const ics_roofline_figures figures = ics_roofline_compute(sums, ics_roofline_divisor(one));
    const bool tabulates = one->samples > 0;
    return json_pack(
        "{s:s?, s:I, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:o, s:o, "
        "s:s}",
        "kernel", kernel, "launches", (json_int_t)sums->launches, "seconds", sums->seconds,
        "thread_instructions", sums->thread_instructions, "instructions", sums->instructions,
        "bytes", levels_json(sums->bytes),
        tabulates ? "instructions_per_sample" : "instructions_per_bounce",
        figures.instructions_per_bounce, "active_threads", figures.threads, "issue", figures.issue,
        "busy", figures.busy, tabulates ? "bytes_per_sample" : "bytes_per_bounce",
        levels_json(figures.bytes_per_bounce), "gips", figures.gips, "roof_gips", figures.roof_gips,
        "peak_gips", figures.peak_gips, "instruction_share", figures.instruction_share, "intensity",
        levels_json(figures.intensity), "level_shares", levels_json(figures.level_share), "bound",
        ics_roofline_bound_name(figures.bound));
}

json_t *ics_roofline_json(const ics_roofline *schedules, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; ++i) {
        const ics_roofline *one = &schedules[i];
        json_t *kernels = json_array();
        for (size_t k = 0; k < one->count; ++k) {
            const ics_roofline_kernel *kernel = &one->kernels[k];
            json_array_append_new(kernels, sums_json(one, kernel->name, &kernel->sums));
        }
        json_t *entry = json_pack("{s:s, s:I, s:o, s:o}", "schedule", one->name, "bounces",
                                  (json_int_t)one->bounces, "all", sums_json(one, NULL, &one->all),
                                  "kernels", kernels);
        if (one->samples > 0) {
            json_object_set_new(entry, "samples", json_integer((json_int_t)one->samples));
        }
        json_array_append_new(list, entry);
    }
    return list;
}
