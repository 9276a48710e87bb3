/* The command line that the microscope runs. */
#ifndef ICS_TOOLS_ROOFLINE_MICROSCOPE_COMMAND_H
#define ICS_TOOLS_ROOFLINE_MICROSCOPE_COMMAND_H

#include "graphs/graph.h"
#include "pipeline/tools/command.h"

/* What to look at. */
typedef struct ics_microscope_request {
    const ics_arguments *given;     /* the command, whose options of the configuration count */
    const icestream_config *config; /* the configuration that they make */
    const char *path;               /* its file; NULL: every key has its default */
    const char
        *schedules;     /* --schedules; NULL: graph.schedule or, if that is auto, all schedules */
    const char *suffix; /* is added to the names of the schedules */
    bool all;           /* without --schedules all schedules, whatever graph.schedule says */
    bool files;         /* the steps are those of a run, and not always generated ones */
} ics_microscope_request;

/* Whether the configuration makes a table, and so records no hits. */
bool ics_microscope_tabulates(const ics_microscope_request *request);

/* A program and its arguments. */
typedef struct ics_microscope_command {
    char **words; /* [count] */
    size_t count;
} ics_microscope_command;

/* Makes `icestream bench` of this program for one schedule, with the options of the request that
 * make the configuration. For a table `schedule` has no effect. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_FAILED: the program does not find its own file. The caller frees *out with
 * ics_microscope_command_free, also after an error. */
int ics_microscope_command_make(const ics_microscope_request *request, ics_schedule schedule,
                                ics_microscope_command *out, icestream_error *error);
void ics_microscope_command_free(ics_microscope_command *command);

#endif
