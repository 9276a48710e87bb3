#include "pipeline/photons/generator/workload.h"

#include "base/error.h"
#include "physics/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ics_workload {
    ics_workload_kind kind;
    uint64_t steps;
    uint32_t photons_per_step;
    bool shuffled;
    icestream_step point; /* every step of a point workload, except number and photons */
    uint64_t event;
};

/* The position of light along the shower of the cascade is the sum of eight exponential random
 * numbers with this mean (m). */
#define CASCADE_SCALE 0.6145756974877958
#define CASCADE_DRAWS 8
#define CASCADE_START (-400.0) /* z of the electron (m), which travels downwards */
/* Constants of the angle a between the emitting particle and the shower axis: the density of
 * 1 - cos a (physics.md 10.3). */
#define ANGLE_SLOPE    2.61
#define ANGLE_EXPONENT 0.39

#define UNIFORM_EDGE   1000.0 /* edge (m) of a cube around the detector's centre */
#define STEP_LENGTH    0.001  /* (m) */

/* Every step uses this number of random numbers. The last two decide its number of photons. */
#define DRAWS_PER_STEP 16
#define DRAW_SIDE      14
#define DRAW_SHARE     15

/* Returns the n-th output of splitmix64 from state 1, as a double in [0, 1). */
static double draw(uint64_t n)
{
    uint64_t z = 1 + (n + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static double step_draw(uint64_t step, unsigned k)
{
    return draw(DRAWS_PER_STEP * step + k);
}

/* Returns the number of photons of a step. Shuffling moves photons between the two halves of the
 * steps and keeps the total: a step of the first half gets 0.1 to 1.9 times photons_per_step, and
 * its partner in the second half gets what is left of twice photons_per_step. If the number of
 * steps is odd, the last step has no partner and gets photons_per_step. */
static uint32_t step_photons(const ics_workload *workload, uint64_t step)
{
    uint64_t half = workload->steps / 2;
    if (!workload->shuffled || step >= 2 * half) {
        return workload->photons_per_step;
    }
    uint64_t giver = step < half ? step : step - half;
    double share = 0.1 + 0.8 * step_draw(giver, DRAW_SHARE);
    if (step_draw(giver, DRAW_SIDE) < 0.5) {
        share += 1;
    }
    uint32_t taken = (uint32_t)floor(share * workload->photons_per_step);
    return step < half ? taken : 2 * workload->photons_per_step - taken;
}

static void set_direction(icestream_step *step, double cosine, double azimuth)
{
    double theta = acos(cosine);
    step->dx = (float)(sin(theta) * cos(azimuth));
    step->dy = (float)(sin(theta) * sin(azimuth));
    step->dz = (float)cos(theta);
}

static void make_cascade(uint64_t number, icestream_step *step)
{
    double along = 0;
    for (unsigned k = 0; k < CASCADE_DRAWS; ++k) {
        along -= CASCADE_SCALE * log(1 - step_draw(number, k));
    }
    step->z = (float)(CASCADE_START - along);
    step->t = along / ICE_LIGHT_SPEED;

    double inside = 1 - exp(-ANGLE_SLOPE * pow(2, ANGLE_EXPONENT));
    double opening = -log(1 - step_draw(number, 8) * inside) / ANGLE_SLOPE;
    double cosine = fmax(1 - pow(opening, 1 / ANGLE_EXPONENT), -1);
    set_direction(step, -cosine, 2 * M_PI * step_draw(number, 9));
}

static void make_uniform(uint64_t number, icestream_step *step)
{
    step->x = (float)(-UNIFORM_EDGE / 2 + UNIFORM_EDGE * step_draw(number, 0));
    step->y = (float)(-UNIFORM_EDGE / 2 + UNIFORM_EDGE * step_draw(number, 1));
    step->z = (float)(-UNIFORM_EDGE / 2 + UNIFORM_EDGE * step_draw(number, 2));
    set_direction(step, 2 * step_draw(number, 3) - 1, 2 * M_PI * step_draw(number, 4));
    /* The steps are independent of each other, so each has its own source; the steps of the
     * other kinds share source 0. */
    step->source_id = number;
}

static int make_point(const icestream_config *config, icestream_step *step, icestream_error *error)
{
    step->x = (float)config->workload.position[0];
    step->y = (float)config->workload.position[1];
    step->z = (float)config->workload.position[2];
    step->t = config->workload.time;
    step->beta = 1;
    step->weight = 1;
    step->spectrum = config->workload.spectrum;
    step->kind = ICESTREAM_KIND_POINT;
    if (config->workload.isotropic) {
        step->dz = 1;
        step->length = (float)config->workload.surface_radius;
        step->flags |= ICESTREAM_STEP_ISOTROPIC;
        if (step->length > 0) {
            step->kind = ICESTREAM_KIND_FLASHER;
        }
        return ICESTREAM_OK;
    }
    const double *direction = config->workload.direction;
    double norm = hypot(hypot(direction[0], direction[1]), direction[2]);
    if (!(norm > 0) || !isfinite(norm)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "workload.direction: found [%g, %g, %g], expected a vector with a "
                             "finite length above 0, or isotropic",
                             direction[0], direction[1], direction[2]);
    }
    step->dx = (float)(direction[0] / norm);
    step->dy = (float)(direction[1] / norm);
    step->dz = (float)(direction[2] / norm);
    return ICESTREAM_OK;
}

int ics_workload_create(const icestream_config *config, ics_workload **out, icestream_error *error)
{
    ics_workload *workload = calloc(1, sizeof *workload);
    if (workload == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "workload: out of memory");
    }
    workload->kind = config->workload.kind;
    workload->steps = config->workload.steps;
    workload->photons_per_step = config->workload.photons_per_step;
    workload->shuffled = config->workload.counts == ICS_COUNTS_SHUFFLED;
    workload->event = config->workload.event;
    int status = ICESTREAM_OK;
    if (workload->kind == ICS_WORKLOAD_POINT) {
        status = make_point(config, &workload->point, error);
    }
    if (status != ICESTREAM_OK) {
        ics_workload_destroy(workload);
        return status;
    }
    *out = workload;
    return ICESTREAM_OK;
}

void ics_workload_destroy(ics_workload *workload)
{
    free(workload);
}

uint64_t ics_workload_steps(const ics_workload *workload)
{
    return workload->steps;
}

uint64_t ics_workload_photons(const ics_workload *workload)
{
    return workload->steps * workload->photons_per_step;
}

void ics_workload_fill(const ics_workload *workload, uint64_t first, size_t count,
                       icestream_step *steps)
{
    static const icestream_step common = {
        .length = (float)STEP_LENGTH, .beta = 1, .weight = 1, .kind = ICESTREAM_KIND_CASCADE};
    for (size_t i = 0; i < count; ++i) {
        icestream_step *step = &steps[i];
        uint64_t number = first + i;
        *step = workload->kind == ICS_WORKLOAD_POINT ? workload->point : common;
        if (workload->kind == ICS_WORKLOAD_CASCADE) {
            make_cascade(number, step);
        } else if (workload->kind == ICS_WORKLOAD_UNIFORM) {
            make_uniform(number, step);
        }
        step->photons = step_photons(workload, number);
        step->flags |= ICESTREAM_STEP_NOT_THINNED;
        step->event_id = workload->event;
        step->step_id = (uint32_t)number;
    }
}

bool ics_workload_source(const icestream_config *config, double position[3], double direction[3])
{
    const double start[3] = {0, 0, CASCADE_START}, down[3] = {0, 0, -1};
    if (config->workload.kind != ICS_WORKLOAD_CASCADE) {
        return false;
    }
    memcpy(position, start, sizeof start);
    memcpy(direction, down, sizeof down);
    return true;
}

const char *ics_workload_name(const ics_workload *workload)
{
    switch (workload->kind) {
    case ICS_WORKLOAD_POINT:
        return "point";
    case ICS_WORKLOAD_UNIFORM:
        return "uniform";
    case ICS_WORKLOAD_CASCADE:
        break;
    }
    return "cascade";
}
