#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/new.h"
#include "pipeline/production/client/send_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void print(const ics_send_state *state, const json_t *answer, const char *input)
{
    const char *output = state->options->output;
    FILE *where = output != NULL && strcmp(output, "-") == 0 ? stderr : stdout;
    json_auto_t *line = json_copy((json_t *)answer);
    json_object_set_new(line, "input", ics_json_text(input));
    ICS_FREES char *text = ics_new_made(json_dumps(line, JSON_COMPACT));
    fprintf(where, "%s\n", text);
    fflush(where);
}

static void finish(ics_send_state *state, ics_send_message *message, const json_t *answer)
{
    const json_int_t hits = json_integer_value(json_object_get(answer, "hits"));
    print(state, answer, message->input);
    state->counts->done++;
    state->counts->hits += hits > 0 ? (uint64_t)hits : 0;
    state->last = ics_clock_seconds();
    ics_send_queue_move(state, ICS_SEND_LEAST);
    ics_send_queue_remove(message);
}

static int follow_done(ics_send_state *state, ics_send_message *message, json_t *answer,
                       icestream_error *error)
{
    const json_t *bytes = json_object_get(answer, "bytes");
    if (state->options->output == NULL) {
        finish(state, message, answer);
        return ICESTREAM_OK;
    }
    if (!json_is_integer(bytes) || json_integer_value(bytes) <= 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s: found an answer `done` without the hits of %s, expected a size "
                             "in \"bytes\"",
                             state->options->address, message->input);
    }
    return ics_send_hits_begin(state, message, answer, error);
}

/* A refusal whose reason passes is no answer: the message is sent again, on a new connection. */
static int follow_refused(ics_send_state *state, ics_send_message *message, const json_t *answer,
                          icestream_error *error)
{
    const char *reason = json_string_value(json_object_get(answer, "reason"));
    reason = reason != NULL ? reason : "no reason";
    if (json_is_true(json_object_get(answer, "again"))) {
        ics_send_queue_lost(state, reason);
        return ICESTREAM_OK;
    }
    if (message == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: the server refuses this client: %s",
                             state->options->address, reason);
    }
    print(state, answer, message->input);
    ics_send_queue_refuse(state, message->input, reason);
    state->last = ics_clock_seconds();
    ics_send_queue_move(state, ICS_SEND_LEAST);
    ics_send_queue_remove(message);
    return ICESTREAM_OK;
}

static int follow(ics_send_state *state, json_t *answer, icestream_error *error)
{
    const char *word = json_string_value(json_object_get(answer, "state"));
    const json_t *number = json_object_get(answer, "message");
    ics_send_message *message =
        json_is_integer(number) ? ics_send_queue_find(state, json_integer_value(number)) : NULL;
    if (word != NULL && strcmp(word, "refused") == 0 && (message != NULL || number == NULL)) {
        return follow_refused(state, message, answer, error);
    }
    if (word != NULL && message != NULL && strcmp(word, "done") == 0) {
        return follow_done(state, message, answer, error);
    }
    if (word != NULL && message != NULL && strcmp(word, "received") == 0) {
        print(state, answer, message->input);
        ics_send_queue_move(state, message->is_received ? 0 : ICS_SEND_LEAST);
        message->is_received = true;
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_FAILED,
                         "%s: found an answer about no message of this client, expected received, "
                         "done or refused: %.200s",
                         state->options->address, state->line);
}

/* Takes bytes up to the end of a line, and follows the line. */
static int take_line(ics_send_state *state, const char *bytes, size_t size, size_t *taken,
                     icestream_error *error)
{
    const char *end = memchr(bytes, '\n', size);
    *taken = end != NULL ? (size_t)(end - bytes) + 1 : size;
    const size_t text = *taken - (end != NULL);
    if (state->line_size + text >= sizeof state->line) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "%s: found a line of more than %zu bytes, expected an answer of a "
                             "listener of icestream",
                             state->options->address, sizeof state->line - 1);
    }
    memcpy(state->line + state->line_size, bytes, text);
    state->line_size += text;
    if (end == NULL) {
        return ICESTREAM_OK;
    }
    state->line[state->line_size] = '\0';
    json_auto_t *answer = json_loadb(state->line, state->line_size, 0, NULL);
    state->line_size = 0;
    return json_is_object(answer)
               ? follow(state, answer, error)
               : ics_error_set(error, ICESTREAM_E_FAILED,
                               "%s: found an answer that is no JSON, expected a listener of "
                               "icestream",
                               state->options->address);
}

static int take_hits(ics_send_state *state, const char *bytes, size_t size, size_t *taken,
                     icestream_error *error)
{
    bool whole = false;
    ICS_TRY(ics_send_hits_add(state, bytes, size, taken, &whole, error));
    ics_send_queue_move(state, *taken);
    if (whole) {
        finish(state, state->body.message, state->body.answer);
        ics_send_hits_abandon(state);
    }
    return ICESTREAM_OK;
}

int ics_send_answers_receive(ics_send_state *state, icestream_error *error)
{
    char bytes[ICS_SEND_BLOCK];
    const ssize_t count = recv(state->descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
        return ICESTREAM_OK;
    }
    if (count <= 0) {
        ics_send_queue_lost(state, count == 0 ? "the server closed it" : strerror(errno));
        return ICESTREAM_OK;
    }
    for (size_t at = 0, taken; at < (size_t)count && !state->lost; at += taken) {
        const size_t rest = (size_t)count - at;
        ICS_TRY(state->body.message != NULL ? take_hits(state, bytes + at, rest, &taken, error)
                                            : take_line(state, bytes + at, rest, &taken, error));
    }
    return ICESTREAM_OK;
}
