/* Files of photon tables (tables.md 2): a NumPy .npy file of 64-bit integers with the trailer of
 * all files of icestream (files.md 2). */
#ifndef ICS_PHOTONS_TABLE_FILE_H
#define ICS_PHOTONS_TABLE_FILE_H

#include "pipeline/photons/files/output.h"
#include "pipeline/photons/table/table.h"

/* Writes a whole file under a temporary name and gives it its name at the end. Equal tables give
 * equal bytes. `path` "-" is standard output. ICESTREAM_E_OUTPUT: the file exists and `force` is
 * false, the disk is full, ...; ICESTREAM_E_MEMORY. */
int ics_table_write(const ics_table *table, const char *path, bool force, icestream_error *error);
/* The same into an output without bytes, which gets its name. The caller destroys it. */
int ics_table_write_into(const ics_table *table, ics_output *output, icestream_error *error);

/* Whether a regular file begins like a photon table: a .npy file of plain 64-bit integers, where
 * files of steps, hits, paths and waveforms have records. Damaged tables count, too. False with the
 * cause in errno if the file cannot be read, and with 0 in errno if it is something else. */
bool ics_table_file_is(const char *path);

/* Reads a whole file and checks everything in it: shape, metadata, checksums, and that no sum is
 * negative. The caller owns *out. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_table_read(const char *path, ics_table **out, icestream_error *error);
/* The same for an open regular file; `name` is for errors. */
int ics_table_read_descriptor(int file, const char *name, ics_table **out, icestream_error *error);

#endif
