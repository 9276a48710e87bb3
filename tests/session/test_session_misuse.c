/* Sessions at wrong times and from many threads.
 *
 * Promises: a lent array that is changed too late is an error; tickets can be cancelled in every
 * state; threads that submit, wait, poll, cancel and take while the session is closed all get an
 * answer; hits that nobody takes are bounded; a child of fork() may open its own session. To join:
 * add a test for another wrong moment. Wrong steps are in test_session_hostile.c, and all their
 * fields in tests/files/test_step_check.c.
 */
#include "pipeline/icestream.h"
#include "tests/session/session_world.h"
#include "tests/support/test_main.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pause_for(long microseconds)
{
    const struct timespec time = {.tv_nsec = 1000 * microseconds};
    nanosleep(&time, NULL);
}

/* Photons for many seconds of computing. */
static icestream_step endless(void)
{
    return run_folder_bright(0, UINT32_MAX);
}

/* ---- moments --------------------------------------------------------------------------------- */

START_TEST(lent_steps_that_change_are_an_error)
{
    const icestream_step first = endless();
    icestream_step lent = run_folder_bright(0, 10);
    icestream_session *session = session_open((const char *[]){"graph.batch=1000", NULL});
    icestream_submission work = session_work(&first, 1);
    icestream_error error = {0};
    icestream_hit *hits;
    uint64_t count;
    const uint64_t before = session_submit(session, &work);
    work = session_work(&lent, 1);
    work.flags = ICESTREAM_SUBMIT_LENT;
    const uint64_t ticket = session_submit(session, &work);
    lent.x = NAN;
    ck_assert_int_eq(icestream_session_cancel(session, before, NULL), ICESTREAM_OK);
    session_wait(session, ticket);
    ck_assert_int_eq(icestream_session_take(session, ticket, &hits, &count, NULL, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, "steps: row 0, field x: found nan") != NULL, "%s", error.text);
    ck_assert_ptr_null(hits);
    icestream_session_destroy(session);
}
END_TEST

/* The longer the caller waits before it cancels, the further is the ticket: it waits, makes
 * batches, has batches on the device, is finished. */
START_TEST(tickets_are_cancelled_in_every_state)
{
    icestream_session *session = session_open((const char *[]){"graph.batch=2000", NULL});
    icestream_step *steps = session_steps(20, 1000);
    uint64_t results[2] = {0, 0};
    for (long i = 0; i < 60; ++i) {
        const icestream_submission work = session_work(steps, 20);
        icestream_ticket about = {.size = sizeof about};
        icestream_hit *hits;
        uint64_t count;
        const uint64_t ticket = session_submit(session, &work);
        pause_for(i % 20 == 19 ? 30000 : (i % 20) * 100);
        ck_assert_int_eq(icestream_session_cancel(session, ticket, NULL), ICESTREAM_OK);
        ck_assert_int_eq(icestream_session_cancel(session, ticket, NULL), ICESTREAM_OK);
        session_wait(session, ticket);
        const int status = icestream_session_take(session, ticket, &hits, &count, &about, NULL);
        ck_assert(status == ICESTREAM_OK || status == ICESTREAM_E_INTERRUPTED);
        ck_assert(status == ICESTREAM_OK ? count > 0 : count == 0 && hits == NULL);
        ck_assert_int_eq(about.status, status);
        results[status == ICESTREAM_OK]++;
        icestream_hits_free(hits);
        ck_assert_int_eq(icestream_session_cancel(session, ticket, NULL), ICESTREAM_E_USAGE);
    }
    ck_assert_uint_gt(results[0], 0);
    free(steps);
    icestream_session_destroy(session);
}
END_TEST

START_TEST(hits_that_nobody_takes_are_bounded)
{
    const icestream_session_options options = {.size = sizeof options, .kept_memory = 1};
    icestream_config *config = session_config((const char *[]){NULL});
    icestream_session *session = NULL;
    const icestream_step step = run_folder_bright(0, 1000);
    const icestream_submission work = session_work(&step, 1);
    icestream_error error = {0};
    uint64_t ticket, count;
    ck_assert_int_eq(icestream_session_open(config, &options, &session, NULL), ICESTREAM_OK);
    const uint64_t first = session_submit(session, &work);
    session_wait(session, first);
    ck_assert_int_eq(icestream_session_submit(session, &work, &ticket, &error),
                     ICESTREAM_E_UNFINISHED);
    ck_assert_msg(strstr(error.text, "nobody has taken, expected at most options.kept_memory, 1"),
                  "%s", error.text);
    icestream_hits_free(session_take(session, first, &count));
    icestream_hits_free(session_take(session, session_submit(session, &work), &count));
    ck_assert_uint_gt(count, 0);
    icestream_session_destroy(session);
    icestream_config_destroy(config);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------- */

enum { CALLERS = 6 };

typedef struct caller {
    pthread_t thread;
    icestream_session *session;
    int index;
    uint64_t submitted, taken;
} caller;

/* Takes what there is. Returns false if there is no ticket any more. */
static bool take_any(caller *me)
{
    icestream_hit *hits = NULL;
    uint64_t count = 0;
    const int status = icestream_session_take(me->session, 0, &hits, &count, NULL, NULL);
    icestream_hits_free(hits);
    me->taken += status == ICESTREAM_OK || status == ICESTREAM_E_INTERRUPTED;
    return status != ICESTREAM_E_USAGE;
}

static void *misbehave(void *user)
{
    caller *me = user;
    const icestream_step step = me->index == 0 ? endless() : run_folder_bright(0, 500);
    const icestream_submission work = session_work(&step, 1);
    icestream_ticket about = {.size = sizeof about};
    uint64_t ticket = 0, finished;
    int status;
    while ((status = icestream_session_submit(me->session, &work, &ticket, NULL)) == ICESTREAM_OK) {
        me->submitted++;
        (void)icestream_session_poll(me->session, ticket, &about, NULL);
        if (me->index % 2 == 0) {
            (void)icestream_session_cancel(me->session, ticket, NULL);
        }
        if (me->index % 3 == 0) { /* another thread may have taken it */
            (void)icestream_session_wait(me->session, ticket, -1, &finished, NULL);
        }
        (void)take_any(me);
    }
    ck_assert_int_eq(status, ICESTREAM_E_USAGE); /* the session is closed */
    ck_assert_int_eq(icestream_session_close(me->session, NULL), ICESTREAM_OK);
    while (take_any(me)) {
    }
    ck_assert_int_eq(icestream_session_submit(me->session, &work, &ticket, NULL),
                     ICESTREAM_E_USAGE);
    return NULL;
}

START_TEST(closing_answers_all_threads)
{
    icestream_session *session = session_open_plain();
    caller callers[CALLERS];
    uint64_t submitted = 0, taken = 0;
    for (int i = 0; i < CALLERS; ++i) {
        callers[i] = (caller){.session = session, .index = i};
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, misbehave, &callers[i]), 0);
    }
    pause_for(50000);
    ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
    for (int i = 0; i < CALLERS; ++i) {
        ck_assert_int_eq(pthread_join(callers[i].thread, NULL), 0);
        submitted += callers[i].submitted;
        taken += callers[i].taken;
    }
    ck_assert_uint_gt(submitted, 0);
    ck_assert_uint_eq(taken, submitted);
    icestream_session_destroy(session);
}
END_TEST

START_TEST(child_may_open_its_own_session)
{
    const icestream_step step = run_folder_bright(0, 1000);
    const icestream_submission work = session_work(&step, 1);
    icestream_session *session = session_open_plain();
    uint64_t count, expected;
    int ended = 1;
    icestream_hits_free(session_take(session, session_submit(session, &work), &expected));
    const pid_t child = fork();
    if (child == 0) {
        icestream_session *own = session_open_plain();
        icestream_hits_free(session_take(own, session_submit(own, &work), &count));
        icestream_session_destroy(own);
        icestream_session_destroy(session); /* the parent's: nothing happens */
        _exit(count == expected ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert_int_eq(ended, 0);
    icestream_session_destroy(session);
}
END_TEST

#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER true
#elif defined(__has_feature)
#define HAS_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define HAS_THREAD_SANITIZER false
#endif

ICS_TEST_MAIN("session_misuse")
{
    TCase *misuse = tcase_create("misuse");
    tcase_add_test(misuse, lent_steps_that_change_are_an_error);
    tcase_add_test(misuse, tickets_are_cancelled_in_every_state);
    tcase_add_test(misuse, hits_that_nobody_takes_are_bounded);
    tcase_add_test(misuse, closing_answers_all_threads);
    if (!HAS_THREAD_SANITIZER) { /* which allows no threads after fork() */
        tcase_add_test(misuse, child_may_open_its_own_session);
    }
    suite_add_tcase(suite, misuse);
}
