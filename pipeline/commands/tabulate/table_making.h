/* Everything that a photon table is made of, and the filling of its sums. */
#ifndef ICS_COMMANDS_TABULATE_TABLE_MAKING_H
#define ICS_COMMANDS_TABULATE_TABLE_MAKING_H

#include "pipeline/commands/measure/step_list.h"
#include "pipeline/photons/devices/table.h"
#include "pipeline/photons/engine/engine.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/session/world.h"
#include "pipeline/photons/table/table.h"
#include "pipeline/production/telemetry/task_progress.h"

typedef struct ics_table_making {
    const icestream_config *config;
    ics_world world;
    ics_origin origin; /* without the seed */
    ics_step_list steps;
    char part[ICS_DIGEST_TEXT]; /* of the seed and all steps */
    ics_table *table;           /* with the sums of the first `done` photons; without their number,
                                   weight and part */
    uint64_t done;              /* photons of the steps, in their order */
    uint64_t taken_over;        /* of these, from a checkpoint */
    ics_device_table work;
    ics_device_table_emitter *emitters; /* of its source */
    ics_device_options options;
    ics_task_progress progress;
    bool generates; /* steps are made, and not read */
} ics_table_making;

/* Loads the models and the steps, and makes an empty table. `generates`: the steps are made, and
 * not read from source.files. If `progress` is a terminal, it shows the progress; NULL: nothing.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_table_making_create(const icestream_config *config, bool generates, FILE *progress,
                            ics_table_making **out, icestream_error *error);
/* Accepts NULL. */
void ics_table_making_destroy(ics_table_making *making);
ICS_CAN_DESTROY(ics_table_making, ics_table_making_destroy)

/* Makes the engine that fills the table. The making must outlive it. */
int ics_table_making_engine(ics_table_making *making, ics_engine **out, icestream_error *error);

/* One run of photons. */
typedef struct ics_table_filling {
    uint64_t samples;
    icestream_account account;
    double seconds; /* from the first batch to the last addition of a sum */
} ics_table_filling;

/* Adds photons to the sums, from the cursor on: all, or those before `stops` (NULL: never) returned
 * true after a batch. making->done stays. Errors of ics_engine_run_steps() and
 * ics_device_finish_table(); after an error the sums must not be used. */
int ics_table_making_fill(ics_table_making *making, ics_engine *engine, ics_step_cursor cursor,
                          bool (*stops)(void *user), void *user, ics_table_filling *out,
                          icestream_error *error);

/* Adds the number and the weight of the first photons of the steps to a table. ICESTREAM_E_FAILED:
 * a number would pass 2^64. */
int ics_table_making_count(const ics_table_making *making, uint64_t photons, ics_table *table,
                           icestream_error *error);

#endif
