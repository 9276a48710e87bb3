#include "pipeline/tools/measure/load_report.h"

#include "base/error.h"
#include "pipeline/tools/measure/report.h"

#include <inttypes.h>

/* The rows with a load, as many as the table of parts has columns for. */
enum { MOST = (ICS_REPORT_COLUMNS - 1) / 2, HEADING = 96 };
typedef struct loaded {
    const ics_row *rows[MOST];
    size_t count;
} loaded;

static int print_processors(const loaded *found, bool markdown, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"schedule", "launches", "ms",     "SMs", "busy %",
                                           "least %",  "SM",       "most %", "SM"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < found->count; ++i) {
        const ics_load *load = &found->rows[i]->load;
        ics_report_cell(report, "%s", found->rows[i]->name);
        ics_report_cell(report, "%u", load->launches);
        ics_report_cell(report, "%.3f", 1e3 * load->seconds);
        ics_report_cell(report, "%u", load->processors);
        ics_report_cell(report, "%.2f", 100.0 * load->mean);
        ics_report_cell(report, "%.2f", 100.0 * load->least);
        ics_report_cell(report, "%u", load->least_at);
        ics_report_cell(report, "%.2f", 100.0 * load->most);
        ics_report_cell(report, "%u", load->most_at);
    }
    const int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    return status;
}

static int print_parts(const loaded *found, bool markdown, FILE *out, icestream_error *error)
{
    char texts[2 * MOST][HEADING];
    const char *headings[1 + 2 * MOST] = {"until %"};
    for (size_t i = 0; i < found->count; ++i) {
        snprintf(texts[2 * i], HEADING, "%s busy %%", found->rows[i]->name);
        snprintf(texts[2 * i + 1], HEADING, "%s blocks %%", found->rows[i]->name);
        headings[1 + 2 * i] = texts[2 * i];
        headings[2 + 2 * i] = texts[2 * i + 1];
    }
    ics_report *report = ics_report_create(headings, 1 + 2 * found->count);
    for (int part = 0; part < ICS_LOAD_INTERVALS; ++part) {
        ics_report_cell(report, "%d", (part + 1) * 100 / ICS_LOAD_INTERVALS);
        for (size_t i = 0; i < found->count; ++i) {
            ics_report_cell(report, "%.2f", 100.0 * found->rows[i]->load.busy[part]);
            ics_report_number(report, 100.0 * found->rows[i]->load.blocks[part], 2);
        }
    }
    const int status = ics_report_print(report, markdown, 0, out, error);
    ics_report_destroy(report);
    return status;
}

static int print_loads(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                       icestream_error *error)
{
    loaded found = {.count = 0};
    for (size_t i = 0; i < count && found.count < MOST; ++i) {
        if (rows[i]->load.launches > 0) {
            found.rows[found.count++] = rows[i];
        }
    }
    if (found.count == 0) {
        return ICESTREAM_OK;
    }
    fputs("\nMultiprocessors (SM) in the run of the stages: the time of launches, the share of it "
          "in which an\nSM has a block, and the least and the most loaded SM.\n\n",
          out);
    int status = print_processors(&found, markdown, out, error);
    if (status == ICESTREAM_OK) {
        fputs("\nIn each twentieth of a launch: the share of the SMs that have a block, and of the "
              "blocks that run.\nOf wavefront and fused, which have many launches: in each "
              "twentieth of the run, while launches run.\n\n",
              out);
        status = print_parts(&found, markdown, out, error);
    }
    return status;
}

/* ---- times of waves -------------------------------------------------------------------------- */

/* The share of the waves at whose end photons waited for a free slot. */
static double waiting_share(const ics_wave_times *times)
{
    return (double)times->waits[ICS_WAIT_SLOT].waves / (double)times->waves;
}

static int print_waves(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                       icestream_error *error)
{
    static const char *const headings[] = {"schedule",  "waves",      "mean us",
                                           "median us", "longest us", "waiting %"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    bool found = false;
    for (size_t i = 0; i < count; ++i) {
        const ics_wave_times *times = &rows[i]->wave_times;
        if (times->waves == 0) {
            continue;
        }
        found = true;
        ics_report_cell(report, "%s", rows[i]->name);
        ics_report_cell(report, "%" PRIu64, times->waves);
        ics_report_cell(report, "%.2f", 1e6 * times->seconds / (double)times->waves);
        ics_report_cell(report, "%.2f", 1e6 * ics_wave_times_median(times));
        ics_report_cell(report, "%.2f", 1e6 * times->longest);
        ics_report_cell(report, "%.2f", 100.0 * waiting_share(times));
    }
    int status = ICESTREAM_OK;
    if (found) {
        fputs("\nWaves in the run of the stages, whose kernels follow each other: how long they "
              "took, and the share\nof them at whose end photons waited for a free slot.\n\n",
              out);
        status = ics_report_print(report, markdown, 0, out, error);
    }
    ics_report_destroy(report);
    return status;
}

/* ---- photons that waited --------------------------------------------------------------------- */

/* What photons wait for, by ics_wait: in tables, and as keys of JSON. */
static const char *const wait_names[ICS_WAITS] = {"free slot", "hit buffer"};
static const char *const wait_keys[ICS_WAITS] = {"waiting_for_slot", "waiting_for_hits"};

static int print_waits(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                       icestream_error *error)
{
    static const char *const headings[] = {"schedule", "waiting for", "waves",
                                           "mean",     "median",      "largest"};
    ics_report *report = ics_report_create(headings, sizeof headings / sizeof *headings);
    bool found = false;
    for (size_t i = 0; i < count; ++i) {
        for (int wait = 0; wait < ICS_WAITS && rows[i]->wave_times.waves > 0; ++wait) {
            const ics_wave_waits *waits = &rows[i]->wave_times.waits[wait];
            found = true;
            ics_report_cell(report, "%s", rows[i]->name);
            ics_report_cell(report, "%s", wait_names[wait]);
            ics_report_cell(report, "%" PRIu64, waits->waves);
            ics_report_number(report, ics_wave_waits_mean(waits), 1);
            ics_report_number(report, ics_wave_waits_median(waits), 1);
            ics_report_number(report, (double)waits->most, 0);
        }
    }
    int status = ICESTREAM_OK;
    if (found) {
        fputs("\nPhotons that waited in these waves, for a free slot at the end of the wave or for "
              "room in the hit\nbuffer: the waves with such photons, and the number of photons in "
              "one of these waves.\n\n",
              out);
        status = ics_report_print(report, markdown, 0, out, error);
    }
    ics_report_destroy(report);
    return status;
}

int ics_load_print(const ics_row *const *rows, size_t count, bool markdown, FILE *out,
                   icestream_error *error)
{
    ICS_TRY(print_loads(rows, count, markdown, out, error));
    ICS_TRY(print_waves(rows, count, markdown, out, error));
    return print_waits(rows, count, markdown, out, error);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *list_of(const double *parts)
{
    json_t *list = json_array();
    for (int i = 0; i < ICS_LOAD_INTERVALS; ++i) {
        json_array_append_new(list, json_real(parts[i]));
    }
    return list;
}

json_t *ics_load_json(const ics_load *load)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:I, s:f, s:I, s:s, s:o, s:o}", "count",
                     (json_int_t)load->processors, "launches", (json_int_t)load->launches,
                     "seconds", load->seconds, "busy_mean", load->mean, "busy_least", load->least,
                     "least_number", (json_int_t)load->least_at, "busy_most", load->most,
                     "most_number", (json_int_t)load->most_at, "parts_of",
                     load->of_run ? "run" : "launch", "busy_in_parts", list_of(load->busy),
                     "blocks_in_parts", load->of_run ? json_null() : list_of(load->blocks));
}

/* The bins of a histogram from `*first` to in front of `*end`: from the first one with a wave to
 * the last one, at least one. */
static void range_of(const uint64_t *counts, uint32_t bins, uint32_t *first, uint32_t *end)
{
    *first = 0;
    *end = bins;
    while (*first + 1 < *end && counts[*first] == 0) {
        ++*first;
    }
    while (*first + 1 < *end && counts[*end - 1] == 0) {
        --*end;
    }
}

/* The waves by their time. */
static json_t *histogram_of_times(const ics_wave_times *times)
{
    uint32_t first, end;
    range_of(times->spans, ICS_WAVE_SPANS, &first, &end);
    json_t *edges = json_array(), *counts = json_array();
    for (uint32_t span = first; span < end; ++span) {
        json_array_append_new(edges, json_real(ics_wave_times_edge(times, span)));
        json_array_append_new(counts, json_integer((json_int_t)times->spans[span]));
    }
    json_array_append_new(edges, json_real(ics_wave_times_edge(times, end)));
    return json_pack("{s:o, s:o}", "edges", edges, "counts", counts);
}

/* The waves by the photons that waited. */
static json_t *histogram_of_waits(const ics_wave_waits *waits)
{
    uint32_t first, end;
    range_of(waits->bins, ICS_WAIT_BINS, &first, &end);
    json_t *edges = json_array(), *counts = json_array();
    for (uint32_t bin = first; bin < end; ++bin) {
        json_array_append_new(edges, json_integer((json_int_t)ics_wave_waits_edge(waits, bin)));
        json_array_append_new(counts, json_integer((json_int_t)waits->bins[bin]));
    }
    json_array_append_new(edges, json_integer((json_int_t)ics_wave_waits_edge(waits, end)));
    return json_pack("{s:o, s:o}", "edges", edges, "counts", counts);
}

json_t *ics_load_waves_json(const ics_wave_times *times)
{
    json_t *object =
        json_pack("{s:I, s:f, s:f, s:f, s:f, s:o}", "waves", (json_int_t)times->waves, "mean",
                  times->seconds / (double)times->waves, "median", ics_wave_times_median(times),
                  "longest", times->longest, "waiting_share", waiting_share(times), "histogram",
                  histogram_of_times(times));
    for (int wait = 0; wait < ICS_WAITS; ++wait) {
        const ics_wave_waits *waits = &times->waits[wait];
        json_object_set_new(
            object, wait_keys[wait],
            json_pack("{s:I, s:o, s:o, s:I, s:o}", "waves", (json_int_t)waits->waves, "mean",
                      ics_report_json_number(ics_wave_waits_mean(waits)), "median",
                      ics_report_json_number(ics_wave_waits_median(waits)), "largest",
                      (json_int_t)waits->most, "histogram", histogram_of_waits(waits)));
    }
    return object;
}
