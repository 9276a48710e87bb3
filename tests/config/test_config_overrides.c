/* Errors of overrides (--set), and errors of a file and of overrides together. To try another
 * override, add a row to `wrong_sets`. */
#include "tests/config/expect_error.h"
#include "tests/support/test_main.h"

#include <stdlib.h>

static const struct {
    const char *set, *expected;
} wrong_sets[] = {
    {"graph.schedul=x", "--set graph.schedul=x: error: unknown key 'graph.schedul', did you mean "
                        "'graph.schedule'?"},
    {"ran.seed=1", "--set ran.seed=1: error: unknown key 'ran.seed', did you mean 'run.seed'?"},
    {"graph.compact=always", "--set graph.compact=always: error: 'graph.compact' is a section, "
                             "expected a key in it: sort, when"},
    {"stages.scatter={source: [x]}", "--set stages.scatter={source: [x]}: error: source: found a "
                                     "list of 1, expected a path"},
    {"", "--set : error: expected path=value, as in graph.schedule=monolithic"},
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
                 "directory, name, records, hits, waveform_bin, waveform_range, "
                 "histograms, checkpoint, quarantine, journal, digest, "
                 "command, ship, verify, url\n"
                 "--set run.sed=1: error: unknown key 'run.sed', did you mean 'run.seed'?\n"
                 "--set graph.pool=1: error: graph.pool: found '1', expected a whole number from "
                 "16 to 268435456, or auto");
}
END_TEST

START_TEST(errors_beyond_ten_are_counted)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(stream);
    for (int i = 0; i < 1000; ++i) {
        fprintf(stream, "%d: x\n", i + 1000);
    }
    fclose(stream);
    icestream_config *config = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(ics_config_load_text("r.yaml", text, size, NULL, 0, &config, &error),
                     ICESTREAM_E_CONFIG);
    unsigned lines = 1;
    for (const char *c = error.text; *c; ++c) {
        lines += *c == '\n';
    }
    ck_assert_uint_eq(lines, 11);
    ck_assert_ptr_nonnull(strstr(error.text, "r.yaml:10:1: error: unknown key '1009'"));
    ck_assert_str_eq(strrchr(error.text, '\n'), "\nr.yaml: error: and 990 more");
    /* An error about an override is another kind, and is not hidden. */
    const char *const sets[] = {"run.seed=x"};
    ck_assert_int_eq(ics_config_load_text("r.yaml", text, size, sets, 1, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "r.yaml: error: and 990 more\n--set run.seed=x: "));
    free(text);
}
END_TEST

START_TEST(old_errors_are_forgotten)
{
    icestream_error error = {.status = ICESTREAM_E_INPUT, .text = "old"};
    icestream_config *config = NULL;
    ck_assert_int_eq(ics_config_load_text("r.yaml", "x: 1", 4, NULL, 0, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(strstr(error.text, "old"));
    ck_assert_int_eq(icestream_config_load("/no/such/run.yaml", NULL, 0, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_str_eq(error.text,
                     "/no/such/run.yaml: error: cannot open the file: No such file or directory");
    ck_assert_int_eq(icestream_config_load(NULL, NULL, 0, &config, &error), ICESTREAM_OK);
    ck_assert_int_eq(error.status, ICESTREAM_OK);
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("config_overrides")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, wrong_overrides, 0, (int)COUNT(wrong_sets));
    tcase_add_test(all, all_errors_of_file_and_overrides_together);
    tcase_add_test(all, errors_beyond_ten_are_counted);
    tcase_add_test(all, old_errors_are_forgotten);
    suite_add_tcase(suite, all);
}
