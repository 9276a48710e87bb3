/* Promises of pipeline/production/queue for what comes from outside: tickets, step files,
 * addresses, passwords, brokers and connections that are wrong end with a message, and nothing is
 * lost or leaves its folder. To join: one more row of a table, or a test with the broker of
 * broker.h. */
#include "tests/queue/broker.h"

#include <netdb.h>
#include <pthread.h>

enum { LONG_NAME = 65536 };

/* Adds a ticket with this name and these steps which `icestream put` would not make. */
static void add_ticket(const char *name)
{
    BROKER_CALL("XADD", "work", "*", "name", name, "steps", "x");
}

START_TEST(test_malformed_tickets)
{
    static const struct {
        const char *words[5], *says;
    } cases[] = {
        {{"name", "../out.npy", "steps", "x"}, "expected no slash"},
        {{"name", "/tmp/out.npy", "steps", "x"}, "expected no slash"},
        {{"name", "..", "steps", "x"}, "expected no dot at its beginning"},
        {{"name", "a\nb.npy", "steps", "x"}, "expected no newlines"},
        {{"name", "\x1b[2Ja.npy", "steps", "x"}, "expected no newlines"},
        {{"name", "", "steps", "x"}, "found a name of 0 bytes"},
        {{"other", "a.npy", "steps", "x"}, "found no name"},
        {{"name", "a.npy", "neither", "x"}, "found neither url nor steps"},
        {{"url", "http://h/a", "steps", "x"}, "found no name"},
        {{"name", "a.npy", "url", "/etc/passwd"}, "expected a URL"},
        {{"name", "a.npy", "url", "http://h/a b"}, "expected printable ASCII"},
        {{"name", "a.npy", "bytes", "-1"}, "expected a whole number"},
        {{"name", "a.npy", "sha256", "zz"}, "expected 64 hexadecimal digits"},
    };
    ics_claims one = broker_worker("one", 60);
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const char *const *w = cases[i].words;
        BROKER_CALL("XADD", "work", "*", w[0], w[1], w[2], w[3]);
        broker_refused(&one, cases[i].says);
    }
    broker_assert_counts(&one, (broker_counts){.dead = COUNT(cases)});
    ck_assert_int_ne(access("/tmp/out.npy", F_OK), 0);
    ics_claims_destroy(&one);
}
END_TEST

START_TEST(test_monstrous_tickets)
{
    ics_claims one = broker_worker("one", 60);
    char *name = malloc(LONG_NAME + 1);
    memset(name, 'n', LONG_NAME);
    name[LONG_NAME] = '\0';
    add_ticket(name);
    free(name);
    broker_refused(&one, "found a name of 65536 bytes");
    BROKER_CALL("EVAL",
                "local f = {'name', 'a.npy'} for i = 1, 6000 do f[#f + 1] = 'k' end "
                "return redis.call('XADD', KEYS[1], '*', unpack(f))",
                "1", "work");
    broker_refused(&one, "names and values");
    BROKER_CALL("XADD", "work", "*", "name", "a.npy", "steps", "changed on its way", "sha256",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    broker_refused(&one, "found steps with the SHA-256");
    broker_assert_counts(&one, (broker_counts){.dead = 3});
    ics_claims_destroy(&one);
}
END_TEST

/* Two tickets of one name would have one hit file: the second waits for the end of the first, and
 * does not hide the tickets behind it. */
START_TEST(test_same_names_wait)
{
    ics_claims one = broker_worker("one", 60);
    add_ticket("a.npy");
    add_ticket("a.npy");
    add_ticket("b.npy");
    ics_claim claim = broker_claim(&one, "a.npy"), b = broker_claim(&one, "b.npy");
    broker_claim(&one, NULL);
    broker_assert_counts(&one, (broker_counts){.waiting = 1, .claimed = 2});
    ck_assert(broker_done(&one, &claim, ""));
    claim = broker_claim(&one, "a.npy"); /* at once */
    ck_assert(broker_done(&one, &claim, ""));
    ck_assert(broker_done(&one, &b, ""));
    add_ticket("c.npy");
    add_ticket("c.npy");
    claim = broker_claim(&one, "c.npy");
    ics_claims two = broker_worker("two", 60);
    b = broker_claim(&two, "c.npy");
    ck_assert(broker_done(&one, &claim, ""));
    ck_assert(broker_done(&two, &b, ""));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* A ticket with file:// may name only what is in source.queue_files. */
START_TEST(test_files_outside)
{
    static const char *const names[] = {"/etc/hostname", "inside/../secret.npy", "inside/link.npy"};
    char inside[SCRATCH_PATH], good[SCRATCH_PATH], link[SCRATCH_PATH], secret[SCRATCH_PATH];
    mkdir(scratch_path(&the_broker.place, "inside", inside), 0700);
    scratch_write(scratch_path(&the_broker.place, "inside/good.npy", good), "x", 1);
    scratch_write(scratch_path(&the_broker.place, "secret.npy", secret), "x", 1);
    ck_assert_int_eq(symlink(secret, scratch_path(&the_broker.place, "inside/link.npy", link)), 0);
    ics_queue_claims_options options = broker_options("one", 60);
    options.files = inside;
    ics_claims one;
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
    for (size_t i = 0; i < COUNT(names); ++i) {
        char url[2 * SCRATCH_PATH], name[16];
        snprintf(url, sizeof url, "file://%s%s%s",
                 names[i][0] == '/' ? "" : the_broker.place.folder, names[i][0] == '/' ? "" : "/",
                 names[i]);
        snprintf(name, sizeof name, "%zu.npy", i);
        BROKER_CALL("XADD", "work", "*", "name", name, "url", url);
        ics_claim claim = broker_claim(&one, name);
        ck_assert_ptr_nonnull(claim.refusal);
        ck_assert_ptr_nonnull(strstr(claim.refusal, "expected it in source.queue_files"));
        bool held = false;
        ck_assert_int_eq(ics_claims_fail(&one, &claim, claim.refusal, &held, NULL), ICESTREAM_OK);
        ics_claims_claim_free(&claim);
    }
    char url[2 * SCRATCH_PATH];
    snprintf(url, sizeof url, "file://%s", good);
    BROKER_CALL("XADD", "work", "*", "name", "good.npy", "url", url);
    ics_claim claim = broker_claim(&one, "good.npy");
    ck_assert_ptr_null(claim.refusal);
    ck_assert_str_eq(claim.path, good);
    ck_assert(broker_done(&one, &claim, ""));
    ck_assert_int_eq(access(good, F_OK), 0); /* it belongs to the producer */
    ics_claims_destroy(&one);
}
END_TEST

/* Tickets that this run cannot use, and another one may, stay in the queue, and do not hide those
 * behind them. When three workers (attempts) have declined them, they are dead letters with the
 * reason. */
START_TEST(test_tickets_of_others)
{
    static const char digest[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    static const char *const cases[][3] = {
        {"url", "file:///data/a.npy", "source.queue_files"},
        {"url", "root://user:secret@host/a.npy", "source.fetch"},
        {"url", "http://user:secret@host/a.npy", "with a URL that may have a secret"},
        {"configuration", digest, "for the configuration with the digest aaaaaaaaaaaa"}};
    for (size_t i = 0; i < COUNT(cases); ++i) {
        ics_queue_claims_options options = broker_options("one", 60);
        options.fetches = options.shows_urls = i == 2; /* a program would get the secret */
        options.configuration = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
        ics_claims one;
        the_broker.declined = 0;
        ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
        BROKER_CALL("XADD", "work", "*", "name", "a.npy", i == 3 ? "steps" : "other", "x",
                    cases[i][0], cases[i][1]);
        for (unsigned attempt = 1; attempt <= 3; ++attempt) {
            static const char *const workers[] = {"one", "two", "three"};
            add_ticket("good.npy");
            ics_claims_destroy(&one); /* a new worker looks at once */
            options.worker = workers[attempt - 1];
            ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
            if (attempt == 3) {
                broker_refused(&one, cases[i][2]);
            }
            ics_claim good = broker_claim(&one, "good.npy");
            ck_assert(broker_done(&one, &good, ""));
            broker_claim(&one, NULL); /* not before a lease is over */
            ck_assert_uint_eq(the_broker.declined, attempt < 3 ? attempt : 2);
            ck_assert_ptr_nonnull(strstr(the_broker.note, cases[i][2]));
            ck_assert_ptr_null(strstr(the_broker.note, "user:secret"));
            broker_age("(given back)", 61);
        }
        ck_assert_int_eq(BROKER_CALL("XLEN", "work"), 0);
        ics_claims_destroy(&one);
    }
}
END_TEST

/* A shared file may be missing only where its file system is not there. So each delivery counts, of
 * the same worker as well, and the last one makes a dead letter. */
START_TEST(test_shared_file_is_missing)
{
    char inside[SCRATCH_PATH], path[SCRATCH_PATH], url[SCRATCH_PATH + 16];
    mkdir(scratch_path(&the_broker.place, "inside", inside), 0700);
    snprintf(url, sizeof url, "file://%s", scratch_path(&the_broker.place, "inside/a.npy", path));
    ics_queue_claims_options options = broker_options("one", 60);
    options.files = inside;
    for (int ends_well = 0; ends_well < 2; ++ends_well) {
        BROKER_CALL("XADD", "work", "*", "name", "a.npy", "url", url);
        for (int delivery = 1; delivery <= 2; ++delivery) { /* attempts: 3 */
            ics_claims away;
            ck_assert_int_eq(ics_queue_claims_create(&options, &away, NULL), ICESTREAM_OK);
            broker_claim(&away, NULL);
            broker_claim(&away, NULL); /* not before a lease is over */
            ck_assert_ptr_nonnull(strstr(the_broker.note, "a.npy: No such file"));
            ics_claims_destroy(&away);
            broker_age("(given back)", 61);
        }
        if (ends_well) {
            scratch_write(path, "x", 1);
        }
        ics_claims last;
        ck_assert_int_eq(ics_queue_claims_create(&options, &last, NULL), ICESTREAM_OK);
        if (ends_well) {
            ics_claim claim = broker_claim(&last, "a.npy");
            ck_assert_ptr_null(claim.refusal);
            ck_assert(broker_done(&last, &claim, ""));
        } else {
            broker_refused(&last, "a.npy: No such file");
        }
        ics_claims_destroy(&last);
    }
    ck_assert_uint_eq(the_broker.declined, 4);
}
END_TEST

/* A worker with a wrong configuration alone, however often it declines a ticket, does not make a
 * dead letter of it, and takes no attempt of the others. */
START_TEST(test_one_wrong_worker)
{
    ics_claims wrong, right;
    ics_queue_claims_options options = broker_options("wrong", 60);
    BROKER_CALL("XADD", "work", "*", "name", "a.npy", "url", "root://host/a.npy");
    for (int i = 0; i < 5; ++i) { /* attempts: 3 */
        ck_assert_int_eq(ics_queue_claims_create(&options, &wrong, NULL), ICESTREAM_OK);
        broker_claim(&wrong, NULL);
        ics_claims_destroy(&wrong);
        broker_age("(given back)", 61);
    }
    ck_assert_int_eq(BROKER_CALL("HLEN", "work:declined"), 1);
    options.worker = "right";
    options.fetches = true;
    ck_assert_int_eq(ics_queue_claims_create(&options, &right, NULL), ICESTREAM_OK);
    ics_claim claim = broker_claim(&right, "a.npy");
    ck_assert_ptr_null(claim.refusal);
    ck_assert_uint_eq(claim.attempt, 1);
    ck_assert(broker_done(&right, &claim, ""));
    ck_assert_int_eq(BROKER_CALL("EXISTS", "work:declined"), 0);
    ics_claims_destroy(&right);
}
END_TEST

/* Somebody deletes the consumer of a worker that has a ticket: another worker finds the ticket. */
START_TEST(test_tickets_of_nobody)
{
    ics_claims one = broker_worker("one", 60);
    add_ticket("a.npy");
    add_ticket("b.npy");
    ics_claim a = broker_claim(&one, "a.npy"), b = broker_claim(&one, "b.npy");
    ck_assert_int_eq(BROKER_CALL("XGROUP", "DELCONSUMER", "work", "icestream", "one"), 2);
    ck_assert(broker_done(&one, &a, "")); /* it is faster */
    ics_claims two = broker_worker("two", 60);
    ics_claim again = broker_claim(&two, "b.npy");
    broker_claim(&two, NULL);
    ck_assert(broker_done(&two, &again, ""));
    ck_assert(!broker_done(&one, &b, ""));
    broker_assert_counts(&two, (broker_counts){.done = 2});
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* A client of the broker cannot forge lines of the log. */
START_TEST(test_forged_lines)
{
    ics_claims one = broker_worker("one", 60);
    add_ticket("a.npy");
    ics_claim claim = broker_claim(&one, "a.npy");
    BROKER_CALL(
        "EVAL",
        "local id = redis.call('XRANGE', KEYS[1], '-', '+')[1][1] "
        "return redis.call('HSET', KEYS[1] .. ':done', id, 'x y\\nwarning: forged \\27[2J')",
        "1", "work");
    ck_assert(!broker_done(&one, &claim, "aaaaaaaaaaaa"));
    ck_assert_ptr_nonnull(strstr(the_broker.note, "y\\nwarning: forged \\x1b[2J"));
    ics_claims_destroy(&one);
    icestream_error error = {.status = ICESTREAM_OK};
    BROKER_CALL("HSET", "work:names", "b.npy", "x\nwarning: forged");
    ck_assert_int_eq(broker_put("b.npy", "b", &error), ICESTREAM_E_INPUT);
    ck_assert_int_eq(broker_put_counts.refused, 1);
    ck_assert_ptr_nonnull(strstr(broker_refusal, "x\\nwarning: forged"));
}
END_TEST

/* A broker that is there and does not answer does not keep a process that wants to end. */
START_TEST(test_mute_broker)
{
    static atomic_bool stop, cancel;
    atomic_store(&stop, false);
    atomic_store(&cancel, false);
    ics_queue_claims_options options = broker_options("one", 3600);
    options.stop = &stop;
    options.cancel = &cancel;
    ics_claims one;
    ics_claim claim = {.name = NULL};
    size_t count = 0;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
    kill(the_broker.pid, SIGSTOP);
    atomic_store(&stop, true);
    ck_assert_int_eq(ics_claims_take(&one, 1, &claim, &count, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "the broker does not answer"));
    for (int i = 0; i < 100; ++i) { /* as many claims may be given back */
        ck_assert_int_eq(ics_claims_extend(&one, NULL, &error), ICESTREAM_E_OUTPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "did not answer, and the run is ending"));
    }
    atomic_store(&cancel, true);
    ck_assert_int_eq(ics_claims_extend(&one, NULL, &error), ICESTREAM_E_OUTPUT);
    ics_claims_destroy(&one);
    kill(the_broker.pid, SIGCONT);
}
END_TEST

/* Redis takes nothing back when a command is denied in the middle of a script. A worker that may
 * not use one of its commands does not begin; if a right is withdrawn later, nothing is lost. */
START_TEST(test_rights)
{
    static const char *const denied[] = {"xadd", "xdel",    "xack",   "xclaim", "xpending",
                                         "xlen", "hgetall", "xrange", "hget",   "xreadgroup",
                                         "hset", "hmget",   "hdel",   "time",   "xgroup"};
    icestream_error error = {.status = ICESTREAM_OK};
    char url[64], right[32];
    ics_claims one;
    ics_queue_claims_options options = broker_options("one", 60);
    snprintf(url, sizeof url, "redis://worker@127.0.0.1:%d/work", the_broker.port);
    setenv("ICESTREAM_QUEUE_PASSWORD", "workersecret", 1);
    options.login.url = url;
    add_ticket("a.npy");
    for (size_t i = 0; i < COUNT(denied); ++i) {
        snprintf(right, sizeof right, "-%s", denied[i]);
        BROKER_CALL("ACL", "SETUSER", "worker", "reset", "on", ">workersecret", "~work*",
                    "+@stream", "+@hash", "+eval", "+time", right);
        ck_assert_int_eq(ics_queue_claims_create(&options, &one, &error), ICESTREAM_E_CONFIG);
        ck_assert_msg(strstr(error.text, "refuses the user worker") != NULL &&
                          strcasestr(error.text, denied[i]) != NULL,
                      "%s: %s", denied[i], error.text);
        ck_assert_int_eq(BROKER_CALL("XLEN", "work"), 1);
        ck_assert_int_eq(BROKER_CALL("EXISTS", "work:workers", "work:done", "work:results"), 0);
    }
    BROKER_CALL("ACL", "SETUSER", "worker", "+@stream", "+@hash", "+time");
    BROKER_CALL("SET", "work:results", "x");
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "WRONGTYPE XLEN work:results"));
    BROKER_CALL("DEL", "work:results");
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, &error), ICESTREAM_OK);
    ics_claim claim = broker_claim(&one, "a.npy");
    for (int i = 0; i < 4; ++i) {
        static const char *const rights[] = {"-xadd", "-hset", "-xack", "-xdel"};
        bool held = false;
        BROKER_CALL("ACL", "SETUSER", "worker", rights[i]);
        ck_assert_int_eq(ics_claims_done(&one, &claim, ICS_AFTER_KEEP, &held, &error),
                         ICESTREAM_E_CONFIG);
        ck_assert(!held);
        ck_assert_int_eq(BROKER_CALL("XLEN", "work"), 1);
        snprintf(right, sizeof right, "+%s", rights[i] + 1);
        BROKER_CALL("ACL", "SETUSER", "worker", right);
    }
    ck_assert(broker_done(&one, &claim, ""));
    ck_assert_int_eq(BROKER_CALL("XLEN", "work"), 0);
    ck_assert_int_ge(BROKER_CALL("XLEN", "work:results"), 1);
    ics_claims_destroy(&one);
    unsetenv("ICESTREAM_QUEUE_PASSWORD");
}
END_TEST

/* What source.fetch fetches comes into the worker's own folder, whatever the URL is. */
START_TEST(test_files_to_fetch)
{
    ics_queue_claims_options options = broker_options("one", 60);
    options.fetches = true;
    ics_claims one;
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
    static const char *const urls[] = {"http://user:secret@host/../../b.npy",
                                       "s3://bucket/../b.npy", "s3://no", "root://host/%00"};
    for (size_t i = 0; i < COUNT(urls); ++i) {
        BROKER_CALL("XADD", "work", "*", "name", "a.npy", "url", urls[i]);
        ics_claim claim = broker_claim(&one, "a.npy");
        ck_assert_ptr_null(claim.refusal);
        ck_assert_str_eq(claim.url, urls[i]);
        ck_assert_ptr_nonnull(strstr(claim.path, "/one/"));
        ck_assert_ptr_null(strstr(claim.path, ".."));
        bool held = false;
        ck_assert_int_eq(ics_claims_fail(&one, &claim, "x", &held, NULL), ICESTREAM_OK);
        ics_claims_claim_free(&claim);
    }
    ics_claims_destroy(&one);
}
END_TEST

/* ---- clients that may come in ---------------------------------------------------------------- */

static int join_with(const char *url, const char *password, icestream_error *error)
{
    ics_queue_claims_options options = broker_options("one", 60);
    ics_claims claims;
    options.login.url = url;
    options.login.password = password;
    *error = (icestream_error){.status = ICESTREAM_OK};
    const int status = ics_queue_claims_create(&options, &claims, error);
    if (status == ICESTREAM_OK) {
        ics_claims_destroy(&claims);
    }
    return status;
}

START_TEST(test_passwords)
{
    static const char *const more[] = {"--requirepass", "rootsecret", NULL};
    char good[SCRATCH_PATH], wrong[SCRATCH_PATH], url[128];
    icestream_error error;
    if (!broker_begin_with(more)) {
        return;
    }
    redisContext *context = redisConnect("127.0.0.1", the_broker.port);
    freeReplyObject(redisCommand(context, "AUTH rootsecret"));
    freeReplyObject(redisCommand(
        context, "ACL SETUSER worker on >workersecret ~work* +@stream +@hash +eval +time"));
    redisFree(context);
    scratch_write(scratch_path(&the_broker.place, "good", good), "workersecret\n", 13);
    scratch_write(scratch_path(&the_broker.place, "wrong", wrong), "wrongsecret\n", 12);
    chmod(good, 0600);
    chmod(wrong, 0600);
    snprintf(url, sizeof url, "redis://worker@127.0.0.1:%d/work", the_broker.port);
    ck_assert_int_eq(join_with(url, good, &error), ICESTREAM_OK);
    ck_assert_int_eq(join_with(url, wrong, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "refuses the user worker"));
    ck_assert_ptr_null(strstr(error.text, "wrongsecret"));
    ck_assert_int_eq(join_with(the_broker.url, NULL, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "NOAUTH"));
    setenv("ICESTREAM_QUEUE_PASSWORD", "workersecret", 1);
    ck_assert_int_eq(join_with(url, NULL, &error), ICESTREAM_OK);
    setenv("ICESTREAM_QUEUE_PASSWORD", "workersecret\r\n", 1); /* as of a file */
    ck_assert_int_eq(join_with(url, NULL, &error), ICESTREAM_OK);
    setenv("ICESTREAM_QUEUE_PASSWORD", "worker\nsecret\n", 1);
    ck_assert_int_eq(join_with(url, NULL, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "after 6 characters, expected one line"));
    ck_assert_ptr_null(strstr(error.text, "worker\n"));
    unsetenv("ICESTREAM_QUEUE_PASSWORD");
    snprintf(url, sizeof url, "redis://worker@127.0.0.1:%d/others", the_broker.port);
    ck_assert_int_eq(join_with(url, good, &error), ICESTREAM_E_CONFIG); /* not its stream */
    ck_assert_ptr_nonnull(strstr(error.text, "NOPERM"));
    broker_end();
}
END_TEST

START_TEST(test_addresses)
{
    static const struct {
        const char *url, *says; /* NULL: it is good */
    } cases[] = {
        {"redis://localhost/a", NULL},
        {"redis://127.0.0.1:7000/a.b:{c}", NULL},
        {"redis://[::1]:7000/a", NULL},
        {"rediss://broker.example.org/a", NULL},
        {"redis://localhost/", "with a stream"},
        {"redis://localhost/a/b", "with a stream"},
        {"redis://localhost/a b", "expected redis://"},
        {"redis://localhost:0/a", "a port above 0"},
        {"redis://localhost:70000/a", "a port above 0"},
        {"redis://[::1/a", "the name or the number of a machine"},
        {"redis:///a", "the name or the number of a machine"},
        {"http://localhost/a", "expected redis://"},
        {"redis://:topsecret@localhost/a", "found a password in the address"},
        {"redis://127.evil.example.org/a", "which is another machine"},
    };
    unsetenv("ICESTREAM_QUEUE_PASSWORD");
    for (size_t i = 0; i < COUNT(cases); ++i) {
        icestream_error error = {.status = ICESTREAM_OK};
        const ics_queue_login login = broker_login(cases[i].url);
        const int status = ics_queue_check(&login, &error);
        ck_assert_int_eq(status, cases[i].says == NULL ? ICESTREAM_OK : ICESTREAM_E_CONFIG);
        ck_assert_msg(cases[i].says == NULL || strstr(error.text, cases[i].says) != NULL, "%s: %s",
                      cases[i].url, error.text);
        ck_assert_ptr_null(strstr(error.text, "topsecret"));
    }
}
END_TEST

/* ---- brokers that speak nonsense ------------------------------------------------------------- */

static int fake_listener;
static const char *fake_answer;

/* Gives every client the same answer, and closes the connection. */
static void *fake_broker(void *nothing)
{
    (void)nothing;
    for (;;) {
        char request[4096];
        const int client = accept(fake_listener, NULL, NULL);
        if (client < 0) {
            return NULL;
        }
        if (recv(client, request, sizeof request, 0) > 0) {
            (void)!send(client, fake_answer, strlen(fake_answer), MSG_NOSIGNAL);
        }
        close(client);
    }
}

START_TEST(test_nonsense)
{
    static const char *const answers[] = {"",
                                          "hello\r\n",
                                          "$100\r\ncut",
                                          "*1000000\r\n",
                                          ":12",
                                          "$-7\r\n",
                                          "*3\r\n+a\r\n:b\r\n",
                                          "-ERR no such thing\r\n",
                                          "-OOM no memory\r\n",
                                          "\0"};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    pthread_t thread;
    char url[64];
    icestream_error error;
    fake_listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fake_listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(fake_listener, 8), 0);
    ck_assert_int_eq(getsockname(fake_listener, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d/work", ntohs(address.sin_port));
    the_broker = (broker){.place = scratch_create()};
    fake_answer = answers[0];
    pthread_create(&thread, NULL, fake_broker, NULL);
    for (size_t i = 0; i < COUNT(answers); ++i) {
        fake_answer = answers[i];
        const int status = join_with(url, NULL, &error);
        ck_assert_int_ne(status, ICESTREAM_OK);
        ck_assert_ptr_nonnull(strstr(error.text, url));
    }
    shutdown(fake_listener, SHUT_RDWR);
    close(fake_listener);
    pthread_join(thread, NULL);
    scratch_remove(&the_broker.place);
}
END_TEST

/* ---- TLS ------------------------------------------------------------------------------------- */

START_TEST(test_tls)
{
    char command[8 * SCRATCH_PATH], key[SCRATCH_PATH], cert[SCRATCH_PATH], port[16], url[64];
    scratch keys = scratch_create();
    snprintf(port, sizeof port, "%d", broker_free_port());
    scratch_path(&keys, "key", key);
    scratch_path(&keys, "cert", cert);
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
             "-subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout %s "
             "-out %s 2> /dev/null && redis-server --version | grep -q v=",
             key, cert);
    const char *const more[] = {"--tls-port",
                                port,
                                "--bind",
                                "127.0.0.1 127.0.0.2",
                                "--tls-cert-file",
                                cert,
                                "--tls-key-file",
                                key,
                                "--tls-ca-cert-file",
                                cert,
                                "--tls-auth-clients",
                                "no",
                                NULL};
    if (system(command) != 0) {
        test_skip("there is no openssl or no redis-server");
        scratch_remove(&keys);
        return;
    }
    ck_assert(broker_begin_with(more));
    icestream_error error = {.status = ICESTREAM_OK};
    ics_queue_claims_options options = broker_options("one", 4); /* calls wait 1 s */
    ics_claims claims;
    snprintf(url, sizeof url, "rediss://127.0.0.1:%s/work", port);
    options.login.url = url;
    ck_assert_int_eq(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "TLS: self")); /* nobody signed this certificate */
    options.login.ca = key;
    ck_assert_int_eq(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot read the certificates"));
    options.login.ca = cert;
    ck_assert_int_eq(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_OK);
    broker_put("a.npy", "steps", NULL);
    ics_claim claim = broker_claim(&claims, "a.npy");
    ck_assert(broker_done(&claims, &claim, ""));
    ics_claims_destroy(&claims);
    /* The port without TLS, an address that is not in the certificate, and a name that is. */
    snprintf(url, sizeof url, "rediss://127.0.0.1:%d/work", the_broker.port);
    ck_assert_int_ne(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_OK);
    snprintf(url, sizeof url, "rediss://127.0.0.2:%s/work", port);
    ck_assert_int_eq(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "mismatch"));
    struct addrinfo *found = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &found) == 0) {
        freeaddrinfo(found);
        snprintf(url, sizeof url, "rediss://localhost:%s/work", port);
        ck_assert_int_eq(ics_queue_claims_create(&options, &claims, &error), ICESTREAM_OK);
        ics_claims_destroy(&claims);
    } else {
        test_skip("this machine does not know the name localhost");
    }
    broker_end();
    scratch_remove(&keys);
}
END_TEST

ICS_TEST_MAIN("queue hostile")
{
    const TTest *const with_broker[] = {test_malformed_tickets, test_monstrous_tickets,
                                        test_same_names_wait,   test_files_outside,
                                        test_tickets_of_others, test_files_to_fetch,
                                        test_one_wrong_worker,  test_shared_file_is_missing,
                                        test_tickets_of_nobody, test_forged_lines,
                                        test_mute_broker,       test_rights};
    broker_add_tests(suite, with_broker, COUNT(with_broker));
    TCase *tests = tcase_create("queue hostile");
    tcase_add_test(tests, test_passwords);
    tcase_add_test(tests, test_addresses);
    tcase_add_test(tests, test_nonsense);
    tcase_add_test(tests, test_tls);
    suite_add_tcase(suite, tests);
}
