/* Tables of the anisotropy of scattering and of absorption. */
#include "base/error.h"
#include "tables/internal.h"

#include <math.h>

/* Returns the matrix that is diag(a, b, c) in the frame of the flow, divided by c: its first axis
 * is horizontal with this azimuth (rad), its third axis points up. */
static ice_stretching stretching(double azimuth, double a, double b, double c)
{
    const double cosine = cos(azimuth), sine = sin(azimuth);
    const double along = a / c, across = b / c;
    const ice_stretching result = {(float)(along * cosine * cosine + across * sine * sine),
                                   (float)((along - across) * cosine * sine),
                                   (float)(along * sine * sine + across * cosine * cosine)};
    return result;
}

/* Returns the form a n1^2 + b n2^2 + c n3^2 in the frame of the flow. n1^2 + n2^2 + n3^2 = 1, so
 * one of the three products is replaced by a constant. */
static ice_form form(double a, double b, double c)
{
    const ice_form result = {(float)b, (float)(a - b), (float)(c - b)};
    return result;
}

/* Whether all layers have the same scattering anisotropy. */
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

/* Whether any layer has a scattering anisotropy. */
static bool scatters_unevenly(const ice_medium *medium)
{
    bool on = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        on |=
            medium->layers[i].anisotropy_along != 0.0 || medium->layers[i].anisotropy_across != 0.0;
    }
    return on;
}

uint32_t ics_tables_find_anisotropy(const ice_medium *medium)
{
    return scatters_unevenly(medium) ? ICE_HAS_SCATTERING_ANISOTROPY : 0;
}

int ics_tables_build_anisotropy(ics_table_builder *builder, const ice_medium *medium,
                                const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    (void)detector;
    ice_anisotropy_row *rows;
    ICS_TRY(
        ics_tables_array(builder, &tables->anisotropy, medium->layer_count, sizeof *rows, &rows));
    ice_absorption_row *absorption_rows;
    ICS_TRY(ics_tables_array(builder, &tables->absorption_rows, medium->layer_count,
                             sizeof *absorption_rows, &absorption_rows));
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
    return ICESTREAM_OK;
}

/* Returns the smallest factor of absorption that belongs to the scattering anisotropy, over all
 * layers and directions: a power of (B - N) M / 2 (physics.md 6.2). Both B - N and M are smallest
 * for light along the axis with the smallest k, and largest along the axis with the largest k. */
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

uint32_t ics_tables_find_absorption(const ice_medium *medium)
{
    const bool old = medium->absorption_exponent != 0.0 && scatters_unevenly(medium);
    return (old ? ICE_HAS_OLD_ABSORPTION_ANISOTROPY : 0u) |
           (has_new_absorption(medium) ? ICE_HAS_ABSORPTION_ANISOTROPY : 0u);
}

double ics_tables_least_absorption(const ice_medium *medium)
{
    const double *k = medium->absorption_anisotropy;
    const uint32_t found = ics_tables_find_absorption(medium);
    if (found == 0) {
        return 1.0;
    }
    const double old = found & ICE_HAS_OLD_ABSORPTION_ANISOTROPY ? least_old_factor(medium) : 1.0;
    /* The factor 0.9999 covers the rounding of the factors in single precision. */
    return 0.9999 * exp(-fmax(k[0], fmax(k[1], k[2]))) * old;
}

int ics_tables_build_absorption(ics_table_builder *builder, const ice_medium *medium,
                                const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const uint32_t found = ics_tables_find_absorption(medium);
    const double *k = medium->absorption_anisotropy;
    (void)detector;
    if (found & ICE_HAS_OLD_ABSORPTION_ANISOTROPY) {
        tables->absorption_exponent = (float)medium->absorption_exponent;
    }
    if (found & ICE_HAS_ABSORPTION_ANISOTROPY) {
        tables->absorption_form = form(exp(2 * k[0]), exp(2 * k[1]), exp(2 * k[2]));
    }
    return ICESTREAM_OK;
}
