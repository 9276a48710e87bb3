#include "graphs/cuda/busy.h"

#include <string.h>

/* Makes room: the earliest span becomes a part of the sum. */
static void remove_first(ics_busy *busy)
{
    busy->earlier += busy->spans[0].end - busy->spans[0].begin;
    busy->until = busy->spans[0].end;
    --busy->count;
    memmove(&busy->spans[0], &busy->spans[1], busy->count * sizeof busy->spans[0]);
}

void ics_busy_add(ics_busy *busy, double begin, double end)
{
    if (busy->count == ICS_BUSY_SPANS) {
        remove_first(busy);
    }
    if (busy->earlier > 0 && begin < busy->until) {
        begin = busy->until;
    }
    if (end <= begin) {
        return;
    }
    /* The new span is merged with the spans first .. last - 1, which it touches. */
    uint32_t first = 0;
    while (first < busy->count && busy->spans[first].end < begin) {
        ++first;
    }
    uint32_t last = first;
    while (last < busy->count && busy->spans[last].begin <= end) {
        ++last;
    }
    if (last > first) {
        begin = busy->spans[first].begin < begin ? busy->spans[first].begin : begin;
        end = busy->spans[last - 1].end > end ? busy->spans[last - 1].end : end;
    }
    memmove(&busy->spans[first + 1], &busy->spans[last],
            (busy->count - last) * sizeof busy->spans[0]);
    busy->spans[first].begin = begin;
    busy->spans[first].end = end;
    busy->count = busy->count + 1 - (last - first);
}

double ics_busy_seconds(const ics_busy *busy)
{
    double seconds = busy->earlier;
    for (uint32_t i = 0; i < busy->count; ++i) {
        seconds += busy->spans[i].end - busy->spans[i].begin;
    }
    return seconds;
}
