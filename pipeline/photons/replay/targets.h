/* Other ices and detections in which hits are weighted: what they may change of the configuration
 * of the hits. */
#ifndef ICS_PHOTONS_REPLAY_TARGETS_H
#define ICS_PHOTONS_REPLAY_TARGETS_H

#include "pipeline/photons/models/models.h"

#include <jansson.h>

/* What a target may do with a key on which hits depend. */
typedef enum ics_target_rule {
    ICS_TARGET_WEIGHTED, /* change it: the tables of both give the weight of each path or hit */
    ICS_TARGET_IGNORED,  /* change it: it has no meaning for the rows of a hit file */
    ICS_TARGET_REFUSED   /* leave it as it is */
} ics_target_rule;

typedef struct ics_target_key {
    const char *key; /* "ice.file" */
    ics_target_rule rule;
    const char *why; /* why it must not change, in a sentence after "because"; else NULL */
} ics_target_key;

/* Returns the k-th row of the table of all keys on which hits depend (the column `hits` of
 * config/keys.def); NULL: there are no more. */
const ics_target_key *ics_targets_key_at(size_t k);

/* Makes the configuration of a target: `own` with the changes of `text`, which is KEY=VALUE with a
 * key such as ice.file, or the name of a YAML file with the keys that change. Relative paths of the
 * file begin in its folder. The caller destroys *out. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_targets_config(const icestream_config *own, const char *text, icestream_config **out,
                       icestream_error *error);

/* Lists the keys that differ, as an array of {"key", "own", "target"}; the caller owns *out. Adds
 * an error for each key that must not differ, with both values and the reason.
 * ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_targets_check_keys(const icestream_config *own, const icestream_config *target,
                           json_t **out, icestream_error *error);

/* Compares what both configurations make of their files: modules and density of the medium must be
 * the same. ICESTREAM_E_CONFIG. ics_replay_check_target() compares tables, target_light.h light and
 * detection. */
int ics_targets_check_models(const icestream_config *target, const ics_models *own,
                             const ics_models *other, const char *name, icestream_error *error);

#endif
