/* Promise: a client that asks for hits gets those of the messages that it sent, byte for byte as
 * the file has them, and no other client is disturbed by one that does not read. The test plays the
 * run: it writes a "hit file" for each message, whose bytes depend on the message. How to join:
 * write what a client sends and expects as a function, and start it with world_start(). */
#include "pipeline/photons/files/format/digest.h"
#include "tests/support/listener_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    CLIENTS = 8,
    GREEDY = 100,   /* from this number on, a client has only large hit files */
    EACH = 6,       /* messages of a client */
    LARGE = 3 << 20 /* bytes of a hit file: more than a turn, and more than the system buffers */
};

static const char ask[] = "HITS\n";
static sem_t may_read;

/* The hits of message `number` of a client, and their size: none, some, or many. */
static unsigned char *hits_of(uint64_t client, uint64_t number, size_t *size)
{
    uint64_t random = 1 + 1000 * client + number;
    *size = client >= GREEDY || number % 3 == 2 ? LARGE + 11 * client
            : number % 3 == 1                   ? 100 + 7 * client
                                                : 0;
    unsigned char *bytes = malloc(*size + 1);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < *size; ++i) {
        bytes[i] = (unsigned char)test_word(&random);
    }
    return bytes;
}

/* ---- the run ------------------------------------------------------------------------------- */

/* Number of the client in the test, which is the event of its steps. */
static uint64_t client_of(const listener_world *world, unsigned index)
{
    size_t size;
    unsigned char *file = scratch_read(world->messages[index].path, &size);
    const uint64_t event = ((const icestream_step *)(void *)(file + size) - 1)->event_id;
    free(file);
    return event;
}

/* Writes the hit file of a message, and offers it. */
static void finish(listener_world *world, unsigned index)
{
    const ics_listener_message *about = &world->messages[index].about;
    const uint64_t sender = client_of(world, index);
    char name[64], path[SCRATCH_PATH];
    size_t size;
    unsigned char *bytes = hits_of(sender, about->number, &size);
    snprintf(name, sizeof name, "%u.hits.npy", index);
    scratch_write(scratch_path(&world->place, name, path), bytes, size);
    json_t *answer = json_pack("{s:I, s:s, s:s}", "message", (json_int_t)about->number, "state",
                               "done", "output", path);
    ics_listener_finish(world->listener, about->client, answer, path);
    json_decref(answer);
    free(bytes);
}

/* ---- clients ------------------------------------------------------------------------------- */

static void send_messages(const world_client *client, uint64_t number, unsigned count)
{
    for (unsigned i = 0; i < count; ++i) {
        size_t size;
        unsigned char *bytes = world_message(number, 1 + 3 * i, &size);
        client_send(client, bytes, size);
        free(bytes);
    }
}

/* The next line that is no `received`. */
static json_t *next_answer(const world_client *client)
{
    char line[WORLD_TEXT];
    do {
        ck_assert_msg(client_line(client, line), "no line, expected an answer");
    } while (strstr(line, "\"received\"") != NULL);
    json_t *answer = json_loads(line, 0, NULL);
    ck_assert_msg(answer != NULL, "found %s, expected JSON", line);
    return answer;
}

static uint64_t number_in(const json_t *answer, const char *name)
{
    const json_t *value = json_object_get(answer, name);
    ck_assert_msg(json_is_integer(value), "an answer without %s", name);
    return (uint64_t)json_integer_value(value);
}

/* Reads an answer `done` and the hits behind it. Returns the number of its message. */
static uint64_t expect_hits(const world_client *client, uint64_t number)
{
    json_t *answer = next_answer(client);
    char digest[ICS_DIGEST_TEXT];
    size_t size, got = 0;
    ck_assert_str_eq(json_string_value(json_object_get(answer, "state")), "done");
    const uint64_t message = number_in(answer, "message");
    unsigned char *expected = hits_of(number, message, &size);
    unsigned char *found = malloc(size + 1);
    ck_assert_uint_eq(number_in(answer, "bytes"), size);
    while (got < size) {
        const ssize_t count = recv(client->descriptor, found + got, size - got, 0);
        ck_assert_int_gt(count, 0);
        got += (size_t)count;
    }
    ck_assert_msg(memcmp(found, expected, size) == 0, "client %d, message %d: other bytes",
                  (int)number, (int)message);
    ck_assert_int_eq(ics_digest_of(found, size, digest, NULL), ICESTREAM_OK);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "sha256")), digest);
    free(found);
    free(expected);
    json_decref(answer);
    return message;
}

static void take_hits(world_client *client)
{
    const uint64_t *number = client->user;
    bool seen[EACH] = {false};
    client_send(client, ask, sizeof ask - 1);
    send_messages(client, *number, EACH);
    client_finish(client);
    for (unsigned i = 0; i < EACH; ++i) {
        const uint64_t message = expect_hits(client, *number);
        ck_assert_uint_lt(message, EACH);
        ck_assert(!seen[message]);
        seen[message] = true;
    }
    client_expect_end(client);
}

/* Does not ask for hits. */
static void take_lines(world_client *client)
{
    const uint64_t *number = client->user;
    send_messages(client, *number, EACH);
    client_finish(client);
    for (unsigned i = 0; i < EACH; ++i) {
        json_t *answer = next_answer(client);
        ck_assert_str_eq(json_string_value(json_object_get(answer, "state")), "done");
        ck_assert_ptr_null(json_object_get(answer, "bytes"));
        json_decref(answer);
    }
    client_expect_end(client);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* Messages are finished from the last one that arrived to the first one, some at a time. */
START_TEST(test_hits_come_to_their_clients)
{
    listener_world *world = world_open();
    world_client clients[CLIENTS];
    uint64_t numbers[CLIENTS];
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    for (uint64_t i = 0; i < CLIENTS; ++i) {
        numbers[i] = i;
        world_start(world, &clients[i], i % 4 == 3 ? take_lines : take_hits, &numbers[i]);
    }
    for (unsigned finished = 0; finished < CLIENTS * EACH;) {
        world_wait_messages(world, finished + 1);
        const unsigned until = world->message_count;
        for (unsigned i = until; i > finished; --i) {
            finish(world, i - 1);
        }
        finished = until;
    }
    world_join(world, clients, CLIENTS);
    world_wait_clients(world, 0);
    ck_assert_uint_eq(world->message_count, CLIENTS * EACH);
    ck_assert_uint_eq(ics_listener_counted(world->listener).refused, 0);
    world_close(world);
}
END_TEST

/* Asks and sends, and reads nothing until the listener closes the connection. */
static void read_nothing(world_client *client)
{
    const uint64_t *number = client->user;
    struct pollfd end = {.fd = client->descriptor};
    client_send(client, ask, sizeof ask - 1);
    send_messages(client, *number, 3); /* the third one has large hits */
    ck_assert_int_eq(poll(&end, 1, 30000), 1);
}

/* A client that takes nothing of its hits is disconnected, and meanwhile others get theirs. */
START_TEST(test_client_that_does_not_read)
{
    listener_world *world = world_open();
    world_client deaf, good;
    uint64_t numbers[] = {1, 2};
    world->options.idle_seconds = 1;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &deaf, read_nothing, &numbers[0]);
    world_wait_messages(world, 3);
    for (unsigned i = 0; i < 3; ++i) {
        finish(world, i);
    }
    world_start(world, &good, take_hits, &numbers[1]);
    for (unsigned i = 3; i < 3 + EACH; ++i) {
        world_wait_messages(world, i + 1);
        finish(world, i);
    }
    world_join(world, &good, 1);
    const world_report *left =
        world_wait_report(world, ICS_LISTENER_LEFT, "does not read its hits");
    ck_assert_uint_eq(left->client, 1);
    world_wait_clients(world, 0);
    world_join(world, &deaf, 1);
    world_close(world);
}
END_TEST

/* Sends all messages, and reads when the test says so. */
static void read_late(world_client *client)
{
    const uint64_t *number = client->user;
    client_send(client, ask, sizeof ask - 1);
    send_messages(client, *number, EACH);
    client_finish(client);
    sem_wait(&may_read);
    for (unsigned i = 0; i < EACH; ++i) {
        expect_hits(client, *number);
    }
    client_expect_end(client);
}

/* Hits that are not read hold back the messages of their client, and of nobody else. */
START_TEST(test_unread_hits_hold_back_messages)
{
    listener_world *world = world_open();
    world_client late, good;
    uint64_t numbers[] = {GREEDY, 2};
    unsigned finished = 0;
    world->options.credits = 2;
    sem_init(&may_read, 0, 0);
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &late, read_late, &numbers[0]);
    /* The hits of neither message fit into the buffers of the system. */
    for (; finished < 2; ++finished) {
        world_wait_messages(world, finished + 1);
        finish(world, finished);
    }
    world_start(world, &good, take_hits, &numbers[1]);
    for (; finished < 2 + EACH; ++finished) {
        world_wait_messages(world, finished + 1);
        ck_assert_uint_eq(world->messages[finished].about.client, 2);
        finish(world, finished);
    }
    world_join(world, &good, 1);
    ck_assert_uint_eq(world->message_count, 2 + EACH);
    sem_post(&may_read);
    for (; finished < 2 * EACH; ++finished) {
        world_wait_messages(world, finished + 1);
        ck_assert_uint_eq(world->messages[finished].about.client, 1);
        finish(world, finished);
    }
    world_join(world, &late, 1);
    sem_destroy(&may_read);
    world_close(world);
}
END_TEST

/* A hit file that has gone: the client may send the steps again. Then the next message. */
static void lose_hits(world_client *client)
{
    const uint64_t *number = client->user;
    client_send(client, ask, sizeof ask - 1);
    send_messages(client, *number, 2);
    client_finish(client);
    json_t *answer = next_answer(client);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "state")), "refused");
    ck_assert_uint_eq(number_in(answer, "message"), 0);
    ck_assert(json_is_true(json_object_get(answer, "again")));
    ck_assert_ptr_nonnull(
        strstr(json_string_value(json_object_get(answer, "reason")), "cannot send its hits"));
    json_decref(answer);
    ck_assert_uint_eq(expect_hits(client, *number), 1);
    client_expect_end(client);
}

START_TEST(test_hit_file_that_has_gone)
{
    listener_world *world = world_open();
    world_client client;
    uint64_t number = 5;
    char path[SCRATCH_PATH];
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, lose_hits, &number);
    world_wait_messages(world, 1);
    json_t *answer = json_pack("{s:i, s:s}", "message", 0, "state", "done");
    ics_listener_finish(world->listener, 1, answer, scratch_path(&world->place, "gone", path));
    json_decref(answer);
    world_wait_messages(world, 2);
    finish(world, 1);
    world_join(world, &client, 1);
    world_close(world);
}
END_TEST

static void ask_wrongly(world_client *client)
{
    client_send(client, "HELLO\n", 6);
    client_expect(client, "\"state\":\"refused\"", "expected the line HITS or a .npy message");
    client_expect_end(client);
}

START_TEST(test_a_line_that_is_refused)
{
    listener_world *world = world_open();
    world_client client;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, ask_wrongly, NULL);
    world_join(world, &client, 1);
    ck_assert_uint_eq(ics_listener_counted(world->listener).refused, 1);
    ck_assert_uint_eq(world->message_count, 0);
    world_close(world);
}
END_TEST

/* The listener is closed while hits are sent: nothing is left (the sanitizers would say so). */
START_TEST(test_close_while_hits_are_sent)
{
    listener_world *world = world_open();
    world_client client;
    uint64_t number = 1;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, read_nothing, &number);
    for (unsigned i = 0; i < 3; ++i) {
        world_wait_messages(world, i + 1);
        finish(world, i);
    }
    ics_listener_close(world->listener);
    world->listener = NULL;
    world_join(world, &client, 1);
    world_close(world);
}
END_TEST

ICS_TEST_MAIN("listener_hits")
{
    TCase *tests = tcase_create("listener_hits");
    tcase_add_test(tests, test_hits_come_to_their_clients);
    tcase_add_test(tests, test_client_that_does_not_read);
    tcase_add_test(tests, test_unread_hits_hold_back_messages);
    tcase_add_test(tests, test_hit_file_that_has_gone);
    tcase_add_test(tests, test_a_line_that_is_refused);
    tcase_add_test(tests, test_close_while_hits_are_sent);
    suite_add_tcase(suite, tests);
}
