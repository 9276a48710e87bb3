#include "pipeline/config/schema/nearest.h"
#include "pipeline/icestream.h"

const char *icestream_suggestion(const char *typed, const char *const *words, size_t count)
{
    ics_nearest best = {0};
    for (size_t i = 0; i < count; ++i) {
        ics_nearest_try(&best, typed, words[i]);
    }
    return best.word;
}
