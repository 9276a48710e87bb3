/* The sum of the weights of hits, and how far it can be trusted (files.md 4.5). A few hits of large
 * weight can dominate the sum, so that it fluctuates like the number of far fewer hits. */
#ifndef ICS_PHOTONS_FILES_WEIGHT_SUM_H
#define ICS_PHOTONS_FILES_WEIGHT_SUM_H

#include "pipeline/icestream.h"

/* Photons are independent; hits of one photon are not, and count together. */
typedef struct ics_weight_sum {
    double photons_sum, photons_squares; /* over photons that have no more hits */
    double photon;                       /* sum over the hits of the last photon */
    uint64_t event_id;                   /* the last photon */
    uint32_t step_id, photon_id;
} ics_weight_sum;

typedef struct ics_weight_estimate {
    double sum;
    double error;     /* standard deviation: the root of the sum of squares, over photons */
    double effective; /* the number of photons of equal weight whose sum fluctuates as much */
} ics_weight_estimate;

/* Ends the last photon: hits that are added later belong to other photons. */
static inline void ics_weight_sum_end(ics_weight_sum *sum)
{
    sum->photons_sum += sum->photon;
    sum->photons_squares += sum->photon * sum->photon;
    sum->photon = 0;
}

/* Adds a hit. The hits of a photon must come one after the other, as in hit files. */
static inline void ics_weight_sum_add(ics_weight_sum *sum, const icestream_hit *hit)
{
    if (hit->photon_id != sum->photon_id || hit->step_id != sum->step_id ||
        hit->event_id != sum->event_id) {
        ics_weight_sum_end(sum);
        sum->event_id = hit->event_id;
        sum->step_id = hit->step_id;
        sum->photon_id = hit->photon_id;
    }
    sum->photon += (double)hit->weight;
}

/* Adds the sum of other photons. */
void ics_weight_sum_join(ics_weight_sum *to, const ics_weight_sum *from);
ics_weight_estimate ics_weight_sum_estimate(const ics_weight_sum *sum);

enum { ICS_WEIGHT_TEXT = 96 };
/* Writes "58334 +- 2.6e+03 (effective number 507)". Returns text. */
const char *ics_weight_estimate_text(ics_weight_estimate estimate, char text[ICS_WEIGHT_TEXT]);

#endif
