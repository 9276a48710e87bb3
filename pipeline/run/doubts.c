#include "pipeline/run/doubts.h"

#include "base/json_text.h"
#include "pipeline/run/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* The share of stopped photons that is worth a line. */
#define STOPPED_LEAST 1e-4

/* The largest time (ns) whose float still has a resolution of 1 ns. */
#define TIME_MOST 16777216.0

/* Longer steps (m) than the world is wide. */
#define LENGTH_MOST 20000.0

enum { SLOW_KEPT = 100 }; /* step files with slow steps that the summary names */

/* Without memory the warning is missing in the summary only. */
void ics_run_doubts_warn(ics_run_state *run, const char *format, ...)
{
    char text[ICS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_run_log_text(run, ICS_EVENT_WARNING, "%s", text);
    (void)ics_warnings_add(&run->doubts.warnings, "%s", text);
}

/* The same for a warning of which there may be one for each step file. The summary keeps the first
 * ones. */
static void warn_of_slow_steps(ics_run_state *run, const char *text)
{
    if (run->doubts.slow_files++ < SLOW_KEPT) {
        ics_run_doubts_warn(run, "%s", text);
    } else {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s", text);
    }
}

void ics_run_doubts_begin(ics_run_state *run)
{
    run->doubts.limits = ics_light_limits_of(run->models->medium, run->models->detector);
    run->doubts.box = (ics_light_box)ICS_LIGHT_BOX_EMPTY;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static ics_light_box box_of(const ics_step_extent *extent)
{
    return (ics_light_box){.x = {extent->low[0], extent->high[0]},
                           .y = {extent->low[1], extent->high[1]},
                           .z = {extent->low[2], extent->high[2]}};
}

/* Times are kept as floats. */
static void look_at_time(ics_run_state *run, const ics_unit *unit, double time)
{
    if (run->doubts.warned_time || fabs(time) <= TIME_MOST) {
        return;
    }
    run->doubts.warned_time = true;
    ics_run_doubts_warn(
        run,
        "%s: t: found %.6g ns, a time that a step stores only to within %.2g ns; usual: times "
        "since the start of the event, below 1e6 ns",
        unit->name, time, (double)nextafterf((float)fabs(time), INFINITY) - fabs(time));
}

static void look_at_position(ics_run_state *run, const ics_unit *unit, const ics_light_box *box)
{
    char text[512];
    if (run->doubts.warned_position ||
        ics_light_judge(&run->doubts.limits, box, text, sizeof text) == ICS_LIGHT_IN_ICE) {
        return;
    }
    run->doubts.warned_position = true;
    ics_run_doubts_warn(run, "%s: x, y, z: %s", unit->name, text);
}

void ics_run_doubts_look(ics_run_state *run, const ics_unit *unit)
{
    const ics_step_extent *extent = &unit->summary.extent;
    if (extent->steps == 0) {
        return;
    }
    const ics_light_box box = box_of(extent);
    ics_light_box_add(&run->doubts.box, box.x.low, box.y.low, box.z.low);
    ics_light_box_add(&run->doubts.box, box.x.high, box.y.high, box.z.high);
    look_at_position(run, unit, &box);
    look_at_time(run, unit, extent->time);
    if (!run->doubts.warned_weight && 2 * extent->weightless > extent->steps) {
        run->doubts.warned_weight = true;
        ics_run_doubts_warn(run,
                            "%s: weight: found 0 in %" PRIu64 " of the first %" PRIu64
                            " steps, so that %s; usual: 1",
                            unit->name, extent->weightless, extent->steps,
                            run->common.content != NULL ? "their photons make no photo-electrons"
                                                        : "their hits count nothing");
    }
    if (!run->doubts.warned_length && extent->longest > LENGTH_MOST) {
        run->doubts.warned_length = true;
        ics_run_doubts_warn(
            run,
            "%s: length: found %.6g m, longer than the world, so that light starts far away from "
            "all modules; usual: 0.001 to 2000 m",
            unit->name, extent->longest);
    }
}

void ics_run_doubts_look_at_speeds(ics_run_state *run, const ics_unit *unit)
{
    const ics_step_watch *watch = &unit->work->watch;
    char text[ICS_EVENT_TEXT];
    if (watch->slow_steps > 0) {
        snprintf(text, sizeof text,
                 "%s: %" PRIu64 " of %" PRIu64 " steps, the first one in row %" PRIu64
                 ", are below the Cherenkov threshold of all wavelengths (beta below "
                 "%.4g) and make no light",
                 unit->name, watch->slow_steps, watch->rows, watch->first_slow,
                 (double)run->common.least_beta);
        warn_of_slow_steps(run, text);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* Writes how far the light is from the modules: ", the light begins 4900 m from ...". */
static void describe_distance(const ics_run_state *run, char *text, size_t size)
{
    const ics_run_doubts *doubts = &run->doubts;
    const double distance = doubts->box.x.low <= doubts->box.x.high
                                ? ics_light_distance(&doubts->limits, &doubts->box)
                                : NAN;
    if (isinf(distance)) {
        snprintf(text, size, "; all modules are excluded or off");
    } else if (isnan(distance)) {
        snprintf(text, size, "; in the clearest ice light decreases by a factor e every %.3g m",
                 doubts->limits.length);
    } else {
        snprintf(text, size,
                 "; the nearest module is %.4g m away from the region where the light begins (z = "
                 "%.5g to %.5g m), and in the clearest ice light decreases by a factor e every "
                 "%.3g m",
                 distance, doubts->box.z.low, doubts->box.z.high, doubts->limits.length);
    }
}

static double percent(uint64_t part, uint64_t all)
{
    return 100 * (double)part / (double)all;
}

void ics_run_doubts_end(ics_run_state *run)
{
    const icestream_account *account = &run->batches.account;
    char where[512];
    if (account->created == 0 || run->units.results[ICS_RESULT_DONE] == 0) {
        return;
    }
    if ((double)account->stopped > STOPPED_LEAST * (double)account->created) {
        ics_run_doubts_warn(run,
                            "run.bounce_limit (%" PRIu32
                            ") stopped %.3g %% of the photons, whose hits are missing; "
                            "usual: 10000, or scattering lengths of more than some centimetres",
                            run->config->run.bounce_limit,
                            percent(account->stopped, account->created));
    }
    describe_distance(run, where, sizeof where);
    if (account->hits == 0) {
        ics_run_doubts_warn(
            run,
            "no hits: %.3g %% of the photons were absorbed, %.3g %% left (they could not reach a "
            "module), %.3g %% were stopped%s",
            percent(account->absorbed, account->created), percent(account->left, account->created),
            percent(account->stopped, account->created), where);
    } else if (run->common.content != NULL && account->photo_electrons == 0) {
        ics_run_doubts_warn(
            run,
            "no photo-electrons of %" PRIu64
            " hits: the weights of the steps are 0, or modules accept little of this light "
            "(light.acceptance: none does not thin it, so that few hits are accepted), or there "
            "were too few photons",
            account->hits);
    }
}

static bool append(json_t *list, const ics_warnings *warnings)
{
    for (size_t i = 0; i < warnings->count; ++i) {
        if (json_array_append_new(list, ics_json_text(warnings->items[i])) != 0) {
            return false;
        }
    }
    return true;
}

/* Counts the step files with slow steps that are not in the list. */
static bool append_count(json_t *list, const ics_run_doubts *doubts)
{
    return doubts->slow_files <= SLOW_KEPT ||
           json_array_append_new(
               list, json_sprintf("%zu more step files have steps below the Cherenkov threshold; "
                                  "the log names them",
                                  doubts->slow_files - SLOW_KEPT)) == 0;
}

json_t *ics_run_doubts_json(const ics_run_state *run)
{
    json_t *list = json_array();
    if (list != NULL &&
        (!append(list, &run->models->warnings) || !append(list, &run->doubts.warnings) ||
         !append_count(list, &run->doubts))) {
        json_decref(list);
        return NULL;
    }
    return list;
}
