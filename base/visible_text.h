/* Texts that contain bytes of others, such as names of files, in a form that changes nothing but
 * the text on a terminal or in a log. */
#ifndef ICS_BASE_VISIBLE_TEXT_H
#define ICS_BASE_VISIBLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the number of bytes of the UTF-8 character at `text`, and the character in *code; 0: the
 * first byte belongs to no character. */
size_t ics_visible_decode(const char *text, uint32_t *code);

enum { ICS_VISIBLE_MOST = 4 }; /* bytes for one byte of a text in the form of ics_visible_text() */

/* Copies a text into out[size]. Control characters and bytes that are not UTF-8 become \xNN, and
 * characters that change the direction of writing or separate lines \uNNNN. With `lines`, newlines
 * and tabs stay as they are; without, a newline becomes \n and a tab \t. A text that does not fit
 * is cut between two characters. Returns `out`. */
const char *ics_visible_text(const char *text, bool lines, char *out, size_t size);

/* A newline in the name of a file would begin another line of a message: where the last part of
 * `path` stands in the text, its newlines become '?'. */
void ics_visible_hide_newlines(const char *path, char *text);

/* Writes a text in this form, with its newlines and tabs. Check ferror(out) afterwards. */
void ics_visible_print(FILE *out, const char *text);

/* The same with a format. What it writes is lost if there is no memory for it. */
void ics_visible_printf(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As ics_visible_print() with a newline at the end, in one write for each 16 KiB, also if `out` has
 * no buffer. The words "error:" and "warning:" get a colour if `out` is a terminal and the
 * environment variable NO_COLOR is not set or empty. */
void ics_visible_print_line(FILE *out, const char *text);

#endif
