#include "base/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Whether a token ends with this character outside of texts. */
static bool separates(char character)
{
    return character != 0 && strchr(",:[]{} \t\r\n", character) != NULL;
}

/* Returns the bytes of the longest text, number or word, or a little more: backslashes count. */
static size_t longest_token(const char *text, size_t length)
{
    size_t most = 0, token = 0;
    bool in_text = false;
    for (size_t i = 0; i < length; ++i) {
        const bool escaped = in_text && text[i] == '\\';
        const bool ends = text[i] == '"' || (!in_text && separates(text[i]));
        token += 1 + escaped;
        most = token > most ? token : most;
        in_text ^= text[i] == '"';
        token = ends ? in_text : token;
        i += escaped;
    }
    return most;
}

/* What the reader gets: ["xxx...", TEXT]. It has one buffer for the characters of a token, and
 * loses characters only while this buffer grows. The buffer grows for the first text, which is
 * longer than all others. Then errno says whether there was memory: nothing else sets it so early.
 */
typedef struct feed {
    const char *text;
    size_t length, guard; /* bytes of TEXT and of xxx... */
    size_t done;          /* bytes that the reader has */
} feed;

static char byte_of(const feed *from, size_t index)
{
    const size_t begin = from->guard + 4; /* of TEXT */
    if (index >= begin) {
        return *(index - begin < from->length ? from->text + (index - begin) : "]");
    }
    if (index == 0) {
        return '[';
    }
    if (index == from->guard + 3) {
        return ',';
    }
    return *(index == 1 || index == from->guard + 2 ? "\"" : "x");
}

static size_t give(void *bytes, size_t most, void *user)
{
    feed *from = user;
    const size_t begin = from->guard + 4;
    if (from->done == begin && errno == ENOMEM) {
        return (size_t)-1;
    }
    const size_t end = from->done < begin ? begin : begin + from->length + 1;
    const size_t count = end - from->done < most ? end - from->done : most;
    for (size_t i = 0; i < count; ++i) {
        ((char *)bytes)[i] = byte_of(from, from->done + i);
    }
    from->done += count;
    return count;
}

json_t *ics_json_read(const char *text, size_t length, size_t flags, json_error_t *why)
{
    enum { MORE = 32 }; /* the buffer holds quotes and a zero byte, too */
    feed from = {.text = text, .length = length, .guard = longest_token(text, length) + MORE};
    errno = 0;
    json_t *pair = json_load_callback(give, &from, flags, NULL), *value = NULL;
    const bool no_memory = pair == NULL && errno == ENOMEM;
    if (json_array_size(pair) == 2) {
        value = json_array_get(pair, 1);
        value = json_is_array(value) || json_is_object(value) ? json_incref(value) : NULL;
    }
    json_decref(pair);
    if (value == NULL && !no_memory) { /* for the reason */
        errno = 0;
        json_decref(json_loadb(text, length, flags, why));
    }
    errno = no_memory ? ENOMEM : errno;
    return value;
}

json_t *ics_json_read_text(const char *text, size_t flags, json_error_t *why)
{
    return text != NULL ? ics_json_read(text, strlen(text), flags, why)
                        : json_loads(text, flags, why);
}
