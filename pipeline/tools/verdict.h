/* Holding the hits of two runs against each other: identical, or compatible by the tests of
 * physics.md 12.6, or different. */
#ifndef IS_VERDICT_H
#define IS_VERDICT_H

#include "pipeline/tools/statistics.h"

/* The probability that a pair of runs with equal physics and independent random numbers is called
 * different, over all tests of the pair together (Bonferroni). */
#define IS_VERDICT_FALSE_ALARM 1e-3

typedef enum is_verdict_kind {
    IS_VERDICT_IDENTICAL,  /* all bytes of all hits are equal, and there is a hit */
    IS_VERDICT_COMPATIBLE, /* hits differ, no test is below its level */
    IS_VERDICT_DIFFERENT,  /* a test is below its level */
    IS_VERDICT_EMPTY       /* no hits on either side: nothing was compared */
} is_verdict_kind;

/* "identical", "compatible", "different", "empty". */
const char *is_verdict_name(is_verdict_kind kind);

/* Hits of one run in the order of hit files, of `photons` created. */
typedef struct is_hit_sample {
    const is_hit *hits; /* [count] */
    size_t count;
    uint64_t photons;
} is_hit_sample;

enum { IS_VERDICT_TESTS = 6 };

typedef struct is_verdict_test {
    const char *name; /* "totals", "modules", "time", "wavelength", "nz", "scatters" */
    is_test test;     /* size 0: too few hits for this one, it does not count */
    bool passed;
} is_verdict_test;

typedef struct is_verdict {
    is_verdict_kind kind;
    uint64_t shared;           /* hits of the same photon on the same module on both sides */
    uint64_t first_difference; /* first row that differs; meaningful unless identical */
    double photon_inflation;   /* variance over mean: hits of one photon anywhere ... */
    double module_inflation;   /* ... and on one module */
    double level;              /* of each test: IS_VERDICT_FALSE_ALARM over the tests that count */
    is_verdict_test tests[IS_VERDICT_TESTS]; /* not filled for identical and empty */
} is_verdict;

/* Compares two samples, photons > 0 where there are hits. IS_E_MEMORY. */
int is_verdict_reach(const is_hit_sample *a, const is_hit_sample *b, is_verdict *out,
                     is_error *error);

#endif
