/* Valid run files give the values that they name: defaults, every type of value, paths relative to
 * the file, --set, and the places of values. For a new key, nothing has to be added here; all keys
 * are tried in tests/units/test_origin_keys.c. */
#include "tests/support/config_text.h"
#include "tests/support/test_main.h"

START_TEST(defaults)
{
    icestream_config *c = NULL;
    ck_assert_int_eq(icestream_config_load(NULL, NULL, 0, &c, NULL), ICESTREAM_OK);
    ck_assert_ptr_null(c->path);
    /* One default of each type of value; configs/README.md, which a test compares, has all. */
    ck_assert_uint_eq(c->run.seed, 1);
    ck_assert_str_eq(c->source.files[0], "steps/*.steps.npy");
    ck_assert_int_eq(c->device.backend, ICS_BACKEND_AUTO);
    ck_assert(isinf(c->ice.absorb_above) && c->ice.absorb_above > 0);
    ck_assert(isinf(c->ice.absorb_below) && c->ice.absorb_below < 0);
    ck_assert_ptr_null(c->detector.file);
    ck_assert(!c->detector.jitter && c->graph.reach_cull);
    ck_assert_ptr_null(ics_config_gpu_key(c, 0));
    icestream_config_destroy(c);
    icestream_config_destroy(NULL);

    /* An empty file and sections without keys mean the same. */
    static const char *const texts[] = {"", "---\n", "run:\ngraph: ~\n", "{}"};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        icestream_config *same = load(texts[i]);
        ck_assert_uint_eq(same->run.seed, 1);
        icestream_config_destroy(same);
    }
}
END_TEST

START_TEST(every_type_of_value_is_read)
{
    icestream_config *c =
        load("run: {seed: 0xdeadbeefcafef00d, bounce_limit: 1e9}\n"
             "source: {files: [a.npy, /abs/*.npy, \"-\"]}\n"
             "device: {backend: cuda, instruction_set: avx2}\n"
             "ice: {directory: my ice, absorb_below: -850.5}\n"
             "detector: {keep_hit_photons: true, jitter: true, excluded: [[63, 20], [1, 65535]]}\n"
             "light: {spectra: [{line: 400}, {file: laser.txt}]}\n"
             "workload: {kind: point, position: [1, -2.5, 1e3], direction: [0, 0, -2],\n"
             "  event: 18446744073709551615}\n");
    ck_assert_str_eq(c->path, "work/run.yaml");
    ck_assert_uint_eq(c->run.seed, 0xdeadbeefcafef00d);
    ck_assert_uint_eq(c->run.bounce_limit, 1000000000);
    ck_assert_uint_eq(c->source.count, 3);
    ck_assert_str_eq(c->source.files[0], "work/a.npy");
    ck_assert_str_eq(c->source.files[1], "/abs/*.npy");
    ck_assert_str_eq(c->source.files[2], "-");
    ck_assert_int_eq(c->device.backend, ICS_BACKEND_CUDA);
    ck_assert_str_eq(c->device.instruction_set, "avx2");
    ck_assert_ptr_null(c->ice.model);
    ck_assert_str_eq(c->ice.directory, "work/my ice");
    ck_assert_double_eq(c->ice.absorb_below, -850.5);
    ck_assert_int_eq(c->detector.keep_hit_photons, ICS_KEEP_HIT_YES);
    ck_assert(c->detector.jitter && !c->detector.dense);
    ck_assert_uint_eq(c->detector.excluded_count, 2);
    ck_assert_uint_eq(c->detector.excluded[0].string, 63);
    ck_assert_uint_eq(c->detector.excluded[1].module, 65535);
    ck_assert_uint_eq(c->light.spectrum_count, 2);
    ck_assert_double_eq(c->light.spectra[0].line, 400);
    ck_assert_ptr_null(c->light.spectra[0].file);
    ck_assert_str_eq(c->light.spectra[1].file, "work/laser.txt");
    ck_assert_double_eq(c->workload.position[1], -2.5);
    ck_assert(!c->workload.isotropic);
    ck_assert_double_eq(c->workload.direction[2], -2);
    ck_assert_uint_eq(c->workload.event, UINT64_MAX);
    icestream_config_destroy(c);
}
END_TEST

START_TEST(keys_of_a_gpu)
{
    icestream_config *c =
        load("device: {backend: cuda, index: 63, math: portable, memory_limit: 4 GB,\n"
             "  fallback: cpu, watchdog: 3600}\n"
             "graph: {schedule: wavefront, lanes: 4, block: 1024, join: [scatter, propagate],\n"
             "  tune: {scatter_propagate: {threads: 256, blocks_per_multiprocessor: 3,\n"
             "    registers: 80}, collide: {registers: 64}},\n"
             "  refill: 32, hits: 268435456,\n"
             "  compact: {sort: cell, when: every-8}}\n");
    ck_assert_uint_eq(c->device.index_count, 1);
    ck_assert_uint_eq(c->device.index[0], 63);
    ck_assert_int_eq(c->device.math, ICS_MATH_PORTABLE);
    ck_assert_uint_eq(c->device.memory_limit, 4000000000);
    ck_assert_int_eq(c->device.fallback, ICS_FALLBACK_CPU);
    ck_assert_double_eq(c->device.watchdog, 3600);
    ck_assert_uint_eq(c->graph.lanes, 4);
    ck_assert_uint_eq(c->graph.block, 1024);
    ck_assert(c->graph.join);
    const ics_kernel_tune *joined = &c->graph.tune.kernels[ICS_TUNED_SCATTER_PROPAGATE];
    ck_assert_uint_eq(joined->threads, 256);
    ck_assert_uint_eq(joined->blocks, 3);
    ck_assert_uint_eq(joined->registers, 80);
    ck_assert_uint_eq(c->graph.tune.kernels[ICS_TUNED_COLLIDE].registers, 64);
    ck_assert(!ics_tune_is_given(&c->graph.tune.kernels[ICS_TUNED_MONOLITHIC]));
    ck_assert_uint_eq(c->graph.refill, 32);
    ck_assert_uint_eq(c->graph.hits, 268435456);
    ck_assert_int_eq(c->graph.compact.sort, ICS_SORT_CELL);
    ck_assert_int_eq(c->graph.compact.when, ICS_COMPACT_EVERY);
    ck_assert_uint_eq(c->graph.compact.every, 8);
    /* Portable maths and a fallback are valid on a CPU, too. */
    static const char *const keys[] = {
        "device.index", "device.memory_limit", "device.watchdog",    "graph.lanes",
        "graph.block",  "graph.tune",          "graph.join",         "graph.refill",
        "graph.hits",   "graph.compact.sort",  "graph.compact.when", NULL};
    for (size_t k = 0; k < COUNT(keys); ++k) {
        if (keys[k] != NULL) {
            ck_assert_str_eq(ics_config_gpu_key(c, k), keys[k]);
        } else {
            ck_assert_ptr_null(ics_config_gpu_key(c, k));
        }
    }
    icestream_config_destroy(c);

    static const char *const sets[] = {"device.memory_limit=\"3GiB\"", "device.math=fast",
                                       "graph.compact.sort=depth", "graph.compact.when=always"};
    c = load_with("graph: {compact: {when: every-8}}\ndevice: {memory_limit: 64 MB}\n", sets,
                  COUNT(sets));
    ck_assert_uint_eq(c->device.memory_limit, UINT64_C(3221225472));
    ck_assert_int_eq(c->device.math, ICS_MATH_FAST);
    ck_assert_str_eq(ics_config_gpu_key(c, 0), "device.math");
    ck_assert_int_eq(c->graph.compact.sort, ICS_SORT_DEPTH);
    ck_assert_int_eq(c->graph.compact.when, ICS_COMPACT_ALWAYS);
    ck_assert_uint_eq(c->graph.compact.every, 0);
    icestream_config_destroy(c);

    /* These values of the keys are valid on a CPU. */
    icestream_config_destroy(load("device: {backend: cpu, math: portable}\n"
                                  "graph: {compact: {sort: none, when: tail}, lanes: auto}\n"));
}
END_TEST

START_TEST(several_gpus)
{
    icestream_config *c = load("device: {backend: cuda+cpu, math: portable, index: [2, 0, 63]}\n");
    ck_assert_int_eq(c->device.backend, ICS_BACKEND_CUDA_CPU);
    ck_assert_uint_eq(c->device.index_count, 3);
    ck_assert_uint_eq(c->device.index[0], 2);
    ck_assert_uint_eq(c->device.index[1], 0);
    ck_assert_uint_eq(c->device.index[2], 63);
    ck_assert_str_eq(ics_config_gpu_key(c, 0), "device.index");
    icestream_config_destroy(c);

    static const char *const sets[] = {"device.index=all", "device.index=[0]"};
    c = load_with("device: {index: [2, 0]}\n", sets, 1);
    ck_assert_uint_eq(c->device.index_count, 0);
    ck_assert_uint_eq(c->device.index[0], 0);
    ck_assert_str_eq(ics_config_gpu_key(c, 0), "device.index");
    icestream_config_destroy(c);
    c = load_with("device: {index: all}\n", sets,
                  2); /* GPU 0 is the default, also if it is given */
    ck_assert_uint_eq(c->device.index_count, 1);
    ck_assert_ptr_null(ics_config_gpu_key(c, 0));
    icestream_config_destroy(c);
}
END_TEST

START_TEST(stages_from_headers)
{
    static const char *const sets[] = {"stages.collide={source: mine/collide.h}",
                                       "stages.create=cherenkov"};
    icestream_config *c = load_with(
        "stages: {scatter: {source: ray leigh.h}, create: {source: /c.h}}\n", sets, COUNT(sets));
    ck_assert_str_eq(c->stages.custom[ICS_STAGE_SCATTER], "work/ray leigh.h");
    ck_assert_str_eq(c->stages.custom[ICS_STAGE_COLLIDE], "mine/collide.h");
    ck_assert_ptr_null(c->stages.custom[ICS_STAGE_CREATE]);
    ck_assert_ptr_null(c->stages.custom[ICS_STAGE_PROPAGATE]);
    ck_assert_str_eq(c->stages.scatter, ICS_CONFIG_CUSTOM);
    ck_assert_str_eq(c->stages.collide, ICS_CONFIG_CUSTOM);
    ck_assert_str_eq(c->stages.create, "cherenkov");
    ck_assert_str_eq(c->stages.propagate, "cumulative");
    char place[64];
    ck_assert_str_eq(ics_config_place(c, "stages.scatter", place, sizeof place),
                     "work/run.yaml:1:19");
    icestream_config_destroy(c);
}
END_TEST

START_TEST(anchors_and_aliases_carry_values)
{
    icestream_config *c = load("run: &r {seed: &n 17}\nworkload: {event: *n, steps: *n}\n");
    ck_assert_uint_eq(c->run.seed, 17);
    ck_assert_uint_eq(c->workload.event, 17);
    ck_assert_uint_eq(c->workload.steps, 17);
    icestream_config_destroy(c);
}
END_TEST

START_TEST(paths_refer_to_the_file_that_names_them)
{
    static const char *const sets[] = {"sink.directory=out", "light.acceptance=./auto"};
    icestream_config *c = load_with("ice: {file: ../ice/a.yaml}\nlight: {acceptance: wv.dat}\n"
                                    "detector: {file: /d/geo-f2k}\nsink: {directory: hits}\n",
                                    sets, COUNT(sets));
    ck_assert_str_eq(c->ice.file, "work/../ice/a.yaml");
    ck_assert_str_eq(c->detector.file, "/d/geo-f2k");
    ck_assert_str_eq(c->sink.directory, "out");
    ck_assert_str_eq(c->light.acceptance, "./auto");
    icestream_config_destroy(c);

    /* Paths in a file of the current folder have no prefix, in a file of the root one slash. */
    static const char *const names[][2] = {{"run.yaml", "i"}, {"/run.yaml", "/i"}};
    for (size_t i = 0; i < COUNT(names); ++i) {
        const char *text = "ice: {directory: i}\n";
        ck_assert_int_eq(ics_config_load_text(names[i][0], text, strlen(text), NULL, 0, &c, NULL),
                         ICESTREAM_OK);
        ck_assert_str_eq(c->ice.directory, names[i][1]);
        icestream_config_destroy(c);
    }
    /* Glob characters in the file stay a pattern; those in the folder's name are escaped. */
    const char *text = "source: {files: [\"*.npy\"]}\nsink: {directory: h}\n";
    ck_assert_int_eq(ics_config_load_text("[a]*/b/run.yaml", text, strlen(text), NULL, 0, &c, NULL),
                     ICESTREAM_OK);
    ck_assert_str_eq(c->source.files[0], "\\[a\\]\\*/b/*.npy");
    ck_assert_str_eq(c->sink.directory, "[a]*/b/h");
    icestream_config_destroy(c);
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
    icestream_config *c =
        load_with("run: {seed: 4}\ngraph: {pool: 32}\nice: {file: x.yaml}\n", sets, COUNT(sets));
    ck_assert_uint_eq(c->run.seed, 6);
    ck_assert_int_eq(c->graph.schedule, ICS_SCHEDULE_WAVEFRONT);
    ck_assert_uint_eq(c->graph.pool, 0);
    ck_assert_uint_eq(c->source.count, 1);
    ck_assert_str_eq(c->source.files[0], "*.npy");
    ck_assert_str_eq(c->sink.directory, "-");
    ck_assert_double_eq(c->workload.position[2], 3);
    ck_assert_uint_eq(c->detector.excluded[0].module, 8);
    ck_assert_str_eq(c->ice.directory, "a=b");
    ck_assert_ptr_null(c->ice.file);
    ck_assert_ptr_null(c->ice.model);
    icestream_config_destroy(c);

    static const char *const back[] = {"ice.directory=x", "ice.model=uniform"};
    c = load_with("detector: {file: a.csv}\n", back, COUNT(back));
    ck_assert_str_eq(c->ice.model, "uniform");
    ck_assert_ptr_null(c->ice.directory);
    ck_assert_ptr_null(c->detector.layout);
    icestream_config_destroy(c);
}
END_TEST

START_TEST(places_of_keys)
{
    static const char *const sets[] = {"detector.oversize=2", "workload.kind=point"};
    icestream_config *c = load_with("run:\n  seed: 3\nice: { directory: ppc }\n"
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
        ck_assert_str_eq(ics_config_place(c, rows[i][0], place, sizeof place), rows[i][1]);
    }
    char small[8];
    ck_assert_str_eq(ics_config_place(c, "run.seed", small, sizeof small), "work/ru");
    icestream_config_destroy(c);
}
END_TEST

ICS_TEST_MAIN("config")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, defaults);
    tcase_add_test(all, every_type_of_value_is_read);
    tcase_add_test(all, keys_of_a_gpu);
    tcase_add_test(all, several_gpus);
    tcase_add_test(all, stages_from_headers);
    tcase_add_test(all, anchors_and_aliases_carry_values);
    tcase_add_test(all, paths_refer_to_the_file_that_names_them);
    tcase_add_test(all, sets_override_in_order);
    tcase_add_test(all, places_of_keys);
    suite_add_tcase(suite, all);
}
