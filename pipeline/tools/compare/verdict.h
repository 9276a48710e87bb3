/* Holding the hits of two runs against each other: identical, or compatible by the tests of
 * physics.md 12.6, or different. */
#ifndef ICS_TOOLS_COMPARE_VERDICT_H
#define ICS_TOOLS_COMPARE_VERDICT_H

#include "pipeline/tools/compare/statistics.h"

/* The probability that a pair of runs with equal physics and independent random numbers is called
 * different, over all tests of the pair together (Bonferroni). */
#define ICS_VERDICT_FALSE_ALARM 1e-3

typedef enum ics_verdict_kind {
    ICS_VERDICT_IDENTICAL,  /* all bytes of all hits are equal, and there is a hit */
    ICS_VERDICT_COMPATIBLE, /* hits differ, no test is below its level */
    ICS_VERDICT_DIFFERENT,  /* a test is below its level */
    ICS_VERDICT_EMPTY       /* no hits on either side: nothing was compared */
} ics_verdict_kind;

/* "identical", "compatible", "different", "empty". */
const char *ics_verdict_name(ics_verdict_kind kind);

/* Hits of one run in the order of hit files, of `photons` created. */
typedef struct ics_hit_sample {
    const icestream_hit *hits; /* [count] */
    size_t count;
    uint64_t photons;
} ics_hit_sample;

enum { ICS_VERDICT_TESTS = 6 };

typedef struct ics_verdict_test {
    const char *name;         /* "totals", "modules", "time", "wavelength", "nz", "scatters" */
    ics_statistics_test test; /* size 0: too few hits for this one, it does not count */
    bool passed;
} ics_verdict_test;

typedef struct ics_verdict {
    ics_verdict_kind kind;
    uint64_t shared;           /* hits of the same photon on the same module on both sides */
    uint64_t first_difference; /* first row that differs; meaningful unless identical */
    double photon_inflation;   /* variance over mean: hits of one photon anywhere ... */
    double module_inflation;   /* ... and on one module */
    double level;              /* of each test: ICS_VERDICT_FALSE_ALARM over the tests that count */
    ics_verdict_test tests[ICS_VERDICT_TESTS]; /* not filled for identical and empty */
} ics_verdict;

/* Compares two samples, photons > 0 where there are hits. ICESTREAM_E_MEMORY. */
int ics_verdict_reach(const ics_hit_sample *a, const ics_hit_sample *b, ics_verdict *out,
                      icestream_error *error);

#endif
