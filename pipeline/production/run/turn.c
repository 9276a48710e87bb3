#include "pipeline/production/run/turn.h"

#include "pipeline/production/run/retry.h"

/* Asks all parts. If a late part has finished units without a job, an early part can open others,
 * so that all parts are asked again. */
static void offer_all(ics_run_state *run)
{
    uint32_t open = 0;
    do {
        open = run->units.open;
        run->jobs.wake_at = 0.0;
        for (size_t i = 0; i < run->loop.part_count; ++i) {
            const ics_run_part *part = run->loop.parts[i];
            if (part->offer != NULL) {
                part->offer(run);
            }
        }
    } while (run->units.open < open);
}

static bool anything_waits(const ics_run_state *run)
{
    bool any = run->jobs.out > 0 || ics_run_retry_is_expected(run);
    for (size_t i = 0; !any && i < run->loop.part_count; ++i) {
        const ics_run_part *part = run->loop.parts[i];
        any = part->waits != NULL && part->waits(run);
    }
    return any;
}

/* Begins what one part has kept for the end. The last part comes first, so that hits are saved
 * before claims are given back. False: no part has anything. */
static bool begin_last(ics_run_state *run)
{
    bool any = false;
    for (size_t i = run->loop.part_count; !any && i > 0; --i) {
        const ics_run_part *part = run->loop.parts[i - 1];
        any = part->last != NULL && part->last(run);
    }
    return any;
}

bool ics_run_turn(ics_run_state *run)
{
    do {
        offer_all(run);
        if (anything_waits(run)) {
            return true;
        }
    } while (begin_last(run));
    return false;
}
