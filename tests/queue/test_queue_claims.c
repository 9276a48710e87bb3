/* Promises of pipeline/production/queue for workers and producers that behave well, or are killed:
 * every ticket is done once, also if workers, the broker or the answers of the broker are lost. The
 * broker is a real redis-server (broker.h says how to join). */
#include "tests/queue/broker.h"

#define DIGEST_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

START_TEST(test_tickets_are_shared)
{
    ck_assert_int_eq(broker_put("a.npy", "steps of a", NULL), ICESTREAM_OK);
    ck_assert_int_eq(broker_put("b.npy", "steps of b", NULL), ICESTREAM_OK);
    ics_claims one = broker_worker("one", 60), two = broker_worker("two", 60);
    broker_assert_counts(&one, (broker_counts){.waiting = 2});
    ics_claim a = broker_claim(&one, "a.npy"), b = broker_claim(&two, "b.npy");
    broker_claim(&one, NULL);
    broker_assert_counts(&one, (broker_counts){.claimed = 2});
    size_t size = 0;
    unsigned char *steps = scratch_read(a.path, &size);
    ck_assert_uint_eq(size, a.bytes);
    ck_assert_int_eq(memcmp(steps, "steps of a", size), 0);
    free(steps);
    ck_assert_uint_eq(a.attempt, 1);
    char path[SCRATCH_PATH];
    snprintf(path, sizeof path, "%s", a.path);
    ck_assert(broker_done(&one, &a, DIGEST_A));
    ck_assert_int_ne(access(path, F_OK), 0); /* the worker keeps nothing */
    ck_assert(broker_done(&two, &b, DIGEST_B));
    broker_assert_counts(&one, (broker_counts){.done = 2});
    ck_assert_int_eq(BROKER_CALL("XLEN", "work:results"), 2);
    ck_assert(broker_stream_has("work:results", DIGEST_A));
    ck_assert(broker_stream_has("work:results", "out.hits.npy"));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
    ck_assert_int_eq(BROKER_CALL("HLEN", "work:workers"), 0);
}
END_TEST

START_TEST(test_files_are_put_once)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(broker_put("a.npy", "steps", NULL), ICESTREAM_OK);
    ck_assert_int_eq(broker_put("a.npy", "steps", NULL), ICESTREAM_OK);
    ck_assert_int_eq(BROKER_CALL("XLEN", "work"), 1);
    ck_assert_int_eq(broker_put("a.npy", "others", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(broker_refusal, "found another step file of this name"));
    ck_assert_ptr_nonnull(strstr(error.text, "1 of 1 files were not put"));
    ics_claims one = broker_worker("one", 60);
    ics_claim a = broker_claim(&one, "a.npy");
    ck_assert(broker_done(&one, &a, DIGEST_A));
    ck_assert_int_eq(broker_put("a.npy", "steps", NULL), ICESTREAM_OK); /* it is done */
    broker_claim(&one, NULL);
    ics_claims_destroy(&one);
}
END_TEST

/* Worker `one` is silent for longer than its lease. */
START_TEST(test_lost_workers)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 60), two = broker_worker("two", 60);
    ics_claim first = broker_claim(&one, "a.npy");
    broker_age("one", 61);
    ics_claim second = broker_claim(&two, "a.npy");
    ck_assert_uint_eq(second.attempt, 2);
    size_t lost = 0;
    ck_assert(ics_claims_holds(&one, &first)); /* it cannot know */
    ck_assert_int_eq(ics_claims_extend(&one, &lost, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(lost, 1);
    ck_assert(!ics_claims_holds(&one, &first));
    ck_assert(broker_done(&two, &second, DIGEST_A));
    ck_assert(!broker_done(&one, &first, DIGEST_A)); /* the same bytes */
    ck_assert_uint_eq(the_broker.notes, 0);
    ck_assert_int_eq(BROKER_CALL("XLEN", "work:results"), 1);
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* A lost worker that is faster all the same: its hits count. Other bytes are a warning. */
START_TEST(test_lost_but_first)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 60), two = broker_worker("two", 60);
    ics_claim first = broker_claim(&one, "a.npy");
    broker_age("one", 61);
    ics_claim second = broker_claim(&two, "a.npy");
    ck_assert(broker_done(&one, &first, DIGEST_A));
    ck_assert(!broker_done(&two, &second, DIGEST_B));
    ck_assert_uint_eq(the_broker.notes, 1);
    ck_assert_ptr_nonnull(strstr(the_broker.note, "hits depend on more"));
    broker_assert_counts(&one, (broker_counts){.done = 1});
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_heartbeats_keep_claims)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 60), two;
    ics_claim claim = broker_claim(&one, "a.npy");
    for (int i = 0; i < 3; ++i) {
        size_t lost = 1;
        broker_age("one", 61);
        ck_assert_int_eq(ics_claims_extend(&one, &lost, NULL), ICESTREAM_OK);
        ck_assert_uint_eq(lost, 0);
        two = broker_worker("two", 60); /* a new worker looks at once */
        broker_claim(&two, NULL);
        ics_claims_destroy(&two);
    }
    ck_assert(broker_done(&one, &claim, DIGEST_A));
    ics_claims_destroy(&one);
}
END_TEST

/* Nobody had a heartbeat for longer than the lease, because the broker was away. Then every worker
 * has a whole lease to renew its claims, before others may claim its tickets. */
START_TEST(test_silence)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 60);
    ics_claim claim = broker_claim(&one, "a.npy"), none = {.name = NULL};
    for (int i = 0; i < 2; ++i) {
        broker_age("one", 61);
        BROKER_CALL("HINCRBY", "work:beats", "last", "-61000");
        ics_claims two = broker_worker("two", 60);
        size_t count = 0, lost = 1;
        icestream_error error = {.status = ICESTREAM_OK};
        ck_assert_int_eq(ics_claims_take(&two, 1, &none, &count, &error), ICESTREAM_E_OUTPUT);
        ck_assert_int_eq(error.cause, ENOTCONN);
        ck_assert_ptr_nonnull(strstr(error.text, "lost workers can be claimed in "));
        if (i == 0) {
            ck_assert_int_eq(ics_claims_extend(&one, &lost, NULL), ICESTREAM_OK);
            ck_assert_uint_eq(lost, 0);
            broker_claim(&two, NULL);
        } else { /* the first worker does not come back */
            BROKER_CALL("HINCRBY", "work:beats", "since", "-61000");
            ics_claims_destroy(&two);
            two = broker_worker("two", 60); /* a new worker looks at once */
            ics_claim taken = broker_claim(&two, "a.npy");
            ck_assert(broker_done(&two, &taken, DIGEST_A));
        }
        ics_claims_destroy(&two);
    }
    ck_assert(!broker_done(&one, &claim, DIGEST_A));
    ics_claims_destroy(&one);
}
END_TEST

/* A worker that was stopped for longer than its lease asks the broker before it commits hits. */
START_TEST(test_doubtful_claims)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 0.2), two = broker_worker("two", 60);
    ics_claim first = broker_claim(&one, "a.npy");
    broker_age("one", 61);
    ics_claim second = broker_claim(&two, "a.npy");
    broker_sleep(0.3);
    ck_assert(!ics_claims_holds(&one, &first));
    /* The lost worker was faster. The one that has the ticket now finds that out. */
    ck_assert(broker_done(&one, &first, DIGEST_A));
    ck_assert(!ics_claims_holds(&two, &second));
    ck_assert(!broker_done(&two, &second, DIGEST_A));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

START_TEST(test_given_back)
{
    broker_put("a.npy", "steps", NULL);
    ics_claims one = broker_worker("one", 60), two = broker_worker("two", 60);
    ics_claim claim = broker_claim(&one, "a.npy");
    bool held = false;
    ck_assert_int_eq(ics_claims_give_back(&one, &claim, &held, NULL), ICESTREAM_OK);
    ck_assert(held);
    ics_claims_claim_free(&claim);
    broker_assert_counts(&one, (broker_counts){.waiting = 1});
    claim = broker_claim(&two, "a.npy"); /* at once, and as if nobody had begun it */
    ck_assert_uint_eq(claim.attempt, 1);
    ck_assert(broker_done(&two, &claim, DIGEST_A));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

/* attempts: 3. The fourth worker refuses the ticket, and says why. */
START_TEST(test_dead_letters)
{
    broker_put("a.npy", "steps", NULL);
    for (int i = 1; i <= 3; ++i) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        ics_claims worker = broker_worker(name, 60);
        ics_claim claim = broker_claim(&worker, "a.npy");
        ck_assert_uint_eq(claim.attempt, (unsigned)i);
        ck_assert_ptr_null(claim.refusal);
        ics_claims_claim_free(&claim);
        ics_claims_destroy(&worker);
        broker_age(name, 61);
    }
    ics_claims last = broker_worker("last", 60);
    ics_claim claim = broker_claim(&last, "a.npy");
    ck_assert_str_eq(claim.refusal, "a.npy: was begun 3 times and never finished");
    bool held = false;
    ck_assert_int_eq(ics_claims_fail(&last, &claim, claim.refusal, &held, NULL), ICESTREAM_OK);
    ck_assert(held);
    ics_claims_claim_free(&claim);
    broker_assert_counts(&last, (broker_counts){.dead = 1});
    ck_assert(broker_stream_has("work:dead", "never finished"));
    ck_assert_int_eq(broker_put("a.npy", "better", NULL), ICESTREAM_OK); /* the name is free */
    claim = broker_claim(&last, "a.npy");
    ck_assert(broker_done(&last, &claim, DIGEST_A));
    ics_claims_destroy(&last);
}
END_TEST

/* The broker is killed and comes back with its data; a claim survives, and so does its end. */
START_TEST(test_broker_is_killed)
{
    broker_put("a.npy", "steps", NULL);
    broker_put("b.npy", "steps of b", NULL);
    ics_claims one = broker_worker("one", 60);
    ics_claim a = broker_claim(&one, "a.npy"), claim = {.name = NULL};
    broker_kill();
    size_t count = 0;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(ics_claims_take(&one, 1, &claim, &count, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, ENOTCONN);
    ck_assert_ptr_nonnull(strstr(error.text, "Connection refused"));
    broker_start(NULL);
    ck_assert(broker_done(&one, &a, DIGEST_A));
    claim = broker_claim(&one, "b.npy");
    ck_assert(broker_done(&one, &claim, DIGEST_A));
    broker_assert_counts(&one, (broker_counts){.done = 2});
    /* Without its data: this is said, and the worker goes on. */
    ck_assert_int_eq(BROKER_CALL("FLUSHALL"), 0);
    broker_claim(&one, NULL);
    ck_assert_ptr_nonnull(strstr(the_broker.note, "has lost the queue"));
    broker_put("c.npy", "steps of c", NULL);
    claim = broker_claim(&one, "c.npy");
    ck_assert(broker_done(&one, &claim, DIGEST_A));
    ics_claims_destroy(&one);
}
END_TEST

START_TEST(test_one_process_has_a_name)
{
    ics_claims one = broker_worker("one", 60), other;
    icestream_error error = {.status = ICESTREAM_OK};
    const ics_queue_claims_options options = broker_options("one", 60);
    ck_assert_int_eq(ics_queue_claims_create(&options, &other, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "found a worker with the name one"));
    broker_age("one", 61); /* as if the first had been killed */
    ck_assert_int_eq(ics_queue_claims_create(&options, &other, &error), ICESTREAM_OK);
    ics_claims_destroy(&other);
    ics_claims_destroy(&one);
}
END_TEST

/* A ticket for another configuration waits for a worker that has it. */
START_TEST(test_configurations)
{
    broker_put("a.npy", "steps", NULL);
    BROKER_CALL("XADD", "work", "*", "name", "b.npy", "steps", "b", "configuration", DIGEST_A);
    ics_queue_claims_options options = broker_options("one", 60);
    options.configuration = DIGEST_B;
    ics_claims one, two = broker_worker("two", 60);
    ck_assert_int_eq(ics_queue_claims_create(&options, &one, NULL), ICESTREAM_OK);
    ics_claim a = broker_claim(&one, "a.npy");
    ck_assert(broker_done(&one, &a, DIGEST_A));
    broker_claim(&one, NULL);
    ck_assert_uint_eq(the_broker.declined, 1);
    ck_assert_ptr_nonnull(
        strstr(the_broker.note, "for the configuration with the digest aaaaaaaaaaaa"));
    broker_claim(&two, NULL);
    broker_age("(given back)", 61);
    ics_claims_destroy(&two);
    two = broker_worker("two", 60);            /* a new worker looks at once */
    ics_claim b = broker_claim(&two, "b.npy"); /* takes tickets for any */
    ck_assert(broker_done(&two, &b, DIGEST_A));
    ics_claims_destroy(&one);
    ics_claims_destroy(&two);
}
END_TEST

ICS_TEST_MAIN("queue claims")
{
    const TTest *const with_broker[] = {test_tickets_are_shared,     test_files_are_put_once,
                                        test_lost_workers,           test_lost_but_first,
                                        test_heartbeats_keep_claims, test_silence,
                                        test_doubtful_claims,        test_given_back,
                                        test_dead_letters,           test_broker_is_killed,
                                        test_one_process_has_a_name, test_configurations};
    broker_add_tests(suite, with_broker, COUNT(with_broker));
}
