/* Pictures as SVG, drawn by gnuplot in a child process without a shell.
 *
 * A script is text for gnuplot with its data inside. It names colours by ICS_PICTURE_INK and its
 * neighbours, which are no colours but marks: the SVG gets the colours of the page instead,
 * so one picture suits light, dark and paper.
 */
#ifndef ICS_TOOLS_REPORT_PICTURE_H
#define ICS_TOOLS_REPORT_PICTURE_H

#include "pipeline/icestream.h"

#define ICS_PICTURE_INK   "'#000001'"
#define ICS_PICTURE_LINE  "'#000002'"
#define ICS_PICTURE_ONE   "'#000003'"
#define ICS_PICTURE_TWO   "'#000004'"
#define ICS_PICTURE_THREE "'#000005'"
#define ICS_PICTURE_SOFT  "'#000006'"

typedef struct ics_picture {
    FILE *script; /* for the commands of the picture */
    char *text;   /* private */
    size_t size;
} ics_picture;

/* Begins a script with the settings of all pictures. ICESTREAM_E_MEMORY. */
int ics_picture_begin(ics_picture *picture, icestream_error *error);
/* Draws the picture and ends the script, also after an error. *svg: an element `svg`, which the
 * caller frees. `number` differs for each picture of a page. ICESTREAM_E_FAILED: gnuplot is not
 * installed, fails, or needs more than ICS_GNUPLOT_SECONDS; the text says which.
 * ICESTREAM_E_MEMORY. */
int ics_picture_draw(ics_picture *picture, int number, char **svg, icestream_error *error);

#endif
