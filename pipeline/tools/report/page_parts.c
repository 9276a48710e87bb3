#include "pipeline/tools/report/page_parts.h"

#include "base/error.h"
#include "pipeline/tools/report/facts_note.h"

#include <stdlib.h>

int ics_page_figure(ics_page *page, ics_picture *picture, const char *caption,
                    icestream_error *error)
{
    char *svg = NULL;
    icestream_error why = {.text = ""};
    const int status = ics_picture_draw(picture, page->pictures++, &svg, &why);
    if (status == ICESTREAM_OK) {
        fprintf(page->out, "<figure><figcaption>%s</figcaption>\n%s</figure>\n", caption, svg);
    } else if (status == ICESTREAM_E_FAILED && page->has_pictures) {
        page->has_pictures = false;
        ics_facts_note(page->facts, "Pictures are missing: %s. The tables have their numbers.",
                       why.text);
    }
    free(svg);
    return status == ICESTREAM_E_MEMORY ? ics_error_copy(error, &why) : ICESTREAM_OK;
}

const char *ics_page_time_unit(double seconds, double *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"days", 86400.0}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof *units && seconds > 3.0 * units[i + 1].seconds) {
        ++i;
    }
    *unit = units[i].seconds;
    return units[i].name;
}

const char *ics_page_count_unit(double most, double *unit)
{
    static const char *const names[] = {"", " (thousand)", " (million)", " (billion)"};
    size_t i = 0;
    *unit = 1.0;
    while (i + 1 < sizeof names / sizeof *names && most >= 1e3 * *unit) {
        *unit *= 1e3;
        ++i;
    }
    return names[i];
}
