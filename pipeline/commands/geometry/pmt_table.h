/* The table of all modules and their PMTs. */
#ifndef ICS_COMMANDS_GEOMETRY_PMT_TABLE_H
#define ICS_COMMANDS_GEOMETRY_PMT_TABLE_H

#include "physics/model.h"
#include "pipeline/icestream.h"

/* Writes a row for each module, with pmt -1, and behind it a row for each of its PMTs
 * (docs/detectors.md). `height` (m) is added to z to give z of the detector's file. A name that
 * ends in .npy is a NumPy array, every other one is CSV; "-" is CSV on standard output.
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_pmt_table_write(const ice_detector *detector, double height, const char *path, bool force,
                        icestream_error *error);

#endif
