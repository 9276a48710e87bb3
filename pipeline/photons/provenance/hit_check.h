/* Whether a hit file is sound (files.md 4.4), and whether it is the hit file of a run. `icestream
 * info
 * --verify` and --resume share these checks. */
#ifndef ICS_PHOTONS_PROVENANCE_HIT_CHECK_H
#define ICS_PHOTONS_PROVENANCE_HIT_CHECK_H

#include "pipeline/photons/files/hit_reader.h"

/* Reads a whole hit file and checks it: checksums, every row, the account. ICESTREAM_E_INPUT: the
 * first fault. ICESTREAM_E_MEMORY. */
int ics_hit_check_file(const char *path, icestream_error *error);

/* Checks the account in the metadata of a hit file (NULL: it has no trailer) against its number of
 * rows. ICESTREAM_E_INPUT. */
int ics_hit_check_account(const char *path, const json_t *metadata, uint64_t rows,
                          icestream_error *error);

/* What a hit file is for a run. */
typedef enum ics_hit_verdict {
    ICS_HITS_MATCH,         /* sound, and made from this step file with these settings */
    ICS_HITS_MISSING,       /* there is no such file */
    ICS_HITS_UNSOUND,       /* damaged, incomplete, or no hit file; or impossible values */
    ICS_HITS_OTHER_INPUT,   /* made with these settings from another step file */
    ICS_HITS_OTHER_SETTINGS /* made with other settings */
} ics_hit_verdict;

/* Judges the hit file `path`. `expected`: metadata with seed, digests and settings
 * (ics_origin_metadata). `thorough`: rows are read and checked; else only header and trailer. `why`
 * gets the reason if the verdict is not MATCH or MISSING: for OTHER_SETTINGS one line for each
 * setting that differs (settings.h). ICESTREAM_E_MEMORY; ICESTREAM_E_FAILED: too many files are
 * open; ICESTREAM_E_INPUT: the file cannot be read for a cause that may pass (ics_error_may_pass);
 * ICESTREAM_E_OUTPUT: the system does not let this process read the file, which may be sound. */
int ics_hit_check_judge(const char *path, const json_t *expected, bool thorough,
                        ics_hit_verdict *out, icestream_error *why, icestream_error *error);

/* For --resume, which replaces no finished hits of other settings. Adds the hit file `path` to
 * `found` if its settings are not `settings`, and counts it in *count. *there: whether the file
 * exists. A file that cannot be read now is passed over, because its step file has it looked at
 * again. ICESTREAM_E_MEMORY. */
int ics_hit_check_collect(const char *path, const json_t *settings, size_t *count, bool *there,
                          icestream_error *found, icestream_error *error);

#endif
