/* The order of hit files, and sorting into it.
 *
 * Arrivals are sorted by the position of their photons in the batch, a radix sort of few bits. The
 * hits that are made of them are in the order of hit files then, if the steps of the batch ascend;
 * only the hits of one photon are sorted by comparison. Other hits are sorted with a radix sort by
 * keys that pack (event_id, step_id, photon_id) into 64 bits.
 */
#include "base/memory.h"
#include "pipeline/photons/devices/batch.h"

#include <stdlib.h>
#include <string.h>

#define COMPARE(left, right)                                                                       \
    if ((left) != (right)) {                                                                       \
        return (left) < (right) ? -1 : 1;                                                          \
    }

int ics_hit_sort_order(const void *left_hit, const void *right_hit)
{
    const icestream_hit *left = left_hit, *right = right_hit;
    COMPARE(left->event_id, right->event_id)
    COMPARE(left->step_id, right->step_id)
    COMPARE(left->photon_id, right->photon_id)
    COMPARE(left->string, right->string)
    COMPARE(left->module, right->module)
    COMPARE(left->t, right->t)
    return memcmp(left_hit, right_hit, sizeof(icestream_hit));
}

enum {
    FEW = 64, /* up to this number of hits qsort() is faster than the radix sort */
    DIGIT_BITS_MAX = 12,
    DIGIT_VALUES = 1 << DIGIT_BITS_MAX,
    DIGITS_MAX = (64 + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX
};

typedef struct sort_entry {
    uint64_t key;
    uint32_t hit;
} sort_entry;

/* The values that one field of the key has in all hits. */
typedef struct key_range {
    uint64_t least, most;
} key_range;

static void widen(key_range *range, uint64_t value)
{
    range->least = value < range->least ? value : range->least;
    range->most = value > range->most ? value : range->most;
}

static unsigned bits_of(key_range range)
{
    uint64_t span = range.most - range.least;
    return span == 0 ? 0 : 64 - (unsigned)__builtin_clzll(span);
}

/* Sorts by the lowest `bits` bits of the keys; entries with equal keys keep their order. Uses both
 * arrays, and returns the one that has the result. */
static sort_entry *sort_digits(sort_entry *from, sort_entry *to, size_t count, unsigned bits)
{
    uint32_t starts[DIGITS_MAX][DIGIT_VALUES];
    const unsigned digits = (bits + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    const unsigned width = digits > 0 ? (bits + digits - 1) / digits : 0;
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    memset(starts, 0, digits * sizeof starts[0]);
    for (size_t i = 0; i < count; ++i) {
        for (unsigned d = 0; d < digits; ++d) {
            starts[d][from[i].key >> (d * width) & mask]++;
        }
    }
    for (unsigned d = 0; d < digits; ++d) {
        uint32_t sum = 0;
        for (size_t value = 0; value <= mask; ++value) {
            uint32_t here = starts[d][value];
            starts[d][value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; ++i) {
            to[starts[d][from[i].key >> (d * width) & mask]++] = from[i];
        }
        sort_entry *done = to;
        to = from;
        from = done;
    }
    return from;
}

/* ---- arrivals -------------------------------------------------------------------------------- */

/* Writes the positions of the photons in the batch as keys, and returns whether they ascend.
 * `least` of *range is 0. An arrival of no emission of the batch, which is an error that is found
 * later, gets the position 0. */
static bool find_positions(const ics_batch *batch, const ics_arrivals *arrivals,
                           const uint64_t *starts, sort_entry *entries, key_range *range)
{
    bool ascend = true;
    *range = (key_range){0, 0};
    for (size_t i = 0; i < arrivals->count; ++i) {
        const ice_arrival *arrival = &arrivals->items[i];
        const uint32_t emission = arrival->emission < batch->count ? arrival->emission : 0;
        const uint32_t photon = arrival->photon_id - batch->emissions[emission].first_photon;
        entries[i] = (sort_entry){.key = starts[emission] + photon, .hit = (uint32_t)i};
        widen(range, entries[i].key);
        ascend = ascend && (i == 0 || entries[i - 1].key <= entries[i].key);
    }
    return ascend;
}

/* Sorts copies of the arrivals into `out`. Returns whether that was needed. */
static bool order_arrivals(const ics_batch *batch, const ics_arrivals *arrivals, uint64_t *starts,
                           sort_entry *entries, ice_arrival *out)
{
    key_range range;
    uint64_t photons = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        starts[i] = photons;
        photons += batch->emissions[i].photons;
    }
    const size_t count = arrivals->count;
    if (find_positions(batch, arrivals, starts, entries, &range)) {
        return false;
    }
    const sort_entry *sorted = sort_digits(entries, entries + count, count, bits_of(range));
    for (size_t i = 0; i < count; ++i) {
        out[i] = arrivals->items[sorted[i].hit];
    }
    return true;
}

ics_arrivals ics_hit_sort_arrivals(const ics_batch *batch, const ics_arrivals *arrivals)
{
    const size_t count = arrivals->count;
    if (count <= FEW || count > UINT32_MAX) {
        return (ics_arrivals){0};
    }
    uint64_t *starts = malloc(batch->count * sizeof *starts);
    sort_entry *entries = ics_memory_large(2 * count * sizeof *entries);
    ice_arrival *copies = ics_memory_large(count * sizeof *copies);
    ics_arrivals out = {0};
    if (starts != NULL && entries != NULL && copies != NULL &&
        order_arrivals(batch, arrivals, starts, entries, copies)) {
        out = (ics_arrivals){.items = copies, .count = count, .capacity = count};
    } else {
        free(copies);
    }
    free(starts);
    free(entries);
    return out;
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* Returns the hits' indices in the order of their keys, in one of two arrays of `count` entries. If
 * the three fields need more than 64 bits, sorts twice: by step and photon, then by event. */
static const sort_entry *sort_keys(const icestream_hit *hits, size_t count, sort_entry *entries,
                                   sort_entry *others)
{
    key_range event = {UINT64_MAX, 0}, step = event, photon = event;
    for (size_t i = 0; i < count; ++i) {
        widen(&event, hits[i].event_id);
        widen(&step, hits[i].step_id);
        widen(&photon, hits[i].photon_id);
    }
    unsigned photon_bits = bits_of(photon), low_bits = bits_of(step) + photon_bits;
    unsigned event_bits = bits_of(event);
    bool packed = event_bits + low_bits <= 64;
    for (size_t i = 0; i < count; ++i) {
        uint64_t low =
            (hits[i].step_id - step.least) << photon_bits | (hits[i].photon_id - photon.least);
        uint64_t high = packed && event_bits > 0 ? (hits[i].event_id - event.least) << low_bits : 0;
        entries[i] = (sort_entry){.key = high | low, .hit = (uint32_t)i};
    }
    if (packed) {
        return sort_digits(entries, others, count, event_bits + low_bits);
    }
    sort_entry *sorted = sort_digits(entries, others, count, low_bits);
    for (size_t i = 0; i < count; ++i) {
        sorted[i].key = hits[sorted[i].hit].event_id - event.least;
    }
    return sort_digits(sorted, sorted == entries ? others : entries, count, event_bits);
}

static bool same_photon(const icestream_hit *left, const icestream_hit *right)
{
    return left->photon_id == right->photon_id && left->step_id == right->step_id &&
           left->event_id == right->event_id;
}

/* Sorts the hits of each photon. A photon has several hits if it continues after a hit. */
static void sort_photons(icestream_hit *hits, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_photon(&hits[first], &hits[end]);) {
            ++end;
        }
        if (end - first > 1) {
            qsort(hits + first, end - first, sizeof *hits, ics_hit_sort_order);
        }
    }
}

static bool is_sorted(const icestream_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; ++i) {
        if (ics_hit_sort_order(&hits[i - 1], &hits[i]) > 0) {
            return false;
        }
    }
    return true;
}

void ics_hit_sort(icestream_hit *hits, size_t count)
{
    sort_photons(hits, count);
    if (count < 2 || is_sorted(hits, count)) {
        return;
    }
    sort_entry *entries = NULL;
    icestream_hit *copy = NULL;
    if (count > FEW && count <= UINT32_MAX) {
        entries = ics_memory_large(2 * count * sizeof *entries);
        copy = ics_memory_large(count * sizeof *copy);
    }
    if (entries != NULL && copy != NULL) {
        memcpy(copy, hits, count * sizeof *hits);
        const sort_entry *sorted = sort_keys(copy, count, entries, entries + count);
        for (size_t i = 0; i < count; ++i) {
            hits[i] = copy[sorted[i].hit];
        }
        sort_photons(hits, count);
    } else { /* few hits, or no memory for the radix sort */
        qsort(hits, count, sizeof *hits, ics_hit_sort_order);
    }
    free(entries);
    free(copy);
}
