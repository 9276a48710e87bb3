/* `icestream compare`: the same steps through several schedules or configurations. */
#include "pipeline/config/config.h"
#include "pipeline/error.h"
#include "pipeline/tools/experiment.h"
#include "pipeline/tools/verdict.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* One configuration run through one schedule. */
struct participant {
    const is_config *config;
    bool against; /* of the second configuration */
    char name[64];
    is_measurement measurement;
};

/* The first participant against another one. */
struct pair {
    size_t other;
    bool expect_identical;
    bool same_seed;
    bool expect_account; /* equal photon accounts as well */
    bool same_account;
    bool holds;
    is_verdict verdict;
};

enum { PARTICIPANTS_MAX = 2 * IS_SCHEDULE_COUNT };

struct comparison {
    const is_config *config, *against;
    is_run_origin origin, against_origin;
    is_step_list steps;
    struct participant participants[PARTICIPANTS_MAX];
    size_t count;
    struct pair pairs[PARTICIPANTS_MAX];
};

/* ---- who takes part ------------------------------------------------------------------------ */

static int parse_schedules(const char *text, is_schedule schedules[IS_SCHEDULE_COUNT],
                           size_t *count, is_error *error)
{
    *count = 0;
    for (const char *start = text;;) {
        size_t length = strcspn(start, ",");
        char name[32] = "";
        if (length < sizeof name)
            memcpy(name, start, length);
        is_schedule schedule;
        if (!is_schedule_find(name, &schedule) || !is_schedule_on_cpu(schedule))
            return is_error_set(error, IS_E_USAGE,
                                "--schedules: found '%.*s', expected schedules of this device, "
                                "separated by commas (wavefront,monolithic)",
                                (int)(length < 200 ? length : 200), start);
        for (size_t i = 0; i < *count; ++i)
            if (schedules[i] == schedule)
                return is_error_set(error, IS_E_USAGE, "--schedules: '%s' is there twice", name);
        schedules[(*count)++] = schedule;
        if (start[length] == '\0')
            return IS_OK;
        start += length + 1;
    }
}

static size_t all_schedules(is_schedule schedules[IS_SCHEDULE_COUNT])
{
    size_t count = 0;
    for (int i = IS_SCHEDULE_AUTO + 1; i < IS_SCHEDULE_COUNT; ++i)
        if (is_schedule_on_cpu((is_schedule)i))
            schedules[count++] = (is_schedule)i;
    return count;
}

static void add_participants(struct comparison *comparison, const is_config *config,
                             const is_schedule *schedules, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        struct participant *added = &comparison->participants[comparison->count++];
        added->config = config;
        added->against = config == comparison->against;
        added->measurement.schedule = schedules[i];
    }
}

static int choose_participants(struct comparison *comparison, const char *names, is_error *error)
{
    is_schedule schedules[IS_SCHEDULE_COUNT];
    size_t count = 0;
    const is_config *against = comparison->against;
    if (names) {
        int status = parse_schedules(names, schedules, &count, error);
        if (status != IS_OK)
            return status;
    } else {
        count = all_schedules(schedules);
    }
    if (!against) {
        add_participants(comparison, comparison->config, schedules, count);
    } else if (names) {
        add_participants(comparison, comparison->config, schedules, count);
        add_participants(comparison, against, schedules, count);
    } else {
        add_participants(comparison, comparison->config, &comparison->config->graph.schedule, 1);
        add_participants(comparison, against, &against->graph.schedule, 1);
    }
    if (comparison->count < 2)
        return is_error_set(error, IS_E_USAGE,
                            "compare: one schedule alone has nothing to be compared with; name two "
                            "or give --against");
    return IS_OK;
}

/* ---- running and judging ------------------------------------------------------------------- */

static int load_steps(struct comparison *comparison, uint32_t spectra, is_error *error)
{
    int status = is_step_list_from_files(comparison->config, spectra, &comparison->steps, error);
    if (status == IS_OK && comparison->steps.origin[0] == '\0')
        status = is_step_list_from_workload(comparison->config, &comparison->steps, error);
    return status;
}

static int run_one(struct comparison *comparison, const is_experiment *experiment,
                   struct participant *one, is_error *error)
{
    int status = is_experiment_run(experiment, one->measurement.schedule, 0, &comparison->steps,
                                   &one->measurement, error);
    snprintf(one->name, sizeof one->name, "%s%s", is_schedule_name(one->measurement.schedule),
             one->against ? " (against)" : "");
    return status;
}

/* Runs the participants of one configuration, whose tables exist only meanwhile. The steps come
 * from the first configuration and must make sense to the second. */
static int run_config(struct comparison *comparison, const is_config *config, is_error *error)
{
    is_experiment *experiment = NULL;
    int status = is_experiment_create(config, &experiment, error);
    if (status == IS_OK && config == comparison->config)
        status = load_steps(comparison, is_experiment_spectra(experiment), error);
    if (status == IS_OK)
        *(config == comparison->config ? &comparison->origin : &comparison->against_origin) =
            *is_experiment_origin(experiment);
    for (size_t i = 0; status == IS_OK && i < comparison->steps.count; ++i)
        if (comparison->steps.steps[i].spectrum >= is_experiment_spectra(experiment))
            status = is_error_set(
                error, IS_E_CONFIG,
                "compare: step %zu has spectrum %u, the configuration's light has "
                "only %u spectra",
                i, comparison->steps.steps[i].spectrum, is_experiment_spectra(experiment));
    for (size_t i = 0; status == IS_OK && i < comparison->count; ++i)
        if (comparison->participants[i].config == config)
            status = run_one(comparison, experiment, &comparison->participants[i], error);
    is_experiment_destroy(experiment);
    return status;
}

/* Whether everything that a hit depends on is the same, down to the numbers in the models. */
static bool same_origin(const is_run_origin *a, const is_run_origin *b)
{
    return a->seed == b->seed && strcmp(a->configuration, b->configuration) == 0 &&
           strcmp(a->ice, b->ice) == 0 && strcmp(a->detector, b->detector) == 0;
}

static int judge(struct comparison *comparison, size_t other, is_error *error)
{
    const struct participant *first = &comparison->participants[0];
    const struct participant *second = &comparison->participants[other];
    struct pair *pair = &comparison->pairs[other];
    *pair = (struct pair){
        .other = other,
        .expect_identical =
            !second->against || same_origin(&comparison->origin, &comparison->against_origin),
        .same_seed = first->config->run.seed == second->config->run.seed,
        .expect_account = first->config->graph.reach_cull == second->config->graph.reach_cull,
        .same_account = memcmp(&first->measurement.account, &second->measurement.account,
                               sizeof(is_account)) == 0};
    is_hit_sample a = {first->measurement.hits, first->measurement.hit_count,
                       comparison->steps.photons};
    is_hit_sample b = {second->measurement.hits, second->measurement.hit_count,
                       comparison->steps.photons};
    int status = is_verdict_reach(&a, &b, &pair->verdict, error);
    if (pair->expect_identical)
        pair->holds = pair->verdict.kind == IS_VERDICT_IDENTICAL &&
                      (pair->same_account || !pair->expect_account);
    else
        pair->holds = pair->verdict.kind == IS_VERDICT_IDENTICAL ||
                      pair->verdict.kind == IS_VERDICT_COMPATIBLE;
    return status;
}

/* ---- reports ------------------------------------------------------------------------------- */

static void print_participants(const struct comparison *comparison, FILE *out)
{
    fprintf(out, "%" PRIu64 " photons in %zu steps of %s\n\n", comparison->steps.photons,
            comparison->steps.count, comparison->steps.origin);
    fprintf(out, "  %-28s %7s %9s %12s %10s %9s %12s\n", "schedule", "threads", "seconds",
            "photons/s", "ns/photon", "bounces", "hits");
    for (size_t i = 0; i < comparison->count; ++i) {
        const is_measurement *m = &comparison->participants[i].measurement;
        fprintf(out, "  %-28s %7u %9.3f %12.4g %10.1f %9.2f %12zu\n",
                comparison->participants[i].name, m->threads, m->seconds,
                is_measurement_photons_per_second(m), is_measurement_photon_cost(m),
                is_measurement_bounces(m), m->hit_count);
    }
    fputs("  (ns/photon: of one thread; bounces: segments per photon)\n", out);
}

static void print_tests(const is_verdict *verdict, FILE *out)
{
    fprintf(out, "    %-12s %12s %14s %12s\n", "test", "statistic", "size", "probability");
    for (size_t i = 0; i < IS_VERDICT_TESTS; ++i) {
        const is_verdict_test *test = &verdict->tests[i];
        if (test->test.size > 0)
            fprintf(out, "    %-12s %12.5g %14.6g %12.4g%s\n", test->name, test->test.statistic,
                    test->test.size, test->test.probability,
                    test->passed ? "" : "  below the level");
        else
            fprintf(out, "    %-12s %12s\n", test->name, "too few hits");
    }
    fprintf(out,
            "    Level of each test %.3g, so that at most %.0e of pairs of equal physics are "
            "called\n    different. Variance of hits over their number: %.4f (photons), %.4f "
            "(photons on a module).\n",
            verdict->level, IS_VERDICT_FALSE_ALARM, verdict->photon_inflation,
            verdict->module_inflation);
}

static void print_pair(const struct comparison *comparison, const struct pair *pair, FILE *out)
{
    const is_verdict *verdict = &pair->verdict;
    const char *expected = pair->expect_identical ? "identical" : "identical or compatible";
    fprintf(out, "\n%s and %s: ", comparison->participants[0].name,
            comparison->participants[pair->other].name);
    switch (verdict->kind) {
    case IS_VERDICT_EMPTY:
        fprintf(out, "no hits in either, so nothing was compared (expected: %s)\n", expected);
        return;
    case IS_VERDICT_IDENTICAL:
        fprintf(out, "identical, all bytes of all %" PRIu64 " hits%s (expected: %s)\n",
                verdict->shared,
                pair->same_account ? " and the photon account" : "; the photon accounts differ",
                expected);
        return;
    case IS_VERDICT_COMPATIBLE:
    case IS_VERDICT_DIFFERENT:
        break;
    }
    fprintf(out, "%s (expected: %s)\n", is_verdict_name(verdict->kind), expected);
    fprintf(out,
            "    first difference in row %" PRIu64 "; %" PRIu64
            " hits of the same photon on the same module\n",
            verdict->first_difference, verdict->shared);
    print_tests(verdict, out);
    if (pair->same_seed)
        fputs("    Both have the same seed, so their hits are correlated: differences look smaller "
              "than\n    by chance. Other seeds (run.seed) make the tests exact.\n",
              out);
}

static int print_text(const struct comparison *comparison, FILE *out, is_error *error)
{
    print_participants(comparison, out);
    for (size_t i = 1; i < comparison->count; ++i)
        print_pair(comparison, &comparison->pairs[i], out);
    return fflush(out) == 0 && !ferror(out)
               ? IS_OK
               : is_error_set(error, IS_E_OUTPUT, "compare: cannot write the report");
}

static json_t *participant_json(const struct participant *one)
{
    const is_measurement *m = &one->measurement;
    const is_account *account = &m->account;
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "created", (json_int_t)account->created, "absorbed",
        (json_int_t)account->absorbed, "detected", (json_int_t)account->detected, "left",
        (json_int_t)account->left, "stopped", (json_int_t)account->stopped, "hits",
        (json_int_t)account->hits, "bounces", (json_int_t)account->bounces);
    return json_pack(
        "{s:s, s:s, s:s?, s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:I, s:o}", "name", one->name,
        "schedule", is_schedule_name(m->schedule), "configuration", one->config->path, "threads",
        (int)m->threads, "pool", (int)m->pool, "instruction_set", m->instruction_set, "seconds",
        m->seconds, "photons_per_second", is_measurement_photons_per_second(m),
        "nanoseconds_per_photon_and_thread", is_measurement_photon_cost(m), "bounces_per_photon",
        is_measurement_bounces(m), "hits", (json_int_t)m->hit_count, "account", counts);
}

static json_t *pair_json(const struct comparison *comparison, const struct pair *pair)
{
    const is_verdict *verdict = &pair->verdict;
    bool tested = verdict->kind == IS_VERDICT_COMPATIBLE || verdict->kind == IS_VERDICT_DIFFERENT;
    json_t *tests = json_array();
    for (size_t i = 0; tested && i < IS_VERDICT_TESTS; ++i) {
        const is_verdict_test *test = &verdict->tests[i];
        json_array_append_new(tests, json_pack("{s:s, s:f, s:f, s:f, s:b}", "name", test->name,
                                               "statistic", test->test.statistic, "size",
                                               test->test.size, "probability",
                                               test->test.probability, "passed", test->passed));
    }
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:I, s:f, s:f, s:o}", "first",
        comparison->participants[0].name, "second", comparison->participants[pair->other].name,
        "expected", pair->expect_identical ? "identical" : "compatible", "verdict",
        is_verdict_name(verdict->kind), "holds", pair->holds, "same_seed", pair->same_seed,
        "same_account", pair->same_account, "shared_hits", (json_int_t)verdict->shared,
        "photon_inflation", verdict->photon_inflation, "module_inflation",
        verdict->module_inflation, "tests", tests);
    if (tested) {
        json_object_set_new(object, "level", json_real(verdict->level));
        json_object_set_new(object, "first_difference",
                            json_integer((json_int_t)verdict->first_difference));
    }
    return object;
}

static int print_json(const struct comparison *comparison, bool holds, FILE *out, is_error *error)
{
    json_t *participants = json_array();
    json_t *pairs = json_array();
    for (size_t i = 0; i < comparison->count; ++i)
        json_array_append_new(participants, participant_json(&comparison->participants[i]));
    for (size_t i = 1; i < comparison->count; ++i)
        json_array_append_new(pairs, pair_json(comparison, &comparison->pairs[i]));
    json_t *report =
        json_pack("{s:s, s:I, s:I, s:f, s:b, s:o, s:o}", "steps_from", comparison->steps.origin,
                  "steps", (json_int_t)comparison->steps.count, "photons",
                  (json_int_t)comparison->steps.photons, "false_alarm_rate", IS_VERDICT_FALSE_ALARM,
                  "holds", holds, "participants", participants, "pairs", pairs);
    int status = IS_OK;
    if (!report)
        status = is_error_set(error, IS_E_MEMORY, "compare: no memory for the report");
    else if (json_dumpf(report, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF)
        status = is_error_set(error, IS_E_OUTPUT, "compare: cannot write the report");
    json_decref(report);
    return status;
}

/* The pairs that broke their expectation, one line each. */
static int conclude(const struct comparison *comparison, is_error *error)
{
    int status = IS_OK;
    is_error_set(error, IS_OK, "%s", "");
    for (size_t i = 1; i < comparison->count; ++i) {
        const struct pair *pair = &comparison->pairs[i];
        if (pair->holds)
            continue;
        const char *found = pair->verdict.kind == IS_VERDICT_EMPTY ? "no hits in either"
                            : pair->verdict.kind == IS_VERDICT_IDENTICAL
                                ? "equal hits but different photon accounts"
                            : pair->expect_identical ? "hits that differ"
                                                     : "hits that are not compatible";
        status = IS_E_DIFFERENT;
        is_error_add(error, status, "compare: %s and %s: found %s, expected %s hits",
                     comparison->participants[0].name, comparison->participants[i].name, found,
                     pair->expect_identical ? "identical" : "compatible");
    }
    return status;
}

int is_compare(const is_config *config, const is_compare_options *options, FILE *out,
               is_error *error)
{
    struct comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        return is_error_set(error, IS_E_MEMORY, "compare: out of memory");
    comparison->config = config;
    comparison->against = options->against;
    int status = choose_participants(comparison, options->schedules, error);
    if (status == IS_OK)
        status = run_config(comparison, config, error);
    if (status == IS_OK && comparison->against)
        status = run_config(comparison, comparison->against, error);
    bool holds = status == IS_OK;
    for (size_t i = 1; status == IS_OK && i < comparison->count; ++i) {
        status = judge(comparison, i, error);
        holds = holds && comparison->pairs[i].holds;
    }
    if (status == IS_OK)
        status = options->json ? print_json(comparison, holds, out, error)
                               : print_text(comparison, out, error);
    if (status == IS_OK && !holds)
        status = conclude(comparison, error);
    is_step_list_free(&comparison->steps);
    for (size_t i = 0; i < comparison->count; ++i)
        is_measurement_free(&comparison->participants[i].measurement);
    free(comparison);
    return status;
}
