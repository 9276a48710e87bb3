#include "pipeline/photons/engine/step_watch.h"

/* Adds a step to the last span. Returns false if its event does not belong there. */
static bool extend(ics_event_span *last, const icestream_step *step)
{
    /* Event 0 does not follow UINT64_MAX. */
    const bool follows = step->event_id != 0 && step->event_id - 1 == last->last_event;
    const bool inside = step->event_id >= last->first_event && step->event_id <= last->last_event;
    if (!follows && !inside) {
        return false;
    }
    last->last_event = step->event_id > last->last_event ? step->event_id : last->last_event;
    last->first_step = step->step_id < last->first_step ? step->step_id : last->first_step;
    last->last_step = step->step_id > last->last_step ? step->step_id : last->last_step;
    return true;
}

/* Adds the keys of steps. */
static void add_spans(ics_event_spans *spans, const icestream_step *steps, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *step = &steps[i];
        if (spans->count > 0 && extend(&spans->items[spans->count - 1], step)) {
            continue;
        }
        if (spans->count == ICS_EVENT_SPANS) {
            return;
        }
        spans->items[spans->count++] = (ics_event_span){.first_event = step->event_id,
                                                        .last_event = step->event_id,
                                                        .first_step = step->step_id,
                                                        .last_step = step->step_id};
    }
}

bool ics_step_watch_overlap(const ics_event_span *a, size_t a_count, const ics_event_span *b,
                            size_t b_count, ics_event_span *out)
{
    for (size_t i = 0; i < a_count; ++i) {
        for (size_t k = 0; k < b_count; ++k) {
            *out = (ics_event_span){
                .first_event =
                    a[i].first_event > b[k].first_event ? a[i].first_event : b[k].first_event,
                .last_event = a[i].last_event < b[k].last_event ? a[i].last_event : b[k].last_event,
                .first_step = a[i].first_step > b[k].first_step ? a[i].first_step : b[k].first_step,
                .last_step = a[i].last_step < b[k].last_step ? a[i].last_step : b[k].last_step};
            if (out->first_event <= out->last_event && out->first_step <= out->last_step) {
                return true;
            }
        }
    }
    return false;
}

void ics_step_watch_begin(ics_step_watch *watch)
{
    watch->rows = watch->slow_steps = watch->first_slow = 0;
    watch->spans.count = 0;
}

void ics_step_watch_look(ics_step_watch *watch, float least_beta, const icestream_step *steps,
                         size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *step = &steps[i];
        if (step->beta < least_beta && step->spectrum == 0 && step->photons > 0 &&
            !(step->flags & ~ICESTREAM_STEP_NOT_THINNED)) {
            watch->first_slow = watch->slow_steps == 0 ? watch->rows + i : watch->first_slow;
            ++watch->slow_steps;
        }
    }
    add_spans(&watch->spans, steps, count);
    watch->rows += count;
}
