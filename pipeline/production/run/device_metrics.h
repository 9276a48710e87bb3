/* The devices in the metrics and in the progress of a run. */
#ifndef ICS_PRODUCTION_RUN_DEVICE_METRICS_H
#define ICS_PRODUCTION_RUN_DEVICE_METRICS_H

#include "pipeline/photons/devices/device.h"
#include "pipeline/production/telemetry/metrics.h"

enum { ICS_DEVICE_ID = 32 };

/* Makes a short name that only one member has: "cuda:0", "cpu". */
void ics_device_member_id(const ics_device_member_facts *facts, char id[ICS_DEVICE_ID]);
/* Adds the members of a device to the metrics. Any thread. */
void ics_device_measure(const ics_device *device, ics_metrics *metrics);

#endif
