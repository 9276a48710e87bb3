/* What a file is, by its first bytes. */
#ifndef ICS_BASE_FILE_KIND_H
#define ICS_BASE_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

/* Says what a file is that is not text, by its first bytes: "a picture (PNG)". NULL: it may be
 * text. */
const char *ics_file_kind(const char *bytes, size_t size);

/* Whether all bytes are printable ASCII, blanks or ends of lines. False if there are none. */
bool ics_file_is_text(const void *bytes, size_t size);

#endif
