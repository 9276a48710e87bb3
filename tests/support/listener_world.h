/* For tests of the listener: a loop with a listener whose messages and reports are recorded, and
 * clients on other threads. Every function fails the test on errors, and after 30 s of waiting in
 * vain. */
#ifndef LISTENER_WORLD_H
#define LISTENER_WORLD_H

#include "pipeline/production/source/listener.h"
#include "tests/support/scratch_files.h"

#include <pthread.h>

enum { WORLD_MESSAGES = 1024, WORLD_REPORTS = 2048, WORLD_TEXT = 4096 };

typedef struct world_report {
    ics_listener_event event;
    uint64_t client, message;
    char text[512];
} world_report;

typedef struct listener_world {
    scratch place;
    char spool[SCRATCH_PATH], socket[SCRATCH_PATH]; /* "unix:..." */
    ics_listener_options options;
    uv_loop_t loop;
    uv_timer_t patience;
    uv_async_t finished; /* a client's thread has ended */
    ics_listener *listener;
    bool releases; /* every message is released when it is delivered */

    struct {
        char *path;
        ics_listener_message about; /* path: NULL */
    } messages[WORLD_MESSAGES];
    unsigned message_count;
    world_report reports[WORLD_REPORTS];
    unsigned report_count;
} listener_world;

/* Makes a loop with options for a Unix-domain socket, 16 clients and 4 messages of 1 MiB each. It
 * does not listen yet. */
listener_world *world_open(void);
/* Starts to listen. Returns the status; `error` may be NULL. */
int world_listen(listener_world *world, icestream_error *error);
/* Closes the listener, runs the loop to its end, and removes the folder. */
void world_close(listener_world *world);

/* Runs the loop once. */
void world_turn(listener_world *world);
/* Runs the loop until this number of messages has been delivered. */
void world_wait_messages(listener_world *world, unsigned count);
/* Runs the loop until there is a report of this kind that contains this text. */
const world_report *world_wait_report(listener_world *world, ics_listener_event event,
                                      const char *text);
/* Runs the loop until exactly this number of clients is connected. */
void world_wait_clients(listener_world *world, uint32_t clients);
/* Number of files in the spool whose names end with this text. */
unsigned world_files(const listener_world *world, const char *ending);
/* Checks that message number `index`, in the order of delivery, has these bytes. */
void world_expect_message(const listener_world *world, unsigned index, const void *bytes,
                          size_t size);

/* A client; `talk` runs on another thread. */
typedef struct world_client {
    listener_world *world;
    void (*talk)(struct world_client *client);
    void *user;
    int descriptor; /* connected; the client closes it, or world_join does */
    pthread_t thread;
} world_client;

void world_start(listener_world *world, world_client *client, void (*talk)(world_client *client),
                 void *user);
/* Runs the loop until the clients' threads have ended. */
void world_join(listener_world *world, world_client *clients, unsigned count);

/* The functions below are for clients, on their threads. */
void client_send(const world_client *client, const void *bytes, size_t size);
/* Reads the next line of an answer, without its newline. Returns false if the listener has closed
 * the connection. */
bool client_line(const world_client *client, char line[WORLD_TEXT]);
/* Checks that the next line contains both texts. */
void client_expect(const world_client *client, const char *first, const char *second);
/* Checks that there are no more lines. */
void client_expect_end(const world_client *client);
/* Closes the sending side. */
void client_finish(const world_client *client);

/* Sends three messages of 0, 5 and 10 steps of the events 0, 1, 2, each after the answer to the
 * previous one, and waits for the end. */
void client_talk_three(world_client *client);
/* Sends three messages of 300 steps and closes the connection without reading the answers. */
void client_talk_and_forget(world_client *client);

/* A message with this number of good steps, as the listener writes it. The caller frees it. */
unsigned char *world_message(uint64_t event, uint32_t rows, size_t *size);

#endif
