/* Flies the photons of hits once more, with the same bits, and sums along their paths: the weights
 * of the hits in other ices, and their derivatives.
 *
 * The weight of a hit in another ice ("target") is the ratio of the probability of its path, up to
 * the hit, in the target to that in the ice that made it ("own"). docs/reweighting.md has the
 * formula and its derivation; stages/path_weight.h computes it. Both ices are evaluated along the
 * same path, with their own tables and by the rules of the stages. What is no ice (acceptance,
 * efficiency, spectrum) is weighted by target_light.h.
 */
#ifndef ICS_PHOTONS_REPLAY_REPLAY_H
#define ICS_PHOTONS_REPLAY_REPLAY_H

#include "graphs/gpu.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/metadata.h"
#include "stages/path_sum.h"
#include "stages/variants.h"

/* The largest number of targets of one pass. */
enum { ICS_REPLAY_TARGETS_MAX = 64 };

/* Another ice. */
typedef struct ics_replay_target {
    const ics_tables *tables;
    ice_variant scatter; /* its scattering function */
    const char *name;    /* for messages: the name of its file */
} ics_replay_target;

typedef struct ics_replay_options {
    /* The own ice and the detector: those of the run that made the hits. `models.bins` is
     * not used. */
    ics_hit_models models;
    ice_variants variants;
    ics_maths_used maths;             /* that made the hits, */
    ics_kernels kernels;              /* and with fast maths the kernels */
    const ics_replay_target *targets; /* [target_count], at most ICS_REPLAY_TARGETS_MAX; each was
                                         accepted by ics_replay_check_target() */
    size_t target_count;
    bool sums;        /* the layers of the results are wanted */
    bool angles;      /* and the members `mean_cosine` to `column_mixture`; only with sums */
    uint32_t threads; /* 0: one for each CPU that the process may use */
    /* A GPU flies the photons, or NULL: the CPU does. Its ordinal, memory limit and cache count. */
    const ics_gpu_options *gpu;
    const ics_tables *own; /* those of `models.tables`; only for a GPU */
} ics_replay_options;

/* Sums over the path of a photon in one layer of the table of the own ice, or in its columns of
 * hole ice (ICE_LAYER_COLUMNS). */
typedef ice_layer_sum ics_replay_layer;
#define ICS_REPLAY_COLUMNS ICE_LAYER_COLUMNS

/* What is known of a hit after the replay. */
typedef struct ics_replay_result {
    size_t hit;                /* index in the list */
    const double *log_weights; /* [target_count], natural logarithms of the weights; 0 for an ice of
                                  equal tables, -INFINITY: the path is impossible in the target */
    /* Without `sums` there are no layers. */
    const ics_replay_layer *layers; /* [layer_count], the layers of the path, ascending, and the
                                       columns, if the path has been in one, behind them */
    size_t layer_count;
    /* Sums over the scatters of d ln p / d g and of d ln p / d f, where p is the scattering
     * function with the mean cosine g and the fraction f of its mixture (`ice.liu_fraction`, of
     * rayleigh-hg the share of molecules), and b stays as it is: of scatters in the ice, and of
     * those in columns. 0 for a function without the parameter, and without `angles`. */
    double mean_cosine, mixture;
    double column_mean_cosine, column_mixture;
} ics_replay_result;

typedef struct ics_replay_sink {
    /* Receives the results in the order of the list, on the caller's thread; what *result points to
     * is valid during the call. A result other than 0 stops the replay. */
    int (*put)(void *self, const ics_replay_result *result);
    void *self;
} ics_replay_sink;

/* Returns an error that names what differs if a target differs from the own tables in something
 * that no weight describes: seed, bounce limit, boundaries of the world, modules, cables, index of
 * refraction, and, if light is bent by birefringence in one of both, also tilt, flow,
 * layers' heights, strengths and angles of birefringence, and columns of hole ice. This is a check
 * of the numbers after the one of the configuration's keys. ICESTREAM_E_CONFIG. */
int ics_replay_check_target(const ics_tables *own, const ics_replay_target *target,
                            icestream_error *error);

/* Replays the photons of hits[count], in any order, and gives the results to the sink. steps[i] is
 * the step of hits[i]. Consecutive hits of the same photon are replayed together. Results do not
 * depend on the order of the hits, on `threads` and on other targets.
 *
 * ICESTREAM_E_CONFIG: a stage is a user's header. ICESTREAM_E_DIFFERENT: a hit was made with fast
 * maths, or is not found on the path of its photon (same module, time, position, direction,
 * wavelength and scatters to the last bit); the message has its identity. ICESTREAM_E_MEMORY, and
 * whatever the sink returns. */
int ics_replay_hits(const ics_replay_options *options, const icestream_hit *hits,
                    const icestream_step *steps, size_t count, const ics_replay_sink *sink,
                    icestream_error *error);

/* Whether two hits have the same path: all bytes but those of weight and PMT are equal. */
bool ics_replay_is_same_path(const icestream_hit *a, const icestream_hit *b);

/* Returns which share of the scattering coefficient of a layer is proportional to `be400` of the
 * ice table (the rest does not depend on wavelength), and of its absorption coefficient to
 * `adust400`, at a wavelength (nm). So d ln w / d ln be400 = share * d ln w / d ln b. In a medium
 * that is given by tables, both shares are 1. */
void ics_replay_shares(const ice_tables *tables, uint32_t layer, float wavelength,
                       double *scattering, double *absorption);

#endif
