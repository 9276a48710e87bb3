/* Finds the steps of the requested photons, in step files or among those that a run makes. */
#ifndef ICS_COMMANDS_TRACE_STEPS_H
#define ICS_COMMANDS_TRACE_STEPS_H

#include "pipeline/commands/trace/requests.h"
#include "pipeline/photons/models/models.h"

typedef struct ics_trace_steps {
    icestream_step *items; /* [count], one per request, in the order of the requests */
    size_t count;
    size_t files;   /* number of step files that were read */
    json_t *inputs; /* SHA-256 of the step files that have any of the steps */
    bool foreign;   /* --steps names a step file from which the hits were not made */
} ics_trace_steps;

/* Finds the steps of all requests in the step file `path`. If `path` is NULL, it searches the files
 * of source.files or source.directory; if the hit file names its step files by their SHA-256, only
 * these files of the source are used. If a run of this configuration makes its steps itself, they
 * are made again, and must be those of the hit file. `models`: those of the configuration. The
 * caller frees *out with ics_trace_steps_free.
 * ICESTREAM_E_INPUT: a step file cannot be read; its light was made for other models
 * (models/light_record.h) and source.light_mismatch does not accept it; a step is missing, or a
 * folder that may have it cannot be read; two files have different steps with the same identity; a
 * step has no such photon. ICESTREAM_E_USAGE: the source is a stream. ICESTREAM_E_MEMORY. */
int ics_trace_steps_find(const icestream_config *config, const char *path,
                         const ics_trace_requests *requests, const ics_models *models,
                         ics_trace_steps *out, icestream_error *error);
/* Accepts steps of zeros. */
void ics_trace_steps_free(ics_trace_steps *steps);

#endif
