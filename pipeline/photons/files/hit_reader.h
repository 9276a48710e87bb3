/* Reading hit files that this program wrote (files.md 4). */
#ifndef ICS_PHOTONS_FILES_HIT_READER_H
#define ICS_PHOTONS_FILES_HIT_READER_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/files/metadata.h"

typedef struct ics_hit_reader ics_hit_reader;

/* Opens a hit file and reads header and trailer. `check`: rows are checked when they are read, each
 * field for its range, the order by (event_id, step_id, photon_id, string, module), that no hit is
 * there twice, and that hits of one step are less than a second apart (files.md 4.4). Without it
 * only the trailer's checksums are checked. The path "-" is standard input, which carries messages:
 * they are read one after the other, and each has its own order; a stream without a message is an
 * error of the first read. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE: standard input
 * is a terminal. */
int ics_hit_reader_open(const char *path, bool check, ics_hit_reader **out, icestream_error *error);
/* Accepts NULL. */
void ics_hit_reader_destroy(ics_hit_reader *reader);
ICS_CAN_DESTROY(ics_hit_reader, ics_hit_reader_destroy)

/* Reads the next rows, at most `capacity` (> 0); *got = 0 at the end. ICESTREAM_E_INPUT,
 * ICESTREAM_E_MEMORY.
 */
int ics_hit_reader_read(ics_hit_reader *reader, icestream_hit *hits, size_t capacity, size_t *got,
                        icestream_error *error);

/* The rows of the file, or of the present message. */
uint64_t ics_hit_reader_rows(const ics_hit_reader *reader);
/* The trailer's metadata, or NULL if the file has no trailer, and for standard input. The reader
 * owns it. */
const json_t *ics_hit_reader_metadata(const ics_hit_reader *reader);

/* The order of hit files, for qsort and for checks: by (event_id, step_id, photon_id, string,
 * module). Returns < 0, 0, > 0. */
int ics_hit_compare(const void *a, const void *b);

#endif
