/* The steps that requested photons belong to, looked up in step files. */
#ifndef ICS_TOOLS_TRACE_TRACE_STEPS_H
#define ICS_TOOLS_TRACE_TRACE_STEPS_H

#include "pipeline/config/config.h"
#include "pipeline/tools/trace/trace_requests.h"

typedef struct ics_trace_steps {
    icestream_step *items; /* [count], one per request, in their order */
    size_t count;
    size_t files;   /* that were looked through */
    json_t *inputs; /* SHA-256 of the files that had any of them */
    bool foreign;   /* --steps names a file that the hits were not made from */
} ics_trace_steps;

/* Looks for the steps of all requests: in `path`, or where it is NULL in source.files or
 * source.directory. Where the hit file tells which step files it was made from, only those of the
 * source count. `spectra`: as in ics_step_reader_open. ICESTREAM_E_INPUT: a file, or a folder that
 * may have a missing step, cannot be read, a step is nowhere or in two files with different
 * contents, a step has no such photon; ICESTREAM_E_USAGE: the source is a stream;
 * ICESTREAM_E_MEMORY. */
int ics_trace_steps_find(const icestream_config *config, const char *path,
                         const ics_trace_requests *requests, uint32_t spectra, ics_trace_steps *out,
                         icestream_error *error);
/* Fine with zeroed steps. */
void ics_trace_steps_free(ics_trace_steps *steps);

#endif
