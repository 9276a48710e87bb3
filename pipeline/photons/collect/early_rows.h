/* The rows of a hit file that are written while later photons are still computed.
 *
 * Batches whose steps ascend give hits in the order of the hit file. The collector appends such
 * hits to its temporary file, behind room for a header. If all hits get there in this way, the
 * temporary file has the rows of the hit file, and gets its name (ics_table_writer_adopt). */
#ifndef ICS_PHOTONS_COLLECT_EARLY_ROWS_H
#define ICS_PHOTONS_COLLECT_EARLY_ROWS_H

#include "pipeline/icestream.h"
#include "pipeline/photons/devices/photon_intervals.h"
#include "pipeline/photons/files/format/trailer.h"

#include <sys/types.h>

/* What becomes of the hits of a batch: they were written as rows that begin with `row`, or, with
 * ICS_NO_ROW, they are in memory. Called on the thread that uses the collector. */
typedef void (*ics_rows_listener)(void *user, ics_photon_interval photons,
                                  const icestream_hit *hits, size_t count, uint64_t row);
#define ICS_NO_ROW UINT64_MAX

/* Zero: no rows may be written early. */
typedef struct ics_early_rows {
    bool is_allowed;               /* rows may be written, and all rows so far are in their order */
    bool is_adopted;               /* a hit file was made of them once */
    uint64_t count;                /* rows in the file, behind ICS_NPY_OWN_HEADER bytes */
    icestream_hit last;            /* the last of them */
    ics_photon_intervals returned; /* photons of the batches that came back */
    ics_trailer_checksums sums;    /* checksums of the rows */
    off_t pushed;               /* bytes that the system was asked to begin writing to the disk */
    ics_rows_listener listener; /* NULL: none */
    void *user;                 /* argument of the listener */
} ics_early_rows;

/* Frees everything; no rows may be written early any more. */
void ics_early_rows_free(ics_early_rows *rows);

/* A batch with these photons came back. If its photons are unknown (an empty interval), or were
 * there before, no rows may be written any more. */
void ics_early_rows_return(ics_early_rows *rows, ics_photon_interval photons);
/* All photons before this one came back. */
uint64_t ics_early_rows_end(const ics_early_rows *rows);

/* Whether hits that begin with `first` may follow the rows. */
bool ics_early_rows_precede(const ics_early_rows *rows, const icestream_hit *first);
/* Counts hits that were written into `file`, which ends at `file_end` now. If there is no memory
 * for their checksum, no hit file can be made of the rows any more. */
void ics_early_rows_count(ics_early_rows *rows, const icestream_hit *hits, size_t count, int file,
                          off_t file_end);

/* Whether the file `path` begins like one of rows. */
bool ics_early_rows_is_file(const char *path);
/* Gives the file of the rows a name, in place of an older file of rows, and the permissions of a
 * new file. *named false: the system cannot do it, or something else has the name; this is no
 * error. */
void ics_early_rows_name(int file, const char *path, bool *named);

/* Copies the checksums. ICESTREAM_E_MEMORY. */
int ics_early_rows_copy_sums(const ics_early_rows *rows, ics_trailer_checksums *out,
                             icestream_error *error);
/* Compares the rows in `file` with their checksums. ICESTREAM_E_OUTPUT: they differ or cannot be
 * read. ICESTREAM_E_MEMORY. */
int ics_early_rows_verify(const ics_early_rows *rows, int file, icestream_error *error);

#endif
