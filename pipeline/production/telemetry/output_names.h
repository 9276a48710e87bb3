/* The names of what a run writes about itself (journal, summary, metrics) in the folder of its step
 * files, which must never be claimed as step files. */
#ifndef ICS_PRODUCTION_TELEMETRY_OUTPUT_NAMES_H
#define ICS_PRODUCTION_TELEMETRY_OUTPUT_NAMES_H

#include "pipeline/production/telemetry/record_file.h"

typedef struct ics_output_names {
    char *names[ICS_RECORDS]; /* [count], without folders */
    size_t count;
} ics_output_names;

/* Adds the name of the output `path` if its folder is `folder`; at most ICS_RECORDS times.
 * ICESTREAM_E_MEMORY. */
int ics_output_names_add(ics_output_names *self, const char *path, const char *folder,
                         icestream_error *error);
/* Whether a file of this name is an output: one of the names, with the name of any worker, a
 * rotated journal, or a hit file or checkpoint of any run. Any thread. */
bool ics_output_names_have(const ics_output_names *self, const char *name);
void ics_output_names_free(ics_output_names *self);

#endif
