/* The parts of `icestream report` (pipeline/tools/report).
 *
 * Promises: no text becomes HTML; quantiles and bins of times are right to 2e-4, also of negative
 * times; a damaged hit file leaves the counts as they were; the history of a journal has the
 * photons of its samples where they were computed. To join: what the page says of a whole run is
 * tested in tests/cli/test_report.sh.
 */
#include "pipeline/files/table_writer.h"
#include "pipeline/tools/report/history.h"
#include "pipeline/tools/report/hit_counts.h"
#include "pipeline/tools/report/html.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *escaped(const char *text)
{
    static char buffer[8192];
    memset(buffer, 0, sizeof buffer);
    FILE *out = fmemopen(buffer, sizeof buffer, "w");
    ics_html_text(out, text);
    fclose(out);
    return buffer;
}

START_TEST(texts_never_become_html)
{
    ck_assert_str_eq(escaped("<b a=\"1\" b='2'>&amp;\n"),
                     "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp; ");
    ck_assert_str_eq(escaped("\x1b[2J\xff\xc3\xa4"), "\\x1b[2J\\xff\xc3\xa4");
    ck_assert_str_eq(escaped(NULL), "");
    char long_text[3 * ICS_HTML_TEXT];
    memset(long_text, '<', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    char buffer[16 * ICS_HTML_TEXT];
    FILE *out = fmemopen(buffer, sizeof buffer, "w");
    ics_html_text(out, long_text);
    fclose(out);
    ck_assert_ptr_null(strchr(buffer, '<'));
    ck_assert_ptr_nonnull(strstr(buffer, "&lt; [cut]"));
}
END_TEST

START_TEST(counts_in_groups)
{
    char buffer[ICS_HTML_COUNT];
    ck_assert_str_eq(ics_html_count_text(0, buffer), "0");
    ck_assert_str_eq(ics_html_count_text(9999, buffer), "9999");
    ck_assert_str_eq(ics_html_count_text(1234567, buffer), "1\u202f234\u202f567");
    ck_assert_uint_lt(strlen(ics_html_count_text(UINT64_MAX, buffer)), ICS_HTML_COUNT);
}
END_TEST

/* Writes a text into a new file, whose name the caller frees after removing it. */
static char *file_of(const char *bytes, size_t size)
{
    char *path = strdup("/tmp/report-XXXXXX");
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
    return path;
}

/* Writes hits at these times as an .npy file without a trailer; `cut`: bytes that are missing. */
static char *hits_at(const double *times, size_t count, size_t cut)
{
    static const char fields[] =
        "[('event_id','<u8'),('t','<f8'),('x','<f4'),('y','<f4'),('z','<f4'),('dx','<f4'),"
        "('dy','<f4'),('dz','<f4'),('wavelength','<f4'),('weight','<f4'),('step_id','<u4'),"
        "('photon_id','<u4'),('string','<u2'),('module','<u2'),('pmt','<i2'),('scatters','<u2')]";
    char bytes[4096] = "\x93NUMPY\x01";
    const int length =
        snprintf(bytes + 10, sizeof bytes - 10,
                 "{'descr': %s, 'fortran_order': False, 'shape': (%zu,), }", fields, count);
    const size_t header = (10 + (size_t)length + 64) / 64 * 64;
    memset(bytes + 10 + length, ' ', header - 11 - (size_t)length);
    bytes[header - 1] = '\n';
    bytes[8] = (char)((header - 10) & 0xff);
    bytes[9] = (char)((header - 10) >> 8);
    for (size_t i = 0; i < count; ++i) {
        const icestream_hit hit = {.event_id = i / 2,
                                   .t = times[i],
                                   .dz = 1,
                                   .wavelength = 400,
                                   .weight = 0.5f,
                                   .photon_id = (uint32_t)i,
                                   .string = 63,
                                   .module = 200,
                                   .scatters = (uint16_t)(10 * i)};
        memcpy(bytes + header + i * sizeof hit, &hit, sizeof hit);
    }
    return file_of(bytes, header + count * sizeof(icestream_hit) - cut);
}

START_TEST(times_and_scatters)
{
    static const double times[] = {-2000.0, -1.0, 0.0, 10.0, 1500.0, 1500.0, 5500.0, 1e9};
    ics_hit_counts *counts = NULL;
    double bins[10];
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_hit_counts_create(&counts, NULL), ICESTREAM_OK);
    char *path = hits_at(times, 8, 0);
    ck_assert_msg(ics_hit_counts_add(counts, path, &error) == ICESTREAM_OK, "%s", error.text);
    unlink(path);
    free(path);
    ck_assert_uint_eq(counts->hits, 8);
    ck_assert_uint_eq(counts->events, 4);
    ck_assert_double_eq(counts->weight, 4.0);
    ck_assert_uint_eq(counts->strings[63].hits[200], 8);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 0.0), -2000.0, 0.4);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 0.5), 10.0, 0.002);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 0.75), 1500.0, 0.3);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 1.0), 1e9, 2e5);
    ck_assert_uint_eq(ics_hit_counts_scatter_quantile(counts, 0.5), 30);
    ics_hit_counts_time_bins(counts, 0.0, 10000.0, bins, 10);
    ck_assert_double_eq(bins[0], 2.0);
    ck_assert_double_eq(bins[0] + bins[1] + bins[5], 5.0);
    /* A file that was cut has a fault, and nothing of it is counted. */
    path = hits_at(times, 8, 1);
    ck_assert_int_eq(ics_hit_counts_add(counts, path, &error), ICESTREAM_E_INPUT);
    ck_assert_uint_eq(counts->hits, 8);
    unlink(path);
    free(path);
    ics_hit_counts_destroy(counts);
}
END_TEST

/* Two bins of a waveform of 10 ns, with a trailer that says so. */
START_TEST(waveforms_count_at_the_middle_of_their_bins)
{
    static const icestream_waveform_bin rows[] = {
        {.event_id = 1, .t = 100, .weight = 1.5, .hits = 3, .bin = 10, .string = 5, .module = 6},
        {.event_id = 2, .t = 200, .weight = 0.5, .hits = 1, .bin = 20, .string = 5, .module = 7}};
    ics_hit_counts *counts = NULL;
    ics_table_writer *writer = NULL;
    icestream_error error = {.text = ""};
    char *path = file_of("", 0);
    json_t *metadata = json_pack("{s:f}", "bin_ns", 10.0);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_waveforms(), true, &writer, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_append(writer, rows, 2, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_commit(writer, metadata, &error), ICESTREAM_OK);
    ics_table_writer_destroy(writer);
    json_decref(metadata);
    ck_assert_int_eq(ics_hit_counts_create(&counts, NULL), ICESTREAM_OK);
    ck_assert_msg(ics_hit_counts_add(counts, path, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(counts->hits, 4);
    ck_assert_uint_eq(counts->without_scatters, 4);
    ck_assert_uint_eq(counts->events, 2);
    ck_assert_double_eq(counts->weight, 2.0);
    ck_assert_uint_eq(counts->strings[5].hits[6], 3);
    ck_assert_uint_eq(counts->strings[5].hits[7], 1);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 0.5), 105.0, 0.02);
    ck_assert_double_eq_tol(ics_hit_counts_time_quantile(counts, 1.0), 205.0, 0.04);
    ck_assert_uint_eq(ics_hit_counts_scatter_quantile(counts, 0.5), 0);
    unlink(path);
    free(path);
    ics_hit_counts_destroy(counts);
}
END_TEST

START_TEST(no_hits)
{
    ics_hit_counts *counts = NULL;
    double bins[4];
    ck_assert_int_eq(ics_hit_counts_create(&counts, NULL), ICESTREAM_OK);
    ck_assert_double_eq(ics_hit_counts_time_quantile(counts, 0.5), 0.0);
    ck_assert_uint_eq(ics_hit_counts_scatter_quantile(counts, 1.0), 0);
    ics_hit_counts_time_bins(counts, 0.0, 1.0, bins, 4);
    ck_assert_double_eq(bins[0] + bins[1] + bins[2] + bins[3], 0.0);
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_hit_counts_add(counts, "/none/a.hits.npy", &error), ICESTREAM_E_INPUT);
    ck_assert_uint_eq(counts->hits, 0);
    ics_hit_counts_destroy(counts);
    ics_hit_counts_destroy(NULL);
}
END_TEST

START_TEST(photons_where_they_were_computed)
{
    static const char journal[] =
        "{\"time\":\"2026-11-21T22:00:00.000Z\",\"event\":\"start\",\"worker\":\"w\"}\n"
        "{\"time\":\"2026-11-21T22:00:50.000Z\",\"event\":\"sample\",\"worker\":\"w\",\"photons\":"
        "1000,"
        "\"devices\":{\"cpu\":400,\"cuda:0\":600},\"queues\":{\"batches\":[3,4],\"units\":[2,10]}}"
        "\n"
        "{\"time\":\"2026-11-21T22:01:40.000Z\",\"event\":\"stop\",\"worker\":\"w\",\"photons\":"
        "4000}\n";
    ics_journal_summary *summary = NULL;
    ics_history *history = NULL;
    char *path = file_of(journal, sizeof journal - 1);
    ck_assert_int_eq(ics_journal_summary_create(&summary, NULL), ICESTREAM_OK);
    ck_assert_int_eq(ics_journal_summary_read(summary, path, NULL), ICESTREAM_OK);
    ck_assert_int_eq(ics_history_create(summary, &history, NULL), ICESTREAM_OK);
    ck_assert_int_eq(ics_history_read(history, path, NULL), ICESTREAM_OK);
    double early = 0.0, late = 0.0, gpu = 0.0;
    for (size_t i = 0; i < ICS_HISTORY_BINS; ++i) {
        *(i < ICS_HISTORY_BINS / 2 ? &early : &late) += history->bins[i].photons;
        gpu += history->bins[i].devices[1];
    }
    ck_assert_double_eq_tol(early, 1000.0, 1e-3);
    ck_assert_double_eq_tol(late, 3000.0, 1e-3);
    ck_assert_double_eq_tol(gpu, 600.0, 1e-3);
    ck_assert_str_eq(history->devices[0], "cpu");
    ck_assert(history->has_samples);
    ck_assert_double_eq(history->queue_room, 4.0);
    ck_assert_uint_eq(history->starts.count, 1);
    ics_history_destroy(history);
    ics_journal_summary_destroy(summary);
    unlink(path);
    free(path);
}
END_TEST

ICS_TEST_MAIN("report_parts")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, texts_never_become_html);
    tcase_add_test(all, counts_in_groups);
    tcase_add_test(all, times_and_scatters);
    tcase_add_test(all, waveforms_count_at_the_middle_of_their_bins);
    tcase_add_test(all, no_hits);
    tcase_add_test(all, photons_where_they_were_computed);
    suite_add_tcase(suite, all);
}
