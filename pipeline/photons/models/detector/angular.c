#include "pipeline/photons/models/detector/angular.h"

#include "base/error.h"
#include "base/plural.h"

#include <math.h>

enum {
    COEFFICIENTS_MAX = sizeof((ice_angular *)0)->coefficients / sizeof(double),
    NUMBERS_MAX = 1 + COEFFICIENTS_MAX,
    CELLS = 2000 /* of [-1, 1], in which the maximum is searched */
};
#define MAXIMUM_MOST     10.0
#define COEFFICIENT_MOST 1e6
/* Published maxima have few digits, or come from a coarse grid of angles. */
#define MAXIMUM_TOLERANCE 1e-4 /* more is a warning */
#define MAXIMUM_EXCESS    0.1  /* more is an error */

ice_angular ics_angular_standard(void)
{
    return (ice_angular){.maximum = 0.68, .coefficients = {0.34, 0.51, 0, -0.17}, .count = 4};
}

ice_angular ics_angular_none(void)
{
    return (ice_angular){.maximum = 1, .coefficients = {1}, .count = 1};
}

static double polynomial_at(const ice_angular *angular, double x)
{
    double sum = 0;
    for (size_t k = angular->count; k > 0; --k) {
        sum = sum * x + angular->coefficients[k - 1];
    }
    return sum;
}

double ics_angular_at(const ice_angular *angular, double x)
{
    if (angular->has_edge) {
        return x > angular->edge ? 1 : 0;
    }
    return fmax(polynomial_at(angular, x), 0);
}

double ics_angular_mean(const ice_angular *angular)
{
    if (angular->has_edge) {
        return 0.5 * (1 - angular->edge);
    }
    /* The mean cannot be computed from the coefficients, because the polynomial is cut off at 0. */
    double sum = 0;
    for (int i = 0; i < CELLS; ++i) {
        sum += ics_angular_at(angular, (2 * i + 1.0) / CELLS - 1);
    }
    return sum / CELLS;
}

/* Finds the largest value. One that is a little above the maximum replaces it, with a warning. */
static int check_polynomial(const char *place, ice_angular *angular, ics_warnings *warnings,
                            icestream_error *error)
{
    double largest = 0, at = 0;
    for (int i = 0; i <= CELLS; ++i) {
        double x = 2.0 * i / CELLS - 1, value = polynomial_at(angular, x);
        if (value > largest) {
            largest = value;
            at = x;
        }
    }
    if (!(largest > 0)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: angular acceptance: found nothing above 0 in any "
                             "direction, expected some",
                             place);
    }
    const double excess = largest / angular->maximum - 1;
    if (excess <= MAXIMUM_TOLERANCE) {
        return ICESTREAM_OK;
    }
    if (warnings == NULL || excess > MAXIMUM_EXCESS) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: angular acceptance: found %.6g at a cosine of %.4g, "
                             "expected at most its maximum, %.6g",
                             place, largest, at, angular->maximum);
    }
    ics_warnings_add(warnings,
                     "%s: angular acceptance: found %.6g at a cosine of %.4g, which is %.2g %% "
                     "above its maximum, %.6g; the larger number is used",
                     place, largest, at, 100 * excess, angular->maximum);
    angular->maximum = largest;
    return ICESTREAM_OK;
}

static int take_edge(const char *place, const double *numbers, size_t count, ice_angular *out,
                     icestream_error *error)
{
    if (count != 2) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: angular acceptance: found %zu number%s, the first one 0, "
                             "expected 2: 0 and the cosine of an edge, or a maximum above 0",
                             place, count, ics_plural_s(count));
    }
    if (!(numbers[1] >= -1 && numbers[1] < 1)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: edge: found %.10g, expected a cosine from -1 to below 1",
                             place, numbers[1]);
    }
    *out = (ice_angular){.maximum = 1, .has_edge = true, .edge = numbers[1]};
    return ICESTREAM_OK;
}

int ics_angular_from_numbers(const char *place, const double *numbers, size_t count,
                             ice_angular *out, ics_warnings *warnings, icestream_error *error)
{
    *out = (ice_angular){0};
    if (count > 0 && numbers[0] == 0) {
        return take_edge(place, numbers, count, out, error);
    }
    if (count < 2 || count > NUMBERS_MAX) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: angular acceptance: found %zu number%s, expected 2 to %d: "
                             "the maximum and coefficients",
                             place, count, ics_plural_s(count), NUMBERS_MAX);
    }
    if (!(numbers[0] > 0 && numbers[0] <= MAXIMUM_MOST)) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: maximum: found %.10g, expected 0 .. %g", place, numbers[0],
                             MAXIMUM_MOST);
    }
    ice_angular angular = {.maximum = numbers[0], .count = count - 1};
    for (size_t i = 1; i < count; ++i) {
        if (!(fabs(numbers[i]) <= COEFFICIENT_MOST)) {
            return ics_error_add(error, ICESTREAM_E_CONFIG,
                                 "%s: error: coefficient of x^%zu: found %.10g, expected -1e6 .. "
                                 "1e6",
                                 place, i - 1, numbers[i]);
        }
        angular.coefficients[i - 1] = numbers[i];
    }
    ICS_TRY(check_polynomial(place, &angular, warnings, error));
    *out = angular;
    return ICESTREAM_OK;
}

int ics_angular_read(const ics_text *text, ice_angular *out, ics_warnings *warnings,
                     icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    double numbers[NUMBERS_MAX];
    size_t count = 0;
    char what[48];
    *out = (ice_angular){0};
    while (ics_text_next(&reader, &line)) {
        for (size_t i = 0; i < line.count; ++i, ++count) {
            if (i == ICS_TEXT_FIELDS_MAX || count == NUMBERS_MAX) {
                return ics_text_fault(&reader, line.number, 0,
                                      "found more than %d numbers, expected the maximum and at "
                                      "most %d coefficients",
                                      NUMBERS_MAX, COEFFICIENTS_MAX);
            }
            snprintf(what, sizeof what, "coefficient of x^%zu", count - 1);
            if (!ics_text_number(&reader, &line, i, count == 0 ? "maximum" : what,
                                 &numbers[count])) {
                return ICESTREAM_E_CONFIG;
            }
            if (count == 0 && !(numbers[0] >= 0 && numbers[0] <= MAXIMUM_MOST)) {
                return ics_text_fault(&reader, line.number, line.fields[0].column,
                                      "maximum: found %.10g, expected 0 .. %g", numbers[0],
                                      MAXIMUM_MOST);
            }
        }
    }
    if (count == 0) {
        return ics_text_fault(&reader, 0, 0, "found no number, expected the maximum first");
    }
    if (count == 1 && numbers[0] > 0) {
        numbers[count++] = numbers[0]; /* flat, as in ppc (itype::add in ini.cxx) */
    }
    return ics_angular_from_numbers(text->name, numbers, count, out, warnings, error);
}
