/* Sections of the page: the history of the runs, devices, queues. */
#include "base/error.h"
#include "pipeline/telemetry/progress.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <math.h>
#include <string.h>

enum { LINES = 3 }; /* devices that have a line in the picture */

static const char *const colours[LINES] = {ICS_PICTURE_TWO, ICS_PICTURE_THREE, ICS_PICTURE_SOFT};
static const char *const swatches[LINES] = {"b", "c", "d"};

static size_t count_devices(const ics_history *history)
{
    size_t count = 0;
    while (count < ICS_HISTORY_DEVICES && history->devices[count][0] != '\0') {
        ++count;
    }
    return count;
}

/* ---- rate ------------------------------------------------------------------------------------ */

static double largest_rate(const ics_history *history)
{
    double most = 0.0;
    for (size_t i = 0; i < ICS_HISTORY_BINS; ++i) {
        most = fmax(most, history->bins[i].photons / history->width);
    }
    return most;
}

static int draw_rate(ics_page *page, size_t devices, icestream_error *error)
{
    const ics_history *history = page->facts->history;
    ics_picture picture;
    double unit = 1.0, rate = 1.0;
    const char *name = ics_page_time_unit(history->last - history->first, &unit);
    const char *rate_name = ics_page_count_unit(largest_rate(history), &rate);
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i <= ICS_HISTORY_BINS; ++i) {
        const ics_history_bin *bin = &history->bins[i < ICS_HISTORY_BINS ? i : i - 1];
        fprintf(picture.script, "%g %g", (double)i * history->width / unit,
                bin->photons / history->width / rate);
        for (size_t k = 0; k < devices; ++k) {
            fprintf(picture.script, " %g", bin->devices[k] / history->width / rate);
        }
        fputc('\n', picture.script);
    }
    fprintf(picture.script,
            "EOD\nset xlabel 'time since the first event (%s)'\nset ylabel 'photons/s%s'\n"
            "set yrange [0:*]\nset xrange [0:%g]\n"
            "plot $d u 1:2 w fillsteps lc rgb " ICS_PICTURE_ONE
            " notitle, $d u 1:2 w steps lc rgb " ICS_PICTURE_ONE " lw 1.5 notitle",
            name, rate_name, ICS_HISTORY_BINS * history->width / unit);
    for (size_t k = 0; devices > 1 && k < devices && k < LINES; ++k) {
        fprintf(picture.script, ", $d u 1:%zu w steps lc rgb %s lw 1.5 notitle", k + 3, colours[k]);
    }
    fputc('\n', picture.script);
    return ics_page_figure(page, &picture, "<b>Rate</b> of photons that were propagated", error);
}

static void put_legend(const ics_page *page, size_t devices)
{
    fputs("<p class=\"soft\"><i class=\"swatch a\"></i>all", page->out);
    for (size_t k = 0; k < devices && k < LINES; ++k) {
        fprintf(page->out, " &ensp;<i class=\"swatch %s\"></i>", swatches[k]);
        ics_html_text(page->out, page->facts->history->devices[k]);
    }
    fputs("</p>\n", page->out);
}

static int draw_queue(ics_page *page, icestream_error *error)
{
    const ics_history *history = page->facts->history;
    ics_picture picture;
    double unit = 1.0;
    const char *name = ics_page_time_unit(history->last - history->first, &unit);
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i < ICS_HISTORY_BINS; ++i) {
        const ics_history_bin *bin = &history->bins[i];
        if (bin->samples > 0) {
            fprintf(picture.script, "%g %g %g %g\n", ((double)i + 0.5) * history->width / unit,
                    bin->queue / (double)bin->samples, bin->queue_max,
                    bin->open / (double)bin->samples);
        }
    }
    fprintf(picture.script,
            "EOD\nset xlabel 'time since the first event (%s)'\nset ylabel 'waiting'\n"
            "set yrange [0:*]\nset xrange [0:%g]\n"
            "plot $d u 1:2 w linespoints pt 7 ps 0.4 lc rgb " ICS_PICTURE_ONE
            " lw 1.5 t 'batches for a device (room for %g)', $d u 1:4 w linespoints pt 7 ps 0.4 lc "
            "rgb " ICS_PICTURE_TWO " lw 1.5 t 'step files in work'\n",
            name, ICS_HISTORY_BINS * history->width / unit, history->queue_room);
    return ics_page_figure(page, &picture, "<b>Queues</b>", error);
}

static void put_history_table(const ics_page *page)
{
    static const char *const headings[] = {"#from (s)", "#photons/s", "#hits/s", "#files done",
                                           "#queue",    "#largest",   NULL};
    enum { ROWS = 24, BINS = ICS_HISTORY_BINS / ROWS };
    const ics_history *history = page->facts->history;
    const double width = BINS * history->width;
    ics_html_fold(page->out, "Numbers of the history", !page->has_pictures);
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < ROWS; ++i) {
        ics_history_bin sum = {0};
        char number[32];
        for (size_t k = i * BINS; k < (i + 1) * BINS; ++k) {
            const ics_history_bin *bin = &history->bins[k];
            sum.photons += bin->photons;
            sum.hits += bin->hits;
            sum.files += bin->files;
            sum.samples += bin->samples;
            sum.queue += bin->queue;
            sum.queue_max = bin->queue_max > sum.queue_max ? bin->queue_max : sum.queue_max;
        }
        ics_html_row(page->out);
        ics_html_number(page->out, "%.4g", (double)i * width);
        ics_html_number(page->out, "%s", ics_progress_count_text(sum.photons / width, number));
        ics_html_number(page->out, "%s", ics_progress_count_text(sum.hits / width, number));
        ics_html_count(page->out, sum.files);
        if (sum.samples > 0) {
            ics_html_number(page->out, "%.3g", sum.queue / (double)sum.samples);
            ics_html_number(page->out, "%.3g", sum.queue_max);
        } else {
            ics_html_number(page->out, "-");
            ics_html_number(page->out, "-");
        }
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

/* ---- devices and workers --------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "-";
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void put_devices(const ics_page *page)
{
    static const char *const headings[] = {"device",         "schedule", "#photons",
                                           "#share",         "#batches", "#busy (s)",
                                           "#ns per photon", "state",    NULL};
    const json_t *device = json_object_get(page->facts->summary, "device");
    const json_t *members = json_object_get(device, "members");
    size_t i;
    json_t *member;
    double all = 0.0;
    if (json_array_size(members) == 0) {
        return;
    }
    json_array_foreach(members, i, member)
    {
        all += number_of(member, "photons");
    }
    fputs("<h3>Devices of the newest run that has ended</h3>\n", page->out);
    ics_html_table(page->out, headings);
    json_array_foreach(members, i, member)
    {
        char number[32];
        const double photons = number_of(member, "photons");
        const double busy = number_of(member, "seconds_busy");
        const json_t *alive = json_object_get(member, "alive");
        ics_html_row(page->out);
        ics_html_cell(page->out, text_of(member, "name"));
        ics_html_cell(page->out, text_of(device, "schedule"));
        ics_html_number(page->out, "%s", ics_progress_count_text(photons, number));
        ics_html_number(page->out, "%.1f %%", all > 0.0 ? 100.0 * photons / all : 0.0);
        ics_html_number(page->out, "%.0f", number_of(member, "batches"));
        ics_html_number(page->out, "%.3g", busy);
        ics_html_number(page->out, "%.3g", photons > 0.0 ? 1e9 * busy / photons : 0.0);
        ics_html_cell(page->out, json_is_false(alive) ? "lost" : "good");
    }
    ics_html_table_end(page->out);
    const json_t *gpu = json_object_get(device, "gpu");
    const double kernel = number_of(gpu, "kernel_ns_per_photon");
    if (kernel > 0.0) {
        fprintf(page->out, "<p>Kernels took %.3g ns per photon.</p>\n", kernel);
    }
}

static void put_workers(const ics_page *page)
{
    static const char *const headings[] = {"worker",       "host",     "state", "#files done",
                                           "#quarantined", "#photons", "#hits", NULL};
    enum { SHOWN = 50 };
    const ics_journal_summary *journal = page->facts->journal;
    const size_t first = journal->worker_count > SHOWN ? journal->worker_count - SHOWN : 0;
    if (journal->worker_count == 0) {
        return;
    }
    fputs("<h3>Workers</h3>\n", page->out);
    if (first > 0) {
        fprintf(page->out, "<p class=\"soft\">The newest %d of %zu.</p>\n", SHOWN,
                journal->worker_count);
    }
    ics_html_table(page->out, headings);
    for (size_t i = first; i < journal->worker_count; ++i) {
        const ics_journal_worker *worker = &journal->workers[i];
        char number[32], state[32];
        snprintf(state, sizeof state, "stopped (%d)", worker->exit_status);
        ics_html_row(page->out);
        ics_html_cell(page->out, worker->name);
        ics_html_cell(page->out, worker->host != NULL ? worker->host : "-");
        ics_html_cell(page->out, worker->state == ICS_WORKER_STOPPED  ? state
                                 : worker->state == ICS_WORKER_PAUSED ? "paused"
                                                                      : "running or gone");
        ics_html_count(page->out, worker->counts.done);
        ics_html_count(page->out, worker->counts.quarantined);
        ics_html_number(page->out, "%s",
                        ics_progress_count_text((double)worker->counts.photons, number));
        ics_html_number(page->out, "%s",
                        ics_progress_count_text((double)worker->counts.hits, number));
    }
    ics_html_table_end(page->out);
}

int ics_page_run(ics_page *page, icestream_error *error)
{
    const size_t devices = count_devices(page->facts->history);
    ics_html_section(page->out, "history", "History of the runs");
    if (page->facts->journal->lines.events > 0) {
        fputs("<div class=\"pictures\">\n<div>", page->out);
        ICS_TRY(draw_rate(page, devices, error));
        if (devices > 1) {
            put_legend(page, devices);
        }
        fputs("</div>\n", page->out);
        if (page->facts->history->has_samples) {
            fputs("<div>", page->out);
            ICS_TRY(draw_queue(page, error));
            fputs("</div>\n", page->out);
        }
        fputs("</div>\n", page->out);
        put_history_table(page);
    } else {
        fputs("<p>There is no journal.</p>\n", page->out);
    }
    put_devices(page);
    put_workers(page);
    ics_html_section_end(page->out);
    return ICESTREAM_OK;
}
