/* The drivers of GPUs need about 0.1 s to make a device ready. Threads do this while a command
 * reads its configuration's models. */
#ifndef ICS_PHOTONS_DEVICES_WAKE_H
#define ICS_PHOTONS_DEVICES_WAKE_H

#include "pipeline/photons/devices/options.h"

typedef struct ics_device_wake ics_device_wake;

/* Begins to make all GPUs of the options ready, each on a thread. NULL: there is no GPU, or no
 * memory; then the devices make themselves ready when they are created. */
ics_device_wake *ics_device_wake_begin(const ics_device_options *options);
/* Waits for the threads. Accepts NULL. */
void ics_device_wake_end(ics_device_wake *wake);

#endif
