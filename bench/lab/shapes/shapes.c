#include "bench/lab/shapes/shapes.h"

#include "base/error.h"
#include "bench/lab/shapes/cases.h"
#include "bench/lab/shapes/visits.h"
#include "pipeline/commands/measure/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double oversizes[] = {1, 5};
enum {
    OVERSIZES = sizeof oversizes / sizeof *oversizes,
    ROWS_MAX = ICS_SHAPE_CASES * OVERSIZES * ICS_SCHEDULE_COUNT
};

/* One schedule with the modules of one case. */
typedef struct shape_row {
    int index; /* of the case */
    double oversize;
    size_t modules;
    ics_shape_visits visits;
    ics_row row;
    double ratio; /* cost of a photon, divided by that of the row with which it is compared */
} shape_row;

typedef struct shapes {
    ics_bench *bench;
    const icestream_config *config; /* that of the run */
    ice_module *modules;            /* [module_count], those of the run */
    size_t module_count;
    shape_row rows[ROWS_MAX];
    size_t count;
    double only; /* the only oversize; 0: all of `oversizes` */
    char device[256];
    uint64_t photons;
    size_t steps;
    char origin[256];
} shapes;

/* ---- measuring ------------------------------------------------------------------------------- */

/* The modules of the run must be plain spheres: types may also come from om.conf or DETX. */
static int check_types(const shapes *all, icestream_error *error)
{
    const ics_experiment *experiment = all->bench->experiment;
    if (all->config->detector.types == NULL &&
        (experiment == NULL || ics_experiment_models(experiment)->detector->type_count == 0)) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        error, ICESTREAM_E_CONFIG,
        "shapes: found %s, expected none, because shapes gives the types of modules",
        all->config->detector.types != NULL ? "detector.types"
                                            : "a detector with types (om.conf or DETX)");
}

/* Stores the modules of the run. */
static int keep_modules(shapes *all, icestream_error *error)
{
    const ice_detector *detector = ics_experiment_models(all->bench->experiment)->detector;
    ICS_TRY(check_types(all, error));
    all->modules = malloc(detector->module_count * sizeof *all->modules);
    if (all->modules == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "shapes: out of memory");
    }
    memcpy(all->modules, detector->modules, detector->module_count * sizeof *all->modules);
    all->module_count = detector->module_count;
    all->photons = all->bench->steps.photons;
    all->steps = all->bench->steps.count;
    snprintf(all->origin, sizeof all->origin, "%s", all->bench->steps.origin);
    return ICESTREAM_OK;
}

/* Sets the ratio of a row to that of the same schedule and oversize in the case it is compared
 * with, if that is measured already. */
static void compare(const shapes *all, shape_row *row)
{
    const int base = ics_shape_cases[row->index].base;
    for (size_t i = 0; i < all->count; ++i) {
        const shape_row *other = &all->rows[i];
        const double cost = ics_experiment_photon_cost(&other->row.best);
        if (other->index == base && other->oversize == row->oversize && cost > 0 &&
            strcmp(other->row.name, row->row.name) == 0) {
            row->ratio = ics_experiment_photon_cost(&row->row.best) / cost;
        }
    }
}

/* Runs all schedules with the modules of a case. */
static int measure_case(shapes *all, int index, double oversize, icestream_error *error)
{
    ics_bench *bench = all->bench;
    const ice_detector *detector = ics_experiment_models(bench->experiment)->detector;
    ics_schedule_list list;
    ics_shape_visits visits;
    ICS_TRY(ics_shape_visits_count(detector, &visits, error));
    ICS_TRY(ics_bench_schedules(bench, &list, error));
    if (ics_shape_cases[index].near_strings) {
        ics_shape_world_near_strings(detector, bench->steps.steps, bench->steps.count);
    }
    for (size_t i = 0; i < list.count; ++i) {
        ics_row *measured;
        ICS_TRY(ics_bench_measure(bench, list.items[i], 0, &measured, error));
        shape_row *row = &all->rows[all->count];
        *row = (shape_row){index, oversize, detector->module_count, visits, *measured, 0};
        compare(all, row);
        snprintf(all->device, sizeof all->device, "%s", measured->best.device);
        ++all->count;
    }
    return ICESTREAM_OK;
}

static int open_case(shapes *all, int index, double oversize, icestream_error *error)
{
    ics_bench *bench = all->bench;
    icestream_config changed = *all->config; /* borrows all texts */
    ics_shape_world world;
    changed.detector.oversize = oversize;
    int status = ics_shape_world_create(&ics_shape_cases[index], all->modules, all->module_count,
                                        &changed, &world, error);
    if (status == ICESTREAM_OK) {
        bench->config = &changed;
        snprintf(bench->modules, sizeof bench->modules, "%s at oversize %g",
                 ics_shape_cases[index].name, oversize);
        status = ics_bench_open(bench, error);
        ics_shape_world_remove_files(&world);
    }
    if (status == ICESTREAM_OK && all->modules == NULL) {
        status = keep_modules(all, error);
    }
    if (status == ICESTREAM_OK) {
        status = measure_case(all, index, oversize, error);
    }
    ics_bench_close(bench);
    ics_shape_world_free(&world);
    bench->config = all->config;
    return status;
}

static int measure_all(shapes *all, icestream_error *error)
{
    const double only = all->only;
    int status = ICESTREAM_OK;
    for (int i = 0; i < OVERSIZES; ++i) {
        const double oversize = only > 0 ? only : oversizes[i];
        const bool last = only > 0 || i == OVERSIZES - 1;
        for (int k = 0; status == ICESTREAM_OK && k < ICS_SHAPE_CASES; ++k) {
            if (!ics_shape_cases[k].near_strings || last) {
                status = open_case(all, k, oversize, error);
            }
        }
        if (last) {
            break;
        }
    }
    return status;
}

/* ---- reports --------------------------------------------------------------------------------- */

static int print_table(const shapes *all, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"modules",   "number",   "oversize",  "schedule",
                                           "triangles", "hits",     "ns/photon", "ratio",
                                           "nodes/c.",  "tests/c.", "tree MB",   "build s"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < all->count; ++i) {
        const shape_row *row = &all->rows[i];
        ics_report_cell(report, "%s", ics_shape_cases[row->index].name);
        ics_report_cell(report, "%zu", row->modules);
        ics_report_cell(report, "%g", row->oversize);
        ics_report_cell(report, "%s", row->row.name);
        ics_report_number(report, (double)row->visits.triangles, 0);
        ics_report_cell(report, "%" PRIu64, row->row.best.account.hits);
        ics_report_cell(report, "%.4g", ics_experiment_photon_cost(&row->row.best));
        ics_report_number(report, row->ratio, 3);
        ics_report_number(report, row->visits.nodes, 2);
        ics_report_number(report, row->visits.triangle_tests, 2);
        ics_report_number(report, 1e-6 * (double)row->visits.bytes, 2);
        ics_report_number(report, row->visits.build_seconds, 3);
    }
    int status = ics_report_print(report, all->bench->options->markdown, 0, out, error);
    ics_report_destroy(report);
    return status;
}

static int print_text(const shapes *all, FILE *out, icestream_error *error)
{
    fprintf(out,
            "%" PRIu64 " photons in %zu steps of %s, on %s; best of %" PRIu32 " runs of each row, "
            "one after the other\n\n",
            all->photons, all->steps, all->origin, all->device, all->bench->repeats);
    ICS_TRY(print_table(all, out, error));
    fputs("\nns/photon: time of kernels on a GPU, of threads on a CPU. ratio: to the spheres "
          "without a type of the same\nschedule and oversize, and with near light to those with "
          "near light. Near light starts within 20 m of\nstrings. Spheres again: how far equal "
          "rows differ. Per candidate (c.), a line through the sphere around a\nmodule: nodes "
          "that its search visits, and triangles that it tests, for isotropic lines. tree MB: "
          "trees and\ntriangles. build s: time to build the trees, without reading the file.\n",
          out);
    return ics_report_end("shapes", out, error);
}

static int print_json(const shapes *all, FILE *out, icestream_error *error)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < all->count; ++i) {
        const shape_row *row = &all->rows[i];
        const ics_shape_visits *visits = &row->visits;
        const ics_shape_case *this = &ics_shape_cases[row->index];
        json_t *object = ics_rows_json(&row->row);
        json_t *shape = json_pack(
            "{s:s, s:I, s:f, s:b, s:I, s:o, s:o, s:o, s:I, s:f}", "modules", this->name,
            "module_count", (json_int_t)row->modules, "oversize", row->oversize, "near_strings",
            (int)this->near_strings, "triangles", (json_int_t)visits->triangles, "ratio",
            ics_report_json_number(row->ratio), "nodes_per_candidate",
            ics_report_json_number(visits->nodes), "triangles_per_candidate",
            ics_report_json_number(visits->triangle_tests), "tree_bytes", (json_int_t)visits->bytes,
            "build_seconds", visits->build_seconds);
        json_object_set_new(object, "shape", shape);
        json_array_append_new(rows, object);
    }
    return ics_report_json(
        "shapes",
        json_pack("{s:s, s:I, s:I, s:n, s:b, s:s, s:I, s:o}", "steps_from", all->origin, "steps",
                  (json_int_t)all->steps, "photons", (json_int_t)all->photons, "world", "shapes", 1,
                  "device", all->device, "best_of", (json_int_t)all->bench->repeats, "rows", rows),
        out, error);
}

int ics_shapes_measure(const icestream_config *config, const icestream_bench_options *options,
                       double only, FILE *out, icestream_error *error)
{
    ics_lab *lab;
    ICS_TRY(ics_lab_refuse_table(config, "shapes", error));
    ICS_TRY(ics_lab_open(config, options, &lab, error));
    shapes *all = calloc(1, sizeof *all);
    if (all == NULL) {
        free(lab);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "shapes: out of memory");
    }
    all->bench = &lab->bench;
    all->config = lab->bench.config;
    all->only = only;
    int status = check_types(all, error);
    if (status == ICESTREAM_OK) {
        status = measure_all(all, error);
    }
    ics_task_progress_end(&lab->bench.progress);
    if (status == ICESTREAM_OK) {
        status = options->json ? print_json(all, out, error) : print_text(all, out, error);
    }
    free(all->modules);
    free(all);
    free(lab);
    return status;
}
