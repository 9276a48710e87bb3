/* The work of `icestream table` that is more than a call of pipeline/table. */
#ifndef ICS_TOOLS_TABLE_TABLE_TOOL_H
#define ICS_TOOLS_TABLE_TABLE_TOOL_H

#include "pipeline/table/table.h"

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

/* Draws a table of one or two axes; `path` ends in .svg or .png. ICESTREAM_E_USAGE: more axes,
 * another ending; ICESTREAM_E_FAILED: gnuplot failed; ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_table_tool_plot(const ics_table *table, const char *path, bool force,
                        icestream_error *error);

#endif
