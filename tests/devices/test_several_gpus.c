/* Promise: whole runs on several GPUs, with or without the CPU, write the same bytes as a run on
 * the CPU, even if a GPU is lost. Users see which devices compute and which were lost.
 * test_device_gpu.c has the calls at which GPUs fail.
 *
 * Uses fake GPUs. How to join: a new setting of devices is one call of check_against_cpu(). */
#include "tests/devices/fake_gpu_run.h"
#include "tests/support/test_main.h"

/* The bytes of all hit files. */
typedef struct bytes {
    unsigned char *data[FILES];
    size_t size[FILES];
} bytes;

static bytes read_files(const run_folder *place)
{
    bytes found;
    for (int i = 0; i < FILES; ++i) {
        char name[64], path[2 * SCRATCH_PATH];
        snprintf(name, sizeof name, "%s.hits.npy", names[i]);
        found.data[i] = scratch_read(run_folder_path(place->hits, name, path), &found.size[i]);
    }
    return found;
}

/* Runs on the CPU, then with these settings. The bytes of all files must be equal. The caller frees
 * the summary. */
static json_t *check_against_cpu(const char *first, const char *second, const char *third)
{
    run_folder place = open_place();
    ck_assert_msg(run_folder_run(&place, (const char *[]){"device.backend=cpu", NULL}) ==
                      ICESTREAM_OK,
                  "%s", place.error.text);
    bytes expected = read_files(&place);
    const char *sets[] = {
        "device.math=portable", "graph.schedule=event-wavefront", first, second, third, NULL};
    ck_assert_msg(run_folder_run(&place, sets) == ICESTREAM_OK, "%s", place.error.text);
    bytes found = read_files(&place);
    for (int i = 0; i < FILES; ++i) {
        ck_assert_uint_eq(found.size[i], expected.size[i]);
        ck_assert_int_eq(memcmp(found.data[i], expected.data[i], found.size[i]), 0);
        free(expected.data[i]);
        free(found.data[i]);
    }
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    if (fake.create_result == ICESTREAM_OK) {
        ck_assert_int_eq(atomic_load(&fake.created), atomic_load(&fake.destroyed));
    }
    json_t *summary = run_folder_summary(&place);
    run_folder_close(&place);
    return summary;
}

static const char *device_name(const json_t *summary)
{
    return json_string_value(device_of(summary, "name"));
}

START_TEST(test_runs_on_several_gpus)
{
    reset_fake();
    fake.count = 3;
    json_t *summary = check_against_cpu("device.index=all", "device.backend=cuda", NULL);
    ck_assert_str_eq(device_name(summary),
                     "3 GPUs: fake GPU (GPU 0), fake GPU (GPU 1), fake GPU (GPU 2)");
    ck_assert_int_eq(atomic_load(&fake.created), 3);
    int used = 0;
    for (int i = 0; i < 3; ++i) {
        used += atomic_load(&fake.taken_of[i]) > 0;
    }
    ck_assert_int_gt(used, 1);
    json_decref(summary);

    reset_fake();
    fake.count = 3;
    summary = check_against_cpu("device.index=[2, 0]", NULL, NULL);
    ck_assert_str_eq(device_name(summary), "2 GPUs: fake GPU (GPU 2), fake GPU (GPU 0)");
    ck_assert_int_eq(atomic_load(&fake.taken_of[1]), 0);
    json_decref(summary);

    reset_fake();
    fake.count = 1; /* the name of one GPU has no count */
    summary = check_against_cpu("device.index=all", NULL, NULL);
    ck_assert_str_eq(device_name(summary), "fake GPU");
    json_decref(summary);
}
END_TEST

START_TEST(test_runs_on_gpus_and_the_cpu)
{
    reset_fake();
    fake.count = 2;
    json_t *summary = check_against_cpu("device.backend=cuda+cpu", "device.index=[0, 1]",
                                        "device.instruction_set=baseline");
    ck_assert_str_eq(device_name(summary), "2 GPUs and the CPU: fake GPU (GPU 0), fake GPU (GPU "
                                           "1), cpu (2 threads, baseline)");
    json_decref(summary);

    reset_fake();
    summary = check_against_cpu("device.backend=cuda+cpu", NULL, NULL);
    ck_assert_ptr_nonnull(strstr(device_name(summary), "1 GPU and the CPU: fake GPU (GPU 0), cpu"));
    json_decref(summary);

    reset_fake();
    fake.submit_fault = 1; /* the CPU is a member from the start */
    summary = check_against_cpu("device.backend=cuda+cpu", NULL, NULL);
    ck_assert(warned(summary, "GPU 0 is given up; its unfinished batches start again on the o"));
    json_decref(summary);

    reset_fake();
    fake.count = 0;
    summary = check_against_cpu("device.backend=cuda+cpu", "device.fallback=cpu", NULL);
    ck_assert_str_eq(device_name(summary), "cpu");
    ck_assert(warned(summary, "device.backend cuda+cpu: no GPU, because fake GPU 0"));
    json_decref(summary);
    run_folder place = open_place();
    const char *sets[] = {"device.backend=cuda+cpu", "device.math=portable", NULL};
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_E_DEVICE);
    ck_assert_ptr_nonnull(strstr(place.error.text, "--set device.backend: error: device.backend: "
                                                   "found cuda+cpu, but fake GPU 0"));
    run_folder_close(&place);
}
END_TEST

/* GPUs of one kind use the schedule that was chosen on one of them. */
START_TEST(test_auto_chooses_once)
{
    reset_fake();
    fake.count = 3;
    json_t *summary = check_against_cpu("device.index=all", "graph.schedule=auto", NULL);
    const json_t *device = json_object_get(summary, "device");
    const json_t *choice = json_object_get(device, "choice");
    ck_assert_str_eq(json_string_value(json_object_get(device, "schedule")), "monolithic");
    ck_assert_int_eq(atomic_load(&fake.chosen), 1);
    bool shared = false;
    for (size_t i = 0; i < json_array_size(choice); ++i) {
        shared |= strstr(json_string_value(json_array_get(choice, i)), ": monolithic, as chosen "
                                                                       "on GPU ") != NULL;
    }
    ck_assert(shared);
    json_decref(summary);
}
END_TEST

START_TEST(test_a_loss_is_simulated)
{
    reset_fake();
    fake.count = 2;
    ck_assert_int_eq(setenv("ICESTREAM_GPU_FAIL", "1:2", 1), 0);
    json_t *summary = check_against_cpu("device.index=all", NULL, NULL);
    ck_assert(warned(summary, "ICESTREAM_GPU_FAIL is set: GPU 1 will be treated as lost after 2"));
    ck_assert(warned(summary, "GPU 1: treated as lost after 2 batches"));
    ck_assert(warned(summary, "GPU 1 is given up"));
    ck_assert_int_le(atomic_load(&fake.taken_of[1]), 2);
    json_decref(summary);

    static const char *const wrong[] = {"", "1", "1:", "1:0", "-1:3", "1:2x", ":3", "a:b"};
    run_folder place = open_place();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        ck_assert_int_eq(setenv("ICESTREAM_GPU_FAIL", wrong[i], 1), 0);
        ck_assert_int_eq(run_folder_run(&place, (const char *[]){"device.index=all", NULL}),
                         ICESTREAM_E_CONFIG);
        ck_assert_ptr_nonnull(strstr(place.error.text, "expected ORDINAL:BATCHES"));
    }
    ck_assert_int_eq(unsetenv("ICESTREAM_GPU_FAIL"), 0);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_gpus_that_do_not_exist)
{
    reset_fake();
    fake.count = 2;
    run_folder place = open_place();
    const char *sets[] = {"device.index=[1, 2, 7]", NULL, NULL};
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_E_DEVICE);
    ck_assert_str_eq(place.error.text,
                     "--set device.index: error: device.index: found 2, expected 0 to 1: this "
                     "machine has 2 GPUs\n"
                     "--set device.index: error: device.index: found 7, expected 0 to 1: this "
                     "machine has 2 GPUs");
    ck_assert_int_eq(atomic_load(&fake.created), 0);
    sets[1] = "device.fallback=cpu";
    ck_assert_int_eq(run_folder_run(&place, sets), ICESTREAM_OK);
    json_t *summary = run_folder_summary(&place);
    ck_assert(warned(summary, "GPU 7 is left out"));
    ck_assert_str_eq(device_name(summary), "1 GPU: fake GPU (GPU 1)");
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_the_log_names_all_devices)
{
    reset_fake();
    fake.count = 3;
    run_folder place = open_place();
    const char *sets[] = {"device.index=[0, 1]", "graph.schedule=event-wavefront", NULL};
    char *text = run_folder_log(&place, sets);
    ck_assert_msg(
        strstr(text, "device: 2 GPUs: fake GPU (GPU 0), fake GPU (GPU 1), fast maths, "
                     "event-wavefront schedule (device.backend auto: 3 GPUs found, device.index "
                     "selects 2)\n") != NULL,
        "%s", text);
    free(text);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("several_gpus")
{
    TCase *tests = tcase_create("several_gpus");
    tcase_add_test(tests, test_runs_on_several_gpus);
    tcase_add_test(tests, test_runs_on_gpus_and_the_cpu);
    tcase_add_test(tests, test_auto_chooses_once);
    tcase_add_test(tests, test_a_loss_is_simulated);
    tcase_add_test(tests, test_gpus_that_do_not_exist);
    tcase_add_test(tests, test_the_log_names_all_devices);
    suite_add_tcase(suite, tests);
}
