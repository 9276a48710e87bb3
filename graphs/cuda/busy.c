#include "graphs/cuda/busy.h"

#include <string.h>

/* Makes room by taking out the earliest stretch. */
static void settle_first(ics_busy *busy)
{
    busy->settled += busy->stretches[0].end - busy->stretches[0].begin;
    busy->until = busy->stretches[0].end;
    --busy->count;
    memmove(&busy->stretches[0], &busy->stretches[1], busy->count * sizeof busy->stretches[0]);
}

void ics_busy_add(ics_busy *busy, double begin, double end)
{
    if (busy->count == ICS_BUSY_STRETCHES) {
        settle_first(busy);
    }
    if (busy->settled > 0 && begin < busy->until) {
        begin = busy->until;
    }
    if (end <= begin) {
        return;
    }
    /* first .. last - 1: the stretches that it touches, which become one with it. */
    uint32_t first = 0;
    while (first < busy->count && busy->stretches[first].end < begin) {
        ++first;
    }
    uint32_t last = first;
    while (last < busy->count && busy->stretches[last].begin <= end) {
        ++last;
    }
    if (last > first) {
        begin = busy->stretches[first].begin < begin ? busy->stretches[first].begin : begin;
        end = busy->stretches[last - 1].end > end ? busy->stretches[last - 1].end : end;
    }
    memmove(&busy->stretches[first + 1], &busy->stretches[last],
            (busy->count - last) * sizeof busy->stretches[0]);
    busy->stretches[first].begin = begin;
    busy->stretches[first].end = end;
    busy->count = busy->count + 1 - (last - first);
}

double ics_busy_seconds(const ics_busy *busy)
{
    double seconds = busy->settled;
    for (uint32_t i = 0; i < busy->count; ++i) {
        seconds += busy->stretches[i].end - busy->stretches[i].begin;
    }
    return seconds;
}
