/* Files of points, lines and triangles for ParaView, VTK and PyVista: VTK's XML format for PolyData
 * (.vtp).
 *
 * A file is a sequence of pieces, which a reader puts together. So the writer needs no number of
 * points in advance, and a file may be a stream. The numbers of a piece are base64 of the bytes in
 * memory, so no bit of them changes.
 *
 *     ics_vtp_output_create("a.vtp", "hits", force, &file, error)
 *     ics_vtp_output_put(file, &piece, error)                  any number of times
 *     ics_vtp_output_commit(file, error)
 *     ics_vtp_output_destroy(file)                 without a commit it removes the .part
 *
 * Errors: ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY.
 */
#ifndef ICS_FILES_VTP_OUTPUT_H
#define ICS_FILES_VTP_OUTPUT_H

#include "pipeline/files/format/layout.h"
#include "pipeline/icestream.h"

typedef struct ics_vtp_output ics_vtp_output;

/* Numbers that lie in memory at equal distances. */
typedef struct ics_vtp_array {
    const char *name; /* with its unit */
    ics_layout_number_type type;
    uint32_t components; /* 1, or 3 of a vector, side by side */
    const void *first;   /* the first number of the first row; NULL if there are no rows */
    size_t stride;       /* bytes from a row to the next one */
} ics_vtp_array;

enum { ICS_VTP_ARRAYS = ICS_LAYOUT_FIELDS_MAX };

typedef struct ics_vtp_piece {
    size_t point_count;
    ics_vtp_array positions;                  /* x, y, z (m) of each point */
    ics_vtp_array point_data[ICS_VTP_ARRAYS]; /* [point_array_count] */
    size_t point_array_count;
    bool has_lines; /* lines go through consecutive points; otherwise each point is a dot, or
                       belongs to triangles */
    size_t line_count;
    ics_vtp_array line_ends; /* int32_t: the number of points in the lines so far, with this one */
    size_t triangle_count;   /* only without lines; 0: there are dots or lines */
    ics_vtp_array corners;   /* int32_t: indices of points of this piece, 3 rows per triangle */
    ics_vtp_array line_data[ICS_VTP_ARRAYS]; /* [line_array_count], of lines or of triangles */
    size_t line_array_count;
} ics_vtp_piece;

/* Creates the file as ics_output_create(); the path "-" is standard output. `about` is a remark for
 * people in the file, without "--". */
int ics_vtp_output_create(const char *path, const char *about, bool force, ics_vtp_output **out,
                          icestream_error *error);
/* Appends a piece of fewer than 2^31 points. A reader of standard output gets it at once. */
int ics_vtp_output_put(ics_vtp_output *file, const ics_vtp_piece *piece, icestream_error *error);
/* Completes the file and gives it its name. */
int ics_vtp_output_commit(ics_vtp_output *file, icestream_error *error);
/* Closes the file; removes it if it was not committed. Accepts NULL. */
void ics_vtp_output_destroy(ics_vtp_output *file);

#endif
