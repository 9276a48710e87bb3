/* What a run came to. */
#include "pipeline/error.h"
#include "pipeline/host/run_state.h"

#include <signal.h>

size_t is_run_count(const is_run_state *run, is_unit_state state)
{
    return run->finished[state];
}

size_t is_run_unfinished(const is_run_state *run)
{
    return run->units_made - run->files_finished;
}

/* Messages of standard input end with one that is not there. */
static size_t all_files(const is_run_state *run)
{
    return run->units_made - run->finished[IS_UNIT_NONE];
}

/* A run that watches a folder ends by a signal only: that is no fault, but says how it ended. And
 * there may be files that it did not come to look for. */
static bool was_stopped(const is_run_state *run)
{
    return is_run_unfinished(run) > 0 || run->intake.watching || run->intake.look ||
           run->intake.look_at > 0.0;
}

static int status_of(const is_run_state *run)
{
    bool signalled = run->signal != 0 && was_stopped(run);
    if (run->fatal.status != IS_OK) {
        return run->fatal.status;
    }
    if ((run->limit_reached && was_stopped(run)) || (signalled && run->options->tell_unfinished)) {
        return IS_E_UNFINISHED;
    }
    if (signalled) {
        return run->signal == SIGTERM ? IS_E_TERMINATED : IS_E_INTERRUPTED;
    }
    if (is_run_unfinished(run) > 0) {
        return IS_E_FAILED;
    }
    return run->finished[IS_UNIT_SET_ASIDE] > 0 ? IS_E_INPUT : IS_OK;
}

int is_run_judge(const is_run_state *run, is_error *error)
{
    size_t done = is_run_count(run, IS_UNIT_DONE) + is_run_count(run, IS_UNIT_SKIPPED);
    size_t set_aside = is_run_count(run, IS_UNIT_SET_ASIDE);
    size_t unfinished = is_run_unfinished(run), total = all_files(run);
    int status = status_of(run);
    if (error != NULL) {
        *error = (is_error){.status = IS_OK};
    }
    if (set_aside > 0 && !run->forgets) { /* of claimed files each was told of when it happened */
        is_error_add(error, status, "%s", run->set_aside.text);
    }
    if (run->fatal.status != IS_OK) {
        is_error_add(error, status, "%s", run->fatal.text);
        is_error_add(error, status, "stopped: %zu of %zu files done, %zu left", done, total,
                     unfinished);
    } else if (unfinished > 0 || status == IS_E_INTERRUPTED || status == IS_E_TERMINATED ||
               status == IS_E_UNFINISHED) {
        is_error_add(
            error, status, "%s: %zu of %zu files done, %zu left%s",
            status != IS_E_FAILED ? is_status_text(status) : "internal error: the run stalled",
            done, total, unfinished, run->streaming || run->forgets ? "" : " (--resume goes on)");
    } else if (set_aside > 0) {
        is_error_add(error, status, "%zu of %zu files set aside", set_aside, total);
    }
    return status;
}
