#include "pipeline/commands/bench/against.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/processors.h"
#include "pipeline/commands/measure/report.h"

#include <math.h>
#include <string.h>

#define LEAST_NOISE 0.005

/* ---- the machine ----------------------------------------------------------------------------- */

/* The name in /proc/cpuinfo, which on Arm has none. */
static void name_processor(char *name, size_t size)
{
    char line[512];
    ICS_CLOSES FILE *file = fopen("/proc/cpuinfo", "re");
    snprintf(name, size, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) == 0 && colon != NULL) {
            snprintf(name, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            return;
        }
    }
}

json_t *ics_against_machine(void)
{
    char name[256];
    name_processor(name, sizeof name);
    return json_pack("{s:s, s:I}", "processor", name, "processors",
                     (json_int_t)ics_processors_count());
}

/* ---- reading --------------------------------------------------------------------------------- */

int ics_against_read(const char *path, json_t **out, icestream_error *error)
{
    json_error_t fault;
    *out = json_load_file(path, 0, &fault);
    if (*out != NULL && json_is_array(json_object_get(*out, "rows"))) {
        return ICESTREAM_OK;
    }
    const bool is_json = *out != NULL;
    json_decref(*out);
    *out = NULL;
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "--against: %s: line %d: found %s, expected what `icestream bench --json` "
                         "writes",
                         path, is_json ? 1 : fault.line, is_json ? "no rows" : fault.text);
}

/* ---- judging --------------------------------------------------------------------------------- */

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Both reports must be of the same work on the same machine. */
static int compare_work(const char *path, const json_t *before, const json_t *now,
                        icestream_error *error)
{
    static const char *const keys[] = {"machine", "steps_from", "steps",
                                       "photons", "oversize",   "shuffled"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        const json_t *had = json_object_get(before, keys[i]), *has = json_object_get(now, keys[i]);
        if (json_equal(had, has)) {
            continue;
        }
        ICS_FREES char *found = json_dumps(had, JSON_ENCODE_ANY);
        ICS_FREES char *expected = json_dumps(has, JSON_ENCODE_ANY);
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "--against: %s: %s: found %.200s, expected %.200s as in this "
                             "benchmark",
                             path, keys[i], found != NULL ? found : "nothing",
                             expected != NULL ? expected : "nothing");
    }
    const double repeats = fmin(number_of(before, "best_of"), number_of(now, "best_of"));
    return repeats >= ICS_AGAINST_REPEATS
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "--against: %s: best_of: found %g repeats in one of both "
                               "benchmarks, expected at least %d, which show the noise",
                               path, repeats, ICS_AGAINST_REPEATS);
}

/* What ran: of auto not what it chose. */
static const char *schedule_of(const json_t *row)
{
    return json_is_true(json_object_get(row, "automatic")) ? "auto" : text_of(row, "schedule");
}

static const json_t *gpu_of(const json_t *row)
{
    return json_object_get(row, "gpu");
}

static const char *code_of(const json_t *row)
{
    return gpu_of(row) != NULL ? text_of(gpu_of(row), "math") : text_of(row, "instruction_set");
}

static bool is_same_row(const json_t *a, const json_t *b)
{
    return strcmp(schedule_of(a), schedule_of(b)) == 0 && strcmp(code_of(a), code_of(b)) == 0 &&
           strcmp(text_of(gpu_of(a), "device"), text_of(gpu_of(b), "device")) == 0 &&
           (gpu_of(a) != NULL || number_of(a, "threads") == number_of(b, "threads"));
}

static const json_t *find_row(const json_t *rows, const json_t *like)
{
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        if (is_same_row(json_array_get(rows, i), like)) {
            return json_array_get(rows, i);
        }
    }
    return NULL;
}

static double best_of(const json_t *row)
{
    return gpu_of(row) != NULL ? number_of(gpu_of(row), "kernel_seconds")
                               : number_of(row, "seconds");
}

static double noise_of(const json_t *row)
{
    const double middle = gpu_of(row) != NULL ? number_of(gpu_of(row), "median_kernel_seconds")
                                              : number_of(row, "median_seconds");
    return fmax(middle / best_of(row) - 1, 0);
}

static json_t *judge_row(const json_t *had, const json_t *has)
{
    const double before = best_of(had), now = best_of(has), change = now / before - 1;
    const double noise = fmax(hypot(noise_of(had), noise_of(has)), LEAST_NOISE);
    /* Both ways as a ratio: no noise is above a change to a thousandth. */
    const char *verdict = now > before * (1 + noise)   ? "slower"
                          : before > now * (1 + noise) ? "faster"
                                                       : "same";
    return json_pack("{s:s, s:I, s:s, s:f, s:f, s:f, s:f, s:s}", "name", schedule_of(has),
                     "threads", (json_int_t)number_of(has, "threads"), "code", code_of(has),
                     "before", before, "now", now, "change", change, "noise", noise, "verdict",
                     verdict);
}

int ics_against_judge(const char *path, const json_t *before, const json_t *now, json_t **out,
                      icestream_error *error)
{
    const json_t *rows = json_object_get(now, "rows");
    json_auto_t *verdicts = json_array();
    int failed = verdicts == NULL;
    *out = NULL;
    ICS_TRY(compare_work(path, before, now, error));
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *has = json_array_get(rows, i);
        const json_t *had = find_row(json_object_get(before, "rows"), has);
        if (had != NULL && best_of(had) > 0 && best_of(has) > 0) {
            failed |= json_array_append_new(verdicts, judge_row(had, has));
        }
    }
    if (failed != 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "bench: out of memory");
    }
    if (json_array_size(verdicts) == 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "--against: %s: found no schedule of this benchmark with the same "
                             "threads, maths and device, expected at least one",
                             path);
    }
    *out = json_incref(verdicts);
    return ICESTREAM_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

int ics_against_print(const char *path, const json_t *verdicts, bool markdown, FILE *out,
                      icestream_error *error)
{
    static const char *const headings[] = {"schedule", "code",     "threads", "before s",
                                           "now s",    "change %", "noise %", "verdict"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < json_array_size(verdicts); ++i) {
        const json_t *row = json_array_get(verdicts, i);
        ics_report_cell(report, "%s", text_of(row, "name"));
        ics_report_cell(report, "%s", text_of(row, "code"));
        ics_report_cell(report, "%.0f", number_of(row, "threads"));
        ics_report_cell(report, "%.4f", number_of(row, "before"));
        ics_report_cell(report, "%.4f", number_of(row, "now"));
        ics_report_cell(report, "%+.1f", 100 * number_of(row, "change"));
        ics_report_cell(report, "%.1f", 100 * number_of(row, "noise"));
        ics_report_cell(report, "%s", text_of(row, "verdict"));
    }
    fprintf(out, "\nagainst %s; noise: how far the medians are above the best times:\n", path);
    const int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    return status;
}

int ics_against_result(const char *path, const json_t *verdicts, icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < json_array_size(verdicts); ++i) {
        const json_t *row = json_array_get(verdicts, i);
        if (strcmp(text_of(row, "verdict"), "slower") == 0) {
            status = ics_error_add(error, ICESTREAM_E_DIFFERENT,
                                   "bench: %s (%s): slower than in %s by %.1f %%, with a noise of "
                                   "%.1f %%",
                                   text_of(row, "name"), text_of(row, "code"), path,
                                   100 * number_of(row, "change"), 100 * number_of(row, "noise"));
        }
    }
    return status;
}
