#include "pipeline/tools/report/picture.h"

#include "base/error.h"
#include "pipeline/files/gnuplot.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a picture");
}

int ics_picture_begin(ics_picture *picture, icestream_error *error)
{
    *picture = (ics_picture){.script = NULL};
    picture->script = open_memstream(&picture->text, &picture->size);
    if (picture->script == NULL) {
        return no_memory(error);
    }
    fputs("set encoding utf8\n"
          "set terminal svg size 460,300 dynamic font 'sans-serif,12'\n"
          "set border 3 lc rgb " ICS_PICTURE_LINE " lw 1\n"
          "set grid lc rgb " ICS_PICTURE_LINE " lw 0.6 dt solid\n"
          "set tics nomirror tc rgb " ICS_PICTURE_INK "\n"
          "set tics scale 0.5\n"
          "set key tc rgb " ICS_PICTURE_INK
          " samplen 1.5 Left reverse above left vertical maxrows 2\n"
          "set style fill solid 0.35 noborder\n",
          picture->script);
    return ICESTREAM_OK;
}

/* ---- the page's colours ---------------------------------------------------------------------- */

/* What gnuplot writes for a mark, and the colour of the page. */
static const struct {
    const char *from, *to;
} colours[] = {
    {"rgb(0,0,1)", "var(--ink)"}, {"rgb(0,0,2)", "var(--line)"},  {"rgb(0,0,3)", "var(--one)"},
    {"rgb(0,0,4)", "var(--two)"}, {"rgb(0,0,5)", "var(--three)"}, {"rgb(0,0,6)", "var(--soft)"},
};

/* If a colour begins at `at`, writes what the page has instead and returns what follows it;
 * otherwise NULL. */
static const char *put_colour(FILE *out, const char *at)
{
    char packed[32];
    size_t used = 0;
    const char *end = at;
    if (strncmp(at, "rgb(", 4) != 0) {
        return NULL;
    }
    for (; *end != '\0' && *end != ')' && used + 2 < sizeof packed; ++end) {
        if (*end != ' ') {
            packed[used++] = *end;
        }
    }
    packed[used++] = ')';
    packed[used] = '\0';
    for (size_t i = 0; i < sizeof colours / sizeof *colours; ++i) {
        if (strcmp(packed, colours[i].from) == 0) {
            fputs(colours[i].to, out);
            return end + (*end == ')');
        }
    }
    return NULL;
}

/* If a text begins at `at` whose name must differ in each picture, or which the page replaces,
 * writes the replacement and returns what follows; otherwise NULL. */
static const char *put_name(FILE *out, const char *at, int number)
{
    static const char *const dropped[] = {"font-family=\"sans-serif\"", "id=\"gnuplot_canvas\"",
                                          "<title>Gnuplot</title>"};
    static const char *const ids[] = {"id='gp", "'#gp", "id=\"gnuplot_plot_", "id='textbox",
                                      "id='greybox"};
    static const char black[] = "fill=\"black\"";
    if (strncmp(at, black, sizeof black - 1) == 0) {
        fputs("fill=\"var(--ink)\"", out);
        return at + sizeof black - 1;
    }
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; ++i) {
        if (strncmp(at, dropped[i], strlen(dropped[i])) == 0) {
            return at + strlen(dropped[i]);
        }
    }
    for (size_t i = 0; i < sizeof ids / sizeof *ids; ++i) {
        if (strncmp(at, ids[i], strlen(ids[i])) == 0) {
            const char *name = strpbrk(at, "'\"#") + 1;
            name += *name == '#';
            fprintf(out, "%.*sp%d-", (int)(name - at), at, number);
            return name;
        }
    }
    return NULL;
}

/* Makes the element of the page from the file of gnuplot. */
static int adapt(const char *file, int number, char **svg, icestream_error *error)
{
    size_t size = 0;
    const char *at = strstr(file, "<svg");
    if (at == NULL || strstr(at, "</svg>") == NULL) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "gnuplot wrote no picture; expected one that ends with </svg>");
    }
    FILE *out = open_memstream(svg, &size);
    if (out == NULL) {
        return no_memory(error);
    }
    while (*at != '\0') {
        const char *after = put_colour(out, at);
        after = after != NULL ? after : put_name(out, at, number);
        if (after == NULL) {
            fputc(*at, out);
        }
        at = after != NULL ? after : at + 1;
    }
    return fclose(out) == 0 ? ICESTREAM_OK : no_memory(error);
}

int ics_picture_draw(ics_picture *picture, int number, char **svg, icestream_error *error)
{
    char *file = NULL;
    size_t size = 0;
    *svg = NULL;
    int status = fclose(picture->script) == 0 ? ICESTREAM_OK : no_memory(error);
    if (status == ICESTREAM_OK) {
        status = ics_gnuplot_draw(picture->text, picture->size, &file, &size, error);
    }
    if (status == ICESTREAM_OK) {
        status = adapt(file, number, svg, error);
    }
    free(file);
    free(picture->text);
    *picture = (ics_picture){.script = NULL};
    return status;
}
