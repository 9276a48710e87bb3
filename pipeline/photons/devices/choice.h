/* Schedule AUTO in a group: the first GPU of a kind chooses a schedule and makes the trials, and
 * the other GPUs of that kind use its choice. */
#ifndef ICS_PHOTONS_DEVICES_CHOICE_H
#define ICS_PHOTONS_DEVICES_CHOICE_H

#include "pipeline/photons/devices/backend.h"

/* `gpus`: GPUs in the group. With more than one, reports name the GPU. ICESTREAM_E_MEMORY. */
int ics_device_choices_create(uint32_t gpus, ics_device_choices **out, icestream_error *error);
/* Accepts NULL. */
void ics_device_choices_destroy(ics_device_choices *choices);
/* Like ics_gpu_choose, with the emissions of a batch. */
int ics_device_choice_make(ics_device_choices *choices, ics_gpu_options *settings,
                           const ics_tables *tables, const ics_batch *batch, char *report,
                           size_t report_size, icestream_error *error);
/* Whether a GPU that has chosen is the first of its kind, which makes the trials. */
bool ics_device_choice_is_first(ics_device_choices *choices, int ordinal);
/* Whether two settings are the same candidate of schedule AUTO. */
bool ics_device_choice_equal(const ics_gpu_options *left, const ics_gpu_options *right);
/* Notes what the first GPU of a kind has changed to, for the GPUs of that kind. */
void ics_device_choice_change(ics_device_choices *choices, const ics_gpu_options *settings);
/* Whether the choice for the kind of a GPU differs from the settings that the GPU uses. If so,
 * *settings becomes the choice. */
bool ics_device_choice_differs(ics_device_choices *choices, ics_gpu_options *settings);

#endif
