/* Tables of ice beyond flat layers: optics by wavelength, anisotropy, birefringence, hole ice. */
#include "kernels/tables_internal.h"
#include "stages/birefringence.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- optics by wavelength -------------------------------------------------------------------- */

_Static_assert(ICE_SPECTRAL_FIRST == (int)ICE_WAVELENGTH_MIN &&
                   ICE_SPECTRAL_FIRST + ICE_SPECTRAL_ROWS - 1 == (int)ICE_WAVELENGTH_MAX,
               "rows of optics span the band");

static int build_spectral(is_table_builder *builder, const ice_medium *medium)
{
    if (!medium->spectral)
        return 0;
    ice_spectral_row *rows =
        is_table_array(builder, &builder->tables->spectral, ICE_SPECTRAL_ROWS, sizeof *rows);
    if (!rows)
        return -1;
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

static int build_scattering_anisotropy(is_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    bool on = false;
    for (size_t i = 0; i < medium->layer_count; ++i)
        on |=
            medium->layers[i].anisotropy_along != 0.0 || medium->layers[i].anisotropy_across != 0.0;
    if (!on)
        return 0;
    ice_anisotropy_row *rows =
        is_table_array(builder, &tables->anisotropy, medium->layer_count, sizeof *rows);
    if (!rows)
        return -1;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const double m1 = medium->layers[i].anisotropy_along;
        const double m2 = medium->layers[i].anisotropy_across, m3 = -m1 - m2;
        rows[i].to = stretching(medium->flow_azimuth, exp(m1), exp(m2), exp(m3));
        rows[i].back = stretching(medium->flow_azimuth, exp(-m1), exp(-m2), exp(-m3));
        rows[i].trace = (float)(exp(-2 * m1) + exp(-2 * m2) + exp(-2 * m3));
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

static int build_absorption_anisotropy(is_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    const double *k = medium->absorption_anisotropy;
    double least = 1.0;
    if (k[0] != 0.0 || k[1] != 0.0 || k[2] != 0.0) {
        tables->features |= ICE_HAS_ABSORPTION_ANISOTROPY;
        tables->absorption_stretching =
            stretching(medium->flow_azimuth, exp(k[0]), exp(k[1]), exp(k[2]));
        least *= exp(-fmax(k[0], fmax(k[1], k[2])));
    }
    if (tables->features & ICE_HAS_OLD_ABSORPTION_ANISOTROPY)
        least *= least_old_factor(medium);
    tables->least_absorption = (float)(0.9999 * least);
    if (isnormal(tables->least_absorption) && tables->least_absorption > 0.0f)
        return 0;
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
    for (size_t i = 0; i < medium->layer_count; ++i)
        strong |=
            medium->layers[i].birefringence != 0.0 || medium->layers[i].birefringence_mean != 0.0;
    return strong && (set->along[0] != 0.0 || set->across[0] != 0.0 || set->mean[0] != 0.0);
}

static int build_birefringence(is_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    if (!is_birefringent(medium))
        return 0;
    ice_bending_row *rows =
        is_table_array(builder, &tables->bending, medium->layer_count, sizeof *rows);
    ice_deflection_row *angles =
        is_table_array(builder, &tables->deflection, ICE_DEFLECTION_KNOTS + 1, sizeof *angles);
    if (!rows || !angles)
        return -1;
    const ice_birefringence *set = &medium->birefringence;
    double diffusion = 0.0, mean = 0.0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        rows[i].diffusion = (float)medium->layers[i].birefringence;
        rows[i].mean = (float)medium->layers[i].birefringence_mean;
        rows[i].diffusion_sum = is_split_sum(diffusion);
        rows[i].mean_sum = is_split_sum(mean);
        diffusion += medium->thickness * medium->layers[i].birefringence;
        mean += medium->thickness * medium->layers[i].birefringence_mean;
    }
    for (int knot = 0; knot <= ICE_DEFLECTION_KNOTS; ++knot) {
        /* cos / (cos + sin); the last knot lies a little beyond angle 0 */
        const double share = fmin(knot / (double)ICE_DEFLECTION_SCALE, 1.0);
        const double length = hypot(share, 1.0 - share);
        const double cosine = share / length, sine = (1.0 - share) / length;
        angles[knot].along = (float)fmax(ice_rms_deflection(set->along, sine), 0.0);
        angles[knot].across = (float)fmax(ice_rms_deflection(set->across, sine), 0.0);
        angles[knot].mean = (float)fmax(ice_mean_deflection(set->mean, sine, cosine), 0.0);
    }
    tables->features |= ICE_HAS_BIREFRINGENCE;
    return 0;
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
    for (size_t i = 0; i < count; ++i)
        farthest = fmax(farthest, hypot(modules[i]->x - x, modules[i]->y - y));
    column->x = (float)x;
    column->y = (float)y;
    return farthest + radius - detector->radius;
}

static int build_holes(is_table_builder *builder, const ice_medium *medium,
                       const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const ice_hole *hole = &medium->hole;
    if (!(hole->radius > 0.0))
        return 0;
    const size_t count = detector->module_count;
    const ice_module **order = malloc(count * sizeof *order);
    ice_column *columns = is_table_array(builder, &tables->columns, count, sizeof *columns);
    if (!order || !columns) {
        free(order);
        snprintf(builder->why, builder->why_size, "out of memory for columns of hole ice");
        return -1;
    }
    for (size_t i = 0; i < count; ++i)
        order[i] = &detector->modules[i];
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
    tables->hole.scatter = is_scatter_constants(g, f, 0.0);
    tables->features |= ICE_HAS_HOLES;
    return 0;
}

int is_build_feature_tables(is_table_builder *builder, const ice_medium *medium,
                            const ice_detector *detector)
{
    builder->tables->flow_x = (float)cos(medium->flow_azimuth);
    builder->tables->flow_y = (float)sin(medium->flow_azimuth);
    return build_spectral(builder, medium) || is_build_tilt_table(builder, &medium->tilt) ||
                   build_scattering_anisotropy(builder, medium) ||
                   build_absorption_anisotropy(builder, medium) ||
                   build_birefringence(builder, medium) || build_holes(builder, medium, detector)
               ? -1
               : 0;
}
