/* What a split made, for people or programs. */
#ifndef ICS_TOOLS_SPLIT_SPLIT_REPORT_H
#define ICS_TOOLS_SPLIT_SPLIT_REPORT_H

#include "pipeline/icestream.h"

/* One part. */
typedef struct ics_split_part {
    char *path; /* owned by the caller's list */
    uint64_t steps, photons;
    double bounces; /* expected */
} ics_split_part;

typedef struct ics_split_result {
    ics_split_part *parts; /* [count] */
    size_t count;
    uint32_t wanted;  /* parts; there are fewer if single steps cost more than a part */
    double bounces;   /* expected, of all parts */
    double costliest; /* the largest expected number of bounces of one step */
} ics_split_result;

/* Writes the report. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_split_print_text(const ics_split_result *result, FILE *out, icestream_error *error);
int ics_split_print_json(const ics_split_result *result, FILE *out, icestream_error *error);

#endif
