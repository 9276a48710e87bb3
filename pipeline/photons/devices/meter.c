#include "pipeline/photons/devices/meter.h"

#include <math.h>

/* Time (s) after which the weight of a measurement has fallen to 1/e. */
#define MEMORY 5.0
/* Shortest busy time (s) from which a rate is computed. Two batches may come back at the same
 * moment, and a rate from a shorter time would be far too high. */
#define LEAST_SECONDS 0.02

void ics_device_meter_add(ics_device_meter *meter, uint64_t photons, double now)
{
    if (meter->held == 0) {
        meter->event = now;
    }
    meter->held++;
    meter->held_photons += photons;
}

void ics_device_meter_remove(ics_device_meter *meter, uint64_t photons, bool computed, double now)
{
    const double seconds = now > meter->event ? now - meter->event : 0.0;
    meter->held--;
    meter->held_photons -= photons;
    meter->busy += seconds;
    meter->event = now;
    if (!computed) {
        return;
    }
    meter->photons += photons;
    meter->batches++;
    if (!meter->warms_up || meter->batches > 1) {
        const double kept = exp(-seconds / MEMORY);
        meter->recent_photons = kept * meter->recent_photons + (double)photons;
        meter->recent_seconds = kept * meter->recent_seconds + seconds;
    }
}

double ics_device_meter_rate(const ics_device_meter *meter)
{
    const bool known = meter->recent_seconds >= LEAST_SECONDS && meter->recent_photons > 0.0;
    return known ? meter->recent_photons / meter->recent_seconds : meter->assumed;
}

double ics_device_meter_finish(const ics_device_meter *meter, uint64_t ahead, uint64_t photons,
                               double now)
{
    const double rate = ics_device_meter_rate(meter);
    /* The time since the last event shortens the estimated time left. When the device is later than
     * estimated the difference is negative, and its absolute value is the delay. */
    const double silent = meter->held > 0 && now > meter->event ? now - meter->event : 0.0;
    return fabs((double)meter->held_photons / rate - silent) +
           ((double)ahead + (double)photons) / rate;
}

double ics_device_meter_busy(const ics_device_meter *meter, double now)
{
    return meter->busy + (meter->held > 0 && now > meter->event ? now - meter->event : 0.0);
}
