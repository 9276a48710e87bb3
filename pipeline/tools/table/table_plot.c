#include "base/error.h"
#include "pipeline/files/gnuplot.h"
#include "pipeline/files/output.h"
#include "pipeline/tools/table/table_tool.h"

#include <stdlib.h>
#include <string.h>

/* The weight per unit of the axes, so that bins of different width can be compared. */
static double density(const ics_table *table, uint64_t cell, double size)
{
    return (double)table->sums[cell] * ICS_TABLE_UNIT / size;
}

static double width(const ics_table_axis *axis, uint32_t bin)
{
    return ics_table_edge(axis, bin + 1) - ics_table_edge(axis, bin);
}

/* A title without marks that gnuplot would read as a format. */
static void put_title(FILE *script, const char *which, const ics_table_axis *axis)
{
    const bool has_unit = strcmp(axis->unit, "1") != 0;
    fprintf(script, "set %s '%s%s%s%s' noenhanced\n", which, axis->name, has_unit ? " (" : "",
            has_unit ? axis->unit : "", has_unit ? ")" : "");
}

static void put_curve(const ics_table *table, FILE *script)
{
    const ics_table_axis *axis = &table->axes[0];
    put_title(script, "xlabel", axis);
    fprintf(script, "set ylabel 'weight per unit of %s' noenhanced\nunset key\n", axis->name);
    fputs("plot '-' using 1:2 with lines lw 1.5\n", script);
    for (uint32_t i = 0; i < axis->bins; ++i) {
        const double y = density(table, (uint64_t)i + 1, width(axis, i));
        fprintf(script, "%.9g %.9g\n%.9g %.9g\n", ics_table_edge(axis, i), y,
                ics_table_edge(axis, i + 1), y);
    }
    fputs("e\n", script);
}

/* Boxes between edges: a grid of edges, and each box takes the value of its first corner. */
static void put_map(const ics_table *table, FILE *script)
{
    const ics_table_axis *x = &table->axes[0], *y = &table->axes[1];
    put_title(script, "xlabel", x);
    put_title(script, "ylabel", y);
    fprintf(script,
            "unset key\nset cblabel 'weight per unit of %s and %s' noenhanced\nset pm3d map "
            "corners2color c1\nset xrange [%.9g:%.9g]\nset yrange [%.9g:%.9g]\nsplot '-' using "
            "1:2:3 with pm3d\n",
            x->name, y->name, x->from, x->to, y->from, y->to);
    for (uint32_t i = 0; i <= x->bins; ++i) {
        const uint32_t column = i < x->bins ? i : x->bins - 1;
        for (uint32_t k = 0; k <= y->bins; ++k) {
            const uint32_t row = k < y->bins ? k : y->bins - 1;
            const uint64_t cell = ((uint64_t)column + 1) * table->strides[0] + row + 1;
            fprintf(script, "%.9g %.9g %.9g\n", ics_table_edge(x, i), ics_table_edge(y, k),
                    density(table, cell, width(x, column) * width(y, row)));
        }
        fputc('\n', script);
    }
    fputs("e\n", script);
}

static int draw(const ics_table *table, const char *terminal, char **picture, size_t *size,
                icestream_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *script = open_memstream(&text, &length);
    if (script == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a picture");
    }
    fprintf(script, "set encoding utf8\nset terminal %s size 800,600\n", terminal);
    if (table->axis_count == 1) {
        put_curve(table, script);
    } else {
        put_map(table, script);
    }
    int status = fclose(script) == 0
                     ? ICESTREAM_OK
                     : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a picture");
    if (status == ICESTREAM_OK) {
        status = ics_gnuplot_draw(text, length, picture, size, error);
    }
    free(text);
    return status;
}

int ics_table_tool_plot(const ics_table *table, const char *path, bool force,
                        icestream_error *error)
{
    const char *ending = strrchr(path, '.');
    char *picture = NULL;
    size_t size = 0;
    ics_output *output = NULL;
    const bool is_png = ending != NULL && strcmp(ending, ".png") == 0;
    if (!is_png && (ending == NULL || strcmp(ending, ".svg") != 0)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "--output: found %s, expected .svg or .png",
                             path);
    }
    if (table->axis_count > 2) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found %u axes to draw, expected the names of one or two of them",
                             table->axis_count);
    }
    ICS_TRY(ics_output_create(path, force, &output, error));
    int status = draw(table, is_png ? "pngcairo" : "svg", &picture, &size, error);
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, picture, size, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    free(picture);
    ics_output_destroy(output);
    return status;
}
