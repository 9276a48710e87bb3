/* For tests of sessions: open sessions of a small detector, and steps for them.
 *
 * How to join: open a session with session_open(), submit with session_submit(), take the hits with
 * session_take(). All of them fail the test on errors. */
#ifndef SESSION_WORLD_H
#define SESSION_WORLD_H

#include "pipeline/icestream.h"
#include "tests/support/run_folder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_DETECTOR "detector.file=" ICS_SOURCE_DIRECTORY "/configs/detectors/cluster.csv"

/* Loads a configuration of the small detector, two threads of the CPU,
 * RUN_FOLDER_WIDE and `more`, NULL after the
 * last one. */
static inline icestream_config *session_config(const char *const *more)
{
    const char *all[16] = {SESSION_DETECTOR, "device.backend=cpu", "device.threads=2", "run.seed=7",
                           RUN_FOLDER_WIDE};
    size_t count = 6;
    icestream_config *config = NULL;
    icestream_error error = {0};
    for (; *more != NULL; ++more) {
        all[count++] = *more;
    }
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return config;
}

static inline icestream_session *session_open(const char *const *more)
{
    icestream_config *config = session_config(more);
    icestream_session *session = NULL;
    icestream_error error = {0};
    ck_assert_msg(icestream_session_open(config, NULL, &session, &error) == ICESTREAM_OK, "%s",
                  error.text);
    icestream_config_destroy(config); /* the session has its own share */
    return session;
}

static inline icestream_session *session_open_plain(void)
{
    return session_open((const char *[]){NULL});
}

static inline icestream_submission session_work(const icestream_step *steps, size_t count)
{
    return (icestream_submission){.size = sizeof(icestream_submission),
                                  .step_size = sizeof *steps,
                                  .steps = steps,
                                  .step_count = count};
}

static inline uint64_t session_submit(icestream_session *session, const icestream_submission *work)
{
    uint64_t ticket = 0;
    icestream_error error = {0};
    ck_assert_msg(icestream_session_submit(session, work, &ticket, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_ne(ticket, 0);
    return ticket;
}

static inline void session_wait(icestream_session *session, uint64_t ticket)
{
    uint64_t finished = 0;
    ck_assert_int_eq(icestream_session_wait(session, ticket, -1, &finished, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(finished, ticket);
}

/* Waits for a ticket and takes its hits, which the caller frees. */
static inline icestream_hit *session_take(icestream_session *session, uint64_t ticket,
                                          uint64_t *count)
{
    icestream_hit *hits = NULL;
    icestream_error error = {0};
    session_wait(session, ticket);
    ck_assert_msg(icestream_session_take(session, ticket, &hits, count, NULL, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    return hits;
}

/* `count` bright steps, whose events follow each other; the caller frees them. */
static inline icestream_step *session_steps(uint32_t count, uint32_t photons)
{
    icestream_step *steps = calloc(count, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < count; ++i) {
        steps[i] = run_folder_bright(i % 16, photons);
        steps[i].event_id = i / 16;
    }
    return steps;
}

#endif
