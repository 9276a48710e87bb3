/* Paths of photons as .vtp: one line for each photon. */
#include "base/error.h"
#include "base/terminal.h"
#include "pipeline/files/format/table_reader.h"
#include "pipeline/files/hit_csv.h"
#include "pipeline/files/vtp_output.h"
#include "pipeline/tools/convert/pictures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 14 }; /* points that are read at a time */

/* One photon. */
typedef struct line {
    uint64_t event_id;
    uint32_t step_id, photon_id;
    int32_t end;   /* the number of points in the lines of the piece so far, with this one */
    uint16_t fate; /* the kind of the last point */
} line;

typedef struct drawing {
    ics_table_reader *reader;
    ics_vtp_output *file;
    icestream_path_point *points; /* [count], not written yet */
    size_t count, capacity;
    line *lines; /* [line_count]; room for as many as points */
    size_t line_count;
} drawing;

static int make_room(drawing *d, icestream_error *error)
{
    if (d->lines != NULL && d->capacity - d->count >= BLOCK) {
        return ICESTREAM_OK;
    }
    const size_t capacity = 2 * d->capacity + BLOCK;
    icestream_path_point *points = reallocarray(d->points, capacity, sizeof *points);
    d->points = points != NULL ? points : d->points;
    line *lines = reallocarray(d->lines, capacity, sizeof *lines);
    d->lines = lines != NULL ? lines : d->lines;
    if (points == NULL || lines == NULL || capacity > INT32_MAX) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for %zu points",
                             ics_table_reader_name(d->reader), capacity);
    }
    d->capacity = capacity;
    return ICESTREAM_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Begins a new line at the first point of a path, and otherwise makes the last line longer. */
static void add_point(drawing *d, size_t index)
{
    const icestream_path_point *point = &d->points[index];
    const line *last = d->line_count > 0 ? &d->lines[d->line_count - 1] : NULL;
    if (last == NULL || point->point == 0 || last->event_id != point->event_id ||
        last->step_id != point->step_id || last->photon_id != point->photon_id) {
        d->lines[d->line_count++] = (line){
            .event_id = point->event_id, .step_id = point->step_id, .photon_id = point->photon_id};
    }
    d->lines[d->line_count - 1].end = (int32_t)(index + 1);
    d->lines[d->line_count - 1].fate = point->kind;
}

#define POINTS(title, kind, member, number)                                                        \
    {                                                                                              \
        .name = (title), .type = {kind, sizeof d->points->member}, .components = (number),         \
        .first = &d->points->member, .stride = sizeof *d->points                                   \
    }
#define LINES(title, kind, member)                                                                 \
    {                                                                                              \
        .name = (title), .type = {kind, sizeof d->lines->member}, .components = 1,                 \
        .first = &d->lines->member, .stride = sizeof *d->lines                                     \
    }

/* Writes the first `lines` lines, and keeps the points of the others. */
static int put_lines(drawing *d, size_t lines, icestream_error *error)
{
    const size_t count = lines > 0 ? (size_t)d->lines[lines - 1].end : 0;
    const ics_vtp_piece piece = {
        .point_count = count,
        .positions = POINTS("points", 'f', x, 3),
        .point_data = {POINTS("t_ns", 'f', t, 1), POINTS("direction", 'f', dx, 3),
                       POINTS("path_m", 'f', path, 1), POINTS("absorption", 'f', absorption, 1),
                       POINTS("wavelength_nm", 'f', wavelength, 1), POINTS("point", 'u', point, 1),
                       POINTS("string", 'u', string, 1), POINTS("module", 'u', module, 1),
                       POINTS("kind", 'u', kind, 1), POINTS("scatters", 'u', scatters, 1)},
        .point_array_count = 10,
        .has_lines = true,
        .line_count = lines,
        .line_ends = LINES("offsets", 'i', end),
        .line_data = {LINES("event_id", 'u', event_id), LINES("step_id", 'u', step_id),
                      LINES("photon_id", 'u', photon_id), LINES("fate", 'u', fate)},
        .line_array_count = 4};
    if (count == 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_vtp_output_put(d->file, &piece, error));
    d->count -= count;
    memmove(d->points, d->points + count, d->count * sizeof *d->points);
    d->line_count = 0;
    for (size_t i = 0; i < d->count; ++i) {
        add_point(d, i);
    }
    return ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int open_table(const char *from, ics_table_reader **out, icestream_error *error)
{
    if (strcmp(from, "-") != 0) {
        return ics_table_reader_open(from, NULL, out, error);
    }
    ICS_TRY(ics_terminal_check_input(from, error));
    return ics_table_reader_open_stream(STDIN_FILENO, "standard input", NULL, -1, out, error);
}

static int check_layout(const ics_table_reader *reader, icestream_error *error)
{
    const ics_layout *layout = ics_table_reader_layout(reader);
    if (layout == ics_layout_paths()) {
        return ICESTREAM_OK;
    }
    const bool has_hits = layout == ics_layout_hits();
    return ics_error_set(error, has_hits ? ICESTREAM_E_USAGE : ICESTREAM_E_INPUT,
                         "%s: found a file of %s, expected %s", ics_table_reader_name(reader),
                         layout->short_name,
                         has_hits ? "--detector FILE together with it, because positions of hits "
                                    "are relative to their modules"
                                  : "one of paths or hits");
}

/* Refuses points that no picture can show. `first`: the number of the first row. */
static int check_points(const ics_table_reader *reader, const icestream_path_point *points,
                        size_t count, uint64_t first, icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        const icestream_path_point *point = &points[i];
        if (!isfinite(point->x) || !isfinite(point->y) || !isfinite(point->z)) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: row %" PRIu64 ", fields x, y, z: found %.9g, %.9g, %.9g, "
                                 "expected finite values",
                                 ics_table_reader_name(reader), first + i, (double)point->x,
                                 (double)point->y, (double)point->z);
        }
    }
    return ICESTREAM_OK;
}

/* Reads the next points behind those that wait; *got = 0 at the end of a file or message. */
static int read_points(drawing *d, size_t *got, icestream_error *error)
{
    const uint64_t first = ics_table_reader_position(d->reader);
    ICS_TRY(make_room(d, error));
    icestream_path_point *points = d->points + d->count;
    ICS_TRY(ics_table_reader_read(d->reader, points, BLOCK, got, error));
    ICS_TRY(check_points(d->reader, points, *got, first, error));
    for (size_t i = 0; i < *got; ++i) {
        add_point(d, d->count + i);
    }
    d->count += *got;
    return ICESTREAM_OK;
}

/* Draws the paths of a file or of a message. */
static int draw_table(drawing *d, icestream_error *error)
{
    ICS_TRY(check_layout(d->reader, error));
    for (size_t got = 1; got > 0;) {
        ICS_TRY(read_points(d, &got, error));
        /* The last line may go on in the next block. */
        ICS_TRY(put_lines(d, d->line_count > 0 ? d->line_count - (got > 0) : 0, error));
    }
    return ICESTREAM_OK;
}

static int draw(drawing *d, const char *from, icestream_error *error)
{
    bool found = strcmp(from, "-") != 0;
    if (found) {
        return draw_table(d, error);
    }
    ICS_TRY(ics_table_reader_next(d->reader, &found, error));
    if (!found) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "standard input: found the end of the input, expected paths");
    }
    while (found) {
        ICS_TRY(draw_table(d, error));
        ICS_TRY(ics_table_reader_next(d->reader, &found, error));
    }
    return ICESTREAM_OK;
}

int ics_pictures_put_paths(const char *from, const char *to,
                           const icestream_convert_options *options, icestream_error *error)
{
    drawing d = {.count = 0};
    int status = open_table(from, &d.reader, error);
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_create(to, "paths", options->force, &d.file, error);
    }
    if (status == ICESTREAM_OK) {
        status = draw(&d, from, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_vtp_output_commit(d.file, error);
    }
    ics_vtp_output_destroy(d.file);
    ics_table_reader_destroy(d.reader);
    free(d.points);
    free(d.lines);
    return status;
}
