#include "base/error.h"
#include "base/new.h"
#include "pipeline/production/client/send_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const ics_send_body *body, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: cannot write the hits: %s",
                               body->path != NULL ? body->path : "standard output",
                               strerror(errno));
}

/* The ending of the server's file, such as ".hits.npy". Nothing else of the server's name is used,
 * so a server cannot choose where its hits are written. */
static const char *ending(const json_t *answer)
{
    const char *output = json_string_value(json_object_get(answer, "output"));
    const char *end = output != NULL ? strrchr(output, '.') : NULL;
    static const char *const known[] = {".npy", ".h5", ".csv", ".txt"};
    for (size_t i = 0; end != NULL && i < sizeof known / sizeof *known; ++i) {
        if (strcmp(end, known[i]) == 0) {
            return known[i];
        }
    }
    return known[0];
}

int ics_send_hits_begin(ics_send_state *state, ics_send_message *message, json_t *answer,
                        icestream_error *error)
{
    ics_send_body *body = &state->body;
    const char *folder = state->options->output;
    *body = (ics_send_body){.message = message,
                            .rest = (uint64_t)json_integer_value(json_object_get(answer, "bytes")),
                            .answer = json_incref(answer)};
    ICS_TRY(ics_digest_create(&body->digest, error));
    if (strcmp(folder, "-") == 0) {
        body->file = tmpfile(); /* standard output gets whole files only */
        return body->file != NULL ? ICESTREAM_OK : fail(body, error);
    }
    body->path = ics_new_text("%s/%s.hits%s", folder, message->stem, ending(answer));
    body->part = ics_new_text("%s.%ld.part", body->path, (long)getpid());
    body->file = fopen(body->part, "wbe");
    return body->file != NULL ? ICESTREAM_OK : fail(body, error);
}

void ics_send_hits_abandon(ics_send_state *state)
{
    ics_send_body *body = &state->body;
    if (body->file != NULL) {
        fclose(body->file);
    }
    if (body->part != NULL) {
        unlink(body->part);
    }
    free(body->part);
    free(body->path);
    ics_digest_destroy(body->digest);
    json_decref(body->answer);
    *body = (ics_send_body){.message = NULL};
}

/* Copies a whole file to standard output. */
static int copy_out(const ics_send_body *body, icestream_error *error)
{
    char block[ICS_SEND_BLOCK];
    size_t count = 1;
    rewind(body->file);
    while (count > 0) {
        count = fread(block, 1, sizeof block, body->file);
        if (fwrite(block, 1, count, stdout) != count) {
            return fail(body, error);
        }
    }
    return ferror(body->file) == 0 && fflush(stdout) == 0 ? ICESTREAM_OK : fail(body, error);
}

static int commit(ics_send_body *body, icestream_error *error)
{
    if (fflush(body->file) != 0) {
        return fail(body, error);
    }
    if (body->path == NULL) {
        return copy_out(body, error);
    }
    FILE *file = body->file;
    body->file = NULL;
    const int synced = fsync(fileno(file));
    if ((fclose(file) != 0) | (synced != 0) || rename(body->part, body->path) != 0) {
        return fail(body, error);
    }
    free(body->part);
    body->part = NULL;
    return ICESTREAM_OK;
}

int ics_send_hits_add(ics_send_state *state, const void *bytes, size_t size, size_t *taken,
                      bool *whole, icestream_error *error)
{
    ics_send_body *body = &state->body;
    char digest[ICS_DIGEST_TEXT];
    *whole = false;
    *taken = size < body->rest ? size : (size_t)body->rest;
    ics_digest_add(body->digest, bytes, *taken);
    if (fwrite(bytes, 1, *taken, body->file) != *taken) {
        return fail(body, error);
    }
    body->rest -= *taken;
    if (body->rest > 0) {
        return ICESTREAM_OK;
    }
    ics_digest_text(body->digest, digest);
    const char *expected = json_string_value(json_object_get(body->answer, "sha256"));
    if (expected == NULL || strcmp(digest, expected) != 0) {
        ics_send_queue_lost(state, "the hits came damaged: their SHA-256 is another one");
        return ++state->damaged < ICS_SEND_DAMAGED
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_FAILED,
                                   "%s: the hits of %s came damaged %u times",
                                   state->options->address, body->message->input, state->damaged);
    }
    *whole = true;
    return commit(body, error);
}
