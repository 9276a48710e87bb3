/* Small worlds for tests of stages, kernels and graphs: ice, detector and light in a few lines, or
 * from a configuration, and the tables made of them. Everything here fails the test on errors. */
#ifndef STAGE_WORLD_H
#define STAGE_WORLD_H

#include "graphs/graph.h"
#include "pipeline/models/models.h"
#include "tables/tables.h"

/* A world. Its parts may be changed between building tables. */
typedef struct stage_world {
    ice_medium *medium;
    ice_detector *detector;
    ice_light *light;
    ics_models *models; /* owner of the three where they came from a configuration, else NULL */
    ics_table_options options; /* seed 1, bounce limit 10000, reach cull on */
    ics_tables *tables;        /* NULL before stage_world_tables() */
} stage_world;

/* ---- parts ---------------------------------------------------------------------------------- */

/* One layer. lambda_s and lambda_a (m) are those at 400 nm: the geometric scattering length and the
 * absorption length, which has no part from clear ice. The wavelength exponents are those of the
 * built-in ice. */
ice_medium *world_medium_uniform(double lambda_s, double g, double liu_fraction, double lambda_a);

/* Layers from below, b[count] and a[count]: geometric scattering and absorption coefficient at
 * 400 nm, 1/m; no part from clear ice. g = 0.9, f_SL = 0.35. */
ice_medium *world_medium_layered(double bottom, double thickness, size_t count, const double *b,
                                 const double *a);

/* Gives layered ice what `features` (ICE_HAS_...) say, stronger than ice has it: shifts of up to
 * 40 m, k = (0.85, 1.1), directions that absorb three times as much as others, twice the published
 * birefringence, columns of 0.6 m. */
void world_medium_add(ice_medium *medium, uint32_t features);

/* Modules of 0.1651 m at positions[count][3], each on a string of its own (numbered from 1, the
 * only module of which is 1). Photons end on hits. */
ice_detector *world_detector(const double (*positions)[3], size_t count, double oversize);
/* One module, far away from everything: for worlds that need none. */
ice_detector *world_detector_far(void);

/* Modules in all directions around the origin. */
typedef struct world_ring {
    double radius;   /* m, of the modules from the origin */
    size_t modules;  /* spread evenly over the sphere of this radius */
    double expected; /* what the test expects per module: fraction of photons, or fluence (1/m^2) */
} world_ring;

/* The modules of all rings, WORLD_RING_MODULES at most. Modules do not shade each other: photons do
 * not end on hits. */
enum { WORLD_RING_MODULES = 800 };
ice_detector *world_detector_rings(const world_ring *rings, size_t count, double oversize);

/* Light of one wavelength, nm, bias 1: the line is spectrum 0 (on the Cherenkov cone) and spectrum
 * 1 (along the step's direction). */
ice_light *world_light_line(double wavelength);

/* ---- worlds --------------------------------------------------------------------------------- */

/* Takes over the parts. */
stage_world stage_world_create(ice_medium *medium, ice_detector *detector, ice_light *light);

/* The models of a run file's text (NULL: defaults) with overrides "path=value", NULL after the
 * last: stage_world_from_config(NULL, "ice.model=uniform", "detector.oversize=1", NULL). */
stage_world stage_world_from_config(const char *yaml, ...) __attribute__((sentinel));

/* Puts another detector in place; the old one goes. Likewise ice and light. */
void stage_world_set_detector(stage_world *world, ice_detector *detector);
void stage_world_set_medium(stage_world *world, ice_medium *medium);
void stage_world_set_light(stage_world *world, ice_light *light);

/* Builds the tables from the parts as they are now; tables built before are gone. */
const ice_tables *stage_world_tables(stage_world *world);

void stage_world_destroy(stage_world *world);

/* ---- runs ----------------------------------------------------------------------------------- */

/* The variants that a run has by default. */
ice_variants world_variants(void);

/* Arrivals of a run in the order of (emission, photon, path, module), and its account. */
typedef struct world_result {
    ics_arrivals arrivals;
    ice_account account;
} world_result;

/* Carries the emissions through a graph of the world's tables (built before), all in one batch.
 * pool 0: the graph's choice. */
world_result world_run(const stage_world *world, ics_schedule schedule,
                       const ice_variants *variants, const char *instruction_set, uint32_t pool,
                       const ice_emission *emissions, uint32_t count);
void world_result_free(world_result *result);
/* Sorts arrivals as world_run does. */
void world_sort(ics_arrivals *arrivals);

#endif
