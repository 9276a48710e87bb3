/* Sections of the page: warnings, quarantine, faults; versions, digests and settings. */
#include "base/json_dump.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- troubles -------------------------------------------------------------------------------- */

static void put_texts(const ics_page *page, const char *heading, const json_t *texts)
{
    size_t i;
    json_t *text;
    if (json_array_size(texts) == 0) {
        return;
    }
    fprintf(page->out, "<h3>%s</h3>\n<ul>\n", heading);
    json_array_foreach(texts, i, text)
    {
        fputs("<li>", page->out);
        ics_html_text(page->out, json_string_value(text));
        fputs("</li>\n", page->out);
    }
    fputs("</ul>\n", page->out);
}

/* A list of lines of the journal, the newest first. */
static void put_events(const ics_page *page, const char *heading, const ics_history_list *list)
{
    static const char *const headings[] = {"time", "event", "step file", "reason", NULL};
    if (list->count == 0) {
        return;
    }
    fprintf(page->out, "<h3>%s</h3>\n", heading);
    if (list->count > json_array_size(list->items)) {
        fprintf(page->out, "<p class=\"soft\">The newest %zu of %llu.</p>\n",
                json_array_size(list->items), (unsigned long long)list->count);
    }
    ics_html_table(page->out, headings);
    for (size_t i = json_array_size(list->items); i-- > 0;) {
        const json_t *event = json_array_get(list->items, i);
        ics_html_row(page->out);
        fputs("<td class=\"s\">", page->out);
        ics_html_text(page->out, text_of(event, "time"));
        fputs("</td>", page->out);
        ics_html_cell(page->out, text_of(event, "event"));
        ics_html_long(page->out, text_of(event, "file"));
        ics_html_long(page->out, text_of(event, "reason"));
    }
    ics_html_table_end(page->out);
}

static void put_damaged(const ics_page *page)
{
    static const char *const headings[] = {"hit file", "fault", NULL};
    const json_t *damaged = page->facts->damaged;
    size_t i;
    json_t *file;
    if (json_array_size(damaged) == 0) {
        return;
    }
    fputs("<h3>Hit files that cannot be used</h3>\n<p>Their hits are not in this report.</p>\n",
          page->out);
    ics_html_table(page->out, headings);
    json_array_foreach(damaged, i, file)
    {
        ics_html_row(page->out);
        ics_html_long(page->out, text_of(file, "file"));
        ics_html_long(page->out, text_of(file, "reason"));
    }
    ics_html_table_end(page->out);
}

/* Reasons in the folder of the quarantine, if the journal does not have them. */
static void put_reasons(const ics_page *page)
{
    static const char *const headings[] = {"time", "reason", NULL};
    const json_t *newest = json_object_get(page->facts->quarantine, "newest");
    size_t i;
    json_t *entry;
    if (page->facts->history->quarantined.count > 0 || json_array_size(newest) == 0) {
        return;
    }
    fputs("<h3>Quarantine</h3>\n", page->out);
    ics_html_table(page->out, headings);
    json_array_foreach(newest, i, entry)
    {
        const char *reason = text_of(entry, "reason");
        ics_html_row(page->out);
        ics_html_cell(page->out, text_of(entry, "time"));
        ics_html_long(page->out, reason != NULL ? reason : text_of(entry, "reason_file"));
    }
    ics_html_table_end(page->out);
}

void ics_page_troubles(ics_page *page)
{
    const ics_facts *facts = page->facts;
    const json_t *device = json_object_get(facts->summary, "device");
    const json_t *warnings = json_object_get(facts->summary, "warnings");
    const json_t *more = json_object_get(device, "warnings");
    ics_html_section(page->out, "troubles", "Warnings and quarantine");
    if (json_array_size(warnings) + json_array_size(more) + json_array_size(facts->damaged) == 0 &&
        facts->history->quarantined.count + facts->history->troubles.count == 0 &&
        json_integer_value(json_object_get(facts->quarantine, "count")) == 0) {
        fputs("<p>There are no warnings, nothing is in quarantine, and nothing was repeated.</p>\n",
              page->out);
    }
    put_texts(page, "Warnings of the newest run that has ended", warnings);
    put_texts(page, "Warnings of its devices", more);
    put_damaged(page);
    put_events(page, "Quarantined step files", &facts->history->quarantined);
    put_reasons(page);
    put_events(page, "What went wrong or was repeated", &facts->history->troubles);
    ics_html_section_end(page->out);
}

/* ---- provenance ------------------------------------------------------------------------------ */

static void put_fact(const ics_page *page, const char *name, const char *value)
{
    if (value == NULL || value[0] == '\0') {
        return;
    }
    ics_html_row(page->out);
    ics_html_cell(page->out, name);
    fputs("<td class=\"code\">", page->out);
    ics_html_text(page->out, value);
    fputs("</td>", page->out);
}

static void put_facts(const ics_page *page)
{
    static const char *const headings[] = {"fact", "value", NULL};
    const ics_facts *facts = page->facts;
    const json_t *start = facts->history->last_start;
    const json_t *device = json_object_get(facts->summary, "device");
    const json_t *metadata = facts->metadata;
    const json_t *digests =
        json_object_get(metadata != NULL ? metadata : facts->summary, "digests");
    const char *seed = text_of(metadata, "seed");
    ics_html_table(page->out, headings);
    put_fact(page, "version of the run",
             text_of(start, "version") != NULL ? text_of(start, "version")
                                               : text_of(facts->summary, "version"));
    put_fact(page, "producer of the hit files", text_of(metadata, "producer"));
    put_fact(page, "host", text_of(start, "host"));
    put_fact(page, "started in", text_of(start, "folder"));
    put_fact(page, "configuration", text_of(start, "configuration"));
    put_fact(page, "source", text_of(start, "source"));
    put_fact(page, "sink", text_of(start, "sink"));
    put_fact(page, "device", text_of(device, "name"));
    put_fact(page, "why this device", text_of(device, "reason"));
    put_fact(page, "schedule", text_of(device, "schedule"));
    put_fact(page, "instruction set", text_of(device, "instruction_set"));
    put_fact(page, "maths", text_of(metadata, "math"));
    put_fact(page, "seed", seed != NULL ? seed : text_of(facts->summary, "seed"));
    put_fact(page, "digest of the configuration", text_of(digests, "configuration"));
    put_fact(page, "digest of the ice", text_of(digests, "ice"));
    put_fact(page, "digest of the detector", text_of(digests, "detector"));
    ics_html_table_end(page->out);
}

static void put_settings(const ics_page *page)
{
    const json_t *groups = json_object_get(page->facts->metadata, "settings");
    const char *name, *key;
    json_t *group, *value;
    static const char *const headings[] = {"setting", "value", NULL};
    if (json_object_size(groups) == 0) {
        return;
    }
    ics_html_fold(page->out, "Settings that the first hit file records", 0);
    ics_html_table(page->out, headings);
    json_object_foreach((json_t *)groups, name, group)
    {
        json_object_foreach(group, key, value)
        {
            ics_html_row(page->out);
            ics_html_cell(page->out, key);
            fputs("<td class=\"code\">", page->out);
            ics_html_text(page->out, json_string_value(value));
            fputs("</td>", page->out);
        }
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

static void put_configuration(const ics_page *page)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = page->facts->config != NULL ? open_memstream(&text, &size) : NULL;
    if (out == NULL) {
        return;
    }
    const int status = icestream_config_print(page->facts->config, out, NULL);
    if (fclose(out) == 0 && status == ICESTREAM_OK) {
        ics_html_fold(page->out, "The configuration with all defaults, as it is now", 0);
        fputs("<pre>", page->out);
        ics_html_lines(page->out, text);
        fputs("</pre>\n", page->out);
        ics_html_fold_end(page->out);
    }
    free(text);
}

void ics_page_provenance(ics_page *page)
{
    ics_html_section(page->out, "provenance", "Provenance");
    put_facts(page);
    put_settings(page);
    put_configuration(page);
    ics_html_section_end(page->out);
}
