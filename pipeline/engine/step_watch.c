#include "pipeline/engine/step_watch.h"

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
    ics_event_spans_add(&watch->spans, steps, count);
    watch->rows += count;
}
