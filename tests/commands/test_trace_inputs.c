/* `icestream trace`: what it is asked for.
 *
 * Promises: the step of a photon is found in the right file; photons that are not there, folders
 * that cannot be read and stages of the user are refused with the reason. To join: a new fault of
 * --photon is a row of the table in wrong_photons.
 */
#include "tests/commands/trace_run.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Photons of two numbers, negative ones, those of no step, and lists of photons are in
 * tests/cli/bad_inputs_exchange.py. */
START_TEST(wrong_photons)
{
    static const struct {
        const char *photon, *says;
        int status;
    } cases[] = {
        {"", "found ''", ICESTREAM_E_USAGE},
        {"::", "found '::'", ICESTREAM_E_USAGE},
        {"3:7:1:1", "found '3:7:1:1'", ICESTREAM_E_USAGE},
        {"3:7:1.5", "found '3:7:1.5'", ICESTREAM_E_USAGE},
        {"18446744073709551616:1:1", "found '184", ICESTREAM_E_USAGE},
        {"a:b:c", "found 'a:b:c'", ICESTREAM_E_USAGE},
        {"4:7:0", "event_id 4, step_id 7: found no such step", ICESTREAM_E_INPUT},
        {"18446744073709551615:0:0", "event_id 18446744073709551615", ICESTREAM_E_INPUT},
    };
    run_folder place = run_folder_open();
    make_steps(&place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        traced result =
            trace(&place, NULL,
                  (icestream_trace_options){.photons = &cases[i].photon, .photon_count = 1}, plain);
        expect_error(&result, cases[i].status, cases[i].says);
        forget(&result);
        ck_assert(!scratch_exists(&place.folder, "paths.npy"));
        ck_assert(!scratch_exists(&place.folder, "paths.npy.part"));
    }
    run_folder_close(&place);
}
END_TEST

/* The step file of the hits is found by the digest that the hit file stores, not by its name. */
START_TEST(which_step_file)
{
    run_folder place = open_with_hits(plain);
    char a[2 * SCRATCH_PATH], b[2 * SCRATCH_PATH], moved[SCRATCH_PATH];
    run_folder_path(place.steps, "a.steps.npy", a);
    run_folder_path(place.steps, "b.steps.npy", b);
    /* Next to the right file there is a file with the same identities and other steps. */
    icestream_step others[20];
    for (uint32_t i = 0; i < 20; ++i) {
        others[i] = run_folder_bright(i, PHOTONS);
    }
    run_folder_steps(&place, "c.steps.npy", others, 20);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    const char *const photons[] = {"3:1:0"};
    result = trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 1},
                   plain);
    expect_error(&result, ICESTREAM_E_INPUT,
                 "found two different steps with event_id 3 and step_id 1");
    forget(&result);
    result =
        trace(&place, NULL,
              (icestream_trace_options){.photons = photons, .photon_count = 1, .steps = a}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    /* The file is no longer in the source, and --steps names it. */
    scratch_path(&place.folder, "moved.npy", moved);
    ck_assert_int_eq(rename(a, moved), 0);
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    expect_error(&result, ICESTREAM_E_INPUT, "from which the hits were made");
    forget(&result);
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.steps = moved}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    result = trace(&place, "b.hits.npy", (icestream_trace_options){.steps = moved}, plain);
    expect_error(&result, ICESTREAM_E_INPUT, "expected it in the file of --steps");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* If a folder cannot be read, the error says so, and does not say that the step is missing. The
 * folder is a link to itself, which not even root can read. */
START_TEST(unreadable_folders)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    char link[SCRATCH_PATH], hidden[2 * SCRATCH_PATH], done[3 * SCRATCH_PATH];
    char sets[3][2 * SCRATCH_PATH + 64];
    scratch_path(&place.folder, "loop", link);
    ck_assert_int_eq(symlink("loop", link), 0);
    snprintf(hidden, sizeof hidden, "%s/.icestream", place.steps);
    ck_assert_int_eq(mkdir(hidden, 0777), 0);
    snprintf(done, sizeof done, "%s/done", hidden);
    ck_assert_int_eq(symlink("done", done), 0);
    snprintf(sets[0], sizeof sets[0], "source.files=['%s/*.npy', '%s/*.npy']", place.steps, link);
    snprintf(sets[1], sizeof sets[1], "source.files=['%s/*/*.npy']", place.folder.folder);
    snprintf(sets[2], sizeof sets[2], "source.directory=%s", place.steps);
    const char *const there[] = {"3:1:0"}, *const absent[] = {"4:1:0"};
    for (size_t i = 0; i < 3; ++i) {
        const char *const settings[] = {sets[i], NULL};
        traced result = trace(
            &place, NULL, (icestream_trace_options){.photons = there, .photon_count = 1}, settings);
        ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
        forget(&result);
        result = trace(&place, NULL,
                       (icestream_trace_options){.photons = absent, .photon_count = 1}, settings);
        expect_error(&result, ICESTREAM_E_INPUT, i == 2 ? done : link);
        expect_error(&result, ICESTREAM_E_INPUT,
                     ": Too many levels of symbolic links; the missing steps may be there");
        ck_assert_ptr_null(strstr(result.error.text, "no such step"));
        forget(&result);
    }
    run_folder_close(&place);
}
END_TEST

START_TEST(own_stages_are_refused)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    char header[SCRATCH_PATH], set[SCRATCH_PATH + 64];
    static const char text[] = "/* not looked at */\n";
    scratch_write(scratch_path(&place.folder, "my.h", header), text, strlen(text));
    snprintf(set, sizeof set, "stages.scatter={source: %s}", header);
    const char *const sets[] = {set, NULL};
    const char *const photons[] = {"3:1:0"};
    traced result =
        trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 1}, sets);
    expect_error(&result, ICESTREAM_E_CONFIG, "stages.scatter: found a header of your own");
    expect_error(&result, ICESTREAM_E_CONFIG,
                 "icestream run --verify checks what the header returns");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("trace_inputs")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, wrong_photons);
    tcase_add_test(all, which_step_file);
    tcase_add_test(all, unreadable_folders);
    tcase_add_test(all, own_stages_are_refused);
    suite_add_tcase(suite, all);
}
