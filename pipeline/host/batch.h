/* Batches: the unit of work between a step file and a device, and the way from arrivals to hits.
 *
 * A batch goes to a device with emissions in it and comes back with hits in it. How a stream of
 * steps is cut into batches never changes a hit: photons are numbered within their step, so that
 * even one step of 1e9 photons may be spread over many batches.
 */
#ifndef IS_BATCH_H
#define IS_BATCH_H

#include "graphs/graph.h"
#include "kernels/tables.h"
#include "pipeline/files/metadata.h"
#include "pipeline/host/workers.h"
#include "pipeline/models/detection.h"
#include "pipeline/icestream.h"
#include "stages/model.h"

/* Photons per batch of a CPU where graph.batch is auto: a twentieth of a second of one thread. Four
 * times more cost two threads 3 % at the end of a run of 2e6 photons, where one waits for the
 * other. */
#define IS_BATCH_PHOTONS (1u << 16)
/* Steps per batch of a CPU at most, whatever their photons: bounds its memory to 2 MiB. */
#define IS_BATCH_STEPS (1u << 14)

/* What the batches of a device should be like. */
typedef struct is_batch_limits {
    uint32_t steps;         /* of a batch at most */
    uint64_t photons;       /* of a batch, where nobody asks for another number */
    uint64_t most_photons;  /* whatever is asked for */
    uint64_t least_photons; /* a batch of a small file still has so many, if the file does; */
    uint32_t shares;        /* otherwise it is cut into so many batches */
} is_batch_limits;

/* IS_BATCH_STEPS, IS_BATCH_PHOTONS; files are cut for these numbers alone. */
is_batch_limits is_batch_limits_default(void);

typedef struct is_batch {
    is_job job;     /* how it travels between threads; first, so that a job is its batch */
    uint64_t index; /* place in its stream, set by the owner */
    void *owner;    /* for whoever submitted it */

    is_step *steps;          /* [count], the step of every emission */
    ice_emission *emissions; /* [count], each with 1 or more photons */
    uint32_t count, capacity;
    uint64_t photons;      /* sum over the emissions */
    uint64_t photon_limit; /* full at so many photons, */
    uint32_t step_limit;   /* or at so many emissions */

    /* A GPU's, until hits are made of it. */
    is_arrivals arrivals;
    ice_account ended;

    /* Filled by a device. */
    is_hit *hits; /* [hit_count], sorted */
    size_t hit_count;
    is_account account;
    is_maths_used maths;
    double seconds; /* of one thread */
    is_error error; /* error.status IS_OK: done; else the fields above are empty */
} is_batch;

/* Makes an empty batch within the limits, for up to so many photons (0: limits->photons; never more
 * than limits->most_photons). IS_E_MEMORY. */
int is_batch_create(const is_batch_limits *limits, uint64_t photons, is_batch **out,
                    is_error *error);
/* Makes a batch empty again, with other limits and with the memory that it has. */
void is_batch_reset(is_batch *batch, const is_batch_limits *limits, uint64_t photons);
/* Accepts NULL. */
void is_batch_destroy(is_batch *batch);

/* A place in an array of steps, possibly within a step. */
typedef struct is_step_cursor {
    const is_step *steps;
    size_t count;          /* steps left, steps[0] included */
    uint32_t first_photon; /* photons of steps[0] that are already in batches */
} is_step_cursor;

/* Moves photons from the cursor to the batch until the batch is full or the cursor is used up;
 * steps without photons are passed over. *full says which. IS_E_MEMORY. */
int is_batch_fill(is_batch *batch, is_step_cursor *cursor, bool *full, is_error *error);

/* The emission of photons first .. first + photons - 1 of a step: direction normalised in double
 * precision (isotropic: +z, it is not used). The step has passed the checks of formats.md. */
ice_emission is_step_emission(const is_step *step, uint32_t first, uint32_t photons);

/* What labels and weights of hits are made from; all must outlive its use. */
typedef struct is_hit_models {
    const ice_tables *tables;
    const ice_detector *detector;
    const ice_light *light;
    const is_detection *detection; /* NULL: stages.detect is none */
} is_hit_models;

/* Probability that generated light of this wavelength (nm) was kept: linear between the points of
 * light->bias, constant beyond its ends; 1 without points (physics.md 3.2). */
double is_light_bias(const ice_light *light, double wavelength);

/* The hit that an arrival becomes (physics.md 9, formats.md): t = step.t + is_arrival_delay in
 * double precision, weight = step.weight / bias(wavelength), scatters saturate at 65535.
 * IS_E_FAILED: an arrival that no model explains (unknown emission or module, bias 0).
 * IS_E_INPUT: a weight that no hit can have any more. */
int is_hit_from_arrival(const is_hit_models *models, const is_batch *batch,
                        const ice_arrival *arrival, is_hit *out, is_error *error);

/* Decides which hits are photo-electrons (models->detection is there): hits[i] comes from
 * arrivals->items[i]. They get pmt 0; with hit files of photo-electrons alone they get weight 1,
 * and the others are taken out. Counts both in the account. IS_E_INPUT: a weight that makes
 * something more than certain. IS_E_FAILED: an arrival of an unknown module. */
int is_hits_detect(const is_hit_models *models, const is_batch *batch, const is_arrivals *arrivals,
                   is_hit *hits, size_t *count, is_account *account, is_error *error);

/* Order of hit files: (event_id, step_id, photon_id, string, module), then t, then all bytes, so
 * that the order is total. <0, 0, >0; for qsort. */
int is_hit_order(const void *left, const void *right);
/* Sorts into the order of hit files. */
void is_hits_sort(is_hit *hits, size_t count);

/* Adds the numbers of one account to another. */
void is_account_add(is_account *to, const is_account *from);
/* IS_E_FAILED, naming all numbers, unless created == absorbed + detected + left + stopped, created
 * == photons, and hits - undetected == hit_rows. */
int is_account_check(const is_account *account, uint64_t photons, uint64_t hit_rows,
                     is_error *error);

#endif
