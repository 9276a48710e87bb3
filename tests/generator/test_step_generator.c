/* Steps that are made while they are used (pipeline/photons/generator/step_generator.h).
 *
 * Promises: blocks, pieces of any size and any number of threads give the same steps; a copy gets
 * all steps before; the end may come at any time; what is wrong with a list is reported with its
 * line. To join: call expect_same with a new kind of light.
 */
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/generator/step_generator.h"
#include "tests/support/config_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HERE "x: 0, y: 0, z: 0, zenith: 60, azimuth: 30"
#define LIST                                                                                       \
    "particles: {cascades: steps, list: [{type: e-, energy: 1500, " HERE "}, "                     \
    "{type: mu, event: 1, energy: 50, length: 90, " HERE "}]}\n"
#define WORK "workload: {kind: uniform, steps: 140000}\n"

typedef struct light {
    icestream_config *config;
    ics_models *models;
} light;

static light light_of(const char *text)
{
    light made = {.config = load(text)};
    icestream_error error = {0};
    ck_assert_msg(ics_models_create(made.config, &made.models, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return made;
}

static void forget(light *gone)
{
    ics_models_destroy(gone->models);
    icestream_config_destroy(gone->config);
}

static ics_step_generator *start(const light *from, uint32_t threads)
{
    ics_step_generator *generator = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_step_generator_create(from->config, from->models, -1, &generator, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    if (threads > 1) {
        ics_step_generator_prepare(generator, 7);
    }
    ck_assert_int_eq(ics_step_generator_start(generator, threads, &error), ICESTREAM_OK);
    return generator;
}

/* Takes all steps in pieces. The caller frees them. Several threads prepare them. */
static icestream_step *take_all(const light *from, uint32_t threads, size_t piece, size_t *count)
{
    ics_step_generator *generator = start(from, threads);
    icestream_step *steps = NULL;
    icestream_error error = {0};
    size_t got = 1, capacity = 0;
    for (*count = 0; got > 0; *count += got) {
        if (*count + piece > capacity) {
            capacity = 2 * (*count + piece);
            steps = realloc(steps, capacity * sizeof *steps);
            ck_assert_ptr_nonnull(steps);
        }
        ck_assert_msg(ics_step_generator_read(generator, 7, steps + *count, piece, &got, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
    }
    ck_assert_uint_eq(ics_step_generator_totals(generator).steps, *count);
    ics_step_generator_destroy(generator);
    return steps;
}

static void expect_same(const char *text)
{
    light from = light_of(text);
    size_t expected_count, count;
    icestream_step *expected = take_all(&from, 1, 4096, &expected_count);
    ck_assert_uint_gt(expected_count, 500);
    static const size_t pieces[] = {1000003, 4096, 777};
    for (size_t i = 0; i < 3; ++i) {
        icestream_step *steps = take_all(&from, (uint32_t)(2 * i + 1), pieces[i], &count);
        ck_assert_uint_eq(count, expected_count);
        ck_assert(memcmp(steps, expected, count * sizeof *steps) == 0);
        free(steps);
    }
    free(expected);
    forget(&from);
}

START_TEST(particles_are_the_same_for_every_reader)
{
    expect_same(LIST);
}
END_TEST

/* A block of steps has hundreds of these particles. Hadrons fluctuate, and three particles share an
 * event. */
START_TEST(small_particles_are_the_same_for_every_reader)
{
    static const char *const types[] = {"e-", "pi+", "p", "gamma", "hadr"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs("particles: {cascades: steps, list: [", out);
    for (int i = 0; i < 2000; ++i) {
        fprintf(out, "{type: %s, energy: %g, event: %d, " HERE "}, ", types[i % 5],
                1.5 + i % 100 * 0.8, i / 3);
    }
    fputs("]}\n", out);
    fclose(out);
    expect_same(text);
    free(text);
}
END_TEST

START_TEST(workload_is_the_same_for_every_reader)
{
    expect_same(WORK);
}
END_TEST

static int add_up(void *user, const icestream_step *steps, size_t count, icestream_error *error)
{
    (void)steps;
    (void)error;
    *(size_t *)user += count;
    return ICESTREAM_OK;
}

static int refuse(void *user, const icestream_step *steps, size_t count, icestream_error *error)
{
    (void)user;
    (void)steps;
    (void)count;
    *error = (icestream_error){.status = ICESTREAM_E_OUTPUT, .text = "no room"};
    return ICESTREAM_E_OUTPUT;
}

START_TEST(copy_gets_all_steps_first_and_its_error_ends_them)
{
    light from = light_of(WORK);
    icestream_error error = {0};
    ics_step_generator *generator = NULL;
    const icestream_step *steps;
    size_t count = 1, copied = 0, taken = 0;
    ck_assert_int_eq(ics_step_generator_create(from.config, from.models, -1, &generator, &error),
                     ICESTREAM_OK);
    ics_step_generator_copy_to(generator, add_up, &copied);
    ck_assert_int_eq(ics_step_generator_start(generator, 3, &error), ICESTREAM_OK);
    while (count > 0) {
        ck_assert_int_eq(ics_step_generator_next(generator, &steps, &count, &error), ICESTREAM_OK);
        taken += count;
        ck_assert_uint_ge(copied, taken);
    }
    ck_assert_uint_eq(taken, 140000);
    ics_step_generator_destroy(generator);

    ck_assert_int_eq(ics_step_generator_create(from.config, from.models, -1, &generator, &error),
                     ICESTREAM_OK);
    ics_step_generator_copy_to(generator, refuse, NULL);
    ck_assert_int_eq(ics_step_generator_start(generator, 2, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_step_generator_next(generator, &steps, &count, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_str_eq(error.text, "no room");
    ics_step_generator_destroy(generator);
    forget(&from);
}
END_TEST

/* An event of 9e7 GeV would have more steps than any memory holds. */
START_TEST(end_comes_at_any_time)
{
    light from =
        light_of("particles: {cascades: steps, list: [{type: e-, energy: 9e7, " HERE "}]}\n");
    icestream_error error = {0};
    const icestream_step *steps;
    size_t count = 0;
    for (uint32_t threads = 1; threads < 4; ++threads) {
        ics_step_generator_destroy(start(&from, threads));
        ics_step_generator *generator = start(&from, threads);
        ck_assert_int_eq(ics_step_generator_next(generator, &steps, &count, &error), ICESTREAM_OK);
        ck_assert_uint_eq(count, 65536);
        ics_step_generator_destroy(generator);
    }
    forget(&from);
}
END_TEST

START_TEST(bad_light_is_named)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"particles: {list: [{type: ph, photons: 5, x: 0, y: 0, z: 9000, zenith: 0, azimuth: 0},"
         " {type: flasher, event: 1, string: 63, module: 20, led: 7, photons: 0}]}\n",
         NULL},
        {"particles: {list: [{type: flasher, string: 63, module: 20, led: 7, photons: 0}]}\n",
         "work/run.yaml:1:19: particle 1: error: found particles without light, expected at least "
         "one photon"},
    };
    for (size_t i = 0; i < 2; ++i) {
        light from = light_of(cases[i].text);
        icestream_step steps[64];
        icestream_error error = {0};
        size_t got = 0;
        ics_step_generator *generator = start(&from, 2);
        const int status = ics_step_generator_read(generator, 7, steps, 64, &got, &error);
        ck_assert_int_eq(status, cases[i].says != NULL ? ICESTREAM_E_INPUT : ICESTREAM_OK);
        ck_assert_msg(cases[i].says == NULL || strstr(error.text, cases[i].says) != NULL, "%s",
                      error.text);
        ics_step_generator_destroy(generator);
        forget(&from);
    }
}
END_TEST

/* Reads steps up to the first bad one, as if the run had no spectrum of a flasher. */
static size_t read_to_bad(const light *from, bool prepares, icestream_step *steps, size_t capacity,
                          icestream_error *error)
{
    ics_step_generator *generator = NULL;
    size_t count = 0, got = 1;
    ck_assert_int_eq(ics_step_generator_create(from->config, from->models, -1, &generator, error),
                     ICESTREAM_OK);
    if (prepares) {
        ics_step_generator_prepare(generator, 1);
    }
    ck_assert_int_eq(ics_step_generator_start(generator, 2, error), ICESTREAM_OK);
    while (ics_step_generator_read(generator, 1, steps + count, 1, &got, error) == ICESTREAM_OK) {
        ck_assert_uint_gt(got, 0);
        count += got;
        ck_assert_uint_lt(count, capacity);
    }
    ics_step_generator_destroy(generator);
    return count;
}

START_TEST(bad_step_has_its_row)
{
    enum { MOST = 100000 };
    light from =
        light_of("particles: {cascades: steps, list: [{type: e-, energy: 1500, " HERE "},\n"
                 " {type: flasher, event: 1, string: 63, module: 20, led: 7, photons: 1e6}]}\n");
    icestream_step *one = calloc(MOST, sizeof *one), *two = calloc(MOST, sizeof *two);
    icestream_error first, second;
    const size_t count = read_to_bad(&from, false, one, MOST, &first);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(read_to_bad(&from, true, two, MOST, &second), count);
    ck_assert(memcmp(one, two, count * sizeof *one) == 0);
    ck_assert_ptr_nonnull(strstr(first.text, "field spectrum: found "));
    ck_assert_str_eq(first.text, second.text);
    ck_assert_int_eq(second.status, ICESTREAM_E_INPUT);
    free(one);
    free(two);
    forget(&from);
}
END_TEST

/* What steps do not depend on changes no digest; everything else does. */
START_TEST(digest_is_that_of_the_steps)
{
    static const struct {
        const char *text;
        bool same;
    } cases[] = {
        {LIST, true},
        {"device: {threads: 3}\nsink: {directory: other/}\n" LIST, true},
        {"run: {seed: 2}\n" LIST, false},
        {"detector: {oversize: 4}\n" LIST, false},
        {"ice: {model: uniform}\n" LIST, false},
        {"particles: {stopping: true, list: [{type: e-, energy: 1500, " HERE "}, "
         "{type: mu, event: 1, energy: 50, length: 90, " HERE "}]}\n",
         false},
        {WORK, false},
    };
    char expected[ICS_DIGEST_TEXT], digest[ICS_DIGEST_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        light from = light_of(cases[i].text);
        icestream_error error = {0};
        ck_assert_int_eq(ics_light_digest_make(from.config, from.models, digest, &error),
                         ICESTREAM_OK);
        if (i == 0) {
            memcpy(expected, digest, sizeof expected);
        }
        ck_assert_msg((strcmp(digest, expected) == 0) == cases[i].same, "%s", cases[i].text);
        forget(&from);
    }
}
END_TEST

START_TEST(forecast_is_right)
{
    static const char *const texts[] = {LIST, WORK};
    for (size_t i = 0; i < 2; ++i) {
        light from = light_of(texts[i]);
        ics_forecast forecast;
        icestream_error error = {0};
        size_t count;
        ck_assert_int_eq(
            ics_forecast_make(from.config, from.models, ICS_SURVEY_PARTS, NULL, &forecast, &error),
            ICESTREAM_OK);
        free(take_all(&from, 1, 4096, &count));
        ck_assert(forecast.known && forecast.exact);
        ck_assert_double_eq(forecast.steps, (double)count);
        ck_assert_double_eq(ics_forecast_bytes(&forecast), 1024 + 72.0 * (double)count);
        forget(&from);
    }
}
END_TEST

ICS_TEST_MAIN("step_generator")
{
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, particles_are_the_same_for_every_reader);
    tcase_add_test(steps, small_particles_are_the_same_for_every_reader);
    tcase_add_test(steps, workload_is_the_same_for_every_reader);
    tcase_add_test(steps, copy_gets_all_steps_first_and_its_error_ends_them);
    tcase_add_test(steps, end_comes_at_any_time);
    tcase_add_test(steps, bad_light_is_named);
    tcase_add_test(steps, bad_step_has_its_row);
    tcase_add_test(steps, digest_is_that_of_the_steps);
    tcase_add_test(steps, forecast_is_right);
    suite_add_tcase(suite, steps);
}
