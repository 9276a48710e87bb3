/* Particles of a run file and their steps, for tests. Every function fails the test on errors. */
#ifndef PARTICLE_WORLD_H
#define PARTICLE_WORLD_H

#include "pipeline/photons/models/models.h"
#include "tests/support/config_text.h"
#include "tests/support/moments.h"
#include "tests/support/particle_fill.h"

#include <stdlib.h>

#define YIELD 2456.51 /* photons per metre of track (1/m), physics.md 3.3 */
#define EM    5.25403 /* length of track per energy of an electromagnetic cascade (m/GeV), 3.5 */

/* Modules with their true size and the same acceptance from all sides, for which YIELD holds. */
#define PLAIN "detector: {oversize: 1, angular_acceptance: none}\n"

/* The place and direction of a particle in a list: at the origin, downwards. */
#define HERE "x: 0, y: 0, z: 0, zenith: 0, azimuth: 0"

/* A configuration and its steps. */
typedef struct world {
    icestream_config *config;
    ics_models *models;
    ics_light_setup *setup;
    ics_particle_steps *steps;
} world;

/* Opens the text of a run file. The caller closes the world. */
static inline world open_world(const char *text)
{
    world w = {.config = load(text)};
    icestream_error error = {0};
    ics_particle_source *source = NULL;
    ck_assert_msg(ics_models_create(w.config, &w.models, &error) == ICESTREAM_OK, "%s", error.text);
    w.setup = malloc(sizeof *w.setup);
    ck_assert_ptr_nonnull(w.setup);
    *w.setup = ics_light_setup_of(w.config, w.models);
    ck_assert_msg(ics_particle_source_open(w.config, -1, &source, &error) == ICESTREAM_OK &&
                      ics_particle_steps_of(source, w.setup, &w.steps, &error) == ICESTREAM_OK,
                  "%s", error.text);
    return w;
}

/* Opens a list of particles: `options` are further keys of `particles`, each with a comma after it.
 */
static inline world open_particles(const char *options, const char *list)
{
    char text[4096];
    snprintf(text, sizeof text, PLAIN "particles: {%s list: [%s]}\n", options, list);
    return open_world(text);
}

/* Opens a list of equal particles, each in its own event. `particle` are its keys other than
 * event, position and direction, `options` as in open_particles(). */
static inline world open_equal_particles(const char *options, const char *particle, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fprintf(out, PLAIN "particles: {%s list: [", options);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, "{%s, event: %zu, " HERE "}, ", particle, i);
    }
    fputs("]}\n", out);
    fclose(out);
    world w = open_world(text);
    free(text);
    return w;
}

static inline void close_world(world *w)
{
    ics_particle_steps_destroy(w->steps);
    free(w->setup);
    ics_models_destroy(w->models);
    icestream_config_destroy(w->config);
}

/* The next steps, at most `capacity`. Returns their number, less than `capacity` at the end. */
static inline size_t fill(world *w, icestream_step *steps, size_t capacity)
{
    icestream_error error = {0};
    size_t count;
    ck_assert_msg(particle_fill(w->steps, steps, capacity, &count, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return count;
}

/* Returns all steps; the caller frees them. */
static inline icestream_step *fill_all(world *w, size_t *count)
{
    size_t capacity = 1024;
    icestream_step *steps = NULL;
    *count = 0;
    for (;;) {
        steps = realloc(steps, capacity * sizeof *steps);
        ck_assert_ptr_nonnull(steps);
        *count += fill(w, steps + *count, capacity - *count);
        if (*count < capacity) {
            return steps;
        }
        capacity *= 2;
    }
}

/* Makes all steps and returns their totals. */
static inline ics_particle_totals count_all(world *w)
{
    icestream_step *steps = calloc(4096, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    while (fill(w, steps, 4096) == 4096) {
        continue;
    }
    free(steps);
    return ics_particle_steps_totals(w->steps);
}

/* Returns the number of photons of a list of particles. */
static inline double photons_of(const char *options, const char *list)
{
    char all[256];
    snprintf(all, sizeof all, "%s photons_per_step: 100000,", options);
    world w = open_particles(all, list);
    const double photons = (double)count_all(&w).photons;
    close_world(&w);
    return photons;
}

/* Compares numbers of photons, within the statistical error of `expected` and 2e-6 of it. */
static inline void expect_photons(const char *what, double photons, double expected)
{
    expect_value(what, photons, sqrt(expected), expected, 2e-6 * expected);
}

#endif
