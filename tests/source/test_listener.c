/* Promises of the listener: messages arrive complete and in order or not at all, every client gets
 * an answer for each of its messages, and no client disturbs another client. How to join: write
 * what a client sends and expects as a function, and start it with world_start(). */
#include "tests/support/listener_world.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- messages ----------------------------------------------------------------------------------
 */

START_TEST(test_one_client)
{
    listener_world *world = world_open();
    world_client client;
    struct stat about;
    world->releases = true;
    umask(0);
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    ck_assert_str_eq(ics_listener_address(world->listener), world->socket);
    ck_assert_int_eq(stat(world->socket + 5, &about), 0);
    ck_assert(S_ISSOCK(about.st_mode));
    ck_assert_uint_eq(about.st_mode & 07777, 0600);
    world_start(world, &client, client_talk_three, NULL);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        size_t size;
        icestream_error error;
        ics_step_summary summary;
        unsigned char *bytes = world_message(i, 5 * i, &size);
        world_expect_message(world, i, bytes, size);
        free(bytes);
        ck_assert_uint_eq(world->messages[i].about.number, i);
        ck_assert_uint_eq(world->messages[i].about.client, 1);
        ck_assert_int_eq(step_file_check(world->messages[i].path, &summary, &error), ICESTREAM_OK);
        ck_assert_int_eq(stat(world->messages[i].path, &about), 0);
        ck_assert_uint_eq(about.st_mode & 07777, 0600);
        ck_assert(i == 0 || strcmp(world->messages[i - 1].path, world->messages[i].path) < 0);
    }
    world_wait_report(world, ICS_LISTENER_JOINED, "process ");
    world_wait_report(world, ICS_LISTENER_LEFT, "closed by the client");
    const ics_listener_counts counts = ics_listener_counted(world->listener);
    ck_assert_uint_eq(counts.joined, 1);
    ck_assert_uint_eq(counts.received, 3);
    ck_assert_uint_eq(counts.refused, 0);
    ck_assert_uint_eq(world_files(world, ".steps.npy"), 3);
    ics_listener_close(world->listener);
    world->listener = NULL;
    ck_assert_int_ne(stat(world->socket + 5, &about), 0);
    world_close(world);
}
END_TEST

/* Complete files with their trailers, as `cat` sends them. The second one has damaged rows and is
 * refused before anybody gets it; the one behind it is received. The last one has no trailer, and
 * the end of the client's side shows that. */
static void send_files(world_client *client)
{
    const char *path = client->user;
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    client_send(client, bytes, size);
    client_expect(client, "{\"message\":0,\"state\":\"received\"", "");
    bytes[STEP_FILE_HEADER + 1] ^= 1;
    client_send(client, bytes, STEP_FILE_HEADER + 2 * sizeof(icestream_step));
    client_send(client, bytes + STEP_FILE_HEADER + 2 * sizeof(icestream_step),
                size - STEP_FILE_HEADER - 2 * sizeof(icestream_step));
    client_expect(client, "{\"message\":1,\"state\":\"refused\"", "message 1: rows 0 to ");
    client_send(client, bytes, size);
    client_expect(client, "{\"message\":2,\"state\":\"refused\"", "message 2: rows 0 to ");
    bytes[STEP_FILE_HEADER + 1] ^= 1;
    client_send(client, bytes, size);
    client_expect(client, "{\"message\":3,\"state\":\"received\"", "");
    client_send(client, bytes, STEP_FILE_HEADER + 2 * sizeof(icestream_step));
    client_finish(client);
    client_expect(client, "{\"message\":4,\"state\":\"received\"", "");
    client_expect_end(client);
    free(bytes);
}

/* Sends a message, and the rows of a file whose trailer does not come. The connection breaks,
 * because an answer was not read (unix(7)). */
static void break_before_the_trailer(world_client *client)
{
    size_t size, whole;
    unsigned char *bytes = scratch_read(client->user, &size);
    unsigned char *message = world_message(1, 2, &whole);
    struct pollfd answer = {.fd = client->descriptor, .events = POLLIN};
    client_send(client, message, whole);
    ck_assert_int_eq(poll(&answer, 1, 30000), 1);
    client_send(client, bytes, STEP_FILE_HEADER + 2 * sizeof(icestream_step));
    free(message);
    free(bytes);
}

/* A tail that is no tail does not show where the next message begins. */
static void send_bad_tail(world_client *client)
{
    const char *path = client->user;
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    bytes[size - 1] ^= 1;
    client_send(client, bytes, size);
    client_expect(client, "{\"message\":0,\"state\":\"refused\"", "message 0: trailer");
    client_expect_end(client);
    free(bytes);
}

START_TEST(test_files_with_trailers)
{
    listener_world *world = world_open();
    world_client client;
    char path[SCRATCH_PATH];
    const icestream_step steps[2] = {step_file_good(1, 1), step_file_good(1, 2)};
    world->releases = true;
    step_file_write(scratch_path(&world->place, "a.steps.npy", path), steps, 2);
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, send_files, path);
    world_join(world, &client, 1);
    world_start(world, &client, send_bad_tail, path);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 3);
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    world_expect_message(world, 0, bytes, size);
    world_expect_message(world, 1, bytes, size);
    world_expect_message(world, 2, bytes, STEP_FILE_HEADER + sizeof steps);
    ck_assert_uint_eq(world_files(world, ".steps.npy"), 3); /* none of a refused message */
    free(bytes);
    world_start(world, &client, break_before_the_trailer, path);
    world_join(world, &client, 1);
    world_wait_report(world, ICS_LISTENER_REFUSED,
                      "message 1: the connection broke, expected the trailer");
    ck_assert_uint_eq(world->message_count, 4);
    world_close(world);
}
END_TEST

enum { CLIENTS = 8, EACH = 10 };

/* Sends messages in random pieces. `user`: number of the client in the test. */
static void send_in_pieces(world_client *client)
{
    const unsigned *number = client->user;
    uint64_t random = 7000 + *number;
    for (uint32_t i = 0; i < EACH; ++i) {
        size_t size;
        unsigned char *bytes = world_message(*number, 1 + (*number * 37 + i * 101) % 900, &size);
        for (size_t at = 0; at < size;) {
            size_t piece = 1 + test_word(&random) % (test_word(&random) % 4 ? 20000 : 40);
            piece = piece < size - at ? piece : size - at;
            client_send(client, bytes + at, piece);
            at += piece;
        }
        free(bytes);
    }
    for (uint32_t i = 0; i < EACH; ++i) {
        client_expect(client, "\"state\":\"received\"", "");
    }
    client_finish(client);
    client_expect_end(client);
}

START_TEST(test_many_clients)
{
    listener_world *world = world_open();
    world_client clients[CLIENTS];
    unsigned numbers[CLIENTS];
    uint32_t next[CLIENTS + 1] = {0}; /* message of each client, by its number in the listener */
    world->options.address = "127.0.0.1:0";
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    for (unsigned i = 0; i < CLIENTS; ++i) {
        numbers[i] = i;
        world_start(world, &clients[i], send_in_pieces, &numbers[i]);
    }
    world_join(world, clients, CLIENTS);
    ck_assert_uint_eq(world->message_count, (unsigned)CLIENTS * EACH);
    for (unsigned i = 0; i < world->message_count; ++i) {
        const ics_listener_message *about = &world->messages[i].about;
        size_t size, found;
        unsigned char *file = scratch_read(world->messages[i].path, &found);
        uint64_t event = ((const icestream_step *)(void *)(file + STEP_FILE_HEADER))->event_id;
        ck_assert_uint_eq(about->number, next[about->client]++);
        unsigned char *bytes = world_message(
            event, 1 + ((uint32_t)event * 37 + (uint32_t)about->number * 101) % 900, &size);
        world_expect_message(world, i, bytes, size);
        free(bytes);
        free(file);
    }
    world_wait_clients(world, 0);
    world_close(world);
}
END_TEST

/* ---- bad clients, next to a good one -----------------------------------------------------------
 */

static void send_garbage(world_client *client)
{
    client_send(client, "POST / HTTP/1.1\r\n\r\n", 19);
    client_expect(client, "{\"message\":0,\"state\":\"refused\",\"reason\":", "no .npy magic");
    client_expect_end(client);
}

static void send_too_much(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 20000, &size); /* above 1 MiB */
    client_send(client, bytes, 1024);
    client_expect(client, "\"state\":\"refused\"",
                  "found a message of 1441024 bytes, expected at most 1048576");
    client_expect_end(client);
    free(bytes);
}

static void leave_in_the_middle(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 100, &size);
    client_send(client, bytes, size);
    client_expect(client, "\"state\":\"received\"", "");
    client_send(client, bytes, size - 1);
    free(bytes);
    close(client->descriptor);
    client->descriptor = -1;
}

static void end_in_the_middle(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 100, &size);
    client_send(client, bytes, 1500);
    client_finish(client);
    client_expect(
        client, "{\"message\":0,\"state\":\"refused\"",
        "message 0: byte 1500: found the end of the stream, expected the rest of the rows");
    client_expect_end(client);
    free(bytes);
}

static void stand_still(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 100, &size);
    client_send(client, bytes, 1500);
    client_expect(client, "{\"message\":0,\"state\":\"refused\"", "nothing came for 1000 ms");
    client_expect_end(client);
    free(bytes);
}

/* Bad and good clients in turn: the good clients are not disturbed. */
START_TEST(test_bad_clients_disturb_no_good_client)
{
    static void (*const bad[])(world_client *) = {send_garbage, send_too_much, leave_in_the_middle,
                                                  end_in_the_middle, stand_still};
    enum { BAD = sizeof bad / sizeof *bad };
    listener_world *world = world_open();
    world_client clients[2 * BAD];
    unsigned numbers[BAD];
    world->options.idle_seconds = 1;
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    for (unsigned i = 0; i < BAD; ++i) {
        numbers[i] = i;
        world_start(world, &clients[2 * i], bad[i], NULL);
        world_start(world, &clients[2 * i + 1], send_in_pieces, &numbers[i]);
    }
    world_join(world, clients, 2 * BAD);
    world_wait_clients(world, 0);
    ck_assert_uint_eq(world->message_count, (unsigned)BAD * EACH + 1);
    ck_assert_uint_eq(ics_listener_counted(world->listener).refused, BAD);
    world_wait_report(world, ICS_LISTENER_REFUSED, "no .npy magic");
    world_wait_report(world, ICS_LISTENER_REFUSED, "expected at most 1048576");
    const world_report *gone =
        world_wait_report(world, ICS_LISTENER_REFUSED, "message 1: byte 8223");
    ck_assert_uint_eq(gone->message, 1);
    world_wait_report(world, ICS_LISTENER_LEFT, "message 1: byte 8223");
    world_wait_report(world, ICS_LISTENER_LEFT, "nothing came for 1000 ms");
    while (world_files(world, ".part") > 0) {
        world_turn(world);
    }
    ck_assert_uint_eq(world_files(world, ".steps.npy"), world->message_count);
    world_close(world);
}
END_TEST

START_TEST(test_clients_that_do_not_wait_for_answers)
{
    listener_world *world = world_open();
    world_client clients[10];
    signal(SIGPIPE, SIG_DFL);
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    for (int i = 0; i < 10; ++i) {
        world_start(world, &clients[i], client_talk_and_forget, NULL);
    }
    world_join(world, clients, 10);
    world_wait_messages(world, 30);
    world_wait_clients(world, 0);
    ck_assert_uint_eq(ics_listener_counted(world->listener).refused, 0);
    world_close(world);
}
END_TEST

/* A client that sends random bytes and ends at a random time. `user`: its number in the test. */
static void do_anything(world_client *client)
{
    const unsigned *number = client->user;
    uint64_t random = 99 + *number;
    const struct linger at_once = {.l_onoff = 1};
    for (uint64_t actions = 1 + test_word(&random) % 6; actions > 0; --actions) {
        size_t size;
        unsigned char *bytes = world_message(*number, (uint32_t)(test_word(&random) % 800), &size);
        uint64_t action = test_word(&random) % 8;
        size_t sent = action < 5 ? size : test_word(&random) % size;
        if (action == 7 && sent > 0) {
            bytes[test_word(&random) % sent] ^= (unsigned char)(1 + test_word(&random) % 255);
        }
        /* The listener may have closed the connection before, so sending may fail. */
        (void)send(client->descriptor, bytes, sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        free(bytes);
    }
    switch (test_word(&random) % 4) {
    case 0:
        (void)setsockopt(client->descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        break;
    case 1:
        (void)shutdown(client->descriptor, SHUT_WR);
        break;
    case 2: {
        char answers[100];
        (void)shutdown(client->descriptor, SHUT_WR);
        while (recv(client->descriptor, answers, sizeof answers, 0) > 0) {
        }
        break;
    }
    default:
        break;
    }
    close(client->descriptor);
    client->descriptor = -1;
}

/* Hundreds of such clients. Afterwards delivered messages are complete, no other file is left, and
 * all connections are closed. */
START_TEST(test_clients_that_do_random_things)
{
    enum { AT_A_TIME = 24, ROUNDS = 6 };
    for (unsigned kind = 0; kind < 2; ++kind) {
        listener_world *world = world_open();
        world_client clients[AT_A_TIME];
        unsigned numbers[AT_A_TIME];
        world->options.address = kind == 0 ? world->socket : "127.0.0.1:0";
        world->options.credits = 1;
        world->releases = true;
        ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
        for (unsigned round = 0; round < ROUNDS; ++round) {
            for (unsigned i = 0; i < AT_A_TIME; ++i) {
                numbers[i] = round * AT_A_TIME + i;
                world_start(world, &clients[i], do_anything, &numbers[i]);
            }
            world_join(world, clients, AT_A_TIME);
            world->report_count = 0;
        }
        world_wait_clients(world, 0);
        while (world_files(world, ".part") > 0) {
            world_turn(world);
        }
        ck_assert_uint_gt(world->message_count, ROUNDS);
        ck_assert_uint_eq(world_files(world, ".steps.npy"), world->message_count);
        for (unsigned i = 0; i < world->message_count; ++i) {
            /* One byte may have been changed within the rows or the header, but none is missing. */
            size_t size;
            unsigned char *file = scratch_read(world->messages[i].path, &size);
            ck_assert_uint_eq(size, world->messages[i].about.bytes);
            ck_assert_mem_eq(file, "\x93NUMPY", 6);
            free(file);
        }
        world_close(world);
    }
}
END_TEST

ICS_TEST_MAIN("listener")
{
    TCase *tests = tcase_create("listener");
    tcase_add_test(tests, test_one_client);
    tcase_add_test(tests, test_files_with_trailers);
    tcase_add_test(tests, test_many_clients);
    tcase_add_test(tests, test_bad_clients_disturb_no_good_client);
    tcase_add_test(tests, test_clients_that_do_not_wait_for_answers);
    tcase_add_test(tests, test_clients_that_do_random_things);
    suite_add_tcase(suite, tests);
}
