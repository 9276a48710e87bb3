/* Promises of the listener about its limits: credits, the number of clients, answers that are not
 * read, a full disk, missing descriptors, and the end of the run. How to join: as in
 * test_listener.c. */
#include "tests/support/listener_world.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- limits ------------------------------------------------------------------------------------
 */

static void send_six(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 10, &size);
    for (int i = 0; i < 6; ++i) {
        client_send(client, bytes, size);
    }
    free(bytes);
    for (int i = 0; i < 6; ++i) {
        client_expect(client, "\"state\":\"received\"", "");
    }
    client_finish(client);
    client_expect(client, "\"state\":\"done\"", "\"hits\":77");
    client_expect_end(client);
}

START_TEST(test_credits_stop_only_their_client)
{
    listener_world *world = world_open();
    world_client held, other;
    world->options.credits = 2;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &held, send_six, NULL);
    world_wait_messages(world, 2);
    ck_assert_uint_eq(world->messages[1].about.client, 1);

    /* Another client sends its messages meanwhile. */
    world->releases = true;
    world_start(world, &other, client_talk_three, NULL);
    world_join(world, &other, 1);
    world->releases = false;
    ck_assert_uint_eq(world->message_count, 5);
    for (unsigned i = 2; i < 5; ++i) {
        ck_assert_uint_eq(world->messages[i].about.client, 2);
    }

    /* Every released message lets the client send one more message. */
    for (unsigned released = 0; released < 4; ++released) {
        ics_listener_release(world->listener, 1);
        world_wait_messages(world, 6 + released);
        ck_assert_uint_eq(world->messages[5 + released].about.number, 2 + released);
    }
    ics_listener_release(world->listener, 1);
    json_t *answer = json_pack("{s:i, s:s, s:i}", "message", 5, "state", "done", "hits", 77);
    ck_assert(ics_listener_answer(world->listener, 1, answer));
    ics_listener_release(world->listener, 1);
    world_join(world, &held, 1);
    world_wait_clients(world, 0);
    ck_assert(!ics_listener_answer(world->listener, 1, answer));
    ics_listener_release(world->listener, 1); /* the client has gone: nothing happens */
    json_decref(answer);
    world_close(world);
}
END_TEST

static void just_wait(world_client *client)
{
    client_expect_end(client);
}

static void come_too_late(world_client *client)
{
    client_expect(client, "{\"state\":\"refused\",\"reason\":", "2 clients are connected");
    client_expect_end(client);
}

START_TEST(test_no_more_clients_than_allowed)
{
    listener_world *world = world_open();
    world_client clients[2], late[3];
    world->options.clients = 2;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &clients[0], just_wait, NULL);
    world_start(world, &clients[1], just_wait, NULL);
    world_wait_clients(world, 2);
    for (int i = 0; i < 3; ++i) {
        world_start(world, &late[i], come_too_late, NULL);
    }
    world_join(world, late, 3);
    ck_assert_uint_eq(ics_listener_counted(world->listener).clients, 2);
    ck_assert_uint_eq(ics_listener_counted(world->listener).refused, 3);
    /* However many clients connect, one report a second is made. */
    world_wait_report(world, ICS_LISTENER_REFUSED, "2 clients are connected");
    ck_assert_uint_le(world->report_count, 5);

    ck_assert_int_eq(shutdown(clients[0].descriptor, SHUT_WR), 0);
    world_join(world, &clients[0], 1);
    world_wait_clients(world, 1);
    world->releases = true;
    world_start(world, &late[0], client_talk_three, NULL);
    world_join(world, late, 1);
    ics_listener_close(world->listener);
    world->listener = NULL;
    world_join(world, &clients[1], 1);
    world_close(world);
}
END_TEST

/* Sends a message and waits until it is received, but not for its hits. */
static void send_and_go(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 10, &size);
    client_send(client, bytes, size);
    free(bytes);
    client_expect(client, "\"state\":\"received\"", "");
}

/* A client that has left does not keep its place until its hits are written. */
START_TEST(test_clients_that_leave_free_their_places)
{
    enum { ROUNDS = 5 };
    for (int with_tcp = 0; with_tcp < 2; ++with_tcp) {
        listener_world *world = world_open();
        world_client client;
        world->options.clients = 1;
        world->options.credits = 2;
        if (with_tcp) {
            world->options.address = "127.0.0.1:0";
        }
        ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
        for (unsigned i = 0; i < ROUNDS; ++i) {
            world_start(world, &client, send_and_go, NULL);
            world_wait_messages(world, i + 1);
            world_join(world, &client, 1); /* closes the connection */
            world_wait_clients(world, 0);
        }
        ck_assert_uint_eq(ics_listener_counted(world->listener).refused, 0);
        world_close(world);
    }
}
END_TEST

static void send_bytes_now_and_then(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 10, &size);
    for (size_t i = 0; i < size && send(client->descriptor, bytes + i, 1, MSG_NOSIGNAL) == 1; ++i) {
        usleep(50000);
    }
    free(bytes);
    client_expect(client, "\"state\":\"refused\"", "almost nothing came for 1000 ms");
    client_expect_end(client);
}

static void send_nothing(world_client *client)
{
    client_expect(client, "\"state\":\"refused\"", "nothing came for 300 ms, expected a message");
    client_expect_end(client);
}

START_TEST(test_idle_clients_do_not_stay)
{
    listener_world *world = world_open();
    world_client clients[2];
    world->options.clients = 2;
    world->options.idle_seconds = 1;
    world->options.next_seconds = 0.3;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &clients[0], send_bytes_now_and_then, NULL);
    world_start(world, &clients[1], send_nothing, NULL);
    world_join(world, clients, 2);
    world_wait_clients(world, 0);
    world_close(world);
}
END_TEST

static void read_nothing(world_client *client)
{
    (void)client;
}

/* A client that does not read its answers is dropped when too many answers wait. */
START_TEST(test_unread_answers)
{
    listener_world *world = world_open();
    world_client client;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, read_nothing, NULL);
    world_wait_clients(world, 1);
    char text[2001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    json_t *answer = json_pack("{s:s}", "text", text);
    unsigned queued = 0;
    /* The buffers of the system and of the listener hold fewer answers. */
    while (queued < 100000 && ics_listener_answer(world->listener, 1, answer)) {
        queued++;
    }
    json_decref(answer);
    ck_assert_uint_lt(queued, 100000);
    ck_assert_uint_gt(queued, 30); /* answers of 64 KiB at least */
    world_wait_report(world, ICS_LISTENER_LEFT, "does not read its answers");
    world_join(world, &client, 1);
    world_close(world);
}
END_TEST

/* Waits until the listener has read all that was sent. */
static void wait_until_read(const world_client *client)
{
    int unread = 1;
    while (unread > 0) {
        ck_assert_int_eq(ioctl(client->descriptor, TIOCOUTQ, &unread), 0);
        usleep(unread > 0 ? 20 : 0);
    }
}

/* Each message has begun to be stored when its last piece shows that its rows are wrong. */
static void send_bad_messages_in_pieces(world_client *client)
{
    size_t size;
    unsigned char *bytes = scratch_read(client->user, &size);
    const size_t first = STEP_FILE_HEADER + sizeof(icestream_step);
    bytes[STEP_FILE_HEADER + 1] ^= 1;
    while (send(client->descriptor, bytes, first, MSG_NOSIGNAL) == (ssize_t)first) {
        wait_until_read(client);
        if (send(client->descriptor, bytes + first, size - first, MSG_NOSIGNAL) < 0) {
            break;
        }
    }
    free(bytes);
}

/* A client may be dropped while a message is refused. The next client is served. */
START_TEST(test_unread_refusals)
{
    listener_world *world = world_open();
    world_client client;
    char path[SCRATCH_PATH];
    const icestream_step steps[2] = {step_file_good(1, 1), step_file_good(1, 2)};
    step_file_write(scratch_path(&world->place, "a.steps.npy", path), steps, 2);
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &client, send_bad_messages_in_pieces, path);
    world_join(world, &client, 1);
    world_wait_clients(world, 0);
    ck_assert_uint_gt(ics_listener_counted(world->listener).refused, 100);
    world_start(world, &client, client_talk_three, NULL);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 3);
    world_close(world);
}
END_TEST

/* ---- a disk that is full -----------------------------------------------------------------------
 */

static void send_large_and_small(world_client *client)
{
    size_t small_size, large_size;
    unsigned char *small = world_message(1, 10, &small_size);
    unsigned char *large = world_message(2, 5000, &large_size);
    client_send(client, small, small_size);
    client_expect(client, "{\"message\":0,\"state\":\"received\"", "");
    client_send(client, large, large_size);
    client_expect(client, "{\"message\":1,\"state\":\"refused\"", client->user);
    client_send(client, small, small_size);
    client_expect(client, "{\"message\":2,\"state\":\"received\"", "");
    client_finish(client);
    client_expect_end(client);
    free(small);
    free(large);
}

/* The disk is full in the middle of a message. */
START_TEST(test_no_room_for_a_message)
{
    listener_world *world = world_open();
    world_client client;
    scratch_limit_files(100000);
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    char cause[] = ".part: cannot write: File too large";
    world_start(world, &client, send_large_and_small, cause);
    world_join(world, &client, 1);
    scratch_unlimit_files();
    ck_assert_uint_eq(world->message_count, 2);
    ck_assert_uint_eq(world_files(world, ".part"), 0);
    const world_report *refused = world_wait_report(world, ICS_LISTENER_REFUSED, cause);
    ck_assert_uint_eq(refused->message, 1);
    world_close(world);
}
END_TEST

static void send_to_nowhere(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 5000, &size);
    for (int i = 0; i < 2; ++i) {
        client_send(client, bytes, size);
        client_expect(client, "\"state\":\"refused\"", "cannot create it: No such file");
    }
    client_finish(client);
    client_expect_end(client);
    free(bytes);
}

START_TEST(test_spool_folder_is_removed)
{
    listener_world *world = world_open();
    world_client client;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    ck_assert_int_eq(rmdir(world->spool), 0);
    world_start(world, &client, send_to_nowhere, NULL);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 0);
    world_close(world);
}
END_TEST

/* ---- no descriptors left -----------------------------------------------------------------------
 */

START_TEST(test_no_descriptors_left)
{
    listener_world *world = world_open();
    world_client client;
    struct rlimit before, none;
    world->releases = true;
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    uv_run(&world->loop, UV_RUN_NOWAIT); /* the loop opens its own descriptors */
    world_start(world, &client, client_talk_three, NULL);
    int lowest_free = open("/dev/null", O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(lowest_free, 0);
    close(lowest_free);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = (rlim_t)lowest_free;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    world_wait_report(world, ICS_LISTENER_TROUBLE,
                      "cannot accept another client at the moment: Too many");
    for (int i = 0; i < 3; ++i) {
        world_turn(world); /* the listener tries again once a second, without another report */
    }
    ck_assert_uint_eq(world->report_count, 1);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    world_join(world, &client, 1);
    ck_assert_uint_eq(world->message_count, 3);
    world_close(world);
}
END_TEST

/* ---- stopping ----------------------------------------------------------------------------------
 */

static void wait_for_the_result(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 10, &size);
    client_send(client, bytes, size);
    client_expect(client, "\"state\":\"received\"", "");
    client_expect(client, "\"state\":\"done\"", "");
    client_expect_end(client);
    free(bytes);
}

static void send_half(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 10, &size);
    client_send(client, bytes, 1100);
    client_expect(client, "\"state\":\"refused\"", "icestream is stopping");
    client_expect_end(client);
    free(bytes);
}

START_TEST(test_stop_keeps_clients_that_wait_for_results)
{
    listener_world *world = world_open();
    world_client clients[3];
    ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
    world_start(world, &clients[0], wait_for_the_result, NULL);
    world_wait_messages(world, 1);
    world_start(world, &clients[1], send_half, NULL);
    world_start(world, &clients[2], just_wait, NULL);
    while (world_files(world, ".part") == 0 || ics_listener_counted(world->listener).clients < 3) {
        world_turn(world);
    }
    ics_listener_stop(world->listener);
    ics_listener_stop(world->listener);
    world_join(world, &clients[1], 2);
    world_wait_clients(world, 1);
    json_t *answer = json_pack("{s:s}", "state", "done");
    ck_assert(ics_listener_answer(world->listener, 1, answer));
    json_decref(answer);
    ics_listener_release(world->listener, 1);
    world_join(world, &clients[0], 1);
    world_wait_clients(world, 0);
    world_close(world);
}
END_TEST

/* If the listener is closed at any time during a message, no .part is left (world_close checks). */
START_TEST(test_close_in_the_middle)
{
    for (unsigned turns = 0; turns < 12; ++turns) {
        listener_world *world = world_open();
        world_client client;
        world->releases = true;
        ck_assert_int_eq(world_listen(world, NULL), ICESTREAM_OK);
        world_start(world, &client, client_talk_and_forget, NULL);
        for (unsigned i = 0; i < turns; ++i) {
            uv_run(&world->loop, UV_RUN_NOWAIT);
        }
        pthread_join(client.thread, NULL); /* everything is in the buffers of the system */
        for (unsigned i = 0; i < turns; ++i) {
            uv_run(&world->loop, UV_RUN_NOWAIT);
        }
        world_close(world);
    }
}
END_TEST

ICS_TEST_MAIN("listener_limits")
{
    TCase *tests = tcase_create("listener_limits");
    tcase_add_test(tests, test_clients_that_leave_free_their_places);
    tcase_add_test(tests, test_idle_clients_do_not_stay);
    tcase_add_test(tests, test_credits_stop_only_their_client);
    tcase_add_test(tests, test_no_more_clients_than_allowed);
    tcase_add_test(tests, test_unread_answers);
    tcase_add_test(tests, test_unread_refusals);
    tcase_add_test(tests, test_no_room_for_a_message);
    tcase_add_test(tests, test_spool_folder_is_removed);
    tcase_add_test(tests, test_no_descriptors_left);
    tcase_add_test(tests, test_stop_keeps_clients_that_wait_for_results);
    tcase_add_test(tests, test_close_in_the_middle);
    suite_add_tcase(suite, tests);
}
