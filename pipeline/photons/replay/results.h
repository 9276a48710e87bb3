/* The results of consecutive hits of a list, while their photons are replayed. */
#ifndef ICS_PHOTONS_REPLAY_RESULTS_H
#define ICS_PHOTONS_REPLAY_RESULTS_H

#include "pipeline/photons/replay/replay.h"
#include "stages/path_sum.h"

/* The results of one hit. */
typedef struct ics_replay_found {
    bool is_found;
    size_t first_layer, layer_count;
    ice_angle_sums angles;
} ics_replay_found;

/* One thread at a time works on it. */
typedef struct ics_replay_results {
    const ics_replay_options *options;
    bool *needs_angles; /* [target_count], whether angles count in the weights of a target */
    size_t capacity;
    const icestream_hit *hits;   /* [count], not owned */
    const icestream_step *steps; /* [count], not owned */
    size_t count;
    double *log_weights;     /* [capacity][target_count] */
    ics_replay_found *found; /* [capacity] */
    ice_layer_sum *layers;   /* [layer_count], of all hits */
    size_t layer_count, layer_capacity;
    icestream_error error;
} ics_replay_results;

/* Whether the densities of the angles of a target differ from the own ones. The answer may be true
 * although they do not. */
bool ics_replay_needs_angles(const ics_replay_options *options, size_t target);

/* `options` must outlive it. */
ics_replay_results ics_replay_results_create(const ics_replay_options *options);
void ics_replay_results_free(ics_replay_results *results);
/* Begins with other hits. */
void ics_replay_results_begin(ics_replay_results *results, const icestream_hit *hits,
                              const icestream_step *steps, size_t count);

/* Returns the index behind the last hit of the photon of hit `first`: consecutive hits of a photon
 * are replayed together. */
size_t ics_replay_photon_end(const icestream_hit *hits, size_t count, size_t first);

/* Makes the hit of an arrival on the path of the photon of hit `first`. */
int ics_replay_results_make_hit(ics_replay_results *results, size_t first,
                                const ice_arrival *arrival, icestream_hit *out);

/* The path up to a hit. */
typedef struct ics_replay_path {
    const ice_path_end *ends;    /* [1 + target_count], the own ice first */
    const ice_layer_sum *layers; /* [layer_count], ascending; none without `sums` */
    size_t layer_count;
    ice_angle_sums angles;
} ics_replay_path;

/* Stores the results of hit `i`, which has this path. ICESTREAM_E_FAILED: the path is impossible in
 * its own ice. */
int ics_replay_results_put(ics_replay_results *results, size_t i, const ics_replay_path *path);
/* Checks that all hits first .. end - 1 are found. ICESTREAM_E_DIFFERENT, with the identity of one
 * that is not. */
int ics_replay_results_check(ics_replay_results *results, size_t first, size_t end);

/* Gives the results to the sink, or returns their error. `first`: the index of the first hit in the
 * list. */
int ics_replay_results_give(const ics_replay_results *results, size_t first,
                            const ics_replay_sink *sink, icestream_error *error);

#endif
