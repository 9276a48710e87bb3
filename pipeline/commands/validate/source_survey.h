/* What a run would find at its source, without claiming or computing anything. */
#ifndef ICS_COMMANDS_VALIDATE_SOURCE_SURVEY_H
#define ICS_COMMANDS_VALIDATE_SOURCE_SURVEY_H

#include "pipeline/photons/models/models.h"

#include <jansson.h>

typedef struct ics_source_survey {
    const char *folder; /* source.directory; NULL: another source */
    const char *listen; /* source.listen, or NULL */
    const char *queue;  /* source.queue, or NULL */
    bool generates;     /* no source is given, and the run makes the steps */
    bool is_missing;    /* source.files has its default, and there is no such file yet */
    uint64_t files;     /* step files, by their names */
    uint64_t streams;   /* standard input and named pipes, which are not read */
    uint64_t existing;  /* step files whose hit file exists */
    uint64_t rows;      /* sum over all headers */
    uint64_t bytes;     /* sum over all step files */
} ics_source_survey;

/* Finds the step files as `icestream run` does and reads their headers and trailers. The texts of
 * *out belong to the configuration. ICESTREAM_E_CONFIG: a missing file or folder, or a pattern that
 * fits no file, unless source.files has its default; ICESTREAM_E_INPUT: files that are no step
 * files, one line each, or whose light was made for other models (models/light_record.h);
 * ICESTREAM_E_MEMORY. */
int ics_source_survey_find(const icestream_config *config, const ics_models *models,
                           ics_source_survey *out, icestream_error *error);

/* Writes a line for people. Check ferror(out) afterwards. */
void ics_source_survey_describe(const icestream_config *config, const ics_source_survey *survey,
                                FILE *out);
/* Returns the survey as JSON, which the caller releases. NULL: there is no memory. */
json_t *ics_source_survey_json(const ics_source_survey *survey);

#endif
