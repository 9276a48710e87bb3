/* The histograms of hits, photons and steps (sink.histograms). */
#ifndef ICS_PHOTONS_CONFIG_HISTOGRAMS_H
#define ICS_PHOTONS_CONFIG_HISTOGRAMS_H

#include "pipeline/photons/config/config.h"
#include "tables/large_axes.h"

/* Bins of all histograms of a configuration, with their under- and overflow. A hit file in work
 * needs 8 bytes for each of them. */
#define ICS_CONFIG_HISTOGRAM_CELLS (1U << 20)

/* Returns the name of a quantity in a configuration, and its unit, which is "" if it has none. */
const char *ics_config_quantity_name(ics_quantity quantity);
const char *ics_config_quantity_unit(ics_quantity quantity);

/* What has a quantity; segments are those of photons. */
typedef enum ics_counted { ICS_COUNTED_HITS, ICS_COUNTED_STEPS, ICS_COUNTED_PHOTONS } ics_counted;
ics_counted ics_config_counted(ics_quantity quantity);

/* Returns the edge of a bin, as ics_bin_edge(). */
double ics_config_histogram_edge(const ics_histogram_axis *axis, uint32_t bin);

/* Whether a histogram of this axis is one of photons with more bins than ICE_PHOTON_BINS. */
bool ics_config_is_large(const ics_histogram_axis *axis);

/* Sets *out to the bins of all histograms of photons but those in *large, which have more bins than
 * ICE_PHOTON_BINS. Both are in the order of the configuration. An edge becomes the first word that
 * is not below it (stages/histograms/photon_histogram.h). */
void ics_config_photon_axes(const icestream_config *config, ice_photon_axes *out,
                            ics_large_axes *large);

/* Checks all histograms together, and with other keys. Adds an error. ICESTREAM_E_CONFIG. */
int ics_config_histograms_check(const icestream_config *config, icestream_error *error);

#endif
