/* The checkpoint of a table that is being made (tabulate.md 4): a photon table of the first photons
 * of the steps, in the file OUT.checkpoint. Only the process that has the lock of OUT.part may call
 * these functions. */
#ifndef ICS_COMMANDS_TABULATE_TABLE_CHECKPOINT_H
#define ICS_COMMANDS_TABULATE_TABLE_CHECKPOINT_H

#include "pipeline/commands/tabulate/table_making.h"

typedef struct ics_table_checkpoint {
    ics_table_making *making; /* outlives it */
    char *path;               /* NULL: OUT is standard output */
    bool is_used;             /* checkpoints are read and written */
    json_t *content;          /* what the metadata of the file say about it */
    uint64_t photons;         /* in the file; 0: this process knows no good file */
    uint32_t saves;
    double seconds; /* for all saves */
} ics_table_checkpoint;

/* Finds the checkpoint of the table `output` and takes its sums over: call it before the device is
 * made. `force`: an older checkpoint is not read, but may be replaced. `report` (NULL: nothing)
 * receives lines for people. ICESTREAM_E_OUTPUT: the checkpoint is that of another table, and the
 * text names each setting that differs; or the file is no checkpoint, or cannot be read.
 * ICESTREAM_E_MEMORY. *out needs ics_table_checkpoint_close() in any case. */
int ics_table_checkpoint_open(ics_table_making *making, const char *output, bool force,
                              FILE *report, ics_table_checkpoint *out, icestream_error *error);
/* Writes a checkpoint of all sums, while no device adds to them. After an error the older one is
 * as before. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_table_checkpoint_save(ics_table_checkpoint *checkpoint, icestream_error *error);
/* Removes the file and what a killed process left of a newer one: the table is complete. If that
 * fails, `report` says so. */
void ics_table_checkpoint_remove(ics_table_checkpoint *checkpoint, FILE *report);
/* Frees the memory; the file stays. */
void ics_table_checkpoint_close(ics_table_checkpoint *checkpoint);

#endif
