/* Schedule AUTO in a group: the first GPU of a kind measures the schedules, and the other GPUs of
 * that kind use its choice. */
#ifndef ICS_DEVICES_DEVICE_CHOICE_H
#define ICS_DEVICES_DEVICE_CHOICE_H

#include "pipeline/devices/device_backend.h"

/* `gpus`: GPUs in the group. With more than one, reports name the GPU. ICESTREAM_E_MEMORY. */
int ics_device_choices_create(uint32_t gpus, ics_device_choices **out, icestream_error *error);
/* Accepts NULL. */
void ics_device_choices_destroy(ics_device_choices *choices);
/* Like ics_gpu_choose, with the emissions of a batch. Waits while another GPU measures. */
int ics_device_choice_make(ics_device_choices *choices, ics_gpu_options *settings,
                           const ics_tables *tables, const ics_batch *batch, char *report,
                           size_t report_size, icestream_error *error);

#endif
