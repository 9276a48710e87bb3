/* A permutation test of two groups of objects (tables.md 3.1).
 *
 * If the objects of both groups come from the same distribution, every split of all objects into
 * groups of these sizes is equally probable, whatever the distribution is. The test counts the
 * splits whose statistic is at least as large as that of the real groups. Reference: E. L. Lehmann
 * and J. P. Romano, Testing Statistical Hypotheses, on permutation and randomization tests.
 */
#ifndef ICS_TOOLS_MEASURE_PERMUTATION_H
#define ICS_TOOLS_MEASURE_PERMUTATION_H

#include "pipeline/icestream.h"

enum {
    ICS_PERMUTATION_OBJECTS = 200,  /* of both groups together */
    ICS_PERMUTATION_SPLITS = 100000 /* splits that are tried at most */
};

typedef struct ics_permutation {
    double statistic;   /* of the real groups */
    uint64_t splits;    /* splits that were tried, the real one among them */
    uint64_t as_large;  /* splits whose statistic is at least as large, the real one among them */
    bool is_sampled;    /* there are more splits than ICS_PERMUTATION_SPLITS: a sample was tried */
    double probability; /* as_large / splits */
} ics_permutation;

/* Returns the smallest probability that the test of two groups can give. Groups of equal size can
 * be exchanged without a change of the statistic, so two splits are as large then. */
double ics_permutation_smallest(size_t first, size_t second);

/* Tests the objects 0 to first - 1 against the objects first to count - 1, 0 < first < count <=
 * ICS_PERMUTATION_OBJECTS. `products`: [count * count], the inner products of the vectors of the
 * objects, from which the mean of all objects is subtracted, so every row adds up to 0. The
 * statistic is the squared distance between the mean vectors of the two groups, divided by
 * 1 / first + 1 / second: if every dimension is divided by its standard deviation over all objects,
 * its mean over all splits is the number of dimensions. Statistics that differ by less than 1e-9
 * of the sum of all squares count as equal. A sample of splits is drawn with replacement from a
 * fixed seed, and the real split joins it, so the probability of a false alarm is at most the
 * level also then. */
ics_permutation ics_permutation_test(const double *products, size_t first, size_t count);

#endif
