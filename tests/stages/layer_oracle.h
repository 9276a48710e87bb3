/* Segments through layers in double precision, written again from physics.md 5.2 and 5.3. The tests
 * of the propagate variants compare with them. */
#ifndef LAYER_ORACLE_H
#define LAYER_ORACLE_H

#include "physics/model.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Layered ice at one wavelength. */
typedef struct layer_oracle {
    size_t count;
    double bottom, thickness;
    double *b, *a;         /* [count] */
    double *sum_b, *sum_a; /* [count + 1], at the faces, from below */
} layer_oracle;

typedef struct oracle_move {
    double length;
    double absorption; /* depth left */
    bool absorbed;
} oracle_move;

/* Computes the coefficients of physics.md 4.2 from the numbers of the model. */
static inline void layer_oracle_set(layer_oracle *c, const ice_medium *medium, double wavelength)
{
    c->count = medium->layer_count;
    c->bottom = medium->bottom;
    c->thickness = medium->thickness;
    const double ws = pow(wavelength / 400.0, -medium->alpha);
    const double wk = pow(wavelength / 400.0, -medium->kappa);
    const double ice = medium->absorption_a * exp(-medium->absorption_b / wavelength);
    c->sum_b[0] = c->sum_a[0] = 0.0;
    for (size_t i = 0; i < c->count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        c->b[i] = (layer->effective_scattering * ws + layer->bubbles) / (1.0 - medium->mean_cosine);
        c->a[i] = layer->dust_absorption * wk + ice * (1.0 + 0.01 * layer->delta_tau);
        c->sum_b[i + 1] = c->sum_b[i] + c->b[i] * c->thickness;
        c->sum_a[i + 1] = c->sum_a[i] + c->a[i] * c->thickness;
    }
    /* The sums are 0 at mid-height, where they are most accurate. The opaque layers of a real model
     * are at the bottom. */
    const double middle_b = c->sum_b[c->count / 2], middle_a = c->sum_a[c->count / 2];
    for (size_t i = 0; i <= c->count; ++i) {
        c->sum_b[i] -= middle_b;
        c->sum_a[i] -= middle_a;
    }
}

static inline layer_oracle layer_oracle_create(const ice_medium *medium, double wavelength)
{
    layer_oracle c = {0};
    c.b = calloc(medium->layer_count, sizeof(double));
    c.a = calloc(medium->layer_count, sizeof(double));
    c.sum_b = calloc(medium->layer_count + 1, sizeof(double));
    c.sum_a = calloc(medium->layer_count + 1, sizeof(double));
    ck_assert(c.b && c.a && c.sum_b && c.sum_a);
    layer_oracle_set(&c, medium, wavelength);
    return c;
}

static inline void layer_oracle_destroy(layer_oracle *c)
{
    free(c->b);
    free(c->a);
    free(c->sum_b);
    free(c->sum_a);
}

static inline size_t oracle_layer_of(const layer_oracle *c, double z)
{
    const double place = floor((z - c->bottom) / c->thickness);
    return place < 0.0 ? 0 : (place >= (double)c->count ? c->count - 1 : (size_t)place);
}

static inline double oracle_face(const layer_oracle *c, size_t layer)
{
    return c->bottom + (double)layer * c->thickness;
}

/* Finds the end of a segment by the algorithm of physics.md 5.2. */
static inline oracle_move layer_oracle_walk(const layer_oracle *c, double ze, double nz,
                                            double tau_sca, double tau_a)
{
    const int sign = nz < 0.0 ? -1 : 1;
    size_t j = oracle_layer_of(c, ze);
    double s = 0.0, z = ze;
    for (;;) {
        const double to_scatter = tau_sca / c->b[j], to_absorption = tau_a / c->a[j];
        const double d = fmin(to_scatter, to_absorption);
        const bool last = sign > 0 ? j == c->count - 1 : j == 0;
        const double next = oracle_face(c, sign > 0 ? j + 1 : j);
        const double to_face = last || nz == 0.0 ? INFINITY : (next - z) / nz;
        if (d <= to_face) {
            const bool absorbed = to_absorption <= to_scatter;
            const oracle_move result = {s + d, absorbed ? 0.0 : tau_a - c->a[j] * d, absorbed};
            return result;
        }
        s += to_face;
        tau_sca -= c->b[j] * to_face;
        tau_a -= c->a[j] * to_face;
        z = next;
        j = sign > 0 ? j + 1 : j - 1;
    }
}

/* Returns the sum at a height. Outside the layers it continues with the slope of the last layer. */
static inline double oracle_sum_at(const layer_oracle *c, const double *sum, const double *slope,
                                   double z)
{
    const size_t j = oracle_layer_of(c, z);
    return sum[j] + slope[j] * (z - oracle_face(c, j));
}

/* Returns the height at which the sum is `target`. */
static inline double oracle_height_at(const layer_oracle *c, const double *sum, const double *slope,
                                      double target)
{
    size_t low = 0, high = c->count - 1;
    while (low < high) {
        const size_t middle = (low + high + 1) / 2;
        if (sum[middle] <= target) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return oracle_face(c, low) + (target - sum[low]) / slope[low];
}

/* Finds the end of a segment by the prefix sums of physics.md 5.3, with the fast path for segments
 * that stay in their layer. */
static inline oracle_move layer_oracle_prefix_sum(const layer_oracle *c, double ze, double nz,
                                                  double tau_sca, double tau_a)
{
    const size_t j = oracle_layer_of(c, ze);
    const double to_scatter = tau_sca / c->b[j], to_absorption = tau_a / c->a[j];
    const double d = fmin(to_scatter, to_absorption);
    const double room = nz < 0.0 ? ze - oracle_face(c, j) : oracle_face(c, j + 1) - ze;
    if (nz == 0.0 || fabs(nz) * d <= room) {
        const bool absorbed = to_absorption <= to_scatter;
        const oracle_move result = {d, absorbed ? 0.0 : tau_a - c->a[j] * d, absorbed};
        return result;
    }
    const double start_s = oracle_sum_at(c, c->sum_b, c->b, ze);
    const double start_p = oracle_sum_at(c, c->sum_a, c->a, ze);
    const double z1 = oracle_height_at(c, c->sum_b, c->b, start_s + nz * tau_sca);
    const double used = fabs(oracle_sum_at(c, c->sum_a, c->a, z1) - start_p) / fabs(nz);
    if (used < tau_a) {
        const oracle_move result = {(z1 - ze) / nz, tau_a - used, false};
        return result;
    }
    const double z2 = oracle_height_at(c, c->sum_a, c->a, start_p + nz * tau_a);
    const oracle_move result = {(z2 - ze) / nz, 0.0, true};
    return result;
}

#endif
