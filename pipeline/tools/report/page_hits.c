/* Sections of the page: arrival times, scatters, hits per module. */
#include "base/error.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <inttypes.h>
#include <math.h>

enum { BINS = 100 };

/* ---- times and scatters ---------------------------------------------------------------------- */

typedef struct axis {
    const char *title, *unit;
    double low, width; /* of the first bin, and of every bin */
} axis;

static int draw_boxes(ics_page *page, const double *counts, const axis *along, const char *caption,
                      icestream_error *error)
{
    ics_picture picture;
    char width[64];
    snprintf(width, sizeof width, "%.3g %s", along->width, along->unit);
    if (along->width == 1.0) {
        snprintf(width, sizeof width, "%s", along->unit);
    }
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i <= BINS; ++i) {
        const double count = counts[i < BINS ? i : BINS - 1];
        fprintf(picture.script, "%.9g %g\n", along->low + (double)i * along->width,
                count > 0.0 ? count : 0.5);
    }
    fprintf(picture.script,
            "EOD\nset xlabel '%s'\nset ylabel 'hits per %s'\nset logscale y\n"
            "set format y '10^{%%L}'\nset yrange [0.5:*]\nset xrange [%.9g:%.9g]\n"
            "plot $d u 1:2 w fillsteps lc rgb " ICS_PICTURE_ONE
            " notitle, $d u 1:2 w steps lc rgb " ICS_PICTURE_ONE " lw 1.2 notitle\n",
            along->title, width, along->low, along->low + BINS * along->width);
    return ics_page_figure(page, &picture, caption, error);
}

/* A round width so that BINS bins cover the length. */
static double round_width(double length)
{
    const double least = length > 0.0 ? length / BINS : 1.0;
    const double power = pow(10.0, floor(log10(least)));
    static const double steps[] = {1.0, 2.0, 2.5, 5.0, 10.0};
    size_t i = 0;
    while (steps[i] * power < least * (1.0 - 1e-9)) {
        ++i;
    }
    return steps[i] * power;
}

static int draw_times(ics_page *page, icestream_error *error)
{
    const ics_hit_counts *hits = page->facts->hits;
    double bins[BINS];
    const double from = ics_hit_counts_time_quantile(hits, 0.0);
    const double to = ics_hit_counts_time_quantile(hits, 0.999);
    const double start = from > 0.0 && from < 0.2 * to ? 0.0 : from;
    const double width = round_width(to - start);
    const double low = width * floor(start / width);
    ics_hit_counts_time_bins(hits, low, low + BINS * width, bins, BINS);
    const axis along = {
        .title = "time after the t0 of the event (ns)", .unit = "ns", .low = low, .width = width};
    return draw_boxes(page, bins, &along, "<b>Arrival times</b> of 99.9 % of the hits", error);
}

static int draw_scatters(ics_page *page, icestream_error *error)
{
    const ics_hit_counts *hits = page->facts->hits;
    double bins[BINS] = {0};
    const uint32_t to = ics_hit_counts_scatter_quantile(hits, 0.999);
    const uint32_t width = (uint32_t)fmax(1.0, round_width(to + 1.0));
    for (size_t i = 0; i < BINS * (size_t)width && i < ICS_HIT_COUNTS_NUMBERS; ++i) {
        bins[i / width] += (double)hits->scatters[i];
    }
    const axis along = {.title = "scatters before the hit",
                        .unit = width > 1 ? "scatters" : "scatter",
                        .low = 0.0,
                        .width = width};
    return draw_boxes(page, bins, &along, "<b>Scatters</b> of 99.9 % of the hits", error);
}

static void put_quantiles(const ics_page *page)
{
    static const char *const headings[] = {"share of the hits", "#time up to (ns)",
                                           "#scatters up to", NULL};
    static const double shares[] = {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0};
    const ics_hit_counts *hits = page->facts->hits;
    ics_html_fold(page->out, "Quantiles of times and scatters", !page->has_pictures);
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; ++i) {
        char name[32];
        snprintf(name, sizeof name, "%g %%", 100.0 * shares[i]);
        ics_html_row(page->out);
        ics_html_cell(page->out, shares[i] > 0.0 ? name : "the first hit");
        ics_html_number(page->out, "%.4g", ics_hit_counts_time_quantile(hits, shares[i]));
        ics_html_number(page->out, "%" PRIu32, ics_hit_counts_scatter_quantile(hits, shares[i]));
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

int ics_page_hits(ics_page *page, icestream_error *error)
{
    const ics_hit_counts *hits = page->facts->hits;
    char number[ICS_HTML_COUNT], events[ICS_HTML_COUNT];
    ics_html_section(page->out, "hits", "Arrival times and scatters");
    if (hits->hits == 0) {
        fputs("<p>There are no hits.</p>\n", page->out);
        ics_html_section_end(page->out);
        return ICESTREAM_OK;
    }
    fprintf(page->out, "<p>%s hits of %s events; the sum of their weights is %.6g.</p>\n",
            ics_html_count_text(hits->hits, number), ics_html_count_text(hits->events, events),
            hits->weight);
    fputs("<div class=\"pictures\">\n", page->out);
    ICS_TRY(draw_times(page, error));
    if (hits->without_scatters < hits->hits) {
        ICS_TRY(draw_scatters(page, error));
    }
    fputs("</div>\n", page->out);
    if (hits->without_scatters > 0) {
        fprintf(page->out,
                "<p>%s hits are in waveforms, which have no number of scatters. Their times are "
                "the middles of bins.</p>\n",
                ics_html_count_text(hits->without_scatters, number));
    }
    put_quantiles(page);
    ics_html_section_end(page->out);
    return ICESTREAM_OK;
}
