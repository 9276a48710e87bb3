/* Light around an isotropic point source in uniform ice: what physics.md 12.2 expects in shells and
 * on modules. The CPU and the GPU suites measure it, and compare here. Every comparison is printed,
 * and fails the test as moments.h states. `where` is added to the name of each comparison, such as
 * "" or
 * ", fast". */
#ifndef POINT_SOURCE_H
#define POINT_SOURCE_H

#include "graphs/graph.h"
#include "tests/support/stage_world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Photons of one measurement, before the suite scales it. */
enum { POINT_SOURCE_PHOTONS = 10000000 };

/* ---- shells ---------------------------------------------------------------------------------- */

enum {
    SHELLS = 7,         /* each 1 m thick */
    SHELL_SHARES = 5,   /* quantiles of the excess path */
    SHELL_BATCHES = 32, /* groups of photons, to measure how much results scatter */
    SHELL_BINS = 1500   /* of 1 m of excess path */
};

/* What an independent program found with 6e6 photons. */
typedef struct shell_reference {
    double radius;                  /* m */
    double fluence;                 /* per photon, 1/m^2 */
    double error;                   /* statistical error of the fluence, 1/m^2 */
    double quantiles[SHELL_SHARES]; /* of the excess path, m: path length less radius */
} shell_reference;

extern const shell_reference shell_references[SHELLS];

/* Compares the fluence and the excess path in shell k with the reference. Bin i of batch n is
 * bins[n * SHELL_BINS + i]: the path length (m) in the shell at that excess path. `count` is the
 * number of photons in all batches. Returns the fluence per photon (1/m^2). */
double expect_shell(int k, const double *bins, double count, const char *where);

/* ---- modules on rings ------------------------------------------------------------------------ */

enum { RINGS_MAX = 4 };

/* A run with modules on rings around the source. */
typedef struct ring_run {
    ice_medium *medium; /* ring_world() takes it over */
    const world_ring *rings;
    size_t ring_count;
    double oversize;
    bool direct; /* count only photons that did not scatter */
    uint64_t seed;
    uint32_t photons; /* before the suite scales it */
} ring_run;

typedef struct ring_tally {
    double emitted;            /* photons */
    double hits[RINGS_MAX];    /* per ring */
    double squares[RINGS_MAX]; /* per ring: sum over photons of (hits of the photon)^2 */
} ring_tally;

/* The ring of a module. */
size_t ring_of(const ring_run *run, uint32_t module);

/* Makes the world of a run, with light of 400 nm. The tables are built. */
stage_world ring_world(const ring_run *run);

/* Adds arrivals to the hits of a tally. All arrivals of one photon must follow each other. */
void ring_tally_add(ring_tally *tally, const ring_run *run, const ics_arrivals *arrivals);

/* Carries out a run and returns what it found. `user` is for the suite. */
typedef ring_tally ring_runner(const ring_run *run, void *user);

/* Compares direct light on modules of true size with the fractions of physics.md 12.2, in one of
 * DIRECT_LIGHTS cases. `slack` is the part of a fraction by which the expectation is uncertain:
 * where there should be no scattering or no absorption, its length is 1e7 m, which is 2e-6 at 20 m.
 */
enum { DIRECT_LIGHTS = 3 };
void expect_direct_fractions(int which, ring_runner *runner, void *user, uint64_t seed,
                             double slack, const char *where);

/* Compares the hits of modules with oversize 1, 2 and 5 with the fluence at their distance, and
 * with each other. The runs have the seeds `seed`, `seed` + 1 and `seed` + 2. */
void expect_hits_scale_with_size(ring_runner *runner, void *user, uint64_t seed, const char *where);

#endif
