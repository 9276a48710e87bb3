/* Promise: waveforms are the same bytes wherever the sums of their hits are made: on a GPU, on the
 * host, or in part on both; the sum that a GPU makes of a hit is that of the host, to the bit.
 *
 * Uses a fake GPU, which makes sums of every second hit by the functions that the GPU calls. How to
 * join: a new kind of run is a row of `ways`; a new kind of bins is a row of `rules`. */
#include "pipeline/photons/devices/gpu_sums.h"
#include "pipeline/photons/files/waveform_check.h"
#include "tests/devices/device_world.h"
#include "tests/devices/fake_gpu_run.h"
#include "tests/models/water_files.h"
#include "tests/support/test_main.h"

#include <math.h>

enum { MANY = 4000 };

/* ---- single hits ----------------------------------------------------------------------------- */

/* Steps around time 0, some of them far away from it. */
static void fill_steps(icestream_step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        steps[i] = run_folder_varied(i, 1000);
        steps[i].event_id = i / 3 % 5;
        steps[i].t = i % 4 == 0 ? -1e5f * (float)i : (float)i * 12.3f - 200.0f;
        steps[i].weight = ldexpf(1.0f + (float)i / 1024.0f, (int)(i % 40) - 20);
    }
}

/* Whether both sums are the same; the one of a GPU may be of a hit outside the range. */
static void expect_same(const ics_batch *batch, const ics_hit_models *models, bool inside,
                        const ics_bin_sum *host, const ics_hit_sum *gpu)
{
    const ice_module *module = &models->detector->modules[gpu->module];
    ck_assert_uint_eq(gpu->hits, 1);
    if (!inside) {
        ck_assert_uint_eq(gpu->exponent, ICE_WEIGHT_CLASSES);
        return;
    }
    ck_assert_uint_eq(gpu->exponent, host->exponent);
    ck_assert_uint_eq(gpu->mantissa, host->mantissa);
    ck_assert_double_eq((double)gpu->bin, host->bin);
    ck_assert_uint_eq(batch->steps[gpu->emission].event_id, host->event_id);
    ck_assert_uint_eq(module->string, host->string);
    ck_assert_uint_eq(module->module, host->module);
}

/* Packs a sum into a key, and reads it again. */
static void check_key(const ics_hit_sum *sum, uint32_t modules)
{
    const ics_hit_sum_layout layout = {
        .shift = 17, .emissions = 4u << 17, .module_bits = ics_hit_sum_bits(modules - 1)};
    const uint32_t first = 3u << 17;
    const ics_hit_sum_key key = ics_hit_sum_key_of(&layout, first, sum);
    const ics_hit_sum_key nobody = ics_hit_sum_key_of_nobody(&layout);
    const ics_hit_sum_total total = {.mantissa = sum->mantissa, .hits = sum->hits};
    ics_hit_sum read;
    ck_assert(ics_hit_sum_read(&layout, &key, &total, &read));
    ck_assert_uint_eq(read.emission, first + sum->emission);
    read.emission = sum->emission;
    ck_assert_mem_eq(&read, sum, sizeof read);
    ck_assert(!ics_hit_sum_read(&layout, &nobody, &total, &read));
    ck_assert(key.high < nobody.high || (key.high == nobody.high && key.low < nobody.low));
}

/* Makes the sum of an arrival on the host and as a GPU does. Returns the time of the hit (ns). */
static double check_hit(const ics_hit_models *models, const ics_batch *batch,
                        const ics_hit_sum_step *steps, const ice_arrival *arrival)
{
    const ics_hit_sum_rule rule = ics_device_gpu_sums_rule(models);
    icestream_error error = {0};
    icestream_hit hit;
    ics_bin_sum host;
    ics_hit_sum gpu;
    bool inside;
    ck_assert_int_eq(ics_batch_hit_from_arrival(models, batch, arrival, &hit, &error),
                     ICESTREAM_OK);
    const bool exists =
        ics_hit_bins_sum_of(&models->bins, &hit, "", &host, &inside, &error) == ICESTREAM_OK;
    ck_assert_int_eq(exists, ics_hit_sum_of(models->tables, &rule, &steps[arrival->emission],
                                            &batch->emissions[arrival->emission], arrival, &gpu));
    if (exists) {
        expect_same(batch, models, inside, &host, &gpu);
        check_key(&gpu, rule.modules);
    }
    return hit.t;
}

static const ics_bin_rule rules[] = {
    {.width = 10},
    {.width = 0.37, .has_range = true, .low = -50.5, .high = 49.3},
    {.width = 1e6, .has_range = true, .low = -1e9, .high = 1e9},
    {.width = 1e-6}, /* most hits have no bin */
};
enum { RULES = sizeof rules / sizeof rules[0], FEW_STEPS = 60 };

START_TEST(the_sum_of_a_hit_is_that_of_the_host)
{
    reset_fake();
    const bool water = _i % 2 == 0;
    device_world here = open_device_world(
        (const char *[]){"device.backend=cuda", "detector.oversize=3",
                         water ? "ice.file=" SEA_FILE : "run.seed=3",
                         water ? "stages.scatter=rayleigh-hg" : "ice.model=uniform"},
        4);
    ics_batch *batch = NULL;
    icestream_error error = {0};
    icestream_step input[FEW_STEPS];
    ics_hit_sum_step steps[FEW_STEPS];
    fill_steps(input, FEW_STEPS);
    const ics_batch_limits limits = ics_batch_limits_default();
    ck_assert_int_eq(ics_batch_create(&limits, 0, &batch, &error), ICESTREAM_OK);
    ics_step_cursor cursor = {.steps = input, .count = FEW_STEPS};
    bool full;
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, &error), ICESTREAM_OK);
    ck_assert_uint_eq(batch->count, FEW_STEPS);
    ics_hit_models models = here.hit_models;
    ck_assert(ics_device_gpu_sums_steps(&models, batch, steps));
    models.bins = rules[_i / 2];
    uint32_t seed = (uint32_t)_i;
    for (int i = 0; i < MANY; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const ice_arrival arrival = {.emission = (seed >> 8) % FEW_STEPS,
                                     .photon_id = seed >> 14,
                                     .module =
                                         (seed >> 5) % (uint32_t)models.detector->module_count,
                                     .path = (float)(seed >> 10) * 1e-4f,
                                     .wavelength = 280.0f + (float)(seed >> 20) * 0.08f};
        const double t = check_hit(&models, batch, steps, &arrival);
        ics_hit_models edge = models; /* an edge of a bin or of the range is where the hit is */
        edge.bins = (ics_bin_rule){
            .width = 1e3, .has_range = true, .low = i % 2 == 0 ? t : t - 1e4, .high = t + 1e4};
        if (i % 3 == 0) {
            edge.bins.high = t;
            edge.bins.low = t - 1e4;
        }
        (void)check_hit(&edge, batch, steps, &arrival);
    }
    ics_batch_destroy(batch);
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    close_device_world(&here);
}
END_TEST

/* ---- runs ------------------------------------------------------------------------------------ */

/* The bytes of the rows of a file. The caller frees them. */
static unsigned char *rows_of(const run_folder *place, const char *name, size_t *bytes)
{
    char file[64], path[2 * SCRATCH_PATH];
    icestream_error error = {0};
    json_t *metadata = NULL;
    size_t size = 0;
    snprintf(file, sizeof file, "%s.hits.npy", name);
    run_folder_path(place->hits, file, path);
    ck_assert_msg(ics_waveform_check_file(path, true, &metadata, &error) == ICESTREAM_OK, "%s",
                  error.text);
    *bytes = (size_t)json_integer_value(json_object_get(metadata, "rows")) *
             sizeof(icestream_waveform_bin);
    json_decref(metadata);
    unsigned char *all = scratch_read(path, &size);
    ck_assert_uint_le(1024 + *bytes, size);
    memmove(all, all + 1024, *bytes);
    return all;
}

/* Writes steps of all kinds and of several events. Every file with light begins with a step that
 * has a profile: whichever file comes first, the GPU is made for profiles at once. */
static void set_events(run_folder *place)
{
    static const uint32_t counts[FILES] = {200, 1, 25, 0, 60}; /* d stays without light */
    for (uint32_t file = 0; file < FILES; ++file) {
        char name[64];
        icestream_step steps[200];
        for (uint32_t i = 0; i < counts[file]; ++i) {
            steps[i] = run_folder_varied(1000 * file + 1 + i, 300);
            steps[i].event_id = i / 4 % 6;
            steps[i].t = (float)(i % 7) * 11.5f - 30.0f;
        }
        snprintf(name, sizeof name, "%s.steps.npy", names[file]);
        if (counts[file] > 0) {
            run_folder_steps(place, name, steps, counts[file]);
        }
    }
}

/* Runs on the CPU, with the settings that do not say how to compute, and on a fake GPU with all.
 * The rows must be the same. Returns the log of the second run, which the caller frees. */
static char *check_run(run_folder *place, const char *const *sets)
{
    const char *all[RUN_FOLDER_SETS] = {"device.backend=cpu", "sink.hits=waveforms"};
    unsigned char *expected[FILES];
    size_t bytes[FILES];
    size_t count = 2;
    for (size_t i = 0; sets[i] != NULL; ++i) {
        if (strncmp(sets[i], "graph.", 6) != 0 && strncmp(sets[i], "device.", 7) != 0) {
            all[count++] = sets[i];
        }
    }
    ck_assert_msg(run_folder_run(place, all) == ICESTREAM_OK, "%s", place->error.text);
    for (int i = 0; i < FILES; ++i) {
        expected[i] = rows_of(place, names[i], &bytes[i]);
    }
    ck_assert_uint_gt(bytes[0], 10 * sizeof(icestream_waveform_bin));
    all[0] = "device.backend=cuda";
    for (size_t i = 0; sets[i] != NULL; ++i) {
        all[2 + i] = sets[i];
    }
    char *text = run_folder_log(place, all);
    for (int i = 0; i < FILES; ++i) {
        size_t found_bytes;
        unsigned char *found = rows_of(place, names[i], &found_bytes);
        ck_assert_uint_eq(found_bytes, bytes[i]);
        ck_assert_int_eq(memcmp(found, expected[i], found_bytes), 0);
        free(found);
        free(expected[i]);
    }
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    return text;
}

static const struct {
    const char *sets[4];
    bool has_sums;
} ways[] = {
    {{"graph.schedule=event-wavefront"}, true},
    {{"graph.schedule=event-wavefront", "sink.waveform_bin=0.7", "sink.waveform_range=[-20, 40.1]"},
     true},
    {{"graph.schedule=event-wavefront", "graph.batch=50", "sink.checkpoint=0.001"}, true},
    {{"graph.schedule=auto", "detector.keep_hit_photons=true"}, true},
    {{"graph.schedule=event-wavefront", "device.index=all"}, true},
    {{"graph.schedule=event-wavefront", "stages.detect=pe"}, false},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

START_TEST(the_rows_are_those_of_the_cpu)
{
    reset_fake();
    fake.count = 2;
    run_folder place = open_place();
    set_events(&place);
    char *text = check_run(&place, ways[_i].sets);
    ck_assert_int_eq(atomic_load(&fake.sums) > 100, ways[_i].has_sums);
    ck_assert_msg(strstr(text, ways[_i].has_sums
                                   ? "GPU 0: waveforms: the GPU makes the sums of hits\n"
                                   : "GPU 0: waveforms: the host makes the sums of hits, because "
                                     "stages.detect decides on the host which hits are "
                                     "photo-electrons\n") != NULL,
                  "%s", text);
    free(text);
    run_folder_close(&place);
}
END_TEST

START_TEST(a_variable_of_the_environment_leaves_sums_to_the_host)
{
    reset_fake();
    run_folder place = open_place();
    setenv("ICESTREAM_GPU_HOST_SUMS", "1", 1);
    char *text = check_run(&place, (const char *const[]){"graph.schedule=event-wavefront", NULL});
    unsetenv("ICESTREAM_GPU_HOST_SUMS");
    ck_assert_int_eq(atomic_load(&fake.sums), 0);
    ck_assert_ptr_nonnull(strstr(text, "because the environment variable ICESTREAM_GPU_HOST_SUMS"));
    free(text);
    run_folder_close(&place);
}
END_TEST

START_TEST(the_host_makes_the_sums_of_pulses)
{
    reset_fake();
    run_folder place = open_place();
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_bright(i, 800);
        if (i == 20) { /* 2.5 batches before this one have none */
            steps[i].flags = ICESTREAM_STEP_PROFILE(ICESTREAM_PROFILE_EXACT) |
                             ICESTREAM_STEP_PULSE(ICE_PULSE_LED);
            steps[i].length = 5;
            steps[i].dz = 1;
            steps[i].spectrum = 3;
        }
    }
    run_folder_steps(&place, "a.steps.npy", steps, 40);
    char *text = check_run(&place, (const char *const[]){"graph.schedule=event-wavefront", NULL});
    ck_assert_int_gt(atomic_load(&fake.sums), 0);
    ck_assert_msg(strstr(text, "the host makes the sums of batches with pulses of LEDs") != NULL,
                  "%s", text);
    free(text);
    run_folder_close(&place);
}
END_TEST

/* A GPU that is made again with another schedule makes sums, too. */
START_TEST(a_trial_changes_the_schedule)
{
    reset_fake();
    fake.trial_after = 3;
    run_folder place = open_place();
    set_events(&place);
    free(check_run(&place, (const char *const[]){"graph.schedule=auto", NULL}));
    ck_assert_int_eq(atomic_load(&fake.created), 2);
    const int all = atomic_load(&fake.sums);
    reset_fake();
    free(check_run(&place, (const char *const[]){"graph.schedule=event-wavefront", NULL}));
    ck_assert_int_gt(all, 0);
    ck_assert_int_eq(atomic_load(&fake.sums), all);
    run_folder_close(&place);
}
END_TEST

START_TEST(the_cpu_continues)
{
    reset_fake();
    fake.submit_fault = 8;
    run_folder place = open_place();
    set_events(&place);
    free(check_run(&place, (const char *const[]){"graph.schedule=event-wavefront",
                                                 "device.fallback=cpu", NULL}));
    ck_assert_int_gt(atomic_load(&fake.sums), 0);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("gpu_sums")
{
    TCase *tests = tcase_create("sums");
    tcase_add_loop_test(tests, the_sum_of_a_hit_is_that_of_the_host, 0, 2 * RULES);
    tcase_add_loop_test(tests, the_rows_are_those_of_the_cpu, 0, WAYS);
    tcase_add_test(tests, a_variable_of_the_environment_leaves_sums_to_the_host);
    tcase_add_test(tests, the_host_makes_the_sums_of_pulses);
    tcase_add_test(tests, a_trial_changes_the_schedule);
    tcase_add_test(tests, the_cpu_continues);
    suite_add_tcase(suite, tests);
}
