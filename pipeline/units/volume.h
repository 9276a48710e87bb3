/* sink.rotate: the hits of many step files go into one hit file, a volume
 * (SINK/run-WRITER-NNNNNN.hits.npy). A volume has all hits of a step file or none; the digests of
 * its step files are in "inputs" of the metadata. The functions are called on the writer's thread,
 * or on the loop's thread while the writer has no job for the volume. */
#ifndef ICS_UNITS_VOLUME_H
#define ICS_UNITS_VOLUME_H

#include "pipeline/units/unit.h"

typedef struct ics_volume ics_volume;

/* The result of a commit. */
typedef struct ics_volume_result {
    bool dropped;   /* claims were lost: nothing is committed, and the volume is empty again */
    char *path;     /* of the hit file, for the caller to free; NULL: there is none */
    uint64_t bytes; /* size of the hit file */
    icestream_error error; /* the volume is as before, and may be committed again */
} ics_volume_result;

/* An empty volume. `common` must outlive it. ICESTREAM_E_MEMORY. */
int ics_volume_create(ics_unit_common *common, ics_volume **out, icestream_error *error);
/* Accepts NULL. */
void ics_volume_destroy(ics_volume *volume);

/* Moves all hits of a unit into the volume. The collector of the unit must have the hits of all its
 * batches. On failure the unit keeps all of its hits: ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_volume_add(ics_volume *volume, ics_unit *unit, icestream_error *error);
/* Returns what went wrong in the last successful ics_volume_add without losing a hit.
 * ICESTREAM_E_OUTPUT: the memory is short, and the disk had no room for the hits. */
const icestream_error *ics_volume_trouble(const ics_volume *volume);

/* Moves hits from memory to the disk if the memory is short. The errors of ics_collector_add. */
int ics_volume_spill(ics_volume *volume, icestream_error *error);

/* Writes the volume under the next free name and appends a line for each unit to the journal. If a
 * unit has lost its claim (lost[i]), nothing is written. Afterwards the volume is empty. */
void ics_volume_commit(ics_volume *volume, ics_unit *const *units, bool *lost, size_t count,
                       ics_volume_result *result);
/* Returns the path of the hit file, or of its folder as long as no name is chosen. */
const char *ics_volume_name(const ics_volume *volume);

#endif
