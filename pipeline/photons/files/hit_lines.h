/* Hit files become text of any form: what the forms share. */
#ifndef ICS_PHOTONS_FILES_HIT_LINES_H
#define ICS_PHOTONS_FILES_HIT_LINES_H

#include "pipeline/photons/files/text_output.h"

/* A form of text. Each function writes into `file` and returns 0 or what the output returned. */
typedef struct ics_hit_form {
    int (*begin)(ics_text_output *file, icestream_error *error);
    /* `before`: the hit before this one; NULL: this is the first. */
    int (*put)(ics_text_output *file, const icestream_hit *hit, const icestream_hit *before,
               icestream_error *error);
    /* `is_empty`: there was no hit. NULL: nothing stands behind the hits. */
    int (*end)(ics_text_output *file, bool is_empty, icestream_error *error);
} ics_hit_form;

/* Writes all hits of the hit file `from` to the new file `to`. The paths "-" are standard input and
 * output; lines are passed on as soon as a message is read. After an error `to` is not made.
 * ICESTREAM_E_INPUT: no good hit file; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY; ICESTREAM_E_USAGE:
 * standard input is a terminal. */
int ics_hit_lines_export(const char *from, const char *to, bool force, const ics_hit_form *form,
                         icestream_error *error);

#endif
