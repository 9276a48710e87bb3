#include "pipeline/units/unit_rules.h"

#define RULE(state, event, next, action)                                                           \
    [ICS_UNIT_##state][ICS_ON_##event] = {true, ICS_UNIT_##next, ICS_DO_##action}

/* A reader or a batch of a unit may still be out while the unit is in READING, READING_REST,
 * READ_TO_END, WAITING_AGAIN, REFUSED or STOPPED. In the last two states its events change nothing,
 * which is why they have rules that stay in the state. */
/* clang-format off */
static const ics_unit_rule rules[ICS_UNIT_STATES][ICS_UNIT_EVENTS] = {
    /*   in state       on event        goes to        and does */
    RULE(WAITING,       CHECK_BEGUN,    CHECKING,      NOTHING),
    RULE(WAITING,       BAD_INPUT,      REFUSED,       REFUSE),
    RULE(WAITING,       RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(CHECKING,      CHECKED,        READING,       NOTHING),
    RULE(CHECKING,      ABSENT,         FINISHED,      FINISH_ABSENT),
    RULE(CHECKING,      HITS_EXIST,     COMPLETE,      SKIP),
    RULE(CHECKING,      CLAIM_LOST,     ENDING_CLAIM,  LOSE),
    RULE(CHECKING,      BAD_INPUT,      REFUSED,       REFUSE),
    RULE(CHECKING,      BAD_MESSAGE,    READING_REST,  REFUSE),
    RULE(CHECKING,      RETRY_LATER,    WAITING_AGAIN, NOTHING),
    RULE(CHECKING,      GIVEN_UP,       STOPPED,       STOP),
    RULE(READING,       READ_ALL,       READ_TO_END,   NOTHING),
    RULE(READING,       BAD_INPUT,      REFUSED,       REFUSE),
    RULE(READING,       BAD_MESSAGE,    READING_REST,  REFUSE),
    RULE(READING,       RETRY_LATER,    WAITING_AGAIN, NOTHING),
    RULE(READING,       GIVEN_UP,       STOPPED,       STOP),
    RULE(READING,       RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(READING_REST,  READ_ALL,       REFUSED,       NOTHING),
    RULE(READING_REST,  BAD_INPUT,      REFUSED,       NOTHING),
    RULE(READING_REST,  BAD_MESSAGE,    READING_REST,  NOTHING),
    RULE(READING_REST,  GIVEN_UP,       STOPPED,       STOP),
    RULE(READ_TO_END,   WRITE_BEGUN,    WRITING,       NOTHING),
    RULE(READ_TO_END,   BAD_INPUT,      REFUSED,       REFUSE),
    RULE(READ_TO_END,   BAD_MESSAGE,    REFUSED,       REFUSE),
    RULE(READ_TO_END,   GIVEN_UP,       STOPPED,       STOP),
    RULE(READ_TO_END,   RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(WRITING,       WRITTEN,        COMPLETE,      DONE),
    RULE(WRITING,       HITS_EXIST,     COMPLETE,      SKIP),
    RULE(WRITING,       CLAIM_LOST,     ENDING_CLAIM,  LOSE),
    RULE(WRITING,       BAD_INPUT,      REFUSED,       REFUSE),
    RULE(WRITING,       RETRY_LATER,    READ_TO_END,   NOTHING),
    RULE(WRITING,       GIVEN_UP,       STOPPED,       STOP),
    RULE(WAITING_AGAIN, CHECK_BEGUN,    CHECKING,      NOTHING),
    RULE(WAITING_AGAIN, BAD_INPUT,      REFUSED,       REFUSE),
    RULE(WAITING_AGAIN, GIVEN_UP,       STOPPED,       STOP),
    RULE(WAITING_AGAIN, RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(REFUSED,       DISCARD_BEGUN,  DISCARDING,    NOTHING),
    RULE(REFUSED,       READ_ALL,       REFUSED,       NOTHING),
    RULE(REFUSED,       BAD_INPUT,      REFUSED,       NOTHING),
    RULE(REFUSED,       BAD_MESSAGE,    REFUSED,       NOTHING),
    RULE(REFUSED,       GIVEN_UP,       REFUSED,       NOTHING),
    RULE(REFUSED,       RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(DISCARDING,    DISCARDED,      ENDING_CLAIM,  END_CLAIM),
    RULE(DISCARDING,    GIVEN_UP,       STOPPED,       STOP),
    RULE(STOPPED,       READ_ALL,       STOPPED,       NOTHING),
    RULE(STOPPED,       BAD_INPUT,      STOPPED,       NOTHING),
    RULE(STOPPED,       BAD_MESSAGE,    STOPPED,       NOTHING),
    RULE(STOPPED,       GIVEN_UP,       STOPPED,       NOTHING),
    RULE(STOPPED,       RUN_ENDS,       GIVING_BACK,   GIVE_BACK),
    RULE(COMPLETE,      COMMAND_ENDED,  ENDING_CLAIM,  END_CLAIM),
    RULE(COMPLETE,      GIVEN_UP,       STOPPED,       STOP),
    RULE(COMPLETE,      COMMAND_FAILED, UNDELIVERED,   FAIL),
    RULE(UNDELIVERED,   RUN_ENDS,       GIVING_BACK,   END_CLAIM),
    RULE(ENDING_CLAIM,  CLAIM_ENDED,    FINISHED,      FINISH),
    RULE(ENDING_CLAIM,  CLAIM_LOST,     FINISHED,      FINISH_LOST),
    RULE(ENDING_CLAIM,  RETRY_LATER,    ENDING_CLAIM,  NOTHING),
    RULE(ENDING_CLAIM,  GIVEN_UP,       LEFT,          LEAVE),
    RULE(GIVING_BACK,   CLAIM_ENDED,    LEFT,          LEAVE),
    RULE(GIVING_BACK,   RETRY_LATER,    GIVING_BACK,   NOTHING),
    RULE(GIVING_BACK,   GIVEN_UP,       LEFT,          LEAVE),
};
/* clang-format on */

const ics_unit_rule *ics_unit_rules_find(ics_unit_state state, ics_unit_event event)
{
    if ((unsigned)state >= ICS_UNIT_STATES || (unsigned)event >= ICS_UNIT_EVENTS) {
        return NULL;
    }
    const ics_unit_rule *rule = &rules[state][event];
    return rule->possible ? rule : NULL;
}

bool ics_unit_rules_is_reading(ics_unit_state state)
{
    return state == ICS_UNIT_CHECKING || state == ICS_UNIT_READING ||
           state == ICS_UNIT_READING_REST;
}

bool ics_unit_rules_is_last(ics_unit_state state)
{
    return state == ICS_UNIT_FINISHED || state == ICS_UNIT_LEFT;
}

ics_unit_result ics_unit_rules_result(ics_unit_action action, ics_unit_result result)
{
    switch (action) {
    case ICS_DO_REFUSE:
        return ICS_RESULT_QUARANTINED;
    case ICS_DO_DONE:
        return ICS_RESULT_DONE;
    case ICS_DO_SKIP:
        return ICS_RESULT_SKIPPED;
    case ICS_DO_LOSE:
    case ICS_DO_FINISH_LOST:
        return ICS_RESULT_LOST;
    case ICS_DO_FINISH_ABSENT:
        return ICS_RESULT_ABSENT;
    case ICS_DO_FAIL:
        return ICS_RESULT_UNDELIVERED;
    case ICS_DO_GIVE_BACK:
    case ICS_DO_STOP:
        return ICS_RESULT_NONE;
    default:
        return result;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

#define ROW(name, text) {#name, text},
typedef struct named {
    const char *name, *text;
} named;
static const named states[] = {ICS_UNIT_STATE_LIST(ROW)};
static const named events[] = {ICS_UNIT_EVENT_LIST(ROW)};
static const named actions[] = {ICS_UNIT_ACTION_LIST(ROW)};
static const named results[] = {ICS_UNIT_RESULT_LIST(ROW)};
#undef ROW

const char *ics_unit_rules_state_name(ics_unit_state state)
{
    return (unsigned)state < ICS_UNIT_STATES ? states[state].name : "unknown";
}

const char *ics_unit_rules_event_name(ics_unit_event event)
{
    return (unsigned)event < ICS_UNIT_EVENTS ? events[event].name : "unknown";
}

const char *ics_unit_rules_result_text(ics_unit_result result)
{
    return (unsigned)result < ICS_UNIT_RESULTS ? results[result].text : "unknown";
}

/* ---- docs/unit-life.md ----------------------------------------------------------------------- */

static void print_list(FILE *out, const char *head, const named *items, int count)
{
    fprintf(out, "\n## %s\n\n| name | meaning |\n|---|---|\n", head);
    for (int i = 0; i < count; ++i) {
        if (items[i].text[0] != '\0') {
            fprintf(out, "| `%s` | %s |\n", items[i].name, items[i].text);
        }
    }
}

static void print_diagram(FILE *out)
{
    fprintf(out, "\n## Rules\n\n```mermaid\nstateDiagram-v2\n    [*] --> WAITING\n");
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
            const ics_unit_rule *rule = &rules[state][event];
            if (rule->possible) {
                const named *action = &actions[rule->action];
                fprintf(out, "    %s --> %s: %s%s%s\n", states[state].name, states[rule->next].name,
                        events[event].name, action->text[0] != '\0' ? " / " : "",
                        action->text[0] != '\0' ? action->name : "");
            }
        }
        if (ics_unit_rules_is_last((ics_unit_state)state)) {
            fprintf(out, "    %s --> [*]\n", states[state].name);
        }
    }
    fprintf(out, "```\n");
}

void ics_unit_rules_print(FILE *out)
{
    fprintf(out,
            "# The states of a unit\n\n"
            "A unit is one step file, or one message of a stream. This document is printed from "
            "the table in\n`pipeline/units/unit_rules.c` by `tests/units/test_unit_rules.c`; "
            "`ICS_REWRITE=1` makes the test\nwrite it again. An arrow has an event and, behind a "
            "slash, an action. An event without an arrow cannot\nhappen in a state: if it does, "
            "the run stops with an internal error.\n");
    print_diagram(out);
    print_list(out, "States", states, ICS_UNIT_STATES);
    print_list(out, "Events", events, ICS_UNIT_EVENTS);
    print_list(out, "Actions", actions, ICS_UNIT_ACTIONS);
}
