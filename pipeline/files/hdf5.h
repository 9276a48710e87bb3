/* Step and hit tables in HDF5 files (docs/files.md has the layout).
 *
 * Compiled only if HDF5 is found (ICS_HAVE_HDF5). Messages of HDF5 are not printed; they become
 * part of the error text.
 */
#ifndef ICS_FILES_HDF5_H
#define ICS_FILES_HDF5_H

#include "pipeline/icestream.h"

/* Writes the table of the .npy file `from` ("-": of standard input) to the HDF5 file `to`.
 * ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE: standard input is a
 * terminal. */
int ics_hdf5_export(const char *from, const char *to, bool force, icestream_error *error);

/* Writes the table /hits, /steps, /paths or /waveforms of the HDF5 file `from`, whichever comes
 * first in this list, to the .npy file `to` ("-": to standard output). ICESTREAM_E_INPUT,
 * ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_hdf5_import(const char *from, const char *to, bool force, icestream_error *error);

/* Writes the bytes of that .npy file to an open file. ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT,
 * ICESTREAM_E_MEMORY. */
int ics_hdf5_import_into(const char *from, int descriptor, icestream_error *error);

#endif
