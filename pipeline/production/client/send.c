#include "pipeline/production/client/send.h"

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/client/send_state.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Pauses between attempts to connect (s): the first one, and the longest one. */
static const double FIRST_PAUSE = 0.1, LONGEST_PAUSE = 5;

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int make_folder(const char *folder, icestream_error *error)
{
    if (folder == NULL || strcmp(folder, "-") == 0 || ics_disk_make_folder(folder, 0777) == 0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot make the folder: %s", folder,
                         strerror(errno));
}

/* Two step files of one name would have one hit file. */
static int check_names(char *const *files, size_t count, icestream_error *error)
{
    char **stems = ICS_NEW_ARRAY(char *, count);
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < count; ++i) {
        stems[i] = ics_send_queue_stem(files[i]);
    }
    qsort(stems, count, sizeof *stems, compare_names);
    for (size_t i = 1; status == ICESTREAM_OK && i < count; ++i) {
        if (strcmp(stems[i - 1], stems[i]) == 0) {
            status = ics_error_set(error, ICESTREAM_E_USAGE,
                                   "icestream send: found two step files of the name %s, expected "
                                   "different names, because hit files are named after them",
                                   stems[i]);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        free(stems[i]);
    }
    free(stems);
    return status;
}

static bool out_of_patience(const ics_send_state *state, icestream_error *error)
{
    if (ics_clock_seconds() - state->last < state->options->patience) {
        return false;
    }
    ics_error_set(error, ICESTREAM_E_UNFINISHED,
                  "%s: no answer `done` for %g s, and the connection was lost: %s; %llu messages "
                  "are done; send the others again",
                  state->options->address, state->options->patience, state->cause,
                  (unsigned long long)state->counts->done);
    return true;
}

/* Connects, and waits while the server is away. */
static int connect_patiently(ics_send_state *state, double *pause, icestream_error *error)
{
    for (;;) {
        const int status = ics_send_link_open(state, error);
        if (status <= 0) {
            return status;
        }
        if (out_of_patience(state, error)) {
            return ICESTREAM_E_UNFINISHED;
        }
        nanosleep(&(struct timespec){.tv_sec = (time_t)*pause,
                                     .tv_nsec = (long)(1e9 * (*pause - (double)(time_t)*pause))},
                  NULL);
        *pause = 2 * *pause < LONGEST_PAUSE ? 2 * *pause : LONGEST_PAUSE;
    }
}

/* In how many milliseconds a connected server is given up; -1: never. */
static int silence_left(const ics_send_state *state)
{
    if (state->options->silence <= 0 || !ics_send_queue_has_messages(state)) {
        return -1;
    }
    const double left = state->exchanged + state->options->silence - ics_clock_seconds();
    return left <= 0 ? 0 : left < 1000 ? (int)(1000 * left) + 1 : 1000 * 1000;
}

/* Waits until something can be done, and does it. */
static int turn(ics_send_state *state, icestream_error *error)
{
    const bool sends =
        state->greeting_sent < state->greeting_size || ics_send_queue_next(state) != NULL;
    const bool reads = ics_send_queue_reads(state);
    struct pollfd about[2] = {
        {.fd = state->descriptor, .events = (short)(POLLIN | (sends ? POLLOUT : 0))},
        {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN}};
    const bool kept = reads && state->block_at < state->block_size;
    const int ready = poll(about, 2, kept ? 0 : silence_left(state));
    if (ready < 0) {
        return errno == EINTR
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_FAILED, "poll: %s", strerror(errno));
    }
    if (about[0].revents & (POLLIN | POLLHUP | POLLERR)) {
        ICS_TRY(ics_send_answers_receive(state, error));
    }
    if (!state->lost && (about[0].revents & POLLOUT)) {
        ics_send_link_send(state);
    }
    if (!state->lost && silence_left(state) == 0) {
        return ics_error_set(error, ICESTREAM_E_UNFINISHED,
                             "%s: no answer and less than %d bytes of steps or hits came or went "
                             "for %g s, though the server is connected; %llu messages are done; "
                             "send the others again",
                             state->options->address, ICS_SEND_LEAST, state->options->silence,
                             (unsigned long long)state->counts->done);
    }
    return kept || about[1].revents != 0 ? ics_send_queue_read(state, error) : ICESTREAM_OK;
}

static int work(ics_send_state *state, icestream_error *error)
{
    double pause = FIRST_PAUSE;
    uint64_t done = 0;
    ICS_TRY(ics_send_queue_fill(state, error));
    while (!ics_send_queue_is_empty(state)) {
        if (state->descriptor < 0) {
            ICS_TRY(connect_patiently(state, &pause, error));
        }
        ICS_TRY(turn(state, error));
        if (state->lost) {
            ics_send_link_close(state);
            if (out_of_patience(state, error)) {
                return ICESTREAM_E_UNFINISHED;
            }
            nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * FIRST_PAUSE)}, NULL);
        }
        pause = state->counts->done > done ? FIRST_PAUSE : pause;
        done = state->counts->done;
        ICS_TRY(ics_send_queue_fill(state, error));
    }
    return ICESTREAM_OK;
}

static void destroy(ics_send_state *state)
{
    ics_send_link_close(state);
    for (int i = 0; i < ICS_SEND_WINDOW; ++i) {
        if (state->messages[i].used) {
            ics_send_queue_remove(&state->messages[i]);
        }
    }
    if (state->copy != NULL) {
        fclose(state->copy);
    }
    ics_message_frame_destroy(state->stream);
    OPENSSL_cleanse(state->token, sizeof state->token);
    OPENSSL_cleanse(state->greeting, sizeof state->greeting);
    free(state);
}

static int send_files(ics_send_state *state, icestream_error *error)
{
    const char *token = state->options->token;
    if (token != NULL) {
        ICS_TRY(ics_access_secret_read("--token", token, state->token, sizeof state->token, error));
    }
    ICS_TRY(work(state, error));
    return ics_error_copy(error, &state->refusals);
}

int ics_send(const ics_send_options *options, char *const *files, size_t count,
             ics_send_counts *counts, icestream_error *error)
{
    *counts = (ics_send_counts){.done = 0};
    ICS_TRY(check_names(files, count, error));
    ICS_TRY(make_folder(options->output, error));
    ics_send_state *state = ICS_NEW(ics_send_state);
    state->options = options;
    state->counts = counts;
    state->files = files;
    state->file_count = count;
    state->descriptor = -1;
    state->last = ics_clock_seconds();
    const int status = send_files(state, error);
    destroy(state);
    return status;
}
