/* Promise: whatever happens to a unit, the table of its life has a rule for it, nothing is lost or
 * finished twice, and every sequence of events ends.
 *
 * The table is driven by random events. The model below replaces the run: it knows which jobs of
 * one unit are out and which events can happen next. A sequence ends when the model has nothing
 * left to do. tests/run/test_run_model.c drives the run itself. How to join: a new event or job
 * needs a place in begin() or deliver(). With ICS_REWRITE=1 the test writes docs/unit-life.md. */
#include "pipeline/units/unit_rules.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SEQUENCES = 1000000, STEPS = 400, TROUBLES = 6, BATCHES = 4 };

/* Check writes a note for every ck_assert that holds, which is too slow for 1e7 of them. */
#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg(__VA_ARGS__);                                                             \
        }                                                                                          \
    } while (0)

static bool seen[ICS_UNIT_STATES][ICS_UNIT_EVENTS];

/* One unit and its run. */
typedef struct model {
    uint64_t random;
    ics_unit_state state;
    ics_unit_result result;
    bool stream, claimed, refused_by_intake; /* what kind of unit it is */
    bool reader, writer, spilling, io;       /* jobs that are out */
    uint32_t batches, made;                  /* batches that are out; batches made */
    bool stopping, cancelled;                /* the run */
    bool queued;                             /* in a list of the loop */
    uint32_t troubles, written, finished, undelivered;
} model;

/* SplitMix64. */
static uint32_t draw(model *at, uint32_t below)
{
    uint64_t z = at->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(((z ^ (z >> 31)) >> 32) * below >> 32);
}

static bool is_out(const model *at)
{
    return at->reader || at->writer || at->spilling || at->io || at->batches > 0;
}

static void act(model *at, ics_unit_action action)
{
    at->result = ics_unit_rules_result(action, at->result);
    switch (action) {
    case ICS_DO_DONE:
    case ICS_DO_SKIP:
    case ICS_DO_END_CLAIM:
    case ICS_DO_LOSE:
    case ICS_DO_GIVE_BACK:
        MUST(!at->queued, "a unit would be in two lists");
        at->queued = true;
        break;
    case ICS_DO_FINISH:
    case ICS_DO_FINISH_LOST:
    case ICS_DO_FINISH_ABSENT:
        MUST(!is_out(at), "finished while a job is out");
        at->finished++;
        break;
    case ICS_DO_FAIL:
        MUST(!is_out(at), "sink.command failed while a job is out");
        at->undelivered++;
        break;
    default:
        break;
    }
}

static void happen(model *at, ics_unit_event event)
{
    const ics_unit_rule *rule = ics_unit_rules_find(at->state, event);
    MUST(rule != NULL, "no rule for %s in %s", ics_unit_rules_event_name(event),
         ics_unit_rules_state_name(at->state));
    seen[at->state][event] = true;
    at->state = rule->next;
    act(at, rule->action);
}

/* ---- jobs that come back --------------------------------------------------------------------- */

/* A job failed for a reason that may pass. The run tries again a few times. */
static void happen_trouble(model *at)
{
    happen(at, at->stopping || ++at->troubles > TROUBLES ? ICS_ON_GIVEN_UP : ICS_ON_RETRY_LATER);
}

static void end_check(model *at)
{
    at->reader = false;
    switch (draw(at, 8)) {
    case 0:
        happen(at, at->stream && draw(at, 2) == 0 ? ICS_ON_BAD_MESSAGE : ICS_ON_BAD_INPUT);
        break;
    case 1:
        happen(at, at->stream ? ICS_ON_ABSENT : ICS_ON_HITS_EXIST);
        break;
    case 2:
        happen(at, at->claimed ? ICS_ON_CLAIM_LOST : ICS_ON_CHECKED);
        break;
    case 3:
        if (at->stream) {
            happen(at, ICS_ON_GIVEN_UP);
        } else {
            happen_trouble(at);
        }
        break;
    default:
        happen(at, at->stopping && draw(at, 2) == 0 ? ICS_ON_GIVEN_UP : ICS_ON_CHECKED);
        break;
    }
}

static void end_fill(model *at)
{
    bool reading = ics_unit_rules_is_reading(at->state);
    at->reader = false;
    uint32_t what = draw(at, 8);
    if (what < 6 && at->made < BATCHES) {
        at->batches++;
        at->made++;
    }
    if (what == 7 && !reading) {
        return; /* the unit has another result already, so this error is ignored */
    }
    if (what == 7 && draw(at, 2) == 0) {
        happen(at, at->stream && draw(at, 2) == 0 ? ICS_ON_BAD_MESSAGE : ICS_ON_BAD_INPUT);
    } else if (what == 7) {
        if (at->stream) {
            happen(at, ICS_ON_GIVEN_UP);
        } else {
            happen_trouble(at);
        }
    } else if (what == 6 || at->made == BATCHES) {
        happen(at, at->stopping && draw(at, 2) == 0 ? ICS_ON_GIVEN_UP : ICS_ON_READ_ALL);
    }
}

static void end_batch(model *at)
{
    at->batches--;
    uint32_t what = draw(at, 12);
    if (what == 0) {
        happen(at, at->stream ? ICS_ON_BAD_MESSAGE : ICS_ON_BAD_INPUT);
    } else if (what == 1 && at->stopping) {
        happen(at, ICS_ON_GIVEN_UP);
    }
}

static void end_write(model *at)
{
    at->writer = false;
    switch (draw(at, 8)) {
    case 0:
        happen(at, at->claimed ? ICS_ON_CLAIM_LOST : ICS_ON_BAD_INPUT);
        break;
    case 1:
        happen(at, at->stream ? ICS_ON_HITS_EXIST : ICS_ON_BAD_INPUT);
        break;
    case 2:
        happen_trouble(at);
        break;
    case 3:
        if (at->stopping) {
            happen(at, ICS_ON_GIVEN_UP);
            break;
        }
        /* fall through */
    default:
        at->written++;
        happen(at, ICS_ON_WRITTEN);
        break;
    }
}

static void end_discard(model *at)
{
    at->writer = false;
    happen(at, at->stopping && draw(at, 8) == 0 ? ICS_ON_GIVEN_UP : ICS_ON_DISCARDED);
}

static void end_claim(model *at)
{
    at->io = false;
    switch (draw(at, 6)) {
    case 0:
        happen_trouble(at);
        break;
    case 1:
        if (at->state == ICS_UNIT_ENDING_CLAIM && at->result == ICS_RESULT_QUARANTINED &&
            at->claimed) {
            happen(at, ICS_ON_CLAIM_LOST);
            break;
        }
        /* fall through */
    default:
        happen(at, ICS_ON_CLAIM_ENDED);
        break;
    }
}

/* ---- jobs that the run begins -----------------------------------------------------------------
 */

static void end_command(model *at)
{
    bool fails = draw(at, 6) == 0;
    at->queued = false;
    happen(at, at->cancelled || (fails && at->stopping) ? ICS_ON_GIVEN_UP
               : fails                                  ? ICS_ON_COMMAND_FAILED
                                                        : ICS_ON_COMMAND_ENDED);
}

static bool begin_check(model *at)
{
    if (at->stopping || is_out(at)) {
        return false;
    }
    if (at->state == ICS_UNIT_WAITING && at->refused_by_intake) {
        happen(at, ICS_ON_BAD_INPUT);
        return true;
    }
    at->made = 0;
    happen(at, ICS_ON_CHECK_BEGUN);
    at->reader = true;
    return true;
}

static bool begin_writer(model *at, ics_unit_event event)
{
    if (at->cancelled || is_out(at) ||
        (at->stopping && at->state == ICS_UNIT_READ_TO_END && at->troubles > 0)) {
        return false; /* a run that stops tries nothing again */
    }
    happen(at, event);
    at->writer = true;
    return true;
}

/* The run begins what the state of the unit allows. Returns false if that is nothing. */
static bool begin(model *at)
{
    switch (at->state) {
    case ICS_UNIT_WAITING:
    case ICS_UNIT_WAITING_AGAIN:
        return begin_check(at);
    case ICS_UNIT_READING:
    case ICS_UNIT_READING_REST:
        if (at->reader || at->stopping) {
            return false;
        }
        at->reader = true;
        return true;
    case ICS_UNIT_READ_TO_END:
        if (draw(at, 8) == 0 && !at->spilling && !at->stopping) {
            at->spilling = true; /* the disk was full: hits in memory are moved to it */
            return true;
        }
        return begin_writer(at, ICS_ON_WRITE_BEGUN);
    case ICS_UNIT_REFUSED:
        return begin_writer(at, ICS_ON_DISCARD_BEGUN);
    case ICS_UNIT_COMPLETE:
        end_command(at);
        return true;
    case ICS_UNIT_ENDING_CLAIM:
    case ICS_UNIT_GIVING_BACK:
        if (at->io || (at->stopping && at->troubles > 0 && !at->queued)) {
            return false;
        }
        at->queued = false;
        at->io = true;
        return true;
    default:
        return false;
    }
}

/* One job comes back. Returns false if no job is out. */
static bool deliver(model *at)
{
    if (at->batches > 0 && (draw(at, 2) == 0 || !(at->reader || at->spilling))) {
        end_batch(at);
    } else if (at->spilling) {
        at->spilling = false;
    } else if (at->reader && at->state == ICS_UNIT_CHECKING) {
        end_check(at);
    } else if (at->reader) {
        end_fill(at);
    } else if (at->writer && at->state == ICS_UNIT_WRITING) {
        end_write(at);
    } else if (at->writer) {
        end_discard(at);
    } else if (at->io) {
        end_claim(at);
    } else {
        return false;
    }
    return true;
}

/* ---- sequences ------------------------------------------------------------------------------- */

static bool give_back(model *at)
{
    if (!at->claimed || is_out(at) || ics_unit_rules_find(at->state, ICS_ON_RUN_ENDS) == NULL) {
        return false;
    }
    happen(at, ICS_ON_RUN_ENDS);
    return true;
}

/* One turn of the run. Returns false if nothing is left to do. */
static bool turn(model *at)
{
    if (!at->stopping && draw(at, 64) == 0) {
        at->stopping = true;
    }
    if (at->stopping && !at->cancelled && draw(at, 16) == 0) {
        at->cancelled = true;
    }
    if (draw(at, 2) == 0) {
        return begin(at) || deliver(at) || give_back(at);
    }
    return deliver(at) || begin(at) || give_back(at);
}

static void check_end(const model *at)
{
    bool done = at->result == ICS_RESULT_DONE;
    MUST(!is_out(at), "ended while a job is out");
    MUST(at->written <= 1, "written %u times", at->written);
    MUST(at->finished == (at->state == ICS_UNIT_FINISHED), "finished %u times in %s", at->finished,
         ics_unit_rules_state_name(at->state));
    bool undelivered = at->result == ICS_RESULT_UNDELIVERED;
    MUST(at->undelivered == undelivered, "sink.command failed %u times", at->undelivered);
    MUST(!undelivered || !at->claimed || at->state == ICS_UNIT_LEFT ||
             at->state == ICS_UNIT_GIVING_BACK,
         "sink.command failed, and the claim is kept in %s", ics_unit_rules_state_name(at->state));
    if (at->state == ICS_UNIT_FINISHED) {
        MUST(at->result != ICS_RESULT_NONE && !undelivered, "finished without a result");
        MUST(at->written == done, "the result is %s, and the hits were written %u times",
             ics_unit_rules_result_text(at->result), at->written);
    } else {
        /* A unit may be left only if the run stops, or if an error of the unit ended the run. */
        MUST(at->stopping || at->troubles > TROUBLES || at->state == ICS_UNIT_STOPPED ||
                 at->state == ICS_UNIT_LEFT || undelivered,
             "left in %s", ics_unit_rules_state_name(at->state));
    }
    if (at->claimed && !at->cancelled && !at->stopping) {
        MUST(ics_unit_rules_is_last(at->state), "a claim is left in %s",
             ics_unit_rules_state_name(at->state));
    }
}

START_TEST(every_sequence_of_events_ends_well)
{
    model at = {.random = 20261122};
    for (int i = 0; i < SEQUENCES; ++i) {
        const uint32_t kind = draw(&at, 16);
        at = (model){.random = at.random,
                     .stream = kind % 4 == 0,
                     .claimed = kind % 4 > 1,
                     .refused_by_intake = kind == 15};
        int steps = 0;
        while (turn(&at)) {
            MUST(++steps < STEPS, "no end after the limit of steps, in %s",
                 ics_unit_rules_state_name(at.state));
        }
        check_end(&at);
    }
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
            bool rule = ics_unit_rules_find((ics_unit_state)state, (ics_unit_event)event) != NULL;
            MUST(seen[state][event] == rule, "the rule for %s in %s was never needed",
                 ics_unit_rules_event_name((ics_unit_event)event),
                 ics_unit_rules_state_name((ics_unit_state)state));
        }
    }
}
END_TEST

START_TEST(impossible_pairs_have_no_rule)
{
    ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_WAITING, ICS_ON_WRITTEN));
    ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_COMPLETE, ICS_ON_RUN_ENDS));
    ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_STATES, ICS_ON_GIVEN_UP));
    ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_WAITING, ICS_UNIT_EVENTS));
    for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
        ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_FINISHED, (ics_unit_event)event));
        ck_assert_ptr_null(ics_unit_rules_find(ICS_UNIT_LEFT, (ics_unit_event)event));
    }
}
END_TEST

START_TEST(document_is_the_table)
{
    static const char path[] = ICS_SOURCE_DIRECTORY "/docs/unit-life.md";
    char *expected = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&expected, &size);
    ics_unit_rules_print(memory);
    fclose(memory);
    if (getenv("ICS_REWRITE") != NULL) {
        FILE *out = fopen(path, "w");
        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(fputs(expected, out) >= 0 && fclose(out) == 0, 1);
    }
    char *found = calloc(1, size + 2);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is missing: run this test with ICS_REWRITE=1", path);
    ck_assert_uint_eq(fread(found, 1, size + 1, file), size);
    fclose(file);
    ck_assert_msg(memcmp(found, expected, size) == 0,
                  "%s is not the table: run this test with ICS_REWRITE=1", path);
    free(found);
    free(expected);
}
END_TEST

ICS_TEST_MAIN("unit rules")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_sequence_of_events_ends_well);
    tcase_add_test(all, impossible_pairs_have_no_rule);
    tcase_add_test(all, document_is_the_table);
    suite_add_tcase(suite, all);
}
