#include "pipeline/files/format/step_check.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>

#define POSITION_MAX   10000.0f /* m */
#define NORM_TOLERANCE 1e-3
#define KNOWN_FLAGS    (ICESTREAM_STEP_ISOTROPIC | ICESTREAM_STEP_NOT_THINNED)

static double norm_squared(const icestream_step *step)
{
    double x = step->dx, y = step->dy, z = step->dz;
    return x * x + y * y + z * z;
}

/* Every comparison is false for NaN. The results are int, so that they can be combined with &. */
static int in(float value, float low, float high)
{
    return (value >= low) & (value <= high);
}

static int unit_direction(const icestream_step *step)
{
    static const double low = (1 - NORM_TOLERANCE) * (1 - NORM_TOLERANCE);
    static const double high = (1 + NORM_TOLERANCE) * (1 + NORM_TOLERANCE);
    double norm = norm_squared(step);
    return (norm >= low) & (norm <= high);
}

/* Checks all conditions at once without branches, because almost every step is good. */
static int passes_all(const icestream_step *step, uint32_t spectrum_count)
{
    int isotropic = step->flags & ICESTREAM_STEP_ISOTROPIC;
    return in(step->x, -POSITION_MAX, POSITION_MAX) & in(step->y, -POSITION_MAX, POSITION_MAX) &
           in(step->z, -POSITION_MAX, POSITION_MAX) & (fabsf(step->t) < INFINITY) &
           (isotropic | unit_direction(step)) & (step->length >= 0) & (step->length < INFINITY) &
           (step->beta > 0) & (step->beta <= 1) & (step->weight >= 0) & (step->weight < INFINITY) &
           (step->kind <= ICESTREAM_KIND_POINT) & (step->spectrum < spectrum_count) &
           ((step->flags & ~KNOWN_FLAGS) == 0);
}

typedef struct place {
    const char *name;
    uint64_t row;
    icestream_error *error;
} place;

static int bad_float(const place *at, const char *field, float found, const char *expected)
{
    return ics_error_set(at->error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field %s: found %.9g, expected %s", at->name,
                         at->row, field, (double)found, expected);
}

static int bad_integer(const place *at, const char *field, unsigned found, const char *expected)
{
    return ics_error_set(at->error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field %s: found %u, expected %s", at->name, at->row,
                         field, found, expected);
}

static int bad_direction(const place *at, const icestream_step *step)
{
    static const char *const names[] = {"dx", "dy", "dz"};
    const float values[] = {step->dx, step->dy, step->dz};
    for (int i = 0; i < 3; ++i) {
        if (!isfinite(values[i])) {
            return bad_float(at, names[i], values[i], "a finite value");
        }
    }
    return ics_error_set(at->error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", fields dx, dy, dz: found a vector of length %.6g, "
                         "expected 1 within 0.001",
                         at->name, at->row, sqrt(norm_squared(step)));
}

/* Finds the field that made passes_all() false. */
static int explain(const place *at, const icestream_step *step, uint32_t spectrum_count)
{
    static const char *const names[] = {"x", "y", "z"};
    const float positions[] = {step->x, step->y, step->z};
    for (int i = 0; i < 3; ++i) {
        if (!in(positions[i], -POSITION_MAX, POSITION_MAX)) {
            return bad_float(at, names[i], positions[i], "a value in [-10000, 10000] m");
        }
    }
    if (!isfinite(step->t)) {
        return bad_float(at, "t", step->t, "a finite value");
    }
    if (!(step->flags & ICESTREAM_STEP_ISOTROPIC) && !unit_direction(step)) {
        return bad_direction(at, step);
    }
    if (!(step->length >= 0 && step->length < INFINITY)) {
        return bad_float(at, "length", step->length, "a finite value >= 0");
    }
    if (!(step->beta > 0 && step->beta <= 1)) {
        return bad_float(at, "beta", step->beta, "a value in (0, 1]");
    }
    if (!(step->weight >= 0 && step->weight < INFINITY)) {
        return bad_float(at, "weight", step->weight, "a finite value >= 0");
    }
    if (step->kind > ICESTREAM_KIND_POINT) {
        return bad_integer(at, "kind", step->kind,
                           "0 (track), 1 (cascade), 2 (flasher) or 3 (point)");
    }
    if (step->spectrum >= spectrum_count) {
        return ics_error_set(at->error, ICESTREAM_E_INPUT,
                             "%s: row %" PRIu64
                             ", field spectrum: found %u, expected a spectrum of "
                             "the run, 0 to %" PRIu32,
                             at->name, at->row, step->spectrum, spectrum_count - 1);
    }
    return bad_integer(at, "flags", step->flags,
                       "0 to 3: the sum of 1 (isotropic) and 2 (not thinned)");
}

int ics_step_check(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                   const char *name, uint64_t first_row, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (__builtin_expect(!passes_all(&steps[i], spectrum_count), 0)) {
            place at = {.name = name, .row = first_row + i, .error = error};
            return explain(&at, &steps[i], spectrum_count);
        }
    }
    return ICESTREAM_OK;
}

void ics_step_normalise(icestream_step *steps, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        icestream_step *step = &steps[i];
        if (step->flags & ICESTREAM_STEP_ISOTROPIC) {
            step->dx = step->dy = 0;
            step->dz = 1;
            continue;
        }
        double norm = sqrt(norm_squared(step));
        step->dx = (float)(step->dx / norm);
        step->dy = (float)(step->dy / norm);
        step->dz = (float)(step->dz / norm);
    }
}
