#include "pipeline/run/seen.h"

#include "pipeline/run/doubts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Inputs and spans of events that are remembered: at most 12 MiB. */
enum { INPUTS_MOST = 65536, SPANS_MOST = 262144 };

struct ics_run_seen_input {
    char *name;
    ics_event_span *spans; /* [count] */
    size_t count;
    uint64_t low, high; /* the lowest and the highest event */
};

static void forget_next(ics_run_seen *seen)
{
    ics_run_seen_input *oldest = &seen->inputs[seen->next];
    seen->spans -= oldest->count;
    free(oldest->name);
    free(oldest->spans);
    *oldest = (ics_run_seen_input){0};
}

/* Remembers an input. If there is no memory, the input is not compared with later ones. */
static void remember(ics_run_seen *seen, const char *name, const ics_event_spans *spans,
                     uint64_t low, uint64_t high)
{
    if (seen->inputs == NULL) { /* the system gives its pages when they are used */
        seen->inputs = calloc(INPUTS_MOST, sizeof *seen->inputs);
    }
    ics_run_seen_input input = {.name = strdup(name),
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
    for (size_t i = 0; i < seen->count && seen->spans + spans->count > SPANS_MOST; ++i) {
        forget_next(seen);
        seen->next = (seen->next + 1) % INPUTS_MOST;
    }
    forget_next(seen);
    seen->inputs[seen->next] = input;
    seen->next = (seen->next + 1) % INPUTS_MOST;
    seen->count += seen->count < INPUTS_MOST;
    seen->spans += spans->count;
}

static void warn_of_events(ics_run_state *run, const ics_unit *unit, const char *other,
                           const ics_event_span *both)
{
    char events[64];
    if (both->first_event == both->last_event) {
        snprintf(events, sizeof events, "event %" PRIu64, both->first_event);
    } else {
        snprintf(events, sizeof events, "events %" PRIu64 " to %" PRIu64, both->first_event,
                 both->last_event);
    }
    ics_run_doubts_warn(
        run,
        "%s and %s both have steps %" PRIu32 " to %" PRIu32 " of %s: steps with equal "
        "event_id and step_id have equal random numbers, so their hits are correlated "
        "(particles.first_event gives each list its own events; further inputs are "
        "not named)",
        other, unit->name, both->first_step, both->last_step, events);
}

/* Looks for the events of an input among those of the inputs before it. */
static void compare(ics_run_state *run, const ics_unit *unit, const ics_event_spans *spans)
{
    ics_run_seen *seen = &run->seen;
    uint64_t low = spans->items[0].first_event, high = spans->items[0].last_event;
    for (size_t i = 1; i < spans->count; ++i) {
        const ics_event_span *span = &spans->items[i];
        low = span->first_event < low ? span->first_event : low;
        high = span->last_event > high ? span->last_event : high;
    }
    for (size_t i = 0; i < seen->count; ++i) {
        const ics_run_seen_input *input = &seen->inputs[i];
        ics_event_span both;
        if (input->name != NULL && input->low <= high && input->high >= low &&
            ics_event_spans_overlap(input->spans, input->count, spans->items, spans->count,
                                    &both)) {
            warn_of_events(run, unit, input->name, &both);
            seen->has_warned = true;
            return;
        }
    }
    remember(seen, unit->name, spans, low, high);
}

void ics_run_seen_look(ics_run_state *run, const ics_unit *unit)
{
    const ics_event_spans *spans = &unit->work->watch.spans;
    if (spans->count > 0 && !run->seen.has_warned) {
        compare(run, unit, spans);
    }
}

void ics_run_seen_destroy(ics_run_state *run)
{
    for (size_t i = 0; i < run->seen.count; ++i) {
        free(run->seen.inputs[i].name);
        free(run->seen.inputs[i].spans);
    }
    free(run->seen.inputs);
}
