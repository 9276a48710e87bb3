/* A group: several devices, its members, that compute batches from one queue.
 *
 * Each batch goes to the member that should finish it first, by the measured rates and by the work
 * that each member holds. It waits in the queue until that member has room, so a slow member gets a
 * batch only if the fast members would finish it later. If a member is lost, the others compute its
 * unfinished batches again from the start. If no member is left, options->fall_back decides: a CPU
 * is added, or all batches end with the errors of all members.
 */
#ifndef ICS_DEVICES_DEVICE_GROUP_H
#define ICS_DEVICES_DEVICE_GROUP_H

#include "pipeline/devices/device_makers.h"

typedef struct ics_device_group ics_device_group;

/* Creates a group with 1 to ICS_CONFIG_GPUS + 1 members. `makers` need not outlive the call.
 * ICESTREAM_E_MEMORY, and the errors of members. */
int ics_device_group_create(const ics_device_parts *parts, const ics_device_maker *makers,
                            uint32_t count, ics_device_group **out, icestream_error *error);
/* Waits for the batches that the group holds, then frees everything. Accepts NULL. */
void ics_device_group_destroy(ics_device_group *group);

/* Batches that the group can hold. */
uint32_t ics_device_group_credits(const ics_device_group *group);
/* Gives the group a batch. The caller makes sure that the group holds fewer batches than its
 * credits. One thread at a time. */
void ics_device_group_submit(ics_device_group *group, ics_batch *batch);
/* See ics_device_finish_table. The group holds no batch. */
int ics_device_group_finish_table(ics_device_group *group, icestream_error *error);
/* Fills in everything but first_name. Any thread. */
void ics_device_group_facts(ics_device_group *group, ics_device_facts *out);
/* See ics_device_member_facts_of. Any thread. */
bool ics_device_group_member_facts(ics_device_group *group, uint32_t index,
                                   ics_device_member_facts *out);

#endif
