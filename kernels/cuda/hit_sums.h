/* Sums of the hits of a launch in bins of time (sink.hits: waveforms, files.md 9), as C functions.
 * nvcc compiles them when the program is built, because they need CUB.
 *
 * The hits of one class of weights in one bin of a module and an event are one sum. Every hit gets
 * a key that names its sum; a radix sort brings equal keys together, and a reduction adds up what
 * has one key. The sums are whole numbers, so their order has no effect. The time and the weight of
 * a hit are computed by the functions that the host uses (physics/detect).
 *
 * The size of a launch cannot depend on data of the device. The work is therefore enqueued for the
 * capacity of the hit buffer, and entries behind the last hit get a key that no hit has.
 */
#ifndef ICS_KERNELS_CUDA_HIT_SUMS_H
#define ICS_KERNELS_CUDA_HIT_SUMS_H

#include "physics/detect/time_bins.h"
#include "stages/photon.h"
#include "stages/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* *cudaStream_t, without CUDA's headers */

/* What the time, the weight and the bin of a hit are computed from, besides its step. */
typedef struct ics_hit_sum_rule {
    ice_time_bins bins;
    double oversize; /* oversize of the modules */
    /* [bias_count] the probability that thinning kept light of a wavelength (nm); count 0: 1 */
    const double *bias_wavelength, *bias;
    uint32_t bias_count;
    uint32_t modules; /* modules of the detector, >= 1 */
} ics_hit_sum_rule;

/* What the time and the weight of a hit need of its step (24 bytes). */
typedef struct ics_hit_sum_step {
    double kept;    /* weight, multiplied by the share of its photons that thinning kept */
    double t;       /* ns */
    uint32_t event; /* index in the batch of the first emission of neighbours with this event_id */
} ics_hit_sum_step;

/* What makes two hits part of one sum (16 bytes), from the highest bit of `high` to the lowest bit
 * of `low`: index of ics_hit_sum_step.event in the ring of emissions, module, bin + 2^31, class of
 * the weight. Hits outside the range have the class ICE_WEIGHT_CLASSES, which no weight has. */
typedef struct ics_hit_sum_key {
    uint64_t low, high;
} ics_hit_sum_key;

/* The total of all hits with one key (16 bytes). */
typedef struct ics_hit_sum_total {
    uint64_t mantissa; /* sum of the 24 bits of the weights */
    uint32_t hits;
    uint32_t unused;
} ics_hit_sum_total;

/* A sum that came from a device. */
typedef struct ics_hit_sum {
    uint64_t mantissa;
    uint32_t hits; /* > 0 */
    uint32_t emission, module;
    int32_t bin;
    uint32_t exponent; /* class of the weights; ICE_WEIGHT_CLASSES: hits outside the range */
    uint32_t unused;
} ics_hit_sum;

/* What came out of the sums of a launch; the host reads it. */
typedef struct ics_hit_sum_report {
    uint32_t count; /* keys, including that of entries without a hit */
    uint32_t fault; /* 1: a hit has no sum, and the host finds out why from the hits */
} ics_hit_sum_report;

#define ICS_HIT_SUM_CLASS_BITS 8u
#define ICS_HIT_SUM_BIN_BITS   32u

/* How keys of a lane are laid out. */
typedef struct ics_hit_sum_layout {
    uint32_t shift;       /* the ring of emissions has 2^shift for each batch, */
    uint32_t emissions;   /* and this many in all */
    uint32_t module_bits; /* ics_hit_sum_bits() of the modules */
} ics_hit_sum_layout;

/* The hits of a launch, and what becomes of them; all pointers are device pointers. */
typedef struct ics_hit_sum_work {
    const ice_arrival *hits;
    const uint32_t *count; /* number of hits; may exceed the capacity */
    uint32_t capacity;     /* capacity of the buffer of hits, >= 1 */
    ics_hit_sum_layout layout;
    const ice_emission *emissions; /* the ring */
    const ics_hit_sum_step *steps; /* the ring, with the steps of the emissions */
    ics_hit_sum_key *keys;         /* [capacity] out */
    ics_hit_sum_total *totals;     /* [capacity] out */
    ics_hit_sum_report *report;    /* out */
    void *temporary;               /* [bytes], aligned to 256 bytes */
    size_t bytes;
} ics_hit_sum_work;

/* Sets *bytes to the size of the temporary device memory. Uses the current device. Returns 0 or a
 * cudaError_t. */
int ics_hit_sums_bytes(uint32_t capacity, size_t *bytes);
/* Enqueues the sums of a launch; neither waits nor allocates. `tables` and `rule`: with device
 * pointers. Returns 0 or a cudaError_t. */
int ics_hit_sums_make(struct CUstream_st *stream, const ice_tables *tables,
                      const ics_hit_sum_rule *rule, const ics_hit_sum_work *work);

/* Returns the number of bits that hold the numbers 0 .. most. */
static inline uint32_t ics_hit_sum_bits(uint32_t most)
{
    uint32_t bits = 0;
    while (bits < 32 && most >> bits > 0) {
        ++bits;
    }
    return bits;
}

/* Reads a key. Returns false for that of entries without a hit. */
static inline bool ics_hit_sum_read(const ics_hit_sum_layout *layout, const ics_hit_sum_key *key,
                                    const ics_hit_sum_total *total, ics_hit_sum *out)
{
    const uint32_t below = ICS_HIT_SUM_CLASS_BITS + ICS_HIT_SUM_BIN_BITS;
    const uint64_t upper = key->low >> below | key->high << (64 - below);
    const uint64_t emission = upper >> layout->module_bits;
    if (emission >= layout->emissions) {
        return false;
    }
    out->mantissa = total->mantissa;
    out->hits = total->hits;
    out->emission = (uint32_t)emission;
    out->module = (uint32_t)(upper & ((1ull << layout->module_bits) - 1));
    out->bin = (int32_t)((uint32_t)(key->low >> ICS_HIT_SUM_CLASS_BITS) ^ 0x80000000u);
    out->exponent = (uint32_t)key->low & ((1u << ICS_HIT_SUM_CLASS_BITS) - 1);
    out->unused = 0;
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
