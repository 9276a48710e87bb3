#include "pipeline/photons/models/light/acceptance_table.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "physics/model.h"
#include "pipeline/photons/models/light/light.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOWEST_WAVELENGTH  100.0  /* nm, of any table */
#define HIGHEST_WAVELENGTH 2000.0 /* nm */

enum { ROWS_MAX = 100000, COLUMNS_MAX = 16 };

static const char expected[] = "2: wavelength (nm) and acceptance";

typedef struct point {
    double x, y;
    size_t line;
} point;

typedef struct acceptance_reader {
    ics_text_reader text;
    ics_text_table rows;
    size_t wavelength, value; /* columns */
    double unit;              /* unit of the values: 1, or 0.01 for percent */
    bool has_names;
} acceptance_reader;

/* ---- the standard module ----------------------------------------------------------------------
 */

enum { STANDARD_LOW = 280, STANDARD_HIGH = 680 }; /* nm */

double ics_light_standard_acceptance(double wavelength)
{
    if (wavelength < STANDARD_LOW || wavelength > STANDARD_HIGH) {
        return 0;
    }
    return 0.1342 / (1 + exp(-(wavelength - 351) / 13.1)) / (1 + exp((wavelength - 632) / 14.25)) *
           (0.0916 + 0.9084 / (1 + exp((wavelength - 519) / 32.8)));
}

int ics_light_standard_curve(ics_curve *out, icestream_error *error)
{
    for (int x = STANDARD_LOW; x <= STANDARD_HIGH; ++x) {
        ICS_TRY(ics_curve_add(out, x, ics_light_standard_acceptance(x), error));
    }
    return ICESTREAM_OK;
}

/* ---- the first line -------------------------------------------------------------------------- */

/* Whether a field contains a word, in any case. */
static bool has_word(const ics_text_field *field, const char *word)
{
    const size_t length = strlen(word);
    for (size_t i = 0; i + length <= field->length; ++i) {
        if (strncasecmp(field->start + i, word, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_one_of(const ics_text_field *field, const char *const *words)
{
    for (; *words != NULL; ++words) {
        if (has_word(field, *words)) {
            return true;
        }
    }
    return false;
}

/* Whether a column only counts rows, as pandas writes it. */
static bool is_index(const ics_text_field *field)
{
    static const char *const words[] = {"index", "unnamed", NULL};
    return field->length == 0 || has_one_of(field, words);
}

/* Finds the columns by their names. Returns false after a fault. */
static bool read_names(acceptance_reader *reader, const ics_text_line *line)
{
    static const char *const wavelengths[] = {"wavelen", "wlen", "wl", "lambda", NULL};
    static const char *const errors[] = {"err", "sigma", "uncert", NULL};
    static const char *const values[] = {"acc", "qe", "eff", "pde", "prob", "value", NULL};
    static const char *const percents[] = {"percent", "%", NULL};
    size_t found_wavelengths = 0, found_values = 0;
    const ics_text_field *other = NULL;
    for (size_t i = 0; i < line->count && i < COLUMNS_MAX; ++i) {
        const ics_text_field *field = &line->fields[i];
        if (has_one_of(field, errors)) {
            continue;
        }
        if (has_one_of(field, wavelengths)) {
            reader->wavelength = i;
            ++found_wavelengths;
        } else if (has_one_of(field, values)) {
            reader->value = i;
            reader->unit = has_one_of(field, percents) ? 0.01 : 1;
            ++found_values;
        } else if (!is_index(field)) {
            other = field;
        }
    }
    reader->has_names = true;
    if (found_wavelengths == 1 && found_values == 1 && other == NULL) {
        return true;
    }
    if (found_wavelengths == 1 && found_values == 1) {
        char shown[48];
        ics_text_fault(&reader->text, line->number, other->column,
                       "found column %s, expected columns of wavelengths, of acceptances and of "
                       "errors alone; multiply the acceptance by other factors",
                       ics_text_field_show(other, shown));
        return false;
    }
    ics_text_fault(&reader->text, line->number, 0,
                   "found %zu columns of wavelengths and %zu of acceptances by their names, "
                   "expected one of each, for example wavelength_nm,acceptance or "
                   "wavelength_nm,qe_percent",
                   found_wavelengths, found_values);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The separator is that of the first line. */
static char separator_of(const ics_text *text)
{
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, NULL);
    ics_text_line line;
    return ics_text_next(&reader, &line) && line.count > 1 ? ICS_TEXT_CSV : ' ';
}

static int read_rows(acceptance_reader *reader)
{
    ics_text_line line;
    double number, values[COLUMNS_MAX];
    while (ics_text_next(&reader->text, &line)) {
        bool good = true;
        if (reader->rows.columns == 0 && !reader->has_names &&
            !ics_text_field_number(&line.fields[0], &number)) {
            if (!read_names(reader, &line)) {
                return ICESTREAM_E_CONFIG;
            }
            reader->rows.columns = line.count < COLUMNS_MAX ? line.count : COLUMNS_MAX;
            continue;
        }
        if (reader->rows.columns == 0) { /* a third column is the error of the second */
            reader->rows.columns = line.count == 3 ? 3 : 2;
        }
        if (line.count != reader->rows.columns && reader->rows.columns != 2) {
            return ics_text_fault(&reader->text, line.number, 0,
                                  "found %zu columns, expected %zu, as in the first line",
                                  line.count, reader->rows.columns);
        }
        if (line.count != reader->rows.columns || line.count < 2) {
            return ics_text_fault(&reader->text, line.number, 0, "found %zu columns, expected %s",
                                  line.count, expected);
        }
        if (reader->rows.rows == ROWS_MAX) {
            return ics_text_fault(&reader->text, line.number, 0,
                                  "found more rows, expected at most %d", ROWS_MAX);
        }
        for (size_t i = 0; i < line.count; ++i) {
            values[i] = 0;
            if (!reader->has_names || i == reader->wavelength || i == reader->value) {
                char what[32];
                snprintf(what, sizeof what, "column %zu", i + 1);
                good &= ics_text_number(&reader->text, &line, i, what, &values[i]);
            }
        }
        if (good) {
            ICS_TRY(ics_text_table_add(&reader->text, &reader->rows, values, line.number));
        }
    }
    if (reader->text.faults == 0 && reader->rows.rows < 2) {
        ics_text_fault(&reader->text, 0, 0,
                       "found %s, expected at least two rows of wavelength (nm) and acceptance",
                       reader->rows.rows == 0 ? "no rows of numbers" : "one row");
    }
    return ics_text_status(&reader->text);
}

/* ---- which form ------------------------------------------------------------------------------ */

static double cell(const acceptance_reader *reader, size_t row, size_t column)
{
    return ics_text_table_row(&reader->rows, row)[column];
}

static bool is_wavelength(double value)
{
    return value >= LOWEST_WAVELENGTH && value <= HIGHEST_WAVELENGTH;
}

static bool is_wavelengths(const acceptance_reader *reader, size_t column)
{
    for (size_t i = 0; i < reader->rows.rows; ++i) {
        if (!is_wavelength(cell(reader, i, column))) {
            return false;
        }
    }
    return true;
}

/* Whether a column begins with 0 and ends with 1, as the shares of ppc do. */
static bool is_complete_share(const acceptance_reader *reader, size_t column)
{
    const double tolerance = 1e-6;
    return fabs(cell(reader, 0, column)) <= tolerance &&
           fabs(cell(reader, reader->rows.rows - 1, column) - 1) <= tolerance;
}

/* The same, or a column that rises to more than a quantum efficiency: a share with a fault, which
 * the reader of shares names. */
static bool is_share(const acceptance_reader *reader, size_t column)
{
    const size_t last = reader->rows.rows - 1;
    bool rises = cell(reader, last, column) > 0.5;
    for (size_t i = 1; i <= last; ++i) {
        rises &= cell(reader, i, column) >= cell(reader, i - 1, column);
    }
    return rises || is_complete_share(reader, column);
}

/* Finds out whether the columns are wavelength and acceptance, or share and wavelength. */
static int find_form(acceptance_reader *reader, bool *is_cumulative)
{
    const bool right = is_wavelengths(reader, reader->wavelength);
    const bool swapped = is_wavelengths(reader, reader->value);
    if (right && !swapped) {
        if (!reader->has_names && is_complete_share(reader, reader->value)) {
            return ics_text_fault(&reader->text, reader->rows.lines[0], 0,
                                  "found wavelengths before shares from 0 to 1, as of ppc's wv.dat "
                                  "with its columns swapped; expected a share and its wavelength "
                                  "(nm), or wavelength (nm) and acceptance");
        }
        return ICESTREAM_OK;
    }
    if (swapped && !right && !reader->has_names && is_share(reader, reader->wavelength)) {
        *is_cumulative = true;
        return ICESTREAM_OK;
    }
    if (swapped && !right) {
        return ics_text_fault(&reader->text, reader->rows.lines[0], 0,
                              "found %.6g in the column of wavelengths and %.6g in that of the "
                              "acceptance: the columns are swapped; expected wavelength (nm) and "
                              "acceptance (or ppc's cumulative share, from 0 to 1, and wavelength)",
                              cell(reader, 0, reader->wavelength), cell(reader, 0, reader->value));
    }
    for (size_t i = 0; i < reader->rows.rows; ++i) {
        const double value = cell(reader, i, reader->wavelength);
        if (!is_wavelength(value)) {
            return ics_text_fault(&reader->text, reader->rows.lines[i], 0,
                                  "wavelength: found %.10g, expected %g .. %g nm%s", value,
                                  LOWEST_WAVELENGTH, HIGHEST_WAVELENGTH,
                                  value > 0.1 && value < 2 ? "; is it in micrometres?" : "");
        }
    }
    return ics_text_fault(&reader->text, reader->rows.lines[0], 0,
                          "acceptance: found %.10g, expected 0 .. 1",
                          cell(reader, 0, reader->value));
}

/* ---- the curve ------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const point *left = a, *right = b;
    return left->x != right->x ? (left->x > right->x) - (left->x < right->x)
                               : (left->line > right->line) - (left->line < right->line);
}

/* Makes points of the rows, in the order of their wavelengths. */
static int take_points(acceptance_reader *reader, point *points)
{
    const size_t count = reader->rows.rows;
    for (size_t i = 0; i < count; ++i) {
        const double value = cell(reader, i, reader->value) * reader->unit;
        if (!(value >= 0 && value <= 1)) {
            return ics_text_fault(
                &reader->text, reader->rows.lines[i], 0,
                "acceptance: found %.10g, expected 0 .. %g%s", value / reader->unit,
                1 / reader->unit,
                value > 1 && value <= 100 && reader->unit == 1
                    ? ", a share; if it is in percent, name the columns in the first line, as "
                      "wavelength_nm,qe_percent"
                    : "");
        }
        points[i] = (point){cell(reader, i, reader->wavelength), value, reader->rows.lines[i]};
    }
    qsort(points, count, sizeof *points, compare_points);
    for (size_t i = 1; i < count; ++i) {
        if (points[i].x == points[i - 1].x) {
            ics_text_fault(&reader->text, points[i].line, 0,
                           "wavelength: found %.10g again (first on line %zu), expected it once",
                           points[i].x, points[i - 1].line);
        }
    }
    return ics_text_status(&reader->text);
}

/* Samples the points at whole nanometres. Only the ends may be 0, because light with an acceptance
 * of 0 would have an infinite weight. */
static int sample(acceptance_reader *reader, const point *points, ics_curve *out)
{
    const size_t count = reader->rows.rows;
    const double low = fmax(ceil(points[0].x), ICE_WAVELENGTH_MIN);
    const double high = fmin(floor(points[count - 1].x), ICE_WAVELENGTH_MAX);
    size_t next = 1;
    double hole = 0;
    for (double x = low; x <= high; x += 1) {
        while (next + 1 < count && points[next].x < x) {
            ++next;
        }
        const point *a = &points[next - 1], *b = &points[next];
        const double y = a->y + (b->y - a->y) * (x - a->x) / (b->x - a->x);
        if (!(y > 0)) {
            hole = out->count > 0 && hole == 0 ? x : hole;
            continue;
        }
        if (hole > 0) {
            return ics_text_fault(&reader->text, 0, 0,
                                  "acceptance: found 0 at %g nm between values above 0, expected "
                                  "zeros only at the ends",
                                  hole);
        }
        ICS_TRY(ics_curve_add(out, x, y, reader->text.error));
    }
    return out->count >= 2 ? ICESTREAM_OK
                           : ics_text_fault(&reader->text, 0, 0,
                                            "acceptance: found less than 2 nm above 0 from %g to "
                                            "%g nm, expected a wider band",
                                            ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
}

/* Reads the rows, and makes the curve unless they are of the other form. */
static int read_curve(acceptance_reader *reader, bool *is_cumulative, ics_curve *out)
{
    ICS_TRY(read_rows(reader));
    ICS_TRY(find_form(reader, is_cumulative));
    if (*is_cumulative) {
        return ICESTREAM_OK;
    }
    ICS_FREES point *points = calloc(reader->rows.rows, sizeof *points);
    if (points == NULL) {
        return ics_error_no_memory(reader->text.error, reader->text.name);
    }
    ICS_TRY(take_points(reader, points));
    return sample(reader, points, out);
}

int ics_acceptance_table_read(const ics_text *text, bool *is_cumulative, ics_curve *out,
                              icestream_error *error)
{
    acceptance_reader reader = {
        .text = ics_text_open(text, separator_of(text), error), .value = 1, .unit = 1};
    *is_cumulative = false;
    *out = (ics_curve){0};
    const int status = read_curve(&reader, is_cumulative, out);
    ics_text_table_free(&reader.rows);
    if (status != ICESTREAM_OK) {
        ics_curve_free(out);
    }
    return status;
}

/* ---- files of either form -------------------------------------------------------------------- */

/* The number of photons that the standard module detects per metre of bare track. It scales
 * acceptances that are known only up to a factor (the constant of the public code, physics.md 3.2).
 */
#define NOMINAL_YIELD 2450.08

/* Makes the acceptance from shares of detected Cherenkov light. The shares are divided by the
 * Cherenkov spectrum of ice, because such files were made for ice; the result is a property of the
 * modules and holds in every medium. Points without detected light are left out, because a photon
 * drawn at such a point would have an infinite weight. */
static int acceptance_of_shares(const ics_curve *shares, const char *place, ics_curve *out,
                                icestream_error *error)
{
    const double low = fmax(ceil(shares->x[0]), ICE_WAVELENGTH_MIN);
    const double high = fmin(floor(shares->x[shares->count - 1]), ICE_WAVELENGTH_MAX);
    for (double x = low; x <= high; x += 1) {
        const double share = ics_curve_at(shares, x);
        if (share > 0) {
            ICS_TRY(ics_curve_add(out, x, share, error));
        }
    }
    const double sum = ics_curve_integral(out);
    if (!(sum > 0)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: light.acceptance: found less than 2 nm of light, expected "
                             "a wider band",
                             place);
    }
    ics_curve_scale(out, NOMINAL_YIELD / sum);
    for (size_t i = 0; i < out->count; ++i) {
        out->y[i] /= ics_light_frank_tamm(out->x[i], 1);
    }
    return ICESTREAM_OK;
}

int ics_acceptance_file_read(const char *path, const char *place, ics_curve *out,
                             icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_CLEANUP(ics_curve_free) ics_curve shares = {0};
    bool is_cumulative;
    ICS_TRY(ics_text_read(path, &text, error));
    ICS_TRY(ics_acceptance_table_read(&text, &is_cumulative, out, error));
    if (!is_cumulative) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_curve_read_cumulative(&text, &shares, error));
    return acceptance_of_shares(&shares, place, out, error);
}
