/* `icestream compare`: the same steps through several schedules or configurations. */
#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/config/config.h"
#include "pipeline/tools/compare/verdict.h"
#include "pipeline/tools/measure/report.h"
#include "pipeline/tools/measure/rows.h"
#include "pipeline/tools/measure/schedules.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* One configuration run through one schedule. */
struct participant {
    const icestream_config *config;
    bool against; /* of the second configuration */
    ics_schedule schedule;
    ics_row row;
};

/* The first participant against another one. */
struct pair {
    size_t other;
    bool expect_identical;
    char differences[512]; /* what hits depend on and the two have different, for people */
    bool same_seed;
    bool expect_account; /* equal photon accounts as well */
    bool same_account;
    bool holds;
    ics_verdict verdict;
};

enum { PARTICIPANTS_MAX = 2 * ICS_SCHEDULE_COUNT };

struct comparison {
    const icestream_config *config, *against;
    const icestream_compare_options *options;
    ics_origin origin, against_origin;
    ics_step_list steps;
    struct participant participants[PARTICIPANTS_MAX];
    size_t count;
    struct pair pairs[PARTICIPANTS_MAX];
};

/* ---- who takes part ------------------------------------------------------------------------ */

/* The participants of one configuration: the schedules that were named, else all of its device, or
 * with a second configuration the one that each names. */
static int choose_participants(struct comparison *comparison, const icestream_config *config,
                               bool gpu, icestream_error *error)
{
    ics_schedule_list list = ics_schedules_of_device(gpu);
    if (comparison->options->schedules != NULL) {
        int status = ics_schedules_parse(comparison->options->schedules, gpu, &list, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
    } else if (comparison->against != NULL) {
        list = (ics_schedule_list){.items = {config->graph.schedule}, .count = 1};
    }
    if (comparison->against == NULL && list.count < 2) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "compare: one schedule alone has nothing to be compared with; name two "
            "or give --against");
    }
    for (size_t i = 0; i < list.count; ++i) {
        comparison->participants[comparison->count++] = (struct participant){
            .config = config, .against = config == comparison->against, .schedule = list.items[i]};
    }
    return ICESTREAM_OK;
}

/* ---- running and judging ------------------------------------------------------------------- */

static int load_steps(struct comparison *comparison, uint32_t spectra, icestream_error *error)
{
    int status = ics_step_list_from_files(comparison->config, spectra, &comparison->steps, error);
    if (status == ICESTREAM_OK && comparison->steps.origin[0] == '\0') {
        status = ics_step_list_from_workload(comparison->config, &comparison->steps, error);
    }
    return status;
}

static int run_one(const struct comparison *comparison, const ics_experiment *experiment,
                   struct participant *one, icestream_error *error)
{
    ics_row *row = &one->row;
    int status =
        ics_experiment_run(experiment, one->schedule, 0, &comparison->steps, &row->best, error);
    ics_rows_set_name(row);
    size_t length = strlen(row->name);
    if (one->against) {
        snprintf(row->name + length, sizeof row->name - length, " (against)");
    }
    /* Where the time goes: once more, with every kernel timed. */
    bool stages = one->schedule == ICS_SCHEDULE_WAVEFRONT || one->schedule == ICS_SCHEDULE_FUSED;
    if (status == ICESTREAM_OK && row->best.on_gpu && stages) {
        status = ics_experiment_profile(experiment, one->schedule, &comparison->steps,
                                        row->stage_seconds, error);
    }
    return status;
}

/* Runs the participants of one configuration, whose tables exist only meanwhile. The steps come
 * from the first configuration and must make sense to the second. */
static int run_config(struct comparison *comparison, const icestream_config *config,
                      icestream_error *error)
{
    ics_experiment *experiment = NULL;
    int status = ics_experiment_create(config, &experiment, error);
    if (status == ICESTREAM_OK) {
        status = choose_participants(comparison, config, ics_experiment_on_gpu(experiment), error);
    }
    if (status == ICESTREAM_OK && config == comparison->config) {
        status = load_steps(comparison, ics_experiment_spectra(experiment), error);
    }
    if (status == ICESTREAM_OK) {
        *(config == comparison->config ? &comparison->origin : &comparison->against_origin) =
            *ics_experiment_origin(experiment);
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < comparison->steps.count; ++i) {
        if (comparison->steps.steps[i].spectrum >= ics_experiment_spectra(experiment)) {
            status = ics_error_set(
                error, ICESTREAM_E_CONFIG,
                "compare: step %zu has spectrum %u, the configuration's light has "
                "only %u spectra",
                i, comparison->steps.steps[i].spectrum, ics_experiment_spectra(experiment));
        }
    }
    for (size_t i = 0; status == ICESTREAM_OK && i < comparison->count; ++i) {
        if (comparison->participants[i].config == config) {
            status = run_one(comparison, experiment, &comparison->participants[i], error);
        }
    }
    ics_experiment_destroy(experiment);
    return status;
}

/* ---- what hits depend on ------------------------------------------------------------------- */

struct text {
    char *at;
    size_t left;
};

static void add_text(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add_text(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length < text->left ? (size_t)length : text->left - 1;
    text->at += used;
    text->left -= used;
}

/* A stage's variant as it was chosen: the user's file or a name. */
static const char *choice_of(const icestream_config *config, ics_stage stage)
{
    const char *const names[ICS_STAGES] = {[ICS_STAGE_CREATE] = config->stages.create,
                                           [ICS_STAGE_PROPAGATE] = config->stages.propagate,
                                           [ICS_STAGE_COLLIDE] = config->stages.collide,
                                           [ICS_STAGE_SCATTER] = config->stages.scatter};
    const char *file = config->stages.custom[stage];
    return file != NULL ? file : names[stage];
}

static const char *maths_of(const struct participant *one)
{
    return one->row.best.fast_math ? "fast" : "portable";
}

/* The settings of two configurations that have different ones. */
static void add_settings(struct text *text, const icestream_config *a, const icestream_config *b)
{
    for (int i = 0; i < ICS_STAGES; ++i) {
        const char *one = choice_of(a, (ics_stage)i), *two = choice_of(b, (ics_stage)i);
        if (strcmp(one, two) != 0) {
            add_text(text, ", %s (%s, %s)", ics_stage_name((ics_stage)i), one, two);
        }
    }
    if (strcmp(a->stages.detect, b->stages.detect) != 0) {
        add_text(text, ", detect (%s, %s)", a->stages.detect, b->stages.detect);
    }
    if (ics_config_content(a) != ics_config_content(b)) {
        add_text(text, ", hits (%s, %s)", ics_config_content_name(ics_config_content(a)),
                 ics_config_content_name(ics_config_content(b)));
    }
    if (a->run.seed != b->run.seed) {
        add_text(text, ", seed (%" PRIu64 ", %" PRIu64 ")", a->run.seed, b->run.seed);
    }
    if (a->run.bounce_limit != b->run.bounce_limit) {
        add_text(text, ", bounce limit (%" PRIu32 ", %" PRIu32 ")", a->run.bounce_limit,
                 b->run.bounce_limit);
    }
}

/* Everything that a hit depends on and that the two have different, down to the numbers in the
 * models: "scatter (hg, my.h), seed (1, 2)". Empty: their hits have to be identical. */
static void list_differences(const struct comparison *comparison, const struct participant *first,
                             const struct participant *second, char *buffer, size_t size)
{
    struct text text = {buffer, size};
    buffer[0] = '\0';
    if (first->row.best.fast_math != second->row.best.fast_math) {
        add_text(&text, ", maths (%s, %s)", maths_of(first), maths_of(second));
    }
    const ics_origin *a = &comparison->origin, *b = &comparison->against_origin;
    if (second->against && strcmp(a->ice, b->ice) != 0) {
        add_text(&text, ", ice");
    }
    if (second->against && strcmp(a->detector, b->detector) != 0) {
        add_text(&text, ", detector");
    }
    if (second->against && strcmp(a->configuration, b->configuration) != 0) {
        add_settings(&text, first->config, second->config);
    }
    /* Digests see more than names. */
    if (second->against && buffer[0] == '\0' && strcmp(a->configuration, b->configuration) != 0) {
        add_text(&text, ", light or the content of a stage's file");
    }
    if (buffer[0] != '\0') {
        memmove(buffer, buffer + 2, strlen(buffer + 2) + 1);
    }
}

/* ---- judging ------------------------------------------------------------------------------- */

static int judge(struct comparison *comparison, size_t other, icestream_error *error)
{
    const struct participant *first = &comparison->participants[0];
    const struct participant *second = &comparison->participants[other];
    const ics_measurement *one = &first->row.best, *two = &second->row.best;
    struct pair *pair = &comparison->pairs[other];
    *pair = (struct pair){
        .other = other,
        .same_seed = first->config->run.seed == second->config->run.seed,
        .expect_account = first->config->graph.reach_cull == second->config->graph.reach_cull,
        .same_account = memcmp(&one->account, &two->account, sizeof(icestream_account)) == 0};
    list_differences(comparison, first, second, pair->differences, sizeof pair->differences);
    pair->expect_identical = pair->differences[0] == '\0';
    ics_hit_sample a = {one->hits, one->hit_count, comparison->steps.photons};
    ics_hit_sample b = {two->hits, two->hit_count, comparison->steps.photons};
    int status = ics_verdict_reach(&a, &b, &pair->verdict, error);
    if (pair->expect_identical) {
        pair->holds = pair->verdict.kind == ICS_VERDICT_IDENTICAL &&
                      (pair->same_account || !pair->expect_account);
    } else {
        pair->holds = pair->verdict.kind == ICS_VERDICT_IDENTICAL ||
                      pair->verdict.kind == ICS_VERDICT_COMPATIBLE;
    }
    return status;
}

/* ---- reports ------------------------------------------------------------------------------- */

static int print_participants(const struct comparison *comparison, FILE *out,
                              icestream_error *error)
{
    const ics_row *rows[PARTICIPANTS_MAX];
    for (size_t i = 0; i < comparison->count; ++i) {
        rows[i] = &comparison->participants[i].row;
    }
    fprintf(out, "%" PRIu64 " photons in %zu steps of %s\n\n", comparison->steps.photons,
            comparison->steps.count, comparison->steps.origin);
    return ics_rows_print(rows, comparison->count, comparison->options->markdown, out, error);
}

static void print_tests(const ics_verdict *verdict, FILE *out)
{
    fprintf(out, "    %-12s %12s %14s %12s\n", "test", "statistic", "size", "probability");
    for (size_t i = 0; i < ICS_VERDICT_TESTS; ++i) {
        const ics_verdict_test *test = &verdict->tests[i];
        if (test->test.size > 0) {
            fprintf(out, "    %-12s %12.5g %14.6g %12.4g%s\n", test->name, test->test.statistic,
                    test->test.size, test->test.probability,
                    test->passed ? "" : "  below the level");
        } else {
            fprintf(out, "    %-12s %12s\n", test->name, "too few hits");
        }
    }
    fprintf(out,
            "    Level of each test %.3g, so that at most %.0e of pairs of equal physics are "
            "called\n    different. Variance of hits over their number: %.4f (photons), %.4f "
            "(photons on a module).\n",
            verdict->level, ICS_VERDICT_FALSE_ALARM, verdict->photon_inflation,
            verdict->module_inflation);
}

static void print_pair(const struct comparison *comparison, const struct pair *pair, FILE *out)
{
    const ics_verdict *verdict = &pair->verdict;
    const char *expected = pair->expect_identical ? "identical" : "identical or compatible";
    fprintf(out, "\n%s and %s: ", comparison->participants[0].row.name,
            comparison->participants[pair->other].row.name);
    switch (verdict->kind) {
    case ICS_VERDICT_EMPTY:
        fprintf(out, "no hits in either, so nothing was compared (expected: %s)\n", expected);
        return;
    case ICS_VERDICT_IDENTICAL:
        fprintf(out, "identical, all bytes of all %" PRIu64 " hits%s (expected: %s)\n",
                verdict->shared,
                pair->same_account ? " and the photon account" : "; the photon accounts differ",
                expected);
        return;
    case ICS_VERDICT_COMPATIBLE:
    case ICS_VERDICT_DIFFERENT:
        break;
    }
    fprintf(out, "%s (expected: %s)\n", ics_verdict_name(verdict->kind), expected);
    fprintf(out,
            "    first difference in row %" PRIu64 "; %" PRIu64
            " hits of the same photon on the same module\n",
            verdict->first_difference, verdict->shared);
    if (!pair->expect_identical) {
        fprintf(out,
                "    They differ in: %s.\n    If that changes no physics, the hits are compatible; "
                "if it "
                "does, the tests show it as\n    soon as there are hits enough.\n",
                pair->differences);
    }
    print_tests(verdict, out);
    if (pair->same_seed) {
        fputs("    Both have the same seed, so their hits are correlated: differences look smaller "
              "than\n    by chance. Other seeds (run.seed) make the tests exact.\n",
              out);
    }
}

static int print_text(const struct comparison *comparison, FILE *out, icestream_error *error)
{
    int status = print_participants(comparison, out, error);
    for (size_t i = 1; i < comparison->count; ++i) {
        print_pair(comparison, &comparison->pairs[i], out);
    }
    return status == ICESTREAM_OK ? ics_report_end("compare", out, error) : status;
}

static json_t *participant_json(const struct participant *one)
{
    const icestream_account *account = &one->row.best.account;
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "created", (json_int_t)account->created, "absorbed",
        (json_int_t)account->absorbed, "detected", (json_int_t)account->detected, "left",
        (json_int_t)account->left, "stopped", (json_int_t)account->stopped, "hits",
        (json_int_t)account->hits, "bounces", (json_int_t)account->bounces);
    json_t *object = ics_rows_json(&one->row);
    json_object_set_new(object, "configuration",
                        one->config->path != NULL ? json_string(one->config->path) : json_null());
    json_object_set_new(object, "account", counts);
    return object;
}

static json_t *pair_json(const struct comparison *comparison, const struct pair *pair)
{
    const ics_verdict *verdict = &pair->verdict;
    bool tested = verdict->kind == ICS_VERDICT_COMPATIBLE || verdict->kind == ICS_VERDICT_DIFFERENT;
    json_t *tests = json_array();
    for (size_t i = 0; tested && i < ICS_VERDICT_TESTS; ++i) {
        const ics_verdict_test *test = &verdict->tests[i];
        json_array_append_new(tests, json_pack("{s:s, s:f, s:f, s:f, s:b}", "name", test->name,
                                               "statistic", test->test.statistic, "size",
                                               test->test.size, "probability",
                                               test->test.probability, "passed", test->passed));
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:I, s:f, s:f, s:o}",
                               "first", comparison->participants[0].row.name, "second",
                               comparison->participants[pair->other].row.name, "expected",
                               pair->expect_identical ? "identical" : "compatible", "differences",
                               pair->differences, "verdict", ics_verdict_name(verdict->kind),
                               "holds", pair->holds, "same_seed", pair->same_seed, "same_account",
                               pair->same_account, "shared_hits", (json_int_t)verdict->shared,
                               "photon_inflation", verdict->photon_inflation, "module_inflation",
                               verdict->module_inflation, "tests", tests);
    if (tested) {
        json_object_set_new(object, "level", json_real(verdict->level));
        json_object_set_new(object, "first_difference",
                            json_integer((json_int_t)verdict->first_difference));
    }
    return object;
}

static int print_json(const struct comparison *comparison, bool holds, FILE *out,
                      icestream_error *error)
{
    json_t *participants = json_array();
    json_t *pairs = json_array();
    for (size_t i = 0; i < comparison->count; ++i) {
        json_array_append_new(participants, participant_json(&comparison->participants[i]));
    }
    for (size_t i = 1; i < comparison->count; ++i) {
        json_array_append_new(pairs, pair_json(comparison, &comparison->pairs[i]));
    }
    json_t *report = json_pack(
        "{s:s, s:I, s:I, s:f, s:b, s:o, s:o}", "steps_from", comparison->steps.origin, "steps",
        (json_int_t)comparison->steps.count, "photons", (json_int_t)comparison->steps.photons,
        "false_alarm_rate", ICS_VERDICT_FALSE_ALARM, "holds", holds, "participants", participants,
        "pairs", pairs);
    return ics_report_json("compare", report, out, error);
}

/* The pairs that broke their expectation, one line each. */
static int conclude(const struct comparison *comparison, icestream_error *error)
{
    int status = ICESTREAM_OK;
    ics_error_set(error, ICESTREAM_OK, "%s", "");
    for (size_t i = 1; i < comparison->count; ++i) {
        const struct pair *pair = &comparison->pairs[i];
        if (pair->holds) {
            continue;
        }
        const char *found = pair->verdict.kind == ICS_VERDICT_EMPTY ? "no hits in either"
                            : pair->verdict.kind == ICS_VERDICT_IDENTICAL
                                ? "equal hits but different photon accounts"
                            : pair->expect_identical ? "hits that differ"
                                                     : "hits that are not compatible";
        status = ICESTREAM_E_DIFFERENT;
        ics_error_add(error, status, "compare: %s and %s: found %s, expected %s hits%s%s",
                      comparison->participants[0].row.name, comparison->participants[i].row.name,
                      found, pair->expect_identical ? "identical" : "compatible",
                      pair->expect_identical ? "" : "; they differ in: ", pair->differences);
    }
    return status;
}

int icestream_compare(const icestream_config *config, const icestream_compare_options *options,
                      FILE *out, icestream_error *error)
{
    struct comparison *comparison = calloc(1, sizeof *comparison);
    if (comparison == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "compare: out of memory");
    }
    comparison->config = config;
    comparison->against = options->against;
    comparison->options = options;
    int status = run_config(comparison, config, error);
    if (status == ICESTREAM_OK && comparison->against != NULL) {
        status = run_config(comparison, comparison->against, error);
    }
    bool holds = status == ICESTREAM_OK;
    for (size_t i = 1; status == ICESTREAM_OK && i < comparison->count; ++i) {
        status = judge(comparison, i, error);
        holds = holds && comparison->pairs[i].holds;
    }
    if (status == ICESTREAM_OK) {
        status = options->json ? print_json(comparison, holds, out, error)
                               : print_text(comparison, out, error);
    }
    if (status == ICESTREAM_OK && !holds) {
        status = conclude(comparison, error);
    }
    ics_step_list_free(&comparison->steps);
    for (size_t i = 0; i < comparison->count; ++i) {
        ics_experiment_measurement_free(&comparison->participants[i].row.best);
    }
    free(comparison);
    return status;
}
