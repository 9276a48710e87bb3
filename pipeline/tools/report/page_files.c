/* Sections of the page: step files and their latencies, and how the photons ended. */
#include "base/error.h"
#include "pipeline/telemetry/progress.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <inttypes.h>
#include <math.h>

/* ---- files ----------------------------------------------------------------------------------- */

static void put_latencies(const ics_page *page)
{
    static const char *const headings[] = {"from arrival to commit", "#s", NULL};
    static const struct {
        const char *name;
        double share;
    } rows[] = {{"shortest", 0.0},
                {"half within", 0.5},
                {"90 % within", 0.9},
                {"99 % within", 0.99},
                {"longest", 1.0}};
    const ics_latency *latency = &page->facts->journal->latency;
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ics_html_row(page->out);
        ics_html_cell(page->out, rows[i].name);
        ics_html_number(page->out, "%.4g", ics_latency_quantile(latency, rows[i].share));
    }
    ics_html_table_end(page->out);
}

/* The lower edge of a bucket of ics_latency (s). Buckets are equal parts of a factor of two. */
static double bucket_edge(size_t bucket)
{
    const size_t octave = bucket / ICS_LATENCY_PARTS, part = bucket % ICS_LATENCY_PARTS;
    return ldexp(1.0 + (double)part / ICS_LATENCY_PARTS, (int)octave + ICS_LATENCY_LOWEST);
}

static int draw_latencies(ics_page *page, icestream_error *error)
{
    enum { PER_BOX = 16 }; /* buckets: four boxes for each factor of two */
    const ics_latency *latency = &page->facts->journal->latency;
    const double shortest = fmax(latency->min, bucket_edge(0)); /* a logarithmic axis has no 0 */
    const double longest = fmax(latency->max, shortest);
    ics_picture picture;
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i + PER_BOX <= ICS_LATENCY_BUCKETS; i += PER_BOX) {
        uint64_t sum = 0;
        for (size_t k = i; k < i + PER_BOX; ++k) {
            sum += latency->buckets[k];
        }
        if (sum > 0) {
            const double from = bucket_edge(i), to = bucket_edge(i + PER_BOX);
            fprintf(picture.script, "%g %" PRIu64 " %g %g\n", sqrt(from * to), sum, from, to);
        }
    }
    fprintf(picture.script,
            "EOD\nset xlabel 'arrival to commit (s)'\nset ylabel 'step files'\nset logscale x %d\n"
            "set format x '%%g'\nset yrange [0:*]\nset xrange [%g:%g]\n"
            "plot $d u 1:2:3:4:(0):2 w boxxyerrorbars lc rgb " ICS_PICTURE_ONE " notitle\n",
            longest < 100.0 * shortest ? 2 : 10, 0.5 * shortest, 2.0 * longest);
    return ics_page_figure(page, &picture, "<b>Latency</b> of step files", error);
}

static int draw_done(ics_page *page, icestream_error *error)
{
    const ics_history *history = page->facts->history;
    ics_picture picture;
    double unit = 1.0;
    uint64_t sum = 0;
    const char *name = ics_page_time_unit(history->last - history->first, &unit);
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n0 0\n", picture.script);
    for (size_t i = 0; i < ICS_HISTORY_BINS; ++i) {
        sum += history->bins[i].files;
        fprintf(picture.script, "%g %" PRIu64 "\n", (double)(i + 1) * history->width / unit, sum);
    }
    fprintf(picture.script,
            "EOD\nset xlabel 'time since the first event (%s)'\nset ylabel 'step files done'\n"
            "set yrange [0:*]\nset xrange [0:%g]\n"
            "plot $d u 1:2 w filledcurves y1=0 lc rgb " ICS_PICTURE_ONE
            " notitle, $d u 1:2 w lines lc rgb " ICS_PICTURE_ONE " lw 1.5 notitle\n",
            name, ICS_HISTORY_BINS * history->width / unit);
    return ics_page_figure(page, &picture, "<b>Step files done</b> so far", error);
}

static void put_counts(const ics_page *page)
{
    static const char *const headings[] = {"step files", "#events", NULL};
    const ics_journal_counts *counts = &page->facts->journal->counts;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {{"claimed from a folder", counts->claimed},
                {"computed", counts->done},
                {"skipped: the output was there", counts->skipped},
                {"quarantined", counts->quarantined},
                {"lost or left", counts->failed},
                {"operations that were repeated", counts->retried},
                {"sink.command failed", counts->command_failed}};
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ics_html_row(page->out);
        ics_html_cell(page->out, rows[i].name);
        ics_html_count(page->out, rows[i].count);
    }
    ics_html_table_end(page->out);
}

static void put_done(const ics_page *page)
{
    static const char *const headings[] = {"step file", "hit file",     "#photons", "#hits",
                                           "#MB",       "#latency (s)", NULL};
    const ics_history_list *done = &page->facts->history->done;
    size_t i;
    json_t *file;
    char title[128];
    snprintf(title, sizeof title, "The newest %zu of %" PRIu64 " step files that were computed",
             json_array_size(done->items), done->count);
    ics_html_fold(page->out, title, json_array_size(done->items) <= 5);
    ics_html_table(page->out, headings);
    json_array_foreach(done->items, i, file)
    {
        char number[32];
        ics_html_row(page->out);
        ics_html_long(page->out, json_string_value(json_object_get(file, "file")));
        ics_html_long(page->out, json_string_value(json_object_get(file, "output")));
        ics_html_number(
            page->out, "%s",
            ics_progress_count_text(json_number_value(json_object_get(file, "photons")), number));
        ics_html_count(page->out, (uint64_t)json_integer_value(json_object_get(file, "hits")));
        ics_html_number(page->out, "%.4g",
                        1e-6 * json_number_value(json_object_get(file, "output_bytes")));
        ics_html_number(page->out, "%.3g", json_number_value(json_object_get(file, "seconds")));
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

int ics_page_files(ics_page *page, icestream_error *error)
{
    enum { FEW = 4 };
    const uint64_t count = page->facts->journal->latency.count;
    ics_html_section(page->out, "files", "Files and latencies");
    if (count > FEW) {
        fputs("<div class=\"pictures\">\n", page->out);
        ICS_TRY(draw_latencies(page, error));
        ICS_TRY(draw_done(page, error));
        fputs("</div>\n", page->out);
    }
    fputs("<div class=\"pictures\">\n<div>", page->out);
    put_counts(page);
    fputs("</div>\n<div>", page->out);
    if (count > 0) {
        put_latencies(page);
    }
    fputs("</div>\n</div>\n", page->out);
    if (count > 0) {
        put_done(page);
    }
    ics_html_section_end(page->out);
    return ICESTREAM_OK;
}

/* ---- account --------------------------------------------------------------------------------- */

/* The account of the newest run, if no hit file has one. */
static void take_account(const ics_facts *facts, icestream_account *out)
{
    const json_t *account = json_object_get(facts->summary, "account");
    *out = facts->account;
    if (out->created == 0) {
        const struct {
            const char *key;
            uint64_t *value;
        } all[] = {{"created", &out->created},   {"absorbed", &out->absorbed},
                   {"detected", &out->detected}, {"left", &out->left},
                   {"stopped", &out->stopped},   {"hits", &out->hits},
                   {"bounces", &out->bounces}};
        for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
            *all[i].value = (uint64_t)json_integer_value(json_object_get(account, all[i].key));
        }
    }
}

static void put_more(const ics_page *page, const icestream_account *account)
{
    char number[ICS_HTML_COUNT];
    const double created = (double)account->created;
    fprintf(page->out, "<p>%s hits were recorded, %.3g for each photon that was created. ",
            ics_html_count_text(account->hits, number), (double)account->hits / created);
    if (account->photo_electrons > 0) {
        fprintf(page->out, "%s of them became photo-electrons. ",
                ics_html_count_text(account->photo_electrons, number));
    }
    fprintf(page->out, "A photon flew %.3g segments on average.</p>\n",
            (double)account->bounces / created);
}

void ics_page_account(const ics_page *page)
{
    static const char *const headings[] = {"photons", "#number", "#share", "meaning", NULL};
    icestream_account account;
    take_account(page->facts, &account);
    ics_html_section(page->out, "account", "Account of photons");
    if (account.created == 0) {
        fputs("<p>Neither the hit files nor the summary have an account.</p>\n", page->out);
        ics_html_section_end(page->out);
        return;
    }
    const struct {
        const char *name, *meaning, *colour;
        uint64_t count;
    } rows[] = {
        {"absorbed", "by the ice or by a module that records nothing", "a", account.absorbed},
        {"detected", "ended on a module", "b", account.detected},
        {"left", "left the world, or could not reach any module", "c", account.left},
        {"stopped", "by run.bounce_limit", "d", account.stopped}};
    const size_t count = sizeof rows / sizeof *rows;
    const double created = (double)account.created;
    const uint64_t ended = account.absorbed + account.detected + account.left + account.stopped;
    fputs("<div class=\"bar\" aria-hidden=\"true\">", page->out);
    for (size_t i = 0; i < count; ++i) {
        fprintf(page->out, "<i class=\"%s\" style=\"width:%.4f%%\"></i>", rows[i].colour,
                100.0 * (double)rows[i].count / created);
    }
    fputs("</div>\n", page->out);
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < count; ++i) {
        ics_html_row(page->out);
        fprintf(page->out, "<td class=\"s\"><i class=\"swatch %s\"></i>%s</td>", rows[i].colour,
                rows[i].name);
        ics_html_count(page->out, rows[i].count);
        ics_html_number(page->out, "%.4g %%", 100.0 * (double)rows[i].count / created);
        ics_html_long(page->out, rows[i].meaning);
    }
    ics_html_row(page->out);
    ics_html_cell(page->out, "created");
    ics_html_count(page->out, account.created);
    ics_html_number(page->out, "100 %%");
    ics_html_long(page->out, ended == account.created
                                 ? "the sum of the rows above: the account closes"
                                 : "not the sum of the rows above: the account does not close");
    ics_html_table_end(page->out);
    put_more(page, &account);
    ics_html_section_end(page->out);
}
