#include "tables/short_texels.h"

#include <math.h>

void ics_tables_shorten_texels(const float *numbers, size_t count, int16_t *out)
{
    for (size_t i = 0; i < count; ++i) {
        out[i] = (int16_t)lrintf(numbers[i] * ICS_TEXEL_STEPS);
    }
}
