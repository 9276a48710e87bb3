/* Step and hit tables in HDF5 files (docs/files.md has the layout).
 *
 * Compiled only where HDF5 is found (IS_HAVE_HDF5). HDF5's own messages are kept off stderr and
 * become part of the error text.
 */
#ifndef IS_HDF5_H
#define IS_HDF5_H

#include "pipeline/icestream.h"

/* Writes the table of the .npy file `from` to the HDF5 file `to`. IS_E_INPUT, IS_E_OUTPUT,
 * IS_E_MEMORY. */
int is_hdf5_export(const char *from, const char *to, bool force, is_error *error);

/* Writes the table /steps or /hits of the HDF5 file `from` to the .npy file `to`. IS_E_INPUT,
 * IS_E_OUTPUT, IS_E_MEMORY. */
int is_hdf5_import(const char *from, const char *to, bool force, is_error *error);

#endif
