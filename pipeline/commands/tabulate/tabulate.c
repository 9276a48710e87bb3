#include "pipeline/commands/tabulate/tabulate.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/commands/signals/stop_signals.h"
#include "pipeline/commands/tabulate/table_checkpoint.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/table/file.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

/* ---- a table --------------------------------------------------------------------------------- */

/* One table that is made, with its checkpoints. */
typedef struct tabulation {
    ics_table_making *making;
    const char *path; /* of the table */
    FILE *report;     /* NULL: nothing */
    ics_table_checkpoint checkpoint;
    double saved;  /* when the last checkpoint was written, or the first batch begun (s) */
    uint32_t gpus; /* of the device when it was made */
    bool has_reported_signal;
    ics_engine *engine;
    ics_table_filling filled; /* by this process */
} tabulation;

/* Whether a GPU was lost. What the others compute after that would be lost, too. */
static bool has_lost_gpu(const tabulation *t)
{
    ics_device_facts facts;
    ics_device_facts_of(t->engine->device, &facts);
    return facts.gpus < t->gpus;
}

static const char *signal_name(void)
{
    return ics_stop_signals_first() == SIGTERM ? "SIGTERM" : "SIGINT";
}

static void report_signal(tabulation *t)
{
    if (!t->has_reported_signal && t->checkpoint.is_used && t->report != NULL) {
        ics_task_progress_end(&t->making->progress);
        fprintf(t->report,
                "%s: finishing what is being computed (a second signal ends the command at once)\n",
                signal_name());
    }
    t->has_reported_signal = true;
}

static bool has_to_stop(void *user)
{
    tabulation *t = user;
    const double interval = t->making->config->table.checkpoint;
    if (ics_stop_signals_first() != 0) {
        report_signal(t);
        return true;
    }
    return has_lost_gpu(t) || (t->checkpoint.is_used && ics_clock_seconds() - t->saved >= interval);
}

/* Returns the status of a signal. `is_saved`: the checkpoint has all photons that were computed. */
static int explain_signal(const tabulation *t, bool is_saved, icestream_error *error)
{
    const int status = ics_stop_signals_status();
    const char *what = is_saved ? "all that was computed is kept"
                       : t->checkpoint.is_used
                           ? "what was computed after the last checkpoint is lost"
                           : "nothing is kept, because there are no checkpoints";
    return ics_error_set(error, status, "%s: ended by %s: %s", t->path, signal_name(), what);
}

/* Adds from where the same command continues after an error that another try may not have. */
static void explain_rest(const tabulation *t, int status, icestream_error *error)
{
    if (t->checkpoint.photons > 0 && status != ICESTREAM_E_CONFIG && status != ICESTREAM_E_INPUT) {
        ics_error_add(error, status,
                      "%s has %" PRIu64 " of %" PRIu64
                      " photons: the same command continues after these",
                      t->checkpoint.path, t->checkpoint.photons, t->making->steps.photons);
    }
}

/* Between two runs of photons: writes a checkpoint, and ends the command after a signal. A failure
 * to write is a warning. */
static int save(tabulation *t, icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    const bool has_signal = ics_stop_signals_first() != 0;
    const bool is_used = t->checkpoint.is_used;
    const int status = is_used ? ics_table_checkpoint_save(&t->checkpoint, &why) : ICESTREAM_OK;
    t->saved = ics_clock_seconds();
    if (status != ICESTREAM_OK && t->report != NULL) {
        ics_task_progress_end(&t->making->progress);
        ics_visible_printf(t->report, "warning: %s; %s\n", why.text,
                           has_signal ? "no newer checkpoint is written"
                                      : "the command goes on without a newer checkpoint");
    }
    return has_signal ? explain_signal(t, is_used && status == ICESTREAM_OK, error) : ICESTREAM_OK;
}

static int fill_all(tabulation *t, icestream_error *error)
{
    ics_table_making *m = t->making;
    ics_step_cursor cursor = {.steps = m->steps.steps, .count = m->steps.count};
    bool has_more = true;
    ics_batch_pass_over(&cursor, m->done);
    t->saved = ics_clock_seconds();
    while (has_more) {
        ics_table_filling now;
        ICS_TRY(ics_table_making_fill(m, t->engine, cursor, has_to_stop, t, &now, error));
        m->done += now.account.created;
        t->filled.samples += now.samples;
        t->filled.seconds += now.seconds;
        ics_batch_pass_over(&cursor, m->done);
        has_more = m->done < m->steps.photons;
        if (has_more) {
            ICS_TRY(save(t, error));
        }
    }
    return ICESTREAM_OK;
}

static void report_end(const tabulation *t)
{
    char text[256];
    const ics_table_checkpoint *checkpoint = &t->checkpoint;
    if (t->report == NULL) {
        return;
    }
    fprintf(t->report, "device     %s\n", ics_device_text(t->engine->device, text, sizeof text));
    fprintf(t->report, "samples    %" PRIu64 " of %" PRIu64 " photons in %.3g s: %.3g per second\n",
            t->filled.samples, t->making->done - t->making->taken_over, t->filled.seconds,
            (double)t->filled.samples / fmax(t->filled.seconds, 1e-9));
    if (checkpoint->saves > 0) {
        fprintf(t->report, "checkpoint %" PRIu32 " written in %.3g s\n", checkpoint->saves,
                checkpoint->seconds);
    }
}

static int fill_table(tabulation *t, icestream_error *error)
{
    ics_device_facts facts;
    ICS_DESTROYS(ics_engine_destroy) ics_engine *engine = NULL;
    ICS_TRY(ics_table_making_engine(t->making, &engine, error));
    t->engine = engine;
    ics_device_facts_of(engine->device, &facts);
    t->gpus = facts.gpus;
    ics_task_progress_next(&t->making->progress, t->path);
    const int status = fill_all(t, error);
    ics_task_progress_end(&t->making->progress);
    if (status == ICESTREAM_OK) {
        report_end(t);
    }
    return status == ICESTREAM_E_INTERRUPTED && atomic_load(ics_stop_signals_cancel())
               ? explain_signal(t, false, error)
               : status;
}

static int make_and_write(tabulation *t, ics_output *output, icestream_error *error)
{
    ics_table_making *m = t->making;
    ICS_TRY(fill_table(t, error));
    ICS_TRY(ics_table_making_count(m, m->done, m->table, error));
    ICS_TRY(ics_table_add_part(m->table, m->part, error));
    return ics_table_write_into(m->table, output, error);
}

/* The lock of the output keeps a second process from making the same table. */
static int make_table(tabulation *t, bool force, icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    ICS_TRY(ics_output_create(t->path, force, &output, error));
    ICS_TRY(ics_table_checkpoint_open(t->making, t->path, force, t->report, &t->checkpoint, error));
    t->making->options.cancel = ics_stop_signals_cancel();
    ics_stop_signals_catch(!t->checkpoint.is_used);
    const int status = make_and_write(t, output, error);
    ics_stop_signals_release();
    if (status == ICESTREAM_OK) {
        ics_table_checkpoint_remove(&t->checkpoint, t->report);
    } else {
        explain_rest(t, status, error);
    }
    return status;
}

int ics_tabulate_make(const icestream_config *config, const char *path, bool force, FILE *report,
                      icestream_error *error)
{
    tabulation t = {.path = path, .report = report};
    if (ics_config_tabulate(config) == ICS_TABULATE_NONE) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages.tabulate: found none, expected spherical or cylindrical, or "
                             "{source: path}");
    }
    ics_config_print_changes(config, ICS_USE_TABULATE, "", report);
    ICS_TRY(
        ics_table_making_create(config, ics_config_generates(config), report, &t.making, error));
    if (report != NULL) {
        ics_warnings_print(&t.making->world.models->warnings, 0, "warning: ", report);
    }
    const int status = make_table(&t, force, error);
    ics_table_checkpoint_close(&t.checkpoint);
    ics_table_making_destroy(t.making);
    return status;
}

/* ---- speed ----------------------------------------------------------------------------------- */

/* Fills the same table again and again. The best run counts; on a GPU the first one does not, in
 * which its clocks rise. */
static int measure(ics_table_making *m, ics_engine *engine, uint32_t repeats,
                   ics_tabulate_speed *out, icestream_error *error)
{
    const ics_step_cursor all = {.steps = m->steps.steps, .count = m->steps.count};
    ics_device_facts facts;
    ics_device_facts_of(engine->device, &facts);
    const uint32_t first = facts.is_gpu && repeats > 0 ? 1 : 0;
    const uint32_t runs = first + (repeats > 0 ? repeats : 1);
    for (uint32_t i = 0; i < runs; ++i) {
        ics_table_filling filled;
        char doing[64];
        snprintf(doing, sizeof doing, "table, %" PRIu32 " of %" PRIu32, i + 1, runs);
        ics_task_progress_next(&m->progress, doing);
        ICS_TRY(ics_table_making_fill(m, engine, all, NULL, NULL, &filled, error));
        if (i == first || (i > first && filled.seconds < out->seconds)) {
            out->seconds = filled.seconds;
            out->samples = filled.samples;
            out->bounces = filled.account.bounces;
        }
    }
    out->on_gpu = facts.is_gpu;
    memcpy(out->name, facts.name, sizeof out->name);
    ics_device_text(engine->device, out->device, sizeof out->device);
    return ICESTREAM_OK;
}

int ics_tabulate_measure(const icestream_config *config, bool files, uint32_t repeats,
                         FILE *progress, ics_tabulate_speed *out, icestream_error *error)
{
    ICS_DESTROYS(ics_table_making_destroy) ics_table_making *m = NULL;
    ICS_DESTROYS(ics_engine_destroy) ics_engine *engine = NULL;
    *out = (ics_tabulate_speed){.seconds = 0};
    ICS_TRY(ics_table_making_create(config, !files || ics_config_generates(config), progress, &m,
                                    error));
    ICS_TRY(ics_table_making_engine(m, &engine, error));
    memcpy(out->origin, m->steps.origin, sizeof out->origin);
    out->steps = m->steps.count;
    out->photons = m->steps.photons;
    out->cells = m->table->cells;
    const int status = measure(m, engine, repeats, out, error);
    ics_task_progress_end(&m->progress);
    return status;
}
