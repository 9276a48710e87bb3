#include "pipeline/photons/models/types/transit_times.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/types/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIME, DENSITY, COUNTS, COLUMNS };
enum { ROWS_MAX = 100000 };
static const char expected_columns[] = "time,density or time,counts";

/* Returns whether a text begins with a number, and so without the names of its columns. */
static bool has_no_names(const ics_text *text)
{
    ics_text_reader reader = ics_text_open(text, ' ', NULL);
    ics_text_line line;
    double number;
    return ics_text_next(&reader, &line) && line.count == 2 &&
           ics_text_field_number(&line.fields[0], &number);
}

#define TIME_MAX  1e6 /* ns */
#define VALUE_MAX 1e30
#define VALUE_MIN 1e-30 /* of the largest value, so that no area vanishes by rounding */

/* ---- the rows of a file ---------------------------------------------------------------------- */

/* Checks that the rows have one of both columns, times that ascend, and no value below 0. */
static void check_rows(ics_text_reader *reader, const ics_text_table *table, int column)
{
    /* A list without names may have a time twice: the density jumps there. */
    const bool is_plain = table->columns < COLUMNS;
    const char *name = column == COUNTS ? "counts" : "density";
    double largest = 0, before = -INFINITY;
    for (size_t i = 0; i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        if (!(fabs(row[TIME]) <= TIME_MAX)) {
            ics_text_fault(reader, table->lines[i], 0, "time: found %.10g, expected %g .. %g ns",
                           row[TIME], -TIME_MAX, TIME_MAX);
        } else if (!(row[TIME] > before || (is_plain && row[TIME] == before))) {
            ics_text_fault(reader, table->lines[i], 0,
                           "time: found %.10g after %.10g, expected ascending times", row[TIME],
                           before);
        }
        if (!(row[column] >= 0 && row[column] <= VALUE_MAX)) {
            ics_text_fault(reader, table->lines[i], 0, "%s: found %.10g, expected 0 .. %g", name,
                           row[column], VALUE_MAX);
        }
        largest = fmax(largest, row[column]);
        before = row[TIME];
    }
    if (reader->faults > 0) {
        return;
    }
    const double *last = ics_text_table_row(table, table->rows - 1);
    if (table->rows < 2) {
        ics_text_fault(reader, 0, 0, "found one row, expected at least two");
    } else if (!(largest >= VALUE_MIN)) {
        ics_text_fault(reader, 0, 0,
                       "%s: found at most %g in all rows, expected at least %g in some", name,
                       largest, VALUE_MIN);
    } else if (column == COUNTS && last[COUNTS] > 0) {
        ics_text_fault(reader, table->lines[table->rows - 1], 0,
                       "counts: found %.10g in the last row, which only ends the bin before, "
                       "expected 0",
                       last[COUNTS]);
    }
}

static void make_ranges(const ics_text_table *table, int column, ice_transit *out)
{
    for (size_t i = 0; i + 1 < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i), *next = ics_text_table_row(table, i + 1);
        const double width = next[TIME] - row[TIME];
        ice_transit_range range = {
            .from = row[TIME], .to = next[TIME], .low = row[column], .high = next[column]};
        if (column == COUNTS) {
            range.low = range.high = row[COUNTS] / width;
        }
        if (width > 0) {
            out->ranges[out->count++] = range;
        }
    }
}

static int read_table(const ics_text *text, const ics_text_table *table, ice_transit *out,
                      icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ',', error);
    const double *first = ics_text_table_row(table, 0);
    const bool is_named = table->columns == COLUMNS;
    const int column = is_named && isnan(first[DENSITY]) ? COUNTS : DENSITY;
    if (is_named && isnan(first[DENSITY]) == isnan(first[COUNTS])) {
        return ics_text_fault(&reader, 0, 0, "found %s columns density and counts, expected one",
                              isnan(first[COUNTS]) ? "none of the" : "both");
    }
    check_rows(&reader, table, column);
    if (reader.faults > 0) {
        return ICESTREAM_E_CONFIG;
    }
    out->ranges = calloc(table->rows, sizeof *out->ranges);
    if (out->ranges == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    make_ranges(table, column, out);
    double area = 0;
    for (size_t i = 0; i < out->count; ++i) {
        area += ics_transit_area(&out->ranges[i]);
    }
    if (!(area > 0)) { /* all of it is at one time */
        ics_transit_times_free(out);
        return ics_text_fault(&reader, 0, 0,
                              "found no time between the rows above 0, expected some");
    }
    return ICESTREAM_OK;
}

int ics_transit_times_read_csv(const ics_text *text, ice_transit *out, icestream_error *error)
{
    const ics_csv_column columns[COLUMNS] = {{.name = "time", .index = TIME, .required = true},
                                             {.name = "density", .index = DENSITY, .missing = NAN},
                                             {.name = "counts", .index = COUNTS, .missing = NAN}};
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    *out = (ice_transit){0};
    if (has_no_names(text)) {
        ICS_TRY(ics_text_table_read(text, 2, 2, ROWS_MAX, "time and density", &table, error));
    } else {
        ICS_TRY(
            ics_text_csv_read(text, columns, COLUMNS, ROWS_MAX, expected_columns, &table, error));
    }
    return read_table(text, &table, out, error);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

int ics_transit_times_read(const ics_yaml_node *node, ice_transit *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    *out = (ice_transit){0};
    ICS_TRY(ics_type_file_read(node, "transit_times", &text, error));
    return ics_transit_times_read_csv(&text, out, error);
}

int ics_transit_times_add(const ics_yaml_node *node, ice_module_type *type, ice_pmt *pmt,
                          icestream_error *error)
{
    ice_transit *all =
        realloc(type->own_transits, (type->own_transit_count + 1) * sizeof *type->own_transits);
    if (all == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    type->own_transits = all;
    if (pmt->spread > 0) {
        return ics_yaml_error(
            error, node, "transit_times: found a spread of %.10g ns, too, expected one of both",
            pmt->spread);
    }
    ICS_TRY(ics_transit_times_read(node, &all[type->own_transit_count], error));
    pmt->transit = ++type->own_transit_count;
    return ICESTREAM_OK;
}

int ics_transit_times_check(const ics_yaml_node *node, const ice_module_type *type,
                            icestream_error *error)
{
    for (size_t k = 0; k < type->pmt_count; ++k) {
        if (type->pmts[k].spread > 0) {
            return ics_yaml_error(error, node,
                                  "transit_times: found PMT %zu with a spread of %.10g ns, too, "
                                  "expected one of both",
                                  k, type->pmts[k].spread);
        }
    }
    return ICESTREAM_OK;
}

/* ---- memory ---------------------------------------------------------------------------------- */

int ics_transit_times_copy(const ice_transit *from, ice_transit *out, icestream_error *error)
{
    *out =
        (ice_transit){.ranges = calloc(from->count + 1, sizeof *out->ranges), .count = from->count};
    if (out->ranges == NULL) {
        out->count = 0;
        return ics_error_no_memory(error, "detector");
    }
    if (from->count > 0) {
        memcpy(out->ranges, from->ranges, from->count * sizeof *out->ranges);
    }
    return ICESTREAM_OK;
}

void ics_transit_times_free(ice_transit *transit)
{
    free(transit->ranges);
    *transit = (ice_transit){0};
}

double ics_transit_times_mean(const ice_transit *transit)
{
    double sum = 0, moments = 0;
    for (size_t i = 0; i < transit->count; ++i) {
        const ice_transit_range *range = &transit->ranges[i];
        const double width = range->to - range->from, area = ics_transit_area(range);
        sum += area;
        /* The centre of a trapezium. */
        moments += area * range->from + width * width * (range->low / 6 + range->high / 3);
    }
    return moments / sum;
}
