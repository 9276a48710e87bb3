/* Histograms (sink.histograms): numbers of hits, photons and steps in bins of their quantities.
 *
 * Counts are whole numbers, so they do not depend on the order in which hits are added. A bin
 * contains its lower edge and not its upper one. Every axis has an underflow in front of its bins
 * and an overflow behind them. */
#ifndef ICS_PHOTONS_COLLECT_HIT_HISTOGRAMS_H
#define ICS_PHOTONS_COLLECT_HIT_HISTOGRAMS_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/config/config.h"

#include <jansson.h>

typedef struct ics_hit_histograms ics_hit_histograms;

/* Makes empty histograms from checked configurations. The caller gives *out to
 * ics_hit_histograms_destroy(). ICESTREAM_E_MEMORY. */
int ics_hit_histograms_create(const ics_histogram_config *configs, size_t count,
                              ics_hit_histograms **out, icestream_error *error);
/* Accepts NULL. */
void ics_hit_histograms_destroy(ics_hit_histograms *histograms);
ICS_CAN_DESTROY(ics_hit_histograms, ics_hit_histograms_destroy)

/* Counts hits in the histograms of hits. */
void ics_hit_histograms_add(ics_hit_histograms *histograms, const icestream_hit *hits,
                            size_t count);
/* Adds the counts of photons that have ended, in the cells of ics_config_photon_axes(), to the
 * histograms of photons. `large`: of those with more bins; NULL: there are none. */
void ics_hit_histograms_add_photons(ics_hit_histograms *histograms, const uint64_t *cells,
                                    const uint64_t *large);
/* Counts a step with this number of photons in the histograms of steps. */
void ics_hit_histograms_add_step(ics_hit_histograms *histograms, uint32_t photons);
/* Moves the counts of histograms with the same configurations here; those of `from` are 0
 * afterwards. */
void ics_hit_histograms_merge(ics_hit_histograms *histograms, ics_hit_histograms *from);

/* Returns the histograms as a new array of JSON, one object for each, in the schema of the Unified
 * Histogram Interface, version 1 (uhi.readthedocs.io). NULL: no memory. */
json_t *ics_hit_histograms_json(const ics_hit_histograms *histograms);

#endif
