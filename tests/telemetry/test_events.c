/* Promises of the log: the line for people and the JSON line for programs of every event, and of
 * the progress. How to join: add an event and its text to the cases of lines_for_people. */
#include "pipeline/production/telemetry/events.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static char *memory;
static size_t memory_size;
static FILE *out;
static ics_events events;

/* Begins a log in memory. */
static void begin(ics_log_format format)
{
    memory = NULL;
    out = open_memstream(&memory, &memory_size);
    ck_assert_ptr_nonnull(out);
    events = ics_events_begin(out, format, "w1");
}

/* What was logged; valid until end(). */
static const char *logged(void)
{
    ics_events_end(&events);
    ck_assert_int_eq(fflush(out), 0);
    return memory;
}

static void end(void)
{
    fclose(out);
    free(memory);
}

START_TEST(lines_for_people)
{
    static const struct {
        ics_event event;
        const char *text; /* NULL: nothing is logged */
    } cases[] = {
        {{.kind = ICS_EVENT_START, .files = 3}, NULL},
        {{.kind = ICS_EVENT_CLAIMED, .file = "a"}, NULL},
        {{.kind = ICS_EVENT_DONE, .file = "a", .output = "b"}, NULL},
        {{.kind = ICS_EVENT_STOP, .reason = "3 files done"}, "3 files done\n"},
        {{.kind = ICS_EVENT_QUARANTINED, .file = "a.npy", .reason = "a.npy: row 3, field x: odd"},
         "a.npy: row 3, field x: odd (quarantined)\n"},
        {{.kind = ICS_EVENT_QUARANTINED, .file = "a.npy", .reason = "no file"},
         "a.npy: no file (quarantined)\n"},
        {{.kind = ICS_EVENT_RETRIED,
          .file = "a.npy",
          .reason = "Input/output error",
          .attempt = 2,
          .seconds = 0.5},
         "a.npy: Input/output error (attempt 2; the next one in 0.5 s)\n"},
        {{.kind = ICS_EVENT_FAILED, .file = "a.npy", .reason = NULL}, "a.npy\n"},
        {{.kind = ICS_EVENT_PAUSED, .reason = "out: No space left on device"},
         "paused: out: No space left on device\n"},
        {{.kind = ICS_EVENT_RESUMED, .seconds = 12.0}, "resumed after 12 s\n"},
        {{.kind = ICS_EVENT_DEVICE_LOST, .device = "cuda:1", .reason = "ECC error"},
         "cuda:1: ECC error (lost; its work is done elsewhere)\n"},
        {{.kind = ICS_EVENT_SIGNAL, .signal = SIGTERM}, "Terminated\n"},
        {{.kind = ICS_EVENT_WARNING, .reason = "odd"}, "warning: odd\n"},
        {{.kind = ICS_EVENT_MESSAGE, .reason = "hello"}, "hello\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        begin(ICS_LOG_TEXT);
        ics_events_report(&events, &cases[i].event);
        ck_assert_str_eq(logged(), cases[i].text != NULL ? cases[i].text : "");
        end();
    }
}
END_TEST

START_TEST(objects_for_programs)
{
    begin(ICS_LOG_JSON);
    for (int kind = 0; kind < ICS_EVENT_KINDS; ++kind) {
        ics_events_report(&events, &(ics_event){.kind = (ics_event_kind)kind,
                                                .file = "a \"b\"\n",
                                                .reason = "line 1\nline 2",
                                                .signal = SIGTERM,
                                                .exit_status = 143});
    }
    ics_events_note(&events, ICS_EVENT_WARNING, "%d is odd", 3);
    const char *at = logged();
    for (int kind = 0; kind <= ICS_EVENT_KINDS; ++kind) {
        const char *newline = strchr(at, '\n');
        ck_assert_ptr_nonnull(newline);
        json_t *line = json_loadb(at, (size_t)(newline - at), 0, NULL);
        ck_assert_ptr_nonnull(line);
        const char *reason = json_string_value(json_object_get(line, "reason"));
        const char *name = json_string_value(json_object_get(line, "event"));
        if (kind < ICS_EVENT_KINDS) {
            ck_assert_str_eq(name, ics_event_name((ics_event_kind)kind));
            ck_assert_int_eq(ics_event_of_name(name), kind);
            ck_assert_str_eq(reason, "line 1\nline 2");
        } else {
            ck_assert_str_eq(reason, "3 is odd");
        }
        if (kind == ICS_EVENT_SIGNAL) {
            ck_assert_str_eq(json_string_value(json_object_get(line, "signal")), "SIGTERM");
        }
        ck_assert_str_eq(json_string_value(json_object_get(line, "worker")), "w1");
        json_decref(line);
        at = newline + 1;
    }
    ck_assert_str_eq(at, "");
    ck_assert_int_eq(ics_event_of_name("no such event"), ICS_EVENT_KINDS);
    end();
}
END_TEST

START_TEST(progress_for_programs)
{
    ics_progress_device devices[3 * ICS_PROGRESS_DEVICES];
    enum { DEVICES = sizeof devices / sizeof *devices };
    char name[300], reason[9000];
    memset(name, '"', sizeof name - 1); /* two bytes each in JSON */
    memset(reason, 'r', sizeof reason - 1);
    name[sizeof name - 1] = reason[sizeof reason - 1] = '\0';
    for (size_t i = 0; i < DEVICES; ++i) {
        devices[i] = (ics_progress_device){name, UINT64_MAX >> 1, i != 1};
    }
    ics_progress_state state = {.photons = 100, .hits = 3, .files = 1, .files_quarantined = 1};
    for (int full = 0; full < 2; ++full) {
        begin(ICS_LOG_JSON);
        ck_assert_uint_ge(ics_events_period(&events), 1000);
        if (full) {
            state.photons_total = 200.0;
            state.files_total = 2;
            state.paused = reason;
            state.devices = devices;
            state.device_count = DEVICES;
        }
        ics_events_progress(&events, &state);
        json_t *line = json_loads(logged(), 0, NULL);
        ck_assert_ptr_nonnull(line);
        ck_assert_str_eq(json_string_value(json_object_get(line, "event")), "progress");
        ck_assert_int_eq(json_integer_value(json_object_get(line, "photons")), 100);
        ck_assert_int_eq(json_integer_value(json_object_get(line, "files_quarantined")), 1);
        ck_assert_int_eq(json_is_null(json_object_get(line, "files_total")), !full);
        ck_assert_int_eq(json_is_null(json_object_get(line, "seconds_left")), !full);
        ck_assert_int_eq(json_is_null(json_object_get(line, "paused")), !full);
        const json_t *list = json_object_get(line, "devices");
        ck_assert_uint_eq(json_array_size(list), full ? ICS_PROGRESS_DEVICES : 0);
        ck_assert_int_eq(json_is_false(json_object_get(json_array_get(list, 1), "alive")), full);
        json_decref(line);
        end();
    }
}
END_TEST

START_TEST(progress_for_people)
{
    begin(ICS_LOG_TEXT);
    ics_events_progress(&events, &(ics_progress_state){.photons_total = 10.0, .hits = 3});
    ck_assert_str_eq(logged(), "0.0 %, 0 photons at 0/s, 3 hits\n");
    end();
}
END_TEST

START_TEST(a_quiet_run_logs_nothing)
{
    ics_events quiet = ics_events_begin(NULL, ICS_LOG_JSON, "w1");
    ics_events_report(&quiet, &(ics_event){.kind = ICS_EVENT_START});
    ics_events_note(&quiet, ICS_EVENT_WARNING, "odd");
    ics_events_progress(&quiet, &(ics_progress_state){.hits = 3});
    ics_events_end(&quiet);
    ck_assert_ptr_null(quiet.progress.out);
}
END_TEST

ICS_TEST_MAIN("events")
{
    TCase *all = tcase_create("log");
    tcase_add_test(all, lines_for_people);
    tcase_add_test(all, objects_for_programs);
    tcase_add_test(all, progress_for_people);
    tcase_add_test(all, progress_for_programs);
    tcase_add_test(all, a_quiet_run_logs_nothing);
    suite_add_tcase(suite, all);
}
