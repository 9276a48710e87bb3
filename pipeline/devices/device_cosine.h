/* The mean cosine of a user's scatter stage. */
#ifndef ICS_DEVICES_DEVICE_COSINE_H
#define ICS_DEVICES_DEVICE_COSINE_H

#include "pipeline/devices/device_backend.h"

/* Warns if a user's scatter stage has another mean cosine than the ice: the mean path between two
 * scatters follows from that of the ice (docs/stages.md). ICESTREAM_E_CONFIG: it is no cosine. */
int ics_device_cosine_check(const ics_device_parts *parts, const ics_graph *graph,
                            icestream_error *error);

#endif
