/* The metadata of a merged hit file: what all of its inputs share, and the sums over them. */
#ifndef ICS_COMMANDS_MERGE_MERGED_METADATA_H
#define ICS_COMMANDS_MERGE_MERGED_METADATA_H

#include "kernels/identity.h"
#include "pipeline/photons/files/metadata.h"

/* Zero-initialise. */
typedef struct ics_merged_metadata {
    json_t *shared; /* seed, digests of the settings, settings, content; NULL before the first */
    char *first;    /* the hit file that `shared` comes from */
    /* Sums over the hit files since the last ics_merged_metadata_end(). */
    size_t files;
    icestream_account account;
    ics_maths_used maths;
    ics_kernels kernels;                 /* of fast maths */
    json_t *histograms, *light_mismatch; /* arrays, or NULL */
} ics_merged_metadata;

/* Checks that the hits of a file belong to those of the files before it; the first file decides
 * what the others have to be. ICESTREAM_E_INPUT: its settings differ, and the text names both files
 * and each setting that differs. ICESTREAM_E_MEMORY. */
int ics_merged_metadata_check(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                              icestream_error *error);
/* Adds a file that was checked and whose account is good. ICESTREAM_E_INPUT: its histograms have
 * other axes, and nothing was added; ICESTREAM_E_MEMORY. */
int ics_merged_metadata_add(ics_merged_metadata *merged, const char *path, const json_t *metadata,
                            icestream_error *error);

/* Makes the metadata of the output; the caller owns *out. `inputs`: an array of digests.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_FAILED: a count is 2^63 or more. */
int ics_merged_metadata_make(const ics_merged_metadata *merged, json_t *inputs, json_t **out,
                             icestream_error *error);
/* The output is complete: the sums begin again. */
void ics_merged_metadata_end(ics_merged_metadata *merged);
void ics_merged_metadata_free(ics_merged_metadata *merged);

#endif
