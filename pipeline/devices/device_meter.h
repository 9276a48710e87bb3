/* How fast a device has turned out to be, and when it would be done with a batch more.
 *
 * Photons per second come from what it has done lately: several seconds' worth, so that a device
 * that slows down is seen to, and one that gives batches in bursts is not taken for a fast one.
 * Whoever uses a meter sees to it that one thread at a time does.
 */
#ifndef ICS_DEVICES_DEVICE_METER_H
#define ICS_DEVICES_DEVICE_METER_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise, set `assumed` and `warms_up`. */
typedef struct ics_device_meter {
    double assumed;        /* photons/s as long as nothing is known */
    bool warms_up;         /* how long its first batch takes says nothing: a GPU compiles its
                              kernels for it, and measures schedules */
    uint64_t photons;      /* carried to their end */
    uint64_t batches;      /* likewise */
    uint64_t held_photons; /* with the device now */
    uint32_t held;         /* batches, likewise */
    double busy;           /* s with at least one batch, up to `event` */
    double event; /* s of ics_progress_seconds(): the last batch that came back, or the first of
                     those that it holds, whichever is later */
    double recent_photons; /* of the last seconds, older ones count less; */
    double recent_seconds; /* in which it had a batch */
} ics_device_meter;

/* `now`: s of ics_progress_seconds(). A batch goes to the device. */
void ics_device_meter_take(ics_device_meter *meter, uint64_t photons, double now);
/* It comes back: computed, or not. */
void ics_device_meter_give(ics_device_meter *meter, uint64_t photons, bool computed, double now);

/* Photons per second. */
double ics_device_meter_rate(const ics_device_meter *meter);
/* Seconds until it would have done a batch that came to it behind all that it holds and `ahead`
 * photons more. One that has been silent for longer than its work takes is believed to stay so for
 * as long again. */
double ics_device_meter_finish(const ics_device_meter *meter, uint64_t ahead, uint64_t photons,
                               double now);
/* Seconds in which it had a batch, until now. */
double ics_device_meter_busy(const ics_device_meter *meter, double now);

#endif
