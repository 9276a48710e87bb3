/* Waveforms: sums of hits in bins of time, one bin for each event, module and interval of time
 * (files.md 9). `icestream run` with sink.hits: waveforms and `icestream convert --waveforms` both
 * make them here.
 *
 * The sums are exact and do not depend on the order of the hits. A weight is a number in single
 * precision: 24 bits times a power of two. Weights with the same power of two are a class, and
 * their 24 bits add up as whole numbers. At the end the sums of the classes add up in double
 * precision, from the smallest power to the largest. So the same hits give the same bytes, however
 * they were divided into batches.
 */
#ifndef ICS_PHOTONS_FILES_HIT_BINS_H
#define ICS_PHOTONS_FILES_HIT_BINS_H

#include "base/cleanup.h"
#include "physics/detect/time_bins.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/config/config.h"

#include <jansson.h>

typedef ice_time_bins ics_bin_rule;

/* The sum of hits of one class of weights in one bin. It has the size of a hit, and the order of
 * hit files (event_id, step_id, photon_id, string, module, t) is the order of bins in it. So sums
 * of batches go the way of hits: through collectors and checkpoints. */
typedef struct ics_bin_sum {
    uint64_t event_id;
    double bin;        /* a whole number, -(2^31 - 1) .. 2^31 - 1; where a hit has t */
    uint64_t hits;     /* > 0 */
    uint64_t mantissa; /* sum of the 24 bits of the weights */
    uint32_t exponent; /* class of the weights: the 8 bits of the exponent in single precision */
    uint32_t zero[5];  /* also where a hit has step_id and photon_id */
    uint16_t string, module;
    uint32_t end; /* 0 */
} ics_bin_sum;

/* The rule of sink.waveform_bin and sink.waveform_range. Width 0: sink.hits is not waveforms. */
ics_bin_rule ics_hit_bins_rule_of(const icestream_config *config);

/* Stores bin_ns and range_ns, unless the width is 0. ICESTREAM_E_MEMORY. */
int ics_hit_bins_store(const ics_bin_rule *rule, json_t *metadata, icestream_error *error);
/* Stores how many hits of an account are in the waveforms, and how many are not.
 * ICESTREAM_E_FAILED: without a range a hit is missing, or there are more hits than the account
 * has; ICESTREAM_E_MEMORY. */
int ics_hit_bins_store_hits(const ics_bin_rule *rule, const icestream_account *account,
                            uint64_t hits, json_t *metadata, icestream_error *error);
/* Whether the metadata of two files have the same bins, or both have none. If not, `text` has the
 * key and both values: "bin_ns: found 10, expected 5". */
bool ics_hit_bins_same(const json_t *found, const json_t *expected, char *text, size_t size);

/* Makes the sum of one hit, whose weight must be finite and >= 0. *inside: whether the rule counts
 * the hit; else *out is not set. `hint`: how the user can leave a hit out. ICESTREAM_E_INPUT: the
 * number of the bin is above 2^31 - 1. */
int ics_hit_bins_sum_of(const ics_bin_rule *rule, const icestream_hit *hit, const char *hint,
                        ics_bin_sum *out, bool *inside, icestream_error *error);

/* Sorts sums into the order above and unites those of the same class and bin. Returns how many are
 * left. */
size_t ics_hit_bins_unite(ics_bin_sum *sums, size_t count);

/* Replaces hits, in any order, by their sums, which have the order of hit files. *count becomes the
 * number of sums; hits outside the range are lost. ICESTREAM_E_INPUT as ics_hit_bins_sum_of(). */
int ics_hit_bins_replace(const ics_bin_rule *rule, icestream_hit *hits, size_t *count,
                         icestream_error *error);

/* Makes rows of sums. */
typedef struct ics_bin_rows ics_bin_rows;

/* Receives the next row. Returns 0, or a status that ends the work. */
typedef int (*ics_bin_receiver)(void *user, const icestream_waveform_bin *row,
                                icestream_error *error);

typedef struct ics_bin_totals {
    uint64_t hits, bins, events;
} ics_bin_totals;

/* The rule must outlive *out. ICESTREAM_E_MEMORY. */
int ics_hit_bins_rows_create(const ics_bin_rule *rule, ics_bin_receiver receive, void *user,
                             ics_bin_rows **out, icestream_error *error);
/* Accepts NULL. */
void ics_hit_bins_rows_destroy(ics_bin_rows *rows);
ICS_CAN_DESTROY(ics_bin_rows, ics_hit_bins_rows_destroy)
/* Adds sums, whose bins must have the order of ics_bin_sum; sums of one bin may have any order and
 * may come in several calls. What the receiver returned; ICESTREAM_E_INPUT: a sum of weights is too
 * large. */
int ics_hit_bins_rows_add(ics_bin_rows *rows, const ics_bin_sum *sums, size_t count,
                          icestream_error *error);
/* Ends the last row. What the receiver returned. */
int ics_hit_bins_rows_end(ics_bin_rows *rows, ics_bin_totals *out, icestream_error *error);

#endif
