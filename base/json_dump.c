#include "base/json_dump.h"

#include <stdlib.h>

char *ics_json_dump(const json_t *value, size_t flags)
{
    /* Not json_dumps(): if it has no memory to enlarge its buffer for the name of a key, it leaves
     * the name out and continues (jansson 2.14). This buffer has its final size from the beginning.
     */
    size_t size = value != NULL ? json_dumpb(value, NULL, 0, flags) : 0;
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (text == NULL) {
        return NULL;
    }
    if (json_dumpb(value, text, size, flags) != size) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}
