#include "base/error.h"
#include "pipeline/tools/measure/statistics.h"
#include "pipeline/tools/table/table_tool.h"

#include <math.h>
#include <string.h>

double ics_table_tool_weight(const ics_table *table)
{
    return (double)table->weight.whole + table->weight.fraction * ICS_TABLE_UNIT;
}

/* The variance of a sum: the squared weights, or, as for weights of 1, the sum itself. */
static double variance_of(const ics_table *table, uint64_t cell)
{
    const int64_t *from = table->squares != NULL ? table->squares : table->sums;
    return (double)from[cell] * ICS_TABLE_UNIT;
}

int ics_table_tool_check_bins(const ics_table *a, const char *a_name, const ics_table *b,
                              const char *b_name, icestream_error *error)
{
    if (a->axis_count != b->axis_count) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found %u axes, expected %u as in %s",
                             b_name, b->axis_count, a->axis_count, a_name);
    }
    for (uint32_t i = 0; i < a->axis_count; ++i) {
        const ics_table_axis *one = &a->axes[i], *other = &b->axes[i];
        bool is_same = strcmp(one->name, other->name) == 0 && one->bins == other->bins;
        for (uint32_t k = 0; is_same && k <= one->bins; ++k) {
            is_same = ics_table_edge(one, k) == ics_table_edge(other, k);
        }
        if (!is_same) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: axis %u: found %s with %u bins from %.9g to %.9g, expected "
                                 "the bins of %s: %s with %u bins from %.9g to %.9g",
                                 b_name, i + 1, other->name, other->bins, other->from, other->to,
                                 a_name, one->name, one->bins, one->from, one->to);
        }
    }
    return ICESTREAM_OK;
}

static bool is_identical(const ics_table *a, const ics_table *b)
{
    const size_t bytes = a->cells * sizeof *a->sums;
    return a->photons == b->photons && a->weight.whole == b->weight.whole &&
           a->weight.fraction == b->weight.fraction &&
           (a->squares == NULL) == (b->squares == NULL) && memcmp(a->sums, b->sums, bytes) == 0 &&
           (a->squares == NULL || memcmp(a->squares, b->squares, bytes) == 0);
}

int ics_table_tool_compare(const ics_table *a, const char *a_name, const ics_table *b,
                           const char *b_name, ics_table_tool_comparison *out,
                           icestream_error *error)
{
    const double a_weight = ics_table_tool_weight(a), b_weight = ics_table_tool_weight(b);
    ICS_TRY(ics_table_tool_check_bins(a, a_name, b, b_name, error));
    if (!(a_weight > 0.0) || !(b_weight > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a weight of photons of 0, expected more, because sums are "
                             "divided by it",
                             a_weight > 0.0 ? b_name : a_name);
    }
    *out = (ics_table_tool_comparison){.is_identical = is_identical(a, b), .probability = 1.0};
    for (uint64_t i = 0; i < a->cells; ++i) {
        const double variance =
            variance_of(a, i) / (a_weight * a_weight) + variance_of(b, i) / (b_weight * b_weight);
        if (!(variance > 0.0)) {
            continue;
        }
        const double difference =
            ((double)a->sums[i] / a_weight - (double)b->sums[i] / b_weight) * ICS_TABLE_UNIT;
        const double squared = difference * difference / variance;
        out->chi_square += squared;
        out->bins += 1;
        if (squared > out->largest * out->largest) {
            out->largest = sqrt(squared);
            out->largest_cell = i;
        }
    }
    if (out->bins > 0) {
        out->probability =
            ics_statistics_chi_square_probability(out->chi_square, (double)out->bins);
    }
    return ICESTREAM_OK;
}
