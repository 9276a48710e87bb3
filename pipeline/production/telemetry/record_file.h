/* The files that a run keeps about itself: journal, summary, metrics. A run appends to the first
 * one and replaces the others, so a wrong name would destroy a file of somebody else. */
#ifndef ICS_PRODUCTION_TELEMETRY_RECORD_FILE_H
#define ICS_PRODUCTION_TELEMETRY_RECORD_FILE_H

#include "pipeline/icestream.h"

typedef enum ics_record {
    ICS_RECORD_JOURNAL,
    ICS_RECORD_SUMMARY,
    ICS_RECORD_METRICS,
    ICS_RECORDS
} ics_record;

/* Checks that a record may have the name `path`: a name that is free, an empty file, or a file that
 * begins like a record of this kind; a journal may begin with a line that was not written to its
 * end. Names of step and hit files are refused, also where no file is
 * yet. What is no regular file, or cannot be read, is an error of the writing. `what` names the
 * setting in the message. ICESTREAM_E_CONFIG. */
int ics_record_file_check(ics_record record, const char *what, const char *path,
                          icestream_error *error);

/* Checks that the names of files in paths[ICS_RECORDS] differ; NULL: there is no such record.
 * ICESTREAM_E_CONFIG. */
int ics_record_file_check_names(const char *const *paths, icestream_error *error);

#endif
