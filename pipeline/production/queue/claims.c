#include "pipeline/production/queue/claims.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/queue/state.h"
#include "pipeline/production/spool/process.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A call waits for the broker for a part of the lease, in these limits (s). */
enum { LEASE_PARTS = 4, PATIENCE_MIN = 1, PATIENCE_MAX = 10, HEARTBEATS = 4 /* in a lease */ };

/* ---- the functions of the backend ------------------------------------------------------------ */

static int queue_claim(void *self, size_t most, ics_claim *out, size_t *count,
                       icestream_error *error)
{
    icestream_error why = {.status = ICESTREAM_OK};
    const int status = ics_queue_claim(self, most, out, count, &why);
    ics_error_copy(error, &why);
    return status;
}

static int queue_extend(void *self, size_t *lost, icestream_error *error)
{
    ics_queue_claims *queue = self;
    size_t from = 0;
    const double begun = ics_clock_seconds();
    do { /* a command has room for some claims only */
        ics_queue_command command;
        ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
        ics_queue_begin(queue, ICS_QUEUE_EXTEND, &command);
        ics_queue_command_add(&command, queue->nonce);
        ics_queue_command_add(&command, queue->lease_ms);
        ics_queue_command_add(&command, queue->about);
        for (; from < queue->held_count && command.count < ICS_QUEUE_WORDS; ++from) {
            if (!queue->held[from].lost) {
                ics_queue_command_add(&command, queue->held[from].id);
            }
        }
        ICS_TRY(ics_queue_call(queue, &command, &reply, error));
        for (size_t i = 0; i < reply->elements; ++i) {
            ics_queue_held *held = reply->element[i]->type == REDIS_REPLY_STRING
                                       ? ics_queue_find_id(queue, reply->element[i]->str)
                                       : NULL;
            if (held != NULL) {
                held->lost = true;
            }
        }
    } while (from < queue->held_count);
    queue->renewed = begun;
    *lost = 0;
    for (size_t i = 0; i < queue->held_count; ++i) {
        *lost += queue->held[i].lost;
    }
    return ICESTREAM_OK;
}

/* Whether the last heartbeat says too little about a claim: it is old, because this process was
 * stopped or the broker away; or an earlier worker had the ticket, and may have finished it by now.
 */
static bool is_doubtful(const ics_queue_claims *queue, const ics_claim *claim)
{
    const double now = ics_clock_seconds(), beat = queue->lease / HEARTBEATS;
    return claim->attempt > 1 || (now - queue->renewed > 2.0 * beat && now - queue->asked > beat);
}

/* If the broker is away, what it answered last counts. */
static bool queue_holds(void *self, const ics_claim *claim)
{
    ics_queue_claims *queue = self;
    const ics_queue_held *held = ics_queue_find(queue, claim);
    if (held != NULL && !held->lost && is_doubtful(queue, claim)) {
        icestream_error ignored = {.status = ICESTREAM_OK};
        size_t lost = 0;
        queue->asked = ics_clock_seconds();
        queue_extend(queue, &lost, &ignored);
    }
    return held != NULL && !held->lost;
}

/* Nobody writes to the step file of a ticket. */
static int queue_look_again(void *self, const ics_claim *claim, double *age, icestream_error *error)
{
    (void)self;
    (void)claim;
    (void)error;
    *age = HUGE_VAL;
    return ICESTREAM_OK;
}

/* Another worker has finished the ticket first. Equal digests are what is expected. */
static void compare(const ics_queue_claims *queue, const ics_claim *claim, const char *there)
{
    const size_t length = strcspn(there, " ");
    const char *mine = claim->output_digest != NULL ? claim->output_digest : "";
    if (length > 0 && mine[0] != '\0' &&
        (strlen(mine) != length || strncmp(mine, there, length) != 0)) {
        ics_queue_say(
            queue,
            "%s: the hits of %s have the digest %.12s, and those of %s, which was faster, have "
            "%.12s: hits depend on more than the steps and the configuration",
            ics_queue_link_address(queue->link)->shown, claim->name, mine,
            there[length] != '\0' ? there + length + 1 : "another worker", there);
    }
}

static int queue_done(void *self, const ics_claim *claim, ics_after after, bool *was_held,
                      icestream_error *error)
{
    (void)after; /* a ticket that is done leaves the queue */
    ics_queue_claims *queue = self;
    ics_queue_command command;
    ICS_DESTROYS(freeReplyObject) redisReply *reply = NULL;
    char attempt[16];
    ics_queue_held *held = ics_queue_find(queue, claim);
    if (held == NULL) {
        return ICESTREAM_OK;
    }
    snprintf(attempt, sizeof attempt, "%" PRIu32, claim->attempt);
    const char *const pairs[][2] = {{"name", claim->name},
                                    {"sha256", claim->sha256},
                                    {"output", claim->output},
                                    {"output_sha256", claim->output_digest},
                                    {"attempts", attempt}};
    ics_queue_begin(queue, ICS_QUEUE_DONE, &command);
    ics_queue_command_add(&command, held->id);
    ics_queue_command_add(&command, claim->output_digest != NULL ? claim->output_digest : "");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        ics_queue_command_add(&command, pairs[i][0]);
        ics_queue_command_add(&command, pairs[i][1] != NULL ? pairs[i][1] : "");
    }
    ICS_TRY(ics_queue_call(queue, &command, &reply, error));
    const char *answer = reply->type == REDIS_REPLY_STRING ? reply->str : "dead";
    *was_held = strcmp(answer, "done") == 0;
    if (!*was_held && strcmp(answer, "dead") != 0) {
        compare(queue, claim, answer);
    }
    ics_queue_forget(queue, held);
    return ICESTREAM_OK;
}

/* Ends a claim: buries its ticket for a reason or, if `reason` is NULL, gives it back. */
static int end_claim(ics_queue_claims *queue, const ics_claim *claim, const char *reason,
                     bool *was_held, icestream_error *error)
{
    ics_queue_held *held = ics_queue_find(queue, claim);
    long long was = 0;
    if (held == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(reason != NULL
                ? ics_queue_bury(queue, held->id, claim->attempt, reason, &was, error)
                : ics_queue_give_back(queue, held->id, claim->counts ? claim->attempt : 0,
                                      claim->pauses, &was, error));
    ics_queue_forget(queue, held);
    *was_held = was == 1;
    return ICESTREAM_OK;
}

static int queue_fail(void *self, const ics_claim *claim, const char *reason, bool *was_held,
                      icestream_error *error)
{
    return end_claim(self, claim, reason, was_held, error);
}

static int queue_give_back(void *self, const ics_claim *claim, bool *was_held,
                           icestream_error *error)
{
    return end_claim(self, claim, NULL, was_held, error);
}

static int queue_count_waiting(void *self, uint64_t *out, icestream_error *error)
{
    ics_queue_command command;
    long long waiting = 0;
    ics_queue_begin(self, ICS_QUEUE_WAITING, &command);
    ICS_TRY(ics_queue_call_number(self, &command, &waiting, error));
    *out = (uint64_t)waiting;
    return ICESTREAM_OK;
}

static void queue_destroy(void *self)
{
    ics_queue_claims *queue = self;
    icestream_error ignored = {.status = ICESTREAM_OK};
    ics_queue_command command;
    long long was = 0;
    if (queue == NULL) {
        return;
    }
    if (queue->renewed > 0.0) { /* it has joined */
        ics_queue_begin(queue, ICS_QUEUE_LEAVE, &command);
        ics_queue_command_add(&command, queue->nonce);
        ics_queue_call_number(queue, &command, &was, &ignored);
    }
    ics_queue_link_destroy(queue->link);
    while (queue->held_count > 0) {
        ics_queue_forget(queue, &queue->held[0]);
    }
    pthread_mutex_destroy(&queue->mutex);
    json_decref(queue->declined);
    free(queue->held);
    free(queue->worker);
    free(queue->about);
    free(queue->folders.folder);
    free(queue->folders.files);
    free(queue);
}
ICS_CAN_DESTROY(ics_queue_claims, queue_destroy)

static const ics_claims_backend backend = {.destroy = queue_destroy,
                                           .take = queue_claim,
                                           .extend = queue_extend,
                                           .holds = queue_holds,
                                           .look_again = queue_look_again,
                                           .done = queue_done,
                                           .fail = queue_fail,
                                           .give_back = queue_give_back,
                                           .count_waiting = queue_count_waiting};

/* ---- the beginning --------------------------------------------------------------------------- */

/* Reports the name of this worker to the broker. */
static int join(ics_queue_claims *queue, icestream_error *error)
{
    ics_queue_command command;
    long long is_free = 0;
    ICS_TRY(ics_queue_make_group(queue->link, error));
    ics_queue_begin(queue, ICS_QUEUE_JOIN, &command);
    ics_queue_command_add(&command, queue->nonce);
    ics_queue_command_add(&command, queue->lease_ms);
    ics_queue_command_add(&command, queue->about);
    ICS_TRY(ics_queue_call_number(queue, &command, &is_free, error));
    queue->renewed = ics_clock_seconds();
    return is_free == 1
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_FAILED,
                               "%s: found a worker with the name %s, which has renewed its lease, "
                               "expected another name, or that it has ended for as long as its "
                               "lease (source.worker)",
                               ics_queue_link_address(queue->link)->shown, queue->worker);
}

static void copy_options(ics_queue_claims *queue, const ics_queue_claims_options *options)
{
    char host[64] = "host";
    ics_process self;
    gethostname(host, sizeof host - 1);
    queue->worker = ics_new_copy(options->worker);
    queue->folders.folder = ics_new_copy(options->folder);
    queue->folders.files = ics_new_copy(options->files);
    queue->folders.allow = options->allow;
    queue->folders.allow_count = options->allow_count;
    queue->folders.fetches = options->fetches;
    queue->folders.shows_urls = options->shows_urls;
    queue->lease = options->lease;
    queue->attempts = options->attempts;
    queue->note = options->note;
    queue->decline = options->decline;
    queue->user = options->user;
    queue->looked = queue->asked = -HUGE_VAL;
    queue->declined = ics_new_made(json_object());
    snprintf(queue->configuration, sizeof queue->configuration, "%s",
             options->configuration != NULL ? options->configuration : "");
    snprintf(queue->lease_ms, sizeof queue->lease_ms, "%.0f", 1000.0 * options->lease);
    snprintf(queue->nonce, sizeof queue->nonce, "%s-%ld-%" PRIx64, host, (long)getpid(),
             (uint64_t)(1e6 * ics_clock_unix()));
    ics_process_self(&self);
    queue->about = ics_new_text("%s %ld %lld %s", host, (long)getpid(), self.start, self.space);
}

static bool shows_urls(const icestream_config *config)
{
    for (size_t i = 0; i < config->source.fetch_count; ++i) {
        if (strstr(config->source.fetch[i], "{url}") != NULL) {
            return true;
        }
    }
    return false;
}

ics_queue_claims_options ics_queue_claims_options_of(const icestream_config *config,
                                                     void (*note)(void *user, const char *line),
                                                     void *user)
{
    return (ics_queue_claims_options){.login = {.url = config->source.queue,
                                                .password = config->source.queue_password,
                                                .ca = config->source.queue_ca,
                                                .key = "source.queue",
                                                .password_key = "source.queue_password"},
                                      .files = config->source.queue_files,
                                      .allow = config->source.allow,
                                      .allow_count = config->source.allow_count,
                                      .fetches = config->source.fetch_count > 0,
                                      .shows_urls = shows_urls(config),
                                      .lease = config->source.lease,
                                      .attempts = config->source.attempts,
                                      .note = note,
                                      .user = user};
}

int ics_queue_check(const ics_queue_login *login, icestream_error *error)
{
    ics_queue_address address;
    char secret[ICS_QUEUE_SECRET_MAX + 1];
    ICS_TRY(ics_queue_address_parse(login, &address, error));
    const int status = ics_queue_secret_read(login, &address, secret, error);
    ics_queue_secret_wipe(secret);
    return status;
}

int ics_queue_claims_create(const ics_queue_claims_options *options, ics_claims *out,
                            icestream_error *error)
{
    const double part = options->lease / LEASE_PARTS;
    *out = (ics_claims){.backend = &backend, .self = NULL};
    ICS_DESTROYS(queue_destroy) ics_queue_claims *queue = ICS_NEW(ics_queue_claims);
    pthread_mutex_init(&queue->mutex, NULL);
    copy_options(queue, options);
    ICS_TRY(ics_queue_link_create(&options->login, fmax(PATIENCE_MIN, fmin(part, PATIENCE_MAX)),
                                  &queue->link, error));
    ics_queue_link_hurry(queue->link, options->stop, options->cancel);
    queue->folders.shown = ics_queue_link_address(queue->link)->shown;
    ICS_TRY(join(queue, error));
    out->mutex = &queue->mutex;
    out->self = ICS_HAND_OVER(queue);
    return ICESTREAM_OK;
}
