/* The life of a unit as one table: for each state and event, the next state.
 *
 * The table is pure data: it knows no thread, no file and no run. The run applies it and does what
 * belongs to the state that a unit enters (pipeline/production/run/unit_states.c);
 * tests/run/test_run_model.c drives it with random jobs, and docs/unit-life.md is printed from it.
 */
#ifndef ICS_PRODUCTION_UNITS_RULES_H
#define ICS_PRODUCTION_UNITS_RULES_H

#include <stdbool.h>
#include <stdio.h>

/* X(NAME, what a unit in this state does or waits for) */
#define ICS_UNIT_STATE_LIST(X)                                                                     \
    X(WAITING, "the unit waits to be read from its beginning, for the first time or again")        \
    X(CHECKING, "a reader checks the input")                                                       \
    X(READING, "readers cut the steps into batches, or skip the rest of a bad message")            \
    X(READ, "nothing more is read; the writer will write the hits, or discard those of bad "       \
            "input, when the batches are back")                                                    \
    X(WRITING, "the writer writes or discards the hits")                                           \
    X(COMPLETE, "the output is complete; sink.command may run")                                    \
    X(STOPPED, "the unit is not finished, and this run does no more for it; its claim is kept "    \
               "until the run ends")                                                               \
    X(ENDING, "the claim is being ended, or given back if the unit has no result")                 \
    X(FINISHED, "the unit has a result; nothing more happens")                                     \
    X(LEFT, "the unit is left to another worker or run; nothing more happens")

/* X(NAME, what happened) */
#define ICS_UNIT_EVENT_LIST(X)                                                                     \
    X(BEGUN, "a reader was given the unit to check, or the writer its hits")                       \
    X(CHECKED, "the input is good")                                                                \
    X(READ_ALL, "the last step is in a batch")                                                     \
    X(BAD_INPUT, "a reader, a batch or the writer found bad input, and nothing more is read")      \
    X(BAD_MESSAGE, "a reader or a batch found bad input in a message, and its end can be found")   \
    X(RETRY_LATER, "a job failed for a reason that may pass, and will be tried again")             \
    X(GIVEN_UP, "a job failed for good, or the run stops or keeps the claim")                      \
    X(OUTPUT_EXISTS, "the hits are written, now or by an earlier run or another worker")           \
    X(DECIDED, "the result is known, and the claim can be ended")                                  \
    X(CLAIM_ENDED, "the claim of a unit with a result has ended, or there is none")                \
    X(RUN_ENDS, "the run ends, and the unit is not finished")

/* What became of a unit. X(NAME, text in summary.json) */
#define ICS_UNIT_RESULT_LIST(X)                                                                    \
    X(NONE, "left")                                                                                \
    X(DONE, "done")                                                                                \
    X(SKIPPED, "skipped")                                                                          \
    X(QUARANTINED, "set aside")                                                                    \
    X(LOST, "lost")                                                                                \
    X(UNDELIVERED, "command failed")                                                               \
    X(ABSENT, "left")

#define ICS_UNIT_ENUMERATE(name, text) ICS_UNIT_##name,
typedef enum ics_unit_state {
    ICS_UNIT_STATE_LIST(ICS_UNIT_ENUMERATE) ICS_UNIT_STATES
} ics_unit_state;
#undef ICS_UNIT_ENUMERATE

#define ICS_UNIT_ENUMERATE(name, text) ICS_ON_##name,
typedef enum ics_unit_event {
    ICS_UNIT_EVENT_LIST(ICS_UNIT_ENUMERATE) ICS_UNIT_EVENTS
} ics_unit_event;
#undef ICS_UNIT_ENUMERATE

#define ICS_UNIT_ENUMERATE(name, text) ICS_RESULT_##name,
typedef enum ics_unit_result {
    ICS_UNIT_RESULT_LIST(ICS_UNIT_ENUMERATE) ICS_UNIT_RESULTS
} ics_unit_result;
#undef ICS_UNIT_ENUMERATE

/* Finds the state that follows on an event. False: the event cannot happen in the state, and if it
 * does, the program has a fault. Any thread. */
bool ics_unit_rules_next(ics_unit_state state, ics_unit_event event, ics_unit_state *next);

/* Whether a reader works on a unit in this state, or will. The number of such units is limited. */
bool ics_unit_rules_is_reading(ics_unit_state state);
/* Whether nothing more happens to a unit in this state. */
bool ics_unit_rules_is_last(ics_unit_state state);

/* Names for messages, such as "READING" and "CHECKED"; never NULL. */
const char *ics_unit_rules_state_name(ics_unit_state state);
const char *ics_unit_rules_event_name(ics_unit_event event);
/* "done", "skipped": as in summary.json; never NULL. */
const char *ics_unit_rules_result_text(ics_unit_result result);

/* Prints docs/unit-life.md. */
void ics_unit_rules_print(FILE *out);

#endif
