#include "pipeline/units/unit_rules.h"

#define RULE(state, event, next, action)                                                           \
    [ICS_UNIT_##state][ICS_ON_##event] = {true, ICS_UNIT_##next, ICS_DO_##action}

/* A unit that has a batch or a reader out may hear of it in READING, READING_PAST, READ, AGAIN,
 * REFUSED and STOPPED; that is why the last two have rules that change nothing. */
/* clang-format off */
static const ics_unit_rule rules[ICS_UNIT_STATES][ICS_UNIT_EVENTS] = {
    /*   in state      on event        goes to       and does */
    RULE(WAITING,      CHECK_BEGUN,    CHECKING,     NOTHING),
    RULE(WAITING,      BAD_INPUT,      REFUSED,      REFUSE),
    RULE(WAITING,      GIVE_BACK,      RETURNING,    RETURN),
    RULE(CHECKING,     CHECKED,        READING,      NOTHING),
    RULE(CHECKING,     ABSENT,         FINISHED,     FINISH_ABSENT),
    RULE(CHECKING,     MATCHED,        COMPLETE,     SKIP),
    RULE(CHECKING,     CLAIM_LOST,     ENDING,       LOSE),
    RULE(CHECKING,     BAD_INPUT,      REFUSED,      REFUSE),
    RULE(CHECKING,     TROUBLE,        AGAIN,        NOTHING),
    RULE(CHECKING,     STOP,           STOPPED,      STOP),
    RULE(READING,      READ_ALL,       READ,         NOTHING),
    RULE(READING,      BAD_INPUT,      REFUSED,      REFUSE),
    RULE(READING,      BAD_MESSAGE,    READING_PAST, REFUSE),
    RULE(READING,      TROUBLE,        AGAIN,        NOTHING),
    RULE(READING,      STOP,           STOPPED,      STOP),
    RULE(READING,      GIVE_BACK,      RETURNING,    RETURN),
    RULE(READING_PAST, READ_ALL,       REFUSED,      NOTHING),
    RULE(READING_PAST, BAD_INPUT,      REFUSED,      NOTHING),
    RULE(READING_PAST, BAD_MESSAGE,    READING_PAST, NOTHING),
    RULE(READING_PAST, STOP,           STOPPED,      STOP),
    RULE(READ,         WRITE_BEGUN,    WRITING,      NOTHING),
    RULE(READ,         BAD_INPUT,      REFUSED,      REFUSE),
    RULE(READ,         BAD_MESSAGE,    REFUSED,      REFUSE),
    RULE(READ,         STOP,           STOPPED,      STOP),
    RULE(READ,         GIVE_BACK,      RETURNING,    RETURN),
    RULE(WRITING,      WRITTEN,        COMPLETE,     DONE),
    RULE(WRITING,      STORED,         IN_VOLUME,    STORE),
    RULE(WRITING,      MATCHED,        COMPLETE,     SKIP),
    RULE(WRITING,      CLAIM_LOST,     ENDING,       LOSE),
    RULE(WRITING,      BAD_INPUT,      REFUSED,      REFUSE),
    RULE(WRITING,      TROUBLE,        READ,         NOTHING),
    RULE(WRITING,      STOP,           STOPPED,      STOP),
    RULE(IN_VOLUME,    COMMITTED,      COMPLETE,     DONE),
    RULE(IN_VOLUME,    VOLUME_DROPPED, AGAIN,        NOTHING),
    RULE(IN_VOLUME,    CLAIM_LOST,     ENDING,       LOSE),
    RULE(IN_VOLUME,    GIVE_BACK,      RETURNING,    RETURN),
    RULE(AGAIN,        CHECK_BEGUN,    CHECKING,     NOTHING),
    RULE(AGAIN,        BAD_INPUT,      REFUSED,      REFUSE),
    RULE(AGAIN,        STOP,           STOPPED,      STOP),
    RULE(AGAIN,        GIVE_BACK,      RETURNING,    RETURN),
    RULE(REFUSED,      DISCARD_BEGUN,  DISCARDING,   NOTHING),
    RULE(REFUSED,      READ_ALL,       REFUSED,      NOTHING),
    RULE(REFUSED,      BAD_INPUT,      REFUSED,      NOTHING),
    RULE(REFUSED,      BAD_MESSAGE,    REFUSED,      NOTHING),
    RULE(REFUSED,      STOP,           REFUSED,      NOTHING),
    RULE(REFUSED,      GIVE_BACK,      RETURNING,    RETURN),
    RULE(DISCARDING,   DISCARDED,      ENDING,       END),
    RULE(DISCARDING,   STOP,           STOPPED,      STOP),
    RULE(STOPPED,      READ_ALL,       STOPPED,      NOTHING),
    RULE(STOPPED,      BAD_INPUT,      STOPPED,      NOTHING),
    RULE(STOPPED,      BAD_MESSAGE,    STOPPED,      NOTHING),
    RULE(STOPPED,      STOP,           STOPPED,      NOTHING),
    RULE(STOPPED,      GIVE_BACK,      RETURNING,    RETURN),
    RULE(COMPLETE,     COMMAND_ENDED,  ENDING,       END),
    RULE(COMPLETE,     STOP,           STOPPED,      STOP),
    RULE(ENDING,       CLAIM_ENDED,    FINISHED,     FINISH),
    RULE(ENDING,       CLAIM_LOST,     FINISHED,     FINISH_LOST),
    RULE(ENDING,       TROUBLE,        ENDING,       NOTHING),
    RULE(ENDING,       STOP,           LEFT,         LEAVE),
    RULE(RETURNING,    CLAIM_ENDED,    LEFT,         LEAVE),
    RULE(RETURNING,    STOP,           LEFT,         LEAVE),
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
           state == ICS_UNIT_READING_PAST;
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
    case ICS_DO_RETURN:
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

/* A rule that changes neither the state nor anything else is left out of the diagram. */
static void print_diagram(FILE *out)
{
    fprintf(out, "\n## Diagram\n\n```mermaid\nstateDiagram-v2\n    [*] --> WAITING\n");
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
            const ics_unit_rule *rule = &rules[state][event];
            if (rule->possible && (int)rule->next != state) {
                fprintf(out, "    %s --> %s: %s\n", states[state].name, states[rule->next].name,
                        events[event].name);
            }
        }
        if (ics_unit_rules_is_last((ics_unit_state)state)) {
            fprintf(out, "    %s --> [*]\n", states[state].name);
        }
    }
    fprintf(out, "```\n");
}

static void print_rules(FILE *out)
{
    fprintf(out, "\n## Rules\n\n| in state | on event | goes to | and does |\n|---|---|---|---|\n");
    for (int state = 0; state < ICS_UNIT_STATES; ++state) {
        for (int event = 0; event < ICS_UNIT_EVENTS; ++event) {
            const ics_unit_rule *rule = &rules[state][event];
            if (rule->possible) {
                fprintf(out, "| `%s` | `%s` | `%s` | %s |\n", states[state].name,
                        events[event].name, states[rule->next].name, actions[rule->action].text);
            }
        }
    }
}

void ics_unit_rules_print(FILE *out)
{
    fprintf(out,
            "# The life of a unit\n\n"
            "A unit is one step file, or one message of a stream. This document is printed from "
            "the table in\n`pipeline/units/unit_rules.c` by `tests/units/test_unit_rules.c`; "
            "`ICS_REWRITE=1` makes the test\nwrite it again. An event that has no rule in a state "
            "cannot happen there: if it does, the run stops\nwith an internal error.\n");
    print_diagram(out);
    print_list(out, "States", states, ICS_UNIT_STATES);
    print_list(out, "Events", events, ICS_UNIT_EVENTS);
    print_list(out, "Actions", actions, ICS_UNIT_ACTIONS);
    print_rules(out);
}
