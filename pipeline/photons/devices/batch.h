/* Batches: the unit of work between a step file and a device, and how arrivals become hits.
 *
 * A batch goes to a device with emissions and comes back with hits. No hit depends on how the steps
 * are divided into batches, because photons are numbered within their step. Even one step of 1e9
 * photons can be divided into many batches.
 */
#ifndef ICS_PHOTONS_DEVICES_BATCH_H
#define ICS_PHOTONS_DEVICES_BATCH_H

#include "base/container.h"
#include "base/error.h"
#include "graphs/gpu.h"
#include "graphs/graph.h"
#include "physics/model.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/devices/light_levels.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/hit_bins.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/files/weight_sum.h"
#include "pipeline/photons/models/detector/detection.h"
#include "tables/tables.h"

/* Photons of a CPU's batch if graph.batch is auto: one thread computes them in about 0.05 s. With
 * four times more photons a run of 2e6 photons on two threads took 3 % longer, because one thread
 * waited for the other at the end. */
#define ICS_BATCH_PHOTONS (1u << 16)
/* Largest number of steps in a CPU's batch. It limits the memory of a batch to 2 MiB. */
#define ICS_BATCH_STEPS (1u << 14)

/* Sizes of the batches of a device. */
typedef struct ics_batch_limits {
    uint32_t steps;            /* largest number of steps in a batch */
    uint32_t emission_photons; /* largest number of photons in an emission; 0: any */
    uint64_t photons;          /* photons in a batch if graph.batch is auto and the file is large */
    uint64_t most_photons;     /* largest number of photons in a batch, also if it is configured */
    uint32_t shares;           /* a smaller file is divided into this number of batches, */
    uint64_t least_photons;    /* but not into batches of fewer photons than this */
} ics_batch_limits;

/* ICS_BATCH_STEPS and ICS_BATCH_PHOTONS; small files are not divided further. */
ics_batch_limits ics_batch_limits_default(void);

typedef struct ics_batch {
    ics_job job;    /* see ics_batch_of_job */
    uint64_t index; /* position of the batch among those of its file; the owner sets it */
    void *owner;    /* argument of the code that submits the batch */

    icestream_step *steps;   /* [count], the step of every emission */
    ice_emission *emissions; /* [count], each with 1 or more photons */
    uint32_t count, capacity;
    bool has_profile;        /* an emission has a profile (stages/profile.h) */
    uint64_t first_photon;   /* the position of its first photon in the file (ics_step_cursor) */
    uint64_t photons;        /* sum over the emissions */
    uint64_t photon_limit;   /* the batch is full with this number of photons, */
    uint32_t step_limit;     /* or with this number of emissions */
    uint32_t emission_limit; /* photons of an emission; 0: any */

    /* What a GPU returned, until the host makes hits of it. */
    ics_arrivals arrivals;
    ics_hit_sums sums; /* hits that became sums already */
    ice_account ended;

    /* Results of a device. */
    icestream_hit *hits; /* [hit_count], sorted; with ics_hit_models.bins they are ics_bin_sum */
    size_t hit_count;
    icestream_account account;
    ics_weight_sum weights; /* weights of the hits; empty with ics_hit_models.bins */
    uint64_t photon_cells[ICE_PHOTON_CELLS]; /* histograms of its photons, if there are any */
    uint64_t *large_cells;                   /* those with more bins; NULL: there are none */
    ics_light_levels light;                  /* where its photons were made */
    ics_maths_used maths;
    ics_kernels kernels;  /* of fast maths */
    double seconds;       /* time that one thread of the host computed (s) */
    ics_error_kept error; /* unless it is ICESTREAM_OK, the results above have no meaning */
} ics_batch;

/* The batch of a job; NULL for NULL. */
static inline ics_batch *ics_batch_of_job(ics_job *job)
{
    return job != NULL ? ICS_CONTAINER_OF(job, ics_batch, job) : NULL;
}

/* Creates an empty batch with these limits. `photons`: photons after which the batch is full; 0:
 * limits->photons; in any case at most limits->most_photons. ICESTREAM_E_MEMORY. */
int ics_batch_create(const ics_batch_limits *limits, uint64_t photons, ics_batch **out,
                     icestream_error *error);
/* Chooses the photons per batch of steps with `photons` photons (UINT64_MAX: not known): the
 * configured number; for 0 a number with which a small input has a batch for every thread. */
uint64_t ics_batch_choose_photons(const ics_batch_limits *limits, uint64_t configured,
                                  uint64_t photons);
/* Empties a batch, gives it new limits and keeps its memory for steps. */
void ics_batch_reset(ics_batch *batch, const ics_batch_limits *limits, uint64_t photons);
/* Removes all results of a device, so that the batch can be computed again. */
void ics_batch_clear_results(ics_batch *batch);
/* Adds the histograms of the photons of the last run of a graph, which has these histograms with
 * many bins. ICESTREAM_E_MEMORY. */
int ics_batch_add_photons(ics_batch *batch, const ics_graph *graph, const ics_large_axes *large);
/* Sets the error of a batch that was not computed to a copy of `failure`, which no other thread
 * changes during this call. */
void ics_batch_fail(ics_batch *batch, const ics_error_kept *failure);
/* Copies the error of a batch. What is wrong with its steps gets the name of their file or
 * submission in front. Returns the status. */
int ics_batch_error(const ics_batch *batch, const char *name, icestream_error *out);
/* Accepts NULL. */
void ics_batch_destroy(ics_batch *batch);

/* A position in an array of steps, possibly inside a step. The steps may be a piece of a file. */
typedef struct ics_step_cursor {
    const icestream_step *steps;
    size_t count;          /* steps left, steps[0] included */
    uint32_t first_photon; /* photons of steps[0] that are already in batches */
    uint64_t position;     /* position of the next photon: the photons of the file before it */
    uint64_t barrier;      /* position at which a batch ends, above `position`; 0: anywhere */
} ics_step_cursor;

/* Moves photons from the cursor to the batch until the batch is full, the cursor is at its barrier,
 * or the cursor has no steps left. Steps without photons are skipped. *full: the batch is full or
 * ends at the barrier. The photons of a batch are neighbours in the file. ICESTREAM_E_MEMORY. */
int ics_batch_fill(ics_batch *batch, ics_step_cursor *cursor, bool *full, icestream_error *error);

/* Moves the cursor over photons that no batch gets, up to `position` or until the cursor has no
 * steps left. */
void ics_batch_pass_over(ics_step_cursor *cursor, uint64_t position);

/* Returns the emission of the photons `first` to `first + photons - 1` of a step. Its direction is
 * normalised in double precision; the direction of an isotropic step is +z and is not used. The
 * step must have passed the checks of files.md 3.1. */
ice_emission ics_batch_step_emission(const icestream_step *step, uint32_t first, uint32_t photons);

/* What the identity, time and weight of hits are computed from. All of it must outlive the
 * structure. */
typedef struct ics_hit_models {
    const ice_tables *tables;
    const ice_detector *detector;
    const ice_light *light;
    const ics_detection *detection; /* NULL: stages.detect is none */
    ics_bin_rule bins;              /* the hits of a batch become sums in bins; width 0: hits */
} ics_hit_models;

/* Probability that thinning kept light of this wavelength (nm): linear between the points of
 * light->bias, constant beyond the first and the last one, 1 without points (physics.md 3.2). */
double ics_batch_light_bias(const ice_light *light, double wavelength);

/* Returns by what the weights of the hits of a step are multiplied: 1 if its photons are those that
 * thinning kept. If the step is not thinned: the share of the photons of its spectrum that thinning
 * would have kept (physics.md 3.2). */
double ics_batch_thinning(const ice_light *light, const icestream_step *step);

/* Returns an error if photons of a step are those that thinning kept, and thinning keeps none of
 * its spectrum: the acceptance of the modules is 0 there, and the photons have a wavelength that
 * stands for another one. */
int ics_batch_check_light(const ice_light *light, const icestream_step *step,
                          icestream_error *error);

/* Returns the weight of a hit of this step, at a wavelength with this bias: how many photons the
 * hit stands for at modules of true size (physics.md 3.2). +INFINITY or NaN for the bias 0. */
double ics_batch_weight(const ics_hit_models *models, const icestream_step *step, double bias);

/* Checks that the batch has the emission of an arrival, and the detector its module.
 * ICESTREAM_E_FAILED. */
int ics_batch_check_arrival(const ics_hit_models *models, const ics_batch *batch,
                            const ice_arrival *arrival, icestream_error *error);

/* Makes the hit of an arrival (physics.md 9, files.md 4.1): t = step.t + ics_tables_arrival_delay
 * in double precision, weight = step.weight * thinning / (bias(wavelength) F^2) with the oversize F
 * of the detector, and at most 65535 scatters.
 * ICESTREAM_E_FAILED: an arrival that no model explains (unknown emission or module, bias 0).
 * ICESTREAM_E_INPUT: the weight is larger than a hit can store. */
int ics_batch_hit_from_arrival(const ics_hit_models *models, const ics_batch *batch,
                               const ice_arrival *arrival, icestream_hit *out,
                               icestream_error *error);

/* Makes the hit of an arrival as its hit file has it, with the time of the transit through a PMT.
 * Arrivals of which the file has no row are made, too. The same errors, and those of
 * ics_hit_detection_decide(). */
int ics_batch_repeat_hit(const ics_hit_models *models, ics_batch *batch, const ice_arrival *arrival,
                         icestream_hit *out, icestream_error *error);

/* Finishes a computed batch: makes its hits from `arrivals` and its account from `account`, sorts
 * the hits, checks that the account closes, and if the models say so replaces the hits by their
 * sums in bins, together with batch->sums. The result is in batch->error. */
void ics_batch_finish(ics_batch *batch, const ics_hit_models *models, const ice_account *account,
                      const ics_arrivals *arrivals);

/* Returns the number of hits in batch->sums, also of those outside the range. */
uint64_t ics_batch_sums_hits(const ics_batch *batch);
/* Replaces the hits of a batch by their sums in bins and adds batch->sums to them. The result has
 * the order of hit files. ICESTREAM_E_MEMORY; ICESTREAM_E_INPUT as ics_hit_bins_sum_of();
 * ICESTREAM_E_FAILED: a sum of an unknown emission or module. */
int ics_batch_sums_make(ics_batch *batch, const ics_hit_models *models, icestream_error *error);

/* What the detect stage says about an arrival. */
typedef struct ics_detection_verdict {
    bool is_detected;
    bool is_kept;  /* hit files have its row */
    int16_t pmt;   /* number of the PMT that detects it */
    float transit; /* ns, how long its signal takes through the PMT */
} ics_detection_verdict;

/* Decides whether an arrival is a photo-electron, and counts it in the account of the batch.
 * models->detection must not be NULL. ICESTREAM_E_INPUT: a weight with which the probability of
 * detection is above 1. ICESTREAM_E_FAILED: an arrival of an unknown module. */
int ics_hit_detection_decide(const ics_hit_models *models, ics_batch *batch,
                             const ice_arrival *arrival, ics_detection_verdict *out,
                             icestream_error *error);
/* Changes the hit of an arrival that is kept: a photo-electron gets its pmt and the time of its
 * transit. If hit files contain only photo-electrons, each gets weight 1 (or ics_batch_thinning(),
 * if its step is not thinned). */
void ics_hit_detection_mark(const ics_hit_models *models, const icestream_step *step,
                            const ics_detection_verdict *verdict, icestream_hit *hit);

/* Returns copies of the arrivals in the order of their photons in the batch, for the caller to
 * free. Without items: they are in that order already, or few, or there is no memory for copies. */
ics_arrivals ics_hit_sort_arrivals(const ics_batch *batch, const ics_arrivals *arrivals);
/* Compares two hits for qsort in the order of hit files: (event_id, step_id, photon_id, string,
 * module), then t, then all bytes, so that only equal hits compare as equal. */
int ics_hit_sort_order(const void *left, const void *right);
/* Sorts into the order of hit files. */
void ics_hit_sort(icestream_hit *hits, size_t count);

/* Adds the numbers of one account to another. */
void ics_batch_account_add(icestream_account *to, const icestream_account *from);
/* Checks that the account closes: created == absorbed + detected + left + stopped == photons, and
 * hits - undetected == hit_rows. ICESTREAM_E_FAILED with all numbers. */
int ics_batch_account_check(const icestream_account *account, uint64_t photons, uint64_t hit_rows,
                            icestream_error *error);

#endif
