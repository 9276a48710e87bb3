/* Small worlds for tests of stages, kernels and graphs: ice, detector and light from a few lines of
 * code or from a configuration, and the tables that are built from them. Every function fails the
 * test on errors. */
#ifndef STAGE_WORLD_H
#define STAGE_WORLD_H

#include "graphs/graph.h"
#include "pipeline/photons/models/models.h"
#include "tables/tables.h"

/* A world. Its parts may be changed between building tables. */
typedef struct stage_world {
    ice_medium *medium;
    ice_detector *detector;
    ice_light *light;
    ics_models *models; /* owner of the three parts if they come from a configuration, or NULL */
    ics_table_options options; /* seed 1, bounce limit 10000, reach cull on */
    ics_tables *tables;        /* NULL before stage_world_tables() */
} stage_world;

/* ---- parts ---------------------------------------------------------------------------------- */

/* Ice of one layer. lambda_s and lambda_a (m): geometric scattering length and absorption length at
 * 400 nm, without the absorption of clear ice. The wavelength exponents are those of the built-in
 * ice. */
ice_medium *world_medium_uniform(double lambda_s, double g, double liu_fraction, double lambda_a);

/* Layers from the lowest one. b[count] and a[count]: geometric scattering and absorption
 * coefficient at 400 nm (1/m), without the absorption of clear ice. g = 0.9, f_SL = 0.35. */
ice_medium *world_medium_layered(double bottom, double thickness, size_t count, const double *b,
                                 const double *a);

/* Adds features (ICE_HAS_...) to layered ice, stronger than those of real ice: shifts of up to 40
 * m, k = (0.85, 1.1), directions that absorb three times as much as others, twice the published
 * birefringence, columns of 0.6 m. */
void world_medium_add(ice_medium *medium, uint32_t features);

/* Modules with a radius of 0.1651 m at positions[count][3]. Each is module 1 of another string;
 * strings are numbered from 1. Photons end on hits. */
ice_detector *world_detector(const double (*positions)[3], size_t count, double oversize);
/* rows x rows strings, 40 m apart, from the origin on. Each string has its number and 5 modules.
 * Every second string leans so much that it has no axis. rows <= WORLD_LEANING_ROWS. */
enum { WORLD_LEANING_ROWS = 70 };
ice_detector *world_detector_leaning(size_t rows, double oversize);
/* One module far away, for worlds that need no detector. */
ice_detector *world_detector_far(void);

/* Modules in all directions around the origin. */
typedef struct world_ring {
    double radius;   /* distance of the modules from the origin (m) */
    size_t modules;  /* spread evenly over the sphere of this radius */
    double expected; /* what the test expects per module: fraction of photons, or fluence (1/m^2) */
} world_ring;

/* A detector of the modules of all rings, WORLD_RING_MODULES at most. Photons do not end on hits,
 * so modules do not shade each other. */
enum { WORLD_RING_MODULES = 800 };
ice_detector *world_detector_rings(const world_ring *rings, size_t count, double oversize);

/* Light of one wavelength (nm) with bias 1. Spectrum 0 emits it on the Cherenkov cone, spectrum 1
 * along the step's direction. */
ice_light *world_light_line(double wavelength);

/* ---- worlds --------------------------------------------------------------------------------- */

/* Makes a world, which owns the parts from now on. */
stage_world stage_world_create(ice_medium *medium, ice_detector *detector, ice_light *light);

/* The models of a run file's text (NULL: defaults) with overrides "path=value", NULL after the
 * last: stage_world_from_config(NULL, "ice.model=uniform", "detector.oversize=1", NULL). */
stage_world stage_world_from_config(const char *yaml, ...) __attribute__((sentinel));

/* Replace the detector or the ice, and destroy the old one. */
void stage_world_set_detector(stage_world *world, ice_detector *detector);
void stage_world_set_medium(stage_world *world, ice_medium *medium);

/* Builds the tables from the present parts. Destroys tables that were built before. */
const ice_tables *stage_world_tables(stage_world *world);
/* Returns the horizontal distance (m) from (x, y) to the edge of the nearest module; 0 where this
 * is negative. */
double world_clearance(const ice_tables *tables, double x, double y);

void stage_world_destroy(stage_world *world);

/* ---- runs ----------------------------------------------------------------------------------- */

/* The default variants of a run. */
ice_variants world_variants(void);

/* Arrivals of a run in the order of (emission, photon, path, module), and its account. */
typedef struct world_result {
    ics_arrivals arrivals;
    ice_account account;
} world_result;

/* Propagates the emissions, all in one batch, through a graph of the world's tables, which must
 * have been built. pool 0: the graph chooses. */
world_result world_run(const stage_world *world, ics_schedule schedule,
                       const ice_variants *variants, const char *instruction_set, uint32_t pool,
                       const ice_emission *emissions, uint32_t count);
void world_result_free(world_result *result);
/* Sorts arrivals as world_run does. */
void world_sort(ics_arrivals *arrivals);

#endif
