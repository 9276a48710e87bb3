#include "pipeline/config/nearest.h"
#include "pipeline/icestream.h"

const char *is_suggestion(const char *typed, const char *const *words, size_t count)
{
    is_nearest best = {0};
    for (size_t i = 0; i < count; ++i) {
        is_nearest_try(&best, typed, words[i]);
    }
    return best.word;
}
