/* For tests of queues: a real redis-server on a free port of this machine, with an empty folder.
 *
 * How to join: add the test to the list for broker_add_tests(), which gives it an empty broker.
 * broker_call() sends any command to the server.
 * Every function fails the test on errors. */
#ifndef BROKER_H
#define BROKER_H

#include "pipeline/production/queue/claims.h"
#include "pipeline/production/queue/put.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BROKER_WORDS = 32 };

typedef struct broker {
    scratch place;
    pid_t pid;
    int port;
    char url[64];
    unsigned notes, declined; /* of the claims */
    char note[1024];          /* the last one */
} broker;

static broker the_broker;

static inline void broker_sleep(double seconds)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)seconds,
                                 .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))},
              NULL);
}

static inline int broker_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int plug = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(plug, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(getsockname(plug, (struct sockaddr *)&address, &size), 0);
    close(plug);
    return ntohs(address.sin_port);
}

/* Starts the server with further options, up to a NULL, on the port and in the folder that it had.
 * Waits until it answers. */
static inline void broker_start(const char *const *more)
{
    char port[16];
    const char *words[BROKER_WORDS] = {"redis-server",
                                       "--port",
                                       port,
                                       "--bind",
                                       "127.0.0.1",
                                       "--dir",
                                       the_broker.place.folder,
                                       "--save",
                                       "",
                                       "--appendonly",
                                       "yes",
                                       "--logfile",
                                       "log"};
    int count = 13;
    snprintf(port, sizeof port, "%d", the_broker.port);
    while (more != NULL && *more != NULL && count < BROKER_WORDS - 1) {
        words[count++] = *more++;
    }
    the_broker.pid = fork();
    if (the_broker.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* of a test that fails */
        execvp(words[0], (char *const *)(void *)words);
        _exit(127);
    }
    for (int i = 0; i < 1500; ++i) {
        redisContext *context = redisConnect("127.0.0.1", the_broker.port);
        redisReply *reply = context->err == 0 ? redisCommand(context, "PING") : NULL;
        const bool answers = reply != NULL && strncmp(reply->str, "LOADING", 7) != 0;
        if (reply != NULL) {
            freeReplyObject(reply);
        }
        redisFree(context);
        if (answers) {
            return;
        }
        broker_sleep(0.02);
    }
    ck_abort_msg("redis-server did not start");
}

static inline void broker_kill(void)
{
    kill(the_broker.pid, SIGKILL);
    waitpid(the_broker.pid, NULL, 0);
}

static inline bool broker_is_there(void)
{
    return system("command -v redis-server > /dev/null") == 0;
}

static inline bool broker_begin_with(const char *const *more)
{
    if (!broker_is_there()) {
        test_skip("there is no redis-server (scripts/test.sh makes one of redis-tools)");
        return false;
    }
    the_broker = (broker){.place = scratch_create(), .port = broker_free_port()};
    snprintf(the_broker.url, sizeof the_broker.url, "redis://127.0.0.1:%d/work", the_broker.port);
    broker_start(more);
    return true;
}

static inline void broker_end(void)
{
    broker_kill();
    scratch_remove(&the_broker.place);
}

static inline void broker_begin(void)
{
    (void)broker_begin_with(NULL);
}

START_TEST(broker_is_missing)
{
    ck_assert(!broker_begin_with(NULL));
}
END_TEST

/* Adds tests that each have an empty broker, or, without a redis-server, one test that says so. */
static inline void broker_add_tests(Suite *suite, const TTest *const *tests, size_t count)
{
    TCase *cases = tcase_create("broker");
    if (!broker_is_there()) {
        tcase_add_test(cases, broker_is_missing);
        count = 0;
    } else {
        tcase_add_checked_fixture(cases, broker_begin, broker_end);
    }
    for (size_t i = 0; i < count; ++i) {
        tcase_add_test(cases, tests[i]);
    }
    suite_add_tcase(suite, cases);
}

/* Sends the words up to a NULL, and returns the answer as a number, or the length of a list. */
static inline long long broker_call(const char *const *words)
{
    redisContext *context = redisConnect("127.0.0.1", the_broker.port);
    int count = 0;
    while (words[count] != NULL) {
        count++;
    }
    redisReply *reply = redisCommandArgv(context, count, (const char **)(void *)words, NULL);
    ck_assert_ptr_nonnull(reply);
    ck_assert_msg(reply->type != REDIS_REPLY_ERROR, "%s", reply->str);
    const long long result =
        reply->type == REDIS_REPLY_ARRAY ? (long long)reply->elements : reply->integer;
    freeReplyObject(reply);
    redisFree(context);
    return result;
}
#define BROKER_CALL(...) broker_call((const char *const[]){__VA_ARGS__, NULL})

/* Makes the last heartbeat of all claims of a worker `seconds` old, and that of the worker. Other
 * workers seem to have renewed their leases during that time. */
static inline void broker_age(const char *worker, double seconds)
{
    char idle[32];
    snprintf(idle, sizeof idle, "%.0f", 1000.0 * seconds);
    BROKER_CALL("EVAL",
                "for _, p in ipairs(redis.call('XPENDING', KEYS[1], 'icestream', '-', '+', 1000, "
                "ARGV[1])) do redis.call('XCLAIM', KEYS[1], 'icestream', ARGV[1], 0, p[1], 'IDLE', "
                "ARGV[2], 'RETRYCOUNT', p[4], 'JUSTID') end "
                "local w = redis.call('HGET', KEYS[1] .. ':workers', ARGV[1]) "
                "if w then local time, rest = w:match('^(%d+)(.*)') redis.call('HSET', KEYS[1] .. "
                "':workers', ARGV[1], time - ARGV[2] .. rest) end "
                "redis.call('HINCRBY', KEYS[1] .. ':beats', 'since', -ARGV[2]) return 1",
                "1", "work", worker, idle);
}

/* Whether an entry of a stream contains a text. */
static inline bool broker_stream_has(const char *stream, const char *text)
{
    redisContext *context = redisConnect("127.0.0.1", the_broker.port);
    redisReply *reply = redisCommand(context, "XRANGE %s - +", stream);
    bool found = false;
    for (size_t i = 0; i < reply->elements; ++i) {
        const redisReply *pairs = reply->element[i]->element[1];
        for (size_t j = 0; j < pairs->elements; ++j) {
            found = found || strstr(pairs->element[j]->str, text) != NULL;
        }
    }
    freeReplyObject(reply);
    redisFree(context);
    return found;
}

/* ---- claims ---------------------------------------------------------------------------------- */

static inline void broker_note(void *user, const char *line)
{
    broker *here = user;
    here->notes++;
    snprintf(here->note, sizeof here->note, "%s", line);
}

static inline void broker_decline(void *user, const icestream_error *why)
{
    broker *here = user;
    here->declined++;
    ck_assert_int_ne(why->status, ICESTREAM_OK);
}

static inline ics_queue_login broker_login(const char *url)
{
    return (ics_queue_login){.url = url, .key = "source.queue", .password_key = "queue_password"};
}

static inline ics_queue_claims_options broker_options(const char *worker, double lease)
{
    static char folder[SCRATCH_PATH]; /* each worker has its own */
    mkdir(scratch_path(&the_broker.place, worker, folder), 0700);
    return (ics_queue_claims_options){.login = broker_login(the_broker.url),
                                      .worker = worker,
                                      .folder = folder,
                                      .lease = lease,
                                      .attempts = 3,
                                      .note = broker_note,
                                      .decline = broker_decline,
                                      .user = &the_broker};
}

static inline ics_claims broker_worker(const char *worker, double lease)
{
    ics_claims claims;
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_queue_claims_options options = broker_options(worker, lease);
    const int status = ics_queue_claims_create(&options, &claims, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    return claims;
}

static ics_queue_put_counts broker_put_counts; /* of the last broker_put() */
static char broker_refusal[1024];              /* why the last file was not put */

static inline void broker_refuse(const char *why)
{
    snprintf(broker_refusal, sizeof broker_refusal, "%s", why);
}

/* Puts a file with this content. Returns the status. */
static inline int broker_put(const char *name, const char *content, icestream_error *error)
{
    char path[SCRATCH_PATH];
    char *const files[] = {path};
    const ics_queue_put_options options = {
        .login = broker_login(the_broker.url), .refuse = broker_refuse, .embed_limit = 1000};
    scratch_write(scratch_path(&the_broker.place, name, path), content, strlen(content));
    return ics_queue_put(&options, files, 1, &broker_put_counts, error);
}

/* Takes one claim, which must be there; or none, if `name` is NULL. */
static inline ics_claim broker_claim(const ics_claims *claims, const char *name)
{
    ics_claim claim = {.name = NULL};
    size_t count = 0;
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = ics_claims_take(claims, 1, &claim, &count, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(count, name != NULL);
    if (name != NULL) {
        ck_assert_str_eq(claim.name, name);
    }
    return claim;
}

/* Ends a claim with this digest of its hits, and frees it. Returns whether it was held. */
static inline bool broker_done(const ics_claims *claims, ics_claim *claim, const char *digest)
{
    bool held = false;
    icestream_error error = {.status = ICESTREAM_OK};
    claim->output = "out.hits.npy";
    claim->output_digest = digest;
    const int status = ics_claims_done(claims, claim, ICS_AFTER_KEEP, &held, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ics_claims_claim_free(claim);
    return held;
}

/* Takes one claim, which must be refused for this reason, and moves it to the dead letters. */
static inline void broker_refused(const ics_claims *claims, const char *why)
{
    ics_claim claim = {.name = NULL};
    size_t count = 0;
    bool held = false;
    icestream_error error = {.status = ICESTREAM_OK};
    const int status = ics_claims_take(claims, 1, &claim, &count, &error);
    ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(count, 1);
    ck_assert_msg(claim.refusal != NULL && strstr(claim.refusal, why) != NULL, "%s: %s", why,
                  claim.refusal);
    ck_assert_int_eq(ics_claims_fail(claims, &claim, claim.refusal, &held, NULL), ICESTREAM_OK);
    ck_assert(held);
    ics_claims_claim_free(&claim);
    ck_assert(broker_stream_has("work:dead", why));
}

/* Numbers of tickets: that can be claimed, that workers hold, that are done, and dead letters. */
typedef struct broker_counts {
    uint64_t waiting, claimed, done, dead;
} broker_counts;

static inline void broker_assert_counts(const ics_claims *claims, broker_counts expected)
{
    uint64_t waiting = 0;
    ck_assert_int_eq(ics_claims_count_waiting(claims, &waiting, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(waiting, expected.waiting);
    ck_assert_uint_eq((uint64_t)BROKER_CALL("XLEN", "work") - waiting, expected.claimed);
    ck_assert_uint_eq((uint64_t)BROKER_CALL("HLEN", "work:done"), expected.done);
    ck_assert_uint_eq((uint64_t)BROKER_CALL("XLEN", "work:dead"), expected.dead);
}

#endif
