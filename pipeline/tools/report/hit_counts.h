/* Counts of the hits in files: per module, by time, by scatters. Each file is read once; memory
 * does not depend on the number of hits. */
#ifndef ICS_TOOLS_REPORT_HIT_COUNTS_H
#define ICS_TOOLS_REPORT_HIT_COUNTS_H

#include "pipeline/icestream.h"

enum {
    ICS_HIT_COUNTS_NUMBERS = 65536, /* of strings, modules and scatters */
    /* Bins of the times: 4096 for each factor of two of 1 + |t| / ns, up to 2^40 ns. */
    ICS_HIT_COUNTS_OCTAVE = 4096,
    ICS_HIT_COUNTS_TIMES = 40 * ICS_HIT_COUNTS_OCTAVE
};

typedef struct ics_hit_string {
    uint64_t *hits; /* [count], by the number of the module */
    size_t count;
} ics_hit_string;

typedef struct ics_hit_counts {
    uint64_t hits, events;     /* events: groups of hits of one event, in each file */
    uint64_t without_scatters; /* hits of waveforms, of which scatters are not known */
    double weight;             /* sum over the hits */
    ics_hit_string strings[ICS_HIT_COUNTS_NUMBERS];
    uint64_t scatters[ICS_HIT_COUNTS_NUMBERS];
    uint64_t times[2 * ICS_HIT_COUNTS_TIMES]; /* negative times in the first half */
} ics_hit_counts;

/* Creates counts of zero. ICESTREAM_E_MEMORY. */
int ics_hit_counts_create(ics_hit_counts **out, icestream_error *error);
/* Accepts NULL. */
void ics_hit_counts_destroy(ics_hit_counts *counts);

/* Adds all hits of a file of hits or of waveforms; the time of a bin is its middle. The file is
 * read twice if it has a fault, and nothing of it is counted: ICESTREAM_E_INPUT.
 * ICESTREAM_E_MEMORY. */
int ics_hit_counts_add(ics_hit_counts *counts, const char *path, icestream_error *error);

/* The time (ns) that this share of the hits does not exceed; the error is below 2e-4 of the time.
 * 0 without hits. */
double ics_hit_counts_time_quantile(const ics_hit_counts *counts, double share);
/* The number of scatters, in the same way. */
uint32_t ics_hit_counts_scatter_quantile(const ics_hit_counts *counts, double share);
/* Sorts the times into `bins` equal bins from `low` to `high` (ns). */
void ics_hit_counts_time_bins(const ics_hit_counts *counts, double low, double high, double *out,
                              size_t bins);

#endif
