/* The step files whose hits a merge holds: their SHA-256, and the hit file that each came from. */
#ifndef ICS_COMMANDS_MERGE_MERGED_INPUTS_H
#define ICS_COMMANDS_MERGE_MERGED_INPUTS_H

#include "pipeline/icestream.h"

#include <jansson.h>

/* Zero-initialise. */
typedef struct ics_merged_inputs {
    void *tree;   /* of tsearch() */
    size_t count; /* digests that were added since the last ics_merged_inputs_end() */
} ics_merged_inputs;

/* What the step files of a hit file mean for a merge. */
typedef enum ics_merged_verdict {
    ICS_MERGED_NEW,  /* no step file is known, and all are added */
    ICS_MERGED_THERE /* an earlier output of the same merge has the hits of all of them */
} ics_merged_verdict;

/* Adds the step files that the metadata of the hit file `path` name. ICESTREAM_E_INPUT: they name
 * none, or one whose hits another file has as well, which the text names; nothing is added.
 * ICESTREAM_E_MEMORY. */
int ics_merged_inputs_add(ics_merged_inputs *inputs, const char *path, const json_t *metadata,
                          ics_merged_verdict *out, icestream_error *error);
/* Removes what ics_merged_inputs_add() added for these metadata. */
void ics_merged_inputs_withdraw(ics_merged_inputs *inputs, const json_t *metadata);
/* Adds those of a finished output of an earlier call of the program. */
int ics_merged_inputs_learn(ics_merged_inputs *inputs, const char *path, const json_t *metadata,
                            icestream_error *error);

/* Returns the digests that were added since the last ics_merged_inputs_end(), in ascending order,
 * as a new array. NULL: out of memory. */
json_t *ics_merged_inputs_list(const ics_merged_inputs *inputs);
/* The output is complete: the next digests belong to another one. */
void ics_merged_inputs_end(ics_merged_inputs *inputs);
void ics_merged_inputs_free(ics_merged_inputs *inputs);

#endif
