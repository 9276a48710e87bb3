/* Texts of any bytes as JSON, which is UTF-8. */
#ifndef ICS_TELEMETRY_JSON_TEXT_H
#define ICS_TELEMETRY_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* A text as JSON. File names and messages need not be UTF-8; of one that is not, every byte beyond
 * ASCII becomes '?'. NULL for NULL and without memory. The caller owns it. */
json_t *ics_json_text(const char *text);
/* The same of a text's first `limit` bytes, or a few less where a character would be divided; a
 * text that was cut ends with ICS_JSON_TEXT_CUT, beyond the limit. */
#define ICS_JSON_TEXT_CUT " [cut]"
json_t *ics_json_text_cut(const char *text, size_t limit);

#endif
