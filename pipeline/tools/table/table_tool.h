/* The work of `icestream table` that is more than a call of pipeline/table. */
#ifndef ICS_TOOLS_TABLE_TABLE_TOOL_H
#define ICS_TOOLS_TABLE_TABLE_TOOL_H

#include "pipeline/table/table.h"
#include "pipeline/tools/measure/permutation.h"

#include <stdio.h>

/* Two tables by chi-square, bin by bin, each divided by the weight of its photons. */
typedef struct ics_table_tool_comparison {
    bool is_identical; /* axes, sums, squares, photons and weights are equal */
    double chi_square;
    uint64_t bins;         /* bins in which one of the tables has light */
    double probability;    /* of such a chi-square by chance */
    double largest;        /* largest difference in standard deviations */
    uint64_t largest_cell; /* where it is */
} ics_table_tool_comparison;

/* ICESTREAM_E_INPUT: the axes differ, or a table has no photons. */
int ics_table_tool_compare(const ics_table *a, const char *a_name, const ics_table *b,
                           const char *b_name, ics_table_tool_comparison *out,
                           icestream_error *error);

/* Two groups of tables by a permutation test (tables.md 3.1). */
typedef struct ics_table_tool_groups {
    ics_permutation test;  /* the statistic is a sum over the bins */
    uint64_t bins;         /* bins in which not all tables are equal */
    double largest;        /* largest difference of the means of both groups, in standard deviations
                              over all splits */
    uint64_t largest_cell; /* where it is */
} ics_table_tool_groups;

/* Tests whether the tables 0 to first - 1 show the same light as the tables first to count - 1, 0 <
 * first < count <= ICS_PERMUTATION_OBJECTS. `names` are those of the tables. ICESTREAM_E_INPUT:
 * axes, geometry or step lengths differ; tables of one group were made in different ways; a table
 * has no parts, shares a part with another one, or has another number of photons (beyond 5 %);
 * ICESTREAM_E_MEMORY. */
int ics_table_tool_compare_groups(const ics_table *const *tables, const char *const *names,
                                  size_t first, size_t count, ics_table_tool_groups *out,
                                  icestream_error *error);

/* Read tables, compare them, and print the result. `level`: a probability below it is
 * ICESTREAM_E_DIFFERENT. Other errors are those of the comparison; ICESTREAM_E_USAGE: groups of
 * which no split can have a probability below `level`, or below 1, or more than
 * ICS_PERMUTATION_OBJECTS tables. */
int ics_table_tool_compare_files(const char *a, const char *b, double level, FILE *out,
                                 icestream_error *error);
int ics_table_tool_compare_group_files(const char *const *a, size_t a_count, const char *const *b,
                                       size_t b_count, double level, FILE *out,
                                       icestream_error *error);

/* Whether two tables have the same bins. ICESTREAM_E_INPUT: they have others. */
int ics_table_tool_check_bins(const ics_table *a, const char *a_name, const ics_table *b,
                              const char *b_name, icestream_error *error);
/* The sum of the weights of the photons of a table. */
double ics_table_tool_weight(const ics_table *table);

/* Draws a table of one or two axes; `path` ends in .svg or .png. ICESTREAM_E_USAGE: more axes,
 * another ending; ICESTREAM_E_FAILED: gnuplot failed; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_table_tool_plot(const ics_table *table, const char *path, bool force,
                        icestream_error *error);

#endif
