/* Batches: the unit of work between a step file and a device, and the way from arrivals to hits.
 *
 * A batch goes to a device with emissions in it and comes back with hits in it. How a stream of
 * steps is cut into batches never changes a hit: photons are numbered within their step, so that
 * even one step of 1e9 photons may be spread over many batches.
 */
#ifndef ICS_DEVICES_BATCH_H
#define ICS_DEVICES_BATCH_H

#include "graphs/graph.h"
#include "physics/model.h"
#include "pipeline/devices/workers.h"
#include "pipeline/files/metadata.h"
#include "pipeline/icestream.h"
#include "pipeline/models/detector/detection.h"
#include "tables/tables.h"

/* Photons per batch of a CPU where graph.batch is auto: a twentieth of a second of one thread. Four
 * times more cost two threads 3 % at the end of a run of 2e6 photons, where one waits for the
 * other. */
#define ICS_BATCH_PHOTONS (1u << 16)
/* Steps per batch of a CPU at most, whatever their photons: bounds its memory to 2 MiB. */
#define ICS_BATCH_STEPS (1u << 14)

/* What the batches of a device should be like. */
typedef struct ics_batch_limits {
    uint32_t steps;         /* of a batch at most */
    uint64_t photons;       /* of a batch, where nobody asks for another number */
    uint64_t most_photons;  /* whatever is asked for */
    uint64_t least_photons; /* a batch of a small file still has so many, if the file does; */
    uint32_t shares;        /* otherwise it is cut into so many batches */
} ics_batch_limits;

/* ICS_BATCH_STEPS, ICS_BATCH_PHOTONS; files are cut for these numbers alone. */
ics_batch_limits ics_batch_limits_default(void);

typedef struct ics_batch {
    ics_job job;    /* how it travels between threads; first, so that a job is its batch */
    uint64_t index; /* place in its stream, set by the owner */
    void *owner;    /* for whoever submitted it */

    icestream_step *steps;   /* [count], the step of every emission */
    ice_emission *emissions; /* [count], each with 1 or more photons */
    uint32_t count, capacity;
    uint64_t photons;      /* sum over the emissions */
    uint64_t photon_limit; /* full at so many photons, */
    uint32_t step_limit;   /* or at so many emissions */

    /* A GPU's, until hits are made of it. */
    ics_arrivals arrivals;
    ice_account ended;

    /* Filled by a device. */
    icestream_hit *hits; /* [hit_count], sorted */
    size_t hit_count;
    icestream_account account;
    ics_maths_used maths;
    double seconds;        /* of one thread */
    icestream_error error; /* error.status ICESTREAM_OK: done; else the fields above are empty */
} ics_batch;

/* Makes an empty batch within the limits, for up to so many photons (0: limits->photons; never more
 * than limits->most_photons). ICESTREAM_E_MEMORY. */
int ics_batch_create(const ics_batch_limits *limits, uint64_t photons, ics_batch **out,
                     icestream_error *error);
/* Makes a batch empty again, with other limits and with the memory that it has. */
void ics_batch_reset(ics_batch *batch, const ics_batch_limits *limits, uint64_t photons);
/* Accepts NULL. */
void ics_batch_destroy(ics_batch *batch);

/* A place in an array of steps, possibly within a step. */
typedef struct ics_step_cursor {
    const icestream_step *steps;
    size_t count;          /* steps left, steps[0] included */
    uint32_t first_photon; /* photons of steps[0] that are already in batches */
} ics_step_cursor;

/* Moves photons from the cursor to the batch until the batch is full or the cursor is used up;
 * steps without photons are passed over. *full says which. ICESTREAM_E_MEMORY. */
int ics_batch_fill(ics_batch *batch, ics_step_cursor *cursor, bool *full, icestream_error *error);

/* The emission of photons first .. first + photons - 1 of a step: direction normalised in double
 * precision (isotropic: +z, it is not used). The step has passed the checks of files.md 3.1. */
ice_emission ics_batch_step_emission(const icestream_step *step, uint32_t first, uint32_t photons);

/* What labels and weights of hits are made from; all must outlive its use. */
typedef struct ics_hit_models {
    const ice_tables *tables;
    const ice_detector *detector;
    const ice_light *light;
    const ics_detection *detection; /* NULL: stages.detect is none */
} ics_hit_models;

/* Probability that generated light of this wavelength (nm) was kept: linear between the points of
 * light->bias, constant beyond its ends; 1 without points (physics.md 3.2). */
double ics_batch_light_bias(const ice_light *light, double wavelength);

/* The hit that an arrival becomes (physics.md 9, files.md 4.1): t = step.t +
 * ics_tables_arrival_delay in double precision, weight = step.weight / bias(wavelength), scatters
 * saturate at 65535. ICESTREAM_E_FAILED: an arrival that no model explains (unknown emission or
 * module, bias 0). ICESTREAM_E_INPUT: a weight that no hit can have any more. */
int ics_batch_hit_from_arrival(const ics_hit_models *models, const ics_batch *batch,
                               const ice_arrival *arrival, icestream_hit *out,
                               icestream_error *error);

/* Decides which hits are photo-electrons (models->detection is there): hits[i] comes from
 * arrivals->items[i]. They get pmt 0; with hit files of photo-electrons alone they get weight 1,
 * and the others are taken out. Counts both in the account. ICESTREAM_E_INPUT: a weight that makes
 * something more than certain. ICESTREAM_E_FAILED: an arrival of an unknown module. */
int ics_hit_detection_apply(const ics_hit_models *models, const ics_batch *batch,
                            const ics_arrivals *arrivals, icestream_hit *hits, size_t *count,
                            icestream_account *account, icestream_error *error);

/* Order of hit files: (event_id, step_id, photon_id, string, module), then t, then all bytes, so
 * that the order is total. <0, 0, >0; for qsort. */
int ics_hit_sort_order(const void *left, const void *right);
/* Sorts into the order of hit files. */
void ics_hit_sort(icestream_hit *hits, size_t count);

/* Adds the numbers of one account to another. */
void ics_batch_account_add(icestream_account *to, const icestream_account *from);
/* ICESTREAM_E_FAILED, naming all numbers, unless created == absorbed + detected + left + stopped,
 * created
 * == photons, and hits - undetected == hit_rows. */
int ics_batch_account_check(const icestream_account *account, uint64_t photons, uint64_t hit_rows,
                            icestream_error *error);

#endif
