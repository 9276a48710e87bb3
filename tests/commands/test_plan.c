/* `icestream plan`.
 *
 * Promises: the figures of the CPU's plan and, in a build with CUDA (with or without a GPU), those
 * of the kernels of every schedule, in text and in JSON. To join: a new figure gets a check in
 * cpu_plan or every_schedule, a new schedule in every_schedule.
 */
#include "graphs/options.h"
#include "pipeline/icestream.h"
#include "tests/support/json_values.h"
#include "tests/support/model_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *plan(const icestream_config *config, int architecture, bool json)
{
    char *text = NULL;
    size_t size = 0;
    icestream_error error = {0};
    icestream_plan_options options = {.architecture = architecture, .json = json};
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_msg(icestream_plan(config, &options, out, &error) == ICESTREAM_OK, "%s", error.text);
    fclose(out);
    return text;
}

static json_t *plan_json(const icestream_config *config, int architecture)
{
    char *text = plan(config, architecture, true);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_msg(root != NULL, "%s", text);
    free(text);
    return root;
}

START_TEST(cpu_plan)
{
    icestream_config *config =
        model_config("device.backend=cpu", "device.threads=3", "graph.pool=512",
                     "device.instruction_set=baseline", NULL);
    json_t *root = plan_json(config, 0);
    ck_assert_ptr_null(json_object_get(root, "gpu"));
    const json_t *cpu = json_object_get(root, "cpu");
    ck_assert_str_eq(json_string_value(json_object_get(cpu, "schedule")), "wavefront");
    ck_assert_str_eq(json_string_value(json_object_get(cpu, "instruction_set")), "baseline");
    ck_assert_int_eq(whole_of(cpu, "threads"), 3);
    ck_assert_int_eq(whole_of(cpu, "pool"), 512);
    /* 16 columns of a photon and 11 of scratch with 4 bytes each, and the random state with 8. */
    ck_assert_int_eq(whole_of(cpu, "slot_bytes"), 116);
    ck_assert_int_gt(whole_of(cpu, "table_bytes"), 100000);
    json_decref(root);
    char *text = plan(config, 0, false);
    ck_assert_ptr_nonnull(strstr(text, "3 threads, baseline\n"));
    ck_assert_ptr_nonnull(strstr(text, "wavefront, waves of 512 photon slots of 116 bytes\n"));
    ck_assert_ptr_nonnull(strstr(text, "waves 58.0 KiB a thread"));
    free(text);
    icestream_config_destroy(config);
}
END_TEST

/* A plan says where the sums of waveforms would be made. */
START_TEST(sums_of_waveforms)
{
    static const struct {
        const char *set, *sums, *text;
    } rows[] = {
        {"sink.hits=auto", NULL, NULL},
        {"sink.hits=waveforms", "gpu", "\nwaveforms: the GPU makes the sums of hits\n"},
        {"stages.detect=pe", "host",
         "\nwaveforms: the host makes the sums of hits, because stages.detect decides on the host "
         "which hits are photo-electrons\n"}};
    for (int i = 0; i < 3; ++i) {
        icestream_config *config = model_config("device.backend=auto", "graph.schedule=monolithic",
                                                i < 2 ? rows[i].set : "sink.hits=waveforms",
                                                i < 2 ? "run.seed=1" : rows[i].set, NULL);
        json_t *root = plan_json(config, 0);
        const json_t *sums = json_object_get(json_object_get(root, "gpu"), "sums");
        ck_assert(rows[i].sums != NULL || json_is_null(sums));
        ck_assert(rows[i].sums == NULL || strcmp(json_string_value(sums), rows[i].sums) == 0);
        json_decref(root);
        char *text = plan(config, 0, false);
        ck_assert_msg(rows[i].text == NULL ? strstr(text, "waveforms") == NULL
                                           : strstr(text, rows[i].text) != NULL,
                      "%s", text);
        free(text);
        icestream_config_destroy(config);
    }
}
END_TEST

/* The plan of the kernels for sm_90, or NULL (after a message) where this build or machine cannot
 * make kernels. */
static json_t *plan_kernels(const char *schedule)
{
    icestream_config *config = model_config("device.backend=auto", schedule, NULL);
    icestream_error error = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(nowhere);
    icestream_plan_options options = {.architecture = 90};
    int status = icestream_plan(config, &options, nowhere, &error);
    fclose(nowhere);
    json_t *root = NULL;
    if (status == ICESTREAM_OK) {
        root = plan_json(config, 90);
    } else {
        ck_assert_msg(strstr(error.text, "do not compile") == NULL, "%s", error.text);
        test_skip("%s", error.text);
    }
    /* Without CUDA in the build there is no device, without NVRTC the kernels cannot be compiled.
     */
    ck_assert(status == ICESTREAM_OK || status == ICESTREAM_E_DEVICE);
    icestream_config_destroy(config);
    return root;
}

/* What the plan of each schedule must show. A schedule without a row is checked for the rest. */
static const struct {
    size_t kernels;
    bool traffic; /* photons move between the pool and the kernel while they fly */
    /* The most that a kernel may spill, bytes. The stages of warp-wavefront for rare bounces spill,
     * and its loop for the others does not. fly of event-wavefront has 56 registers for each
     * thread: with 64 it spills less, and fewer threads fit. */
    int spilled_bytes;
} expected[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_WAVEFRONT] = {4, true, 0},        [ICS_SCHEDULE_EVENT_WAVEFRONT] = {2, false, 24},
    [ICS_SCHEDULE_MONOLITHIC] = {1, false, 0},      [ICS_SCHEDULE_JOB_QUEUE] = {1, false, 0},
    [ICS_SCHEDULE_THREAD_PER_STEP] = {1, false, 0}, [ICS_SCHEDULE_WARP_WAVEFRONT] = {1, false, 16}};

START_TEST(every_schedule)
{
    json_t *root = plan_kernels("graph.schedule=auto");
    if (root == NULL) {
        return;
    }
    const json_t *gpu = json_object_get(root, "gpu");
    ck_assert_int_eq(whole_of(gpu, "architecture"), 90);
    ck_assert(json_is_false(json_object_get(gpu, "assumed")));
    const json_t *schedules = json_object_get(gpu, "schedules");
    ck_assert_uint_eq(json_array_size(schedules), ICS_SCHEDULE_COUNT - 1);
    json_int_t largest[ICS_SCHEDULE_COUNT] = {0};
    for (size_t i = ICS_SCHEDULE_AUTO + 1; i < ICS_SCHEDULE_COUNT; ++i) {
        const json_t *schedule = json_array_get(schedules, i - 1);
        const char *name = json_string_value(json_object_get(schedule, "schedule"));
        ck_assert_str_eq(name, ics_graph_schedule_name((ics_schedule)i));
        const bool known = expected[i].kernels > 0;
        ck_assert_int_eq(whole_of(schedule, "bytes_per_photon"), 56);
        const json_t *kernels = json_object_get(schedule, "kernels");
        ck_assert(!known || json_array_size(kernels) == expected[i].kernels);
        json_int_t most = 0, moved = 0;
        const bool traffic = !json_is_null(json_object_get(schedule, "bytes_per_bounce"));
        ck_assert(!known || traffic == expected[i].traffic);
        if (traffic) {
            ck_assert_double_gt(number_of(schedule, "bytes_per_bounce"), 0);
        }
        for (size_t k = 0; k < json_array_size(kernels); ++k) {
            const json_t *kernel = json_array_get(kernels, k);
            json_int_t registers = whole_of(kernel, "registers");
            most = registers > most ? registers : most;
            const json_t *slot = json_object_get(kernel, "bytes_per_slot");
            ck_assert(json_is_null(slot) || json_integer_value(slot) > 0);
            moved += json_integer_value(slot);
            ck_assert_int_ge(registers, 16);
            ck_assert_int_le(registers, 255);
            ck_assert_int_le(whole_of(kernel, "spill_stores"), expected[i].spilled_bytes);
            ck_assert_int_le(whole_of(kernel, "spill_loads"), expected[i].spilled_bytes);
            ck_assert_int_ge(whole_of(kernel, "blocks_per_multiprocessor"), 1);
            ck_assert_double_eq_tol(number_of(kernel, "occupancy"),
                                    (double)(whole_of(kernel, "blocks_per_multiprocessor") *
                                             whole_of(kernel, "block")) /
                                        2048,
                                    1e-9);
        }
        ck_assert_int_eq(moved > 0, traffic);
        largest[i] = whole_of(schedule, "registers");
        ck_assert_int_eq(largest[i], most);
        const json_t *bytes = json_object_get(schedule, "bytes");
        ck_assert_int_eq(whole_of(bytes, "device"),
                         whole_of(bytes, "pool") + whole_of(bytes, "queues") +
                             whole_of(bytes, "hits") + whole_of(bytes, "tables"));
        ck_assert_int_ge(whole_of(bytes, "pool"), 48 * whole_of(schedule, "pool"));
    }
    /* The stages are split into kernels in order to need fewer registers. */
    ck_assert_int_lt(largest[ICS_SCHEDULE_WAVEFRONT], largest[ICS_SCHEDULE_MONOLITHIC]);
    json_decref(root);
}
END_TEST

START_TEST(one_schedule)
{
    json_t *root = plan_kernels("graph.schedule=event-wavefront");
    if (root == NULL) {
        return;
    }
    /* The CPU has no such schedule. With device.backend auto it would run in its default one. */
    const json_t *cpu = json_object_get(root, "cpu");
    ck_assert_str_eq(json_string_value(json_object_get(cpu, "schedule")), "wavefront");
    const json_t *schedules = json_object_get(json_object_get(root, "gpu"), "schedules");
    ck_assert_uint_eq(json_array_size(schedules), 1);
    ck_assert_uint_gt(whole_of(json_array_get(schedules, 0), "bounces_per_wave"), 0);
    json_decref(root);
    icestream_config *config = model_config("graph.schedule=event-wavefront", NULL);
    char *text = plan(config, 80, false);
    ck_assert_ptr_nonnull(strstr(text, "any of architecture sm_80\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n  gpu_fly "));
    ck_assert_ptr_nonnull(strstr(text, "\nRegisters of the largest kernel: event-wavefront "));
    free(text);
    icestream_config_destroy(config);
}
END_TEST

/* The largest block of which the warps fit with their photons into shared memory, and the next one.
 */
static const struct {
    const char *schedule, *fits, *is_too_large, *message;
} blocks[] = {{"graph.schedule=monolithic", "graph.block=608", "graph.block=640",
               "graph.block: found 640, expected at most 608"},
              {"graph.schedule=job-queue", "graph.block=608", "graph.block=640",
               "graph.block: found 640, expected at most 608"},
              {"graph.schedule=event-wavefront", "graph.block=480", "graph.block=512",
               "graph.block: found 512, expected at most 480"},
              {"graph.schedule=warp-wavefront", "graph.block=320", "graph.block=352",
               "graph.block: found 352, expected at most 320"}};

START_TEST(blocks_of_warps_with_photons)
{
    json_t *root = plan_kernels(blocks[_i].schedule);
    if (root == NULL) {
        return;
    }
    json_decref(root);
    icestream_config *config = model_config(blocks[_i].fits, blocks[_i].schedule, NULL);
    json_decref(plan_json(config, 90));
    icestream_config_destroy(config);
    config = model_config(blocks[_i].is_too_large, blocks[_i].schedule, NULL);
    icestream_error error = {0};
    const icestream_plan_options options = {.architecture = 90};
    FILE *out = fopen("/dev/null", "w");
    ck_assert_ptr_nonnull(out);
    ck_assert_int_ne(icestream_plan(config, &options, out, &error), ICESTREAM_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(error.text, blocks[_i].message));
    icestream_config_destroy(config);
}
END_TEST

/* Settings of kernels, and what the plan for sm_90 shows of a kernel with them. The tuned kernels
 * share a cache with the others, so a program that is found under the key of another one fails. */
static const struct {
    const char *schedule, *tune, *kernel;
    json_int_t threads, most_registers, blocks; /* blocks: at least */
} tuned[] = {
    {"graph.schedule=monolithic", "graph.tune={}", "gpu_monolithic", 256, 64, 4},
    {"graph.schedule=monolithic", "graph.tune={monolithic: {registers: 40}}", "gpu_monolithic", 256,
     40, 6},
    {"graph.schedule=monolithic",
     "graph.tune={monolithic: {threads: 512, blocks_per_multiprocessor: 3}}", "gpu_monolithic", 512,
     40, 3},
    {"graph.schedule=wavefront", "graph.tune={propagate: {threads: 192, registers: 32}}",
     "gpu_propagate", 192, 32, 8},
    {"graph.schedule=wavefront", "graph.tune={propagate: {threads: 192, registers: 32}}",
     "gpu_scatter", 256, 56, 4},
    {"graph.schedule=wavefront",
     "graph.tune={create: {threads: 1024, blocks_per_multiprocessor: 2}}", "gpu_create", 1024, 32,
     2},
    {"graph.schedule=event-wavefront", "graph.tune={fly: {threads: 64, registers: 48}}", "gpu_fly",
     64, 48, 16},
};

START_TEST(tuned_kernels)
{
    json_t *untuned = plan_kernels(tuned[_i].schedule);
    if (untuned == NULL) {
        return;
    }
    json_decref(untuned);
    icestream_config *config = model_config(tuned[_i].schedule, tuned[_i].tune, NULL);
    json_t *root = plan_json(config, 90);
    const json_t *schedules = json_object_get(json_object_get(root, "gpu"), "schedules");
    const json_t *kernels = json_object_get(json_array_get(schedules, 0), "kernels");
    size_t found = 0;
    for (size_t k = 0; k < json_array_size(kernels); ++k) {
        const json_t *kernel = json_array_get(kernels, k);
        if (strcmp(json_string_value(json_object_get(kernel, "name")), tuned[_i].kernel) == 0) {
            ++found;
            ck_assert_int_eq(whole_of(kernel, "block"), tuned[_i].threads);
            ck_assert_int_le(whole_of(kernel, "registers"), tuned[_i].most_registers);
            ck_assert_int_ge(whole_of(kernel, "blocks_per_multiprocessor"), tuned[_i].blocks);
        }
    }
    ck_assert_uint_eq(found, 1);
    json_decref(root);
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("plan")
{
    TCase *tests = tcase_create("plan");
    tcase_add_test(tests, sums_of_waveforms);
    tcase_add_test(tests, cpu_plan);
    tcase_add_test(tests, every_schedule);
    tcase_add_test(tests, one_schedule);
    tcase_add_loop_test(tests, blocks_of_warps_with_photons, 0, 4);
    tcase_add_loop_test(tests, tuned_kernels, 0, COUNT(tuned));
    suite_add_tcase(suite, tests);
}
