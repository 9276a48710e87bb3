/* The command line that runs under ncu. */
#ifndef ICS_BENCH_LAB_ROOFLINE_COUNTED_COMMAND_H
#define ICS_BENCH_LAB_ROOFLINE_COUNTED_COMMAND_H

#include "bench/lab/lab.h"
#include "graphs/graph.h"

/* What is counted. */
typedef struct ics_counted_request {
    const ics_arguments *given;     /* the command, whose options of the configuration count */
    const icestream_config *config; /* the configuration that they make */
    const char *path;               /* its file; NULL: every key has its default */
} ics_counted_request;

/* Whether the configuration makes a table, and so records no hits. */
bool ics_counted_tabulates(const ics_counted_request *request);

/* A program and its arguments. */
typedef struct ics_counted_command {
    char **words; /* [count] */
    size_t count;
} ics_counted_command;

/* Makes `icestream-lab speed` of this program for one schedule, with the options of the request
 * that make the configuration. For a table `schedule` has no effect. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_FAILED: the program does not find its own file. The caller frees *out with
 * ics_counted_command_free, also after an error. */
int ics_counted_command_make(const ics_counted_request *request, ics_schedule schedule,
                             ics_counted_command *out, icestream_error *error);
void ics_counted_command_free(ics_counted_command *command);

#endif
