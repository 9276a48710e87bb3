/* icestream_run in this process: hit files from step files, and every error on the way. */
#include "graphs/gpu.h"
#include "pipeline/icestream.h"
#include "tests/support/model_files.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs on the CPU with up to two more settings. */
static int run(run_folder *place, const char *first, const char *second)
{
    return run_folder_run(
        place, (const char *[]){"device.backend=cpu", first, first != NULL ? second : NULL, NULL});
}

/* ---- tests ------------------------------------------------------------------------------------
 */

START_TEST(test_steps_become_hits)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.steps.npy", 0, 20, 500);
    ck_assert_msg(run(&place, NULL, NULL) == ICESTREAM_OK, "%s", place.error.text);
    size_t count = 0;
    icestream_hit *hits = run_folder_hits(&place, "a.hits.npy", &count);
    /* 10 000 photons 4 m from a module of 0.83 m effective radius: about 1 % see it directly, and
     * scattered ones come on top. */
    ck_assert_uint_gt(count, 50);
    ck_assert_uint_lt(count, 1000);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(hits[i].event_id, 3);
        ck_assert_uint_lt(hits[i].step_id, 20);
        ck_assert_uint_lt(hits[i].photon_id, 500);
        ck_assert_int_eq(hits[i].pmt, -1);
        ck_assert_uint_ge(hits[i].string, 1);
        ck_assert_uint_le(hits[i].string, 86);
        ck_assert_double_gt(hits[i].t, 1000.0 + 3.0 / 0.2998);
        /* weight = 1 / bias, bias = 0.68 acc / 25 <= 0.68 * 0.1342 / 25 = 0.00365 */
        ck_assert_float_gt(hits[i].weight, 1.0f / 0.00366f);
        double radius = hypot(hypot(hits[i].x, hits[i].y), hits[i].z);
        ck_assert_double_eq_tol(radius, 0.1651, 1e-4);
    }
    free(hits);

    json_t *summary = run_folder_summary(&place);
    ck_assert_str_eq(json_string_value(json_object_get(summary, "status")), "done");
    ck_assert_int_eq(run_folder_count(summary, "account", "created"), 10000);
    ck_assert_int_eq(run_folder_count(summary, "account", "hits"), (json_int_t)count);
    ck_assert_int_eq(run_folder_count(summary, "account", "absorbed") +
                         run_folder_count(summary, "account", "detected") +
                         run_folder_count(summary, "account", "left") +
                         run_folder_count(summary, "account", "stopped"),
                     10000);
    ck_assert_int_gt(run_folder_count(summary, "speed", "peak_memory_bytes"), 0);
    json_t *file = json_array_get(json_object_get(summary, "files"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(file, "status")), "done");
    ck_assert_int_eq(json_integer_value(json_object_get(file, "steps")), 20);
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_split_and_order_of_files_change_nothing)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "whole.steps.npy", 0, 30, 200);
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    size_t whole_count = 0, count = 0, total = 0;
    icestream_hit *whole = run_folder_hits(&place, "whole.hits.npy", &whole_count);

    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.steps, "whole.steps.npy", path));
    run_folder_bright_steps(&place, "1.npy", 0, 10, 200);
    run_folder_bright_steps(&place, "2.npy", 10, 10, 200);
    run_folder_bright_steps(&place, "3.npy", 20, 10, 200);
    ck_assert_int_eq(run(&place, "graph.batch=333", NULL), ICESTREAM_OK);
    const char *names[] = {"1.hits.npy", "2.hits.npy", "3.hits.npy"};
    for (int i = 0; i < 3; ++i) {
        icestream_hit *part = run_folder_hits(&place, names[i], &count);
        ck_assert_uint_le(total + count, whole_count);
        ck_assert_mem_eq(part, whole + total, count * sizeof *part);
        total += count;
        free(part);
    }
    ck_assert_uint_eq(total, whole_count);
    free(whole);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_rows_out_of_order_come_back_in_order)
{
    run_folder place = run_folder_open();
    enum { STEPS = 64 };
    icestream_step ascending[STEPS], descending[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        ascending[i] = run_folder_bright(i, 100);
        descending[STEPS - 1 - i] = ascending[i];
    }
    run_folder_steps(&place, "a.npy", ascending, STEPS);
    run_folder_steps(&place, "b.npy", descending, STEPS);
    ck_assert_int_eq(run(&place, "graph.batch=150", NULL), ICESTREAM_OK);
    size_t a_count = 0, b_count = 0;
    icestream_hit *a = run_folder_hits(&place, "a.hits.npy", &a_count);
    icestream_hit *b = run_folder_hits(&place, "b.hits.npy", &b_count);
    ck_assert_uint_gt(a_count, 0);
    ck_assert_uint_eq(a_count, b_count);
    ck_assert_mem_eq(a, b, a_count * sizeof *a);
    free(a);
    free(b);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_empty_input_gives_an_empty_output)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "none.npy", 0, 0, 0);
    run_folder_bright_steps(&place, "dark.npy", 0, 5, 0);
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    size_t count = 1;
    free(run_folder_hits(&place, "none.hits.npy", &count));
    ck_assert_uint_eq(count, 0);
    free(run_folder_hits(&place, "dark.hits.npy", &count));
    ck_assert_uint_eq(count, 0);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_many_small_files)
{
    run_folder place = run_folder_open();
    enum { FILES = 60 };
    for (uint32_t i = 0; i < FILES; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%02u.npy", i);
        run_folder_bright_steps(&place, name, i, 1, 100);
    }
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), FILES);
    ck_assert_int_eq(run_folder_count(summary, "account", "created"), 100 * FILES);
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_bad_files_are_set_aside)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "1-good.npy", 0, 3, 100);
    char path[2 * SCRATCH_PATH];
    scratch_write(run_folder_path(place.steps, "2-bad.npy", path), "no steps", 8);
    icestream_step nan_step = run_folder_bright(0, 100);
    nan_step.t = NAN;
    icestream_step steps[2] = {run_folder_bright(5, 10), nan_step};
    run_folder_steps(&place, "3-nan.npy", steps, 2);
    run_folder_bright_steps(&place, "4-good.npy", 9, 3, 100);
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "2-bad.npy: "));
    ck_assert_ptr_nonnull(strstr(place.error.text, "3-nan.npy: row 1, field t"));
    ck_assert_ptr_nonnull(strstr(place.error.text, "2 of 4 files quarantined"));
    ck_assert(run_folder_has_hits(&place, "1-good.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "3-nan.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "4-good.hits.npy"));
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 2);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "set_aside"), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(summary, "exit_status")), 3);
    json_t *bad = json_array_get(json_object_get(summary, "files"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(bad, "status")), "set aside");
    ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(bad, "error")), "2-bad.npy"));
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

/* A bad weight is found only when a photon of its step has arrived. */
START_TEST(test_a_file_may_turn_out_bad_at_its_hits)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "1-good.npy", 0, 3, 1000);
    icestream_step steps[40];
    for (uint32_t i = 0; i < 40; ++i) {
        steps[i] = run_folder_bright(i, 1000);
    }
    steps[20].weight = 3e38f;
    run_folder_steps(&place, "2-bad.npy", steps, 40);
    run_folder_bright_steps(&place, "3-good.npy", 0, 3, 1000);
    ck_assert_int_eq(run(&place, "graph.batch=1000", NULL), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "2-bad.npy: event 3, step 20, field weight"));
    ck_assert_ptr_nonnull(strstr(place.error.text, "1 of 3 files quarantined"));
    ck_assert(run_folder_has_hits(&place, "1-good.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-bad.hits.npy.part"));
    ck_assert(run_folder_has_hits(&place, "3-good.hits.npy"));
    run_folder_close(&place);
}
END_TEST

START_TEST(test_existing_outputs_need_force_or_resume)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    run_folder_bright_steps(&place, "b.npy", 0, 3, 500);
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH];
    unlink(run_folder_path(place.hits, "b.hits.npy", path));

    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "a.hits.npy: already exists"));
    ck_assert(!run_folder_has_hits(&place, "b.hits.npy"));

    place.options.resume = true;
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), 1);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 1);
    json_decref(summary);

    /* Neither schedule nor batches matter; another seed, ice or input does. */
    ck_assert_int_eq(run(&place, "graph.schedule=monolithic", "graph.batch=100"), ICESTREAM_OK);
    summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), 2);
    json_decref(summary);
    ck_assert_int_eq(run(&place, "ice.model=uniform", NULL), ICESTREAM_OK);
    summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), 0);
    json_decref(summary);
    run_folder_bright_steps(&place, "b.npy", 1, 3, 500);
    ck_assert_int_eq(run(&place, "ice.model=uniform", NULL), ICESTREAM_OK);
    summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "skipped"), 1);
    json_decref(summary);
    ck_assert_int_eq(run(&place, "ice.model=uniform", "run.seed=2"), ICESTREAM_OK);
    summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 2);
    json_decref(summary);

    place.options.resume = false;
    place.options.force = true;
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    summary = run_folder_summary(&place);
    ck_assert_int_eq(run_folder_count(summary, "file_counts", "done"), 2);
    json_decref(summary);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_damaged_output_is_made_again)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.npy", 0, 3, 500);
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    char path[2 * SCRATCH_PATH];
    size_t size = 0, again_size = 0;
    unsigned char *bytes = scratch_read(run_folder_path(place.hits, "a.hits.npy", path), &size);
    bytes[1024 + 20] ^= 1;
    scratch_write(path, bytes, size);
    bytes[1024 + 20] ^= 1;
    place.options.resume = true;
    ck_assert_int_eq(run(&place, NULL, NULL), ICESTREAM_OK);
    unsigned char *again = scratch_read(path, &again_size);
    ck_assert_uint_eq(size, again_size);
    ck_assert_mem_eq(bytes, again, size);
    free(bytes);
    free(again);
    run_folder_close(&place);
}
END_TEST

START_TEST(test_inputs_that_cannot_be_planned)
{
    run_folder place = run_folder_open();
    char twice[4 * SCRATCH_PATH], same[4 * SCRATCH_PATH], missing[4 * SCRATCH_PATH];
    snprintf(missing, sizeof missing, "source.files=[%s/x.npy, %s/*.h5]", place.steps, place.steps);
    ck_assert_int_eq(run(&place, missing, NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "x.npy: No such file or directory"));
    ck_assert_ptr_nonnull(strstr(place.error.text, "*.h5: found no file of that pattern"));
    /* A folder that nobody can look into, not even who may read everything. */
    snprintf(same, sizeof same, "%s/loop", place.steps);
    ck_assert_int_eq(symlink("loop", same), 0);
    snprintf(missing, sizeof missing, "source.files=[%s/*/*.npy]", place.steps);
    ck_assert_int_eq(run(&place, missing, NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(
        strstr(place.error.text, "steps/loop: Too many levels of symbolic links"));

    run_folder_bright_steps(&place, "a.npy", 0, 1, 1);
    run_folder_bright_steps(&place, "a.steps.npy", 0, 1, 1);
    snprintf(twice, sizeof twice, "source.files=[%s/a.npy, %s/../steps/a.npy]", place.steps,
             place.steps);
    ck_assert_int_eq(run(&place, twice, NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "the same file is named twice"));
    snprintf(same, sizeof same, "source.files=[%s/a.npy, %s/a.steps.npy]", place.steps,
             place.steps);
    ck_assert_int_eq(run(&place, same, NULL), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(place.error.text, "would both be written to"));
    ck_assert(!run_folder_has_hits(&place, "a.hits.npy"));
    run_folder_close(&place);
}
END_TEST

START_TEST(test_outputs_that_cannot_be_written)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.npy", 0, 1, 1);
    char path[2 * SCRATCH_PATH], sink[2 * SCRATCH_PATH + 64];
    scratch_write(run_folder_path(place.steps, "file", path), "", 0);
    snprintf(sink, sizeof sink, "sink.directory=%s/deeper", path);
    ck_assert_int_eq(run(&place, sink, NULL), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(place.error.text, "Not a directory"));
    snprintf(sink, sizeof sink, "sink.directory=%s/new/and/deep/", place.hits);
    ck_assert_msg(run(&place, sink, NULL) == ICESTREAM_OK, "%s", place.error.text);
    ck_assert(run_folder_has_hits(&place, "new/and/deep/a.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "new/and/deep/summary.json"));
    run_folder_close(&place);
}
END_TEST

START_TEST(test_devices_that_are_not_there)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "a.npy", 0, 1, 1);
    ck_assert_int_eq(run(&place, "device.backend=cuda", "device.index=63"), ICESTREAM_E_DEVICE);
    ck_assert_ptr_nonnull(strstr(place.error.text, "device."));
    if (ics_gpu_count(NULL) == 0) {
        ck_assert_int_eq(run(&place, "device.backend=auto", "graph.schedule=job-queue"),
                         ICESTREAM_E_CONFIG);
        ck_assert_ptr_nonnull(strstr(place.error.text, "--set graph.schedule"));
        ck_assert_ptr_nonnull(strstr(place.error.text, "found job-queue"));
        ck_assert_int_eq(run(&place, "device.backend=auto", "graph.lanes=2"), ICESTREAM_E_CONFIG);
        ck_assert_ptr_nonnull(strstr(place.error.text, "graph.lanes: this value is for a GPU"));
    }
    ck_assert(!run_folder_has_hits(&place, "a.hits.npy"));
    run_folder_close(&place);
}
END_TEST

/* ---- signals ----------------------------------------------------------------------------------
 */

/* Sends signals to this process when the log says that the run has begun. */
typedef struct signaller {
    int pipe[2];
    int number;
    bool twice;
} signaller;

/* Reads the log until it has `text`. False: the run ended before. */
static bool await_text(int progress, const char *text)
{
    char byte;
    size_t matched = 0;
    while (text[matched] != 0 && read(progress, &byte, 1) == 1) {
        matched = byte == text[matched] ? matched + 1 : byte == text[0];
    }
    return text[matched] == 0;
}

static void *send_signals(void *argument)
{
    signaller *self = argument;
    char byte;
    if (await_text(self->pipe[0], "icestream")) {
        if (self->twice) {
            usleep(500000); /* without a batch on its way the first signal would end the run */
        }
        kill(getpid(), self->number);
        /* Two signals at once may arrive as one. */
        if (self->twice && await_text(self->pipe[0], "stopping")) {
            kill(getpid(), self->number);
        }
    }
    /* The rest is drained so that the run never waits for its progress to be read. */
    while (read(self->pipe[0], &byte, 1) == 1) {
    }
    return NULL;
}

/* Minutes of work, stopped at its start. Returns the status of the run. */
static int run_interrupted(run_folder *place, int number, bool twice, const char *batch)
{
    signaller self = {.number = number, .twice = twice};
    ck_assert_int_eq(pipe(self.pipe), 0);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, send_signals, &self), 0);
    place->options.progress = fdopen(self.pipe[1], "w");
    ck_assert_ptr_nonnull(place->options.progress);
    int status = run(place, batch, NULL);
    fclose(place->options.progress);
    place->options.progress = NULL;
    pthread_join(thread, NULL);
    close(self.pipe[0]);
    return status;
}

START_TEST(test_first_signal_drains)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "1-small.npy", 0, 1, 100);
    run_folder_bright_steps(&place, "2-large.npy", 0, 100, 10000000);
    ck_assert_int_eq(run_interrupted(&place, SIGTERM, false, "graph.batch=20000"),
                     ICESTREAM_E_TERMINATED);
    ck_assert_ptr_nonnull(strstr(place.error.text, "left (--resume continues)"));
    ck_assert(!run_folder_has_hits(&place, "2-large.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "2-large.hits.npy.part"));
    ck_assert(!run_folder_has_hits(&place, "1-small.hits.npy.part"));

    /* What is left can be done later, to the same bytes as if nothing had happened. */
    run_folder_bright_steps(&place, "2-large.npy", 0, 100, 100);
    place.options.resume = true;
    ck_assert_msg(run(&place, NULL, NULL) == ICESTREAM_OK, "%s", place.error.text);
    ck_assert(run_folder_has_hits(&place, "1-small.hits.npy"));
    ck_assert(run_folder_has_hits(&place, "2-large.hits.npy"));
    run_folder_close(&place);
}
END_TEST

START_TEST(test_second_signal_abandons)
{
    run_folder place = run_folder_open();
    run_folder_bright_steps(&place, "large.npy", 0, 100, 10000000);
    /* Batches of minutes each: without the second signal this would not end in time. */
    ck_assert_int_eq(run_interrupted(&place, SIGINT, true, "graph.batch=1000000000"),
                     ICESTREAM_E_INTERRUPTED);
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy"));
    ck_assert(!run_folder_has_hits(&place, "large.hits.npy.part"));
    ck_assert(run_folder_has_hits(&place, "summary.json"));
    run_folder_close(&place);
}
END_TEST

START_TEST(test_validate_describes)
{
    icestream_config *config = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(icestream_config_load(NULL, NULL, 0, &config, &error), ICESTREAM_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *report = open_memstream(&text, &size);
    ck_assert_int_eq(icestream_validate(config, report, &error), ICESTREAM_OK);
    fclose(report);
    ck_assert_ptr_nonnull(strstr(text, "hex86"));
    ck_assert_ptr_nonnull(strstr(text, "schedule:"));
    ck_assert_int_eq(icestream_validate(config, NULL, &error), ICESTREAM_OK);
    free(text);
    icestream_config_destroy(config);
}
END_TEST

/* The text of icestream_validate for a configuration; the caller frees it. */
static char *validated(const char *const *sets, size_t count, int expected, icestream_error *error)
{
    icestream_config *config = NULL;
    *error = (icestream_error){.status = ICESTREAM_OK};
    ck_assert_msg(icestream_config_load(NULL, sets, count, &config, error) == ICESTREAM_OK, "%s",
                  error->text);
    char *text = NULL;
    size_t size = 0;
    FILE *report = open_memstream(&text, &size);
    ck_assert_int_eq(icestream_validate(config, report, error), expected);
    fclose(report);
    icestream_config_destroy(config);
    return text;
}

static void expect_said(const char *text, const char *expected)
{
    ck_assert_msg(strstr(text, expected) != NULL, "'%s' is not in: %s", expected, text);
}

/* What the ice's folder, or the user, says of birefringence: auto is not an answer. */
START_TEST(test_validate_tells_the_subtraction)
{
    static const struct {
        const char *set, *says;
    } cases[] = {{"ice.birefringence_subtraction=auto", "(constant)\n"},
                 {"ice.birefringence_subtraction=constant", "(constant)\n"},
                 {"ice.birefringence_subtraction=scaled", "(scaled)\n"},
                 {"ice.birefringence_subtraction=none", "nothing (none)\n"},
                 {"ice.birefringence=false", NULL}};
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        icestream_error error;
        const char *const sets[] = {set, cases[i].set, "device.threads=1"};
        char *text = validated(sets, 3, ICESTREAM_OK, &error);
        const char *told = strstr(text, "subtracted from the scattering for it: ");
        ck_assert_msg((told == NULL) == (cases[i].says == NULL), "%s", text);
        if (told != NULL) {
            expect_said(strchr(told, ':'), cases[i].says);
        }
        free(text);
    }
}
END_TEST

START_TEST(test_validate_tells_the_density)
{
    static const char *const sets[] = {
        "ice.file=" ICS_SOURCE_DIRECTORY "/configs/media/lake-water.yaml", "device.threads=1"};
    icestream_error error;
    char *text = validated(sets, 2, ICESTREAM_OK, &error);
    expect_said(text, "  density  1 g/cm3\n");
    free(text);
    static const char bare[] =
        "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m], [250, 0.02, 0.02], "
        "[700, 0.02, 0.02]]}\nscattering: {mean_cosine: 0.9}\n"
        "index: {salinity: 35, temperature: 10, pressure: 0}\n";
    scratch place = scratch_create();
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32];
    scratch_write(scratch_path(&place, "water.yaml", path), bare, strlen(bare));
    snprintf(set, sizeof set, "ice.file=%s", path);
    text = validated((const char *const[]){set, "device.threads=1"}, 2, ICESTREAM_OK, &error);
    expect_said(text,
                "  density  not given: particles make as much light as in ice of 0.9216 g/cm3");
    free(text);
    scratch_remove(&place);
}
END_TEST

START_TEST(test_validate_reads_particles)
{
#define COLUMNS "type,event,x,y,z,zenith,azimuth,photons,spectrum\n"
    scratch place = scratch_create();
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32], broken[SCRATCH_PATH];
    icestream_error error;
    static const char good[] = COLUMNS "ph,1,0,0,0,0,0,1000,2\nph,1,0,0,0,0,0,150,2\n"
                                       "ph,7,0,0,0,0,0,401,2\n";
    static const char bad[] = COLUMNS "ph,1,0,0,0,0,0,1000,2\nph,1,0,0,0,0,0,150,99\n";
    scratch_write(scratch_path(&place, "p.csv", path), good, strlen(good));
    scratch_write(scratch_path(&place, "bad.csv", broken), bad, strlen(bad));
    snprintf(set, sizeof set, "particles.file=%s", path);
    const char *const sets[] = {set, "device.threads=1"};
    char *text = validated(sets, 2, ICESTREAM_OK, &error);
    expect_said(text, "particles  3 in 2 events of ");
    expect_said(text, "about 1551 photons in 9 steps\n");
    free(text);
    /* A fault has its place, as generating would tell it. */
    snprintf(set, sizeof set, "particles.file=%s", broken);
    text = validated(sets, 2, ICESTREAM_E_CONFIG, &error);
    expect_said(error.text, "bad.csv:3: error: spectrum: found 99");
    free(text);
    /* A pipe keeps what is in it. */
    snprintf(set, sizeof set, "particles.file=-");
    const char *const streams[] = {set, "particles.format=csv", "device.threads=1"};
    text = validated(streams, 3, ICESTREAM_OK, &error);
    expect_said(text, "particles  from a stream, -, which validate does not read\n");
    free(text);
    static const char *const none[] = {"device.threads=1"};
    text = validated(none, 1, ICESTREAM_OK, &error);
    ck_assert_ptr_null(strstr(text, "particles  "));
    free(text);
    scratch_remove(&place);
#undef COLUMNS
}
END_TEST

ICS_TEST_MAIN("run")
{
    TCase *tests = tcase_create("run");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, test_steps_become_hits);
    tcase_add_test(tests, test_split_and_order_of_files_change_nothing);
    tcase_add_test(tests, test_rows_out_of_order_come_back_in_order);
    tcase_add_test(tests, test_empty_input_gives_an_empty_output);
    tcase_add_test(tests, test_many_small_files);
    tcase_add_test(tests, test_bad_files_are_set_aside);
    tcase_add_test(tests, test_a_file_may_turn_out_bad_at_its_hits);
    tcase_add_test(tests, test_existing_outputs_need_force_or_resume);
    tcase_add_test(tests, test_damaged_output_is_made_again);
    tcase_add_test(tests, test_inputs_that_cannot_be_planned);
    tcase_add_test(tests, test_outputs_that_cannot_be_written);
    tcase_add_test(tests, test_devices_that_are_not_there);
    tcase_add_test(tests, test_first_signal_drains);
    tcase_add_test(tests, test_second_signal_abandons);
    tcase_add_test(tests, test_validate_describes);
    tcase_add_test(tests, test_validate_tells_the_subtraction);
    tcase_add_test(tests, test_validate_tells_the_density);
    tcase_add_test(tests, test_validate_reads_particles);
    suite_add_tcase(suite, tests);
}
