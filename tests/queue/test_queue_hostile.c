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
        broker_claim(&one, NULL);
        ck_assert_msg(strstr(the_broker.note, cases[i].says) != NULL, "%zu: %s", i,
                      the_broker.note);
        ck_assert(broker_stream_has("work:dead", cases[i].says));
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
    broker_claim(&one, NULL);
    ck_assert_ptr_nonnull(strstr(the_broker.note, "found a name of 65536 bytes"));
    BROKER_CALL("EVAL",
                "local f = {'name', 'a.npy'} for i = 1, 6000 do f[#f + 1] = 'k' end "
                "return redis.call('XADD', KEYS[1], '*', unpack(f))",
                "1", "work");
    broker_claim(&one, NULL);
    ck_assert_ptr_nonnull(strstr(the_broker.note, "names and values"));
    BROKER_CALL("XADD", "work", "*", "name", "a.npy", "steps", "changed on its way", "sha256",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    broker_claim(&one, NULL);
    ck_assert_ptr_nonnull(strstr(the_broker.note, "found steps with the SHA-256"));
    broker_assert_counts(&one, (broker_counts){.dead = 3});
    ics_claims_destroy(&one);
}
END_TEST

/* Two tickets of one name would have one hit file: the second waits for the end of the first. */
START_TEST(test_same_names_wait)
{
    ics_claims one = broker_worker("one", 60);
    add_ticket("a.npy");
    add_ticket("a.npy");
    ics_claim claim = broker_claim(&one, "a.npy");
    broker_claim(&one, NULL);
    broker_assert_counts(&one, (broker_counts){.waiting = 1, .claimed = 1});
    ck_assert(broker_done(&one, &claim, ""));
    ics_claims two = broker_worker("two", 60);
    claim = broker_claim(&two, "a.npy");
    ck_assert(broker_done(&two, &claim, ""));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* A ticket with file:// may name only what is in source.queue_files. */
START_TEST(test_files_outside)
{
    static const char *const names[] = {"/etc/hostname", "inside/../secret.npy", "inside/link.npy",
                                        "inside/missing.npy"};
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
        ck_assert(strstr(claim.refusal, "expected it in source.queue_files") != NULL ||
                  strstr(claim.refusal, "No such file") != NULL);
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

/* Tickets that this run cannot read, and another one may, stay in the queue. */
START_TEST(test_files_of_others)
{
    static const char *const urls[] = {"file:///data/a.npy", "root://user:secret@host/a.npy",
                                       "http://user:secret@host/a.npy"};
    ics_claims one = broker_worker("one", 60);
    for (size_t i = 0; i < COUNT(urls); ++i) {
        if (i == 2) { /* a program would be called with the secret */
            ics_queue_claims_options options = broker_options("one", 60);
            options.fetches = options.shows_urls = true;
            ics_claims_destroy(&one);
            ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
        }
        BROKER_CALL("XADD", "work", "*", "name", "a.npy", "url", urls[i]);
        ics_claim claim;
        size_t count = 0;
        icestream_error error = {.status = ICESTREAM_OK};
        ck_assert_int_eq(ics_claims_take(&one, 1, &claim, &count, &error), ICESTREAM_E_CONFIG);
        ck_assert_ptr_nonnull(strstr(error.text, i == 0 ? "source.queue_files" : "source.fetch"));
        ck_assert_ptr_null(strstr(error.text, "user:secret"));
        broker_assert_counts(&one, (broker_counts){.waiting = 1});
        BROKER_CALL("DEL", "work");
        ics_claims_destroy(&one);
        one = broker_worker("one", 60);
    }
    ics_claims_destroy(&one);
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
                                        test_files_of_others,   test_files_to_fetch};
    broker_add_tests(suite, with_broker, COUNT(with_broker));
    TCase *tests = tcase_create("queue hostile");
    tcase_add_test(tests, test_passwords);
    tcase_add_test(tests, test_addresses);
    tcase_add_test(tests, test_nonsense);
    tcase_add_test(tests, test_tls);
    suite_add_tcase(suite, tests);
}
