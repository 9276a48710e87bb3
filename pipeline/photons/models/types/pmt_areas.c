#include "pipeline/photons/models/types/pmt_areas.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/types/area.h"
#include "pipeline/photons/models/types/members.h"
#include "pipeline/photons/models/types/pmt_healpix.h"

#include <stdlib.h>
#include <string.h>

/* Angles that differ by no more than this are the same (rad). */
#define SAME_ANGLE 1e-4
/* The widest gaps between neighbours (degrees). */
#define RING_GAP    30.0
#define AZIMUTH_GAP 90.0
#define AREA_LEAST  1e-12 /* m2; at least one area must be above this */
#define DEGREE      (M_PI / 180)

enum {
    PMT = ICS_PMT_AREA_PMT,
    ZENITH = ICS_PMT_AREA_ZENITH,
    AZIMUTH = ICS_PMT_AREA_AZIMUTH,
    X = ICS_PMT_AREA_X,
    Y = ICS_PMT_AREA_Y,
    Z = ICS_PMT_AREA_Z,
    AREA = ICS_PMT_AREA_AREA
};

/* A row of the file. Rows are sorted by group and key, then by line. At first all are one group;
 * then the groups are rings, and then directions. */
typedef struct area_row {
    double zenith, azimuth; /* rad */
    double area;            /* m2 */
    double turned;          /* m2, what the module turns to the light; of the first row of a
                               direction */
    double key;
    size_t group, line, pmt;
} area_row;

void ics_pmt_areas_free(ice_pmt_areas *areas)
{
    free(areas->zeniths);
    free(areas->firsts);
    free(areas->azimuths);
    free(areas->areas);
    free(areas->turned);
    *areas = (ice_pmt_areas){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Checks which columns give the direction. A column that the file lacks is NAN in every row. */
static int check_columns(ics_text_reader *reader, const double *first)
{
    const int angles = !isnan(first[ZENITH]) + !isnan(first[AZIMUTH]);
    const int numbers = !isnan(first[X]) + !isnan(first[Y]) + !isnan(first[Z]);
    if ((angles == 2 && numbers == 0) || (angles == 0 && numbers == 3)) {
        return ICESTREAM_OK;
    }
    return ics_text_fault(reader, 0, 0,
                          "found %d of the columns zenith and azimuth and %d of x, y and z, "
                          "expected the two angles, or the three numbers of a unit vector",
                          angles, numbers);
}

/* Checks the numbers of a row. Returns ICESTREAM_OK, or reports a fault. */
static int check_row(ics_text_reader *reader, const double *n, size_t line, size_t pmt_count)
{
    const double length = sqrt(n[X] * n[X] + n[Y] * n[Y] + n[Z] * n[Z]);
    if (!(n[PMT] >= 0 && n[PMT] < (double)pmt_count && n[PMT] == floor(n[PMT]))) {
        return ics_text_fault(reader, line, 0,
                              "pmt: found %.10g, expected a whole number from 0 to %zu, one of the "
                              "PMTs of the type",
                              n[PMT], pmt_count - 1);
    }
    if (!(n[AREA] >= 0 && n[AREA] <= ICS_PMT_AREA_MAX)) {
        return ics_text_fault(reader, line, 0, "area: found %.10g, expected 0 .. %g m2", n[AREA],
                              ICS_PMT_AREA_MAX);
    }
    if (!isnan(n[X])) {
        return fabs(length - 1) <= 0.01
                   ? ICESTREAM_OK
                   : ics_text_fault(reader, line, 0,
                                    "found a direction of length %.6g, expected a unit vector",
                                    length);
    }
    if (!(n[ZENITH] >= 0 && n[ZENITH] <= 180 && n[AZIMUTH] >= -360 && n[AZIMUTH] <= 360)) {
        return ics_text_fault(reader, line, 0,
                              "found zenith %.10g, azimuth %.10g, expected 0 .. 180 and -360 .. "
                              "360 degrees",
                              n[ZENITH], n[AZIMUTH]);
    }
    return ICESTREAM_OK;
}

/* Makes a row of good numbers. */
static area_row row_of(const double *n, size_t line)
{
    area_row row = {.zenith = n[ZENITH] * DEGREE,
                    .azimuth = n[AZIMUTH] * DEGREE,
                    .area = n[AREA],
                    .line = line,
                    .pmt = (size_t)n[PMT]};
    if (!isnan(n[X])) {
        row.zenith = atan2(hypot(n[X], n[Y]), n[Z]);
        row.azimuth = atan2(n[Y], n[X]);
    }
    row.azimuth -= 2 * M_PI * floor(row.azimuth / (2 * M_PI));
    if (row.azimuth > 2 * M_PI - SAME_ANGLE) {
        row.azimuth = 0;
    }
    if (row.zenith < SAME_ANGLE || row.zenith > M_PI - SAME_ANGLE) { /* one direction each */
        row.zenith = row.zenith < 1 ? 0 : M_PI;
        row.azimuth = 0;
    }
    row.key = row.zenith;
    return row;
}

static int compare_rows(const void *a, const void *b)
{
    const area_row *left = a, *right = b;
    if (left->group != right->group) {
        return left->group < right->group ? -1 : 1;
    }
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return (left->line > right->line) - (left->line < right->line);
}

/* Sorts the rows, makes a group of all rows of a group whose keys agree, and returns the number of
 * groups. */
static size_t group_rows(area_row *rows, size_t count)
{
    size_t groups = 0, old = 0;
    double first = 0;
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; ++i) {
        if (i == 0 || rows[i].group != old || rows[i].key - first > SAME_ANGLE) {
            ++groups;
            old = rows[i].group;
            first = rows[i].key;
        }
        rows[i].group = groups - 1;
    }
    return groups;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks the sorted rows of one direction: a row for each PMT, and not more area than there is. */
static void check_direction(ics_text_reader *reader, const ics_type_area *body, area_row *rows,
                            size_t count)
{
    const ice_module_type *type = body->type;
    area_row *first = &rows[0];
    const bool is_pole = first->zenith == 0 || first->zenith == M_PI;
    const double zenith = first->zenith / DEGREE, azimuth = first->azimuth / DEGREE;
    double sum = 0;
    size_t found = 0; /* PMTs */
    for (size_t i = 0; i < count; ++i) {
        const bool is_again = found > 0 && rows[i].pmt == found - 1;
        if (is_again && !is_pole) {
            ics_text_fault(reader, rows[i].line, 0,
                           "found PMT %zu at zenith %.6g, azimuth %.6g again, expected every "
                           "direction of a PMT once; 0 and 360 degrees of azimuth are the same",
                           rows[i].pmt, zenith, azimuth);
            return;
        }
        if (!is_again && rows[i].pmt != found) {
            break;
        }
        found += !is_again;
        sum += rows[i].area * (double)type->pmt_count / (double)count; /* at a pole: the mean */
    }
    first->turned = ics_type_area_at(body, first->zenith, first->azimuth);
    if (found < type->pmt_count) {
        ics_text_fault(reader, first->line, 0,
                       "found no row of PMT %zu at zenith %.6g, azimuth %.6g, expected a row for "
                       "each of the %zu PMTs of the type",
                       found, zenith, azimuth, type->pmt_count);
    } else if (sum > ICS_PMT_AREAS_MOST * first->turned) {
        ics_text_fault(reader, first->line, 0,
                       "area: found %.4g m2 as the sum of all PMTs at zenith %.6g, azimuth %.6g, "
                       "expected at most %.4g m2, %g times the area that the module turns to this "
                       "light",
                       sum, zenith, azimuth, ICS_PMT_AREAS_MOST * first->turned,
                       ICS_PMT_AREAS_MOST);
    }
}

/* Checks that a ring has no wide gap. */
static void check_ring(ics_text_reader *reader, const ice_pmt_areas *areas, size_t ring)
{
    const size_t first = areas->firsts[ring], last = areas->firsts[ring + 1] - 1;
    const double zenith = areas->zeniths[ring];
    if (zenith == 0 || zenith == M_PI) {
        return;
    }
    for (size_t i = first; i <= last; ++i) {
        const double from = areas->azimuths[i] / DEGREE;
        const double to =
            i < last ? areas->azimuths[i + 1] / DEGREE : areas->azimuths[first] / DEGREE + 360;
        if (to - from > AZIMUTH_GAP + SAME_ANGLE / DEGREE) {
            ics_text_fault(reader, 0, 0,
                           "zenith %.6g: found no direction between azimuth %.6g and %.6g, "
                           "expected steps of at most %g degrees, or one direction on every ring",
                           zenith / DEGREE, from, to, AZIMUTH_GAP);
            return;
        }
    }
}

static void check_gaps(ics_text_reader *reader, const ice_pmt_areas *areas)
{
    bool is_symmetric = true;
    double last = 0;
    for (size_t i = 0; i <= areas->ring_count; ++i) {
        const double zenith = i < areas->ring_count ? areas->zeniths[i] / DEGREE : 180;
        if (zenith - last > RING_GAP + SAME_ANGLE / DEGREE) {
            ics_text_fault(reader, 0, 0,
                           "found no direction between zenith %.6g and %.6g, expected steps of at "
                           "most %g degrees from 0 to 180",
                           last, zenith, RING_GAP);
        }
        last = zenith;
        is_symmetric &= i == areas->ring_count || areas->firsts[i + 1] - areas->firsts[i] == 1;
    }
    for (size_t i = 0; !is_symmetric && i < areas->ring_count; ++i) {
        check_ring(reader, areas, i);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Sets the arrays from rows that are sorted by direction and PMT. The arrays are zero. */
static void fill(const area_row *rows, size_t count, const size_t *rings, ice_module_type *type)
{
    ice_pmt_areas *out = &type->table;
    size_t ring = 0;
    for (size_t i = 0, same = 0; i < count; ++i) {
        const size_t direction = rows[i].group;
        const bool is_new = i == 0 || direction != rows[i - 1].group;
        double *area = &out->areas[direction * type->pmt_count + rows[i].pmt];
        if (is_new && (i == 0 || rings[direction] != rings[direction - 1])) {
            out->zeniths[ring] = rows[i].zenith;
            out->firsts[ring++] = direction;
        }
        if (is_new) {
            out->azimuths[direction] = rows[i].azimuth;
            out->turned[direction] = rows[i].turned;
        }
        same = is_new || rows[i].pmt != rows[i - 1].pmt ? 1 : same + 1;
        *area += (rows[i].area - *area) / (double)same; /* the mean of several rows */
    }
    out->firsts[ring] = out->direction_count;
    for (size_t i = 0; i < out->direction_count * type->pmt_count; ++i) {
        ice_pmt *pmt = &type->pmts[i % type->pmt_count];
        pmt->largest_area = fmax(pmt->largest_area, out->areas[i]);
    }
}

static int make_table(ics_text_reader *reader, const area_row *rows, size_t count,
                      const size_t *rings, ice_module_type *type)
{
    const size_t directions = rows[count - 1].group + 1, ring_count = rings[directions - 1] + 1;
    ice_pmt_areas *out = &type->table;
    double largest = 0;
    *out = (ice_pmt_areas){.zeniths = calloc(ring_count, sizeof(double)),
                           .firsts = calloc(ring_count + 1, sizeof(size_t)),
                           .azimuths = calloc(directions, sizeof(double)),
                           .areas = calloc(directions * type->pmt_count, sizeof(double)),
                           .turned = calloc(directions, sizeof(double)),
                           .ring_count = ring_count,
                           .direction_count = directions};
    if (out->zeniths == NULL || out->firsts == NULL || out->azimuths == NULL ||
        out->areas == NULL || out->turned == NULL) {
        return ics_error_no_memory(reader->error, reader->name);
    }
    fill(rows, count, rings, type);
    check_gaps(reader, out);
    for (size_t k = 0; k < type->pmt_count; ++k) {
        largest = fmax(largest, type->pmts[k].largest_area);
    }
    if (!(largest > AREA_LEAST)) {
        ics_text_fault(reader, 0, 0, "found no area above %g m2, expected those of the PMTs",
                       AREA_LEAST);
    }
    return ics_text_status(reader);
}

/* Checks the rows, which are sorted by direction and PMT. */
static int check_directions(ics_text_reader *reader, area_row *rows, size_t count,
                            const ice_module_type *type)
{
    ics_type_area body;
    ICS_TRY(ics_type_area_create(type, &body, reader->error));
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && rows[next].group == rows[i].group; ++next) {
        }
        check_direction(reader, &body, rows + i, next - i);
    }
    ics_type_area_free(&body);
    return ics_text_status(reader);
}

/* Groups the rows by ring and direction, checks them and makes the table. */
static int make_directions(ics_text_reader *reader, area_row *rows, size_t count,
                           ice_module_type *type)
{
    group_rows(rows, count);
    for (size_t i = 0; i < count; ++i) {
        rows[i].key = rows[i].azimuth;
    }
    ICS_FREES size_t *rings = calloc(count, sizeof *rings); /* of each direction */
    if (rings == NULL) {
        return ics_error_no_memory(reader->error, reader->name);
    }
    for (size_t i = 0; i < count; ++i) {
        rings[i] = rows[i].group;
    }
    group_rows(rows, count); /* which keeps the order of rings */
    for (size_t i = 0; i < count; ++i) {
        rings[rows[i].group] = rings[i];
        rows[i].key = (double)rows[i].pmt;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    ICS_TRY(check_directions(reader, rows, count, type));
    return make_table(reader, rows, count, rings, type);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_rows(ics_text_reader *reader, const ics_text_table *table, ice_module_type *type)
{
    ICS_TRY(check_columns(reader, ics_text_table_row(table, 0)));
    ICS_FREES area_row *rows = malloc(table->rows * sizeof *rows);
    if (rows == NULL) {
        return ics_error_no_memory(reader->error, reader->name);
    }
    for (size_t i = 0; i < table->rows; ++i) {
        const double *numbers = ics_text_table_row(table, i);
        if (check_row(reader, numbers, table->lines[i], type->pmt_count) == ICESTREAM_OK) {
            rows[i] = row_of(numbers, table->lines[i]);
        }
    }
    ICS_TRY(ics_text_status(reader));
    return make_directions(reader, rows, table->rows, type);
}

/* Makes the table of a type from rows. */
static int use_rows(const ics_text *text, const ics_text_table *rows, ice_module_type *type,
                    icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ',', error);
    const int status = read_rows(&reader, rows, type);
    if (status != ICESTREAM_OK) {
        ics_pmt_areas_free(&type->table);
    }
    return status;
}

int ics_pmt_areas_read_csv(const ics_text *text, ice_module_type *type, icestream_error *error)
{
    static const ics_csv_column columns[] = {
        {.name = "pmt", .index = PMT, .required = true},
        {.name = "zenith", .index = ZENITH, .missing = NAN},
        {.name = "azimuth", .index = AZIMUTH, .missing = NAN},
        {.name = "x", .index = X, .missing = NAN},
        {.name = "y", .index = Y, .missing = NAN},
        {.name = "z", .index = Z, .missing = NAN},
        {.name = "area", .index = AREA, .required = true},
    };
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_text_csv_read(text, columns, ICS_PMT_AREA_COLUMNS, ICS_PMT_AREA_ROWS,
                              "pmt,zenith,azimuth,area or pmt,x,y,z,area", &table, error));
    return use_rows(text, &table, type, error);
}

int ics_pmt_areas_read_npy(const ics_text *bytes, ice_module_type *type, icestream_error *error)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(ics_pmt_healpix_read(bytes, type->pmt_count, &table, error));
    return use_rows(bytes, &table, type, error);
}

int ics_pmt_areas_read_yaml(const ics_yaml_node *node, ice_module_type *type,
                            icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_FREES char *path = NULL;
    ICS_TRY(
        ics_type_file_path(node, "table", "the name of a file that is CSV or .npy", &path, error));
    if (type->pmt_count == 0) {
        return ics_yaml_error(error, node,
                              "table: found no pmts, expected the PMTs of the type, which the rows "
                              "of the table name by their numbers");
    }
    const size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) {
        ICS_TRY(ics_text_read_bytes(path, &text, error));
        return ics_pmt_areas_read_npy(&text, type, error);
    }
    ICS_TRY(ics_text_read(path, &text, error));
    return ics_pmt_areas_read_csv(&text, type, error);
}
