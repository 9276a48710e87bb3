/* Photons in ice without modules. A test sees every segment.
 *
 * The loop calls the stage functions in the order and with the random numbers of a run, but none of
 * the kernels: it measures the physics of stages/ at the speed of a run. Photons that a run would
 * drop because they cannot reach a module are followed to their end.
 */
#ifndef WALK_H
#define WALK_H

#include "stages/photon.h"
#include "stages/tables.h"
#include "stages/variants.h"

enum { WALK_WIDTH = 512 };

/* Segments of `count` photons. Their lengths are known, and the photons are still at their starts.
 */
typedef struct walk_block {
    uint32_t count;
    ice_random random[WALK_WIDTH]; /* of the bounce that begins with the segment */
    uint32_t photon_id[WALK_WIDTH];
    uint32_t scatters[WALK_WIDTH];                        /* before the segment */
    float x[WALK_WIDTH], y[WALK_WIDTH], z[WALK_WIDTH];    /* start of the segment, m */
    float dx[WALK_WIDTH], dy[WALK_WIDTH], dz[WALK_WIDTH]; /* its direction */
    float path[WALK_WIDTH];                               /* flown before it, m */
    float length[WALK_WIDTH];                             /* of the segment, m */
    float absorption[WALK_WIDTH];                         /* optical depth left at its end */
    float wavelength[WALK_WIDTH];                         /* nm */
    /* for the walk alone */
    float optics_scattering[WALK_WIDTH], optics_dust[WALK_WIDTH], optics_ice[WALK_WIDTH];
    uint32_t leaves[WALK_WIDTH];
} walk_block;

/* Whether the photon in slot i is absorbed at the end of its segment. */
static inline bool walk_absorbed(const walk_block *block, uint32_t i)
{
    return block->absorption[i] < ICE_ABSORPTION_END;
}

typedef struct walk_job {
    const ice_tables *tables;
    const ice_emission *emission; /* all photons come from this one */
    ice_variants variants;
    uint32_t first_photon, photons; /* photon_id of the first, and how many */
    float path_limit;               /* a photon stops after the segment that reaches this path, m */
    uint32_t scatter_limit;         /* ... or after this number of scatters */
    void (*visit)(void *user, const walk_block *block);
    void *user;
} walk_job;

/* Follows the photons of the job, WALK_WIDTH at a time. */
void walk_run(const walk_job *job);
/* Does the same with each half of the photons on its own thread. users[0] gets the visits of the
 * first half, users[1] those of the second half. */
void walk_run_halves(const walk_job *job, void *const users[2]);

#endif
