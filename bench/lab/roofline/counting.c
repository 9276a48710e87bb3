#include "bench/lab/roofline/counting.h"

#include "base/error.h"
#include "base/json_read.h"
#include "bench/lab/roofline/counted_run.h"
#include "bench/lab/roofline/ncu.h"
#include "bench/lab/roofline/report.h"
#include "pipeline/config/config.h"
#include "pipeline/tools/measure/schedules.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* ---- what the program reported --------------------------------------------------------------- */

static int no_report(icestream_error *error, const ics_roofline *one)
{
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "%s: found no bounces in what icestream-lab wrote under ncu, expected the "
                         "report of `icestream-lab speed --json`",
                         one->name);
}

/* Finds the report in the output, in front of which ncu or the driver may have written
 * lines. */
static json_t *find_report(const ics_counted_result *result)
{
    const char *start = result->output;
    if (start[0] != '{') {
        start = strstr(start, "\n{");
        start = start != NULL ? start + 1 : NULL;
    }
    const char *end = start != NULL ? strrchr(start, '}') : NULL;
    return end != NULL ? ics_json_read(start, (size_t)(end + 1 - start), 0, NULL) : NULL;
}

static void copy_text(const json_t *object, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text != NULL ? text : "");
}

/* Reads bounces, samples, GPU and steps of the run. */
static int read_report(ics_counting *counting, ics_roofline *one, const ics_counted_result *result,
                       icestream_error *error)
{
    json_t *report = find_report(result);
    const json_t *row = json_array_get(json_object_get(report, "rows"), 0);
    const json_int_t bounces = json_integer_value(json_object_get(row, "bounces"));
    int status = bounces > 0 ? ICESTREAM_OK : no_report(error, one);
    one->bounces = (uint64_t)bounces;
    one->samples = (uint64_t)json_integer_value(json_object_get(row, "samples"));
    counting->steps = (uint64_t)json_integer_value(json_object_get(report, "steps"));
    counting->photons = (uint64_t)json_integer_value(json_object_get(report, "photons"));
    copy_text(report, "steps_from", counting->origin, sizeof counting->origin);
    copy_text(json_object_get(row, "gpu"), "device", counting->device, sizeof counting->device);
    json_decref(report);
    return status;
}

/* ---- counting -------------------------------------------------------------------------------- */

static int count_schedule(ics_counting *counting, const ics_counted_request *request,
                          const char *ncu, ics_schedule schedule, icestream_error *error)
{
    ics_roofline *one = &counting->schedules[counting->count++];
    snprintf(one->name, sizeof one->name, "%s",
             ics_counted_tabulates(request) ? "table" : ics_graph_schedule_name(schedule));
    char doing[96];
    snprintf(doing, sizeof doing, "%s under ncu", one->name);
    ics_task_progress_next(&counting->progress, doing);
    ics_counted_command command;
    ics_counted_result result = {.table = NULL};
    int status = ics_counted_command_make(request, schedule, &command, error);
    if (status == ICESTREAM_OK) {
        status = ics_counted_run(ncu, command.words, command.count, &result, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_ncu_csv_read(result.table, result.table_size, ics_roofline_add, one, error);
    }
    if (status == ICESTREAM_OK) {
        status = read_report(counting, one, &result, error);
    }
    ics_counted_free(&result);
    ics_counted_command_free(&command);
    return status;
}

/* Chooses the schedules. A table has one kernel for all of them, so one stands for it. */
static int choose(const ics_counted_request *request, ics_schedule_list *list,
                  icestream_error *error)
{
    const char *wanted = request->given->options[ICS_BENCH_SCHEDULES].text;
    if (ics_counted_tabulates(request)) {
        *list = (ics_schedule_list){.items = {ICS_SCHEDULE_MONOLITHIC}, .count = 1};
        return wanted == NULL
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_USAGE,
                                   "--schedules: found %s, and stages.tabulate, whose table has "
                                   "one kernel for all schedules; expected no --schedules",
                                   wanted);
    }
    *list = ics_schedules_of_device(true);
    const ics_schedule configured = request->config->graph.schedule;
    if (wanted != NULL) {
        ICS_TRY(ics_schedules_parse(wanted, true, list, error));
    } else if (configured != ICS_SCHEDULE_AUTO) {
        *list = (ics_schedule_list){.items = {configured}, .count = 1};
    }
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i) {
        if (list->items[i] != ICS_SCHEDULE_AUTO) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    return kept > 0 ? ICESTREAM_OK
                    : ics_error_set(error, ICESTREAM_E_USAGE,
                                    "--schedules: found only auto, which chooses one of the "
                                    "schedules; expected schedules whose kernels can be counted");
}

/* Nothing would be counted on the CPU. */
static int check_backend(const icestream_config *config, icestream_error *error)
{
    const ics_backend backend = config->device.backend;
    if (backend == ICS_BACKEND_AUTO || backend == ICS_BACKEND_CUDA) {
        return ICESTREAM_OK;
    }
    char where[1024];
    ics_config_place(config, "device.backend", where, sizeof where); /* word: place */
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: error: device.backend: found %s, but counters are those of a GPU; "
                         "expected auto or cuda",
                         where, backend == ICS_BACKEND_CPU ? "cpu" : "cuda+cpu");
}

int ics_counting_run(ics_counting *counting, const ics_counted_request *request,
                     icestream_error *error)
{
    char ncu[PATH_MAX];
    ics_schedule_list list;
    ICS_TRY(check_backend(request->config, error));
    ICS_TRY(choose(request, &list, error));
    ICS_TRY(ics_ncu_find(ncu, sizeof ncu, error));
    counting->progress = ics_task_progress_begin(stderr);
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < list.count; ++i) {
        status = count_schedule(counting, request, ncu, list.items[i], error);
    }
    ics_task_progress_end(&counting->progress);
    return status;
}

void ics_counting_free(ics_counting *counting)
{
    for (size_t i = 0; i < counting->count; ++i) {
        ics_roofline_free(&counting->schedules[i]);
    }
    counting->count = 0;
}

/* ---- reports --------------------------------------------------------------------------------- */

int ics_counting_print(const ics_counting *counting, bool markdown, FILE *out,
                       icestream_error *error)
{
    const ics_roofline *first = &counting->schedules[0];
    fprintf(out,
            "counters of ncu on %s, %" PRIu64 " photons in %" PRIu64 " steps of %s, %" PRIu64
            " %s\n\n",
            counting->device[0] != '\0' ? counting->device : "a GPU", counting->photons,
            counting->steps, counting->origin, ics_roofline_divisor(first),
            first->samples > 0 ? "samples" : "bounces");
    return ics_roofline_print(counting->schedules, counting->count, markdown, out, error);
}

json_t *ics_counting_json(const ics_counting *counting)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:o}", "device", counting->device, "steps_from",
                     counting->origin, "steps", (json_int_t)counting->steps, "photons",
                     (json_int_t)counting->photons, "schedules",
                     ics_roofline_json(counting->schedules, counting->count));
}
