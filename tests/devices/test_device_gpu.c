/* Promise: a run on a GPU gives the hits of the CPU, in whatever order the GPU returns its batches.
 * A GPU may fail at any call: then the CPU continues, or the run ends with the error, and no
 * incomplete file remains.
 *
 * Uses a fake GPU. How to join: a new way to fail is a line of `failures`. */
#include "tests/devices/device_world.h"
#include "tests/devices/fake_gpu_run.h"
#include "tests/support/test_main.h"

/* ---- runs ---------------------------------------------------------------------------------- */

static void read_all(const run_folder *place, icestream_hit *hits[FILES], size_t counts[FILES])
{
    for (int i = 0; i < FILES; ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s.hits.npy", names[i]);
        hits[i] = run_folder_hits(place, name, &counts[i]);
    }
}

/* Runs on the CPU, then on the fake GPU with these settings. All files must exist and be equal. The
 * caller frees the summary. */
static json_t *check_against_cpu(const char *first, const char *second, const char *third)
{
    run_folder place = open_place();
    icestream_hit *expected[FILES], *found[FILES];
    size_t expected_counts[FILES], counts[FILES];
    ck_assert_msg(run_folder_run(&place, (const char *[]){"device.backend=cpu", NULL}) ==
                      ICESTREAM_OK,
                  "%s", place.error.text);
    read_all(&place, expected, expected_counts);
    ck_assert_msg(run_folder_run(&place, (const char *[]){first, second, third, NULL}) ==
                      ICESTREAM_OK,
                  "%s", place.error.text);
    read_all(&place, found, counts);
    for (int i = 0; i < FILES; ++i) {
        ck_assert_uint_eq(counts[i], expected_counts[i]);
        ck_assert(counts[i] == 0 ||
                  memcmp(found[i], expected[i], counts[i] * sizeof(icestream_hit)) == 0);
        free(expected[i]);
        free(found[i]);
    }
    ck_assert_uint_gt(counts[0], 100);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "account", "created"), 48500);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), FILES);
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    run_folder_close(&place);
    return summary;
}

START_TEST(test_hits_are_those_of_the_cpu)
{
    reset_fake();
    json_t *summary = check_against_cpu("device.backend=cuda", "graph.schedule=event-wavefront",
                                        "device.math=portable");
    ck_assert_str_eq(json_string_value(device_of(summary, "backend")), "cuda");
    ck_assert_str_eq(json_string_value(device_of(summary, "name")), "fake GPU");
    ck_assert_str_eq(json_string_value(device_of(summary, "schedule")), "event-wavefront");
    const json_t *gpu = device_of(summary, "gpu");
    ck_assert_str_eq(json_string_value(json_object_get(gpu, "math")), "portable");
    ck_assert_int_eq(json_integer_value(json_object_get(gpu, "waves")), 77);
    ck_assert_int_eq(json_integer_value(json_object_get(gpu, "batch_photons")), 2000);
    ck_assert_double_eq_tol(json_real_value(json_object_get(gpu, "kernel_seconds")), 0.5, 1e-12);
    ck_assert_uint_eq(json_array_size(device_of(summary, "warnings")), 0);
    json_decref(summary);
    /* 20000, 9000, 7500 and 12000 photons in batches of 2000 */
    ck_assert_int_eq(atomic_load(&fake.submitted), 10 + 5 + 4 + 6);
    ck_assert_int_eq(atomic_load(&fake.created), 1);
    ck_assert_int_eq(atomic_load(&fake.destroyed), 1);
    ck_assert_int_eq(atomic_load(&fake.chosen), 0);
}
END_TEST

START_TEST(test_batches_respect_the_limits_of_the_gpu)
{
    reset_fake();
    fake.batch_emissions = 7;
    json_decref(
        check_against_cpu("device.backend=auto", "graph.schedule=monolithic", "graph.batch=1000"));
    /* at most 1000 photons and 7 emissions: 20, 9, 8 and, of 60 steps of 200 photons, 12 */
    ck_assert_int_eq(atomic_load(&fake.submitted), 20 + 9 + 8 + 12);
}
END_TEST

/* A trial begins when the GPU is empty, and the run continues with the schedule that was faster.
 * The hits do not change, and the summary counts the work of both graphs. */
START_TEST(test_a_trial_changes_the_schedule)
{
    reset_fake();
    fake.trial_after = 7;
    json_t *summary = check_against_cpu("graph.pool=16", "device.backend=auto", NULL);
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    ck_assert_int_eq(atomic_load(&fake.trials), 1);
    ck_assert_int_eq(atomic_load(&fake.chosen), 1);
    ck_assert_int_eq(atomic_load(&fake.created), 2);
    ck_assert_int_eq(atomic_load(&fake.destroyed), 2);
    ck_assert_int_eq(atomic_load(&fake.submitted), 10 + 5 + 4 + 6);
    ck_assert_str_eq(json_string_value(device_of(summary, "schedule")), "event-wavefront");
    const json_t *choice = device_of(summary, "choice");
    ck_assert_uint_eq(json_array_size(choice), 3);
    ck_assert_str_eq(json_string_value(json_array_get(choice, 2)),
                     "event-wavefront: 0.3 ns per photon in a trial");
    const json_t *gpu = device_of(summary, "gpu");
    ck_assert_double_eq_tol(json_real_value(json_object_get(gpu, "kernel_seconds")), 1, 1e-12);
    ck_assert_double_eq_tol(json_real_value(json_object_get(gpu, "trial_seconds")), 0.25, 1e-12);
    json_decref(summary);
}
END_TEST

/* A GPU that fails in a trial is lost, and its batches start again elsewhere. */
START_TEST(test_a_trial_fails)
{
    reset_fake();
    fake.trial_after = 3;
    fake.trial_result = ICESTREAM_E_FAILED;
    json_t *summary = check_against_cpu("device.backend=auto", "device.fallback=cpu", NULL);
    ck_assert_int_eq(atomic_load(&fake.trials), 1);
    ck_assert(warned(summary, "GPU 0 is given up"));
    json_decref(summary);
}
END_TEST

START_TEST(test_auto_chooses_on_the_first_batch)
{
    reset_fake();
    json_t *summary = check_against_cpu("graph.pool=16", "device.backend=auto", NULL);
    ck_assert_int_eq(atomic_load(&fake.chosen), 1);
    ck_assert_int_eq(atomic_load(&fake.created), 1);
    ck_assert_str_eq(json_string_value(device_of(summary, "schedule")), "monolithic");
    ck_assert_str_eq(json_string_value(device_of(summary, "reason")),
                     "device.backend auto: 1 GPU found");
    const json_t *choice = device_of(summary, "choice");
    ck_assert_uint_eq(json_array_size(choice), 2);
    ck_assert_str_eq(json_string_value(json_array_get(choice, 1)), "auto: monolithic 0.4");
    ck_assert(warned(summary, "a pool of 16 is small"));
    json_decref(summary);
}
END_TEST

START_TEST(test_the_log_names_the_device)
{
    reset_fake();
    run_folder place = open_place();
    char *text = run_folder_log(&place, (const char *[]){"graph.pool=16", NULL});
    ck_assert_ptr_nonnull(strstr(text, "device: fake GPU (GPU 0), fast maths, schedule chosen "
                                       "on the first batch (device.backend auto: 1 GPU found)\n"));
    ck_assert_ptr_nonnull(strstr(text, "warning: GPU 0: a pool of 16 is small\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nauto: event-wavefront 0.5 ns per photon\nauto: monolithic 0.4\n"));
    free(text);
    run_folder_close(&place);
}
END_TEST

/* ---- failures -------------------------------------------------------------------------------- */

/* Calls at which the GPU fails, and what the run reports. */
static const struct {
    fake_failure at;
    const char *schedule, *reports;
    int status; /* of the run without a fallback */
} failures[] = {
    {{ICESTREAM_E_MEMORY, 0, NEVER, NEVER, 0},
     "graph.schedule=event-wavefront",
     "cudaMalloc",
     ICESTREAM_E_MEMORY},
    {{ICESTREAM_E_DEVICE, 0, NEVER, NEVER, 0},
     "graph.schedule=auto",
     "cudaMalloc",
     ICESTREAM_E_DEVICE},
    {{0, ICESTREAM_E_FAILED, NEVER, NEVER, 0},
     "graph.schedule=auto",
     "cudaGraphInstantiate",
     ICESTREAM_E_FAILED},
    {{0, 0, 0, NEVER, ICESTREAM_E_FAILED},
     "graph.schedule=event-wavefront",
     "cudaMemcpyAsync",
     ICESTREAM_E_FAILED},
    {{0, 0, 11, NEVER, ICESTREAM_E_FAILED},
     "graph.schedule=auto",
     "cudaMemcpyAsync",
     ICESTREAM_E_FAILED},
    {{0, 0, NEVER, 0, ICESTREAM_E_FAILED},
     "graph.schedule=event-wavefront",
     "cudaGraphLaunch",
     ICESTREAM_E_FAILED},
    {{0, 0, NEVER, 15, ICESTREAM_E_FAILED},
     "graph.schedule=event-wavefront",
     "cudaGraphLaunch",
     ICESTREAM_E_FAILED},
    {{0, 0, NEVER, 9, ICESTREAM_E_MEMORY},
     "graph.schedule=auto",
     "cudaGraphLaunch",
     ICESTREAM_E_MEMORY},
};
enum { FAILURES = sizeof failures / sizeof failures[0] };

static void set_failure(int i)
{
    reset_fake();
    fail_fake(&failures[i].at);
}

START_TEST(test_the_cpu_continues)
{
    set_failure(_i);
    json_t *summary =
        check_against_cpu("device.backend=cuda", "device.fallback=cpu", failures[_i].schedule);
    ck_assert_str_eq(json_string_value(device_of(summary, "backend")), "cpu");
    ck_assert(warned(summary, failures[_i].reports));
    ck_assert(warned(summary, "GPU 0 is left out") ||
              warned(summary, "GPU 0 is given up; no other device is left"));
    ck_assert(warned(summary, "device.fallback cpu: 2 CPU threads continue the work"));
    const json_t *members = device_of(summary, "members");
    ck_assert_uint_eq(json_array_size(members), 2);
    ck_assert(json_is_false(json_object_get(json_array_get(members, 0), "alive")));
    ck_assert(json_is_true(json_object_get(json_array_get(members, 1), "alive")));
    json_decref(summary);
}
END_TEST

START_TEST(test_without_fallback_the_run_ends)
{
    set_failure(_i);
    run_folder place = open_place();
    int status = run_folder_run(
        &place, (const char *[]){"device.backend=cuda", failures[_i].schedule, NULL});
    ck_assert_int_eq(status, failures[_i].status);
    ck_assert_int_eq(icestream_status_exit(status), 1);
    ck_assert_ptr_nonnull(strstr(place.error.text, failures[_i].reports));
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    for (int i = 0; i < FILES; ++i) { /* existing files are complete */
        char name[64];
        snprintf(name, sizeof name, "%s.hits.npy", names[i]);
        if (run_folder_has_hits(&place, name)) {
            size_t count = 0;
            free(run_folder_hits(&place, name, &count));
        }
    }
    reset_fake();
    place.options.force = false;
    place.options.resume = true;
    ck_assert_int_eq(run_folder_run(&place, (const char *[]){"device.backend=cuda", NULL}),
                     ICESTREAM_OK);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done") +
                         run_folder_count(summary, "file_counts", "skipped"),
                     FILES);
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_completed_files_stay)
{
    reset_fake();
    fake.submit_fault = 24; /* the last batch of the run */
    run_folder place = open_place();
    place.options.force = false;
    ck_assert_int_eq(
        run_folder_run(&place, (const char *[]){"graph.schedule=event-wavefront", NULL}),
        ICESTREAM_E_FAILED);
    int complete = 0;
    for (int i = 0; i < FILES; ++i) {
        char name[64];
        snprintf(name, sizeof name, "%s.hits.npy", names[i]);
        complete += run_folder_has_hits(&place, name);
        snprintf(name, sizeof name, "%s.hits.npy.part", names[i]);
        ck_assert(!run_folder_has_hits(&place, name));
    }
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(json_integer_value(json_object_get(summary, "exit_status")), 1);
    ck_assert_int_lt(complete, FILES);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), complete);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "left"), FILES - complete);
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_settings_that_no_gpu_accepts_end_the_run)
{
    reset_fake();
    fake.create_result = ICESTREAM_E_CONFIG;
    run_folder place = open_place();
    ck_assert_int_eq(
        run_folder_run(&place, (const char *[]){"device.fallback=cpu",
                                                "graph.schedule=event-wavefront", NULL}),
        ICESTREAM_E_CONFIG);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_no_gpu)
{
    reset_fake();
    fake.count = 0;
    json_t *summary = check_against_cpu("device.backend=auto", NULL, NULL);
    ck_assert_str_eq(json_string_value(device_of(summary, "backend")), "cpu");
    ck_assert_ptr_nonnull(strstr(json_string_value(device_of(summary, "reason")),
                                 "no GPU, because fake GPU 0: cudaGetDeviceCount"));
    json_decref(summary);
    summary =
        check_against_cpu("device.backend=cuda", "device.fallback=cpu", "graph.schedule=job-queue");
    ck_assert_str_eq(json_string_value(device_of(summary, "schedule")), "wavefront");
    ck_assert(warned(summary, "device.backend cuda: no GPU, because fake GPU 0"));
    json_decref(summary);

    run_folder place = open_place();
    ck_assert_int_eq(run_folder_run(&place, (const char *[]){"device.backend=cuda", NULL}),
                     ICESTREAM_E_DEVICE);
    ck_assert_ptr_nonnull(strstr(place.error.text, "found cuda, but fake GPU 0: "
                                                   "cudaGetDeviceCount: the driver is too old"));
    /* With device.backend auto a key of a GPU has no effect where there is none. */
    ck_assert_int_eq(run_folder_run(&place, (const char *[]){"graph.lanes=2", NULL}), ICESTREAM_OK);
    place.options.force = true;
    fake.count = 1;
    ck_assert_int_eq(run_folder_run(&place, (const char *[]){"device.index=1", NULL}),
                     ICESTREAM_E_DEVICE);
    ck_assert_int_eq(atomic_load(&fake.created), 0);
    run_folder_close(&place);
}
END_TEST

/* ---- the device alone ------------------------------------------------------------------------ */

static device_world open_world(const char *first, const char *second)
{
    return open_device_world((const char *[]){"device.backend=cuda", first, second}, 3);
}

START_TEST(test_a_device_computes_steps)
{
    reset_fake();
    device_world here = open_world("graph.schedule=event-wavefront", "graph.lanes=2");
    ics_engine *engine = open_engine(&here, 1000000);
    ics_device *device = engine->device;
    ics_device_facts facts;
    ics_device_facts_of(device, &facts);
    ck_assert(facts.is_gpu);
    ck_assert_str_eq(facts.name, "fake GPU");
    ck_assert_str_eq(facts.first_name, "fake GPU");
    ck_assert_int_eq(facts.schedule, ICS_SCHEDULE_EVENT_WAVEFRONT);
    ck_assert_uint_eq(facts.pool, 4096);
    ck_assert_uint_eq(facts.gpu.batch_emissions, 1000);
    const icestream_step step = run_folder_bright(1, 30000);
    /* A limit above the largest batch of the GPU is lowered to that batch. */
    const ics_engine_hits computed = run_steps(engine, &step, 1);
    ck_assert_uint_eq(computed.account.created, 30000);
    ck_assert_int_eq(atomic_load(&fake.submitted), 15);
    ck_assert_uint_eq(computed.account.hits, computed.count);
    ics_device_facts_of(device, &facts);
    ck_assert_double_eq_tol(facts.usage.seconds, 0.5, 1e-12);
    free(computed.hits);
    ics_engine_destroy(engine);
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    close_device_world(&here);
}
END_TEST

/* Kernels that make photons of profiles are slower, so that a GPU has them only after a batch
 * needed them. Then it is made again, once all batches that it has are computed. */
START_TEST(test_a_profile_makes_the_gpu_again)
{
    reset_fake();
    const char *const schedule = _i == 0 ? "graph.schedule=event-wavefront" : "graph.schedule=auto";
    device_world here = open_world(schedule, "graph.lanes=2");
    ics_engine *engine = open_engine(&here, 1000000);
    icestream_step steps[3] = {run_folder_bright(1, 21000), run_folder_bright(2, 9000),
                               run_folder_bright(3, 4000)};
    steps[1].flags = ICESTREAM_STEP_PROFILE(ICESTREAM_PROFILE_EXACT);
    steps[1].dz = 1;
    steps[1].spectrum = 3;
    const ics_engine_hits computed = run_steps(engine, steps, 3);
    ck_assert_uint_eq(computed.account.created, 34000);
    ck_assert_int_eq(atomic_load(&fake.created), 2);
    ck_assert_int_eq(atomic_load(&fake.destroyed), 1);
    ics_device_facts facts;
    ics_device_facts_of(engine->device, &facts);
    ck_assert(facts.gpu.light_profiles);
    ck_assert_double_eq_tol(facts.usage.seconds, 1.0, 1e-12); /* half a second of each */
    free(computed.hits);
    ics_engine_destroy(engine);
    ck_assert_int_eq(atomic_load(&fake.wrong), 0);
    close_device_world(&here);
}
END_TEST

/* Counts batches that come back as cancelled. */
static void count_interrupted(void *user, ics_job *job)
{
    ics_batch *batch = ics_batch_of_job(job);
    atomic_fetch_add((atomic_uint *)user, batch->error.status == ICESTREAM_E_INTERRUPTED);
    ics_batch_destroy(batch);
}

START_TEST(test_cancelled_batches_are_returned)
{
    reset_fake();
    fake.stuck = true;
    device_world here = open_world("graph.schedule=event-wavefront", "device.fallback=cpu");
    atomic_bool cancel;
    atomic_init(&cancel, false);
    here.options.cancel = &cancel;
    icestream_error error = {0};
    ics_device *device = NULL;
    atomic_uint interrupted;
    atomic_init(&interrupted, 0);
    const ics_post to = {.post = count_interrupted, .user = &interrupted};
    ck_assert_int_eq(
        ics_device_create(&here.options, here.tables, here.hit_models, to, &device, &error),
        ICESTREAM_OK);
    const uint32_t credits = ics_device_credits(device);
    const icestream_step step = run_folder_bright(1, UINT32_MAX);
    ics_step_cursor cursor = {.steps = &step, .count = 1};
    const ics_batch_limits limits = ics_device_batch_limits(device);
    for (uint32_t i = 0; i < credits + 1; ++i) {
        ics_batch *batch = NULL;
        bool full = false;
        ck_assert_int_eq(ics_batch_create(&limits, 0, &batch, &error), ICESTREAM_OK);
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, &error), ICESTREAM_OK);
        bool accepted = ics_device_submit(device, batch);
        ck_assert_int_eq(accepted, i < credits);
        if (!accepted) {
            ics_batch_destroy(batch);
        }
    }
    atomic_store(&cancel, true);
    ics_device_destroy(device);
    ck_assert_uint_eq(atomic_load(&interrupted), credits);
    ck_assert_int_eq(atomic_load(&fake.destroyed), 1);
    close_device_world(&here);
}
END_TEST

ICS_TEST_MAIN("device_gpu")
{
    TCase *tests = tcase_create("device_gpu");
    tcase_add_test(tests, test_hits_are_those_of_the_cpu);
    tcase_add_test(tests, test_batches_respect_the_limits_of_the_gpu);
    tcase_add_test(tests, test_auto_chooses_on_the_first_batch);
    tcase_add_test(tests, test_a_trial_changes_the_schedule);
    tcase_add_test(tests, test_a_trial_fails);
    tcase_add_test(tests, test_the_log_names_the_device);
    tcase_add_loop_test(tests, test_the_cpu_continues, 0, FAILURES);
    tcase_add_loop_test(tests, test_without_fallback_the_run_ends, 0, FAILURES);
    tcase_add_test(tests, test_completed_files_stay);
    tcase_add_test(tests, test_settings_that_no_gpu_accepts_end_the_run);
    tcase_add_test(tests, test_no_gpu);
    tcase_add_test(tests, test_a_device_computes_steps);
    tcase_add_loop_test(tests, test_a_profile_makes_the_gpu_again, 0, 2);
    tcase_add_test(tests, test_cancelled_batches_are_returned);
    suite_add_tcase(suite, tests);
}
