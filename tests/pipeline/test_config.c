/* Run files: defaults, every type of value, overrides, contradictions, places, printing. */
#include "pipeline/config/config.h"
#include "pipeline/config/nearest.h"
#include "pipeline/config/number.h"

#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static is_config *load_with(const char *text, const char *const *sets, size_t set_count)
{
    is_config *config = NULL;
    is_error error = {0};
    int status =
        is_config_load_text("work/run.yaml", text, strlen(text), sets, set_count, &config, &error);
    ck_assert_msg(status == IS_OK, "%s: %s", text, error.text);
    ck_assert_ptr_nonnull(config);
    return config;
}

static is_config *load(const char *text)
{
    return load_with(text, NULL, 0);
}

static void expect_error(const char *text, const char *const *sets, size_t set_count,
                         const char *expected)
{
    is_config *config = NULL;
    is_error error = {0};
    int status =
        is_config_load_text("r.yaml", text, strlen(text), sets, set_count, &config, &error);
    ck_assert_msg(status == IS_E_CONFIG, "accepted: %s", text);
    ck_assert_ptr_null(config);
    ck_assert_int_eq(error.status, IS_E_CONFIG);
    ck_assert_str_eq(error.text, expected);
}

/* ---- numbers and nearest words -------------------------------------------------------------- */

START_TEST(whole_numbers)
{
    static const struct {
        const char *text;
        is_number_result result;
        uint64_t value;
    } rows[] = {
        {"0", IS_NUMBER_OK, 0},
        {"200000", IS_NUMBER_OK, 200000},
        {"+5", IS_NUMBER_OK, 5},
        {"-0", IS_NUMBER_OK, 0},
        {"1e6", IS_NUMBER_OK, 1000000},
        {"1E+6", IS_NUMBER_OK, 1000000},
        {"2.5e3", IS_NUMBER_OK, 2500},
        {"12.0", IS_NUMBER_OK, 12},
        {"1200e-2", IS_NUMBER_OK, 12},
        {"0.5e1", IS_NUMBER_OK, 5},
        {".5e1", IS_NUMBER_OK, 5},
        {"5.", IS_NUMBER_OK, 5},
        {"0e999999999999999999999", IS_NUMBER_OK, 0},
        {"0xff", IS_NUMBER_OK, 255},
        {"0XFf", IS_NUMBER_OK, 255},
        {"18446744073709551615", IS_NUMBER_OK, UINT64_MAX},
        {"0xffffffffffffffff", IS_NUMBER_OK, UINT64_MAX},
        {"1844674407370955161.5e1", IS_NUMBER_OK, UINT64_MAX},
        {"18446744073709551616", IS_NUMBER_TOO_LARGE, 0},
        {"0x10000000000000000", IS_NUMBER_TOO_LARGE, 0},
        {"1e20", IS_NUMBER_TOO_LARGE, 0},
        {"1e99999999999999999999", IS_NUMBER_TOO_LARGE, 0},
        {"2.55e1", IS_NUMBER_NOT_WHOLE, 0},
        {"1e-1", IS_NUMBER_NOT_WHOLE, 0},
        {"0.1", IS_NUMBER_NOT_WHOLE, 0},
        {"1e-99999999999999999999", IS_NUMBER_NOT_WHOLE, 0},
        {"-1", IS_NUMBER_NEGATIVE, 0},
        {"-0x1", IS_NUMBER_NEGATIVE, 0},
        {"", IS_NUMBER_NONE, 0},
        {"+", IS_NUMBER_NONE, 0},
        {".", IS_NUMBER_NONE, 0},
        {"1 ", IS_NUMBER_NONE, 0},
        {" 1", IS_NUMBER_NONE, 0},
        {"1x", IS_NUMBER_NONE, 0},
        {"1e", IS_NUMBER_NONE, 0},
        {"1e+", IS_NUMBER_NONE, 0},
        {"1e1.5", IS_NUMBER_NONE, 0},
        {"e5", IS_NUMBER_NONE, 0},
        {"0x", IS_NUMBER_NONE, 0},
        {"0xg", IS_NUMBER_NONE, 0},
        {"0x1.8p1", IS_NUMBER_NONE, 0},
        {"010", IS_NUMBER_NONE, 0},
        {"1_000", IS_NUMBER_NONE, 0},
        {"1,000", IS_NUMBER_NONE, 0},
        {"--1", IS_NUMBER_NONE, 0},
        {"true", IS_NUMBER_NONE, 0},
        {"nan", IS_NUMBER_NONE, 0},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        uint64_t value = 0;
        ck_assert_msg(is_number_unsigned(rows[i].text, &value) == rows[i].result, "'%s'",
                      rows[i].text);
        ck_assert_msg(value == rows[i].value, "'%s' is %llu", rows[i].text,
                      (unsigned long long)value);
    }
}
END_TEST

START_TEST(real_numbers)
{
    static const struct {
        const char *text;
        is_number_result result;
        double value;
    } rows[] = {
        {"0.1651", IS_NUMBER_OK, 0.1651},  {"-2.5e-3", IS_NUMBER_OK, -0.0025},
        {"1e300", IS_NUMBER_OK, 1e300},    {"0x10", IS_NUMBER_OK, 16},
        {"-.5", IS_NUMBER_OK, -0.5},       {"1e-999", IS_NUMBER_OK, 0},
        {"1e309", IS_NUMBER_TOO_LARGE, 7}, {"nan", IS_NUMBER_NONE, 7},
        {".nan", IS_NUMBER_NONE, 7},       {"inf", IS_NUMBER_NONE, 7},
        {"-.inf", IS_NUMBER_NONE, 7},      {"infinity", IS_NUMBER_NONE, 7},
        {"0x1p3", IS_NUMBER_NONE, 7},      {"1.5m", IS_NUMBER_NONE, 7},
        {"1.5 ", IS_NUMBER_NONE, 7},       {"00.5", IS_NUMBER_NONE, 7},
        {"1..5", IS_NUMBER_NONE, 7},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        double value = 7;
        ck_assert_msg(is_number_double(rows[i].text, &value) == rows[i].result, "'%s'",
                      rows[i].text);
        ck_assert_msg(value == rows[i].value, "'%s' is %g", rows[i].text, value);
    }
    static const struct {
        double value;
        const char *text;
    } printed[] = {{5, "5"},           {0.1651, "0.1651"},   {0.1 + 0.2, "0.30000000000000004"},
                   {1e-300, "1e-300"}, {-125.25, "-125.25"}, {123456789, "123456789"}};
    for (size_t i = 0; i < COUNT(printed); ++i) {
        char text[IS_NUMBER_DIGITS];
        ck_assert_str_eq(is_number_print(printed[i].value, text), printed[i].text);
    }
}
END_TEST

START_TEST(nearest_words)
{
    static const char *const words[] = {"seed", "schedule", "pool", "file", "files", "hg-sl"};
    static const char *const rows[][2] = {
        {"schedul", "schedule"},
        {"shcedule", "schedule"},
        {"Schedule", "schedule"},
        {"sched", "schedule"},
        {"sead", "seed"},
        {"poool", "pool"},
        {"opol", "pool"},
        {"fles", "files"},
        {"hgsl", "hg-sl"},
        {"fil", "file"},
        {"xyzzy", NULL},
        {"s", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        is_nearest best = {0};
        for (size_t k = 0; k < COUNT(words); ++k)
            is_nearest_try(&best, rows[i][0], words[k]);
        if (rows[i][1])
            ck_assert_msg(best.word && strcmp(best.word, rows[i][1]) == 0, "%s: found %s, not %s",
                          rows[i][0], best.word ? best.word : "nothing", rows[i][1]);
        else
            ck_assert_msg(!best.word, "%s: found %s", rows[i][0], best.word);
    }
    /* Longer than any key: neither slow nor near. */
    char *endless = malloc(100001);
    ck_assert_ptr_nonnull(endless);
    memset(endless, 's', 100000);
    endless[100000] = 0;
    is_nearest best = {0};
    is_nearest_try(&best, endless, "seed");
    ck_assert_ptr_null(best.word);
    free(endless);
}
END_TEST

/* ---- values --------------------------------------------------------------------------------- */

START_TEST(defaults)
{
    is_config *c = NULL;
    ck_assert_int_eq(is_config_load(NULL, NULL, 0, &c, NULL), IS_OK);
    ck_assert_ptr_null(c->path);
    ck_assert_uint_eq(c->run.seed, 1);
    ck_assert_uint_eq(c->run.bounce_limit, 10000);
    ck_assert_uint_eq(c->source.count, 1);
    ck_assert_str_eq(c->source.files[0], "steps/*.steps.npy");
    ck_assert_str_eq(c->sink.directory, "hits/");
    ck_assert_int_eq(c->device.backend, IS_BACKEND_AUTO);
    ck_assert_uint_eq(c->device.threads, 0);
    ck_assert_str_eq(c->device.instruction_set, "auto");
    ck_assert_str_eq(c->ice.model, "south-pole-like");
    ck_assert_ptr_null(c->ice.directory);
    ck_assert_ptr_null(c->ice.file);
    ck_assert(isinf(c->ice.absorb_above) && c->ice.absorb_above > 0);
    ck_assert(isinf(c->ice.absorb_below) && c->ice.absorb_below < 0);
    ck_assert_str_eq(c->detector.layout, "hex86");
    ck_assert_ptr_null(c->detector.file);
    ck_assert_double_eq(c->detector.radius, 0.1651);
    ck_assert_double_eq(c->detector.oversize, 5);
    ck_assert(!c->detector.keep_hit_photons && !c->detector.jitter && !c->detector.dense);
    ck_assert_uint_eq(c->detector.excluded_count, 0);
    ck_assert_str_eq(c->light.acceptance, "auto");
    ck_assert_uint_eq(c->light.spectrum_count, 0);
    ck_assert_str_eq(c->stages.create, "cherenkov");
    ck_assert_str_eq(c->stages.propagate, "cumulative");
    ck_assert_str_eq(c->stages.collide, "string-grid");
    ck_assert_str_eq(c->stages.scatter, "hg-sl");
    ck_assert_str_eq(c->stages.compact, "partition");
    ck_assert_int_eq(c->graph.schedule, IS_SCHEDULE_AUTO);
    ck_assert_uint_eq(c->graph.pool, 0);
    ck_assert_uint_eq(c->graph.bounces_per_wave, 0);
    ck_assert_uint_eq(c->graph.batch, 0);
    ck_assert(c->graph.reach_cull);
    ck_assert_int_eq(c->workload.kind, IS_WORKLOAD_CASCADE);
    ck_assert_uint_eq(c->workload.steps, 10000);
    ck_assert_uint_eq(c->workload.photons_per_step, 200);
    ck_assert(!c->workload.shuffled && c->workload.isotropic);
    for (size_t i = 0; i < 3; ++i)
        ck_assert_double_eq(c->workload.position[i], 0);
    ck_assert_double_eq(c->workload.time, 0);
    ck_assert_double_eq(c->workload.surface_radius, 0);
    ck_assert_uint_eq(c->workload.spectrum, 0);
    ck_assert_uint_eq(c->workload.event, 0);
    is_config_destroy(c);
    is_config_destroy(NULL);

    /* No key, no section, nothing below a section: all the same. */
    static const char *const texts[] = {"", "---\n", "run:\ngraph: ~\n", "{}"};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        is_config *same = load(texts[i]);
        ck_assert_uint_eq(same->run.seed, 1);
        is_config_destroy(same);
    }
}
END_TEST

START_TEST(every_key_is_read)
{
    is_config *c =
        load("run: {seed: 0xdeadbeefcafef00d, bounce_limit: 1e9}\n"
             "source: {files: [a.npy, /abs/*.npy, \"-\"]}\n"
             "sink: {directory: \"-\"}\n"
             "device: {backend: cuda, threads: 1024, instruction_set: avx2}\n"
             "ice: {directory: my ice, absorb_above: 1950, absorb_below: -850.5}\n"
             "detector: {layout: hex86, radius: 0.2, oversize: 1, keep_hit_photons: true,\n"
             "  jitter: true, dense: true, excluded: [[63, 20], [1, 65535]]}\n"
             "light: {acceptance: none, spectra: [{line: 400}, {file: laser.txt}]}\n"
             "stages: {create: cherenkov, propagate: layer-walk, collide: brute-force,\n"
             "  scatter: isotropic, compact: partition}\n"
             "graph: {schedule: monolithic, pool: 268435456, bounces_per_wave: 4,\n"
             "  batch: 2147483648, reach_cull: false}\n"
             "workload: {kind: point, steps: 4294967295, photons_per_step: 0, counts: shuffled,\n"
             "  position: [1, -2.5, 1e3], time: -7, direction: [0, 0, -2], spectrum: 8,\n"
             "  event: 18446744073709551615}\n");
    ck_assert_str_eq(c->path, "work/run.yaml");
    ck_assert_uint_eq(c->run.seed, 0xdeadbeefcafef00d);
    ck_assert_uint_eq(c->run.bounce_limit, 1000000000);
    ck_assert_uint_eq(c->source.count, 3);
    ck_assert_str_eq(c->source.files[0], "work/a.npy");
    ck_assert_str_eq(c->source.files[1], "/abs/*.npy");
    ck_assert_str_eq(c->source.files[2], "-");
    ck_assert_str_eq(c->sink.directory, "-");
    ck_assert_int_eq(c->device.backend, IS_BACKEND_CUDA);
    ck_assert_uint_eq(c->device.threads, 1024);
    ck_assert_str_eq(c->device.instruction_set, "avx2");
    ck_assert_ptr_null(c->ice.model);
    ck_assert_str_eq(c->ice.directory, "work/my ice");
    ck_assert_ptr_null(c->ice.file);
    ck_assert_double_eq(c->ice.absorb_above, 1950);
    ck_assert_double_eq(c->ice.absorb_below, -850.5);
    ck_assert_double_eq(c->detector.radius, 0.2);
    ck_assert_double_eq(c->detector.oversize, 1);
    ck_assert(c->detector.keep_hit_photons && c->detector.jitter && c->detector.dense);
    ck_assert_uint_eq(c->detector.excluded_count, 2);
    ck_assert_uint_eq(c->detector.excluded[0].string, 63);
    ck_assert_uint_eq(c->detector.excluded[0].module, 20);
    ck_assert_uint_eq(c->detector.excluded[1].module, 65535);
    ck_assert_str_eq(c->light.acceptance, "none");
    ck_assert_uint_eq(c->light.spectrum_count, 2);
    ck_assert_double_eq(c->light.spectra[0].line, 400);
    ck_assert_ptr_null(c->light.spectra[0].file);
    ck_assert_double_eq(c->light.spectra[1].line, 0);
    ck_assert_str_eq(c->light.spectra[1].file, "work/laser.txt");
    ck_assert_str_eq(c->stages.propagate, "layer-walk");
    ck_assert_str_eq(c->stages.collide, "brute-force");
    ck_assert_str_eq(c->stages.scatter, "isotropic");
    ck_assert_int_eq(c->graph.schedule, IS_SCHEDULE_MONOLITHIC);
    ck_assert_uint_eq(c->graph.pool, 268435456);
    ck_assert_uint_eq(c->graph.bounces_per_wave, 4);
    ck_assert_uint_eq(c->graph.batch, 2147483648);
    ck_assert(!c->graph.reach_cull);
    ck_assert_int_eq(c->workload.kind, IS_WORKLOAD_POINT);
    ck_assert_uint_eq(c->workload.steps, 4294967295);
    ck_assert_uint_eq(c->workload.photons_per_step, 0);
    ck_assert(c->workload.shuffled && !c->workload.isotropic);
    ck_assert_double_eq(c->workload.position[1], -2.5);
    ck_assert_double_eq(c->workload.position[2], 1000);
    ck_assert_double_eq(c->workload.time, -7);
    ck_assert_double_eq(c->workload.direction[2], -2);
    ck_assert_uint_eq(c->workload.spectrum, 8);
    ck_assert_uint_eq(c->workload.event, UINT64_MAX);
    is_config_destroy(c);
}
END_TEST

START_TEST(anchors_and_aliases_carry_values)
{
    is_config *c = load("run: &r {seed: &n 17}\nworkload: {event: *n, steps: *n}\n");
    ck_assert_uint_eq(c->run.seed, 17);
    ck_assert_uint_eq(c->workload.event, 17);
    ck_assert_uint_eq(c->workload.steps, 17);
    is_config_destroy(c);
}
END_TEST

START_TEST(paths_refer_to_the_file_that_names_them)
{
    static const char *const sets[] = {"sink.directory=out", "light.acceptance=./auto"};
    is_config *c = load_with("ice: {file: ../ice/a.yaml}\nlight: {acceptance: wv.dat}\n"
                             "detector: {file: /d/geo-f2k}\nsink: {directory: hits}\n",
                             sets, COUNT(sets));
    ck_assert_str_eq(c->ice.file, "work/../ice/a.yaml");
    ck_assert_str_eq(c->detector.file, "/d/geo-f2k");
    ck_assert_str_eq(c->sink.directory, "out");
    ck_assert_str_eq(c->light.acceptance, "./auto");
    is_config_destroy(c);

    /* In a folder of its own a file has no prefix, and in the root one slash. */
    static const char *const names[][2] = {{"run.yaml", "i"}, {"/run.yaml", "/i"}};
    for (size_t i = 0; i < COUNT(names); ++i) {
        const char *text = "ice: {directory: i}\n";
        ck_assert_int_eq(is_config_load_text(names[i][0], text, strlen(text), NULL, 0, &c, NULL),
                         IS_OK);
        ck_assert_str_eq(c->ice.directory, names[i][1]);
        is_config_destroy(c);
    }
    /* What is a pattern in the file stays one, what is a letter in the folder's name as well. */
    const char *text = "source: {files: [\"*.npy\"]}\nsink: {directory: h}\n";
    ck_assert_int_eq(is_config_load_text("[a]*/b/run.yaml", text, strlen(text), NULL, 0, &c, NULL),
                     IS_OK);
    ck_assert_str_eq(c->source.files[0], "\\[a\\]\\*/b/*.npy");
    ck_assert_str_eq(c->sink.directory, "[a]*/b/h");
    is_config_destroy(c);
}
END_TEST

START_TEST(sets_override_in_order)
{
    static const char *const sets[] = {"run.seed=5",
                                       "run.seed=6",
                                       "graph.schedule=wavefront",
                                       "graph.pool=auto",
                                       "source.files=*.npy",
                                       "sink.directory=-",
                                       "workload.kind=point",
                                       "workload.position=[1, 2, 3]",
                                       "detector.excluded=[[7,8]]",
                                       "ice.directory=a=b"};
    is_config *c =
        load_with("run: {seed: 4}\ngraph: {pool: 32}\nice: {file: x.yaml}\n", sets, COUNT(sets));
    ck_assert_uint_eq(c->run.seed, 6);
    ck_assert_int_eq(c->graph.schedule, IS_SCHEDULE_WAVEFRONT);
    ck_assert_uint_eq(c->graph.pool, 0);
    ck_assert_uint_eq(c->source.count, 1);
    ck_assert_str_eq(c->source.files[0], "*.npy");
    ck_assert_str_eq(c->sink.directory, "-");
    ck_assert_double_eq(c->workload.position[2], 3);
    ck_assert_uint_eq(c->detector.excluded[0].module, 8);
    ck_assert_str_eq(c->ice.directory, "a=b");
    ck_assert_ptr_null(c->ice.file);
    ck_assert_ptr_null(c->ice.model);
    is_config_destroy(c);

    static const char *const back[] = {"ice.directory=x", "ice.model=uniform"};
    c = load_with("detector: {file: a.csv}\n", back, COUNT(back));
    ck_assert_str_eq(c->ice.model, "uniform");
    ck_assert_ptr_null(c->ice.directory);
    ck_assert_ptr_null(c->detector.layout);
    is_config_destroy(c);
}
END_TEST

START_TEST(places_of_keys)
{
    static const char *const sets[] = {"detector.oversize=2", "workload.kind=point"};
    is_config *c = load_with("run:\n  seed: 3\nice: { directory: ppc }\n"
                             "detector: {oversize: 3}\n",
                             sets, COUNT(sets));
    static const char *const rows[][2] = {{"run.seed", "work/run.yaml:2:9"},
                                          {"ice.directory", "work/run.yaml:3:19"},
                                          {"ice.model", "default"},
                                          {"detector.oversize", "--set detector.oversize"},
                                          {"workload.kind", "--set workload.kind"},
                                          {"graph.pool", "default"},
                                          {"no.such.key", "default"}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        char place[64];
        ck_assert_str_eq(is_config_place(c, rows[i][0], place, sizeof place), rows[i][1]);
    }
    char small[8];
    ck_assert_str_eq(is_config_place(c, "run.seed", small, sizeof small), "work/ru");
    is_config_destroy(c);
}
END_TEST

/* ---- errors --------------------------------------------------------------------------------- */

static const struct {
    const char *text, *expected;
} wrong[] = {
    /* structure */
    {"[run]", "r.yaml:1:1: error: found a list of 1, expected a mapping with keys of run, source, "
              "sink, device, ice, detector, light, stages, graph, workload"},
    {"seed", "r.yaml:1:1: error: found 'seed', expected a mapping with keys of run, source, sink, "
             "device, ice, detector, light, stages, graph, workload"},
    {"run: 5", "r.yaml:1:6: error: run: found '5', expected a mapping with keys of seed, "
               "bounce_limit"},
    {"run: {seed: 1, seed: 1}",
     "r.yaml:1:16: error: the key 'seed' is given twice, first at r.yaml:1:7"},
    {"run: {seed: 1}\nrun: {bounce_limit: 2}",
     "r.yaml:2:1: error: the key 'run' is given twice, first at r.yaml:1:1"},
    {"run: {sed: 1}", "r.yaml:1:7: error: unknown key 'run.sed', did you mean 'run.seed'?"},
    {"graf: {}", "r.yaml:1:1: error: unknown key 'graf', did you mean 'graph'?"},
    {"run:\n  schedule: auto",
     "r.yaml:2:3: error: unknown key 'run.schedule', did you mean 'graph.schedule'?"},
    {"run: {zzzzzz: 1}",
     "r.yaml:1:7: error: unknown key 'run.zzzzzz', expected one of seed, bounce_limit"},
    {"run.seed: 1", "r.yaml:1:1: error: unknown key 'run.seed', write its parts inside each "
                    "other, as in run: {seed: ...}"},
    {"\"\": 1", "r.yaml:1:1: error: unknown key '', expected one of run, source, sink, device, "
                "ice, detector, light, stages, graph, workload"},
    {"a: &a {seed: 1}\nrun:\n  <<: *a",
     "r.yaml:1:1: error: unknown key 'a', expected one of run, source, sink, device, ice, "
     "detector, light, stages, graph, workload\n"
     "r.yaml:3:3: error: merge keys (<<) are not supported, write the keys out"},
    /* numbers */
    {"run: {seed: -1}", "r.yaml:1:13: error: run.seed: found '-1', expected a whole number from 0 "
                        "to 18446744073709551615"},
    {"run: {seed: \"1\"}", "r.yaml:1:13: error: run.seed: found the quoted text \"1\", expected a "
                           "whole number from 0 to 18446744073709551615"},
    {"run: {seed: 1.5}", "r.yaml:1:13: error: run.seed: found '1.5', expected a whole number from "
                         "0 to 18446744073709551615"},
    {"run: {seed: }", "r.yaml:1:13: error: run.seed: found nothing, expected a whole number from "
                      "0 to 18446744073709551615"},
    {"run: {seed: [1]}", "r.yaml:1:13: error: run.seed: found a list of 1, expected a whole "
                         "number from 0 to 18446744073709551615"},
    {"run: {bounce_limit: 0}", "r.yaml:1:21: error: run.bounce_limit: found '0', expected a whole "
                               "number from 1 to 1000000000"},
    {"run: {bounce_limit: 4294967297}", "r.yaml:1:21: error: run.bounce_limit: found "
                                        "'4294967297', expected a whole number from 1 to "
                                        "1000000000"},
    {"device: {threads: true}", "r.yaml:1:19: error: device.threads: found 'true', expected a "
                                "whole number from 1 to 1024, or auto"},
    {"device: {threads: Auto}", "r.yaml:1:19: error: device.threads: found 'Auto', expected a "
                                "whole number from 1 to 1024, or auto; did you mean 'auto'?"},
    {"graph: {pool: 15}", "r.yaml:1:15: error: graph.pool: found '15', expected a whole number "
                          "from 16 to 268435456, or auto"},
    {"graph: {batch: 2147483649}", "r.yaml:1:16: error: graph.batch: found '2147483649', expected "
                                   "a whole number from 1 to 2147483648, or auto"},
    {"detector: {radius: .nan}", "r.yaml:1:20: error: detector.radius: found '.nan', expected a "
                                 "number from 0.001 to 10"},
    {"detector: {oversize: 0.99}", "r.yaml:1:22: error: detector.oversize: found '0.99', expected "
                                   "a number from 1 to 100"},
    {"ice: {absorb_above: .inf}", "r.yaml:1:21: error: ice.absorb_above: found '.inf', expected a "
                                  "number from -100000 to 100000, or off"},
    {"workload: {kind: point, position: [1, 2]}",
     "r.yaml:1:35: error: workload.position: found a list of 2, expected a list of 3 numbers from "
     "-10000 to 10000"},
    {"workload: {kind: point, position: [1, 2, 10001]}",
     "r.yaml:1:42: error: workload.position: found '10001', expected a list of 3 numbers from "
     "-10000 to 10000"},
    {"workload: {spectrum: 256}", "r.yaml:1:22: error: workload.spectrum: found '256', expected a "
                                  "whole number from 0 to 255"},
    /* words */
    {"detector: {jitter: yes}", "r.yaml:1:20: error: detector.jitter: found 'yes', expected true "
                                "or false; did you mean 'true'?"},
    {"detector: {jitter: 1}",
     "r.yaml:1:20: error: detector.jitter: found '1', expected true or false"},
    {"detector: {jitter: \"true\"}", "r.yaml:1:20: error: detector.jitter: found the quoted text "
                                     "\"true\", expected true or false"},
    {"device: {backend: gpu}", "r.yaml:1:19: error: device.backend: found 'gpu', expected one of "
                               "auto, cpu, cuda; did you mean 'cpu'?"},
    {"graph: {schedule: wavefornt}",
     "r.yaml:1:19: error: graph.schedule: found 'wavefornt', expected one of auto, wavefront, "
     "fused, monolithic, job-queue, thread-per-step; did you mean 'wavefront'?"},
    {"ice: {model: {}}", "r.yaml:1:14: error: ice.model: found a mapping, expected "
                         "south-pole-like or uniform"},
    {"workload: {counts: shuffle}", "r.yaml:1:20: error: workload.counts: found 'shuffle', "
                                    "expected balanced or shuffled; did you mean 'shuffled'?"},
    /* texts and lists */
    {"source: {files: []}", "r.yaml:1:17: error: source.files: found an empty list, expected a "
                            "list of paths or patterns"},
    {"source: {files: [a, [b]]}", "r.yaml:1:21: error: source.files: found a list of 1, expected "
                                  "a list of paths or patterns"},
    {"source: {files: {a: b}}", "r.yaml:1:17: error: source.files: found a mapping, expected a "
                                "list of paths or patterns"},
    {"sink: {directory: \"\"}", "r.yaml:1:19: error: sink.directory: found the quoted text \"\", "
                                "expected a path"},
    {"ice: {file: ~}", "r.yaml:1:13: error: ice.file: found nothing, expected a path"},
    {"detector: {excluded: 63}", "r.yaml:1:22: error: detector.excluded: found '63', expected a "
                                 "list of [string, module]"},
    {"detector: {excluded: [[1, 2], [3], [x, 65536]]}",
     "r.yaml:1:31: error: detector.excluded: found a list of 1, expected [string, module]\n"
     "r.yaml:1:37: error: detector.excluded: string: found 'x', expected a whole number from 0 to "
     "65535\n"
     "r.yaml:1:40: error: detector.excluded: module: found '65536', expected a whole number from 0 "
     "to 65535"},
    {"detector: {excluded: }", "r.yaml:1:22: error: detector.excluded: found nothing, expected a "
                               "list of [string, module]"},
    {"light: {spectra: 400}",
     "r.yaml:1:18: error: light.spectra: found '400', expected a list of at most 249 of {line: 250 "
     "to 700 nm} or {file: path}"},
    {"light: {spectra: [{}, {line: 400, file: x}, {line: 249}, {lin: 400}, 5]}",
     "r.yaml:1:19: error: the key 'line' is missing\n"
     "r.yaml:1:41: error: only one of 'file' and 'line' can be given, the other is at "
     "r.yaml:1:30\n"
     "r.yaml:1:52: error: line: found '249', expected a number from 250 to 700\n"
     "r.yaml:1:59: error: unknown key 'lin', did you mean 'line'?\n"
     "r.yaml:1:58: error: the key 'line' is missing\n"
     "r.yaml:1:70: error: found '5', expected a mapping with keys of line, file"},
    {"workload: {kind: point, direction: down}",
     "r.yaml:1:36: error: workload.direction: found 'down', expected isotropic, or [dx, dy, dz]"},
    {"workload: {kind: point, direction: [0, -0, 0]}",
     "r.yaml:1:36: error: workload.direction: found a vector of length 0, expected a direction"},
    {"workload: {kind: point, direction: [0, 1e200, x]}",
     "r.yaml:1:40: error: workload.direction: found '1e200', expected a number from -1e+100 to "
     "1e+100\n"
     "r.yaml:1:47: error: workload.direction: found 'x', expected a number from -1e+100 to "
     "1e+100"},
    /* contradictions */
    {"ice: {model: uniform, directory: x}",
     "r.yaml:1:34: error: only one of 'ice.directory' and 'ice.model' can be given, the other is "
     "at r.yaml:1:14"},
    {"detector: {file: x, layout: hex86}",
     "r.yaml:1:29: error: only one of 'detector.layout' and 'detector.file' can be given, the "
     "other is at r.yaml:1:18"},
    {"source: {files: [\"-\", a, \"-\"]}",
     "r.yaml:1:17: error: source.files: found \"-\" 2 times, standard input can be read only once"},
    {"ice: {absorb_above: -10, absorb_below: 10}",
     "r.yaml:1:21: error: ice.absorb_above: found -10 m, expected it above ice.absorb_below, 10 m"},
    {"detector: {file: x, jitter: true, dense: true}",
     "r.yaml:1:29: error: detector.jitter: is for layout: hex86, and detector.file is given\n"
     "r.yaml:1:42: error: detector.dense: is for layout: hex86, and detector.file is given"},
    {"device: {backend: cpu}\ngraph: {schedule: job-queue}",
     "r.yaml:2:19: error: graph.schedule: 'job-queue' needs a GPU, and device.backend is cpu"},
    {"workload: {position: [0, 0, 1], time: 1, direction: [0, 0, 1], surface_radius: 1, "
     "spectrum: 1}",
     "r.yaml:1:22: error: workload.position: is for workload.kind: point, and the kind is cascade\n"
     "r.yaml:1:39: error: workload.time: is for workload.kind: point, and the kind is cascade\n"
     "r.yaml:1:53: error: workload.direction: is for workload.kind: point, and the kind is "
     "cascade\n"
     "r.yaml:1:80: error: workload.surface_radius: is for workload.kind: point, and the kind is "
     "cascade\n"
     "r.yaml:1:93: error: workload.spectrum: is for workload.kind: point, and the kind is cascade"},
    {"workload: {kind: point, direction: [1, 0, 0], surface_radius: 0.1651}",
     "r.yaml:1:63: error: workload.surface_radius: is for isotropic light, and workload.direction "
     "is a vector"},
    {"workload: {kind: point, spectrum: 8}\nlight: {spectra: [{line: 400}]}",
     "r.yaml:1:35: error: workload.spectrum: found 8, expected at most 7: light.spectra has 1 "
     "entries, numbered from 7"},
    /* a contradiction beside another error, and none with a value that was refused */
    {"run: {seed: x}\ndetector: {file: y, jitter: true}",
     "r.yaml:1:13: error: run.seed: found 'x', expected a whole number from 0 to "
     "18446744073709551615\n"
     "r.yaml:2:29: error: detector.jitter: is for layout: hex86, and detector.file is given"},
    {"workload: {kind: pont, time: 5}",
     "r.yaml:1:18: error: workload.kind: found 'pont', expected one of point, uniform, cascade; "
     "did you mean 'point'?"},
    /* the tree's own errors arrive */
    {"run: {seed: 1", "r.yaml:2:1: error: did not find expected ',' or '}', while parsing a flow "
                      "mapping in line 1"},
};

START_TEST(wrong_files)
{
    expect_error(wrong[_i].text, NULL, 0, wrong[_i].expected);
}
END_TEST

/* New variants make the list longer, so the test looks at its beginning and at what follows it. */
START_TEST(wrong_variants)
{
    static const struct {
        const char *text, *begins, *ends;
    } rows[] = {{"stages: {scatter: hgsl}",
                 "r.yaml:1:19: error: stages.scatter: found 'hgsl', expected one of hg-sl, hg, sl,",
                 "; did you mean 'hg-sl'?"},
                {"stages: {propagate: hg-sl}",
                 "r.yaml:1:21: error: stages.propagate: found 'hg-sl', expected ", "layer-walk"}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        is_config *config = NULL;
        is_error error = {0};
        ck_assert_int_eq(is_config_load_text("r.yaml", rows[i].text, strlen(rows[i].text), NULL, 0,
                                             &config, &error),
                         IS_E_CONFIG);
        ck_assert_msg(strncmp(error.text, rows[i].begins, strlen(rows[i].begins)) == 0 &&
                          strstr(error.text, rows[i].ends) != NULL,
                      "%s", error.text);
    }
}
END_TEST

static const struct {
    const char *set, *expected;
} wrong_sets[] = {
    {"graph.schedul=x", "--set graph.schedul=x: error: unknown key 'graph.schedul', did you mean "
                        "'graph.schedule'?"},
    {"schedule=fused",
     "--set schedule=fused: error: unknown key 'schedule', did you mean 'graph.schedule'?"},
    {"ran.seed=1", "--set ran.seed=1: error: unknown key 'ran.seed', did you mean 'run.seed'?"},
    {"graph=fused", "--set graph=fused: error: 'graph' is a section, expected a key in it: "
                    "schedule, pool, bounces_per_wave, batch, reach_cull"},
    {"run.seed", "--set run.seed: error: expected path=value, as in graph.schedule=fused"},
    {"=1", "--set =1: error: expected path=value, as in graph.schedule=fused"},
    {"", "--set : error: expected path=value, as in graph.schedule=fused"},
    {"run.seed=", "--set run.seed=: error: run.seed: found nothing, expected a whole number from 0 "
                  "to 18446744073709551615"},
    {"run.seed=1 ", "--set run.seed=1 : error: run.seed: found '1 ', expected a whole number from "
                    "0 to 18446744073709551615"},
    {"workload.position=[1, 2", "--set workload.position=[1, 2: error: did not find expected ',' "
                                "or ']'"},
    {"detector.jitter=true", "--set detector.jitter=true: error: detector.jitter: is for layout: "
                             "hex86, and detector.file is given"},
    {"sink.directory=\xff", "--set sink.directory=\xff: error: not valid UTF-8 text"},
};

START_TEST(wrong_overrides)
{
    expect_error("detector: {file: geo-f2k}", &wrong_sets[_i].set, 1, wrong_sets[_i].expected);
}
END_TEST

START_TEST(all_errors_of_file_and_overrides_together)
{
    static const char *const sets[] = {"run.sed=1", "run.seed=2", "graph.pool=1"};
    expect_error("run: {seed: x}\nsink: [1]\n", sets, COUNT(sets),
                 "r.yaml:1:13: error: run.seed: found 'x', expected a whole number from 0 to "
                 "18446744073709551615\n"
                 "r.yaml:2:7: error: sink: found a list of 1, expected a mapping with keys of "
                 "directory\n"
                 "--set run.sed=1: error: unknown key 'run.sed', did you mean 'run.seed'?\n"
                 "--set graph.pool=1: error: graph.pool: found '1', expected a whole number from "
                 "16 to 268435456, or auto");
}
END_TEST

START_TEST(errors_beyond_the_buffer_are_counted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    for (int i = 0; i < 1000; ++i)
        fprintf(stream, "%d: x\n", i + 1000);
    fclose(stream);
    is_config *config = NULL;
    is_error error = {0};
    ck_assert_int_eq(is_config_load_text("r.yaml", text, size, NULL, 0, &config, &error),
                     IS_E_CONFIG);
    unsigned lines = 1, hidden = 0;
    for (const char *c = error.text; *c; ++c)
        lines += *c == '\n';
    ck_assert_int_eq(sscanf(strrchr(error.text, '\n'), "\n... and %u more errors", &hidden), 1);
    ck_assert_uint_eq(lines - 1 + hidden, 1000);
    free(text);
}
END_TEST

START_TEST(old_errors_are_forgotten)
{
    is_error error = {.status = IS_E_INPUT, .text = "old"};
    is_config *config = NULL;
    ck_assert_int_eq(is_config_load_text("r.yaml", "x: 1", 4, NULL, 0, &config, &error),
                     IS_E_CONFIG);
    ck_assert_ptr_null(strstr(error.text, "old"));
    ck_assert_int_eq(is_config_load("/no/such/run.yaml", NULL, 0, &config, &error), IS_E_CONFIG);
    ck_assert_str_eq(error.text,
                     "/no/such/run.yaml: error: cannot open the file: No such file or directory");
    ck_assert_int_eq(is_config_load(NULL, NULL, 0, &config, &error), IS_OK);
    ck_assert_int_eq(error.status, IS_OK);
    is_config_destroy(config);
}
END_TEST

/* ---- printing ------------------------------------------------------------------------------- */

static char *print(const is_config *config)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(is_config_print(config, stream, NULL), IS_OK);
    fclose(stream);
    return text;
}

START_TEST(printed_configuration_reads_back)
{
    static const char *const texts[] = {
        "",
        "ice: {directory: \"a \\\"b\\\"\\\\ \\n\\x85\\u2028\\uFEFF\xc3\xa4\xf0\x9f\x98\x80\"}",
        "ice: {file: i.yaml, absorb_above: 0.1, absorb_below: -1e-7}\ndetector: {file: x/geo-f2k}",
        "source: {files: [a, \"-\", \"[b]\\\\*.npy\"]}\nsink: {directory: \"-\"}",
        "run: {seed: 18446744073709551615}\nlight: {acceptance: wv.dat, spectra: [{line: 337.1}, "
        "{file: a b.txt}]}",
        "workload: {kind: point, direction: [0.1, 0.2, -0.3], position: [0.1, 1e-300, -3], "
        "time: 3.3, spectrum: 6}\ndetector: {excluded: [[1, 2], [3, 4]], radius: "
        "0.30000000000000004}",
        "graph: {schedule: thread-per-step, pool: 16, reach_cull: false, bounces_per_wave: 7}\n"
        "stages: {scatter: sl, collide: cell-grid, propagate: layer-walk}\n"
        "device: {backend: cuda, threads: 3, instruction_set: avx512}",
    };
    for (size_t i = 0; i < COUNT(texts); ++i) {
        is_config *first = load(texts[i]);
        char *printed = print(first);
        is_config *second = NULL;
        is_error error = {0};
        /* From another folder: the printed paths do not depend on it. */
        int status = is_config_load_text("/elsewhere/e.yaml", printed, strlen(printed), NULL, 0,
                                         &second, &error);
        ck_assert_msg(status == IS_OK, "%s\n%s", printed, error.text);
        char *again = print(second);
        ck_assert_str_eq(printed, again);
        ck_assert_uint_eq(first->run.seed, second->run.seed);
        ck_assert_double_eq(first->detector.radius, second->detector.radius);
        ck_assert_double_eq(first->workload.position[1], second->workload.position[1]);
        ck_assert_double_eq(first->workload.direction[2], second->workload.direction[2]);
        ck_assert_int_eq(first->graph.schedule, second->graph.schedule);
        ck_assert_uint_eq(first->source.count, second->source.count);
        ck_assert((first->ice.absorb_above == second->ice.absorb_above) &&
                  (first->ice.absorb_below == second->ice.absorb_below));
        ck_assert((first->ice.model == NULL) == (second->ice.model == NULL));
        is_config_destroy(first);
        is_config_destroy(second);
        free(printed);
        free(again);
    }
}
END_TEST

START_TEST(printed_text_is_as_expected)
{
    is_config *config = load("ice: {directory: /ice/bfr}\nsource: {files: [\"/s/*.npy\", \"-\"]}\n"
                             "sink: {directory: /h}\nlight: {spectra: [{line: 400}]}\n"
                             "detector: {excluded: [[63, 20]]}\n");
    char *printed = print(config);
    static const char *const parts[] = {
        "run:\n  seed: 1\n  bounce_limit: 10000\nsource:\n  files: [\"/s/*.npy\", \"-\"]\n"
        "sink:\n  directory: \"/h\"\ndevice:\n  backend: auto\n  threads: auto\n",
        "ice:\n  directory: \"/ice/bfr\"\n  absorb_above: off\n  absorb_below: off\n"
        "detector:\n  layout: hex86\n  radius: 0.1651\n  oversize: 5\n",
        "  excluded: [[63, 20]]\nlight:\n  acceptance: auto\n  spectra: [{line: 400}]\n",
        "  counts: balanced\n  position: [0, 0, 0]\n  time: 0\n  direction: isotropic\n"};
    for (size_t i = 0; i < COUNT(parts); ++i)
        ck_assert_msg(strstr(printed, parts[i]) != NULL, "missing:\n%s\nin:\n%s", parts[i],
                      printed);
    free(printed);
    is_config_destroy(config);
}
END_TEST

START_TEST(printing_to_a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full) {
        printf("skipped: no /dev/full\n");
        return;
    }
    is_config *config = load("");
    is_error error = {0};
    ck_assert_int_eq(is_config_print(config, full, &error), IS_E_OUTPUT);
    ck_assert_str_eq(error.text, "cannot write the configuration");
    fclose(full);
    is_config_destroy(config);
}
END_TEST

/* ---- what is shipped ------------------------------------------------------------------------ */

START_TEST(shipped_run_files_load)
{
    glob_t found;
    ck_assert_int_eq(glob(IS_SOURCE_DIRECTORY "/configs/runs/*.yaml", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 4);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        is_config *config = NULL;
        is_error error = {0};
        ck_assert_msg(is_config_load(found.gl_pathv[i], NULL, 0, &config, &error) == IS_OK, "%s",
                      error.text);
        is_config_destroy(config);
    }
    globfree(&found);
}
END_TEST

START_TEST(documentation_has_the_table_of_keys)
{
    FILE *file = fopen(IS_SOURCE_DIRECTORY "/configs/README.md", "r");
    ck_assert_ptr_nonnull(file);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *table = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&table, &size);
    ck_assert_ptr_nonnull(stream);
    is_config_document(stream);
    fclose(stream);
    /* Check cuts long messages off and fails on them: the table goes to the output. */
    if (strstr(text, table) == NULL)
        printf("configs/README.md should contain:\n%s", table);
    ck_assert_ptr_nonnull(strstr(text, table));
    ck_assert_ptr_nonnull(strstr(table, "| `graph.pool` | a whole number from 16 to 268435456, or "
                                        "auto |  | `auto` | photon slots of a graph |\n"));
    free(table);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("config");
    TCase *parts = tcase_create("parts");
    tcase_add_test(parts, whole_numbers);
    tcase_add_test(parts, real_numbers);
    tcase_add_test(parts, nearest_words);
    suite_add_tcase(suite, parts);

    TCase *values = tcase_create("values");
    tcase_add_test(values, defaults);
    tcase_add_test(values, every_key_is_read);
    tcase_add_test(values, anchors_and_aliases_carry_values);
    tcase_add_test(values, paths_refer_to_the_file_that_names_them);
    tcase_add_test(values, sets_override_in_order);
    tcase_add_test(values, places_of_keys);
    suite_add_tcase(suite, values);

    TCase *errors = tcase_create("errors");
    tcase_add_loop_test(errors, wrong_files, 0, (int)COUNT(wrong));
    tcase_add_test(errors, wrong_variants);
    tcase_add_loop_test(errors, wrong_overrides, 0, (int)COUNT(wrong_sets));
    tcase_add_test(errors, all_errors_of_file_and_overrides_together);
    tcase_add_test(errors, errors_beyond_the_buffer_are_counted);
    tcase_add_test(errors, old_errors_are_forgotten);
    suite_add_tcase(suite, errors);

    TCase *printing = tcase_create("printing");
    tcase_add_test(printing, printed_configuration_reads_back);
    tcase_add_test(printing, printed_text_is_as_expected);
    tcase_add_test(printing, printing_to_a_full_disk_is_an_error);
    tcase_add_test(printing, shipped_run_files_load);
    tcase_add_test(printing, documentation_has_the_table_of_keys);
    suite_add_tcase(suite, printing);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
