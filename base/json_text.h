/* Texts of any bytes as JSON strings, which must be UTF-8. */
#ifndef ICS_BASE_JSON_TEXT_H
#define ICS_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* Makes a JSON string, which the caller releases. File names and messages need not be UTF-8: in a
 * text that is not, every byte beyond ASCII becomes '?'. NULL: `text` is NULL, or out of memory. */
json_t *ics_json_text(const char *text);
/* The same for the first `limit` bytes of a text, or a few less so that no character is divided.
 * ICS_JSON_TEXT_CUT is appended to a text that was cut, in addition to `limit`. */
#define ICS_JSON_TEXT_CUT " [cut]"
json_t *ics_json_text_cut(const char *text, size_t limit);

/* Makes every text inside a value visible (base/visible_text.h), for printing it to people. Returns
 * 0, or -1 without memory. */
int ics_json_make_visible(json_t *value);

#endif
