/* Sessions: photons in memory.
 *
 * Promises: the hits of a session are, byte for byte, those of `icestream run`, whatever the order
 * of the steps, and whether steps are copied, lent or made; no hit is copied when it is taken, and
 * lent steps are not copied; tickets, cancelling, closing, waiting and the descriptor do what
 * icestream_session.h says; eight threads can use one session.
 * To join: a new way to submit needs a test that compares its hits with those of a run.
 */
#include "pipeline/photons/session/state.h"
#include "tests/run/run_place.h"
#include "tests/session/session_world.h"

#include <math.h>
#include <poll.h>

enum { STEPS = 100, THREADS = 8, EACH = 4 };
/* The photons of a step, which take several times as long with a sanitizer. */
#if defined(ICE_KEEP_CALLS)
enum { PHOTONS = 1000 };
#else
enum { PHOTONS = 3000 };
#endif

static void check_hits(const char *name, const icestream_hit *hits, uint64_t count)
{
    size_t expected_count = 0;
    icestream_hit *expected = run_folder_hits(&place, name, &expected_count);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(count, expected_count);
    ck_assert_mem_eq(hits, expected, count * sizeof *hits);
    free(expected);
}

static void run(const char *first, const char *second)
{
    ck_assert_msg(run_folder_run(&place, (const char *[]){SESSION_DETECTOR, "device.backend=cpu",
                                                          "run.seed=7", first,
                                                          first != NULL ? second : NULL, NULL}) ==
                      ICESTREAM_OK,
                  "%s", place.error.text);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static void compare_with_run(const icestream_step *steps, const char *set)
{
    run_folder_steps(&place, "a.steps.npy", steps, STEPS);
    run(set, NULL);
    icestream_session *session = session_open((const char *[]){set, NULL});
    for (uint32_t flags = 0; flags <= ICESTREAM_SUBMIT_LENT; ++flags) {
        uint64_t count = 0;
        icestream_submission work = session_work(steps, STEPS);
        work.flags = flags;
        icestream_hit *hits = session_take(session, session_submit(session, &work), &count);
        check_hits("a.hits.npy", hits, count);
        icestream_hits_free(hits);
    }
    icestream_session_destroy(session);
}

START_TEST(hits_are_those_of_a_run)
{
    icestream_step *steps = session_steps(STEPS, PHOTONS);
    compare_with_run(steps, NULL);
    free(steps);
}
END_TEST

/* Batches of 5000 photons, and steps whose order is not that of hit files. */
START_TEST(order_and_batches_do_not_matter)
{
    icestream_step *steps = session_steps(STEPS, PHOTONS);
    for (size_t i = 0; i < STEPS / 2; ++i) {
        const icestream_step step = steps[i];
        steps[i] = steps[STEPS - 1 - i];
        steps[STEPS - 1 - i] = step;
    }
    compare_with_run(steps, "graph.batch=5000");
    free(steps);
}
END_TEST

static void run_generated(const char *set)
{
    char sink[2 * SCRATCH_PATH];
    snprintf(sink, sizeof sink, "sink.directory=%s", place.hits);
    icestream_config *config = session_config((const char *[]){
        sink, "workload.kind=point", "workload.position=[4,0,2]", "workload.steps=40", set, NULL});
    ck_assert_msg(icestream_run(config, &place.options, &place.error) == ICESTREAM_OK, "%s",
                  place.error.text);
    icestream_config_destroy(config);
    place.options.force = true; /* the next run replaces the hits */
}

START_TEST(steps_are_made_inside)
{
    static const char *const list =
        "particles.list=[{type: e-, event: 5, x: 3, y: 0, z: 1, zenith: 0, azimuth: 0, energy: 2}]";
    static const char *const sets[] = {list};
    uint64_t count = 0;
    icestream_session *session = session_open((const char *[]){
        "workload.kind=point", "workload.position=[4,0,2]", "workload.steps=40", NULL});
    icestream_submission work = {.size = sizeof work};
    run_generated(NULL);
    icestream_hit *hits = session_take(session, session_submit(session, &work), &count);
    check_hits("generated.hits.npy", hits, count);
    icestream_hits_free(hits);

    work.sets = sets;
    work.set_count = 1;
    run_generated(list);
    hits = session_take(session, session_submit(session, &work), &count);
    check_hits("generated.hits.npy", hits, count);
    icestream_hits_free(hits);
    icestream_session_destroy(session);
}
END_TEST

/* The array that is taken is the array that the session has made; lent steps are read where they
 * are. */
START_TEST(nothing_is_copied)
{
    icestream_step *steps = session_steps(STEPS, PHOTONS);
    icestream_session *session = session_open_plain();
    icestream_submission work = session_work(steps, STEPS);
    icestream_ticket about = {.size = sizeof about};
    uint64_t count = 0;
    work.flags = ICESTREAM_SUBMIT_LENT;
    const uint64_t ticket = session_submit(session, &work);
    session_wait(session, ticket);
    const ics_ticket *inside = ics_ticket_find(session, ticket);
    ck_assert_ptr_eq(inside->steps, steps);
    ck_assert_ptr_null(inside->copy);
    const icestream_hit *made = inside->hits;
    ck_assert_int_eq(icestream_session_poll(session, ticket, &about, NULL), ICESTREAM_OK);
    ck_assert_ptr_eq(about.hits, made);
    icestream_hit *hits = session_take(session, ticket, &count);
    ck_assert_ptr_eq(hits, made);
    icestream_session_destroy(session);
    ck_assert_uint_eq(hits[count - 1].event_id, (STEPS - 1) / 16); /* it outlives the session */
    icestream_hits_free(hits);
    free(steps);
}
END_TEST

/* ---- tickets --------------------------------------------------------------------------------- */

START_TEST(ticket_has_account_and_times)
{
    icestream_step *steps = session_steps(STEPS, PHOTONS);
    icestream_session *session = session_open_plain();
    const icestream_submission work = session_work(steps, STEPS);
    icestream_ticket about = {.size = sizeof about};
    icestream_hit *hits;
    uint64_t count;
    const uint64_t ticket = session_submit(session, &work);
    ck_assert_uint_eq(ticket, 1);
    session_wait(session, ticket);
    ck_assert_int_eq(icestream_session_take(session, 0, &hits, &count, &about, NULL), ICESTREAM_OK);
    ck_assert_int_eq(about.state, ICESTREAM_TICKET_FINISHED);
    ck_assert_int_eq(about.status, ICESTREAM_OK);
    ck_assert_uint_eq(about.ticket, 1);
    ck_assert_uint_eq(about.steps, STEPS);
    ck_assert_uint_eq(about.account.created, (uint64_t)STEPS * PHOTONS);
    ck_assert_uint_eq(about.account.hits, count);
    ck_assert_uint_eq(about.account.created, about.account.absorbed + about.account.detected +
                                                 about.account.left + about.account.stopped);
    ck_assert(0 <= about.submitted && about.submitted <= about.started);
    ck_assert(about.started <= about.finished && about.thread_seconds > 0);
    icestream_hits_free(hits);
    icestream_session_destroy(session);
    free(steps);
}
END_TEST

static bool is_readable(const icestream_session *session)
{
    struct pollfd about = {.fd = icestream_session_descriptor(session), .events = POLLIN};
    return poll(&about, 1, 0) == 1;
}

START_TEST(descriptor_shows_finished_tickets)
{
    icestream_step *steps = session_steps(STEPS, 1);
    icestream_session *session = session_open_plain();
    const icestream_submission work = session_work(steps, STEPS);
    uint64_t count, finished = 1;
    ck_assert(!is_readable(session));
    ck_assert_int_eq(icestream_session_wait(session, 0, -1, &finished, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(finished, 0); /* there is nothing to wait for */
    const uint64_t first = session_submit(session, &work), second = session_submit(session, &work);
    session_wait(session, first);
    session_wait(session, second);
    ck_assert(is_readable(session));
    icestream_hits_free(session_take(session, first, &count));
    ck_assert(is_readable(session));
    icestream_hits_free(session_take(session, second, &count));
    ck_assert(!is_readable(session));
    icestream_session_destroy(session);
    free(steps);
}
END_TEST

/* Work of a minute or more, which no test waits for. */
static icestream_step endless(void)
{
    icestream_step step = run_folder_bright(0, UINT32_MAX);
    return step;
}

START_TEST(cancelled_ticket_ends_alone)
{
    const icestream_step steps[2] = {endless(), run_folder_bright(1, 100)};
    icestream_session *session = session_open_plain();
    icestream_submission work = session_work(steps, 1);
    icestream_error error = {0};
    icestream_hit *hits;
    uint64_t count = 1, finished = 1;
    const uint64_t running = session_submit(session, &work);
    const uint64_t waiting = session_submit(session, &work);
    work = session_work(steps + 1, 1);
    const uint64_t last = session_submit(session, &work);
    ck_assert_int_eq(icestream_session_wait(session, running, 0.01, &finished, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(finished, 0);
    ck_assert_int_eq(icestream_session_take(session, running, &hits, &count, NULL, &error),
                     ICESTREAM_E_UNFINISHED);
    ck_assert_int_eq(icestream_session_cancel(session, waiting, NULL), ICESTREAM_OK);
    session_wait(session, waiting);
    ck_assert_int_eq(icestream_session_cancel(session, running, NULL), ICESTREAM_OK);
    session_wait(session, running);
    ck_assert_int_eq(icestream_session_take(session, running, &hits, &count, NULL, &error),
                     ICESTREAM_E_INTERRUPTED);
    ck_assert_str_eq(error.text, "steps: cancelled");
    ck_assert_ptr_null(hits);
    icestream_hits_free(session_take(session, last, &count));
    ck_assert_uint_gt(count, 0);
    icestream_session_destroy(session); /* with a ticket that nobody takes */
}
END_TEST

START_TEST(closing_ends_all_tickets)
{
    const icestream_step step = endless();
    icestream_session *session = session_open_plain();
    const icestream_submission work = session_work(&step, 1);
    icestream_hit *hits;
    icestream_error error = {0};
    uint64_t ticket = session_submit(session, &work), count;
    session_submit(session, &work);
    ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
    ck_assert_int_eq(icestream_session_close(session, NULL), ICESTREAM_OK);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(icestream_session_take(session, 0, &hits, &count, NULL, &error),
                         ICESTREAM_E_INTERRUPTED);
        ck_assert_str_eq(error.text, "steps: the session was closed");
    }
    ck_assert_int_eq(icestream_session_take(session, 0, &hits, &count, NULL, &error),
                     ICESTREAM_E_USAGE);
    ck_assert_int_eq(icestream_session_submit(session, &work, &ticket, &error), ICESTREAM_E_USAGE);
    ck_assert_str_eq(error.text, "found a session that is closed, expected an open one");
    icestream_session_destroy(session);
}
END_TEST

START_TEST(tickets_have_a_limit)
{
    const icestream_step step = endless();
    const icestream_session_options options = {.size = sizeof options, .tickets = 1};
    icestream_config *config = session_config((const char *[]){NULL});
    icestream_session *session = NULL;
    const icestream_submission work = session_work(&step, 1);
    uint64_t ticket;
    ck_assert_int_eq(icestream_session_open(config, &options, &session, NULL), ICESTREAM_OK);
    session_submit(session, &work);
    ck_assert_int_eq(icestream_session_submit(session, &work, &ticket, NULL),
                     ICESTREAM_E_UNFINISHED);
    icestream_session_destroy(session);
    icestream_config_destroy(config);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct caller {
    icestream_session *session;
    const icestream_step *steps;
    pthread_t thread;
    uint64_t hits, created;
    bool lends, takes_any;
} caller;

/* Submits, looks and takes, as the tickets of any thread come. */
static void *call(void *user)
{
    caller *me = user;
    icestream_submission work = session_work(me->steps, STEPS);
    work.flags = me->lends ? ICESTREAM_SUBMIT_LENT : 0;
    for (int i = 0; i < EACH; ++i) {
        icestream_ticket about = {.size = sizeof about};
        icestream_hit *hits;
        uint64_t count, finished;
        const uint64_t ticket = session_submit(me->session, &work);
        (void)icestream_session_poll(me->session, ticket, &about, NULL);
        const uint64_t wanted = me->takes_any ? 0 : ticket;
        int status = ICESTREAM_E_UNFINISHED;
        while (status == ICESTREAM_E_UNFINISHED) { /* another thread may take the same one first */
            ck_assert_int_eq(icestream_session_wait(me->session, wanted, -1, &finished, NULL),
                             ICESTREAM_OK);
            status = icestream_session_take(me->session, wanted, &hits, &count, &about, NULL);
        }
        ck_assert_int_eq(status, ICESTREAM_OK);
        me->hits += count;
        me->created += about.account.created;
        icestream_hits_free(hits);
    }
    return NULL;
}

static void use_session(icestream_session *session, bool takes_any)
{
    icestream_step *steps = session_steps(STEPS, 100);
    caller callers[THREADS];
    uint64_t hits = 0, created = 0;
    for (size_t i = 0; i < THREADS; ++i) {
        callers[i] = (caller){
            .session = session, .steps = steps, .lends = i % 2 == 0, .takes_any = takes_any};
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; ++i) {
        pthread_join(callers[i].thread, NULL);
        hits += callers[i].hits;
        created += callers[i].created;
    }
    ck_assert_uint_eq(created, (uint64_t)THREADS * EACH * STEPS * 100);
    ck_assert_uint_eq(hits % ((uint64_t)THREADS * EACH), 0); /* all tickets have the same hits */
    ck_assert_uint_gt(hits, 0);
    free(steps);
}

START_TEST(eight_threads_share_a_session)
{
    icestream_session *session = session_open_plain();
    icestream_session *other = session_open((const char *[]){"run.seed=8", NULL});
    use_session(session, false);
    use_session(session, true);
    use_session(other, false);
    icestream_session_destroy(session);
    icestream_session_destroy(other);
}
END_TEST

ICS_TEST_MAIN("session")
{
    TCase *hits = tcase_create("hits");
    tcase_add_checked_fixture(hits, open_place, close_place);
    tcase_add_test(hits, hits_are_those_of_a_run);
    tcase_add_test(hits, order_and_batches_do_not_matter);
    tcase_add_test(hits, steps_are_made_inside);
    tcase_add_test(hits, nothing_is_copied);
    suite_add_tcase(suite, hits);
    TCase *tickets = tcase_create("tickets");
    tcase_add_test(tickets, ticket_has_account_and_times);
    tcase_add_test(tickets, descriptor_shows_finished_tickets);
    tcase_add_test(tickets, cancelled_ticket_ends_alone);
    tcase_add_test(tickets, closing_ends_all_tickets);
    tcase_add_test(tickets, tickets_have_a_limit);
    suite_add_tcase(suite, tickets);
    TCase *threads = tcase_create("threads");
    tcase_add_test(threads, eight_threads_share_a_session);
    suite_add_tcase(suite, threads);
}
