/* Finds the steps of chosen photons, in step files or among those that a run makes. */
#ifndef ICS_PHOTONS_REPLAY_STEPS_H
#define ICS_PHOTONS_REPLAY_STEPS_H

#include "pipeline/photons/models/models.h"

#include <jansson.h>

/* The identity of one photon. */
typedef struct ics_replay_photon {
    uint64_t event_id;
    uint32_t step_id, photon_id;
} ics_replay_photon;

typedef struct ics_replay_photons {
    const ics_replay_photon *items; /* [count], ascending, each photon once */
    size_t count;
    const json_t *metadata; /* of the hit file that names the photons; NULL: there is none */
} ics_replay_photons;

typedef struct ics_replay_steps {
    icestream_step *items; /* [count], one per photon, in the order of the photons */
    size_t count;
    size_t files;   /* number of step files that were read */
    json_t *inputs; /* SHA-256 of the step files that have any of the steps */
    bool foreign;   /* --steps names a step file from which the hits were not made */
} ics_replay_steps;

/* Compares by event_id, step_id and photon_id, as qsort() wants it. */
int ics_replay_photon_compare(const void *a, const void *b);
/* Sorts photons and removes repeated ones. Returns how many remain. */
size_t ics_replay_photons_unite(ics_replay_photon *items, size_t count);
/* Returns the index of the first photon that belongs to this step or to a later one. */
size_t ics_replay_photons_find(const ics_replay_photons *photons, uint64_t event_id,
                               uint32_t step_id);

/* Finds the steps of all photons in the step file `path`. If `path` is NULL, it searches the files
 * of source.files or source.directory; if the hit file names its step files by their SHA-256, only
 * these files of the source are used. If a run of this configuration makes its steps itself, they
 * are made again, and must be those of the hit file. `models`: those of the configuration. The
 * caller frees *out with ics_replay_steps_free.
 * ICESTREAM_E_INPUT: a step file cannot be read; its light was made for other models
 * (models/light_record.h) and source.light_mismatch does not accept it; a step is missing, or a
 * folder that may have it cannot be read; two files have different steps with the same identity; a
 * step has no such photon. ICESTREAM_E_USAGE: the source is a stream. ICESTREAM_E_MEMORY. */
int ics_replay_steps_find(const icestream_config *config, const char *path,
                          const ics_replay_photons *photons, const ics_models *models,
                          ics_replay_steps *out, icestream_error *error);
/* Accepts steps of zeros. */
void ics_replay_steps_free(ics_replay_steps *steps);

#endif
