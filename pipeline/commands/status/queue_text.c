#include "pipeline/commands/status/queue_text.h"

#include "base/error.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/production/queue/status.h"

#include <jansson.h>

static json_int_t whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? value : "";
}

static void print_counts(const json_t *report, FILE *out)
{
    const json_t *oldest = json_object_get(report, "oldest_s");
    fprintf(out,
            "%s\ntickets: %" JSON_INTEGER_FORMAT " waiting, %" JSON_INTEGER_FORMAT
            " in work, %" JSON_INTEGER_FORMAT " done, %" JSON_INTEGER_FORMAT " dead; %.3g done/s",
            text(report, "queue"), whole(report, "waiting"), whole(report, "in_work"),
            whole(report, "done"), whole(report, "dead"),
            json_number_value(json_object_get(report, "rate_per_s")));
    if (json_is_number(oldest)) {
        fprintf(out, "; the oldest was put %.0f s ago", json_number_value(oldest));
    }
    fputc('\n', out);
}

static int print_workers(const json_t *report, FILE *out, icestream_error *error)
{
    static const char *const headings[] = {"worker",        "state", "in work",
                                           "heartbeat (s)", "host",  "pid"};
    const json_t *workers = json_object_get(report, "workers"), *worker = NULL;
    size_t i = 0;
    if (json_array_size(workers) == 0) {
        fputs("workers: none\n", out);
        return ICESTREAM_OK;
    }
    ics_report *table = ics_report_create(headings, sizeof headings / sizeof *headings);
    json_array_foreach(workers, i, worker)
    {
        ics_report_cell(table, "%s", text(worker, "worker"));
        ics_report_cell(table, "%s", text(worker, "state"));
        ics_report_cell(table, "%" JSON_INTEGER_FORMAT, whole(worker, "in_work"));
        ics_report_number(table, json_number_value(json_object_get(worker, "heartbeat_s")), 1);
        ics_report_cell(table, "%s", text(worker, "host"));
        ics_report_number(table, (double)whole(worker, "pid"), 0);
    }
    const int status = ics_report_print(table, false, 0, out, error);
    ics_report_destroy(table);
    return status;
}

static void print_failures(const json_t *report, FILE *out)
{
    const json_t *failure = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(report, "failures"), i, failure)
    {
        fprintf(out, "%s  %s, attempt %" JSON_INTEGER_FORMAT " by %s: %s\n",
                i == 0 ? "last dead letters:\n" : "", text(failure, "name"),
                whole(failure, "attempts"), text(failure, "worker"), text(failure, "reason"));
    }
}

int ics_status_of_queue(const char *address, const char *password, const char *ca, bool json,
                        FILE *out, icestream_error *error)
{
    const ics_queue_login login = {.url = address,
                                   .password = password,
                                   .ca = ca,
                                   .key = "ADDRESS",
                                   .password_key = "--password"};
    json_t *report = NULL;
    ICS_TRY(ics_queue_status(&login, &report, error));
    if (json) {
        return ics_report_json("status", report, out, error);
    }
    print_counts(report, out);
    int status = print_workers(report, out, error);
    print_failures(report, out);
    json_decref(report);
    return status == ICESTREAM_OK ? ics_report_end("status", out, error) : status;
}
