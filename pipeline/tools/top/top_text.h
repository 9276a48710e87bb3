/* The text of `icestream top`. */
#ifndef ICS_TOOLS_TOP_TOP_TEXT_H
#define ICS_TOOLS_TOP_TOP_TEXT_H

#include "pipeline/icestream.h"

struct json_t;

/* Writes the report of icestream_folder_status (the object of --json, whose texts are visible) as
 * lines for `width` columns. A line may be longer: the caller cuts it. ICESTREAM_E_MEMORY. */
int ics_top_text(const struct json_t *report, int width, FILE *out, icestream_error *error);

/* Writes the lines of a text that a terminal of this size shows, each cut to `width` characters,
 * with the sequences that move the cursor. The last line says so if lines are left out. */
void ics_top_draw(const char *text, int width, int height, FILE *out);

#endif
