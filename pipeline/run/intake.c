/* Files from source.directory and from clients: claimed while there is room for units, kept alive
 * by heartbeats, ended when their hits are written. What waits for a file system is done by the
 * keeper's thread. */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/run/state.h"
#include "pipeline/spool/folder_claims.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A file that so many workers had when they died is set aside. Many, because they have more
     * than the one that they may have died of. */
    ATTEMPTS = 100,
    BEATS = 4,      /* in a lease */
    LOOK_LIMIT = 6, /* looks that fail in a row before the run gives up */
    LOOK_SHARE = 4, /* pause after a look, in times that it took: a folder may hold 1e5 files */
    GIVE_BACK = 64  /* claims at a time: the keeper's queue is not endless */
};

/* ---- ending claims --------------------------------------------------------------------------- */

static ics_unit *unit_of_claim_job(ics_job *job)
{
    return (ics_unit *)((char *)job - offsetof(ics_unit, claim_job));
}

static void tell_journal(const ics_unit *unit)
{
    ics_event event = {.file = unit->name,
                       .output = unit->output,
                       .input_digest =
                           unit->summary.digest[0] != '\0' ? unit->summary.digest : NULL,
                       .attempt = unit->claim.attempt,
                       .reason = unit->set_aside_reason};
    if (unit->state == ICS_UNIT_SKIPPED) {
        event.kind = ICS_EVENT_SKIPPED;
        ics_run_journal_append(unit->common->journal, &event);
    } else if (unit->state == ICS_UNIT_SET_ASIDE) {
        event.kind = ICS_EVENT_QUARANTINED;
        event.output = NULL;
        ics_run_journal_append(unit->common->journal, &event);
    }
}

/* On the keeper's thread. */
static void end_claim(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_unit *unit = unit_of_claim_job(job);
    ics_unit_common *common = unit->common;
    icestream_error *error = &unit->end_error;
    *error = (icestream_error){.status = ICESTREAM_OK};
    unit->end_held = true;
    int status = ICESTREAM_OK;
    if (unit->claim.name == NULL) {
        status = ICESTREAM_OK;
    } else if (unit->state == ICS_UNIT_SET_ASIDE) {
        const char *reason =
            unit->set_aside_reason != NULL ? unit->set_aside_reason : "no memory for the reason";
        status = ics_run_claims_fail(common->claims, &unit->claim, reason, &unit->end_held, error);
    } else if (unit->state == ICS_UNIT_LEFT || unit->state == ICS_UNIT_LOST) {
        status = ics_run_claims_give_back(common->claims, &unit->claim, &unit->end_held, error);
    } else {
        status = ics_run_claims_done(common->claims, &unit->claim, common->after, &unit->end_held,
                                     error);
    }
    if (status == ICESTREAM_OK && unit->end_held) {
        tell_journal(unit);
    }
}

static void tell_lost(ics_run_state *run, const ics_unit *unit)
{
    const ics_event event = {.kind = ICS_EVENT_FAILED,
                             .file = unit->name,
                             .reason = "the claim was lost: another worker found it expired",
                             .attempt = unit->claim.attempt};
    ics_run_tell(run, &event);
}

/* The journal has heard of it from who did it. */
static void finish(ics_run_state *run, ics_unit *unit, ics_unit_state state)
{
    bool claimed = unit->claim.name != NULL;
    ics_event event = {.kind = ICS_EVENT_DONE,
                       .file = unit->name,
                       .output = unit->output,
                       .input_digest = unit->summary.digest,
                       .output_bytes = unit->kept
                                           ? (unit->account.hits - unit->account.undetected) *
                                                 sizeof(icestream_hit)
                                           : unit->work->output_bytes,
                       .photons = unit->account.created,
                       .hits = unit->account.hits,
                       .seconds = ics_event_now() - unit->arrived};
    if (state == ICS_UNIT_DONE || state == ICS_UNIT_SKIPPED) {
        event.kind = state == ICS_UNIT_DONE ? ICS_EVENT_DONE : ICS_EVENT_SKIPPED;
        ics_events_report(&run->events, &event);
    } else if (state == ICS_UNIT_SET_ASIDE && (claimed || run->options->log_json)) {
        event = (ics_event){
            .kind = ICS_EVENT_QUARANTINED, .file = unit->name, .reason = unit->set_aside_reason};
        ics_events_report(&run->events, &event);
    } else if (state == ICS_UNIT_LOST) {
        tell_lost(run, unit);
    }
    ics_run_finish_unit(run, unit, state);
}

static void end_claim_done(ics_job *job)
{
    ics_unit *unit = unit_of_claim_job(job);
    ics_run_state *run = unit->run;
    if (unit->end_error.status != ICESTREAM_OK) {
        if (!ics_run_retry(run, unit, ICS_RETRY_END, &unit->end_error)) {
            unit->ending = unit->held = false; /* who finds the claim expired goes on with it */
            ics_run_fail(run, &unit->end_error);
        } else if (unit->kept) {
            run->oldest = run->first; /* which had passed it */
        }
    } else {
        ics_run_succeeded(run, unit);
        unit->ending = unit->held = false;
        /* What could not be read may have been somebody else's by then: he will say what it is. */
        bool lost = unit->state == ICS_UNIT_SET_ASIDE && !unit->end_held;
        if (unit->state != ICS_UNIT_LEFT) {
            finish(run, unit, lost ? ICS_UNIT_LOST : unit->state);
        }
        run->intake.ended = true;
    }
}

void ics_run_end_claim(ics_run_state *run, ics_unit *unit, ics_unit_state state)
{
    if (ics_run_start_command(run, unit, state)) {
        return;
    }
    unit->state = state;
    bool told =
        unit->claim.name != NULL || state == ICS_UNIT_SET_ASIDE || state == ICS_UNIT_SKIPPED;
    if (!told || run->keeper == NULL) {
        finish(run, unit, state);
        return;
    }
    unit->ending = true;
    ics_run_send_job(run, run->keeper, &unit->claim_job, end_claim, end_claim_done);
}

/* A file whose hits are in a volume goes to nobody who would not look for them there: who finds the
 * claim expired does. */
static bool goes_back(const ics_run_state *run, const ics_unit *unit)
{
    bool in_volume = run->rotation.volume != NULL && unit->output != NULL;
    return unit->held && !unit->ending && !in_volume;
}

bool ics_run_give_back(ics_run_state *run)
{
    uint32_t begun = 0;
    for (ics_unit *unit = run->first; unit != NULL && begun < GIVE_BACK; unit = unit->next) {
        if (goes_back(run, unit)) {
            unit->retry = ICS_RETRY_NOTHING;
            ics_run_end_claim(run, unit, ICS_UNIT_LEFT);
            begun++;
        }
    }
    return begun > 0;
}

/* ---- taking files ---------------------------------------------------------------------------- */

/* What is passed over. On the keeper's thread, which has no log: the loop tells it. */
static void note(void *user, const char *line)
{
    ics_run_state *run = user;
    pthread_mutex_lock(&run->intake.notes_lock);
    size_t used = strlen(run->intake.notes);
    snprintf(run->intake.notes + used, sizeof run->intake.notes - used, "%s\n", line);
    pthread_mutex_unlock(&run->intake.notes_lock);
}

static void tell_notes(ics_run_state *run)
{
    char notes[sizeof run->intake.notes];
    pthread_mutex_lock(&run->intake.notes_lock);
    memcpy(notes, run->intake.notes, sizeof notes);
    run->intake.notes[0] = '\0';
    pthread_mutex_unlock(&run->intake.notes_lock);
    char *rest = NULL;
    for (char *line = strtok_r(notes, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        ics_run_say(run, ICS_EVENT_WARNING, "%s", line);
    }
}

static ics_run_state *run_of_take_job(ics_job *job)
{
    return (ics_run_state *)((char *)job - offsetof(ics_run_state, intake.take_job));
}

static void take(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_take_job(job);
    ics_run_intake *intake = &run->intake;
    intake->take_error = (icestream_error){.status = ICESTREAM_OK};
    intake->taken_count = 0;
    double begun = ics_progress_seconds();
    ics_run_claims_take(&run->claims, intake->wanted, intake->taken, &intake->taken_count,
                        &intake->take_error);
    intake->take_seconds = ics_progress_seconds() - begun;
    for (size_t i = 0; i < intake->taken_count; ++i) {
        const ics_claim *claim = &intake->taken[i];
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", run->common.intake_folder, claim->name);
        const ics_event event = {.kind = ICS_EVENT_CLAIMED,
                                 .file = name,
                                 .input_bytes = claim->bytes,
                                 .attempt = claim->attempt};
        ics_run_journal_append(run->common.journal, &event);
    }
}

static void append_claim(ics_run_state *run, ics_claim *claim)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/%s", run->common.intake_folder, claim->name);
    ics_unit *unit = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    if (ics_unit_create_claimed(&run->common, claim, name, &unit, &error) != ICESTREAM_OK) {
        ics_run_fail(run, &error);
        return;
    }
    run->bytes_total += unit->input->bytes;
    ics_run_append_unit(run, unit);
}

static void look_later(ics_run_state *run, const icestream_error *error)
{
    ics_run_intake *intake = &run->intake;
    intake->refused++;
    /* A disk that is full, and a folder that is watched and away for a while, are waited for. */
    bool away = intake->watching && (error->cause == ENOENT || error->cause == ENOTDIR);
    bool waits = away || ics_error_no_room(error);
    if (run->options->fail_fast || !(waits || ics_error_may_pass(error)) ||
        (!waits && intake->refused > LOOK_LIMIT)) {
        ics_run_fail(run, error);
        return;
    }
    uint32_t doublings = intake->refused <= LOOK_LIMIT ? intake->refused - 1 : LOOK_LIMIT - 1;
    double delay = (double)(1u << doublings);
    intake->look_at = ics_progress_seconds() + delay;
    const ics_event event = {.kind = ICS_EVENT_RETRIED,
                             .file = run->common.intake_folder,
                             .reason = error->text,
                             .attempt = intake->refused,
                             .seconds = delay};
    ics_run_tell(run, &event);
    run->retries++;
}

static void take_done(ics_job *job)
{
    ics_run_state *run = run_of_take_job(job);
    ics_run_intake *intake = &run->intake;
    intake->taking = false;
    tell_notes(run);
    for (size_t i = 0; i < intake->taken_count; ++i) {
        append_claim(run, &intake->taken[i]);
    }
    if (intake->take_error.status != ICESTREAM_OK) {
        look_later(run, &intake->take_error);
    } else {
        intake->refused = 0;
        /* All that was asked for: there may be more. */
        intake->look = intake->look || intake->taken_count == intake->wanted;
        if (intake->taken_count < intake->wanted) {
            intake->quiet_until = ics_progress_seconds() + LOOK_SHARE * intake->take_seconds;
        }
    }
}

void ics_run_take_files(ics_run_state *run)
{
    ics_run_intake *intake = &run->intake;
    if (run->claims.claims.self == NULL || intake->taking || run->pause.on) {
        return;
    }
    if (intake->look_at > 0.0 && ics_progress_seconds() >= intake->look_at) {
        intake->look_at = 0.0;
        intake->look = true;
    }
    /* No more than what can be opened: what waits here nobody else can take. */
    uint32_t held = 0;
    for (const ics_unit *unit = run->to_open; unit != NULL; unit = unit->next) {
        held++;
    }
    uint32_t room = run->units_open_limit > run->units_open + held
                        ? run->units_open_limit - run->units_open - held
                        : 0;
    /* A file that came while an older one of its name was at work waits until that is done. */
    intake->look = intake->look || (intake->ended && run->units_open + held == 0);
    if (intake->look && intake->look_at == 0.0 && ics_progress_seconds() < intake->quiet_until) {
        intake->look_at = intake->quiet_until;
    }
    if (!intake->look || intake->look_at > 0.0 || room == 0) {
        return;
    }
    intake->look = intake->ended = false;
    intake->taking = true;
    intake->wanted = room < ICS_TAKE_MAX ? room : ICS_TAKE_MAX;
    ics_run_send_job(run, run->keeper, &intake->take_job, take, take_done);
}

bool ics_run_intake_waits(const ics_run_state *run)
{
    return !ics_run_stopping(run) && run->claims.claims.self != NULL &&
           (run->intake.watching || run->intake.look || run->intake.look_at > 0.0);
}

/* ---- heartbeats ------------------------------------------------------------------------------ */

static ics_run_state *run_of_beat_job(ics_job *job)
{
    return (ics_run_state *)((char *)job - offsetof(ics_run_state, intake.beat_job));
}

static void beat(ics_job *job, void *thread_state)
{
    (void)thread_state;
    ics_run_state *run = run_of_beat_job(job);
    run->intake.beat_error = (icestream_error){.status = ICESTREAM_OK};
    run->intake.lost = 0;
    ics_run_claims_extend(&run->claims, &run->intake.lost, &run->intake.beat_error);
}

static void beat_done(ics_job *job)
{
    ics_run_state *run = run_of_beat_job(job);
    run->intake.beating = false;
    if (run->intake.beat_error.status != ICESTREAM_OK) {
        ics_run_say(run, ICS_EVENT_WARNING, "no sign of life could be given: %s",
                    run->intake.beat_error.text);
    }
    if (run->intake.lost > run->intake.lost_told) {
        ics_run_say(run, ICS_EVENT_WARNING,
                    "%zu claim%s lost: no sign of life was given for longer than source.lease",
                    run->intake.lost, run->intake.lost == 1 ? " was" : "s were");
    }
    run->intake.lost_told = run->intake.lost; /* until their units are finished */
}

static void on_heartbeat(uv_timer_t *timer)
{
    ics_run_state *run = timer->data;
    if (!run->intake.beating) {
        run->intake.beating = true;
        ics_run_send_job(run, run->keeper, &run->intake.beat_job, beat, beat_done);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Where a mark says that a file is done: are its hits still there? On the keeper's thread. */
static bool has_results(void *user, const char *name)
{
    const ics_run_state *run = user;
    if (run->common.to_stdout || run->rotation.volume != NULL) {
        return true;
    }
    char *output = ics_inputs_output(run->config->sink.directory, name);
    bool there = output == NULL || access(output, F_OK) == 0;
    free(output);
    return there;
}

static void on_look(void *user)
{
    ics_run_state *run = user;
    run->intake.look = true;
}

static void on_watch_report(void *user, const icestream_error *what)
{
    ics_run_say(user, what->status == ICESTREAM_OK ? ICS_EVENT_MESSAGE : ICS_EVENT_WARNING, "%s",
                what->status == ICESTREAM_OK ? "the watched folder is there again" : what->text);
}

static int open_watch(ics_run_state *run, icestream_error *error)
{
    const ics_watch_options options = {.folder = run->common.intake_folder,
                                       .pattern = run->config->source.pattern,
                                       .scan = run->config->source.scan};
    const ics_watch_events events = {.look = on_look, .report = on_watch_report, .user = run};
    return ics_watch_create(&run->loop, &options, &events, &run->intake.watch, error);
}

int ics_run_intake_open(ics_run_state *run, icestream_error *error)
{
    const icestream_config *config = run->config;
    run->common.intake_folder =
        config->source.directory != NULL ? config->source.directory : run->received;
    if (run->common.intake_folder == NULL) {
        return ICESTREAM_OK;
    }
    pthread_mutex_init(&run->claims.lock, NULL);
    pthread_mutex_init(&run->intake.notes_lock, NULL);
    /* A folder of messages has one worker at a time, who goes on at once with what a killed one
     * had.
     */
    const char *worker = run->received != NULL ? "receiver" : run->worker;
    if (config->source.spool != NULL) {
        run->intake.spool = strdup(config->source.spool);
    } else if (asprintf(&run->intake.spool, "%s/.icestream", run->common.intake_folder) < 0) {
        run->intake.spool = NULL;
    }
    if (run->intake.spool == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a run");
    }
    const ics_folder_claims_options options = {.directory = run->common.intake_folder,
                                               .pattern = config->source.pattern,
                                               .spool = run->intake.spool,
                                               .worker = worker,
                                               .quarantine = run->common.quarantine,
                                               .lease = config->source.lease,
                                               .attempts = ATTEMPTS,
                                               .forget = run->options->force,
                                               .has_results = has_results,
                                               .note = note,
                                               .user = run};
    int status = ics_folder_claims_create(&options, &run->claims.claims, error);
    if (status != ICESTREAM_OK) {
        return ics_config_blame(config, "source.directory", error);
    }
    uv_timer_init(&run->loop, &run->intake.heartbeat); /* closed wherever there are claims */
    run->intake.heartbeat.data = run;
    if (!run->common.to_stdout) {
        status = ics_output_clean_folder(config->sink.directory, "*.hits.npy.*part", error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    run->common.claims = &run->claims;
    run->common.after = run->received != NULL ? ICS_AFTER_DELETE : config->source.after;
    run->forgets = run->streaming = true;
    run->intake.watching = config->source.watch || run->received != NULL;
    return config->source.watch ? open_watch(run, error) : ICESTREAM_OK;
}

void ics_run_intake_start(ics_run_state *run)
{
    if (run->claims.claims.self == NULL) {
        return;
    }
    run->intake.look = true;
    uint64_t period = (uint64_t)(1000.0 * run->config->source.lease / BEATS);
    uv_timer_start(&run->intake.heartbeat, on_heartbeat, period, period);
    if (run->intake.watch != NULL) {
        ics_watch_start(run->intake.watch);
    }
}

void ics_run_intake_close(ics_run_state *run)
{
    ics_watch_close(run->intake.watch);
    run->intake.watch = NULL;
    if (run->claims.claims.self != NULL) {
        uv_close((uv_handle_t *)&run->intake.heartbeat, NULL);
    }
}

void ics_run_intake_destroy(ics_run_state *run)
{
    free(run->intake.spool);
    if (run->claims.claims.self != NULL) {
        ics_claims_destroy(&run->claims.claims);
        pthread_mutex_destroy(&run->claims.lock);
    }
}
