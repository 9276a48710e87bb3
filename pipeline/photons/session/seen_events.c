#include "pipeline/photons/session/seen_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs and spans of events that are remembered: at most 12 MiB. */
enum { INPUTS_MOST = 65536, SPANS_MOST = 262144 };

struct ics_seen_input {
    char *name;
    ics_event_span *spans; /* [count] */
    size_t count;
    uint64_t low, high; /* the lowest and the highest event */
};

static void forget_next(ics_seen_events *seen)
{
    ics_seen_input *oldest = &seen->inputs[seen->next];
    seen->spans -= oldest->count;
    free(oldest->name);
    free(oldest->spans);
    *oldest = (ics_seen_input){0};
}

static void forget_all(ics_seen_events *seen)
{
    for (seen->next = 0; seen->next < seen->count; ++seen->next) {
        forget_next(seen);
    }
    seen->next = seen->count = 0;
}

/* Remembers an input. If there is no memory, the input is not compared with later ones. */
static void remember(ics_seen_events *seen, const char *name, const ics_event_spans *spans,
                     uint64_t low, uint64_t high)
{
    if (seen->inputs == NULL) { /* the system gives its pages when they are used */
        seen->inputs = calloc(INPUTS_MOST, sizeof *seen->inputs);
    }
    ics_seen_input input = {.name = strdup(name),
                            .spans = calloc(spans->count, sizeof *input.spans),
                            .count = spans->count,
                            .low = low,
                            .high = high};
    if (seen->inputs == NULL || input.name == NULL || input.spans == NULL) {
        free(input.name);
        free(input.spans);
        return;
    }
    memcpy(input.spans, spans->items, spans->count * sizeof *input.spans);
    /* If inputs have very many spans, all of them are forgotten. */
    if (seen->spans + spans->count > SPANS_MOST) {
        forget_all(seen);
    } else {
        forget_next(seen);
    }
    seen->inputs[seen->next] = input;
    seen->next = (seen->next + 1) % INPUTS_MOST;
    seen->count += seen->count < INPUTS_MOST;
    seen->spans += spans->count;
}

static void describe(const char *other, const char *name, const ics_event_span *both, char *text,
                     size_t size)
{
    char events[64];
    if (both->first_event == both->last_event) {
        snprintf(events, sizeof events, "event %" PRIu64, both->first_event);
    } else {
        snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, both->first_event,
                 both->last_event);
    }
    snprintf(text, size,
             "%s and %s both have steps %" PRIu32 " to %" PRIu32 " of %s: steps with equal "
             "event_id and step_id have equal random numbers, so their hits are correlated "
             "(particles.first_event gives each list its own events; further inputs are "
             "not named)",
             other, name, both->first_step, both->last_step, events);
}

bool ics_seen_events_look(ics_seen_events *seen, const char *name, const ics_event_spans *spans,
                          char *text, size_t size)
{
    if (spans->count == 0 || seen->has_warned) {
        return false;
    }
    uint64_t low = spans->items[0].first_event, high = spans->items[0].last_event;
    for (size_t i = 1; i < spans->count; ++i) {
        const ics_event_span *span = &spans->items[i];
        low = span->first_event < low ? span->first_event : low;
        high = span->last_event > high ? span->last_event : high;
    }
    for (size_t i = 0; i < seen->count; ++i) {
        const ics_seen_input *input = &seen->inputs[i];
        ics_event_span both;
        if (input->name != NULL && input->low <= high && input->high >= low &&
            ics_step_watch_overlap(input->spans, input->count, spans->items, spans->count, &both)) {
            describe(input->name, name, &both, text, size);
            seen->has_warned = true;
            return true;
        }
    }
    remember(seen, name, spans, low, high);
    return false;
}

void ics_seen_events_free(ics_seen_events *seen)
{
    forget_all(seen);
    free(seen->inputs);
    *seen = (ics_seen_events){0};
}
