#include "pipeline/production/run/stop.h"

#include "base/clock.h"
#include "base/error.h"

#include <unistd.h>

bool ics_run_is_stopping(const ics_run_state *run)
{
    return atomic_load(&run->common.stop);
}

bool ics_run_is_cancelled(const ics_run_state *run)
{
    return atomic_load(&run->common.cancel);
}

void ics_run_stop_reading(ics_run_state *run)
{
    if (!atomic_exchange(&run->common.stop, true)) {
        run->stop.began = ics_clock_seconds();
    }
    ics_service_notify_stopping(&run->loop.service);
    const uint64_t one = 1;
    ssize_t put = write(run->common.wake, &one, sizeof one);
    (void)put; /* A full counter is the only error, and a full counter is readable as well. */
}

void ics_run_cancel(ics_run_state *run)
{
    atomic_store(&run->common.cancel, true);
    ics_run_stop_reading(run);
}

void ics_run_fail(ics_run_state *run, const icestream_error *cause)
{
    if (cause->status == ICESTREAM_E_INTERRUPTED) {
        return;
    }
    if (run->stop.fatal.status == ICESTREAM_OK) {
        ics_error_copy(&run->stop.fatal, cause);
    }
    ics_run_cancel(run);
}
