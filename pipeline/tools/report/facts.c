#include "pipeline/tools/report/facts.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/files/format/table_reader.h"
#include "pipeline/files/metadata.h"
#include "pipeline/tools/report/facts_models.h"
#include "pipeline/tools/report/facts_note.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
}

/* ---- journals and summary -------------------------------------------------------------------- */

static int read_journals(ics_facts *facts, icestream_error *error)
{
    ICS_TRY(ics_journal_summary_create(&facts->journal, error));
    for (size_t i = 0; i < facts->here.journal_count; ++i) {
        ICS_TRY(ics_journal_summary_read(facts->journal, facts->here.journals[i], error));
    }
    ICS_TRY(ics_history_create(facts->journal, &facts->history, error));
    for (size_t i = 0; i < facts->here.journal_count; ++i) {
        ICS_TRY(ics_history_read(facts->history, facts->here.journals[i], error));
    }
    const ics_journal_lines *lines = &facts->journal->lines;
    if (facts->here.journal_count == 0) {
        ics_facts_note(facts, "There is no run.journal in this folder, so the history of the runs, "
                              "latencies and queues are not known.");
    } else if (lines->torn + lines->unknown > 0) {
        ics_facts_note(facts,
                       "%llu lines of the journal are damaged and %llu are unknown to this "
                       "version; the report leaves them out.",
                       (unsigned long long)lines->torn, (unsigned long long)lines->unknown);
    }
    if (lines->events > 0 && !facts->history->has_samples) {
        ics_facts_note(facts, "The journal has no samples, because an older version wrote it; "
                              "rates are those of whole runs.");
    }
    return ICESTREAM_OK;
}

static int read_summary(ics_facts *facts, icestream_error *error)
{
    char *path = NULL;
    json_error_t why;
    struct stat about;
    if (asprintf(&path, "%s/summary.json", facts->folder) < 0) {
        return no_memory(error);
    }
    if (stat(path, &about) != 0) {
        ics_facts_note(facts, "There is no summary.json in this folder: the run has not ended, or "
                              "its summary has another name. Devices and warnings are in it.");
    } else if (!S_ISREG(about.st_mode)) {
        ics_facts_note(facts, "%s: found something that is not a file, expected a summary.", path);
    } else {
        facts->summary = json_load_file(path, 0, &why);
        const char *schema = json_string_value(json_object_get(facts->summary, "schema"));
        if (facts->summary == NULL) {
            ics_facts_note(facts, "%s:%d:%d: the summary is damaged: %s.", path, why.line,
                           why.column, why.text);
        } else if (schema == NULL || strcmp(schema, "icestream.summary") != 0) {
            ics_facts_note(facts, "%s: found schema %s, expected icestream.summary.", path,
                           schema != NULL ? schema : "(none)");
            json_decref(facts->summary);
            facts->summary = NULL;
        }
    }
    free(path);
    return ICESTREAM_OK;
}

static int look_quarantine(ics_facts *facts, icestream_error *error)
{
    json_t *folders = json_deep_copy(facts->journal->quarantines);
    if (folders != NULL && json_array_size(folders) == 0) {
        json_array_append_new(folders, json_sprintf("%s/quarantine", facts->folder));
    }
    facts->quarantine =
        folders != NULL ? ics_sink_folder_look_quarantine(folders, facts->notes) : NULL;
    json_decref(folders);
    return facts->quarantine != NULL ? ICESTREAM_OK : no_memory(error);
}

/* ---- hit files ------------------------------------------------------------------------------- */

static void add_account(icestream_account *sum, const icestream_account *one)
{
    sum->created += one->created;
    sum->absorbed += one->absorbed;
    sum->detected += one->detected;
    sum->left += one->left;
    sum->stopped += one->stopped;
    sum->hits += one->hits;
    sum->bounces += one->bounces;
    sum->photo_electrons += one->photo_electrons;
    sum->undetected += one->undetected;
}

static int add_metadata(ics_facts *facts, const char *path, icestream_error *error)
{
    ics_table_reader *reader = NULL;
    icestream_account account = {0};
    ICS_TRY(ics_table_reader_open(path, NULL, &reader, error));
    const json_t *metadata = ics_table_reader_metadata(reader);
    if (metadata != NULL && ics_metadata_account(metadata, &account)) {
        add_account(&facts->account, &account);
    }
    if (metadata != NULL && facts->metadata == NULL) {
        facts->metadata = json_copy((json_t *)metadata);
        json_object_del(facts->metadata, "crc32c");
    }
    ics_table_reader_destroy(reader);
    return ICESTREAM_OK;
}

static int read_hits(ics_facts *facts, const char *name, icestream_error *error)
{
    char *path = NULL;
    icestream_error reason = {.status = ICESTREAM_OK};
    struct stat about = {.st_size = 0};
    if (asprintf(&path, "%s/%s", facts->folder, name) < 0) {
        return no_memory(error);
    }
    const uint64_t before = facts->hits->hits;
    int status = ics_hit_counts_add(facts->hits, path, &reason);
    if (status == ICESTREAM_OK) {
        status = add_metadata(facts, path, &reason);
    }
    json_t *entry = NULL;
    if (status == ICESTREAM_OK) {
        stat(path, &about);
        entry =
            json_pack("{s:o, s:I, s:I}", "file", ics_json_text(name), "rows",
                      (json_int_t)(facts->hits->hits - before), "bytes", (json_int_t)about.st_size);
    } else if (status == ICESTREAM_E_INPUT) {
        entry = json_pack("{s:o, s:o}", "file", ics_json_text(name), "reason",
                          ics_json_text(reason.text));
    }
    free(path);
    if (entry == NULL) {
        return status == ICESTREAM_E_MEMORY || status == ICESTREAM_OK
                   ? no_memory(error)
                   : ics_error_copy(error, &reason);
    }
    json_array_append_new(status == ICESTREAM_OK ? facts->files : facts->damaged, entry);
    return ICESTREAM_OK;
}

static int select_hit_file(const struct dirent *entry)
{
    static const char ending[] = ".hits.npy";
    const size_t length = strlen(entry->d_name), tail = sizeof ending - 1;
    return length > tail && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - tail, ending) == 0;
}

static int read_hit_files(ics_facts *facts, icestream_error *error)
{
    struct dirent **names = NULL;
    ICS_TRY(ics_hit_counts_create(&facts->hits, error));
    const int count = scandir(facts->folder, &names, select_hit_file, alphasort);
    if (count < 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot read the folder: %s",
                             facts->folder, strerror(errno));
    }
    int status = ICESTREAM_OK;
    for (int i = 0; i < count; ++i) {
        status = status == ICESTREAM_OK ? read_hits(facts, names[i]->d_name, error) : status;
        free(names[i]);
    }
    free(names);
    if (status == ICESTREAM_OK && count == 0) {
        ics_facts_note(facts, "There is no hit file in this folder.");
    }
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int gather(ics_facts *facts, icestream_error *error)
{
    facts->notes = json_array();
    facts->files = json_array();
    facts->damaged = json_array();
    if (facts->notes == NULL || facts->files == NULL || facts->damaged == NULL) {
        return no_memory(error);
    }
    ICS_TRY(ics_sink_folder_look(facts->folder, &facts->here, error));
    ICS_TRY(read_journals(facts, error));
    ICS_TRY(read_summary(facts, error));
    if (facts->here.journal_count == 0 && facts->here.hit_files == 0 && facts->summary == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found no run.journal, no summary.json and no hit file, expected "
                             "the folder into which a run wrote (sink.directory)",
                             facts->folder);
    }
    ICS_TRY(look_quarantine(facts, error));
    ICS_TRY(read_hit_files(facts, error));
    return ics_facts_load_models(facts, error);
}

int ics_facts_gather(const char *folder, ics_facts *out, icestream_error *error)
{
    *out = (ics_facts){.folder = folder, .time = ics_clock_unix()};
    return gather(out, error);
}

void ics_facts_free(ics_facts *facts)
{
    ics_sink_folder_free(&facts->here);
    ics_journal_summary_destroy(facts->journal);
    ics_history_destroy(facts->history);
    ics_hit_counts_destroy(facts->hits);
    json_decref(facts->summary);
    json_decref(facts->quarantine);
    json_decref(facts->files);
    json_decref(facts->damaged);
    json_decref(facts->metadata);
    json_decref(facts->notes);
    ics_models_destroy(facts->models);
    icestream_config_destroy(facts->config);
}
