#include "pipeline/production/run/warnings.h"

#include "base/new.h"
#include "pipeline/production/run/log.h"

#include <stdarg.h>

enum { SLOW_KEPT = 100 }; /* step files with slow steps that the summary names */

void ics_run_warnings_add(ics_run_state *run, const char *format, ...)
{
    char text[ICS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_run_log_text(run, ICS_EVENT_WARNING, "%s", text);
    ics_warnings_add(&run->warnings.texts, "%s", text);
}

/* Of the warnings that each step file may have, the summary keeps the first ones. */
static void receive(void *user, bool of_every_input, const char *text)
{
    ics_run_state *run = user;
    if (of_every_input && run->warnings.slow_files++ >= SLOW_KEPT) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", text);
    } else {
        ics_run_warnings_add(run, "%s", text);
    }
}

void ics_run_warnings_begin(ics_run_state *run)
{
    ics_input_warnings_begin(&run->warnings.inputs, run->models, receive, run);
}

void ics_run_warnings_check_first(ics_run_state *run, const ics_unit *unit)
{
    ics_input_warnings_check_first(&run->warnings.inputs, unit->name, &unit->summary.extent);
}

void ics_run_warnings_check_all(ics_run_state *run, const ics_unit *unit)
{
    ics_input_warnings_check_all(&run->warnings.inputs, unit->name,
                                 &unit->work->propagation.feed.watch);
}

void ics_run_warnings_check_results(ics_run_state *run)
{
    if (run->units.results[ICS_RESULT_DONE] > 0) {
        ics_input_warnings_check_results(&run->warnings.inputs, run->config->run.bounce_limit,
                                         &run->engine->sums.account);
    }
}

json_t *ics_run_warnings_json(const ics_run_state *run)
{
    json_t *list = ics_new_made(json_array());
    if (!ics_warnings_append_json(&run->models->warnings, list) ||
        !ics_warnings_append_json(&run->warnings.texts, list)) {
        ics_new_fail();
    }
    if (run->warnings.slow_files > SLOW_KEPT) { /* those that are not in the list */
        ics_new_item(list,
                     json_sprintf("%zu more step files have steps below the Cherenkov threshold; "
                                  "the log names them",
                                  run->warnings.slow_files - SLOW_KEPT));
    }
    return list;
}

void ics_run_warnings_destroy(ics_run_state *run)
{
    ics_input_warnings_end(&run->warnings.inputs);
    ics_warnings_free(&run->warnings.texts);
}
