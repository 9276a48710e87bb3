#include "tests/support/listener_world.h"

#include "pipeline/photons/files/format/npy.h"
#include "tests/support/step_files.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE = 30000 };

/* ---- what happens --------------------------------------------------------------------------- */

static void on_message(void *user, const ics_listener_message *message)
{
    listener_world *world = user;
    ck_assert_uint_lt(world->message_count, WORLD_MESSAGES);
    world->messages[world->message_count].about = *message;
    world->messages[world->message_count].about.path = NULL;
    world->messages[world->message_count++].path = strdup(message->path);
    if (world->releases) {
        ics_listener_release(world->listener, message->client);
    }
}

static void on_report(void *user, ics_listener_event event, uint64_t client, uint64_t message,
                      const char *text)
{
    listener_world *world = user;
    ck_assert_uint_lt(world->report_count, WORLD_REPORTS);
    world_report *report = &world->reports[world->report_count++];
    *report = (world_report){.event = event, .client = client, .message = message};
    snprintf(report->text, sizeof report->text, "%s", text);
}

static void out_of_patience(uv_timer_t *timer)
{
    (void)timer;
    ck_abort_msg("waited in vain");
}

static void on_finished(uv_async_t *async)
{
    (void)async; /* wakes the loop */
}

/* ---- life ----------------------------------------------------------------------------------- */

listener_world *world_open(void)
{
    listener_world *world = calloc(1, sizeof *world);
    ck_assert_ptr_nonnull(world);
    world->place = scratch_create();
    char path[SCRATCH_PATH / 2];
    snprintf(path, sizeof path, "%.240s/s", world->place.folder);
    snprintf(world->socket, sizeof world->socket, "unix:%s", path);
    ck_assert_int_eq(mkdir(scratch_path(&world->place, "spool", world->spool), 0700), 0);
    world->options = (ics_listener_options){.address = world->socket,
                                            .folder = world->spool,
                                            .clients = 16,
                                            .credits = 4,
                                            .message_limit = 1 << 20};
    ck_assert_int_eq(uv_loop_init(&world->loop), 0);
    uv_timer_init(&world->loop, &world->patience);
    uv_timer_start(&world->patience, out_of_patience, PATIENCE, 0);
    ck_assert_int_eq(uv_async_init(&world->loop, &world->finished, on_finished), 0);
    return world;
}

int world_listen(listener_world *world, icestream_error *error)
{
    const ics_listener_events events = {on_message, on_report, world};
    return ics_listener_create(&world->loop, &world->options, &events, &world->listener, error);
}

void world_close(listener_world *world)
{
    ics_listener_close(world->listener);
    uv_close((uv_handle_t *)&world->patience, NULL);
    uv_close((uv_handle_t *)&world->finished, NULL);
    ck_assert_int_eq(uv_run(&world->loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&world->loop), 0);
    ck_assert_uint_eq(world_files(world, ".part"), 0);
    for (unsigned i = 0; i < world->message_count; ++i) {
        free(world->messages[i].path);
    }
    scratch_remove(&world->place);
    free(world);
}

void world_turn(listener_world *world)
{
    uv_run(&world->loop, UV_RUN_ONCE);
}

void world_wait_messages(listener_world *world, unsigned count)
{
    while (world->message_count < count) {
        world_turn(world);
    }
}

const world_report *world_wait_report(listener_world *world, ics_listener_event event,
                                      const char *text)
{
    for (unsigned i = 0;; ++i) {
        while (i >= world->report_count) {
            world_turn(world);
        }
        if (world->reports[i].event == event && strstr(world->reports[i].text, text) != NULL) {
            return &world->reports[i];
        }
    }
}

void world_wait_clients(listener_world *world, uint32_t clients)
{
    while (ics_listener_counted(world->listener).clients != clients) {
        world_turn(world);
    }
}

unsigned world_files(const listener_world *world, const char *ending)
{
    unsigned count = 0;
    DIR *entries = opendir(world->spool);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        count += length >= tail && strcmp(entry->d_name + length - tail, ending) == 0;
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return count;
}

void world_expect_message(const listener_world *world, unsigned index, const void *bytes,
                          size_t size)
{
    size_t found;
    ck_assert_uint_lt(index, world->message_count);
    unsigned char *file = scratch_read(world->messages[index].path, &found);
    ck_assert_uint_eq(found, size);
    ck_assert_uint_eq(world->messages[index].about.bytes, size);
    ck_assert_mem_eq(file, bytes, size);
    free(file);
}

/* ---- clients -------------------------------------------------------------------------------- */

static int connect_client(const char *address)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const bool is_local = strncmp(address, "unix:", 5) == 0, is_v6 = address[0] == '[';
    const char *port = strrchr(address, ':') + 1;
    const struct timeval patience = {.tv_sec = PATIENCE / 1000};
    int descriptor = socket(is_local ? AF_UNIX
                            : is_v6  ? AF_INET6
                                     : AF_INET,
                            SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(descriptor, 0);
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    snprintf(local.sun_path, sizeof local.sun_path, "%.107s", address + (is_local ? 5 : 0));
    v4.sin_port = v6.sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int failure = is_local ? connect(descriptor, (struct sockaddr *)&local, sizeof local)
                  : is_v6  ? connect(descriptor, (struct sockaddr *)&v6, sizeof v6)
                           : connect(descriptor, (struct sockaddr *)&v4, sizeof v4);
    ck_assert_msg(failure == 0, "%s: %s", address, strerror(errno));
    return descriptor;
}

static void *run_client(void *argument)
{
    world_client *client = argument;
    client->talk(client);
    return NULL;
}

void world_start(listener_world *world, world_client *client, void (*talk)(world_client *client),
                 void *user)
{
    *client = (world_client){.world = world, .talk = talk, .user = user};
    client->descriptor = connect_client(ics_listener_address(world->listener));
    ck_assert_int_eq(pthread_create(&client->thread, NULL, run_client, client), 0);
}

typedef struct joiner {
    world_client *clients;
    unsigned count;
    atomic_bool ended;
    uv_async_t *finished;
} joiner;

static void *join_clients(void *argument)
{
    joiner *join = argument;
    for (unsigned i = 0; i < join->count; ++i) {
        pthread_join(join->clients[i].thread, NULL);
    }
    atomic_store(&join->ended, true);
    uv_async_send(join->finished);
    return NULL;
}

void world_join(listener_world *world, world_client *clients, unsigned count)
{
    pthread_t thread;
    joiner join = {.clients = clients, .count = count, .finished = &world->finished};
    ck_assert_int_eq(pthread_create(&thread, NULL, join_clients, &join), 0);
    while (!atomic_load(&join.ended)) {
        world_turn(world);
    }
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < count; ++i) {
        if (clients[i].descriptor >= 0) {
            close(clients[i].descriptor);
        }
    }
}

void client_send(const world_client *client, const void *bytes, size_t size)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t count = send(client->descriptor, next, size, MSG_NOSIGNAL);
        ck_assert_msg(count > 0, "cannot send: %s", strerror(errno));
        next += count;
        size -= (size_t)count;
    }
}

bool client_line(const world_client *client, char line[WORLD_TEXT])
{
    size_t length = 0;
    for (;;) {
        ssize_t count = recv(client->descriptor, line + length, 1, 0);
        ck_assert_msg(count >= 0, "cannot receive: %s", strerror(errno));
        if (count == 0 || line[length] == '\n') {
            line[length] = 0;
            ck_assert_msg(count > 0 || length == 0, "half a line: %s", line);
            return count > 0;
        }
        ck_assert_uint_lt(++length, WORLD_TEXT);
    }
}

void client_expect(const world_client *client, const char *first, const char *second)
{
    char line[WORLD_TEXT];
    ck_assert_msg(client_line(client, line), "no line, expected %s and %s", first, second);
    ck_assert_msg(strstr(line, first) != NULL && strstr(line, second) != NULL,
                  "found %s, expected %s and %s", line, first, second);
}

void client_expect_end(const world_client *client)
{
    char line[WORLD_TEXT];
    ck_assert_msg(!client_line(client, line), "found %s, expected the end", line);
}

void client_finish(const world_client *client)
{
    ck_assert_int_eq(shutdown(client->descriptor, SHUT_WR), 0);
}

unsigned char *world_message(uint64_t event, uint32_t rows, size_t *size)
{
    *size = ICS_NPY_OWN_HEADER + rows * sizeof(icestream_step);
    unsigned char *bytes = malloc(*size);
    ck_assert_ptr_nonnull(bytes);
    unsigned char *header;
    size_t header_size;
    ck_assert_int_eq(
        ics_npy_write_noted_header(ics_layout_steps(), rows, "{}", &header, &header_size, NULL),
        ICESTREAM_OK);
    ck_assert_uint_eq(header_size, ICS_NPY_OWN_HEADER);
    memcpy(bytes, header, header_size);
    free(header);
    for (uint32_t i = 0; i < rows; ++i) {
        icestream_step step = step_file_good(event, i);
        memcpy(bytes + ICS_NPY_OWN_HEADER + i * sizeof step, &step, sizeof step);
    }
    return bytes;
}

void client_talk_three(world_client *client)
{
    for (uint32_t i = 0; i < 3; ++i) {
        size_t size;
        unsigned char *bytes = world_message(i, 5 * i, &size); /* the first has no rows */
        client_send(client, bytes, size);
        free(bytes);
        char number[32];
        snprintf(number, sizeof number, "{\"message\":%u,", i);
        client_expect(client, number, "\"state\":\"received\",\"file\":\"message-");
    }
    client_finish(client);
    client_expect_end(client);
}

void client_talk_and_forget(world_client *client)
{
    size_t size;
    unsigned char *bytes = world_message(1, 300, &size);
    for (int i = 0; i < 3; ++i) {
        client_send(client, bytes, size);
    }
    free(bytes);
    close(client->descriptor);
    client->descriptor = -1;
}
