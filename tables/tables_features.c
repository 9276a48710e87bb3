/* Tables of ice beyond flat layers: optics by wavelength, anisotropy, birefringence, hole ice. */
#include "stages/birefringence.h"
#include "tables/tables_internal.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- optics by wavelength -------------------------------------------------------------------- */

_Static_assert(ICE_SPECTRAL_FIRST == (int)ICE_WAVELENGTH_MIN &&
                   ICE_SPECTRAL_FIRST + ICE_SPECTRAL_ROWS - 1 == (int)ICE_WAVELENGTH_MAX,
               "rows of optics span the band");

static int build_spectral(ics_table_builder *builder, const ice_medium *medium)
{
    if (medium->spectral == NULL) {
        return 0;
    }
    ice_spectral_row *rows =
        ics_tables_array(builder, &builder->tables->spectral, ICE_SPECTRAL_ROWS, sizeof *rows);
    if (rows == NULL) {
        return -1;
    }
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        const ice_spectral_optics *at = &medium->spectral[i];
        if (!(at->scattering > 0.0 && at->absorption > 0.0 && at->phase_index > 1.0 &&
              at->group_index > 1.0)) {
            snprintf(builder->why, builder->why_size,
                     "optics at %d nm: scattering %g 1/m, absorption %g 1/m, indices %g and %g: "
                     "expected coefficients above 0 and indices above 1",
                     ICE_SPECTRAL_FIRST + i, at->scattering, at->absorption, at->phase_index,
                     at->group_index);
            return -1;
        }
        rows[i].scattering = (float)at->scattering;
        rows[i].absorption = (float)at->absorption;
        rows[i].phase_index = (float)at->phase_index;
        rows[i].group_index = (float)at->group_index;
    }
    builder->tables->features |= ICE_HAS_SPECTRAL_OPTICS;
    return 0;
}

/* ---- anisotropy ------------------------------------------------------------------------------ */

/* diag(a, b, c) in the frame whose first axis is horizontal at the azimuth. */
static ice_stretching stretching(double azimuth, double a, double b, double c)
{
    const double cosine = cos(azimuth), sine = sin(azimuth);
    const ice_stretching result = {(float)(a * cosine * cosine + b * sine * sine),
                                   (float)((a - b) * cosine * sine),
                                   (float)(a * sine * sine + b * cosine * cosine), (float)c};
    return result;
}

/* a n1^2 + b n2^2 + c n3^2 in that frame, with what is known of unit vectors: n1^2 + n2^2 + n3^2 is
 * 1. */
static ice_form form(double a, double b, double c)
{
    const ice_form result = {(float)b, (float)(a - b), (float)(c - b)};
    return result;
}

/* Whether all layers have the same anisotropy. */
static bool is_even(const ice_medium *medium)
{
    const ice_layer *first = &medium->layers[0];
    bool even = true;
    for (size_t i = 1; i < medium->layer_count; ++i) {
        even &= medium->layers[i].anisotropy_along == first->anisotropy_along &&
                medium->layers[i].anisotropy_across == first->anisotropy_across;
    }
    return even;
}

static bool scatters_unevenly(const ice_medium *medium)
{
    bool on = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        on |=
            medium->layers[i].anisotropy_along != 0.0 || medium->layers[i].anisotropy_across != 0.0;
    }
    return on;
}

static int build_scattering_anisotropy(ics_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    if (!scatters_unevenly(medium)) {
        return 0;
    }
    ice_anisotropy_row *rows =
        ics_tables_array(builder, &tables->anisotropy, medium->layer_count, sizeof *rows);
    ice_absorption_row *absorption_rows = ics_tables_array(
        builder, &tables->absorption_rows, medium->layer_count, sizeof *absorption_rows);
    if (rows == NULL || absorption_rows == NULL) {
        return -1;
    }
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const double m1 = medium->layers[i].anisotropy_along;
        const double m2 = medium->layers[i].anisotropy_across, m3 = -m1 - m2;
        rows[i].to = stretching(medium->flow_azimuth, exp(m1), exp(m2), exp(m3));
        rows[i].back = stretching(medium->flow_azimuth, exp(-m1), exp(-m2), exp(-m3));
        const double trace = exp(-2 * m1) + exp(-2 * m2) + exp(-2 * m3);
        absorption_rows[i].narrow = form(0.5 * (trace - exp(-2 * m1)), 0.5 * (trace - exp(-2 * m2)),
                                         0.5 * (trace - exp(-2 * m3)));
        absorption_rows[i].wide = form(exp(2 * m1), exp(2 * m2), exp(2 * m3));
    }
    if (is_even(medium)) {
        tables->even_anisotropy = rows[0];
        tables->even_absorption = absorption_rows[0];
        tables->features |= ICE_HAS_EVEN_ANISOTROPY;
    }
    tables->features |= ICE_HAS_SCATTERING_ANISOTROPY;
    if (medium->absorption_exponent != 0.0) {
        tables->features |= ICE_HAS_OLD_ABSORPTION_ANISOTROPY;
        tables->absorption_exponent = (float)medium->absorption_exponent;
    }
    return 0;
}

/* Of the factor that belongs to the scattering anisotropy of a layer, (B - N) M / 2 to some power
 * (6.2): both B - N and M are least where light flies along the axis of the least k, and largest
 * along that of the largest. */
static double least_old_factor(const ice_medium *medium)
{
    double least = INFINITY;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const double m1 = medium->layers[i].anisotropy_along;
        const double m2 = medium->layers[i].anisotropy_across, m3 = -m1 - m2;
        const double low = fmin(m1, fmin(m2, m3)), high = fmax(m1, fmax(m2, m3));
        const double trace = exp(-2 * m1) + exp(-2 * m2) + exp(-2 * m3);
        const double at = medium->absorption_exponent > 0.0 ? low : high;
        least = fmin(least,
                     pow(0.5 * (trace - exp(-2 * at)) * exp(2 * at), medium->absorption_exponent));
    }
    return least;
}

static bool has_new_absorption(const ice_medium *medium)
{
    const double *k = medium->absorption_anisotropy;
    return k[0] != 0.0 || k[1] != 0.0 || k[2] != 0.0;
}

double ics_tables_least_absorption(const ice_medium *medium)
{
    const double *k = medium->absorption_anisotropy;
    const bool old = medium->absorption_exponent != 0.0 && scatters_unevenly(medium);
    if (!old && !has_new_absorption(medium)) {
        return 1.0;
    }
    /* A little less, for the rounding of factors. */
    return 0.9999 * exp(-fmax(k[0], fmax(k[1], k[2]))) * (old ? least_old_factor(medium) : 1.0);
}

static int build_absorption_anisotropy(ics_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    if (has_new_absorption(medium)) {
        const double *k = medium->absorption_anisotropy;
        tables->features |= ICE_HAS_ABSORPTION_ANISOTROPY;
        tables->absorption_form = form(exp(2 * k[0]), exp(2 * k[1]), exp(2 * k[2]));
    }
    const double least = ics_tables_least_absorption(medium);
    tables->least_absorption = (float)least;
    if (isnormal(tables->least_absorption) && tables->least_absorption > 0.0f) {
        return 0;
    }
    snprintf(
        builder->why, builder->why_size,
        "anisotropy: found a factor of absorption of %g, expected more than 0 in all directions",
        least);
    return -1;
}

/* ---- birefringence --------------------------------------------------------------------------- */

static bool is_birefringent(const ice_medium *medium)
{
    const ice_birefringence *set = &medium->birefringence;
    bool strong = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        strong |=
            medium->layers[i].birefringence != 0.0 || medium->layers[i].birefringence_mean != 0.0;
    }
    return strong && (set->along[0] != 0.0 || set->across[0] != 0.0 || set->mean[0] != 0.0);
}

/* The mean deflection's strength over the diffusion's, or NAN if layers differ in it. */
static double mean_share(const ice_medium *medium)
{
    double share = 0.0;
    bool found = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        if (layer->birefringence == 0.0 && layer->birefringence_mean == 0.0) {
            continue;
        }
        const double here = layer->birefringence_mean / layer->birefringence;
        if (!found) {
            share = here;
        }
        found = true;
        if (!(fabs(here - share) <= 1e-12 * share)) {
            return NAN;
        }
    }
    return share;
}

/* A strength and its sums over the layers. `offset`: where it stands in a layer of the model. */
static int build_birefringence_rows(ics_table_builder *builder, const ice_medium *medium,
                                    size_t offset, const ice_birefringence_row **place)
{
    ice_birefringence_row *rows =
        ics_tables_array(builder, place, medium->layer_count, sizeof *rows);
    if (rows == NULL) {
        return -1;
    }
    double sum = 0.0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        double strength;
        memcpy(&strength, (const char *)&medium->layers[i] + offset, sizeof strength);
        rows[i].strength = (float)strength;
        rows[i].low = ice_face(builder->tables, (int32_t)i);
        rows[i].sum = ics_tables_split_sum(sum);
        sum += medium->thickness * strength;
    }
    return 0;
}

static void fill_deflections(ice_deflection_row *rows, const ice_birefringence *set, double share)
{
    for (int knot = ICE_DEFLECTION_KNOTS; knot >= 0; --knot) {
        const double cosine = fmin(knot / (double)ICE_DEFLECTION_SCALE, 1.0);
        /* Along the axis mx is 0 and mx over the sine is not. */
        const double sine = fmax(sqrt(1.0 - cosine * cosine), 1e-6);
        const float along = (float)(0.5 * fmax(ice_rms_deflection(set->along, sine), 0.0));
        const float across = (float)(0.5 * fmax(ice_rms_deflection(set->across, sine), 0.0));
        const float mean =
            (float)(0.5 * share * fmax(ice_mean_deflection(set->mean, sine, cosine), 0.0) / sine);
        if (knot > 0) {
            rows[knot - 1].along_more = along;
            rows[knot - 1].across_more = across;
            rows[knot - 1].mean_more = mean;
        }
        if (knot == ICE_DEFLECTION_KNOTS) {
            continue;
        }
        rows[knot].along = along;
        rows[knot].across = across;
        rows[knot].mean = mean;
        rows[knot].along_more -= along;
        rows[knot].across_more -= across;
        rows[knot].mean_more -= mean;
    }
}

static int build_birefringence(ics_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    if (!is_birefringent(medium)) {
        return 0;
    }
    const double share = mean_share(medium);
    ice_deflection_row *rows =
        ics_tables_array(builder, &tables->deflection, ICE_DEFLECTION_KNOTS, sizeof *rows);
    if (rows == NULL ||
        build_birefringence_rows(builder, medium, offsetof(ice_layer, birefringence),
                                 &tables->birefringence) != 0) {
        return -1;
    }
    fill_deflections(rows, &medium->birefringence, isnan(share) ? 1.0 : share);
    tables->features |= ICE_HAS_BIREFRINGENCE;
    if (!isnan(share)) {
        return 0;
    }
    tables->features |= ICE_HAS_MEAN_BIREFRINGENCE;
    return build_birefringence_rows(builder, medium, offsetof(ice_layer, birefringence_mean),
                                    &tables->mean_birefringence);
}

/* ---- hole ice -------------------------------------------------------------------------------- */

/* Modules in the order of their strings, so that a string's stand together. */
static int by_string(const void *left, const void *right)
{
    const ice_module *a = *(const ice_module *const *)left, *b = *(const ice_module *const *)right;
    return (a->string > b->string) - (a->string < b->string);
}

/* The axis of a string's column is the mean of its modules (8.7). Returns how far from it the
 * farthest module's edge is from being outside the column's reach, see ice_hole_constants.margin.
 */
static double place_column(const ice_detector *detector, const ice_module *const *modules,
                           size_t count, double radius, ice_column *column)
{
    double x = 0.0, y = 0.0, farthest = 0.0;
    for (size_t i = 0; i < count; ++i) {
        x += modules[i]->x / (double)count;
        y += modules[i]->y / (double)count;
    }
    for (size_t i = 0; i < count; ++i) {
        farthest = fmax(farthest, hypot(modules[i]->x - x, modules[i]->y - y));
    }
    column->x = (float)x;
    column->y = (float)y;
    return farthest + radius - detector->radius;
}

/* A square cell of the clearance map. */
typedef struct map_cell {
    double x, y, side; /* lower corner, m */
} map_cell;

/* The column nearest to any point of a cell, and a distance within which there is no other. */
static ice_near_row near_column(const ice_tables *tables, const ice_column *columns, map_cell cell)
{
    double least = INFINITY, second = INFINITY;
    ice_near_row near = {0.0f, 0};
    for (uint32_t i = 0; i < tables->column_count; ++i) {
        const double x = columns[i].x, y = columns[i].y;
        const double distance = hypot(fmax(fmax(cell.x - x, x - cell.x - cell.side), 0.0),
                                      fmax(fmax(cell.y - y, y - cell.y - cell.side), 0.0));
        second = fmin(second, fmax(distance, least));
        near.string = distance < least ? i : near.string;
        least = fmin(distance, least);
    }
    /* 0.01 m for the rounding of places. */
    near.others = (float)fmax(second - (double)tables->hole.radius - 0.01, 0.0);
    return near;
}

static int build_near_columns(ics_table_builder *builder, const ice_column *columns)
{
    ice_tables *tables = builder->tables;
    const int32_t nx = tables->clearance_nx, ny = tables->clearance_ny;
    ice_near_row *near =
        ics_tables_array(builder, &tables->near_columns, (size_t)nx * (size_t)ny, sizeof *near);
    if (near == NULL) {
        return -1;
    }
    const double side = 1.0 / (double)tables->clearance_inverse_cell;
    /* A little larger than it is: which cell a place at its edge counts to is a matter of rounding.
     */
    const double more = 1e-4 * side;
    for (int32_t j = 0; j < ny; ++j) {
        for (int32_t i = 0; i < nx; ++i) {
            const map_cell cell = {(i - (double)tables->clearance_of_zero_x) * side - more,
                                   (j - (double)tables->clearance_of_zero_y) * side - more,
                                   side + 2.0 * more};
            near[(size_t)j * (size_t)nx + (size_t)i] = near_column(tables, columns, cell);
        }
    }
    return 0;
}

static int build_holes(ics_table_builder *builder, const ice_medium *medium,
                       const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const ice_hole *hole = &medium->hole;
    if (!(hole->radius > 0.0)) {
        return 0;
    }
    const size_t count = detector->module_count;
    const ice_module **order = malloc(count * sizeof *order);
    ice_column *columns = ics_tables_array(builder, &tables->columns, count, sizeof *columns);
    if (order == NULL || columns == NULL) {
        free(order);
        snprintf(builder->why, builder->why_size, "out of memory for columns of hole ice");
        return -1;
    }
    for (size_t i = 0; i < count; ++i) {
        order[i] = &detector->modules[i];
    }
    qsort(order, count, sizeof *order, by_string);
    double margin = 0.0;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && order[next]->string == order[first]->string; ++next)
            ;
        margin = fmax(margin, place_column(detector, order + first, next - first, hole->radius,
                                           &columns[tables->column_count++]));
    }
    free(order);
    const double g = hole->mean_cosine, f = hole->liu_fraction;
    tables->hole.radius = (float)hole->radius;
    tables->hole.scattering_length = (float)(hole->effective_scattering * (1.0 - g));
    tables->hole.absorption_length = (float)hole->absorption;
    tables->hole.absorption = (float)(1.0 / hole->absorption);
    tables->hole.margin = (float)(margin + 0.01); /* for the rounding of places */
    tables->hole.scatter = ics_tables_scatter_constants(g, f, 0.0);
    tables->features |= ICE_HAS_HOLES;
    return build_near_columns(builder, columns);
}

int ics_tables_build_features(ics_table_builder *builder, const ice_medium *medium,
                              const ice_detector *detector)
{
    builder->tables->flow_x = (float)cos(medium->flow_azimuth);
    builder->tables->flow_y = (float)sin(medium->flow_azimuth);
    return build_spectral(builder, medium) || ics_tables_build_tilt(builder, &medium->tilt) ||
                   build_scattering_anisotropy(builder, medium) ||
                   build_absorption_anisotropy(builder, medium) ||
                   build_birefringence(builder, medium) || build_holes(builder, medium, detector)
               ? -1
               : 0;
}
