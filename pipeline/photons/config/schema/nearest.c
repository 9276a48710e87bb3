#include "pipeline/photons/config/schema/nearest.h"

#include "pipeline/icestream.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein distance in its restricted form (optimal string alignment), which edits no
 * letter twice. It needs only three rows of the table at a time. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; ++j) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; ++i) {
        size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; ++j) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2])) {
                now[j] = least(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

void ics_nearest_try(ics_nearest *best, const char *typed, const char *candidate)
{
    size_t typed_length = strlen(typed), length = strlen(candidate);
    if (typed_length == 0 || typed_length > LONGEST || length > LONGEST) {
        return;
    }
    size_t shorter = least(typed_length, length);
    size_t longer = typed_length + length - shorter;
    size_t changes = distance(typed, typed_length, candidate, length);
    if (shorter >= 3 && strncasecmp(typed, candidate, shorter) == 0) {
        changes = least(changes, 1);
    }
    size_t allowed = (longer + 1) / 3 > 1 ? (longer + 1) / 3 : 1;
    if (changes > allowed || (typed_length == 1 && changes > 0)) {
        return;
    }
    if (best->word == NULL || changes < best->distance) {
        *best = (ics_nearest){.word = candidate, .distance = changes};
    }
}

const char *icestream_suggestion(const char *typed, const char *const *words, size_t count)
{
    ics_nearest best = {0};
    for (size_t i = 0; i < count; ++i) {
        ics_nearest_try(&best, typed, words[i]);
    }
    return best.word;
}
