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

/* The same for code that writes: the first error of HDF5 from here on is kept in `reason`, because
 * later calls, which close things, forget it. ics_hdf5_failed() then reports it. `reason` must live
 * until ics_hdf5_speak_again(). */
typedef struct ics_hdf5_reason {
    char text[200]; /* empty: no error yet */
} ics_hdf5_reason;
ics_hdf5_silence ics_hdf5_keep_first(ics_hdf5_reason *reason);

/* Creates the file `part` of an output, without a lock, because the output holds the lock already.
 * Returns a negative number if this fails. End it with ics_hdf5_finish(). */
hid_t ics_hdf5_create(const char *part);

/* Writes all that HDF5 still holds in memory, and closes the file. `status` is that of the work
 * before: if it is not ICESTREAM_OK it is returned, and `error` stays. Otherwise ICESTREAM_E_OUTPUT
 * with HDF5's reason if not everything could be written. Close all that was opened in the file
 * before. */
int ics_hdf5_finish(hid_t file, const char *to, int status, icestream_error *error);

/* An error with HDF5's own reason: "PATH: WHAT: HDF5 says: REASON". */
int ics_hdf5_failed(const char *path, int status, const char *what, icestream_error *error);

/* Reads or writes `count` rows of a dataset, beginning with row `first`. */
bool ics_hdf5_transfer(hid_t set, hid_t type, hsize_t first, hsize_t count, void *rows, bool write);

#endif
