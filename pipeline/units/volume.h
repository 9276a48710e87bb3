/* sink.rotate: the hits of many step files on their way into one hit file, a volume
 * (SINK/run-WRITER-NNNNNN.hits.npy). A step file is in it with all of its hits or not at all; its
 * digest is then in "inputs" of the metadata. All functions are for the writer's thread, or for the
 * loop's while no job of a writer that is about the volume is out. */
#ifndef ICS_UNITS_VOLUME_H
#define ICS_UNITS_VOLUME_H

#include "pipeline/units/unit.h"

typedef struct ics_volume ics_volume;

/* What a commit came to. */
typedef struct ics_volume_result {
    bool dropped;   /* not committed, claims were lost: the volume is empty again */
    char *path;     /* of the hit file, for the caller to free */
    uint64_t bytes; /* its size */
    icestream_error
        error; /* of a commit that failed: the volume is as before, and may be committed again */
} ics_volume_result;

/* An empty volume. `common` must outlive it. ICESTREAM_E_MEMORY. */
int ics_volume_create(ics_unit_common *common, ics_volume **out, icestream_error *error);
/* Accepts NULL. */
void ics_volume_destroy(ics_volume *volume);

/* Takes the hits of a unit all of whose batches are with its collector. On failure the unit has
 * them still, and the volume none of them: ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_volume_add(ics_volume *volume, ics_unit *unit, icestream_error *error);
/* What the last ics_volume_add came to beside that: ICESTREAM_E_OUTPUT where there was no room to
 * move hits out of memory, where they stay. */
const icestream_error *ics_volume_trouble(const ics_volume *volume);

/* Moves hits out of memory if there is too little; on the writer's thread. As ics_collector_add. */
int ics_volume_spill(ics_volume *volume, icestream_error *error);

/* Writes the volume under the next free name, unless one of its units lost its claim: lost[i] says
 * which. Then the volume is empty, and the journal has been told of the units. */
void ics_volume_commit(ics_volume *volume, ics_unit *const *units, bool *lost, size_t count,
                       ics_volume_result *result);
/* The name that it will have, or of its folder while that is not decided. */
const char *ics_volume_name(const ics_volume *volume);

#endif
