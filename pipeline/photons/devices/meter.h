/* Measures how fast a device computes, and estimates when it would finish another batch.
 *
 * The rate (photons/s) comes from the last seconds. So it follows a device that slows down, and
 * does not overestimate a device that returns many batches at the same moment. A meter has no lock:
 * the caller makes sure that one thread at a time uses it.
 */
#ifndef ICS_PHOTONS_DEVICES_METER_H
#define ICS_PHOTONS_DEVICES_METER_H

#include <stdbool.h>
#include <stdint.h>

/* Initialise it with zeros, `assumed` and `warms_up`. */
typedef struct ics_device_meter {
    double assumed;        /* the rate until it is measured (photons/s) */
    bool warms_up;         /* the first batch is not measured, because a GPU compiles kernels
                              during its first batch */
    uint64_t photons;      /* computed */
    uint64_t batches;      /* computed */
    uint64_t held_photons; /* photons that the device has now */
    uint32_t held;         /* batches with the device now */
    double busy;           /* time with at least one batch (s), up to `event` */
    double event; /* time (s of ics_clock_seconds()) at which the last batch came back or the
                     device got a batch after it had none, whichever is later */
    double recent_photons; /* photons of the last seconds; older ones have less weight */
    double recent_seconds; /* busy time in which these photons were computed (s), same weights */
} ics_device_meter;

/* In all functions `now` is the time (s of ics_clock_seconds()). */

/* The device gets a batch. */
void ics_device_meter_add(ics_device_meter *meter, uint64_t photons, double now);
/* A batch leaves the device, computed or not. */
void ics_device_meter_remove(ics_device_meter *meter, uint64_t photons, bool computed, double now);

/* Photons per second. */
double ics_device_meter_rate(const ics_device_meter *meter);
/* Time (s) until the device would finish a batch of `photons`, after all that it holds and `ahead`
 * further photons. A device that is late is assumed to stay late by the same time again. */
double ics_device_meter_finish(const ics_device_meter *meter, uint64_t ahead, uint64_t photons,
                               double now);
/* Time with at least one batch (s), up to now. */
double ics_device_meter_busy(const ics_device_meter *meter, double now);

#endif
