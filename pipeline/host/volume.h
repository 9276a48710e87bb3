/* sink.rotate: the hits of many step files on their way into one hit file, a volume
 * (SINK/run-WRITER-NNNNNN.hits.npy). A step file is in it with all of its hits or not at all; its
 * digest is then in "inputs" of the metadata. All functions are for the writer's thread, or for the
 * loop's while no job of a writer that is about the volume is out. */
#ifndef IS_VOLUME_H
#define IS_VOLUME_H

#include "pipeline/host/unit.h"

typedef struct is_volume is_volume;

/* What a commit came to. */
typedef struct is_volume_result {
    bool dropped;   /* not committed, claims were lost: the volume is empty again */
    char *path;     /* of the hit file, for the caller to free */
    uint64_t bytes; /* its size */
    is_error
        error; /* of a commit that failed: the volume is as before, and may be committed again */
} is_volume_result;

/* An empty volume. `common` must outlive it. IS_E_MEMORY. */
int is_volume_create(is_run_common *common, is_volume **out, is_error *error);
/* Accepts NULL. */
void is_volume_destroy(is_volume *volume);

/* Takes the hits of a unit all of whose batches are with its collector. On failure the unit has
 * them still, and the volume none of them: IS_E_MEMORY, IS_E_OUTPUT. */
int is_volume_add(is_volume *volume, is_unit *unit, is_error *error);
/* What the last is_volume_add came to beside that: IS_E_OUTPUT where there was no room to move hits
 * out of memory, where they stay. */
const is_error *is_volume_trouble(const is_volume *volume);

/* Moves hits out of memory if there is too little; on the writer's thread. As is_collector_add. */
int is_volume_spill(is_volume *volume, is_error *error);

/* Writes the volume under the next free name, unless one of its units lost its claim: lost[i] says
 * which. Then the volume is empty, and the journal has been told of the units. */
void is_volume_commit(is_volume *volume, is_unit *const *units, bool *lost, size_t count,
                      is_volume_result *result);
/* The name that it will have, or of its folder while that is not decided. */
const char *is_volume_name(const is_volume *volume);

#endif
