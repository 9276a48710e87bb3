#include "base/json_text.h"

#include "base/visible_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

json_t *ics_json_text(const char *text)
{
    return text != NULL ? ics_json_text_cut(text, strlen(text)) : NULL;
}

json_t *ics_json_text_cut(const char *text, size_t limit)
{
    if (text == NULL) {
        return NULL;
    }
    size_t length = strnlen(text, limit);
    bool cut = text[length] != '\0';
    while (cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
        --length; /* the next byte continues a UTF-8 character */
    }
    char *copy = malloc(length + sizeof ICS_JSON_TEXT_CUT);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, length);
    memcpy(copy + length, cut ? ICS_JSON_TEXT_CUT : "", cut ? sizeof ICS_JSON_TEXT_CUT : 1);
    json_t *json = json_string(copy);
    for (char *at = copy; json == NULL && *at != '\0'; ++at) {
        if ((unsigned char)*at >= 0x80) {
            *at = '?';
        }
    }
    if (json == NULL) {
        json = json_string(copy);
    }
    free(copy);
    return json;
}

static int make_text_visible(json_t *value)
{
    const char *text = json_string_value(value);
    const size_t size = 4 * strlen(text) + 1;
    char *visible = malloc(size);
    const int result =
        visible != NULL ? json_string_set(value, ics_visible_text(text, false, visible, size)) : -1;
    free(visible);
    return result;
}

int ics_json_make_visible(json_t *value)
{
    int result = 0;
    if (json_is_string(value)) {
        result = make_text_visible(value);
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); ++i) {
            result |= ics_json_make_visible(json_array_get(value, i));
        }
    } else if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member)
        {
            result |= ics_json_make_visible(member);
        }
    }
    return result;
}
