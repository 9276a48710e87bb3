/* Promises of metrics.h: every line of the text has the form that Prometheus expects, and files are
 * complete. How to join: give a new metric a value in example() and its line in `values`. */
#include "pipeline/production/telemetry/latency.h"
#include "pipeline/production/telemetry/metrics.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Metrics in which every value is set; the caller frees them. */
static ics_metrics *example(void)
{
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ck_assert_ptr_nonnull(metrics);
    *metrics = (ics_metrics){.start_time = 1795000000.5,
                             .paused = true,
                             .photons = UINT64_MAX,
                             .hits = 12,
                             .bounces = 13,
                             .absorbed = 14,
                             .detected = 15,
                             .left = 16,
                             .stopped = 17,
                             .bytes_read = 64,
                             .bytes_written = 128,
                             .retries = 2,
                             .files_taken = 9,
                             .files_done = 5,
                             .files_skipped = 1,
                             .files_quarantined = 2,
                             .files_failed = 0,
                             .files_waiting = 3,
                             .files_claimed = 1,
                             .device_count = 2,
                             .queue_count = 1};
    metrics->devices[0] = (ics_metrics_device){
        .id = "cuda:0", .name = "a \"b\" \\ c\nd \xff µ", .photons = 7, .alive = true};
    metrics->devices[1] =
        (ics_metrics_device){.id = "cpu", .name = "2 threads", .seconds_busy = 0.1};
    metrics->queues[0] = (ics_metrics_queue){.name = "ready", .used = 3, .limit = 8};
    return metrics;
}

static char *text_of(const ics_metrics *metrics)
{
    size_t size = 0;
    char *text = ics_metrics_text(metrics, &size);
    ck_assert_uint_eq(size, strlen(text));
    return text;
}

/* Whether the text has this complete line. */
static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)) != NULL; ++at) {
        if ((at == text || at[-1] == '\n') && at[length] == '\n') {
            return true;
        }
    }
    return false;
}

START_TEST(values)
{
    ics_metrics *metrics = example();
    ics_latency *latency = calloc(1, sizeof *latency);
    for (int i = 1; i <= 4; ++i) {
        ics_latency_add(latency, i);
    }
    ics_metrics_set_latency(metrics, latency);
    ics_metrics_warn(&metrics->warnings, "something");
    char *text = text_of(metrics);
#define BUSY "icestream_device_busy_seconds_total{device=\"cpu\",name=\"2 threads\"}"
    static const char *const lines[] = {
        "icestream_build_info{version=\"" ICESTREAM_VERSION "\"} 1",
        "icestream_start_time_seconds 1795000000.5",
        "icestream_paused 1",
        "# TYPE icestream_photons_total counter",
        "icestream_photons_total 18446744073709551615",
        "icestream_hits_total 12",
        "icestream_bounces_total 13",
        "icestream_photon_ends_total{end=\"absorbed\"} 14",
        "icestream_photon_ends_total{end=\"detected\"} 15",
        "icestream_photon_ends_total{end=\"left\"} 16",
        "icestream_photon_ends_total{end=\"stopped\"} 17",
        "# TYPE icestream_warnings_total counter",
        "icestream_warnings_total 1",
        "icestream_read_bytes_total 64",
        "icestream_written_bytes_total 128",
        "icestream_retries_total 2",
        "icestream_files_taken_total 9",
        "icestream_files_total{result=\"done\"} 5",
        "icestream_files_total{result=\"skipped\"} 1",
        "icestream_files_total{result=\"quarantined\"} 2",
        "icestream_files_total{result=\"failed\"} 0",
        "# TYPE icestream_files_waiting gauge",
        "icestream_files_waiting 3",
        "icestream_files_claimed 1",
        "# TYPE icestream_file_latency_seconds summary",
        "icestream_file_latency_seconds_sum 10",
        "icestream_file_latency_seconds_count 4",
        "icestream_file_latency_max_seconds 4",
        "icestream_device_photons_total{device=\"cuda:0\",name=\"a \\\"b\\\" \\\\ c\\\\nd \\\\xff "
        "µ\"} 7",
        "icestream_device_up{device=\"cpu\",name=\"2 threads\"} 0",
        BUSY " 0.10000000000000001",
        "icestream_queue_entries{queue=\"ready\"} 3",
        "icestream_queue_limit_entries{queue=\"ready\"} 8",
    };
#undef BUSY
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        ck_assert_msg(has_line(text, lines[i]), "no line '%s' in\n%s", lines[i], text);
    }
    free(text);
    free(latency);
    free(metrics);
}
END_TEST

/* Every line is HELP, TYPE or a sample. The HELP and TYPE lines of a sample come right before it.
 * Names of counters, and no others, end in _total. */
static void check_format(const char *text)
{
    regex_t sample;
    static const char pattern[] =
        "^icestream_[a-z_]+(\\{[a-z]+=\"([^\"\\\\]|\\\\.)*\"(,[a-z]+=\"([^\"\\\\]|\\\\.)*\")*\\})? "
        "([0-9.e+-]+|NaN)$";
    ck_assert_int_eq(regcomp(&sample, pattern, REG_EXTENDED | REG_NOSUB), 0);
    char family[128] = "", type[32] = "", helped[128] = "";
    size_t samples = 0;
    ck_assert_int_eq(text[strlen(text) - 1], '\n');
    for (const char *at = text; *at != '\0';) {
        char line[512] = "";
        size_t length = strcspn(at, "\n");
        ck_assert_uint_lt(length, sizeof line);
        memcpy(line, at, length);
        at += length + 1;
        if (strncmp(line, "# HELP ", 7) == 0) {
            ck_assert_int_eq(sscanf(line, "# HELP %127s", helped), 1);
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            ck_assert_int_eq(sscanf(line, "# TYPE %127s %31s", family, type), 2);
            ck_assert_str_eq(family, helped);
            size_t end = strlen(family);
            bool total = end > 6 && strcmp(family + end - 6, "_total") == 0;
            ck_assert_msg(total == (strcmp(type, "counter") == 0), "%s is a %s", family, type);
        } else {
            ck_assert_msg(regexec(&sample, line, 0, NULL, 0) == 0, "no sample: '%s'", line);
            ck_assert_msg(strncmp(line, family, strlen(family)) == 0, "'%s' in %s", line, family);
            ++samples;
        }
    }
    ck_assert_uint_ge(samples, 20);
    regfree(&sample);
}

START_TEST(format)
{
    ics_metrics *metrics = example();
    char *text = text_of(metrics);
    check_format(text);
    free(text);
    snprintf(metrics->worker, sizeof metrics->worker, "a \"b\"");
    text = text_of(metrics);
    check_format(text);
    ck_assert(has_line(text, "icestream_hits_total{worker=\"a \\\"b\\\"\"} 12"));
    ck_assert(has_line(text, "icestream_queue_entries{worker=\"a \\\"b\\\"\",queue=\"ready\"} 3"));
    free(text);
    memset(metrics, 0, sizeof *metrics); /* a run before its beginning */
    text = text_of(metrics);
    check_format(text);
    ck_assert(has_line(text, "icestream_file_latency_seconds{quantile=\"0.99\"} NaN"));
    ck_assert_ptr_null(strstr(text, "icestream_device"));
    free(text);
    free(metrics);
}
END_TEST

START_TEST(a_file_is_replaced_as_a_whole)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    scratch_path(&place, "icestream.prom", path);
    ics_metrics *metrics = example();
    icestream_error error = {0};
    for (int i = 0; i < 2; ++i) {
        metrics->hits = 1000 + (uint64_t)i;
        ck_assert_msg(ics_metrics_write(metrics, path, &error) == ICESTREAM_OK, "%s", error.text);
        size_t size = 0;
        char *expected = text_of(metrics), *found = (char *)scratch_read(path, &size);
        ck_assert_uint_eq(size, strlen(expected));
        ck_assert_mem_eq(found, expected, size);
        free(expected);
        free(found);
        ck_assert(!scratch_exists(&place, "icestream.prom.part"));
    }
    char missing[SCRATCH_PATH + 32];
    snprintf(missing, sizeof missing, "%s/none/icestream.prom", place.folder);
    ck_assert_int_eq(ics_metrics_write(metrics, missing, &error), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(error.text, missing) != NULL, "%s", error.text);
    free(metrics);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("metrics")
{
    TCase *all = tcase_create("text and file");
    tcase_add_test(all, values);
    tcase_add_test(all, format);
    tcase_add_test(all, a_file_is_replaced_as_a_whole);
    suite_add_tcase(suite, all);
}
