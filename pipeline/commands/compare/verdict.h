/* Compares the hits of two runs: they are identical, compatible by the tests of physics.md 12.6, or
 * different. */
#ifndef ICS_COMMANDS_COMPARE_VERDICT_H
#define ICS_COMMANDS_COMPARE_VERDICT_H

#include "pipeline/commands/measure/statistics.h"
#include "pipeline/photons/models/light/region.h"

/* The probability that two runs with equal physics and independent random numbers are called
 * different. All tests of the pair share it (Bonferroni). */
#define ICS_VERDICT_FALSE_ALARM 1e-3

typedef enum ics_verdict_kind {
    ICS_VERDICT_IDENTICAL,  /* all bytes of all hits are equal, and there is a hit */
    ICS_VERDICT_COMPATIBLE, /* hits differ, no test is below its level */
    ICS_VERDICT_DIFFERENT,  /* a test is below its level */
    ICS_VERDICT_EMPTY       /* neither sample has a hit: nothing was compared */
} ics_verdict_kind;

/* Returns "identical", "compatible", "different" or "empty". */
const char *ics_verdict_name(ics_verdict_kind kind);

/* The hits of one run. */
typedef struct ics_hit_sample {
    const icestream_hit *hits; /* [count], in the order of hit files */
    size_t count;
    uint64_t photons; /* created photons */
} ics_hit_sample;

enum { ICS_VERDICT_TESTS = 6 };

typedef struct ics_verdict_test {
    const char *name;         /* "totals", "modules", "time", "wavelength", "nz", "scatters" */
    ics_statistics_test test; /* size 0: too few hits; the test does not count */
    bool passed;
} ics_verdict_test;

typedef struct ics_verdict {
    ics_verdict_kind kind;
    uint64_t shared;           /* hits of the same photon on the same module in both samples */
    uint64_t first_difference; /* first row that differs; has no meaning if kind is IDENTICAL */
    double photon_inflation;   /* variance over mean of the number of hits of a photon */
    double module_inflation;   /* the same for the hits of a photon on one module */
    ics_statistics_sum first, second; /* of the weights of the hits that were compared */
    double level; /* level of each test: ICS_VERDICT_FALSE_ALARM over the number that count */
    ics_verdict_test tests[ICS_VERDICT_TESTS]; /* not filled if kind is IDENTICAL or EMPTY */
} ics_verdict;

/* Compares two samples of different light, made of the same particles: sums of weights instead of
 * numbers of hits, and distributions of weighted hits. The tests use only hits with wavelengths
 * within `band` (nm), those that both samples can have. ICESTREAM_E_MEMORY. */
int ics_verdict_reach_by_weight(const ics_hit_sample *a, const ics_hit_sample *b, ics_range band,
                                ics_verdict *out, icestream_error *error);

/* Compares two samples. A sample with hits has photons > 0. ICESTREAM_E_MEMORY. */
int ics_verdict_reach(const ics_hit_sample *a, const ics_hit_sample *b, ics_verdict *out,
                      icestream_error *error);

#endif
