/* Writes the waveforms of one input, from the sums of its batches (files/hit_bins.h). */
#ifndef ICS_PHOTONS_COLLECT_WAVEFORM_ROWS_H
#define ICS_PHOTONS_COLLECT_WAVEFORM_ROWS_H

#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/files/table_writer.h"

/* Merges the sums of a collector, which keeps them, and appends the rows to a writer of
 * ics_layout_waveforms(). The errors of ics_collector_merge(), ics_table_writer_append() and
 * ics_hit_bins_rows_add(). */
int ics_waveform_rows_write(ics_collector *collector, const ics_bin_rule *rule,
                            ics_table_writer *writer, const atomic_bool *cancel,
                            ics_bin_totals *out, icestream_error *error);

#endif
