/* A section of the page: the ice by depth, and the light that was made in it. */
#include "base/error.h"
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/tools/report/html.h"
#include "pipeline/tools/report/page_parts.h"

#include <math.h>

static const double wavelength = 400.0; /* nm */

static double middle_of(const ice_medium *medium, size_t layer)
{
    return medium->bottom + ((double)layer + 0.5) * medium->thickness;
}

static int draw_layers(ics_page *page, const ice_medium *medium, icestream_error *error)
{
    ics_picture picture;
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i < medium->layer_count; ++i) {
        fprintf(picture.script, "%.6g %.5g %.5g\n", middle_of(medium, i),
                1.0 / ics_ice_absorption(medium, i, wavelength),
                1.0 / ics_ice_scattering(medium, i, wavelength));
    }
    fprintf(picture.script,
            "EOD\nset terminal svg size 460,460 dynamic font 'sans-serif,12'\n"
            "set ylabel 'z (m)'\nset xlabel 'length (m)'\nset logscale x\nset yrange [%g:%g]\n"
            "plot $d u 2:1 w lines lc rgb " ICS_PICTURE_ONE
            " lw 1.5 t 'absorption', $d u 3:1 w lines lc rgb " ICS_PICTURE_TWO
            " lw 1.5 t 'effective scattering'\n",
            medium->bottom, medium->bottom + (double)medium->layer_count * medium->thickness);
    return ics_page_figure(page, &picture, "<b>Ice</b> at 400 nm", error);
}

static void put_layers(const ics_page *page, const ice_medium *medium)
{
    static const char *const headings[] = {"#z (m)", "#absorption length (m)",
                                           "#effective scattering length (m)", NULL};
    enum { ROWS = 60 };
    const size_t step = (medium->layer_count + ROWS - 1) / ROWS;
    ics_html_fold(page->out, "Numbers of the ice", !page->has_pictures);
    ics_html_table(page->out, headings);
    for (size_t i = medium->layer_count; i-- > 0;) {
        if (i % step == 0) {
            ics_html_row(page->out);
            ics_html_number(page->out, "%.1f", middle_of(medium, i));
            ics_html_number(page->out, "%.4g", 1.0 / ics_ice_absorption(medium, i, wavelength));
            ics_html_number(page->out, "%.4g", 1.0 / ics_ice_scattering(medium, i, wavelength));
        }
    }
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

/* ---- light ----------------------------------------------------------------------------------- */

static double level_low(size_t level)
{
    return ICS_LIGHT_LEVELS_LOW + (double)level * ICS_LIGHT_LEVELS_STEP;
}

static int draw_light(ics_page *page, const ice_medium *medium, icestream_error *error)
{
    const ics_light_levels *light = &page->facts->history->light;
    ics_picture picture;
    uint64_t most = 0;
    double unit = 1.0;
    for (size_t i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        most = light->photons[i] > most ? light->photons[i] : most;
    }
    const char *name = ics_page_count_unit((double)most, &unit);
    ICS_TRY(ics_picture_begin(&picture, error));
    fputs("$d << EOD\n", picture.script);
    for (size_t i = 0; i < ICS_LIGHT_LEVELS; ++i) {
        const double photons = (double)light->photons[i] / unit;
        fprintf(picture.script, "%g %g 0 %g %g %g\n", 0.5 * photons,
                0.5 * (level_low(i) + level_low(i + 1)), photons, level_low(i), level_low(i + 1));
    }
    fprintf(picture.script,
            "EOD\nset terminal svg size 460,460 dynamic font 'sans-serif,12'\n"
            "set ylabel 'z (m)'\nset xlabel 'photons made%s'\nset xrange [0:*]\n",
            name);
    if (medium != NULL && medium->layer_count > 1) {
        fprintf(picture.script, "set yrange [%g:%g]\n", medium->bottom,
                medium->bottom + (double)medium->layer_count * medium->thickness);
    }
    fputs("plot $d u 1:2:3:4:5:6 w boxxyerrorbars lc rgb " ICS_PICTURE_THREE " notitle\n",
          picture.script);
    return ics_page_figure(page, &picture, "<b>Light</b> that was made", error);
}

static void put_light(const ics_page *page)
{
    static const char *const headings[] = {"#z from (m)", "#to (m)", "#photons made", NULL};
    const ics_light_levels *light = &page->facts->history->light;
    ics_html_fold(page->out, "Photons made by height", !page->has_pictures);
    ics_html_table(page->out, headings);
    ics_html_row(page->out);
    ics_html_number(page->out, "%g", level_low(ICS_LIGHT_LEVELS));
    ics_html_number(page->out, "and above");
    ics_html_count(page->out, light->above);
    for (size_t i = ICS_LIGHT_LEVELS; i-- > 0;) {
        if (light->photons[i] > 0) {
            ics_html_row(page->out);
            ics_html_number(page->out, "%g", level_low(i));
            ics_html_number(page->out, "%g", level_low(i + 1));
            ics_html_count(page->out, light->photons[i]);
        }
    }
    ics_html_row(page->out);
    ics_html_number(page->out, "below");
    ics_html_number(page->out, "%g", level_low(0));
    ics_html_count(page->out, light->below);
    ics_html_table_end(page->out);
    ics_html_fold_end(page->out);
}

int ics_page_ice(ics_page *page, icestream_error *error)
{
    const ice_medium *medium = page->facts->models != NULL ? page->facts->models->medium : NULL;
    const bool has_light = page->facts->history->has_light;
    ics_html_section(page->out, "ice", "Ice, and the light that was made in it");
    if (medium != NULL) {
        fputs("<p>", page->out);
        ics_html_text(page->out, medium->name);
        fprintf(page->out, ": %zu layer%s of %.4g m.</p>\n", medium->layer_count,
                medium->layer_count == 1 ? "" : "s", medium->thickness);
    } else {
        fputs("<p>The ice is not known here; the last section says why.</p>\n", page->out);
    }
    fputs("<div class=\"pictures\">\n", page->out);
    if (medium != NULL && medium->layer_count > 1) {
        ICS_TRY(draw_layers(page, medium, error));
    }
    if (has_light) {
        ICS_TRY(draw_light(page, medium, error));
    }
    fputs("</div>\n", page->out);
    if (medium != NULL) {
        put_layers(page, medium);
    }
    if (has_light) {
        put_light(page);
    }
    ics_html_section_end(page->out);
    return ICESTREAM_OK;
}
