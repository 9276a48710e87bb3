/* A comparison of hits: made and judged by compare.c, explained by compare_differences.c, printed
 * by compare_report.c. */
#ifndef ICS_TOOLS_COMPARE_COMPARE_H
#define ICS_TOOLS_COMPARE_COMPARE_H

#include "pipeline/tools/compare/verdict.h"
#include "pipeline/tools/measure/rows.h"

/* One configuration run through one schedule. */
typedef struct ics_compare_participant {
    const icestream_config *config;
    bool against; /* of the second configuration */
    ics_schedule schedule;
    ics_row row;
} ics_compare_participant;

/* The first participant against another one. */
typedef struct ics_compare_pair {
    size_t other;
    bool expect_identical;
    char differences[512]; /* what hits depend on and the two have different, for people */
    bool same_seed;
    bool expect_account; /* equal photon accounts as well */
    bool same_account;
    bool holds;
    ics_verdict verdict;
} ics_compare_pair;

enum { ICS_COMPARE_PARTICIPANTS = 2 * ICS_SCHEDULE_COUNT };

typedef struct ics_comparison {
    const icestream_config *config, *against;
    const icestream_compare_options *options;
    ics_origin origin, against_origin;
    ics_step_list steps;
    ics_compare_participant participants[ICS_COMPARE_PARTICIPANTS];
    size_t count;
    ics_compare_pair pairs[ICS_COMPARE_PARTICIPANTS];
} ics_comparison;

/* Lists everything that a hit depends on and that differs between two participants, down to the
 * numbers in the models: "scatter (hg, my.h), seed (1, 2)". The text is empty if their hits have to
 * be identical. */
void ics_compare_list_differences(const ics_comparison *comparison,
                                  const ics_compare_participant *first,
                                  const ics_compare_participant *second, char *buffer, size_t size);

/* Print a comparison as text for people, or as JSON. `holds`: every expectation was met.
 * ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_compare_print_text(const ics_comparison *comparison, FILE *out, icestream_error *error);
int ics_compare_print_json(const ics_comparison *comparison, bool holds, FILE *out,
                           icestream_error *error);

#endif
