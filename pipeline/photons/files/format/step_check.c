#include "pipeline/photons/files/format/step_check.h"

#include "base/error.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define POSITION_MAX   10000.0f /* m */
#define NORM_TOLERANCE 1e-3
#define PHOTONS_MAX    (UINT64_C(1) << 62)
#define PLAIN_FLAGS    (ICESTREAM_STEP_ISOTROPIC | ICESTREAM_STEP_NOT_THINNED)

/* The limits of what profiles need. Depths and angles of particles are far inside. */
#define DEPTH_SCALE_MAX 10.0f /* m */
#define DEPTH_SHAPE_MIN 0.1f
#define DEPTH_SHAPE_MAX 100.0f
#define LED_WIDTH_MAX   127.0f
#define DURATION_MAX    1e9f  /* ns */
#define GAUSS_MIN       1e-5f /* rad */
#define GAUSS_MAX       3.1415927f
#define KNOWN_FLAGS                                                                                \
    (PLAIN_FLAGS | ICESTREAM_STEP_PROFILE(15) | ICESTREAM_STEP_PULSE(3) | ICESTREAM_STEP_SURFACE | \
     ICESTREAM_STEP_GLASS)

static double norm_squared(const icestream_step *step)
{
    double x = step->dx, y = step->dy, z = step->dz;
    return x * x + y * y + z * z;
}

/* Every comparison is false for NaN. */
static bool in(float value, float low, float high)
{
    return value >= low && value <= high;
}

static bool unit_direction(const icestream_step *step)
{
    static const double low = (1 - NORM_TOLERANCE) * (1 - NORM_TOLERANCE);
    static const double high = (1 + NORM_TOLERANCE) * (1 + NORM_TOLERANCE);
    double norm = norm_squared(step);
    return norm >= low && norm <= high;
}

/* ---- blocks of rows -------------------------------------------------------------------------- */

enum { BLOCK_ROWS = 64 };

/* Four words of a row. The first ten words of a row are in three of them. */
typedef uint32_t words __attribute__((vector_size(16)));
_Static_assert(offsetof(icestream_step, x) == 0 && offsetof(icestream_step, photons) == 12 &&
                   offsetof(icestream_step, dx) == 16 && offsetof(icestream_step, length) == 28 &&
                   offsetof(icestream_step, beta) == 32 && offsetof(icestream_step, weight) == 36,
               "the lanes of these tests");

static uint32_t word_of(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static words load(const icestream_step *step, size_t at)
{
    words four;
    memcpy(&four, (const unsigned char *)step + at, sizeof four);
    return four;
}

/* Whether all rows are good steps without a profile. False says nothing: some good rows that are
 * rare, such as directions at the edge of the tolerance, do not pass. Floats are compared as words,
 * because those of finite floats that are not negative have the same order, and infinity and NaN
 * are above them. */
static bool passes_block(const icestream_step *steps, uint32_t spectrum_count)
{
    const uint32_t any = UINT32_MAX, magnitude = INT32_MAX, finite = word_of(FLT_MAX);
    const uint32_t position = word_of(POSITION_MAX), one = word_of(1.0f);
    const words start_most = {position, position, position, any};
    const words direction_most = {any, any, any, finite};
    const words beta_least = {1, 0, 0, 0}, beta_most = {one - 1, finite, any, any};
    const float low = (float)(1 - 1.9 * NORM_TOLERANCE), high = (float)(1 + 1.9 * NORM_TOLERANCE);
    words bad = {0, 0, 0, 0};
    unsigned wrong = 0;
    for (size_t i = 0; i < BLOCK_ROWS; ++i) {
        const icestream_step *step = &steps[i];
        bad |= (words)((load(step, 0) & magnitude) > start_most);
        bad |= (words)(load(step, 16) > direction_most);
        bad |= (words)((load(step, 32) - beta_least) > beta_most);
        wrong |= !(fabs(step->t) <= ICESTREAM_TIME_MAX);
        const float norm = step->dx * step->dx + step->dy * step->dy + step->dz * step->dz;
        const unsigned is_unit = (unsigned)((norm >= low) & (norm <= high));
        wrong |= (~(step->flags | is_unit) & 1) | (step->flags & ~(unsigned)PLAIN_FLAGS);
        wrong |=
            (unsigned)((step->kind > ICESTREAM_KIND_POINT) | (step->spectrum >= spectrum_count));
    }
    return (bad[0] | bad[1] | bad[2] | bad[3] | wrong) == 0;
}
_Static_assert(ICESTREAM_STEP_ISOTROPIC == 1, "the bit of flags that passes_block() tests");

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct place {
    const char *name;
    uint64_t row;
    icestream_error *error;
} place;

static int bad_float(const place *at, const char *field, double found, const char *expected)
{
    return ics_error_set(at->error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field %s: found %.9g, expected %s", at->name,
                         at->row, field, found, expected);
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

/* Checks the fields that mean the same with and without a profile. */
static int check_common(const place *at, const icestream_step *step, uint32_t spectrum_count)
{
    static const char *const names[] = {"x", "y", "z"};
    const float positions[] = {step->x, step->y, step->z};
    for (int i = 0; i < 3; ++i) {
        if (!in(positions[i], -POSITION_MAX, POSITION_MAX)) {
            return bad_float(at, names[i], positions[i], "a value in [-10000, 10000] m");
        }
    }
    if (!(fabs(step->t) <= ICESTREAM_TIME_MAX)) {
        return bad_float(at, "t", step->t,
                         "a value in [-8796093022208, 8796093022208] ns, so that hits keep their "
                         "times to within 0.001 ns");
    }
    if (!(step->flags & ICESTREAM_STEP_ISOTROPIC) && !unit_direction(step)) {
        return bad_direction(at, step);
    }
    if (!(step->length >= 0 && step->length < INFINITY)) {
        return bad_float(at, "length", step->length, "a finite value >= 0");
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
    return ICESTREAM_OK;
}

/* ---- profiles (files.md 3.4) ----------------------------------------------------------------- */

static int check_cascade(const place *at, const icestream_step *step)
{
    const bool is_cloud = ICESTREAM_STEP_PROFILE_OF(step->flags) == ICESTREAM_PROFILE_CLOUD;
    if (step->flags & ~(ICESTREAM_STEP_NOT_THINNED | ICESTREAM_STEP_PROFILE(15))) {
        return bad_integer(at, "flags", step->flags,
                           "no pulse (64, 128), surface (256) or glass (512) of a beam with the "
                           "profile of a cascade");
    }
    if (step->spectrum != 0) {
        return bad_integer(at, "spectrum", step->spectrum,
                           "0 (Cherenkov light) with the profile of a cascade");
    }
    if (is_cloud) {
        return step->beta == 1 ? ICESTREAM_OK
                               : bad_float(at, "beta", step->beta, "1 with the profile cloud");
    }
    if (!(step->length <= DEPTH_SCALE_MAX)) {
        return bad_float(at, "length", step->length,
                         "a scale of depths from 0 to 10 m with the profile cascade");
    }
    return in(step->beta, DEPTH_SHAPE_MIN, DEPTH_SHAPE_MAX)
               ? ICESTREAM_OK
               : bad_float(at, "beta", step->beta,
                           "a shape of depths from 0.1 to 100 with the profile cascade");
}

static int check_pulse(const place *at, const icestream_step *step)
{
    switch (ICESTREAM_STEP_PULSE_OF(step->flags)) {
    case ICESTREAM_PULSE_INSTANT:
        return step->length == 0
                   ? ICESTREAM_OK
                   : bad_float(at, "length", step->length, "0 with a beam without a pulse");
    case ICESTREAM_PULSE_LED:
        return step->length <= LED_WIDTH_MAX
                   ? ICESTREAM_OK
                   : bad_float(at, "length", step->length,
                               "the width of an LED from 0 to 127 with the pulse of an LED");
    case ICESTREAM_PULSE_RECTANGLE:
        return step->length <= DURATION_MAX
                   ? ICESTREAM_OK
                   : bad_float(at, "length", step->length,
                               "a duration from 0 to 1e9 ns with a rectangular pulse");
    default:
        return bad_integer(at, "flags", step->flags,
                           "a pulse of 0 (instant), 64 (LED) or 128 (rectangle)");
    }
}

static int check_beam(const place *at, const icestream_step *step, unsigned profile)
{
    const bool is_clsim =
        profile == ICESTREAM_PROFILE_CLSIM || profile == ICESTREAM_PROFILE_CLSIM_TILTED;
    const bool is_lab =
        profile >= ICESTREAM_PROFILE_LAB_AVERAGE && profile <= ICESTREAM_PROFILE_LAB_TILTED;
    if ((step->flags & ICESTREAM_STEP_GLASS) && (step->flags & ICESTREAM_STEP_SURFACE)) {
        return bad_integer(at, "flags", step->flags, "one of surface (256) and glass (512)");
    }
    if ((step->flags & ICESTREAM_STEP_GLASS) && !is_lab) {
        return bad_integer(at, "flags", step->flags,
                           "glass (512) only with the profiles lab (16, 20, 24)");
    }
    if (step->spectrum < 1 || (is_clsim && step->spectrum > 5)) {
        return bad_integer(at, "spectrum", step->spectrum,
                           is_clsim ? "an LED, 1 to 5, with a beam of clsim"
                                    : "1 or more with a beam");
    }
    if (profile == ICESTREAM_PROFILE_GAUSS && !in(step->beta, GAUSS_MIN, GAUSS_MAX)) {
        return bad_float(at, "beta", step->beta,
                         "a sigma from 1e-5 to 3.1415927 rad with the profile gauss");
    }
    if (profile != ICESTREAM_PROFILE_GAUSS && step->beta != 1) {
        return bad_float(at, "beta", step->beta, "1 with a beam other than gauss");
    }
    return check_pulse(at, step);
}

static int check_profile(const place *at, const icestream_step *step)
{
    const unsigned profile = ICESTREAM_STEP_PROFILE_OF(step->flags);
    if (profile > ICESTREAM_PROFILE_CONE || (step->flags & ~KNOWN_FLAGS) != 0) {
        return bad_integer(
            at, "flags", step->flags,
            "bits of 1 (isotropic), 2 (not thinned), 4 times a profile from 1 to 12, "
            "64 times a pulse from 0 to 2, 256 (surface) and 512 (glass)");
    }
    if (profile == ICESTREAM_PROFILE_NONE) {
        return bad_integer(
            at, "flags", step->flags,
            "a pulse, surface or glass only with a beam: 4 times a profile from 3 to "
            "12");
    }
    if (step->flags & ICESTREAM_STEP_ISOTROPIC) {
        return bad_integer(at, "flags", step->flags,
                           "1 (isotropic) only without a profile; the profile of isotropic light "
                           "is 40");
    }
    return profile <= ICESTREAM_PROFILE_CLOUD ? check_cascade(at, step)
                                              : check_beam(at, step, profile);
}

/* Checks everything. */
static int check_closely(const place *at, const icestream_step *step, uint32_t spectrum_count)
{
    ICS_TRY(check_common(at, step, spectrum_count));
    if (step->flags & ~PLAIN_FLAGS) {
        return check_profile(at, step);
    }
    return step->beta > 0 && step->beta <= 1
               ? ICESTREAM_OK
               : bad_float(at, "beta", step->beta, "a value in (0, 1]");
}

/* Checks row by row. */
static int check_rows(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                      const char *name, uint64_t first_row, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        const place at = {.name = name, .row = first_row + i, .error = error};
        ICS_TRY(check_closely(&at, &steps[i], spectrum_count));
    }
    return ICESTREAM_OK;
}

int ics_step_check(const icestream_step *steps, size_t count, uint32_t spectrum_count,
                   const char *name, uint64_t first_row, icestream_error *error)
{
    for (size_t i = 0; i < count;) {
        const size_t left = count - i, rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        /* Steps with a profile mostly come together, and no block with one passes. */
        if (rows < BLOCK_ROWS || (steps[i].flags & ~PLAIN_FLAGS) != 0 ||
            !passes_block(&steps[i], spectrum_count)) {
            ICS_TRY(check_rows(&steps[i], rows, spectrum_count, name, first_row + i, error));
        }
        i += rows;
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

int ics_step_check_duplicate(const char *name, const icestream_step *step, uint64_t row,
                             uint64_t first_row, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: row %" PRIu64 ", field step_id: found %" PRIu32
                         " again in event %" PRIu64 " (as in row %" PRIu64
                         "), expected it once per event",
                         name, row, step->step_id, step->event_id, first_row);
}

int ics_step_check_total(const char *name, uint64_t row, uint64_t photons, icestream_error *error)
{
    return photons < PHOTONS_MAX
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: row %" PRIu64 ", field photons: found %" PRIu64
                               " photons up to here, expected a total below 2^62",
                               name, row, photons);
}
