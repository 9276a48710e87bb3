/* icestream_folder_status: reports how the runs that write into a folder are doing. The report is
 * one JSON object; the text for people is made from this object. */
#include "base/clock.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/new.h"
#include "pipeline/commands/measure/report.h"
#include "pipeline/commands/status/text.h"
#include "pipeline/photons/table/file.h"
#include "pipeline/production/checkpoint/about.h"
#include "pipeline/production/spool/process.h"
#include "pipeline/production/telemetry/journal_summary.h"
#include "pipeline/production/telemetry/sink_folder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- workers --------------------------------------------------------------------------------- */

/* Returns the entry of a worker in the claims of any spool, or NULL. */
static const json_t *find_lease(const json_t *spools, const char *worker)
{
    size_t i, j;
    json_t *spool, *entry;
    json_array_foreach(spools, i, spool)
    {
        json_array_foreach(json_object_get(spool, "workers"), j, entry)
        {
            const char *name = json_string_value(json_object_get(entry, "worker"));
            if (name != NULL && strcmp(name, worker) == 0) {
                return entry;
            }
        }
    }
    return NULL;
}

/* Returns whether a worker without an entry `stop` in the journal has certainly ended: its lease
 * has expired, or it ran on this host and its process does not exist or is a zombie. */
static bool is_gone(const json_t *worker, const json_t *lease)
{
    const char *host = json_string_value(json_object_get(worker, "host"));
    const json_int_t pid = json_integer_value(json_object_get(worker, "pid"));
    char here[256] = "";
    return json_is_true(json_object_get(lease, "expired")) ||
           (pid > 0 && host != NULL && gethostname(here, sizeof here - 1) == 0 &&
            strcmp(here, host) == 0 && ics_process_has_ended(pid));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *time_json(double time)
{
    char text[ICS_EVENT_TIME];
    return time > 0.0 ? json_string(ics_event_time_text(time, text)) : json_null();
}

/* The workers of the journal, with what their leases say of them. */
static json_t *workers_json(const ics_journal_summary *summary, const json_t *spools)
{
    json_t *list = json_array(), *worker;
    const char *name;
    json_object_foreach(summary->workers, name, worker)
    {
        const json_t *lease = find_lease(spools, name);
        const char *state = json_string_value(json_object_get(worker, "state"));
        if (strcmp(state, "stopped") != 0 && is_gone(worker, lease)) {
            json_object_set_new(worker, "state", json_string("gone"));
        }
        if (lease != NULL) {
            json_object_set(worker, "heartbeat", json_object_get(lease, "heartbeat"));
        }
        if (json_array_append(list, worker) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static bool is_gone_by_name(const json_t *workers, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(workers, i, entry)
    {
        const char *worker = json_string_value(json_object_get(entry, "worker"));
        if (worker != NULL && name != NULL && strcmp(worker, name) == 0) {
            return strcmp(json_string_value(json_object_get(entry, "state")), "gone") == 0;
        }
    }
    return false;
}

/* The files that were claimed and neither finished nor given back. If the worker is gone, nobody
 * computes the file: it waits for a worker that takes it over. */
static json_t *in_work_json(const ics_journal_summary *summary, const json_t *workers)
{
    json_t *list = json_array(), *about;
    const char *file;
    json_object_foreach(summary->open, file, about)
    {
        const json_t *worker = json_object_get(about, "worker");
        json_array_append_new(
            list, json_pack("{s:s, s:O, s:b, s:o}", "file", file, "worker", worker, "abandoned",
                            is_gone_by_name(workers, json_string_value(worker)), "since",
                            time_json(json_real_value(json_object_get(about, "time")))));
    }
    return list;
}

/* Describes the checkpoints in the folder. A file that is no checkpoint gets a note. Those of
 * tables belong to no run. */
static json_t *checkpoints_json(const ics_sink_folder *here, json_t *notes)
{
    json_t *list = json_array(), *path, *about;
    size_t i;
    json_array_foreach(here->checkpoints, i, path)
    {
        icestream_error error = {.status = ICESTREAM_OK};
        if (ics_table_file_is(json_string_value(path))) {
            continue;
        }
        if (ics_checkpoint_about(json_string_value(path), &about, &error) == ICESTREAM_OK) {
            json_object_del(about, "origin");
            json_array_append_new(list, about);
        } else if (error.cause != ENOENT) { /* a hit file was finished meanwhile */
            json_array_append_new(notes, ics_json_text(error.text));
        }
    }
    return list;
}

static json_t *journal_json(const ics_journal_summary *summary, const ics_sink_folder *here)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "files", (json_int_t)here->journal_count,
                     "events", (json_int_t)summary->lines.events, "torn",
                     (json_int_t)summary->lines.torn, "unknown", (json_int_t)summary->lines.unknown,
                     "first", time_json(summary->first), "last", time_json(summary->last));
}

/* Describes the spools that the journal names, by their files. Returns NULL if there is no memory.
 */
static json_t *spools_json(const ics_journal_summary *summary, double now, json_t *notes)
{
    json_t *list = json_array(), *folder;
    size_t i;
    json_array_foreach(summary->spools, i, folder)
    {
        if (json_array_append_new(
                list, ics_sink_folder_look_spool(json_string_value(folder), now, notes)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *quarantine_json(const char *folder, const ics_journal_summary *summary,
                               json_t *notes)
{
    json_t *folders = json_array();
    json_array_append_new(folders, json_sprintf("%s/quarantine", folder));
    json_array_extend(folders, summary->quarantines);
    json_t *result = ics_sink_folder_look_quarantine(folders, notes);
    json_decref(folders);
    return result;
}

static json_t *recent_json(const ics_journal_summary *summary, double now)
{
    uint64_t photons[ICS_JOURNAL_BINS];
    json_t *list = json_array();
    ics_journal_recent_photons(summary, now, photons);
    for (size_t i = 0; i < ICS_JOURNAL_BINS; ++i) {
        json_array_append_new(list, json_integer((json_int_t)photons[i]));
    }
    return json_pack("{s:i, s:o}", "seconds", ICS_JOURNAL_RECENT / ICS_JOURNAL_BINS, "photons",
                     list);
}

/* Says where the report is if somebody asks for that of a watched folder. */
static void note_step_folder(const char *folder, const ics_sink_folder *here, json_t *notes)
{
    ICS_FREES char *spool = ics_new_text("%s/.icestream", folder);
    if (here->journal_count == 0 && access(spool, F_OK) == 0) {
        ICS_FREES char *note = ics_new_text(
            "%s: found a folder from which workers take step files; expected the folder of their "
            "hits (sink.directory), which has the journal",
            folder);
        json_array_append_new(notes, ics_json_text(note));
    }
}

/* Makes the report. Returns NULL if there is no memory. */
static json_t *status_json(const char *folder, const ics_sink_folder *here,
                           const ics_journal_summary *summary)
{
    double now = ics_clock_unix();
    json_t *notes = json_array();
    note_step_folder(folder, here, notes);
    json_t *spools = spools_json(summary, now, notes);
    json_t *workers = workers_json(summary, spools);
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:{s:I, s:I, s:I, s:I}, s:o, s:O, s:f, s:f, s:o, s:o, s:o, s:o, s:o, "
        "s:O, s:o, s:o, s:o}",
        "schema", "icestream.status", "version", ICESTREAM_VERSION, "folder", ics_json_text(folder),
        "time", time_json(now), "here", "hit_files", (json_int_t)here->hit_files, "hit_bytes",
        (json_int_t)here->hit_bytes, "parts", (json_int_t)here->parts, "commands",
        (json_int_t)here->commands, "journal", journal_json(summary, here), "counts",
        summary->counts, "photons_per_second", ics_journal_rate(summary),
        "photons_per_second_recent", ics_journal_recent_rate(summary, now), "recent",
        recent_json(summary, now), "latency", ics_latency_json(&summary->latency), "workers",
        workers, "in_work", in_work_json(summary, workers), "checkpoints",
        checkpoints_json(here, notes), "troubles", summary->troubles, "quarantine",
        quarantine_json(folder, summary, notes), "spools", spools, "notes", notes);
}

static int read_folder(const char *folder, const ics_sink_folder *here, json_t **report,
                       icestream_error *error)
{
    ICS_DESTROYS(ics_journal_summary_destroy) ics_journal_summary *summary = NULL;
    ICS_TRY(ics_journal_summary_create(&summary, error));
    for (size_t i = 0; i < here->journal_count; ++i) {
        ICS_TRY(ics_journal_summary_read(summary, here->journals[i], error));
    }
    *report = status_json(folder, here, summary);
    return *report != NULL ? ICESTREAM_OK
                           : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", folder);
}

int icestream_folder_status(const char *folder, bool json, FILE *out, icestream_error *error)
{
    ics_sink_folder here;
    json_auto_t *report = NULL;
    ICS_TRY(ics_sink_folder_look(folder, &here, error));
    const int status = read_folder(folder, &here, &report, error);
    ics_sink_folder_free(&here);
    ICS_TRY(status);
    if (json) {
        return ics_report_json("status", json_incref(report), out, error);
    }
    return ics_json_make_visible(report) == 0
               ? ics_status_print(report, out, error)
               : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", folder);
}
