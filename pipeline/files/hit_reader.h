/* Reading hit files that this program wrote (formats.md, Hit). */
#ifndef IS_HIT_READER_H
#define IS_HIT_READER_H

#include "pipeline/files/metadata.h"
#include "pipeline/icestream.h"

typedef struct is_hit_reader is_hit_reader;

/* Opens a hit file and reads header and trailer. `check`: rows that are delivered are checked, each
 * field against its range and the order by (event_id, step_id, photon_id, string, module); without
 * it only the trailer's checksums are. IS_E_INPUT, IS_E_MEMORY. */
int is_hit_reader_open(const char *path, bool check, is_hit_reader **out, is_error *error);
/* Accepts NULL. */
void is_hit_reader_destroy(is_hit_reader *reader);

/* Delivers the next rows, at most `capacity` (> 0); *got = 0 at the end. IS_E_INPUT, IS_E_MEMORY.
 */
int is_hit_reader_read(is_hit_reader *reader, is_hit *hits, size_t capacity, size_t *got,
                       is_error *error);

uint64_t is_hit_reader_rows(const is_hit_reader *reader);
/* The trailer's metadata, NULL where the file has no trailer. Owned by the reader. */
const json_t *is_hit_reader_metadata(const is_hit_reader *reader);

/* The order of hit files, for qsort and for checks: by (event_id, step_id, photon_id, string,
 * module). Returns < 0, 0, > 0. */
int is_hit_compare(const void *a, const void *b);

/* For --resume: *matches says whether `path` is a complete hit file whose seed and digests are
 * those of `expected` (is_metadata_create), whose account closes, and, with `thorough`, whose rows
 * agree with their checksums. A file that is missing, damaged or not a hit file does not match and
 * is no error. IS_E_MEMORY; IS_E_FAILED: too many files are open; IS_E_INPUT: it cannot be read,
 * for a cause that may pass (is_error_may_pass). */
int is_hit_file_matches(const char *path, const json_t *expected, bool thorough, bool *matches,
                        is_error *error);

#endif
