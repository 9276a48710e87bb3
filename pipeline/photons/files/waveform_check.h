/* Whether a file of waveforms is sound (files.md 9). `icestream info --verify` and --resume share
 * these checks. */
#ifndef ICS_PHOTONS_FILES_WAVEFORM_CHECK_H
#define ICS_PHOTONS_FILES_WAVEFORM_CHECK_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* Whether the file can be opened and its rows are bins of waveforms. */
bool ics_waveform_check_is(const char *path);

/* Checks header and trailer: bin_ns, range_ns, hits and outside must be there, and the photon
 * account, if it is there, must have as many hits. `thorough`: all rows are read, so that
 * checksums, values and order are checked, and their hits are counted. *metadata (may be NULL): the
 * trailer, for the caller to release. ICESTREAM_E_INPUT: the first fault; ICESTREAM_E_MEMORY. */
int ics_waveform_check_file(const char *path, bool thorough, json_t **metadata,
                            icestream_error *error);

#endif
