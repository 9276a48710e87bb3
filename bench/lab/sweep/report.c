#include "bench/lab/sweep/report.h"

#include "pipeline/commands/measure/report.h"

#include <inttypes.h>

/* The grid. A limit of registers says how many blocks fit, so it is the second axis: 32 registers
 * leave room for all 2048 threads of a multiprocessor, and 128 for a quarter of them. */
static const uint32_t threads[] = {64, 128, 192, 256, 320, 512};
static const uint32_t registers[] = {32, 40, 48, 56, 64, 80, 96, 128};

size_t ics_sweep_grid(ics_tuned_kernel kernel, const ics_tune *tune, ics_kernel_tune *points)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; ++i) {
        for (size_t k = 0; k < sizeof registers / sizeof *registers; ++k) {
            const ics_kernel_tune one = {.threads = threads[i],
                                         .blocks =
                                             ics_tune_fitting_blocks(threads[i], registers[k]),
                                         .registers = registers[k]};
            ics_tune with = *tune;
            with.kernels[kernel] = one;
            char reason[256];
            if (one.blocks > 0 && ics_tune_fits(kernel, &one, 0, reason, sizeof reason) &&
                ics_tune_common_multiple(&with) <= ICS_TUNE_MULTIPLE_MAX) {
                points[count++] = one;
            }
        }
    }
    return count;
}

void ics_sweep_compare(ics_sweep *sweep)
{
    double configured = 0;
    for (size_t i = 0; i < sweep->count; ++i) {
        ics_sweep_row *row = &sweep->rows[i];
        configured = row->kernel == ICS_TUNED_COUNT ? row->photon_cost : configured;
        row->ratio = configured > 0 ? row->photon_cost / configured : 0;
    }
}

const ics_sweep_row *ics_sweep_best(const ics_sweep *sweep, ics_schedule schedule)
{
    const ics_sweep_row *best = NULL;
    for (size_t i = 0; i < sweep->count; ++i) {
        const ics_sweep_row *row = &sweep->rows[i];
        if (row->schedule == schedule &&
            (best == NULL || (row->photon_cost > 0 && row->photon_cost < best->photon_cost))) {
            best = row;
        }
    }
    return best;
}

/* ---- the report ------------------------------------------------------------------------------ */

static const char *kernel_name(const ics_sweep_row *row)
{
    return row->kernel == ICS_TUNED_COUNT ? "as configured" : ics_tune_word(row->kernel);
}

/* Whether a row is the first one of its schedule. */
static bool is_first(const ics_sweep *sweep, size_t index)
{
    return index == 0 || sweep->rows[index - 1].schedule != sweep->rows[index].schedule;
}

static int print_table(const ics_sweep *sweep, bool markdown, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"schedule",  "kernel",    "threads",   "blocks/SM",
                                           "registers", "ns/photon", "ns/bounce", "ratio"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < sweep->count; ++i) {
        const ics_sweep_row *row = &sweep->rows[i];
        ics_report_cell(report, "%s", ics_graph_schedule_name(row->schedule));
        ics_report_cell(report, "%s", kernel_name(row));
        ics_report_number(report, row->settings.threads, 0);
        ics_report_number(report, row->settings.blocks, 0);
        ics_report_number(report, row->settings.registers, 0);
        ics_report_number(report, row->photon_cost, 4);
        ics_report_number(report, row->bounce_cost, 5);
        ics_report_number(report, row->ratio, 3);
    }
    const int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    return status;
}

/* Names the fastest settings of a schedule. */
static void print_best(const ics_sweep_row *best, FILE *out)
{
    const char *schedule = ics_graph_schedule_name(best->schedule);
    if (best->kernel == ICS_TUNED_COUNT) {
        fprintf(out, "best of %s: the configured settings, %.4f ns/photon\n", schedule,
                best->photon_cost);
        return;
    }
    const ics_kernel_tune *one = &best->settings;
    fprintf(out,
            "best of %s: %.4f ns/photon, %.3f of the configured settings, with graph.tune: "
            "{%s: {threads: %" PRIu32 ", blocks_per_multiprocessor: %" PRIu32
            ", registers: %" PRIu32 "}}\n",
            schedule, best->photon_cost, best->ratio, kernel_name(best), one->threads, one->blocks,
            one->registers);
}

int ics_sweep_print(const ics_sweep *sweep, bool markdown, FILE *out, icestream_error *error)
{
    fprintf(out,
            "%" PRIu64 " photons in %zu steps of %s, on %s; best of %" PRIu32
            "; one kernel at a time, the others as configured\n\n",
            sweep->photons, sweep->steps, sweep->origin, sweep->device, sweep->repeats);
    const int status = print_table(sweep, markdown, out, error);
    fputc('\n', out);
    for (size_t i = 0; i < sweep->count; ++i) {
        if (is_first(sweep, i)) {
            print_best(ics_sweep_best(sweep, sweep->rows[i].schedule), out);
        }
    }
    return status == ICESTREAM_OK ? ics_report_end("sweep", out, error) : status;
}

static json_t *row_json(const ics_sweep_row *row)
{
    const bool configured = row->kernel == ICS_TUNED_COUNT;
    return json_pack(
        "{s:s, s:s?, s:o, s:o, s:o, s:f, s:f, s:f}", "schedule",
        ics_graph_schedule_name(row->schedule), "kernel",
        configured ? NULL : ics_tune_word(row->kernel), "threads",
        configured ? json_null() : json_integer(row->settings.threads), "blocks_per_multiprocessor",
        configured ? json_null() : json_integer(row->settings.blocks), "registers",
        configured ? json_null() : json_integer(row->settings.registers), "nanoseconds_per_photon",
        row->photon_cost, "nanoseconds_per_bounce", row->bounce_cost, "ratio", row->ratio);
}

/* Returns the settings of a kernel without those that are left to the default. */
static json_t *settings_json(const ics_kernel_tune *one)
{
    const struct {
        const char *name;
        uint32_t value;
    } members[] = {{"threads", one->threads},
                   {"blocks_per_multiprocessor", one->blocks},
                   {"registers", one->registers}};
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof members / sizeof *members; ++i) {
        if (members[i].value != 0) {
            json_object_set_new(object, members[i].name, json_integer(members[i].value));
        }
    }
    return object;
}

static json_t *tune_json(const ics_sweep *sweep)
{
    ics_tune tune = sweep->configured != NULL ? *sweep->configured : (ics_tune){{{0}}};
    bool has_best[ICS_TUNED_COUNT] = {false};
    json_t *object = json_object();
    for (size_t i = 0; i < sweep->count; ++i) {
        const ics_sweep_row *best = ics_sweep_best(sweep, sweep->rows[i].schedule);
        if (best->kernel != ICS_TUNED_COUNT && !has_best[best->kernel]) {
            tune.kernels[best->kernel] = best->settings;
            has_best[best->kernel] = true;
        }
    }
    for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
        if (ics_tune_is_given(&tune.kernels[i])) {
            json_object_set_new(object, ics_tune_word((ics_tuned_kernel)i),
                                settings_json(&tune.kernels[i]));
        }
    }
    return object;
}

json_t *ics_sweep_json(const ics_sweep *sweep)
{
    json_t *rows = json_array(), *best = json_array();
    for (size_t i = 0; i < sweep->count; ++i) {
        json_array_append_new(rows, row_json(&sweep->rows[i]));
        if (is_first(sweep, i)) {
            json_array_append_new(best, row_json(ics_sweep_best(sweep, sweep->rows[i].schedule)));
        }
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "device", sweep->device,
                     "steps_from", sweep->origin, "steps", (json_int_t)sweep->steps, "photons",
                     (json_int_t)sweep->photons, "best_of", (json_int_t)sweep->repeats, "rows",
                     rows, "best", best, "tune", tune_json(sweep));
}
