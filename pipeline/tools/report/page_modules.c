/* A section of the page: hits per module, seen from above and by depth. */
#include "base/error.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A string seen from above: the mean position of its modules, and the hits of all of them. */
typedef struct spot {
    double x, y; /* m */
    uint64_t hits;
    size_t modules;
} spot;

enum {
    SPOTS = 2500, /* circles of the picture; with more strings a circle is a square of the ground */
    SIDE = 50     /* squares along each side then */
};

static uint64_t hits_of(const ics_facts *facts, uint16_t string, uint16_t module)
{
    const ics_hit_string *all = &facts->hits->strings[string];
    return module < all->count ? all->hits[module] : 0;
}

/* Adds the modules, which are sorted by string, to one spot for each string. Returns the number of
 * spots, at most `limit`. */
static size_t sum_strings(const ics_facts *facts, spot *spots, size_t limit)
{
    const ice_detector *detector = facts->models->detector;
    size_t count = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        if (i == 0 || module->string != detector->modules[i - 1].string) {
            if (count == limit) {
                return limit + 1;
            }
            spots[count++] = (spot){.x = 0.0};
        }
        spot *at = &spots[count - 1];
        at->x += module->x;
        at->y += module->y;
        at->hits += hits_of(facts, module->string, module->module);
        at->modules += 1;
    }
    for (size_t i = 0; i < count; ++i) {
        spots[i].x /= (double)spots[i].modules;
        spots[i].y /= (double)spots[i].modules;
    }
    return count;
}

typedef struct extent {
    double low[3], high[3]; /* m */
} extent;

static extent extent_of(const ice_detector *detector)
{
    extent all = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < detector->module_count; ++i) {
        const double at[3] = {detector->modules[i].x, detector->modules[i].y,
                              detector->modules[i].z};
        for (int k = 0; k < 3; ++k) {
            all.low[k] = fmin(all.low[k], at[k]);
            all.high[k] = fmax(all.high[k], at[k]);
        }
    }
    return all;
}

static size_t sum_squares(const ics_facts *facts, spot *spots)
{
    const ice_detector *detector = facts->models->detector;
    const extent all = extent_of(detector);
    const double width = fmax(fmax(all.high[0] - all.low[0], all.high[1] - all.low[1]), 1.0) / SIDE;
    for (size_t i = 0; i < (size_t)SIDE * SIDE; ++i) {
        const size_t column = i % SIDE, row = i / SIDE;
        spots[i] = (spot){.x = all.low[0] + ((double)column + 0.5) * width,
                          .y = all.low[1] + ((double)row + 0.5) * width};
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const size_t column = (size_t)((module->x - all.low[0]) / width);
        const size_t row = (size_t)((module->y - all.low[1]) / width);
        spot *at =
            &spots[(row < SIDE ? row : SIDE - 1) * SIDE + (column < SIDE ? column : SIDE - 1)];
        at->hits += hits_of(facts, module->string, module->module);
        at->modules += 1;
    }
    return (size_t)SIDE * SIDE;
}

static int draw_above(ics_page *page, icestream_error *error)
{
    spot *spots = malloc(((size_t)SPOTS + 1) * sizeof *spots);
    ics_picture picture;
    uint64_t most = 1;
    if (spots == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    size_t count = sum_strings(page->facts, spots, SPOTS);
    const bool by_string = count <= SPOTS;
    count = by_string ? count : sum_squares(page->facts, spots);
    const extent all = extent_of(page->facts->models->detector);
    const double size = fmax(fmax(all.high[0] - all.low[0], all.high[1] - all.low[1]), 20.0);
    for (size_t i = 0; i < count; ++i) {
        most = spots[i].hits > most ? spots[i].hits : most;
    }
    int status = ics_picture_begin(&picture, error);
    if (status != ICESTREAM_OK) {
        free(spots);
        return status;
    }
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i < count; ++i) {
        if (spots[i].modules > 0) {
            fprintf(picture.script, "%.6g %.6g %.4g\n", spots[i].x, spots[i].y,
                    0.09 * size * sqrt((double)spots[i].hits / (double)most));
        }
    }
    free(spots);
    fprintf(picture.script,
            "EOD\nset terminal svg size 460,460 dynamic font 'sans-serif,12'\nset size ratio -1\n"
            "set xlabel 'x (m)'\nset ylabel 'y (m)'\nset xrange [%g:%g]\nset yrange [%g:%g]\n"
            "plot $d u 1:2:3 w circles lc rgb " ICS_PICTURE_ONE
            " notitle, $d u 1:2 w points pt 7 ps 0.25 lc rgb " ICS_PICTURE_SOFT " notitle\n",
            all.low[0] - 0.1 * size, all.high[0] + 0.1 * size, all.low[1] - 0.1 * size,
            all.high[1] + 0.1 * size);
    return ics_page_figure(page, &picture,
                           by_string ? "<b>From above</b>: the area of a circle is the number of "
                                       "hits on a string"
                                     : "<b>From above</b>: the area of a circle is the number of "
                                       "hits in a square of the ground",
                           error);
}

/* ---- by depth -------------------------------------------------------------------------------- */

enum { LEVELS = 60 };

typedef struct level {
    uint64_t hits, most; /* of all modules, and of the brightest one */
    size_t modules;
} level;

static double sum_levels(const ics_facts *facts, level levels[LEVELS], double *low)
{
    const ice_detector *detector = facts->models->detector;
    const extent all = extent_of(detector);
    const double width = fmax(all.high[2] - all.low[2], 1.0) / (LEVELS - 1);
    *low = all.low[2] - 0.5 * width;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const uint64_t hits = hits_of(facts, module->string, module->module);
        level *at = &levels[(size_t)((module->z - *low) / width)];
        at->hits += hits;
        at->modules += 1;
        at->most = hits > at->most ? hits : at->most;
    }
    return width;
}

static int draw_levels(ics_page *page, const level levels[LEVELS], double low, double width,
                       icestream_error *error)
{
    ics_picture picture;
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i < LEVELS; ++i) {
        if (levels[i].hits > 0) {
            fprintf(picture.script, "%.6g %g %g %.6g %.6g\n", low + ((double)i + 0.5) * width,
                    (double)levels[i].hits, (double)levels[i].most, low + (double)i * width,
                    low + (double)(i + 1) * width);
        }
    }
    fprintf(picture.script,
            "EOD\nset terminal svg size 460,460 dynamic font 'sans-serif,12'\n"
            "set ylabel 'z (m)'\nset xlabel 'hits'\nset logscale x\nset format x '10^{%%L}'\n"
            "set xrange [0.5:*]\nset yrange [%g:%g]\n"
            "plot $d u 2:1:(0.5):2:4:5 w boxxyerrorbars lc rgb " ICS_PICTURE_ONE
            " t 'all modules at a height', $d u 3:1 w points pt 7 ps 0.4 lc rgb " ICS_PICTURE_TWO
            " t 'the brightest module'\n",
            low, low + LEVELS * width);
    return ics_page_figure(page, &picture, "<b>By depth</b>: z is up, from the detector's centre",
                           error);
}

static void put_levels(const ics_page *page, const level levels[LEVELS], double low, double width)
{
    static const char *const headings[] = {"#z from (m)", "#to (m)",           "#modules",
                                           "#hits",       "#brightest module", NULL};
    ics_html_fold(page->out, "Hits by height", !page->has_pictures);
    ics_html_table(page->out, headings);
    for (size_t i = LEVELS; i-- > 0;) {
        if (levels[i].modules > 0) {
            ics_html_row(page->out);
            ics_html_number(page->out, "%.1f", low + (double)i * width);
            ics_html_number(page->out, "%.1f", low + (double)(i + 1) * width);
            ics_html_count(page->out, levels[i].modules);
            ics_html_count(page->out, levels[i].hits);
            ics_html_count(page->out, levels[i].most);
        }
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

/* ---- the brightest modules ------------------------------------------------------------------- */

typedef struct bright {
    uint64_t hits;
    uint16_t string, module;
} bright;

enum { BRIGHTEST = 15 };

/* The modules with most hits, the brightest first. Returns how many there are. *modules: how many
 * modules have hits. */
static size_t find_brightest(const ics_hit_counts *counts, bright best[BRIGHTEST], size_t *modules)
{
    size_t found = 0;
    *modules = 0;
    for (size_t s = 0; s < ICS_HIT_COUNTS_NUMBERS; ++s) {
        for (size_t m = 0; m < counts->strings[s].count; ++m) {
            const bright one = {counts->strings[s].hits[m], (uint16_t)s, (uint16_t)m};
            *modules += one.hits > 0;
            if (one.hits == 0 || (found == BRIGHTEST && one.hits <= best[found - 1].hits)) {
                continue;
            }
            size_t at = found < BRIGHTEST ? found++ : found - 1;
            for (; at > 0 && best[at - 1].hits < one.hits; --at) {
                best[at] = best[at - 1];
            }
            best[at] = one;
        }
    }
    return found;
}

static void put_brightest(const ics_page *page)
{
    static const char *const headings[] = {"#string", "#module", "#hits", "#share of all", NULL};
    const ics_hit_counts *counts = page->facts->hits;
    bright best[BRIGHTEST];
    size_t modules = 0;
    const size_t found = find_brightest(counts, best, &modules);
    char number[ICS_HTML_COUNT];
    fprintf(page->out, "<p>%s modules have hits.</p>\n", ics_html_count_text(modules, number));
    ics_html_fold(page->out, "The brightest modules", 1);
    ics_html_table(page->out, headings);
    for (size_t i = 0; i < found; ++i) {
        ics_html_row(page->out);
        ics_html_number(page->out, "%u", best[i].string);
        ics_html_number(page->out, "%u", best[i].module);
        ics_html_count(page->out, best[i].hits);
        ics_html_number(page->out, "%.3g %%", 100.0 * (double)best[i].hits / (double)counts->hits);
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

int ics_page_modules(ics_page *page, icestream_error *error)
{
    ics_html_section(page->out, "modules", "Hits per module");
    if (page->facts->hits->hits == 0) {
        fputs("<p>There are no hits.</p>\n", page->out);
    } else if (page->facts->models != NULL) {
        level levels[LEVELS] = {{0}};
        double low = 0.0;
        const double width = sum_levels(page->facts, levels, &low);
        fputs("<div class=\"pictures\">\n", page->out);
        ICS_TRY(draw_above(page, error));
        ICS_TRY(draw_levels(page, levels, low, width, error));
        fputs("</div>\n", page->out);
        put_levels(page, levels, low, width);
    }
    if (page->facts->hits->hits > 0) {
        put_brightest(page);
    }
    ics_html_section_end(page->out);
    return ICESTREAM_OK;
}
