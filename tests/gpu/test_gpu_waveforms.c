/* Promise: waveforms whose sums a GPU makes have the bytes of those that the host makes from hits:
 * in portable maths those of the CPU, in fast maths those of the same hits; for every schedule,
 * with hit buffers that overflow, with many batches, with bins of every kind.
 *
 * How to join: a new kind of bins or of hits is a row of `kinds`. */
#include "pipeline/photons/files/waveform_check.h"
#include "tests/gpu/gpu_light.h"
#include "tests/support/run_folder.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, PHOTONS = 2500, LEAST = 100, HEADER_BYTES = 1024, MOST_SETS = 14 };

/* What the runs of a kind have in common, and whether the GPU makes sums of it. */
static const struct {
    const char *sets[3];
    bool on_gpu;
} kinds[] = {
    {{NULL}, true},
    {{"sink.waveform_bin=1000"}, true},
    {{"sink.waveform_bin=3.7", "sink.waveform_range=[20, 61.3]"}, true},
    {{"sink.waveform_range=[-1e9, -1e8]", "sink.waveform_bin=1e6"}, true},
    {{"detector.keep_hit_photons=true", "ice.model=uniform"}, true},
    {{"stages.detect=pe"}, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Steps of several events, neighbours or not, before and after time 0. */
static run_folder open_place(void)
{
    run_folder place = run_folder_open();
    icestream_step *steps = calloc(STEPS, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = run_folder_varied(i, (uint32_t)gpu_scaled(PHOTONS, LEAST));
        steps[i].event_id = UINT64_C(1) << 40 | i / 7 % 9;
        steps[i].t = (float)(i % 5) * 17.25f - 40.0f;
        steps[i].weight = i % 3 == 0 ? 0.3f : 1.0f;
    }
    run_folder_steps(&place, "a.steps.npy", steps, STEPS);
    free(steps);
    place.options.force = true;
    return place;
}

typedef struct waveforms {
    unsigned char *rows;
    size_t bytes, count;
    json_int_t hits, outside;
} waveforms;

static waveforms read_waveforms(const run_folder *place)
{
    char path[2 * SCRATCH_PATH];
    icestream_error error = {0};
    json_t *metadata = NULL;
    size_t size = 0;
    run_folder_path(place->hits, "a.hits.npy", path);
    ck_assert_msg(ics_waveform_check_file(path, true, &metadata, &error) == ICESTREAM_OK, "%s",
                  error.text);
    waveforms all = {.count = (size_t)json_integer_value(json_object_get(metadata, "rows")),
                     .hits = json_integer_value(json_object_get(metadata, "hits")),
                     .outside = json_integer_value(json_object_get(metadata, "outside"))};
    json_decref(metadata);
    all.bytes = all.count * sizeof(icestream_waveform_bin);
    all.rows = scratch_read(path, &size);
    ck_assert_uint_ge(size, HEADER_BYTES + all.bytes);
    return all;
}

static void expect_equal(waveforms *found, const waveforms *expected, const char *name)
{
    ck_assert_msg(found->count == expected->count && found->hits == expected->hits &&
                      found->outside == expected->outside,
                  "%s: %zu rows of %lld hits, %lld outside, expected %zu, %lld, %lld", name,
                  found->count, (long long)found->hits, (long long)found->outside, expected->count,
                  (long long)expected->hits, (long long)expected->outside);
    ck_assert_msg(memcmp(found->rows + HEADER_BYTES, expected->rows + HEADER_BYTES, found->bytes) ==
                      0,
                  "%s: other rows", name);
    free(found->rows);
    found->rows = NULL;
}

/* Runs with the settings of a kind and those of `more`. *downloaded: bytes from the GPU. */
static waveforms run(run_folder *place, int kind, const char *const *more, json_int_t *downloaded)
{
    const char *all[MOST_SETS] = {"sink.hits=waveforms"};
    size_t count = 1;
    for (int k = 0; k < 3 && kinds[kind].sets[k] != NULL; ++k) {
        all[count++] = kinds[kind].sets[k];
    }
    for (; *more != NULL; ++more) {
        ck_assert_uint_lt(count + 1, MOST_SETS);
        all[count++] = *more;
    }
    ck_assert_msg(run_folder_run(place, all) == ICESTREAM_OK, "%s", place->error.text);
    json_t *summary = run_folder_summary(place);
    const json_t *gpu = json_object_get(json_object_get(summary, "device"), "gpu");
    *downloaded = json_integer_value(json_object_get(gpu, "downloaded_bytes"));
    json_decref(summary);
    return read_waveforms(place);
}

static waveforms run_on_cpu(run_folder *place, int kind)
{
    json_int_t none;
    return run(place, kind, (const char *const[]){"device.backend=cpu", NULL}, &none);
}

START_TEST(portable_sums_are_those_of_the_cpu)
{
    static const char *const hits[] = {"graph.hits=64", "graph.hits=1000", "graph.hits=32768"};
    run_folder place = open_place();
    waveforms expected = run_on_cpu(&place, 0);
    ck_assert_uint_gt(expected.count, 50);
    for (int i = 0; i < GPU_SCHEDULES; ++i) {
        char schedule[64];
        snprintf(schedule, sizeof schedule, "graph.schedule=%s",
                 ics_graph_schedule_name(gpu_schedules[i]));
        for (int k = 0; k < 3; ++k) {
            json_int_t bytes;
            waveforms found =
                run(&place, 0,
                    (const char *const[]){"device.backend=cuda", "device.math=portable", schedule,
                                          hits[k], "graph.batch=100000", NULL},
                    &bytes);
            ck_assert_int_gt(bytes, 0);
            expect_equal(&found, &expected, schedule);
        }
    }
    free(expected.rows);
    run_folder_close(&place);
}
END_TEST

START_TEST(kinds_of_bins_and_hits)
{
    run_folder place = open_place();
    waveforms expected = run_on_cpu(&place, _i);
    json_int_t bytes;
    waveforms found =
        run(&place, _i,
            (const char *const[]){"device.backend=cuda", "device.math=portable", "graph.hits=32768",
                                  "graph.schedule=monolithic", NULL},
            &bytes);
    printf("kind %d: %lld hits, %zu rows, %lld bytes from the GPU\n", _i, (long long)expected.hits,
           expected.count, (long long)bytes);
    const json_int_t all = expected.hits + expected.outside;
    ck_assert_int_ge(bytes, 0);
    if (!kinds[_i].on_gpu) {
        ck_assert_int_ge(bytes, all * (json_int_t)sizeof(ice_arrival));
    } else if (all > 10000 && _i == 1) {
        ck_assert_int_lt(4 * bytes, all * (json_int_t)sizeof(ice_arrival));
    }
    expect_equal(&found, &expected, "monolithic");
    free(expected.rows);
    run_folder_close(&place);
}
END_TEST

START_TEST(fast_sums_are_those_of_the_host)
{
    static const char *const sets[] = {"device.backend=cuda",
                                       "device.math=fast",
                                       "graph.hits=5000",
                                       "graph.batch=77777",
                                       "graph.schedule=event-wavefront",
                                       NULL};
    run_folder place = open_place();
    json_int_t of_hits, of_sums;
    setenv("ICESTREAM_GPU_HOST_SUMS", "1", 1);
    waveforms expected = run(&place, 0, sets, &of_hits);
    unsetenv("ICESTREAM_GPU_HOST_SUMS");
    waveforms found = run(&place, 0, sets, &of_sums);
    ck_assert_int_ne(of_hits, of_sums);
    expect_equal(&found, &expected, "event-wavefront");
    free(expected.rows);
    run_folder_close(&place);
}
END_TEST

/* A GPU that is lost in the middle, and the CPU, which makes its sums from hits. */
START_TEST(another_device_continues)
{
    run_folder place = open_place();
    waveforms expected = run_on_cpu(&place, 0);
    json_int_t bytes;
    setenv("ICESTREAM_GPU_FAIL", "0:3", 1);
    waveforms found = run(&place, 0,
                          (const char *const[]){"device.backend=cuda+cpu", "device.math=portable",
                                                "graph.hits=32768", "graph.batch=50000",
                                                "graph.schedule=monolithic", NULL},
                          &bytes);
    unsetenv("ICESTREAM_GPU_FAIL");
    expect_equal(&found, &expected, "lost");
    free(expected.rows);
    run_folder_close(&place);
}
END_TEST

/* The host makes the sums of launches with pulses, and the GPU those of others. */
START_TEST(steps_with_pulses)
{
    run_folder place = open_place();
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_varied(i, (uint32_t)gpu_scaled(5 * PHOTONS, 5 * LEAST));
        if (i % 4 == 2 && i >= 20) {
            steps[i].flags |= ICESTREAM_STEP_PULSE(1);
            steps[i].length = 20.0f;
        }
    }
    run_folder_steps(&place, "a.steps.npy", steps, 40);
    waveforms expected = run_on_cpu(&place, 0);
    json_int_t bytes;
    waveforms found =
        run(&place, 0,
            (const char *const[]){"device.backend=cuda", "device.math=portable", "graph.hits=32768",
                                  "graph.batch=5000", "graph.schedule=monolithic", NULL},
            &bytes);
    expect_equal(&found, &expected, "pulses");
    free(expected.rows);
    run_folder_close(&place);
}
END_TEST

/* The message is that of the host, which gets the hits of a launch with a hit that has no bin. */
START_TEST(bins_that_have_no_number)
{
    run_folder place = open_place();
    icestream_step late = run_folder_bright(0, 5000);
    late.t = 3e9f;
    run_folder_steps(&place, "a.steps.npy", &late, 1);
    const char *const sets[] = {"sink.hits=waveforms",
                                "sink.waveform_bin=0.1",
                                "device.backend=cuda",
                                "device.math=portable",
                                "graph.hits=32768",
                                "graph.schedule=monolithic",
                                NULL};
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(place.error.text, "sink.waveform_range leaves it out") != NULL, "%s",
                  place.error.text);
    run_folder_close(&place);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu waveforms");
    TCase *tests = tcase_create("waveforms");
    tcase_add_test(tests, portable_sums_are_those_of_the_cpu);
    tcase_add_loop_test(tests, kinds_of_bins_and_hits, 0, KINDS);
    tcase_add_test(tests, fast_sums_are_those_of_the_host);
    tcase_add_test(tests, another_device_continues);
    tcase_add_test(tests, steps_with_pulses);
    tcase_add_test(tests, bins_that_have_no_number);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
