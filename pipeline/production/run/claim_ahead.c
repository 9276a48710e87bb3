#include "pipeline/production/run/claim_ahead.h"

#include "base/clock.h"

#include <math.h>

static const double ahead_seconds = 2.0; /* of work that a run claims ahead */
static const double newest_share = 0.3;  /* of the newest files in the mean time for a file */

/* Times without work do not count. */
void ics_run_claim_ahead_measure(ics_run_state *run, uint32_t waiting)
{
    ics_run_claim_ahead *ahead = &run->claim_ahead;
    const size_t finished = run->units.finished;
    const double now = ics_clock_seconds();
    if (run->units.open + waiting == 0) {
        ahead->since = 0.0;
        return;
    }
    if (ahead->since > 0.0 && finished == ahead->finished) {
        return;
    }
    if (ahead->since > 0.0) {
        const double seconds = (now - ahead->since) / (double)(finished - ahead->finished);
        ahead->file_seconds =
            ahead->file_seconds > 0.0
                ? ahead->file_seconds + newest_share * (seconds - ahead->file_seconds)
                : seconds;
    }
    ahead->since = now;
    ahead->finished = finished;
}

/* Returns how many files that are not read to their ends keep the device busy. A file that takes
 * longer than ahead_seconds is claimed only when the one before it has been read: the steps of that
 * one are then in batches for the device. A device that could take more batches gets as many files
 * as are cut into batches at the same time. */
static uint32_t files_wanted(const ics_run_state *run, uint32_t waiting)
{
    const double seconds = run->claim_ahead.file_seconds;
    const bool hungry = run->engine->credits > 0 && waiting == 0;
    const double files = hungry ? run->shape.filling : 1;
    return seconds > 0.0 && files * seconds < ahead_seconds
               ? (uint32_t)ceil(fmin(ahead_seconds / seconds, run->units.open_limit))
               : (uint32_t)files;
}

uint32_t ics_run_claim_ahead_count(const ics_run_state *run, uint32_t waiting)
{
    const ics_run_units *units = &run->units;
    const uint32_t most = run->config->source.claims, used = units->open + waiting;
    const uint32_t limit = most > 0 && most < units->open_limit ? most : units->open_limit;
    const uint32_t claimable = limit > used ? limit - used : 0;
    if (most > 0) {
        return claimable;
    }
    const uint32_t unread = units->reading + waiting, wanted = files_wanted(run, waiting);
    const uint32_t lacking = wanted > unread ? wanted - unread : 0;
    return lacking < claimable ? lacking : claimable;
}
