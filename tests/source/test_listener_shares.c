/* Promise: clients of unequal appetite get equal shares of photons. The test plays the run: it
 * takes the waiting message whose name comes first, as the claims of a folder do, and serves it.
 * How to join: give the clients another appetite in hunger_of(). */
#include "tests/support/listener_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CLIENTS = 32,
    CREDITS = 4,
    ROWS = 2,          /* of the smallest message */
    SIZES = 8,         /* of messages: 1 to 8 times the smallest one */
    SERVED = 850,      /* messages; all that arrive fit into WORLD_MESSAGES */
    STEP_PHOTONS = 200 /* step_file_good() */
};

/* What a client wants: the size of its messages, and whether it waits for the answer to a message
 * before it sends the next one. */
typedef struct hunger {
    uint32_t number, rows;
    bool waits;
} hunger;

static hunger hunger_of(uint32_t number)
{
    return (hunger){
        .number = number, .rows = ROWS * (1 + number % SIZES), .waits = number / SIZES % 2 == 1};
}

/* Sends messages until the listener closes the connection. */
static void send_without_end(world_client *client)
{
    const hunger *wants = client->user;
    size_t size;
    unsigned char *bytes = world_message(wants->number, wants->rows, &size);
    char line[WORLD_TEXT] = "";
    bool goes_on = true;
    while (goes_on) {
        for (size_t sent = 0; goes_on && sent < size;) {
            const ssize_t count = send(client->descriptor, bytes + sent, size - sent, MSG_NOSIGNAL);
            goes_on = count > 0;
            sent += goes_on ? (size_t)count : 0;
        }
        line[0] = '\0';
        while (goes_on && wants->waits && strstr(line, "\"done\"") == NULL) {
            goes_on = recv(client->descriptor, line, 1, MSG_PEEK) == 1 && client_line(client, line);
        }
    }
    free(bytes);
}

/* The clients, and the messages that they have sent. The number of a client in the test is in its
 * messages. */
typedef struct feast {
    listener_world *world;
    hunger wants[CLIENTS];
    world_client clients[CLIENTS];
    uint32_t senders[WORLD_MESSAGES]; /* the client of a message, from 0 */
    bool served[WORLD_MESSAGES];
    unsigned looked_at;        /* messages whose clients are known */
    unsigned waiting[CLIENTS]; /* messages */
    double photons[CLIENTS];   /* that were served */
} feast;

static void look_at_messages(feast *all)
{
    for (; all->looked_at < all->world->message_count; ++all->looked_at) {
        size_t size;
        unsigned char *file = scratch_read(all->world->messages[all->looked_at].path, &size);
        const icestream_step *first = (const icestream_step *)(void *)(file + size) - 1;
        ck_assert_uint_lt(first->event_id, CLIENTS);
        all->senders[all->looked_at] = (uint32_t)first->event_id;
        all->waiting[first->event_id]++;
        free(file);
    }
}

/* Waits until every client has sent what it may send, so that the shares depend on the order of the
 * names and not on the speed of the clients. */
static void wait_for_all(feast *all)
{
    for (unsigned i = 0; i < CLIENTS;) {
        const unsigned expected = all->wants[i].waits ? 1 : CREDITS;
        look_at_messages(all);
        ck_assert_uint_le(all->waiting[i], expected);
        if (all->waiting[i] == expected) {
            ++i;
        } else {
            world_turn(all->world);
        }
    }
}

/* The message that is served next: that of the first name, or the first that arrived. */
static unsigned choose(const feast *all, bool by_name)
{
    unsigned best = WORLD_MESSAGES;
    for (unsigned i = 0; i < all->looked_at; ++i) {
        if (!all->served[i] &&
            (best == WORLD_MESSAGES || (by_name && strcmp(all->world->messages[i].path,
                                                          all->world->messages[best].path) < 0))) {
            best = i;
        }
    }
    ck_assert_uint_lt(best, WORLD_MESSAGES);
    return best;
}

static void serve(feast *all, unsigned index)
{
    const ics_listener_message *about = &all->world->messages[index].about;
    const uint32_t sender = all->senders[index];
    json_t *answer = json_pack("{s:I, s:s}", "message", (json_int_t)about->number, "state", "done");
    ck_assert(ics_listener_answer(all->world->listener, about->client, answer));
    json_decref(answer);
    all->served[index] = true;
    all->waiting[sender]--;
    all->photons[sender] += (double)all->wants[sender].rows * STEP_PHOTONS;
    ics_listener_release(all->world->listener, about->client);
}

/* Jain's index: (sum x)^2 / (n sum x^2); 1: all shares are equal; 1/n: one client has everything.
 */
static double jain(const double *shares, unsigned count)
{
    double sum = 0.0, squares = 0.0;
    for (unsigned i = 0; i < count; ++i) {
        sum += shares[i];
        squares += shares[i] * shares[i];
    }
    return sum * sum / (count * squares);
}

/* Serves messages to all clients, and returns Jain's index of the photons. *least: the smallest
 * share, as a part of the mean. */
static double feed(bool by_name, double *least)
{
    feast *all = calloc(1, sizeof *all);
    ck_assert_ptr_nonnull(all);
    all->world = world_open();
    all->world->options.clients = CLIENTS;
    all->world->options.credits = CREDITS;
    ck_assert_int_eq(world_listen(all->world, NULL), ICESTREAM_OK);
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        all->wants[i] = hunger_of(i);
        world_start(all->world, &all->clients[i], send_without_end, &all->wants[i]);
    }
    for (unsigned i = 0; i < SERVED; ++i) {
        world_be_patient(all->world);
        wait_for_all(all);
        serve(all, choose(all, by_name));
    }
    ics_listener_close(all->world->listener);
    all->world->listener = NULL;
    world_join(all->world, all->clients, CLIENTS);
    double sum = 0.0, smallest = all->photons[0];
    for (unsigned i = 0; i < CLIENTS; ++i) {
        sum += all->photons[i];
        smallest = all->photons[i] < smallest ? all->photons[i] : smallest;
    }
    *least = smallest * CLIENTS / sum;
    const double index = jain(all->photons, CLIENTS);
    world_close(all->world);
    free(all);
    return index;
}

START_TEST(test_shares_are_equal)
{
    double least = 0.0;
    const double index = feed(true, &least);
    printf("Jain index %.5f, smallest share %.3f of the mean\n", index, least);
    ck_assert_double_gt(index, 0.95);
    ck_assert_double_gt(least, 0.75); /* nobody starves */
}
END_TEST

/* In the order of arrival clients with large messages would get more: the test above can fail. */
START_TEST(test_order_of_arrival_is_unfair)
{
    double least = 0.0;
    const double index = feed(false, &least);
    printf("in the order of arrival: Jain index %.5f, smallest share %.3f\n", index, least);
    ck_assert_double_lt(index, 0.95);
    ck_assert_double_lt(least, 0.75);
}
END_TEST

ICS_TEST_MAIN("listener_shares")
{
    TCase *tests = tcase_create("listener_shares");
    tcase_add_test(tests, test_shares_are_equal);
    tcase_add_test(tests, test_order_of_arrival_is_unfair);
    suite_add_tcase(suite, tests);
}
