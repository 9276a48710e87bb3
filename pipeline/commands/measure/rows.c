#include "pipeline/commands/measure/rows.h"

#include "pipeline/commands/measure/report.h"

#include <inttypes.h>
#include <string.h>

enum { STAGE_COUNT = 6 };
static const char *const stage_names[STAGE_COUNT] = {"create",  "propagate", "collide",
                                                     "scatter", "compact",   "other"};

void ics_rows_set_name(ics_row *row)
{
    const char *ran = ics_graph_schedule_name(row->best.schedule);
    if (row->best.automatic) {
        snprintf(row->name, sizeof row->name, "auto (%s)", ran);
    } else {
        snprintf(row->name, sizeof row->name, "%s", ran);
    }
}

/* Returns the share of a stage in the kernel time of the profile (per cent). */
static double stage_share(const ics_row *row, int stage)
{
    double total = 0;
    for (int i = 0; i < STAGE_COUNT; ++i) {
        total += row->stage_seconds[i];
    }
    return total > 0 ? 100 * row->stage_seconds[stage] / total : 0;
}

static const char *code_of(const ics_measurement *m)
{
    if (!m->on_gpu) {
        return m->instruction_set;
    }
    return m->fast_math ? "fast" : "portable";
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Rates differ by many orders of magnitude, so they have four digits wherever the point is. */
static void rate_cell(ics_report *report, double value)
{
    if (value > 0) {
        ics_report_cell(report, "%.4g", value);
    } else {
        ics_report_cell(report, "-");
    }
}

static ics_report *speed_table(const ics_row *const *rows, size_t count)
{
    static const char *const headings[] = {
        "schedule",  "code",      "threads", "seconds",   "median",    "kernel s", "median k.",
        "ns/photon", "photons/s", "bounces", "ns/bounce", "bounces/s", "scaling",  "hits"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < count; ++i) {
        const ics_row *row = rows[i];
        const ics_measurement *m = &row->best;
        ics_report_cell(report, "%s", row->name);
        ics_report_cell(report, "%s", code_of(m));
        ics_report_number(report, m->threads, 0);
        ics_report_number(report, m->seconds, 3);
        ics_report_number(report, row->median_seconds, 3);
        ics_report_number(report, m->gpu.kernel_seconds, 4);
        ics_report_number(report, row->median_kernel_seconds, 4);
        rate_cell(report, ics_experiment_photon_cost(m));
        rate_cell(report, ics_experiment_photon_rate(m));
        ics_report_number(report, ics_experiment_bounces(m), 2);
        rate_cell(report, ics_experiment_bounce_cost(m));
        rate_cell(report, ics_experiment_bounce_rate(m));
        ics_report_number(report, row->scaling, 2);
        ics_report_cell(report, "%" PRIu64, m->account.hits);
    }
    return report;
}

static ics_report *settings_table(const ics_row *const *rows, size_t count)
{
    enum { FIXED = 8 };
    const char *headings[FIXED + STAGE_COUNT] = {"schedule", "pool",      "lanes", "block",
                                                 "per wave", "registers", "MB",    "GB/s"};
    char shares[STAGE_COUNT][24];
    for (int i = 0; i < STAGE_COUNT; ++i) {
        snprintf(shares[i], sizeof shares[i], "%s %%", stage_names[i]);
        headings[FIXED + i] = shares[i];
    }
    ics_report *report = ics_report_create(headings, FIXED + STAGE_COUNT);
    for (size_t i = 0; i < count; ++i) {
        const ics_row *row = rows[i];
        const ics_measurement *m = &row->best;
        const ics_gpu_figures *gpu = &m->gpu;
        if (!m->on_gpu) {
            continue;
        }
        ics_report_cell(report, "%s", row->name);
        ics_report_number(report, m->pool, 0);
        ics_report_number(report, gpu->options.lanes, 0);
        ics_report_number(report, gpu->options.block, 0);
        ics_report_number(report, gpu->options.bounces_per_wave, 0);
        ics_report_number(report, gpu->registers, 0);
        ics_report_number(report, 1e-6 * (double)gpu->device_bytes, 0);
        ics_report_number(report, ics_experiment_traffic(m), 1);
        for (int k = 0; k < STAGE_COUNT; ++k) {
            ics_report_number(report, stage_share(row, k), 1);
        }
    }
    return report;
}

static void print_indented(const char *lines, FILE *out)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        fprintf(out, "  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

/* Prints how auto chose, and the warnings of the devices. Equal warnings are printed once. */
static void print_notes(const ics_row *const *rows, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; ++i) {
        const ics_device_notes *notes = &rows[i]->best.notes;
        bool repeated = false;
        for (size_t k = 0; k < i; ++k) {
            repeated |= strcmp(rows[k]->best.notes.warnings, notes->warnings) == 0;
        }
        if (rows[i]->best.automatic && notes->choice[0] != '\0') {
            fprintf(out, "\n%s was chosen:\n", rows[i]->name);
            print_indented(notes->choice, out);
        }
        if (notes->warnings[0] != '\0' && !repeated) {
            fprintf(out, "\n%s warns:\n", rows[i]->name);
            print_indented(notes->warnings, out);
        }
    }
}

int ics_rows_print(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                   icestream_error *error)
{
    bool cpu = false, gpu = false, profile = false;
    for (size_t i = 0; i < count; ++i) {
        cpu |= !rows[i]->best.on_gpu;
        gpu |= rows[i]->best.on_gpu;
        for (int k = 0; k < STAGE_COUNT; ++k) {
            profile |= rows[i]->stage_seconds[k] > 0;
        }
    }
    ics_report *report = speed_table(rows, count);
    int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    if (status == ICESTREAM_OK && gpu) {
        fputc('\n', out);
        report = settings_table(rows, count);
        status = ics_report_print(report, markdown, 0, out, error);
        ics_report_destroy(report);
    }
    fputs(
        "\nseconds: from the first step given to the device to the sorted hits; bounces: segments "
        "per photon.\n",
        out);
    if (cpu) {
        fputs("CPU: ns/photon and ns/bounce are times of one thread; rates are those of all "
              "threads.\n",
              out);
    }
    if (gpu) {
        fputs(
            "GPU: ns/photon, ns/bounce and rates count the time in which kernels ran. Registers "
            "are those\nof the largest kernel. GB/s is the traffic between pool and processors; - "
            "means that photons stay\nin registers and shared memory.\n",
            out);
    }
    if (profile) {
        fputs(
            "The shares of stages come from another run: of a loop the times of its kernels, of a "
            "schedule\nwith one kernel (icestream-lab stages) the clock cycles of some warps.\n",
            out);
    }
    print_notes(rows, count, out);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *gpu_json(const ics_row *row)
{
    const ics_measurement *m = &row->best;
    const ics_gpu_figures *gpu = &m->gpu;
    const ics_gpu_options *options = &gpu->options;
    json_t *object = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I, "
        "s:s, "
        "s:I, s:o, s:o}",
        "device", m->device, "math", m->fast_math ? "fast" : "portable", "kernel_seconds",
        gpu->kernel_seconds, "median_kernel_seconds",
        row->median_kernel_seconds > 0 ? row->median_kernel_seconds : gpu->kernel_seconds,
        "nanoseconds_per_photon", ics_experiment_photon_cost(m), "nanoseconds_per_bounce",
        ics_experiment_bounce_cost(m), "photons_per_second", ics_experiment_photon_rate(m),
        "bounces_per_second", ics_experiment_bounce_rate(m), "pool", (json_int_t)options->pool,
        "bounces_per_wave", (json_int_t)options->bounces_per_wave, "block",
        (json_int_t)options->block, "lanes", (json_int_t)options->lanes, "join", (int)options->join,
        "hit_places", (json_int_t)options->hits, "launches", (json_int_t)gpu->launches, "waves",
        (json_int_t)gpu->waves, "device_bytes", (json_int_t)gpu->device_bytes, "largest_kernel",
        gpu->largest, "registers", (json_int_t)gpu->registers, "bytes_per_bounce",
        ics_report_json_number(gpu->bytes_per_bounce), "gigabytes_per_second",
        ics_report_json_number(ics_experiment_traffic(m)));
    double total = 0;
    for (int i = 0; i < STAGE_COUNT; ++i) {
        total += row->stage_seconds[i];
    }
    if (total > 0) {
        json_t *shares = json_object();
        for (int i = 0; i < STAGE_COUNT; ++i) {
            json_object_set_new(shares, stage_names[i], json_real(row->stage_seconds[i] / total));
        }
        json_object_set_new(object, "stage_shares", shares);
    }
    return object;
}

json_t *ics_rows_json(const ics_row *row)
{
    const ics_measurement *m = &row->best;
    double seconds = m->seconds;
    json_t *object =
        json_pack("{s:s, s:s, s:b, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:I}", "name", row->name,
                  "schedule", ics_graph_schedule_name(m->schedule), "automatic", (int)m->automatic,
                  "backend", m->on_gpu ? "cuda" : "cpu", "threads", (json_int_t)m->threads, "pool",
                  (json_int_t)m->pool, "seconds", seconds, "median_seconds",
                  row->median_seconds > 0 ? row->median_seconds : seconds, "photons_per_second",
                  seconds > 0 ? (double)m->account.created / seconds : 0.0, "bounces_per_photon",
                  ics_experiment_bounces(m), "bounces", (json_int_t)m->account.bounces, "hits",
                  (json_int_t)m->account.hits);
    if (m->automatic && m->notes.choice[0] != '\0') {
        json_object_set_new(object, "choice", json_string(m->notes.choice));
    }
    if (m->notes.warnings[0] != '\0') {
        json_object_set_new(object, "warnings", json_string(m->notes.warnings));
    }
    if (m->on_gpu) {
        json_object_set_new(object, "gpu", gpu_json(row));
        return object;
    }
    json_object_set_new(object, "instruction_set", json_string(m->instruction_set));
    json_object_set_new(object, "nanoseconds_per_photon_and_thread",
                        json_real(ics_experiment_photon_cost(m)));
    json_object_set_new(object, "nanoseconds_per_bounce_and_thread",
                        json_real(ics_experiment_bounce_cost(m)));
    if (row->scaling > 0) {
        json_object_set_new(object, "scaling", json_real(row->scaling));
    }
    return object;
}
