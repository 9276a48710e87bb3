/* Histograms of photons with more bins than ICE_PHOTON_BINS (docs/histograms.md): where a word
 * counts (photon_histogram.h).
 *
 * The edges are in memory, as words, with a table of starts behind them. The words from the first
 * edge to the last one are divided into buckets of equal size, and a start says how many edges are
 * below its bucket. So a search looks only at the edges of one bucket, and begins with the one that
 * a straight line through the bucket names. The edges alone decide which cell is found, so that a
 * CPU and a GPU find the same one.
 */
#ifndef ICS_STAGES_HISTOGRAMS_LARGE_HISTOGRAM_H
#define ICS_STAGES_HISTOGRAMS_LARGE_HISTOGRAM_H

#include "stages/histograms/photon_histogram.h"

/* The most bins of one histogram. A GPU holds its counts once for every batch of a lane: 2 MiB. */
#define ICE_LARGE_BINS 65536u
/* The most buckets, whose starts take 16 KiB. */
#define ICE_LARGE_BUCKETS 4096u

/* What a search needs besides the words in memory: edges[bins + 1], ascending, of which several may
 * be the same, and then starts[buckets + 1]. */
typedef struct ice_large_search {
    uint32_t bins;        /* 1 to ICE_LARGE_BINS */
    uint32_t shift;       /* a bucket has 2^shift words, and begins at a multiple of it */
    uint32_t first, last; /* the words of the first and of the last edge */
} ice_large_search;

/* Returns the number of buckets, 1 to ICE_LARGE_BUCKETS. */
ICE_FN uint32_t ice_large_buckets(ice_large_search search)
{
    return (search.last >> search.shift) - (search.first >> search.shift) + 1;
}

/* Returns how many words in memory the edges and the starts take. */
ICE_FN uint32_t ice_large_words(ice_large_search search)
{
    return search.bins + 1 + ice_large_buckets(search) + 1;
}

/* Returns the cell of a word: the number of edges that it reaches, 0 to bins + 1. `words`:
 * [ice_large_words(search)]. Where the edges of a bucket lie evenly, the search looks at two of
 * them; in any case at no more than about twice as many as a search by halves. */
ICE_FN uint32_t ice_large_cell(const uint32_t *words, ice_large_search search, uint32_t word)
{
    if (word < search.first) {
        return 0;
    }
    if (word >= search.last) {
        return search.bins + 1;
    }
    const uint32_t *starts = words + search.bins + 1;
    const uint32_t bucket = (word >> search.shift) - (search.first >> search.shift);
    /* All edges below index `low` are reached, and none from `high` on. */
    uint32_t low = starts[bucket], high = starts[bucket + 1];
    const uint32_t passed = (word & ((1u << search.shift) - 1)) + 1;
    const uint32_t guess = (uint32_t)(((uint64_t)(high - low) * passed) >> search.shift);
    uint32_t at = low + guess - (guess > 0 ? 1 : 0);
    for (uint32_t step = 0; low < high; step = 2 * step + 1) {
        const uint32_t reached = word >= words[at] ? 1 : 0;
        low = reached ? at + 1 : low;
        high = reached ? high : at;
        const uint32_t half = (high - low) / 2;
        const uint32_t move = step < half ? step : half;
        at = reached ? low + move : high - 1 - move;
    }
    return low;
}

#endif
