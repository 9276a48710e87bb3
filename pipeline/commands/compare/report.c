/* The report of `icestream compare`, as text and as JSON. */
#include "pipeline/commands/measure/report.h"

#include "base/plural.h"
#include "pipeline/commands/compare/compare.h"
#include "pipeline/photons/config/config.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>

static int print_participants(const ics_comparison *comparison, FILE *out, icestream_error *error)
{
    const ics_row *rows[ICS_COMPARE_PARTICIPANTS];
    for (size_t i = 0; i < comparison->count; ++i) {
        rows[i] = &comparison->participants[i].row;
    }
    fprintf(out, "%" PRIu64 " photon%s in %zu step%s of %s\n", comparison->steps.photons,
            ics_plural_s(comparison->steps.photons), comparison->steps.count,
            ics_plural_s(comparison->steps.count), comparison->steps.origin);
    if (comparison->against != NULL) {
        ics_compare_light_print(comparison, out);
    }
    fputc('\n', out);
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
            "    Level of each test %.3g: at most %.0e of the pairs with equal physics are called\n"
            "    different. Variance of the number of hits over its mean: %.4f (photons), %.4f "
            "(photons\n    on a module).\n",
            verdict->level, ICS_VERDICT_FALSE_ALARM, verdict->photon_inflation,
            verdict->module_inflation);
}

/* The sums estimate the photons, or photo-electrons, that modules of true size would get. */
static void print_sums(const ics_compare_pair *pair, FILE *out)
{
    const ics_statistics_sum *a = &pair->verdict.first, *b = &pair->verdict.second;
    fprintf(out, "    Sum of weights: %.6g +- %.2g and %.6g +- %.2g", a->sum, sqrt(a->variance),
            b->sum, sqrt(b->variance));
    if (a->sum > 0 && b->sum > 0) {
        fprintf(out, ", ratio %.5g", b->sum / a->sum);
    }
    fputs(".\n", out);
}

static void print_pair(const ics_comparison *comparison, const ics_compare_pair *pair, FILE *out)
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
        fprintf(out, "identical, all bytes of all %" PRIu64 " hit%s%s (expected: %s)\n",
                verdict->shared, ics_plural_s(verdict->shared),
                pair->same_account ? " and the photon account" : "; the photon accounts differ",
                expected);
        print_sums(pair, out);
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
    print_sums(pair, out);
    if (!pair->expect_identical) {
        fprintf(out,
                "    They differ in: %s.\n    If that does not change the physics, the hits are "
                "compatible. "
                "If it does,\n    the tests show it when there are enough hits.\n",
                pair->differences);
    }
    print_tests(verdict, out);
    if (pair->same_seed) {
        fputs(
            "    Both have the same seed, so their hits are correlated, and differences look "
            "smaller than\n    they would be by chance. With different seeds (run.seed) the tests "
            "are exact.\n",
            out);
    }
}

int ics_compare_print_text(const ics_comparison *comparison, FILE *out, icestream_error *error)
{
    int status = print_participants(comparison, out, error);
    for (size_t i = 1; i < comparison->count; ++i) {
        print_pair(comparison, &comparison->pairs[i], out);
    }
    return status == ICESTREAM_OK ? ics_report_end("compare", out, error) : status;
}

static json_t *participant_json(const ics_compare_participant *one)
{
    const ics_measurement *best = &one->row.best;
    const icestream_account *account = &best->account;
    const ics_statistics_sum weights = ics_statistics_weights(best->hits, best->hit_count);
    json_t *counts = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "created", (json_int_t)account->created, "absorbed",
        (json_int_t)account->absorbed, "detected", (json_int_t)account->detected, "left",
        (json_int_t)account->left, "stopped", (json_int_t)account->stopped, "hits",
        (json_int_t)account->hits, "bounces", (json_int_t)account->bounces);
    json_t *object = ics_rows_json(&one->row);
    json_object_set_new(object, "configuration",
                        one->config->path != NULL ? json_string(one->config->path) : json_null());
    json_object_set_new(object, "account", counts);
    json_object_set_new(object, "weight_sum", json_real(weights.sum));
    json_object_set_new(object, "weight_error", json_real(sqrt(weights.variance)));
    return object;
}

static json_t *pair_json(const ics_comparison *comparison, const ics_compare_pair *pair)
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
    json_object_set_new(object, "weight_sums",
                        json_pack("[{s:f, s:f}, {s:f, s:f}]", "sum", verdict->first.sum, "error",
                                  sqrt(verdict->first.variance), "sum", verdict->second.sum,
                                  "error", sqrt(verdict->second.variance)));
    if (tested) {
        json_object_set_new(object, "level", json_real(verdict->level));
        json_object_set_new(object, "first_difference",
                            json_integer((json_int_t)verdict->first_difference));
    }
    return object;
}

static json_t *light_json(const ics_comparison *comparison)
{
    static const char *const kinds[] = {[ICS_COMPARE_LIGHT_SAME] = "same",
                                        [ICS_COMPARE_LIGHT_OWN] = "own",
                                        [ICS_COMPARE_LIGHT_ACCEPTED] = "accepted"};
    const ics_compare_light *light = &comparison->light;
    const ics_step_list *steps =
        light->kind == ICS_COMPARE_LIGHT_OWN ? &comparison->against_steps : &comparison->steps;
    return json_pack("{s:s, s:b, s:[f, f], s:I, s:I, s:O}", "against", kinds[light->kind],
                     "by_weight", (int)light->by_weight, "band", light->band.low, light->band.high,
                     "steps", (json_int_t)steps->count, "photons", (json_int_t)steps->photons,
                     "differences", light->differences);
}

int ics_compare_print_json(const ics_comparison *comparison, bool holds, FILE *out,
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
    if (comparison->against != NULL) {
        json_object_set_new(report, "light", light_json(comparison));
    }
    return ics_report_json("compare", report, out, error);
}
