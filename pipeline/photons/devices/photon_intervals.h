/* Which photons of a step file are finished. The photons of a file are counted from 0 through all
 * of its steps, in the order of the rows. */
#ifndef ICS_PHOTONS_DEVICES_PHOTON_INTERVALS_H
#define ICS_PHOTONS_DEVICES_PHOTON_INTERVALS_H

#include "pipeline/icestream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The photons from `first` to `end - 1`. */
typedef struct ics_photon_interval {
    uint64_t first, end;
} ics_photon_interval;

/* A set of photons: intervals in ascending order that neither overlap nor touch each other. All
 * zero: no photon. */
typedef struct ics_photon_intervals {
    ics_photon_interval *items; /* [count] */
    size_t count, capacity;
    uint64_t photons; /* photons in all intervals */
} ics_photon_intervals;

/* Frees the intervals. No photon is in the set any more. */
void ics_photon_intervals_clear(ics_photon_intervals *set);

/* Adds an interval. ICESTREAM_E_INPUT: it is empty, or a photon of it is in the set already;
 * ICESTREAM_E_MEMORY. After an error the set is as before. */
int ics_photon_intervals_add(ics_photon_intervals *set, ics_photon_interval interval,
                             icestream_error *error);

/* Finds the first interval that ends behind the photon `position`. False: there is none. */
bool ics_photon_intervals_find(const ics_photon_intervals *set, uint64_t position,
                               ics_photon_interval *out);

#endif
