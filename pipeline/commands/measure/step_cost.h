/* What steps cost before they are computed: the expected number of bounces of their photons.
 *
 * A photon that starts in layer j with the wavelength wl scatters S_j(wl) times before it is
 * absorbed. S solves the equation of diffusion across the layers,
 *
 *     -d/dz (D dS/dz) + a S = b,     D = 1 / (3 (a + b_e)),
 *
 * with the absorption a, the geometric scattering b and the effective scattering b_e of each layer
 * (1/m, physics.md 4.2). In ice without layers S is b/a. The reach bound (physics.md 5.1) drops a
 * photon as soon as its depth of absorption cannot carry it to a module. So bounce n happens with
 * the probability exp(-a L_n - R_n), where L_n is the path before it and R_n the depth of
 * absorption of the straight way from its start to the nearest module. R_0 is that of the start.
 * For all later bounces R is the depth of the mean way, over the positions of photons while they
 * live. With graph.reach_cull off, both are 0. A photon then makes
 *
 *     n = exp(-R_0) + exp(-R) min(S, run.bounce_limit - 1)
 *
 * bounces on average. A spectrum is ICS_STEP_COST_NODES wavelengths of equal probability.
 *
 * Not in the estimate: hits (a detected photon ends early), hole ice, anisotropy, birefringence as
 * a scatterer, edges of the world, headers of the user. docs/production.md compares the estimate
 * with counted bounces.
 */
#ifndef ICS_COMMANDS_MEASURE_STEP_COST_H
#define ICS_COMMANDS_MEASURE_STEP_COST_H

#include "base/cleanup.h"
#include "pipeline/photons/session/world.h"

enum { ICS_STEP_COST_NODES = 16 };

typedef struct ics_step_cost ics_step_cost;

/* Prepares the estimate. `world` is that of the configuration and must outlive *out. The caller
 * destroys *out. ICESTREAM_E_MEMORY. */
int ics_step_cost_create(const icestream_config *config, const ics_world *world,
                         ics_step_cost **out, icestream_error *error);
/* Accepts NULL. */
void ics_step_cost_destroy(ics_step_cost *cost);
ICS_CAN_DESTROY(ics_step_cost, ics_step_cost_destroy)

/* Returns the expected bounces of all photons of a step, which was checked with the spectra of the
 * world. >= 0. Several threads may call it. */
double ics_step_cost_bounces(const ics_step_cost *cost, const icestream_step *step);

#endif
