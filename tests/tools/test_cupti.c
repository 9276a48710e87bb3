/* Counting by CUPTI, with a libcupti that needs no GPU (fake_cupti.c).
 *
 * Promises: the library is found in the order of the header, and a library that is no CUPTI is
 * refused; every launch becomes one row of the table, with its kernel and in its order, however
 * many there are; each function that fails gives an error with its name, a missing permission that
 * of the driver, and everything is released. The choice between CUPTI and ncu is that of
 * profiler_choice.h. To join: a new function of CUPTI gets a row in `functions`.
 */
#include "fake_cupti.h"
#include "pipeline/tools/roofline/counted_run.h"
#include "pipeline/tools/roofline/cupti.h"
#include "pipeline/tools/roofline/ncu_csv.h"
#include "pipeline/tools/roofline/profiler_choice.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static scratch place;
static char table[SCRATCH_PATH];
static fake_cupti_state *fake;
static fake_cupti_launch_function launch;
static const CUcontext context = (CUcontext)&place; /* any address */

static void find_symbol(void *library, const char *name, void *out)
{
    void *address = dlsym(library, name);
    ck_assert_ptr_nonnull(address);
    memcpy(out, &address, sizeof address);
}

static void begin(void)
{
    place = scratch_create();
    scratch_path(&place, "counters.csv", table);
    ck_assert_int_eq(setenv("ICESTREAM_CUPTI", FAKE_CUPTI, 1), 0);
    void *library = dlopen(FAKE_CUPTI, RTLD_NOW | RTLD_LOCAL);
    ck_assert_ptr_nonnull(library);
    find_symbol(library, "fake_cupti", (void *)&fake);
    find_symbol(library, "fake_cupti_launch", (void *)&launch);
}

static void end(void)
{
    scratch_remove(&place);
}

/* Counts `count` launches of gpu_one, and of gpu_two after each of them. Returns the status. */
static int run(size_t count, icestream_error *error)
{
    ics_cupti *cupti = NULL;
    const int status = ics_cupti_begin(table, &cupti, error);
    for (size_t i = 0; i < count; ++i) {
        launch(context, "gpu_one");
        launch(context, "gpu_two");
    }
    return status == ICESTREAM_OK ? ics_cupti_end(cupti, error) : status;
}

static void check_released(void)
{
    ck_assert(fake->call == NULL);
    ck_assert_uint_eq(fake->hosts, 0);
    ck_assert_uint_eq(fake->profilers, 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

static int check_launch(const ics_ncu_launch *row, void *user, icestream_error *error)
{
    size_t *number = user;
    (void)error;
    ck_assert_str_eq(row->kernel, *number % 2 == 0 ? "gpu_one" : "gpu_two");
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        const double factor = i == ICS_COUNTER_SECONDS ? 1e-9 : 1; /* CUPTI counts ns */
        const double expected = factor * (1000.0 * (double)*number + i);
        ck_assert_double_le(fabs(row->values[i] - expected), 1e-12 * expected);
    }
    ++*number;
    return ICESTREAM_OK;
}

static void check_table(size_t launches)
{
    icestream_error error = {.text = ""};
    size_t size = 0, number = 0;
    unsigned char *text = scratch_read(table, &size);
    ck_assert_msg(ics_ncu_csv_read((const char *)text, size, check_launch, &number, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_uint_eq(number, launches);
    free(text);
}

START_TEST(counts_every_launch)
{
    icestream_error error = {.text = ""};
    ck_assert_msg(run(2, &error) == ICESTREAM_OK, "%s", error.text);
    check_table(4);
    ck_assert_uint_eq(fake->total_initialized, 1);
    check_released();
}
END_TEST

/* The image of counters has room for 128 launches, so it is read four times. */
START_TEST(counts_more_launches_than_an_image_holds)
{
    icestream_error error = {.text = ""};
    ck_assert_msg(run(200, &error) == ICESTREAM_OK, "%s", error.text);
    check_table(400);
    ck_assert_uint_eq(fake->flushes, 4);
    check_released();
}
END_TEST

/* ---- what goes wrong ------------------------------------------------------------------------- */

static const char *const functions[] = {
    "cuptiSubscribe",
    "cuptiEnableCallback",
    "cuptiGetDeviceId",
    "cuptiDeviceGetChipName",
    "cuptiProfilerInitialize",
    "cuptiProfilerGetCounterAvailability",
    "cuptiProfilerHostInitialize",
    "cuptiProfilerHostConfigAddMetrics",
    "cuptiProfilerHostGetConfigImageSize",
    "cuptiProfilerHostGetConfigImage",
    "cuptiProfilerHostEvaluateToGpuValues",
    "cuptiRangeProfilerEnable",
    "cuptiRangeProfilerGetCounterDataSize",
    "cuptiRangeProfilerCounterDataImageInitialize",
    "cuptiRangeProfilerSetConfig",
    "cuptiRangeProfilerStart",
    "cuptiRangeProfilerStop",
    "cuptiRangeProfilerDecodeData",
    "cuptiRangeProfilerGetCounterDataInfo",
};

START_TEST(names_the_function_that_fails)
{
    icestream_error error = {.text = ""};
    char expected[160];
    fake->fails = functions[_i];
    fake->result = CUPTI_ERROR_NOT_SUPPORTED;
    ck_assert_int_eq(run(1, &error), ICESTREAM_E_FAILED);
    snprintf(expected, sizeof expected, "CUPTI failed: %s gave CUPTI_ERROR_NOT_SUPPORTED (%d)",
             functions[_i], (int)CUPTI_ERROR_NOT_SUPPORTED);
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
    check_released();
}
END_TEST

START_TEST(says_that_permission_is_missing)
{
    icestream_error error = {.text = ""};
    fake->fails = functions[_i];
    fake->result = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    ck_assert_int_eq(run(1, &error), ICESTREAM_E_DEVICE);
    ck_assert_ptr_nonnull(strstr(error.text, "CUPTI may not read the counters of the GPU"));
    ck_assert_ptr_nonnull(strstr(error.text, "ERR_NVGPUCTRPERM"));
    check_released();
}
END_TEST

static void check_fault(size_t count, int status, const char *expected)
{
    icestream_error error = {.text = ""};
    ck_assert_int_eq(run(count, &error), status);
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
    check_released();
}

START_TEST(refuses_what_is_not_complete)
{
    check_fault(0, ICESTREAM_E_FAILED, "found no launch of a kernel");
    fake->lost = 1;
    check_fault(2, ICESTREAM_E_FAILED,
                "counted 0 kernels and dropped 0, expected the 4 that were launched");
    fake->lost = 0;
    fake->value = NAN;
    check_fault(1, ICESTREAM_E_FAILED,
                "kernel gpu_one: metric smsp__thread_inst_executed.sum: found nan");
    fake->value = -1;
    check_fault(1, ICESTREAM_E_FAILED, "found -1, expected a number of at least 0");
}
END_TEST

START_TEST(refuses_graphs)
{
    icestream_error error = {.text = ""};
    ics_cupti *cupti = NULL;
    ck_assert_int_eq(ics_cupti_begin(table, &cupti, &error), ICESTREAM_OK);
    launch(context, "gpu_one");
    launch(context, NULL);
    launch(context, "gpu_one");
    ck_assert_int_eq(ics_cupti_end(cupti, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "found a CUDA Graph"));
    check_released();
    ck_assert_int_eq(ics_cupti_end(NULL, &error), ICESTREAM_OK);
}
END_TEST

START_TEST(says_that_the_table_cannot_be_written)
{
    icestream_error error = {.text = ""};
    snprintf(table, sizeof table, "/dev/full");
    ck_assert_int_eq(run(1, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "/dev/full: cannot be written: No space left"));
    snprintf(table, sizeof table, "%s/none/counters.csv", place.folder);
    ck_assert_int_eq(run(1, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "No such file"));
    check_released();
}
END_TEST

/* ---- the other process ----------------------------------------------------------------------- */

/* Runs a script of the shell in the place of `icestream bench --once`. */
static int run_script(char *script, ics_counted_result *out, icestream_error *error)
{
    static char shell[] = "/bin/sh", option[] = "-c";
    char *const command[] = {shell, option, script};
    const ics_profiler_choice cupti = {.profiler = ICS_PROFILER_CUPTI};
    return ics_counted_run(&cupti, command, COUNT(command), out, error);
}

START_TEST(reads_the_table_of_another_process)
{
    char good[] = "echo $ICESTREAM_GPU_HOST_LOOP $LC_ALL; echo counters >$ICESTREAM_CUPTI_TABLE";
    char forbidden[] = "echo 'error: ERR_NVGPUCTRPERM' >&2; exit 1";
    char failed[] = "echo 'first line' >&2; echo 'the cause' >&2; exit 3";
    icestream_error error = {.text = ""};
    ics_counted_result result;
    setenv("TMPDIR", place.folder, 1);
    setenv("ICESTREAM_CUPTI_TABLE", "/another/file", 1);
    ck_assert_msg(run_script(good, &result, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_str_eq(result.output, "1 C\n");
    ck_assert_str_eq(result.table, "counters\n");
    ics_counted_free(&result);
    ck_assert_int_eq(run_script(forbidden, &result, &error), ICESTREAM_E_DEVICE);
    ck_assert_ptr_nonnull(strstr(error.text, "CUPTI may not read the counters of the GPU"));
    ics_counted_free(&result);
    ck_assert_int_eq(run_script(failed, &result, &error), ICESTREAM_E_FAILED);
    ck_assert_str_eq(error.text, "icestream with CUPTI ended with exit status 3, expected 0; "
                                 "icestream wrote: the cause");
    ics_counted_free(&result);
    ck_assert_int_eq(rmdir(place.folder), 0); /* nothing of them remains */
    ck_assert_int_eq(mkdir(place.folder, 0700), 0);
}
END_TEST

/* ---- finding --------------------------------------------------------------------------------- */

START_TEST(finds_the_library)
{
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_cupti_find(&error), ICESTREAM_OK);
    setenv("ICESTREAM_CUPTI", "none", 1);
    ck_assert_int_eq(ics_cupti_find(&error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "ICESTREAM_CUPTI: none: cannot open"));
    setenv("ICESTREAM_CUPTI", "libm.so.6", 1);
    ck_assert_int_eq(ics_cupti_find(&error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "libcupti has no function cuptiSubscribe"));
}
END_TEST

/* A library in a folder of $CUDA_PATH, which is not a CUPTI, is found before others are. */
START_TEST(looks_in_the_folders_of_cuda)
{
    icestream_error error = {.text = ""};
    char extras[SCRATCH_PATH], folder[SCRATCH_PATH + 8], path[SCRATCH_PATH + 32];
    if (dlopen("libcupti.so.13", RTLD_NOW) != NULL || dlopen("libcupti.so", RTLD_NOW) != NULL) {
        return; /* the loader finds one, which comes first */
    }
    scratch_path(&place, "extras", extras);
    snprintf(folder, sizeof folder, "%s/CUPTI", extras);
    ck_assert(mkdir(extras, 0700) == 0 && mkdir(folder, 0700) == 0);
    snprintf(path, sizeof path, "%s/lib64", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/lib64/libcupti.so", folder);
    ck_assert_int_eq(symlink(FAKE_CUPTI_OTHER, path), 0);
    unsetenv("ICESTREAM_CUPTI");
    setenv("CUDA_HOME", "", 1);
    setenv("CUDA_PATH", place.folder, 1);
    ck_assert_int_eq(ics_cupti_find(&error), ICESTREAM_E_FAILED);
    ck_assert_msg(strstr(error.text, "libcupti has no function") != NULL, "%s", error.text);
}
END_TEST

/* ---- choosing -------------------------------------------------------------------------------- */

static void check_choice(const char *wanted, ics_schedule schedule, ics_profiler expected)
{
    icestream_error error = {.text = ""};
    ics_profiler_choice chosen;
    ck_assert_msg(ics_profiler_choose(wanted, schedule, &chosen, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_int_eq(chosen.profiler, expected);
    ck_assert_int_eq(chosen.ncu[0] != '\0', expected == ICS_PROFILER_NCU);
}

static void check_no_choice(const char *wanted, ics_schedule schedule, int status, const char *text)
{
    icestream_error error = {.text = ""};
    ics_profiler_choice chosen;
    ck_assert_int_eq(ics_profiler_choose(wanted, schedule, &chosen, &error), status);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s", error.text);
}

START_TEST(chooses_a_profiler)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "ncu", path), "", 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    setenv("PATH", place.folder, 1);
    check_choice(NULL, ICS_SCHEDULE_MONOLITHIC, ICS_PROFILER_CUPTI);
    check_choice("auto", ICS_SCHEDULE_WARP_WAVEFRONT, ICS_PROFILER_CUPTI);
    check_choice("auto", ICS_SCHEDULE_WAVEFRONT, ICS_PROFILER_NCU);
    check_choice("cupti", ICS_SCHEDULE_MONOLITHIC, ICS_PROFILER_CUPTI);
    check_choice("ncu", ICS_SCHEDULE_MONOLITHIC, ICS_PROFILER_NCU);
    check_no_choice("cupti", ICS_SCHEDULE_FUSED, ICESTREAM_E_USAGE,
                    "--profiler: found cupti, but fused launches CUDA Graphs");
    setenv("ICESTREAM_CUPTI", "none", 1);
    check_choice("auto", ICS_SCHEDULE_MONOLITHIC, ICS_PROFILER_NCU);
    check_no_choice("cupti", ICS_SCHEDULE_MONOLITHIC, ICESTREAM_E_FAILED, "ICESTREAM_CUPTI: none");
}
END_TEST

START_TEST(says_that_no_profiler_is_there)
{
    if (access("/usr/local/cuda/bin/ncu", X_OK) == 0) {
        return; /* it is always found */
    }
    setenv("PATH", place.folder, 1);
    setenv("CUDA_HOME", place.folder, 1);
    setenv("CUDA_PATH", "", 1);
    check_no_choice("ncu", ICS_SCHEDULE_MONOLITHIC, ICESTREAM_E_FAILED, "ncu is missing");
    check_no_choice("auto", ICS_SCHEDULE_WAVEFRONT, ICESTREAM_E_FAILED,
                    "wavefront launches CUDA Graphs, whose kernels only ncu counts: the "
                    "program ncu is missing");
    setenv("ICESTREAM_CUPTI", "none", 1);
    check_no_choice("auto", ICS_SCHEDULE_MONOLITHIC, ICESTREAM_E_FAILED,
                    "neither of the two profilers is there that count what kernels do. CUPTI: "
                    "ICESTREAM_CUPTI: none");
}
END_TEST

ICS_TEST_MAIN("cupti")
{
    TCase *counting = tcase_create("counting"), *finding = tcase_create("finding");
    tcase_add_checked_fixture(counting, begin, end);
    tcase_add_test(counting, counts_every_launch);
    tcase_add_test(counting, counts_more_launches_than_an_image_holds);
    tcase_add_loop_test(counting, names_the_function_that_fails, 0, (int)COUNT(functions));
    tcase_add_loop_test(counting, says_that_permission_is_missing, 0, (int)COUNT(functions));
    tcase_add_test(counting, refuses_what_is_not_complete);
    tcase_add_test(counting, refuses_graphs);
    tcase_add_test(counting, says_that_the_table_cannot_be_written);
    tcase_add_test(counting, reads_the_table_of_another_process);
    suite_add_tcase(suite, counting);
    tcase_add_checked_fixture(finding, begin, end);
    tcase_add_test(finding, finds_the_library);
    tcase_add_test(finding, looks_in_the_folders_of_cuda);
    tcase_add_test(finding, chooses_a_profiler);
    tcase_add_test(finding, says_that_no_profiler_is_there);
    suite_add_tcase(suite, finding);
}
