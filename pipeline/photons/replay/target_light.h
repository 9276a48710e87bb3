/* What a target changes of the light and of its detection: spectra, acceptance by wavelength and by
 * direction, efficiencies, axes, cables and voltages of modules.
 *
 * Hits of photons stand for all light of their wavelengths, detected or not (physics.md 3.2), so
 * that only spectra change their weights. Photo-electrons are the share of it that is detected. Per
 * photon of the source, and with the step weight 1, their numbers are proportional to
 *
 *   photons           q(wl) kept / bias(wl)           q: density of the wavelengths that are drawn
 *   photo-electrons   q(wl) kept P(hit)               P: the probability of the stage detect
 *
 * and the weight of a hit is the ratio of both runs. */
#ifndef ICS_PHOTONS_REPLAY_TARGET_LIGHT_H
#define ICS_PHOTONS_REPLAY_TARGET_LIGHT_H

#include "pipeline/photons/models/models.h"

/* A comparison of two runs. */
typedef struct ics_target_light ics_target_light;

/* The hits whose weights are wanted. */
typedef struct ics_target_hits {
    const icestream_step *steps; /* [count], the step of each hit */
    size_t count;
    ics_hit_content content; /* never AUTO or WAVEFORMS */
} ics_target_hits;

/* Compares light and detection of the run that made hits with those of a target. Geometry and
 * medium were compared before. Both models must outlive *out. ICESTREAM_E_CONFIG: the target makes
 * or detects light of which the run made no hits (another line, an acceptance of 0), changes the
 * detection of a file with both kinds of rows, or differs in PMTs; the text has the key and both
 * values. ICESTREAM_E_MEMORY. The caller destroys *out. `name`: of the target, for messages. */
int ics_target_light_create(const ics_models *own, const ics_models *other,
                            const ics_target_hits *hits, const char *name, ics_target_light **out,
                            icestream_error *error);
/* Accepts NULL. */
void ics_target_light_destroy(ics_target_light *light);

/* Returns the weight of a hit of this step, >= 0; exactly 1 if nothing differs. NAN: the hit is
 * none of the run. Several threads may call this at the same time. */
double ics_target_light_weight(const ics_target_light *light, const icestream_hit *hit,
                               const icestream_step *step);

#endif
