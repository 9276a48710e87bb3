#include "pipeline/production/units/rules.h"

/* Each entry is the next state + 1; 0: the event cannot happen. */
#define RULE(state, event, next) [ICS_UNIT_##state][ICS_ON_##event] = ICS_UNIT_##next + 1

/* A reader or a batch of a unit may still be out while the unit is in WAITING, READING, READ or
 * STOPPED. In the last two states its events change nothing, which is why they have rules that stay
 * in the state. */
/* clang-format off */
static const unsigned char rules[ICS_UNIT_STATES][ICS_UNIT_EVENTS] = {
    /*   in state   on event       goes to */
    RULE(WAITING,   BEGUN,         CHECKING),
    RULE(WAITING,   BAD_INPUT,     READ),
    RULE(WAITING,   GIVEN_UP,      STOPPED),
    RULE(WAITING,   RUN_ENDS,      ENDING),
    RULE(CHECKING,  CHECKED,       READING),
    RULE(CHECKING,  BAD_INPUT,     READ),
    RULE(CHECKING,  BAD_MESSAGE,   READING),
    RULE(CHECKING,  RETRY_LATER,   WAITING),
    RULE(CHECKING,  GIVEN_UP,      STOPPED),
    RULE(CHECKING,  OUTPUT_EXISTS, COMPLETE),
    RULE(CHECKING,  DECIDED,       ENDING),
    RULE(READING,   READ_ALL,      READ),
    RULE(READING,   BAD_INPUT,     READ),
    RULE(READING,   BAD_MESSAGE,   READING),
    RULE(READING,   RETRY_LATER,   WAITING),
    RULE(READING,   GIVEN_UP,      STOPPED),
    RULE(READING,   RUN_ENDS,      ENDING),
    RULE(READ,      BEGUN,         WRITING),
    RULE(READ,      READ_ALL,      READ),
    RULE(READ,      BAD_INPUT,     READ),
    RULE(READ,      GIVEN_UP,      STOPPED),
    RULE(READ,      RUN_ENDS,      ENDING),
    RULE(WRITING,   BAD_INPUT,     READ),
    RULE(WRITING,   RETRY_LATER,   READ),
    RULE(WRITING,   GIVEN_UP,      STOPPED),
    RULE(WRITING,   OUTPUT_EXISTS, COMPLETE),
    RULE(WRITING,   DECIDED,       ENDING),
    RULE(COMPLETE,  GIVEN_UP,      STOPPED),
    RULE(COMPLETE,  DECIDED,       ENDING),
    RULE(STOPPED,   READ_ALL,      STOPPED),
    RULE(STOPPED,   BAD_INPUT,     STOPPED),
    RULE(STOPPED,   GIVEN_UP,      STOPPED),
    RULE(STOPPED,   RUN_ENDS,      ENDING),
    RULE(ENDING,    CLAIM_ENDED,   FINISHED),
    RULE(ENDING,    RETRY_LATER,   ENDING),
    RULE(ENDING,    GIVEN_UP,      LEFT),
};
/* clang-format on */

bool ics_unit_rules_next(ics_unit_state state, ics_unit_event event, ics_unit_state *next)
{
    const unsigned char rule = rules[state][event];
    if (rule > 0) {
        *next = (ics_unit_state)(rule - 1);
    }
    return rule > 0;
}

bool ics_unit_rules_is_reading(ics_unit_state state)
{
    return state == ICS_UNIT_CHECKING || state == ICS_UNIT_READING;
}

bool ics_unit_rules_is_last(ics_unit_state state)
{
    return state == ICS_UNIT_FINISHED || state == ICS_UNIT_LEFT;
}

/* ---- names ----------------------------------------------------------------------------------- */

#define ROW(name, text) {#name, text},
typedef struct named {
    const char *name, *text;
} named;
static const named states[] = {ICS_UNIT_STATE_LIST(ROW)};
static const named events[] = {ICS_UNIT_EVENT_LIST(ROW)};
static const named results[] = {ICS_UNIT_RESULT_LIST(ROW)};
#undef ROW

const char *ics_unit_rules_state_name(ics_unit_state state)
{
    return states[state].name;
}

const char *ics_unit_rules_event_name(ics_unit_event event)
{
    return events[event].name;
}

const char *ics_unit_rules_result_text(ics_unit_result result)
{
    return results[result].text;
}

/* ---- docs/unit-life.md ----------------------------------------------------------------------- */

static void print_list(FILE *out, const char *head, const named *items, int count)
{
    fprintf(out, "\n## %s\n\n| name | meaning |\n|---|---|\n", head);
    for (int i = 0; i < count; ++i) {
        fprintf(out, "| `%s` | %s |\n", items[i].name, items[i].text);
    }
}

/* Prints all rules as lines of a format with the names of state, next state and event. `loops`:
 * with those that stay in the state. */
static void print_rules(FILE *out, const char *line, bool loops)
{
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
            const int next = rules[state][event] - 1;
            if (next >= 0 && (loops || next != state)) {
                fprintf(out, line, states[state].name, states[next].name, events[event].name);
            }
        }
    }
}

void ics_unit_rules_print(FILE *out)
{
    fprintf(out,
            "# The states of a unit\n\n"
            "A unit is one step file, or one message of a stream. This document is printed from "
            "the table in\n`pipeline/production/units/rules.c` by `tests/units/test_unit_rules.c`; "
            "`ICS_REWRITE=1` makes the test\nwrite it again. An event that has no rule in a state "
            "cannot happen there: if it does, the run stops\nwith an internal error.\n"
            "\n## Diagram\n\n```mermaid\nstateDiagram-v2\n    [*] --> WAITING\n");
    print_rules(out, "    %s --> %s: %s\n", false);
    fprintf(out, "    FINISHED --> [*]\n    LEFT --> [*]\n```\n");
    print_list(out, "States", states, ICS_UNIT_STATES);
    print_list(out, "Events", events, ICS_UNIT_EVENTS);
    fprintf(out, "\n## Rules\n\n| in state | goes to | on event |\n|---|---|---|\n");
    print_rules(out, "| `%s` | `%s` | `%s` |\n", true);
}
