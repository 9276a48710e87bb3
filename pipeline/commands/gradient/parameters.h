/* The parameters of derivatives of weights, by the keys of files.md 15. */
#ifndef ICS_COMMANDS_GRADIENT_PARAMETERS_H
#define ICS_COMMANDS_GRADIENT_PARAMETERS_H

#include "pipeline/photons/replay/made_run.h"

/* The ices of a derivative that is a difference of weights. */
enum { ICS_GRADIENT_ICES = 4 };

/* A chosen key. A key of layers or of modules has a parameter for each of them. */
typedef struct ics_gradient_key {
    int row;        /* in the table of keys */
    uint32_t first; /* index of its first parameter */
    uint32_t count;
    ics_tables *ices[ICS_GRADIENT_ICES]; /* with other values, or NULL */
    size_t target; /* index of the first of them among the targets of the replay */
} ics_gradient_key;

typedef struct ics_gradient_keys {
    ics_gradient_key *items; /* [count] */
    size_t count;
    uint32_t parameters;        /* of all keys */
    ics_replay_target *targets; /* [target_count], for keys that need other ices */
    size_t target_count;
    bool angles; /* whether a key needs the sums of angles (ics_replay_options) */
} ics_gradient_keys;

/* Chooses keys by their names; a name that ends with ".yaml" is a file that lists some. count 0:
 * layers.scattering and layers.absorption. The caller frees *out with ics_gradient_keys_free.
 * ICESTREAM_E_USAGE: there is no such key, it is given twice, or the hits do not depend on it.
 * ICESTREAM_E_CONFIG: a file is wrong. ICESTREAM_E_MEMORY. */
int ics_gradient_keys_create(const ics_made_run *run, const char *const *names, size_t count,
                             ics_gradient_keys *out, icestream_error *error);
/* Accepts keys of zeros. */
void ics_gradient_keys_free(ics_gradient_keys *keys);

/* The first and the second derivative by a parameter; the second is NAN if it is not known. */
typedef struct ics_gradient_value {
    double first, second;
} ics_gradient_value;

/* Receives derivatives, of which one is not 0. */
typedef void (*ics_gradient_put)(void *self, uint32_t parameter, ics_gradient_value value);
/* Computes the derivatives of one hit, in the order of the parameters. */
void ics_gradient_of_hit(const ics_made_run *run, const ics_gradient_keys *keys,
                         const ics_replay_result *result, ics_gradient_put put, void *self);

/* Makes `parameters` of the metadata. ICESTREAM_E_MEMORY. The caller owns *out. */
int ics_gradient_describe(const ics_made_run *run, const ics_gradient_keys *keys, json_t **out,
                          icestream_error *error);

#endif
