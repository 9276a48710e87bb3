#include "pipeline/photons/files/format/key_runs.h"

#include "base/error.h"

#include <stdlib.h>

/* Extends the last run by a step if the step's key follows it. Returns whether it did. */
static bool extend_last(ics_key_runs *runs, const icestream_step *step)
{
    if (runs->count == 0) {
        return false;
    }
    ics_key_run *run = &runs->items[runs->count - 1];
    if (run->event_id != step->event_id || run->last == UINT32_MAX ||
        run->last + 1 != step->step_id) {
        return false;
    }
    ++run->last;
    return true;
}

int ics_key_runs_add(ics_key_runs *runs, const icestream_step *steps, size_t count,
                     icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (extend_last(runs, &steps[i])) {
            continue;
        }
        if (runs->count == runs->capacity) {
            size_t capacity = runs->capacity ? runs->capacity + runs->capacity / 2 : 1024;
            ics_key_run *grown = reallocarray(runs->items, capacity, sizeof *grown);
            if (grown == NULL) {
                return ics_error_set(error, ICESTREAM_E_MEMORY,
                                     "out of memory for the keys of %zu steps", capacity);
            }
            runs->items = grown;
            runs->capacity = capacity;
        }
        runs->items[runs->count++] = (ics_key_run){
            .event_id = steps[i].event_id, .first = steps[i].step_id, .last = steps[i].step_id};
    }
    return ICESTREAM_OK;
}

/* A byte of the sort key, which has 12 bytes: event_id, then the first step id. Byte 0 is the most
 * significant one. */
static unsigned key_byte(const ics_key_run *run, int byte)
{
    return byte < 8 ? (unsigned)(run->event_id >> (56 - 8 * byte)) & 255
                    : run->first >> (24 - 8 * (byte - 8)) & 255;
}

static bool before(const ics_key_run *a, const ics_key_run *b)
{
    return a->event_id != b->event_id ? a->event_id < b->event_id : a->first < b->first;
}

static void insertion_sort(ics_key_run *items, size_t count)
{
    for (size_t i = 1; i < count; ++i) {
        ics_key_run moving = items[i];
        size_t index = i;
        for (; index > 0 && before(&moving, &items[index - 1]); --index) {
            items[index] = items[index - 1];
        }
        items[index] = moving;
    }
}

/* Radix sort in place (American flag sort). qsort() of the C library would need as much memory
 * again. */
static void sort(ics_key_run *items, size_t count, int byte)
{
    enum { SMALL = 32, KEY_BYTES = 12 };
    if (count <= SMALL) {
        insertion_sort(items, count);
        return;
    }
    size_t ends[256] = {0}, next[256], starts[257];
    for (size_t i = 0; i < count; ++i) {
        ++ends[key_byte(&items[i], byte)];
    }
    size_t total = 0;
    for (int digit = 0; digit < 256; ++digit) {
        starts[digit] = next[digit] = total;
        total += ends[digit];
        ends[digit] = total;
    }
    starts[256] = total;
    for (int digit = 0; digit < 256; ++digit) {
        while (next[digit] < ends[digit]) {
            ics_key_run moving = items[next[digit]];
            unsigned home;
            while ((home = key_byte(&moving, byte)) != (unsigned)digit) {
                ics_key_run displaced = items[next[home]];
                items[next[home]++] = moving;
                moving = displaced;
            }
            items[next[digit]++] = moving;
        }
    }
    if (byte + 1 < KEY_BYTES) {
        for (int digit = 0; digit < 256; ++digit) {
            sort(items + starts[digit], starts[digit + 1] - starts[digit], byte + 1);
        }
    }
}

bool ics_key_runs_find_duplicate(ics_key_runs *runs, ics_key_run *duplicate)
{
    sort(runs->items, runs->count, 0);
    for (size_t i = 1; i < runs->count; ++i) {
        const ics_key_run *previous = &runs->items[i - 1], *run = &runs->items[i];
        if (previous->event_id == run->event_id && run->first <= previous->last) {
            *duplicate = (ics_key_run){run->event_id, run->first, run->first};
            return true;
        }
    }
    return false;
}

void ics_key_runs_free(ics_key_runs *runs)
{
    free(runs->items);
    *runs = (ics_key_runs){0};
}
