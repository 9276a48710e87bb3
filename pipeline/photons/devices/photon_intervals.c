#include "pipeline/photons/devices/photon_intervals.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ics_photon_intervals_clear(ics_photon_intervals *set)
{
    free(set->items);
    *set = (ics_photon_intervals){.items = NULL};
}

/* The index of the first interval that ends behind `position`. */
static size_t search(const ics_photon_intervals *set, uint64_t position)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].end > position) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static int insert(ics_photon_intervals *set, size_t at, ics_photon_interval interval,
                  icestream_error *error)
{
    if (set->count == set->capacity) {
        size_t capacity = set->capacity == 0 ? 16 : 2 * set->capacity;
        ics_photon_interval *items = realloc(set->items, capacity * sizeof *items);
        if (items == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY,
                                 "out of memory for %zu intervals of photons", capacity);
        }
        set->items = items;
        set->capacity = capacity;
    }
    memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
    set->items[at] = interval;
    set->count++;
    return ICESTREAM_OK;
}

int ics_photon_intervals_add(ics_photon_intervals *set, ics_photon_interval interval,
                             icestream_error *error)
{
    size_t at = search(set, interval.first);
    bool overlaps = at < set->count && set->items[at].first < interval.end;
    if (interval.end <= interval.first || overlaps) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "found the photons from %" PRIu64 " to before %" PRIu64
                             "%s, expected photons that were not finished before",
                             interval.first, interval.end, overlaps ? " twice" : "");
    }
    bool after = at > 0 && set->items[at - 1].end == interval.first;
    bool before = at < set->count && set->items[at].first == interval.end;
    if (after && before) {
        set->items[at - 1].end = set->items[at].end;
        set->count--;
        memmove(set->items + at, set->items + at + 1, (set->count - at) * sizeof *set->items);
    } else if (after) {
        set->items[at - 1].end = interval.end;
    } else if (before) {
        set->items[at].first = interval.first;
    } else {
        ICS_TRY(insert(set, at, interval, error));
    }
    set->photons += interval.end - interval.first;
    return ICESTREAM_OK;
}

bool ics_photon_intervals_find(const ics_photon_intervals *set, uint64_t position,
                               ics_photon_interval *out)
{
    size_t at = search(set, position);
    if (at == set->count) {
        return false;
    }
    *out = set->items[at];
    return true;
}
