/* Promises of access to the listener: which addresses and tokens are accepted, what happens to
 * sockets and files that killed processes left, and that the client in docs/sources.md works. How
 * to join: add an address to test_addresses, or a client as in test_listener.c. */
#include "pipeline/photons/files/access_token.h"
#include "pipeline/production/source/incoming_file.h"
#include "tests/support/listener_world.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- addresses ------------------------------------------------------------------------------ */

static void expect_refused(const char *address, const char *token, const char *text)
{
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_listener_check(address, token, &error) == ICESTREAM_E_CONFIG, "%s: accepted",
                  address);
    ck_assert_int_eq(error.status, ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, text) != NULL, "%s: found '%s', expected '%s'", address,
                  error.text, text);
}

static const char good_token[] = "0123456789abcdef-this-is-one\n";

static char *write_token(listener_world *world, const char *text, mode_t mode)
{
    static char path[SCRATCH_PATH];
    scratch_path(&world->place, "token", path);
    scratch_write(path, text, strlen(text));
    ck_assert_int_eq(chmod(path, mode), 0);
    return path;
}

START_TEST(test_addresses)
{
    static const char *const good[] = {"unix:/run/icestream/socket",
                                       "unix:relative",
                                       "127.0.0.1:4711",
                                       "127.1.2.3:0",
                                       "localhost:65535",
                                       "[::1]:4711"};
    static const char *const beyond[] = {"0.0.0.0:4711", "192.168.1.1:4711",
                                         "[::]:4711",    "[fe80::1]:4711",
                                         "128.0.0.1:1",  "[::ffff:10.0.0.1]:1"};
    static const char *const wrong[] = {"",
                                        "4711",
                                        ":4711",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "::1:4711",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:-1",
                                        "127.0.0.1: 1",
                                        "[127.0.0.1]:x"};
    listener_world *world = world_open();
    const char *token = write_token(world, good_token, 0600);
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        icestream_error error = {.text = ""};
        ck_assert_msg(ics_listener_check(good[i], NULL, &error) == ICESTREAM_OK, "%s", error.text);
        ck_assert_int_eq(ics_listener_check(good[i], token, &error), ICESTREAM_OK);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; ++i) {
        icestream_error error = {.text = ""};
        expect_refused(beyond[i], NULL, "which other machines can reach");
        ck_assert_msg(ics_listener_check(beyond[i], token, &error) == ICESTREAM_OK, "%s",
                      error.text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        expect_refused(wrong[i], NULL, "expected unix:PATH or HOST:PORT");
    }
    expect_refused("example.org:80", NULL, "names and addresses beyond this machine need");
    expect_refused("[localhost]:80", NULL, "found host localhost");
    expect_refused("[]:1", NULL, "found host []");
    expect_refused("unix:", NULL, "a path of 0 bytes");
    char longest[200] = "unix:";
    memset(longest + 5, 'x', 108);
    expect_refused(longest, NULL, "a path of 108 bytes, expected 1 to 107");
    world_close(world);
}
END_TEST

/* ---- tokens --------------------------------------------------------------------------------- */

START_TEST(test_token_files)
{
    listener_world *world = world_open();
    static const mode_t open_modes[] = {0644, 0604, 0601, 0610, 0700, 0660};
    static const char any[] = "127.0.0.1:0";
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; ++i) {
        expect_refused(any, write_token(world, good_token, open_modes[i]),
                       "expected 0600 or stricter (chmod 600");
    }
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_listener_check(any, write_token(world, good_token, 0400), &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(chmod(write_token(world, "", 0600), 0600), 0);
    expect_refused(any, write_token(world, "", 0600), "found no token in the first line");
    expect_refused(any, write_token(world, "0123456789abcde\n", 0600), "found no token");
    expect_refused(any, write_token(world, "\n0123456789abcdef\n", 0600), "found no token");
    expect_refused(any, write_token(world, "0123456789abcdef 1\n", 0600), "without blanks");
    char text[1200] = "";
    memset(text, 'x', 1025);
    expect_refused(any, write_token(world, text, 0600), "16 to 1024 printable characters");
    text[1024] = 0;
    ck_assert_int_eq(ics_listener_check(any, write_token(world, text, 0600), &error), ICESTREAM_OK);
    expect_refused(any, world->spool, "expected a regular file");
    expect_refused(any, "/nowhere/token", "source.token: /nowhere/token: No such file");
    if (geteuid() == 0) {
        const char *path = write_token(world, good_token, 0600);
        ck_assert_int_eq(chown(path, 65534, (gid_t)-1), 0);
        expect_refused(any, path, "belongs to another user");
    }
    world_close(world);
}
END_TEST

START_TEST(test_token_matches)
{
    listener_world *world = world_open();
    ics_access_token token;
    const char *path = write_token(world, "0123456789abcdef\r\nsecond line\n", 0600);
    ck_assert_int_eq(ics_access_token_read("source.token", path, &token, NULL), ICESTREAM_OK);
    ck_assert(ics_access_token_matches(&token, "0123456789abcdef", 16));
    ck_assert(!ics_access_token_matches(&token, "0123456789abcdef", 15));
    ck_assert(!ics_access_token_matches(&token, "0123456789abcdef\r", 17));
    ck_assert(!ics_access_token_matches(&token, "0123456789abcdeF", 16));
    ck_assert(!ics_access_token_matches(&token, "", 0));
    world_close(world);
}
END_TEST

/* Sends the text `user`, one byte at a time so that lines come in pieces, and then a message. */
static void send_token_and_message(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 2, &size);
    for (const char *next = client->user; *next != 0; ++next) {
        client_send(client, next, 1);
    }
    client_send(client, bytes, size);
    client_expect(client, "{\"message\":0,\"state\":\"received\"", "");
    client_finish(client);
    client_expect_end(client);
    free(bytes);
}

static void send_wrong_token(world_client *client)
{
    client_send(client, client->user, strlen(client->user));
    client_expect(client, "{\"state\":\"refused\"", "wrong token");
    client_expect_end(client);
}

static void send_no_token(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 20, &size);
    client_send(client, bytes, size);
    client_expect(client, "{\"state\":\"refused\"", "wrong token, expected TOKEN and the token");
    client_expect_end(client);
    free(bytes);
}

static void send_nothing(world_client *client)
{
    client_expect(client, "{\"state\":\"refused\"", "expected a line with the token");
    client_expect_end(client);
}

static void send_one(world_client *client)
{
    client_send(client, "T", 1);
    client_finish(client);
    client_expect_end(client);
}

START_TEST(test_clients_with_tokens)
{
    static char right[] = "TOKEN 0123456789abcdef-this-is-one\n";
    static char windows[] = "TOKEN 0123456789abcdef-this-is-one\r\n";
    static char wrong[][64] = {"TOKEN 0123456789abcdef-this-is-on\n",
                               "TOKEN 0123456789abcdef-this-is-one1\n",
                               "token 0123456789abcdef-this-is-one\n",
                               "0123456789abcdef-this-is-one\n",
                               "TOKEN \n",
                               "\n"};
    enum { WRONG = sizeof wrong / sizeof *wrong };
    static const char *const addresses[] = {NULL, "127.0.0.1:0", "localhost:0", "[::1]:0"};
    for (size_t kind = 0; kind < sizeof addresses / sizeof *addresses; ++kind) {
        listener_world *world = world_open();
        world_client bad[WRONG + 3], good[2];
        icestream_error error = {.text = ""};
        world->options.address = addresses[kind] != NULL ? addresses[kind] : world->socket;
        world->options.token_file = write_token(world, good_token, 0600);
        world->options.clients = 2; /* clients without the token do not count */
        world->options.idle_seconds = 1;
        world->releases = true;
        int status = world_listen(world, &error);
        if (kind == 3 && status == ICESTREAM_E_FAILED) {
            test_skip("no IPv6: %s", error.text);
            world_close(world);
            continue;
        }
        ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
        for (int i = 0; i < WRONG; ++i) {
            world_start(world, &bad[i], send_wrong_token, wrong[i]);
        }
        world_start(world, &bad[WRONG], send_no_token, NULL);
        world_start(world, &bad[WRONG + 1], send_nothing, NULL);
        world_start(world, &bad[WRONG + 2], send_one, NULL);
        world_start(world, &good[0], send_token_and_message, right);
        world_start(world, &good[1], send_token_and_message, windows);
        world_join(world, good, 2);
        world_join(world, bad, WRONG + 3);
        ck_assert_uint_eq(world->message_count, 2);
        ck_assert_uint_eq(ics_listener_counted(world->listener).joined, 2);
        ck_assert_uint_eq(ics_listener_counted(world->listener).refused, WRONG + 2);
        world_wait_report(world, ICS_LISTENER_REFUSED, "wrong token");
        world_close(world);
    }
}
END_TEST

/* Connections that send no token do not keep other clients out, however many they are. */
START_TEST(test_many_clients_without_a_token)
{
    enum { CONNECTIONS = 200 };
    static char right[] = "TOKEN 0123456789abcdef-this-is-one\n";
    listener_world *world = world_open();
    int connections[CONNECTIONS];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    world->options.token_file = write_token(world, good_token, 0600);
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", world->socket + 5);
    for (int i = 0; i < CONNECTIONS; ++i) {
        connections[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ck_assert_int_eq(connect(connections[i], (struct sockaddr *)&address, sizeof address), 0);
        uv_run(&world->loop, UV_RUN_NOWAIT);
    }
    world_client client;
    world_start(world, &client, send_token_and_message, right);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 1);
    for (int i = 0; i < CONNECTIONS; ++i) {
        close(connections[i]);
    }
    world_close(world);
}
END_TEST

/* ---- sockets that exist already ---------------------------------------------------------------
 */

START_TEST(test_sockets_of_other_processes)
{
    listener_world *world = world_open();
    const char *path = world->socket + 5;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    icestream_error error = {.text = ""};
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);

    /* The socket of a dead process: bound and closed; its file stays. */
    int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(dead, (struct sockaddr *)&address, sizeof address), 0);
    close(dead);
    ck_assert(scratch_exists(&world->place, "s"));
    ck_assert_msg(world_listen(world, &error) == ICESTREAM_OK, "%s", error.text);

    /* The socket of a living process: the listener itself, which is not disturbed. */
    ics_listener *first = world->listener;
    ck_assert_int_eq(world_listen(world, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "another process listens there"));
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ck_assert(scratch_exists(&world->place, "s"));

    /* If another file has the name of the socket now, it is not removed at the end. */
    ck_assert_int_eq(unlink(path), 0);
    scratch_write(path, "x", 1);
    ics_listener_close(first);
    ck_assert(scratch_exists(&world->place, "s"));

    world->listener = NULL;
    ck_assert_int_eq(world_listen(world, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "found something that is no socket"));
    ck_assert(scratch_exists(&world->place, "s"));
    ck_assert_int_eq(unlink(path), 0);
    world->options.address = "unix:/nowhere/s";
    ck_assert_int_eq(world_listen(world, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(
        strstr(error.text, "unix:/nowhere/s: cannot lock its name with the ending .lock: No such"));
    world_close(world);
}
END_TEST

START_TEST(test_port_in_use)
{
    listener_world *world = world_open();
    icestream_error error = {.text = ""};
    char address[64];
    world->options.address = "127.0.0.1:0";
    ck_assert_int_eq(world_listen(world, &error), ICESTREAM_OK);
    ics_listener *first = world->listener;
    snprintf(address, sizeof address, "%s", ics_listener_address(first));
    ck_assert_str_ne(address, "127.0.0.1:0");
    world->options.address = address;
    ck_assert_int_eq(world_listen(world, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "cannot bind: Address already in use"));
    world->listener = first;
    world_close(world);
}
END_TEST

/* ---- what a killed process left ------------------------------------------------------------- */

static void killed_in_the_middle(const listener_world *world)
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        ics_incoming_file *file = NULL;
        int failure = ics_incoming_file_create(world->spool, "message-old-1", &file, NULL);
        kill(failure == 0 ? getpid() : 0, SIGKILL);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

START_TEST(test_parts_of_the_dead_and_of_the_living)
{
    listener_world *world = world_open();
    char others[SCRATCH_PATH], whole[2 * SCRATCH_PATH];
    ics_incoming_file *file = NULL;
    killed_in_the_middle(world);
    ck_assert_int_eq(ics_incoming_file_create(world->spool, "message-new-1", &file, NULL),
                     ICESTREAM_OK);
    scratch_path(&world->place, "spool/notes.part", others);
    scratch_write(others, "x", 1);
    ck_assert_uint_eq(world_files(world, ".part"), 3);
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(world_files(world, "message-old-1.part"), 0);
    ck_assert_uint_eq(world_files(world, "message-new-1.part"), 1);
    ck_assert_uint_eq(world_files(world, "notes.part"), 1);
    ck_assert_int_eq(ics_incoming_file_write(file, "abc", 3, NULL), ICESTREAM_OK);
    snprintf(whole, sizeof whole, "%s/a.steps.npy", world->spool);
    ck_assert_int_eq(ics_incoming_file_commit(file, whole, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(world_files(world, "message-new-1.part"), 0);
    ck_assert_uint_eq(world_files(world, "a.steps.npy"), 1);
    ck_assert_int_eq(unlink(others), 0);
    world_close(world);
}
END_TEST

/* ---- the client that the documentation shows ------------------------------------------------ */

/* The first Python program in docs/sources.md; the caller frees it. */
static char *documented_client(void)
{
    size_t size;
    char *text = (char *)scratch_read(ICS_SOURCE_DIRECTORY "/docs/sources.md", &size);
    text[size] = 0;
    static const char begin[] = "```python\n";
    char *program = strstr(text, begin);
    ck_assert_msg(program != NULL, "no Python in docs/sources.md");
    char *end = strstr(program + sizeof begin - 1, "```");
    ck_assert_ptr_nonnull(end);
    *end = 0;
    program = strdup(program + sizeof begin - 1);
    free(text);
    return program;
}

typedef struct python_run {
    const char *program, *socket, *steps;
    int status;
} python_run;

static void run_python(world_client *client)
{
    python_run *run = client->user;
    run->status = scratch_python(run->program, run->socket, run->steps);
}

START_TEST(test_documented_client)
{
    if (!scratch_has_numpy()) {
        return;
    }
    listener_world *world = world_open();
    world_client client;
    char path[SCRATCH_PATH];
    char *program = documented_client();
    const icestream_step steps[2] = {step_file_good(1, 1), step_file_good(1, 2)};
    step_file_write(scratch_path(&world->place, "a.steps.npy", path), steps, 2);
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    python_run run = {.program = program, .socket = world->socket + 5, .steps = path};
    world_start(world, &client, run_python, &run);
    world_wait_messages(world, 1);
    json_t *answer = json_pack("{s:i, s:s, s:s, s:i}", "message", 0, "state", "done", "output",
                               "a.hits.npy", "hits", 12);
    ck_assert(ics_listener_answer(world->listener, world->messages[0].about.client, answer));
    json_decref(answer);
    ics_listener_release(world->listener, world->messages[0].about.client);
    world_join(world, &client, 1);
    ck_assert_int_eq(run.status, 0);
    icestream_error error;
    ics_step_summary summary;
    ck_assert_int_eq(step_file_check(world->messages[0].path, &summary, &error), ICESTREAM_OK);
    ck_assert_uint_eq(summary.rows, 2);
    free(program);
    world_close(world);
}
END_TEST

ICS_TEST_MAIN("listener_access")
{
    TCase *tests = tcase_create("listener_access");
    tcase_add_test(tests, test_addresses);
    tcase_add_test(tests, test_token_files);
    tcase_add_test(tests, test_token_matches);
    tcase_add_test(tests, test_clients_with_tokens);
    tcase_add_test(tests, test_many_clients_without_a_token);
    tcase_add_test(tests, test_sockets_of_other_processes);
    tcase_add_test(tests, test_port_in_use);
    tcase_add_test(tests, test_parts_of_the_dead_and_of_the_living);
    tcase_add_test(tests, test_documented_client);
    suite_add_tcase(suite, tests);
}
