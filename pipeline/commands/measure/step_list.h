/* Steps in memory, from files, or made of the configured particles or workload. */
#ifndef ICS_COMMANDS_MEASURE_STEP_LIST_H
#define ICS_COMMANDS_MEASURE_STEP_LIST_H

#include "pipeline/photons/models/models.h"

#include <jansson.h>

typedef struct ics_step_list {
    icestream_step *steps; /* [count] */
    size_t count;
    uint64_t photons; /* of all steps together */
    /* What the light was made with: [{"name": "a.steps.npy", "light": record or null}], one for
     * each file, or one for generated steps (models/light_record.h). */
    json_t *records;
    char origin[256]; /* for reports: "workload cascade", "3 step files" or "a.f2k" */
    bool accepted;    /* source.light_mismatch accepts steps that were made for other values */
    bool generated;   /* the steps were made of particles or of a workload */
} ics_step_list;

/* Makes the steps of the particles or, without particles, of the workload, as a run without a
 * source does. `models`: of the configuration. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY (also before
 * anything is made, if it would not fit into the memory), ICESTREAM_E_FAILED. The caller frees *out
 * with ics_step_list_free. */
int ics_step_list_generate(const icestream_config *config, const ics_models *models,
                           ics_step_list *out, icestream_error *error);

/* Reads all steps of source.files, in the order of the files' names. If no file matches, out->count
 * is 0 and out->origin is empty. `models`: those of the configuration. ICESTREAM_E_INPUT, also for
 * steps whose light was made for other models (models/light_record.h), unless
 * source.light_mismatch accepts them; ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE for standard input. The
 * caller frees *out with ics_step_list_free. */
int ics_step_list_from_files(const icestream_config *config, const ics_models *models,
                             ics_step_list *out, icestream_error *error);

/* Makes or reads the steps that a run would use: those of source.files, or generated ones. Where a
 * run would find no step file, they are generated, so that a tool needs no file. Errors and *out as
 * in the two functions above. */
int ics_step_list_of_run(const icestream_config *config, const ics_models *models,
                         ics_step_list *out, icestream_error *error);

/* Whether source.files of another configuration matches exactly the files of the list. *first: the
 * first file, as text for the caller to free, that only one of them has; NULL: they are the same.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_USAGE for standard input. */
int ics_step_list_compare_files(const ics_step_list *list, const icestream_config *config,
                                char **first, icestream_error *error);

/* Frees the steps. Accepts a list of zeros. */
void ics_step_list_free(ics_step_list *list);

#endif
