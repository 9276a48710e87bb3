#include "pipeline/tools/bench/impact.h"

#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/config/config.h"
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
    config->ice.hole_ice = false;
}

static void without_collide(icestream_config *config)
{
    config->detector.radius = no_radius;
}

static const struct {
    const char *name;
    void (*remove)(icestream_config *config);
} parts[] = {
    {"tilt", without_tilt},
    {"anisotropy", without_anisotropy},
    {"birefringence", without_birefringence},
    {"hole-ice", without_holes},
    {"collide", without_collide},
};

/* Returns the report of a benchmark, which the caller releases; NULL: *status says why. */
static json_t *measure(const icestream_config *config, icestream_bench_options options, int *status,
                       icestream_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        *status = ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
        return NULL;
    }
    options.json = true;
    *status = icestream_bench(config, &options, out, error);
    const bool written = fclose(out) == 0;
    json_t *report = *status == ICESTREAM_OK && written ? ics_json_read(text, size, 0, NULL) : NULL;
    if (*status == ICESTREAM_OK && report == NULL) {
        *status = ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
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

/* Returns the rows of the report of --impact. *equal: bounces and hits of all rows are the same. */
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

static int print_rows(const json_t *rows, const char *part, bool markdown, FILE *out,
                      icestream_error *error)
{
    char without[64];
    snprintf(without, sizeof without, "without %s", part);
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
    return status == ICESTREAM_OK ? ics_report_end("bench", out, error) : status;
}

static int report_rows(const json_t *with, const json_t *without,
                       const icestream_bench_options *options, const char *part, FILE *out,
                       icestream_error *error)
{
    bool equal = false;
    json_t *rows =
        pair_rows(json_object_get(with, "rows"), json_object_get(without, "rows"), &equal);
    int status = ICESTREAM_OK;
    if (equal) {
        status =
            ics_error_set(error, ICESTREAM_E_CONFIG,
                          "--impact %s: found the same bounces and hits with it and without "
                          "it, expected a configuration that has it%s",
                          part,
                          options->reference != NULL && strcmp(part, "collide") == 0
                              ? "; with --reference also --set detector.radius=0.1651, because "
                                "the modules of --reference keep their radius without it"
                              : "");
    } else if (options->json) {
        return ics_report_json("bench",
                               json_pack("{s:s, s:O, s:O, s:o}", "impact", part, "steps",
                                         json_object_get(with, "steps"), "photons",
                                         json_object_get(with, "photons"), "rows", rows),
                               out, error);
    } else {
        status = print_rows(rows, part, options->markdown, out, error);
    }
    json_decref(rows);
    return status;
}

int ics_impact_measure(const icestream_config *config, const icestream_bench_options *options,
                       const char *part, FILE *out, icestream_error *error)
{
    size_t index = 0;
    while (index < sizeof parts / sizeof *parts && strcmp(parts[index].name, part) != 0) {
        ++index;
    }
    if (index == sizeof parts / sizeof *parts) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--impact: found '%.100s', expected tilt, anisotropy, "
                             "birefringence, hole-ice or collide",
                             part);
    }
    icestream_config changed = *config; /* borrows the texts of config; never destroyed */
    parts[index].remove(&changed);
    int status = ICESTREAM_OK;
    json_t *without = NULL;
    json_t *with = measure(config, *options, &status, error);
    if (status == ICESTREAM_OK) {
        without = measure(&changed, *options, &status, error);
    }
    if (status == ICESTREAM_OK) {
        status = report_rows(with, without, options, part, out, error);
    }
    json_decref(with);
    json_decref(without);
    return status;
}
