#include "pipeline/tools/measure/permutation.h"

#include <string.h>

/* Returns the number of splits, or ICS_PERMUTATION_SPLITS + 1 if there are more. */
static uint64_t count_splits(size_t first, size_t second)
{
    const size_t small = first < second ? first : second;
    const size_t all = first + second;
    uint64_t splits = 1;
    for (size_t i = 1; i <= small; ++i) {
        splits =
            splits * (all - small + i) / i; /* a binomial coefficient, so without a remainder */
        if (splits > ICS_PERMUTATION_SPLITS) {
            return ICS_PERMUTATION_SPLITS + 1;
        }
    }
    return splits;
}

double ics_permutation_smallest(size_t first, size_t second)
{
    const uint64_t splits = count_splits(first, second);
    if (splits > ICS_PERMUTATION_SPLITS) {
        return 1.0 / ICS_PERMUTATION_SPLITS;
    }
    return (first == second ? 2.0 : 1.0) / (double)splits;
}

/* ---- splits ---------------------------------------------------------------------------------- */

/* The objects of one group, in any order. */
typedef struct split {
    size_t members[ICS_PERMUTATION_OBJECTS];
    size_t size, count; /* of the group; of all objects */
} split;

/* Goes to the next group in lexicographic order. False: this was the last one. */
static bool next_split(split *of)
{
    size_t i = of->size;
    while (i > 0 && of->members[i - 1] == of->count - of->size + i - 1) {
        --i;
    }
    if (i == 0) {
        return false;
    }
    ++of->members[i - 1];
    for (; i < of->size; ++i) {
        of->members[i] = of->members[i - 1] + 1;
    }
    return true;
}

/* splitmix64. */
static uint64_t next_word(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

/* Returns each number from 0 to end - 1 with the same probability. */
static size_t draw_below(uint64_t *state, size_t end)
{
    const uint64_t limit = UINT64_MAX - UINT64_MAX % end;
    uint64_t word = next_word(state);
    while (word >= limit) {
        word = next_word(state);
    }
    return (size_t)(word % end);
}

/* Draws a group: the last objects of a random order. `order` is any order of all objects. */
static void draw_split(uint64_t *state, size_t *order, split *of)
{
    const size_t rest = of->count - of->size;
    for (size_t left = of->count; left > rest; --left) {
        const size_t other = draw_below(state, left), kept = order[left - 1];
        order[left - 1] = order[other];
        order[other] = kept;
    }
    memcpy(of->members, order + rest, of->size * sizeof *order);
}

/* The squared length of the sum of the vectors of a group. That of the other group is the same,
 * because the vectors of all objects add up to 0. */
static double squared_sum(const double *products, const split *of)
{
    double sum = 0.0;
    for (size_t i = 0; i < of->size; ++i) {
        const double *row = products + of->members[i] * of->count;
        for (size_t k = 0; k < of->size; ++k) {
            sum += row[of->members[k]];
        }
    }
    return sum;
}

/* ---- the test -------------------------------------------------------------------------------- */

static void try_all(const double *products, double least, split *group, ics_permutation *out)
{
    do {
        out->as_large += squared_sum(products, group) >= least;
        out->splits += 1;
    } while (next_split(group));
}

static void try_sample(const double *products, double least, split *group, ics_permutation *out)
{
    size_t order[ICS_PERMUTATION_OBJECTS];
    uint64_t state = 1;
    for (size_t i = 0; i < group->count; ++i) {
        order[i] = i;
    }
    out->as_large = out->splits = 1; /* the real groups */
    while (out->splits < ICS_PERMUTATION_SPLITS) {
        draw_split(&state, order, group);
        out->as_large += squared_sum(products, group) >= least;
        out->splits += 1;
    }
}

ics_permutation ics_permutation_test(const double *products, size_t first, size_t count)
{
    const size_t second = count - first;
    const bool is_first = first <= second; /* the smaller group is followed: fewer products */
    const double scale = 1.0 / (double)first + 1.0 / (double)second;
    ics_permutation result = {.splits = 0,
                              .is_sampled = count_splits(first, second) > ICS_PERMUTATION_SPLITS};
    split group = {.size = is_first ? first : second, .count = count};
    double squares = 0.0;
    for (size_t i = 0; i < count; ++i) {
        squares += products[i * count + i];
    }
    for (size_t i = 0; i < group.size; ++i) {
        group.members[i] = is_first ? i : first + i;
    }
    const double real = squared_sum(products, &group);
    const double least = real - 1e-9 * squares;
    if (result.is_sampled) {
        try_sample(products, least, &group, &result);
    } else {
        for (size_t i = 0; i < group.size; ++i) {
            group.members[i] = i;
        }
        try_all(products, least, &group, &result);
    }
    result.statistic = real * scale;
    result.probability = (double)result.as_large / (double)result.splits;
    return result;
}
