#include "bench/lab/impact/impact.h"

#include "base/error.h"
#include "base/json_read.h"
#include "bench/lab/speed/speed.h"
#include "pipeline/config/table.h"
#include "pipeline/tools/measure/report.h"

#include <stdlib.h>
#include <string.h>

/* Modules so small that no segment is near one: the kernel looks for candidates and finds none. */
static const double no_radius = 1e-3; /* (m), the least that detector.radius may be */

static void without_tilt(icestream_config *config)
{
    config->ice.tilt = false;
}

static void without_anisotropy(icestream_config *config)
{
    config->ice.anisotropy = false;
}

static void without_birefringence(icestream_config *config)
{
    config->ice.birefringence = false;
}

static void without_holes(icestream_config *config)
{
    config->ice.hole_ice = ICS_HOLE_ICE_NO;
}

static void without_collide(icestream_config *config)
{
    config->detector.radius = no_radius;
}

/* A part, and how the second run does without it: by a setting, or by other kernels. */
typedef struct part {
    const char *name;
    const char *change;
    void (*remove)(icestream_config *config); /* NULL: by `without` */
    ics_without without;
} part;

static const part parts[] = {
    {"tilt", "ice.tilt is false", without_tilt, ICS_WITHOUT_NOTHING},
    {"anisotropy", "ice.anisotropy is false", without_anisotropy, ICS_WITHOUT_NOTHING},
    {"birefringence", "ice.birefringence is false", without_birefringence, ICS_WITHOUT_NOTHING},
    {"hole-ice", "ice.hole_ice is false", without_holes, ICS_WITHOUT_NOTHING},
    {"collide", "detector.radius is 1 mm", without_collide, ICS_WITHOUT_NOTHING},
    {"random",
     "the kernels multiply a number by a constant for each random word of a bounce; these photons "
     "are for timing only",
     NULL, ICS_WITHOUT_RANDOM},
    {"divergence",
     "the threads of a warp have copies of one photon; these photons are for timing only", NULL,
     ICS_WITHOUT_DIVERGENCE},
};

/* Returns the report of a benchmark, which the caller releases; NULL: *status says why. */
static json_t *measure(const icestream_config *config, ics_lab_options options, ics_without without,
                       int *status, icestream_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        *status = ics_error_set(error, ICESTREAM_E_MEMORY, "impact: out of memory");
        return NULL;
    }
    options.bench.json = true;
    const ics_speed_extras extras = {.without = without};
    *status = ics_speed_measure(config, &options, extras, out, error);
    const bool written = fclose(out) == 0;
    json_t *report = *status == ICESTREAM_OK && written ? ics_json_read(text, size, 0, NULL) : NULL;
    if (*status == ICESTREAM_OK && report == NULL) {
        *status = ics_error_set(error, ICESTREAM_E_MEMORY, "impact: out of memory");
    }
    free(text);
    return report;
}

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* The time per bounce (ns) of a row of bench: of kernels on a GPU, of a thread on a CPU. */
static double cost(const json_t *row)
{
    const json_t *gpu = json_object_get(row, "gpu");
    return gpu != NULL ? number(gpu, "nanoseconds_per_bounce")
                       : number(row, "nanoseconds_per_bounce_and_thread");
}

/* Returns the rows of the report. *equal: bounces and hits of all rows are the same. */
static json_t *pair_rows(const json_t *with, const json_t *without, bool *equal)
{
    json_t *rows = json_array();
    *equal = true;
    for (size_t i = 0; i < json_array_size(with); ++i) {
        const json_t *one = json_array_get(with, i), *other = json_array_get(without, i);
        const double ratio = cost(other) > 0 ? cost(one) / cost(other) : 0;
        *equal &= number(one, "bounces") == number(other, "bounces") &&
                  number(one, "hits") == number(other, "hits");
        json_array_append_new(
            rows,
            json_pack("{s:O, s:O, s:f, s:f, s:f, s:f, s:f}", "name", json_object_get(one, "name"),
                      "threads", json_object_get(one, "threads"), "nanoseconds_per_bounce",
                      cost(one), "nanoseconds_per_bounce_without", cost(other), "ratio", ratio,
                      "bounces_per_photon", number(one, "bounces_per_photon"),
                      "bounces_per_photon_without", number(other, "bounces_per_photon")));
    }
    return rows;
}

static int print_rows(const json_t *rows, const part *one, bool markdown, FILE *out,
                      icestream_error *error)
{
    char without[64];
    snprintf(without, sizeof without, "without %s", one->name);
    const char *const headings[] = {"schedule", "threads",        "ns/bounce", without,
                                    "ratio",    "bounces/photon", without};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *row = json_array_get(rows, i);
        ics_report_cell(report, "%s", json_string_value(json_object_get(row, "name")));
        ics_report_cell(report, "%.0f", number(row, "threads"));
        ics_report_cell(report, "%.4g", number(row, "nanoseconds_per_bounce"));
        ics_report_cell(report, "%.4g", number(row, "nanoseconds_per_bounce_without"));
        ics_report_cell(report, "%.3f", number(row, "ratio"));
        ics_report_cell(report, "%.2f", number(row, "bounces_per_photon"));
        ics_report_cell(report, "%.2f", number(row, "bounces_per_photon_without"));
    }
    const int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    fprintf(out, "\n%s: %s.\n", without, one->change);
    return status == ICESTREAM_OK ? ics_report_end("impact", out, error) : status;
}

static int report_rows(const json_t *with, const json_t *without, const ics_lab_options *options,
                       const part *one, FILE *out, icestream_error *error)
{
    bool equal = false;
    json_t *rows =
        pair_rows(json_object_get(with, "rows"), json_object_get(without, "rows"), &equal);
    int status = ICESTREAM_OK;
    if (equal && one->remove != NULL) {
        status =
            ics_error_set(error, ICESTREAM_E_CONFIG,
                          "impact %s: found the same bounces and hits with it and without "
                          "it, expected a configuration that has it%s",
                          one->name,
                          options->reference != NULL && one->remove == without_collide
                              ? "; with --reference also --set detector.radius=0.1651, because "
                                "the modules of --reference keep their radius without it"
                              : "");
    } else if (options->bench.json) {
        return ics_report_json("impact",
                               json_pack("{s:s, s:s, s:O, s:O, s:o}", "impact", one->name, "change",
                                         one->change, "steps", json_object_get(with, "steps"),
                                         "photons", json_object_get(with, "photons"), "rows", rows),
                               out, error);
    } else {
        status = print_rows(rows, one, options->bench.markdown, out, error);
    }
    json_decref(rows);
    return status;
}

/* ---- parts that are left out by other kernels ------------------------------------------------ */

/* Writes the names of the schedules that are measured to a text: all but auto, which would remember
 * the times of these kernels for other runs. */
static int name_schedules(const icestream_config *config, const icestream_bench_options *options,
                          const part *one, char *text, size_t size, icestream_error *error)
{
    ics_schedule_list list = ics_schedules_of_device(true);
    if (options->schedules != NULL) {
        ICS_TRY(ics_schedules_parse(options->schedules, true, &list, error));
    } else if (config->graph.schedule != ICS_SCHEDULE_AUTO) {
        list = (ics_schedule_list){.items = {config->graph.schedule}, .count = 1};
    }
    size_t length = 0;
    for (size_t i = 0; i < list.count; ++i) {
        const char *name = ics_graph_schedule_name(list.items[i]);
        if (list.items[i] != ICS_SCHEDULE_AUTO) {
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", name);
        } else if (options->schedules != NULL) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "impact %s: found --schedules with auto, which chooses one of "
                                 "the others; expected their names",
                                 one->name);
        }
    }
    return ICESTREAM_OK;
}

/* Checks that there are kernels that can leave the part out. */
static int check_kernels(const icestream_config *config, const part *one, icestream_error *error)
{
    char reason[96];
    snprintf(reason, sizeof reason, "impact %s changes the kernels of a GPU", one->name);
    return ics_lab_check_gpu(config, reason, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const part *find_part(const char *name, icestream_error *error)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        if (strcmp(parts[i].name, name) == 0) {
            return &parts[i];
        }
    }
    ics_error_set(error, ICESTREAM_E_USAGE,
                  "impact: found '%.100s', expected tilt, anisotropy, birefringence, hole-ice, "
                  "collide, random or divergence",
                  name);
    return NULL;
}

int ics_impact_measure(const icestream_config *config, const ics_lab_options *options,
                       const char *name, FILE *out, icestream_error *error)
{
    const part *one = find_part(name, error);
    if (one == NULL) {
        return ICESTREAM_E_USAGE;
    }
    if (ics_config_tabulate(config) != ICS_TABULATE_NONE) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "impact: found stages.tabulate, whose table has one kernel and no "
                             "hits; expected --set stages.tabulate=none");
    }
    icestream_config changed = *config; /* borrows the texts of config; never destroyed */
    ics_lab_options used = *options;
    char schedules[256] = "";
    if (one->remove != NULL) {
        one->remove(&changed);
    } else {
        ICS_TRY(name_schedules(config, &options->bench, one, schedules, sizeof schedules, error));
        ICS_TRY(check_kernels(config, one, error));
        used.bench.schedules = schedules;
    }
    int status = ICESTREAM_OK;
    json_t *without = NULL;
    json_t *with = measure(config, used, ICS_WITHOUT_NOTHING, &status, error);
    if (status == ICESTREAM_OK) {
        without = measure(&changed, used, one->without, &status, error);
    }
    if (status == ICESTREAM_OK) {
        status = report_rows(with, without, &used, one, out, error);
    }
    json_decref(with);
    json_decref(without);
    return status;
}
