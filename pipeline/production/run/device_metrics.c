#include "pipeline/production/run/device_metrics.h"

#include <stdio.h>

void ics_device_member_id(const ics_device_member_facts *facts, char id[ICS_DEVICE_ID])
{
    if (facts->is_gpu) {
        snprintf(id, ICS_DEVICE_ID, "cuda:%d", facts->ordinal);
    } else {
        snprintf(id, ICS_DEVICE_ID, "cpu");
    }
}

void ics_device_measure(const ics_device *device, ics_metrics *metrics)
{
    ics_device_facts group;
    ics_device_member_facts facts;
    ics_device_facts_of(device, &group);
    for (uint32_t i = 0; metrics->device_count < ICS_METRICS_DEVICES &&
                         ics_device_member_facts_of(device, i, &facts);
         ++i) {
        ics_metrics_device *to = &metrics->devices[metrics->device_count++];
        *to = (ics_metrics_device){
            .photons = facts.photons, .seconds_busy = facts.seconds, .alive = facts.alive};
        ics_device_member_id(&facts, to->id);
        snprintf(to->name, sizeof to->name, "%.127s", facts.name);
        /* The schedule of the group is that of its GPUs, or of the CPU if it has none. */
        if (facts.is_gpu == group.is_gpu) {
            snprintf(to->schedule, sizeof to->schedule, "%s",
                     ics_graph_schedule_name(group.schedule));
        }
    }
}
