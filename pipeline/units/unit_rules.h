/* The life of a unit as one table: for each state and event, the next state and what the run does.
 *
 * The table is pure data: it knows no thread, no file and no run. The run applies it
 * (pipeline/run/unit_states.h), tests/units/test_unit_rules.c drives it with random events, and
 * docs/unit-life.md is printed from it. */
#ifndef ICS_UNITS_UNIT_RULES_H
#define ICS_UNITS_UNIT_RULES_H

#include <stdbool.h>
#include <stdio.h>

/* X(NAME, what a unit in this state does or waits for) */
#define ICS_UNIT_STATE_LIST(X)                                                                     \
    X(WAITING, "the unit waits to be opened")                                                      \
    X(CHECKING, "a reader checks the input")                                                       \
    X(READING, "readers cut the steps into batches")                                               \
    X(READING_REST, "the rest of a message with bad input is skipped")                             \
    X(READ_TO_END, "all steps are in batches; the hits will be written when the batches are back") \
    X(WRITING, "the writer has all hits")                                                          \
    X(WAITING_AGAIN, "the unit waits to be read again from its beginning")                         \
    X(REFUSED, "the input is bad; the hits will be discarded")                                     \
    X(DISCARDING, "the writer discards the hits")                                                  \
    X(STOPPED, "the run stops, and the unit is not finished")                                      \
    X(COMPLETE, "the output is complete; sink.command may run")                                    \
    X(UNDELIVERED, "sink.command has failed too often; the claim is kept until the run ends")      \
    X(ENDING_CLAIM, "the claim is being ended")                                                    \
    X(GIVING_BACK, "the claim is being given back")                                                \
    X(FINISHED, "the unit has a result; nothing more happens")                                     \
    X(LEFT, "the unit is left to another worker or run; nothing more happens")

/* X(NAME, what happened) */
#define ICS_UNIT_EVENT_LIST(X)                                                                     \
    X(CHECK_BEGUN, "a reader was given the unit to check")                                         \
    X(CHECKED, "the input is good")                                                                \
    X(ABSENT, "the stream ended before this message")                                              \
    X(HITS_EXIST, "the output exists already: an earlier run or another worker has written it")    \
    X(CLAIM_LOST, "the claim is lost: another worker has it")                                      \
    X(READ_ALL, "the last step is in a batch")                                                     \
    X(BAD_INPUT, "a reader, a batch of a file or the writer found bad input")                      \
    X(BAD_MESSAGE, "a reader or a batch found bad input in a message, and its end can be found")   \
    X(RETRY_LATER, "a job failed for a reason that may pass, and will be tried again")             \
    X(GIVEN_UP, "a job failed for good, or was interrupted because the run stops")                 \
    X(WRITE_BEGUN, "the writer was given the hits to write")                                       \
    X(WRITTEN, "the hit file or the message is complete")                                          \
    X(DISCARD_BEGUN, "the writer was given the hits to discard")                                   \
    X(DISCARDED, "the hits are gone")                                                              \
    X(COMMAND_ENDED, "sink.command has succeeded, or there is none")                               \
    X(COMMAND_FAILED, "sink.command has failed, and this run does not try it again")               \
    X(CLAIM_ENDED, "the claim has ended, or there is none")                                        \
    X(RUN_ENDS, "the run ends, and the unit is not finished")

/* X(NAME, what the run does besides changing the state) */
#define ICS_UNIT_ACTION_LIST(X)                                                                    \
    X(NOTHING, "")                                                                                 \
    X(REFUSE, "the result is quarantined")                                                         \
    X(DONE, "the result is done; queue for sink.command")                                          \
    X(SKIP, "the result is skipped; queue for sink.command")                                       \
    X(FAIL, "the result is that sink.command failed; count it, and free the memory")               \
    X(END_CLAIM, "queue for the end of the claim")                                                 \
    X(LOSE, "the result is lost; queue for the end of the claim")                                  \
    X(GIVE_BACK, "no result; queue for the end of the claim")                                      \
    X(STOP, "no result")                                                                           \
    X(FINISH, "count and report the result")                                                       \
    X(FINISH_LOST, "the result is lost; count and report it")                                      \
    X(FINISH_ABSENT, "the result is absent; count it")                                             \
    X(LEAVE, "free the memory")

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

#define ICS_UNIT_ENUMERATE(name, text) ICS_DO_##name,
typedef enum ics_unit_action {
    ICS_UNIT_ACTION_LIST(ICS_UNIT_ENUMERATE) ICS_UNIT_ACTIONS
} ics_unit_action;
#undef ICS_UNIT_ENUMERATE

#define ICS_UNIT_ENUMERATE(name, text) ICS_RESULT_##name,
typedef enum ics_unit_result {
    ICS_UNIT_RESULT_LIST(ICS_UNIT_ENUMERATE) ICS_UNIT_RESULTS
} ics_unit_result;
#undef ICS_UNIT_ENUMERATE

typedef struct ics_unit_rule {
    bool possible; /* false: the event cannot happen in the state */
    ics_unit_state next;
    ics_unit_action action;
} ics_unit_rule;

/* The rule for an event in a state. NULL: the event cannot happen there, and if it does, the
 * program has a fault. Any thread. */
const ics_unit_rule *ics_unit_rules_find(ics_unit_state state, ics_unit_event event);

/* Whether a reader works on a unit in this state, or will. The number of such units is limited. */
bool ics_unit_rules_is_reading(ics_unit_state state);
/* Whether nothing more happens to a unit in this state. */
bool ics_unit_rules_is_last(ics_unit_state state);
/* The result that an action gives to a unit that had `result`. */
ics_unit_result ics_unit_rules_result(ics_unit_action action, ics_unit_result result);

/* Names for messages, such as "READING" and "CHECKED"; never NULL. */
const char *ics_unit_rules_state_name(ics_unit_state state);
const char *ics_unit_rules_event_name(ics_unit_event event);
/* "done", "skipped": as in summary.json; never NULL. */
const char *ics_unit_rules_result_text(ics_unit_result result);

/* Prints docs/unit-life.md. */
void ics_unit_rules_print(FILE *out);

#endif
