#include "base/clock.h"
#include "base/container.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/production/queue/claims.h"
#include "pipeline/production/run/claim_ahead.h"
#include "pipeline/production/run/disk_full.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/own_outputs.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/retry.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/unit_states.h"
#include "pipeline/production/spool/claims.h"
#include "pipeline/production/units/hit_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A step file is quarantined after this many workers have died while they held it. The number
     * is large because a worker holds several files, and only one of them may have caused the
     * crash. */
    ATTEMPTS = 100,
    BEATS = 4, /* heartbeats in a lease */
    /* The pause after a look is this many times as long as the look: of 1e5 files, perhaps. */
    LOOK_SHARE = 4
};

/* ---- claiming files -------------------------------------------------------------------------- */

/* Keeps a line about a file that was passed over. Called on the I/O thread, which must not write to
 * the log: the loop logs the line later. */
static void note(void *user, const char *line)
{
    ics_run_state *run = user;
    ics_kept_lines_add(&run->intake.notes, line);
}

/* As `note`, of a ticket that is left to others. */
static void decline(void *user, const icestream_error *why)
{
    ics_run_state *run = user;
    if (run->intake.declined++ == 0) {
        ics_error_copy(&run->intake.why_declined, why);
    }
}

static void warn(void *user, const char *line)
{
    ics_run_log_text(user, ICS_EVENT_WARNING, "%s", line);
}

static ics_run_state *run_of_claim_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, intake.claim_job);
}

/* `name` gets the name of the file for people. */
static ics_event report_claim(const ics_run_state *run, const ics_claim *claim, char name[4096])
{
    snprintf(name, 4096, "%s/%s", run->common.intake_folder, claim->name);
    return (ics_event){.kind = ICS_EVENT_CLAIMED,
                       .file = name,
                       .input_bytes = claim->bytes,
                       .attempt = claim->attempt};
}

static void claim_files(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_claim_job(job);
    ics_run_intake *intake = &run->intake;
    intake->claim_error = (icestream_error){.status = ICESTREAM_OK};
    intake->claimed_count = 0;
    double begun = ics_clock_seconds();
    ics_claims_take(&run->claims, intake->wanted, intake->claimed, &intake->claimed_count,
                    &intake->claim_error);
    intake->claim_seconds = ics_clock_seconds() - begun;
    for (size_t i = 0; i < intake->claimed_count; ++i) {
        char name[4096];
        const ics_event event = report_claim(run, &intake->claimed[i], name);
        ics_run_journal_append(run->common.journal, &event);
    }
}

static void append_claim(ics_run_state *run, const ics_claim *claim)
{
    char name[4096];
    const ics_event event = report_claim(run, claim, name);
    ics_unit *unit = ics_unit_create_claimed(&run->common, claim, name);
    ics_events_report(&run->log.events, &event); /* the journal has the line already */
    run->bytes_total += unit->input->bytes;
    ics_run_unit_append(run, unit);
}

/* A look failed: files cannot be claimed now. A watched folder may be away for a while. */
static void look_later(ics_run_state *run, const icestream_error *error)
{
    ics_run_intake *intake = &run->intake;
    bool away = intake->watching && (error->cause == ENOENT || error->cause == ENOTDIR);
    if (ics_run_is_stopping(run) && (away || ics_error_may_pass(error))) {
        intake->look = true; /* there may be files that this run leaves to others */
        return;
    }
    if (ics_run_retry_after(run, &intake->retry, ICS_RETRY_LOOK, run->common.intake_folder, away,
                            error) != ICS_RUN_RETRY_LATER) {
        ics_run_fail(run, error);
    }
}

static void claim_done(ics_job *job)
{
    ics_run_state *run = run_of_claim_job(job);
    ics_run_intake *intake = &run->intake;
    ics_kept_lines_each(&intake->notes, warn, run);
    for (size_t i = 0; i < intake->claimed_count; ++i) {
        append_claim(run, &intake->claimed[i]);
    }
    if (intake->claim_error.status != ICESTREAM_OK) {
        look_later(run, &intake->claim_error);
        return;
    }
    ics_run_retry_succeeded(run, &intake->retry);
    if (intake->claimed_count == intake->wanted) {
        intake->look = true; /* there may be more */
    } else {
        intake->quiet_until = ics_clock_seconds() + LOOK_SHARE * intake->claim_seconds;
    }
}

/* The units that were never opened. */
static uint32_t count_waiting(const ics_run_state *run)
{
    uint32_t waiting = 0;
    for (const ics_unit *unit = run->units.to_open; unit != NULL; unit = unit->next) {
        waiting++;
    }
    return waiting;
}

/* Whether the time has come for a look that something asked for. */
static bool is_time_to_look(ics_run_state *run)
{
    ics_run_intake *intake = &run->intake;
    if (!ics_run_retry_is_due(run, &intake->retry)) {
        return false;
    }
    if (intake->retry.what != ICS_RETRY_NOTHING) {
        ics_run_retry_begin(run, &intake->retry);
        intake->look = true;
    }
    if (intake->look && ics_clock_seconds() < intake->quiet_until) {
        ics_run_wake_at(run, intake->quiet_until);
        return false;
    }
    return intake->look;
}

static void offer(ics_run_state *run)
{
    ics_run_intake *intake = &run->intake;
    if (run->claims.self == NULL || intake->closed || intake->claim_job.out ||
        run->disk_full.paused || ics_run_retry_is_crowded(run) || ics_run_is_stopping(run)) {
        return;
    }
    const uint32_t waiting = count_waiting(run);
    ics_run_claim_ahead_measure(run, waiting);
    const uint32_t claimable = ics_run_claim_ahead_count(run, waiting);
    /* A file may have come while an older file of the same name was being processed. The new file
     * can be claimed when the older one is finished. */
    bool any_ended = run->endings.ended > intake->ended;
    intake->look = intake->look || (any_ended && run->units.open + waiting == 0);
    if (!is_time_to_look(run) || claimable == 0) {
        return;
    }
    intake->look = false;
    intake->ended = run->endings.ended;
    intake->wanted = claimable < ICS_RUN_CLAIMS ? claimable : ICS_RUN_CLAIMS;
    ics_run_send_job(run, run->jobs.io, &intake->claim_job, NULL, claim_files, claim_done);
}

static bool may_have_files(const ics_run_state *run)
{
    return run->intake.look || run->intake.retry.what != ICS_RETRY_NOTHING;
}

void ics_run_intake_count_left(ics_run_state *run)
{
    ics_run_intake *intake = &run->intake;
    uint64_t waiting = 0;
    if (run->claims.self == NULL || !may_have_files(run)) {
        return;
    }
    if (run->config->source.queue != NULL &&
        (ics_run_is_cancelled(run) || run->stop.fatal.status != ICESTREAM_OK)) {
        ics_error_set(&intake->left_error, ICESTREAM_E_UNFINISHED, "%s: the broker was not asked",
                      run->common.intake_folder);
    } else if (ics_claims_count_waiting(&run->claims, &waiting, &intake->left_error) ==
               ICESTREAM_OK) {
        intake->left = waiting > intake->given_back ? waiting - intake->given_back : 0;
    }
}

static bool waits(const ics_run_state *run)
{
    return !ics_run_is_stopping(run) && run->claims.self != NULL && !run->intake.closed &&
           (run->intake.watching || may_have_files(run));
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

static ics_run_state *run_of_beat_job(ics_job *job)
{
    return ICS_CONTAINER_OF(job, ics_run_state, intake.beat_job);
}

static void beat(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_beat_job(job);
    run->intake.beat_error = (icestream_error){.status = ICESTREAM_OK};
    run->intake.lost = 0;
    ics_claims_extend(&run->claims, &run->intake.lost, &run->intake.beat_error);
}

static void beat_done(ics_job *job)
{
    ics_run_state *run = run_of_beat_job(job);
    if (run->intake.beat_error.status != ICESTREAM_OK) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "no heartbeat could be written: %s",
                         run->intake.beat_error.text);
    }
    if (run->intake.lost > run->intake.lost_logged) {
        ics_run_log_text(
            run, ICS_EVENT_WARNING,
            "%zu claim%s lost: there was no heartbeat for longer than source.lease, or "
            "the file or the ticket was removed",
            run->intake.lost, run->intake.lost == 1 ? " was" : "s were");
    }
    run->intake.lost_logged = run->intake.lost; /* each heartbeat counts lost claims again */
}

static void on_heartbeat(uv_timer_t *timer)
{
    ics_run_state *run = timer->data;
    if (!run->intake.beat_job.out) {
        ics_run_send_job(run, run->jobs.io, &run->intake.beat_job, NULL, beat, beat_done);
    }
}

/* ---- giving claims back ---------------------------------------------------------------------- */

/* Whether the claim of a unit is given back to other workers. */
static bool goes_back(const ics_unit *unit)
{
    ics_unit_state next;
    return unit->claim.name != NULL && ics_unit_rules_next(unit->state, ICS_ON_RUN_ENDS, &next);
}

static bool give_back(ics_run_state *run)
{
    bool any = false;
    for (ics_unit *unit = run->units.first; unit != NULL; unit = unit->next) {
        if (goes_back(unit)) {
            const bool undelivered = unit->result == ICS_RESULT_UNDELIVERED;
            ics_run_retry_clear(run, &unit->retry);
            ics_run_unit_decide(run, unit, ICS_ON_RUN_ENDS,
                                undelivered ? ICS_RESULT_UNDELIVERED : ICS_RESULT_NONE);
            run->intake.closed = any = true;
        }
    }
    return any;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Whether the hit file of a step file still exists; true if its hits may be in a file of several
 * step files, which the name of a step file does not show. Called on the I/O thread for step files
 * that have a mark. */
static bool has_results(void *user, const char *name)
{
    const ics_run_state *run = user;
    if (!run->common.sink->files || run->common.known != NULL) {
        return true;
    }
    char *output = ics_new_made(ics_hit_path_of_file(run->config, name));
    const bool there = access(output, F_OK) == 0;
    free(output);
    return there;
}

static bool is_output(void *user, const char *name)
{
    const ics_run_state *run = user;
    return ics_output_names_have(&run->own_outputs, name);
}

static void on_look(void *user)
{
    ics_run_state *run = user;
    run->intake.look = true;
}

static void on_watch_report(void *user, const icestream_error *what)
{
    ics_run_log_text(
        user, what->status == ICESTREAM_OK ? ICS_EVENT_MESSAGE : ICS_EVENT_WARNING, "%s",
        what->status == ICESTREAM_OK ? "the watched folder is there again" : what->text);
}

static int open_watch(ics_run_state *run, icestream_error *error)
{
    const ics_watch_options options = {.folder = run->config->source.directory,
                                       .pattern = run->config->source.pattern,
                                       .scan = run->config->source.scan};
    const ics_watch_events events = {.look = on_look, .report = on_watch_report, .user = run};
    return ics_watch_create(&run->loop.uv, &options, &events, &run->intake.watch, error);
}

/* Only one worker at a time uses a folder of messages. It has a fixed name, so that it continues at
 * once with the claims of a worker that was killed. */
static int open_claims(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const char *folder = run->common.intake_folder;
    run->intake.spool = config->source.spool != NULL ? ics_new_copy(config->source.spool)
                                                     : ics_new_text("%s/.icestream", folder);
    const ics_claims_options options = {.directory = folder,
                                        .pattern = config->source.pattern,
                                        .spool = run->intake.spool,
                                        .worker = run->clients.folder != NULL ? "receiver"
                                                                              : run->common.worker,
                                        .quarantine = run->common.quarantine,
                                        .lease = config->source.lease,
                                        .attempts = ATTEMPTS,
                                        .by_name = run->clients.folder != NULL,
                                        .forget = run->options->force,
                                        .has_results = has_results,
                                        .is_output = is_output,
                                        .note = note,
                                        .user = run};
    int status = ics_claims_create(&options, &run->claims, error);
    return status == ICESTREAM_OK ? status : ics_config_blame(config, "source.directory", error);
}

static int open_queue(ics_run_state *run, icestream_error *error)
{
    ics_queue_claims_options options = ics_queue_claims_options_of(run->config, note, run);
    options.worker = run->common.worker;
    options.folder = run->fetches.folder.path;
    options.configuration = run->common.origin.configuration;
    options.stop = &run->common.stop;
    options.cancel = &run->common.cancel;
    options.decline = decline;
    return ics_queue_claims_create(&options, &run->claims, error);
}

/* A copy of the path for names such as in/a.steps.npy. */
static char *without_slashes(const char *path)
{
    char *copy = ics_new_copy(path);
    for (size_t length = strlen(copy); length > 1 && copy[length - 1] == '/';) {
        copy[--length] = '\0';
    }
    return copy;
}

int ics_run_intake_open(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    const char *received = run->clients.folder;
    if (config->source.directory != NULL) {
        run->intake.folder = without_slashes(config->source.directory);
    }
    run->common.intake_folder = run->intake.folder != NULL     ? run->intake.folder
                                : config->source.queue != NULL ? config->source.queue
                                                               : received;
    if (run->common.intake_folder == NULL) {
        return ICESTREAM_OK;
    }
    ics_kept_lines_begin(&run->intake.notes);
    if (config->source.queue != NULL) {
        ICS_TRY(open_queue(run, error));
    } else {
        ICS_TRY(ics_run_own_outputs_find(run, error));
        ICS_TRY(open_claims(run, error));
    }
    uv_timer_init(&run->loop.uv, &run->intake.heartbeat); /* closed by close_handles */
    run->intake.heartbeat.data = run;
    if (run->common.sink->files) {
        ICS_TRY(ics_output_clean_folder(config->sink.directory, "*.hits.npy", error));
    }
    run->common.claims = &run->claims;
    run->common.after = received != NULL ? ICS_AFTER_DELETE : config->source.after;
    run->units.forgets = run->streaming = true;
    run->intake.watching = config->source.watch || received != NULL;
    return config->source.watch ? open_watch(run, error) : ICESTREAM_OK;
}

void ics_run_intake_begin_watch(ics_run_state *run)
{
    if (run->claims.self == NULL) {
        return;
    }
    run->intake.look = true;
    uint64_t period = (uint64_t)(1000.0 * run->config->source.lease / BEATS);
    uv_timer_start(&run->intake.heartbeat, on_heartbeat, period, period);
    if (run->intake.watch != NULL) {
        ics_watch_start(run->intake.watch);
    }
}

static void close_handles(ics_run_state *run)
{
    ics_watch_close(run->intake.watch);
    run->intake.watch = NULL;
    if (run->claims.self != NULL) {
        uv_close((uv_handle_t *)&run->intake.heartbeat, NULL);
    }
}

const ics_run_part ics_run_intake_part = {
    .offer = offer, .waits = waits, .last = give_back, .close = close_handles};

void ics_run_intake_destroy(ics_run_state *run)
{
    free(run->intake.folder);
    free(run->intake.spool);
    ics_claims_destroy(&run->claims);
}
