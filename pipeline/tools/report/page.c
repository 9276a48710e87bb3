#include "pipeline/tools/report/page.h"

#include "base/error.h"
#include "pipeline/telemetry/event.h"
#include "pipeline/telemetry/progress.h"
#include "pipeline/tools/report/page_style.h"

/* ---- head ------------------------------------------------------------------------------------ */

static void put_tile(FILE *out, const char *value, const char *name)
{
    fprintf(out, "<div class=\"tile\"><b>");
    ics_html_text(out, value);
    fprintf(out, "</b><span>%s</span></div>\n", name);
}

static size_t count_running(const ics_facts *facts)
{
    size_t running = 0;
    for (size_t i = 0; i < facts->journal->worker_count; ++i) {
        running += facts->journal->workers[i].state != ICS_WORKER_STOPPED;
    }
    return running;
}

/* How the runs stand, as one phrase. */
static void put_state(const ics_page *page)
{
    const ics_facts *facts = page->facts;
    const char *error = json_string_value(json_object_get(facts->summary, "error"));
    const size_t running = count_running(facts);
    const size_t faults = json_array_size(facts->damaged);
    fputs("<p>", page->out);
    if (running > 0) {
        fprintf(page->out,
                "<span class=\"state\">%zu worker%s running or ended without a word</span>",
                running, running == 1 ? "" : "s");
    } else if (error != NULL) {
        fputs("<span class=\"state bad\">ended with an error</span> ", page->out);
        ics_html_text(page->out, error);
    } else if (facts->journal->worker_count > 0) {
        fputs("<span class=\"state\">finished</span>", page->out);
    }
    if (faults > 0) {
        fprintf(page->out, " <span class=\"state bad\">%zu damaged hit file%s</span>", faults,
                faults == 1 ? "" : "s");
    }
    fputs("</p>\n", page->out);
}

static void put_tiles(const ics_page *page)
{
    const ics_facts *facts = page->facts;
    char text[64], number[32], count[ICS_HTML_COUNT];
    const double photons = facts->journal->counts.photons > 0
                               ? (double)facts->journal->counts.photons
                               : (double)facts->account.created;
    double unit = 1.0;
    fputs("<div class=\"tiles\">\n", page->out);
    put_tile(page->out, ics_progress_count_text(photons, number), "photons");
    put_tile(page->out, ics_progress_count_text((double)facts->hits->hits, number),
             "hits in files");
    put_tile(page->out, ics_html_count_text(json_array_size(facts->files), count), "hit files");
    const double rate = json_number_value(
        json_object_get(json_object_get(facts->summary, "speed"), "photons_per_second"));
    if (rate > 0.0) {
        put_tile(page->out, ics_progress_count_text(rate, number), "photons/s in the newest run");
    }
    const double seconds = facts->journal->last - facts->journal->first;
    if (facts->journal->worker_count > 0) {
        const char *name = ics_page_time_unit(seconds, &unit);
        snprintf(text, sizeof text, "%.3g %s", seconds / unit, name);
        put_tile(page->out, text, "first to last event");
    }
    const uint64_t quarantined =
        (uint64_t)json_integer_value(json_object_get(facts->quarantine, "count"));
    put_tile(page->out, ics_html_count_text(quarantined, count), "in quarantine");
    fputs("</div>\n", page->out);
}

static void put_head(const ics_page *page)
{
    const ics_facts *facts = page->facts;
    char time[ICS_EVENT_TIME];
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
          "'unsafe-inline'; img-src data:\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          page->out);
    ics_html_text(page->out, facts->folder);
    fputs(" - icestream report</title>\n<style>\n", page->out);
    for (size_t i = 0; i < ics_page_style_count; ++i) {
        fputs(ics_page_styles[i].text, page->out);
    }
    fputs("</style>\n</head>\n<body>\n<header>\n<p class=\"brand\">icestream report</p>\n<h1>",
          page->out);
    ics_html_text(page->out, facts->folder);
    fputs("</h1>\n", page->out);
    put_state(page);
    fprintf(page->out, "<p class=\"soft\">Made at %s by icestream %s.</p>\n</header>\n",
            ics_event_time_text(facts->time, time), ICESTREAM_VERSION);
    fputs("<nav><a href=\"#history\">History</a><a "
          "href=\"#files\">Files</a><a href=\"#account\">Photons</a><a "
          "href=\"#hits\">Hits</a><a href=\"#modules\">Modules</a><a href=\"#ice\">Ice</a><a "
          "href=\"#troubles\">Warnings</a><a href=\"#provenance\">Provenance</a></nav>\n<main>\n",
          page->out);
}

static void put_notes(const ics_page *page)
{
    size_t i;
    json_t *note;
    ics_html_section(page->out, "missing", "What this report lacks");
    if (json_array_size(page->facts->notes) == 0) {
        fputs("<p>Nothing that icestream records is missing.</p>\n", page->out);
    } else {
        fputs("<ul>\n", page->out);
        json_array_foreach(page->facts->notes, i, note)
        {
            fputs("<li>", page->out);
            ics_html_text(page->out, json_string_value(note));
            fputs("</li>\n", page->out);
        }
        fputs("</ul>\n", page->out);
    }
    ics_html_section_end(page->out);
}

int ics_page_write(ics_facts *facts, FILE *out, icestream_error *error)
{
    ics_page page = {.out = out, .facts = facts, .has_pictures = true};
    put_head(&page);
    put_tiles(&page);
    ICS_TRY(ics_page_run(&page, error));
    ICS_TRY(ics_page_files(&page, error));
    ics_page_account(&page);
    ICS_TRY(ics_page_hits(&page, error));
    ICS_TRY(ics_page_modules(&page, error));
    ICS_TRY(ics_page_ice(&page, error));
    ics_page_troubles(&page);
    ics_page_provenance(&page);
    put_notes(&page);
    fputs("</main>\n<footer>This file needs nothing from the network. Texts from files are shown "
          "as they are, with special characters escaped.</footer>\n</body>\n</html>\n",
          out);
    return ICESTREAM_OK;
}
