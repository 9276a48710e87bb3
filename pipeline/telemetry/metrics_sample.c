#include "pipeline/telemetry/metrics_sample.h"

#include "base/json_text.h"

bool ics_metrics_sample_is_due(double *last, double seconds)
{
    enum { PART = 60 };
    const double early = 0.1; /* s, by which a timer of one second may be early */
    const double part = seconds / PART;
    if (seconds - *last < (part > 1.0 ? part : 1.0) - early) {
        return false;
    }
    *last = seconds;
    return true;
}

void ics_metrics_sample(const ics_metrics *metrics, double seconds, ics_event *out)
{
    json_t *devices = json_object(), *queues = json_object();
    for (size_t i = 0; i < metrics->device_count; ++i) {
        const ics_metrics_device *device = &metrics->devices[i];
        json_object_set_new(devices, device->id, json_integer((json_int_t)device->photons));
    }
    for (size_t i = 0; i < metrics->queue_count; ++i) {
        const ics_metrics_queue *queue = &metrics->queues[i];
        json_object_set_new(queues, queue->name,
                            json_pack("[I, I]", (json_int_t)queue->used, (json_int_t)queue->limit));
    }
    *out = (ics_event){.kind = ICS_EVENT_SAMPLE,
                       .photons = metrics->photons,
                       .hits = metrics->hits,
                       .files = metrics->files_done + metrics->files_skipped,
                       .seconds = seconds,
                       .more = json_pack("{s:o, s:o}", "devices", devices, "queues", queues)};
}
