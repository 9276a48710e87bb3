/* What export to and import from HDF5 share; private to hdf5_*.c. */
#ifndef ICS_FILES_HDF5_COMMON_H
#define ICS_FILES_HDF5_COMMON_H

#include "pipeline/icestream.h"

#include <hdf5.h>

/* The attribute of the dataset /metadata that holds the CRC-32C of its bytes. */
#define ICS_HDF5_CHECKSUM "crc32c"

/* How HDF5 reports errors in this process. */
typedef struct ics_hdf5_silence {
    H5E_auto2_t function;
    void *data;
} ics_hdf5_silence;

/* Keeps HDF5 from printing its errors, in the whole process. Returns what to give to
 * ics_hdf5_speak_again(), which undoes it. */
ics_hdf5_silence ics_hdf5_be_silent(void);
void ics_hdf5_speak_again(const ics_hdf5_silence *before);

/* An error with HDF5's own reason: "PATH: WHAT: HDF5 says: REASON". */
int ics_hdf5_failed(const char *path, int status, const char *what, icestream_error *error);

/* Reads or writes `count` rows of a dataset, beginning with row `first`. */
bool ics_hdf5_transfer(hid_t set, hid_t type, hsize_t first, hsize_t count, void *rows, bool write);

#endif
