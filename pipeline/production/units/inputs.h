/* The list of inputs of a run, made from source.files, with the output of each. If the run makes
 * its steps itself, there is one input, which stands for them. */
#ifndef ICS_PRODUCTION_UNITS_INPUTS_H
#define ICS_PRODUCTION_UNITS_INPUTS_H

#include "pipeline/photons/config/config.h"

typedef struct ics_source ics_source; /* sources.h */

/* One step file; a stream of messages, from standard input or a named pipe; or the steps that the
 * run makes of particles or of a workload. */
typedef struct ics_input {
    const ics_source *source;
    char *url; /* the file is fetched from there; NULL: it is not */
    /* NULL: standard input. Of a URL the name, and in a run the path that its file will have.
     * Made: the list of particles, or the run file; NULL: neither. */
    char *path;
    /* Path of the hit file. NULL: standard output, or one file per message. A stream has
     * one if sink.name has no {stem}: then it may have one message only. */
    char *output;
    /* Size of the file, 0 for a stream or generated steps; for estimates only. */
    uint64_t bytes;
} ics_input;

typedef struct ics_inputs {
    ics_input *items; /* [count], in the order of source.files; the matches of a pattern by name */
    size_t count;
} ics_inputs;

/* Expands patterns and names outputs. ICESTREAM_E_CONFIG, with all problems in one text: a missing
 * file, a pattern that matches nothing, a file that is named twice (also under two names), two
 * files with the same output, an output that is an input; a URL from or to which this machine
 * cannot move files. ICESTREAM_E_MEMORY. */
int ics_inputs_plan(const icestream_config *config, ics_inputs *out, icestream_error *error);
void ics_inputs_free(ics_inputs *inputs);

#endif
