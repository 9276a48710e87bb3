/* `icestream table compare`: from the names of files to the printed result. */
#include "base/error.h"
#include "pipeline/table/table_file.h"
#include "pipeline/tools/table/table_tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int judge(double probability, double level, icestream_error *error)
{
    return probability >= level
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_DIFFERENT,
                               "the tables differ: found the probability %.6g, expected at least "
                               "%.6g",
                               probability, level);
}

/* ---- two tables ------------------------------------------------------------------------------ */

int ics_table_tool_compare_files(const char *a, const char *b, double level, FILE *out,
                                 icestream_error *error)
{
    ics_table *one = NULL, *other = NULL;
    ics_table_tool_comparison found;
    int status = ics_table_read(a, &one, error);
    if (status == ICESTREAM_OK) {
        status = ics_table_read(b, &other, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_tool_compare(one, a, other, b, &found, error);
    }
    if (status == ICESTREAM_OK) {
        fprintf(out,
                "identical    %s\nchi-square   %.6g for %" PRIu64
                " bins with light\nprobability  %.6g\nlargest      %.4g standard deviations, in "
                "cell %" PRIu64 "\n",
                found.is_identical ? "yes" : "no", found.chi_square, found.bins, found.probability,
                found.largest, found.largest_cell);
        status = judge(found.probability, level, error);
    }
    ics_table_destroy(one);
    ics_table_destroy(other);
    return status;
}

/* ---- two groups ------------------------------------------------------------------------------ */

/* Refuses groups whose test could have one result only. */
static int check_sizes(size_t first, size_t second, double level, icestream_error *error)
{
    const double needed = level > 0.0 ? level : 1.0;
    if (first + second > ICS_PERMUTATION_OBJECTS) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "table compare: found %zu tables, expected at most %d in both groups together",
            first + second, ICS_PERMUTATION_OBJECTS);
    }
    const double smallest = ics_permutation_smallest(first, second);
    if (smallest < needed) {
        return ICESTREAM_OK;
    }
    size_t enough = 2;
    while (enough < ICS_PERMUTATION_OBJECTS / 2 &&
           ics_permutation_smallest(enough, enough) >= needed) {
        ++enough;
    }
    if (ics_permutation_smallest(enough, enough) >= needed) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--level: found %.6g, expected above %.6g, the smallest probability "
                             "of %d splits",
                             level, 1.0 / ICS_PERMUTATION_SPLITS, ICS_PERMUTATION_SPLITS);
    }
    char wanted[64] = "";
    if (level > 0.0) {
        snprintf(wanted, sizeof wanted, " for --level %.6g", level);
    }
    return ics_error_set(error, ICESTREAM_E_USAGE,
                         "table compare: found %zu against %zu tables, whose splits give no "
                         "probability below %.6g; expected more tables%s, such as %zu against %zu",
                         first, second, smallest, wanted, enough, enough);
}

static void print_groups(const ics_table_tool_groups *found, size_t first, size_t second, FILE *out)
{
    const ics_permutation *test = &found->test;
    fprintf(out, "tables       %zu against %zu, %s%" PRIu64 " splits\n", first, second,
            test->is_sampled ? "a sample of " : "all ", test->splits);
    fprintf(out,
            "statistic    %.6g for %" PRIu64
            " bins that differ between tables; mean over all splits %" PRIu64 "\n",
            test->statistic, found->bins, found->bins);
    fprintf(out,
            "probability  %.6g: %" PRIu64 " of %" PRIu64
            " splits differ as much; the smallest possible one is %.6g\n",
            test->probability, test->as_large, test->splits,
            ics_permutation_smallest(first, second));
    fprintf(out, "largest      %.4g standard deviations, in cell %" PRIu64 "\n", found->largest,
            found->largest_cell);
}

/* Reads the sums of a table. The test does not need the squared weights. */
static int read_sums(const char *name, ics_table **out, icestream_error *error)
{
    ICS_TRY(ics_table_read(name, out, error));
    ics_table_drop_squares(*out);
    return ICESTREAM_OK;
}

int ics_table_tool_compare_group_files(const char *const *a, size_t a_count, const char *const *b,
                                       size_t b_count, double level, FILE *out,
                                       icestream_error *error)
{
    ics_table *tables[ICS_PERMUTATION_OBJECTS] = {NULL};
    const char *names[ICS_PERMUTATION_OBJECTS];
    ics_table_tool_groups found;
    const size_t count = a_count + b_count;
    ICS_TRY(check_sizes(a_count, b_count, level, error));
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < count && status == ICESTREAM_OK; ++i) {
        names[i] = i < a_count ? a[i] : b[i - a_count];
        status = read_sums(names[i], &tables[i], error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_tool_compare_groups((const ics_table *const *)tables, names, a_count,
                                               count, &found, error);
    }
    if (status == ICESTREAM_OK) {
        print_groups(&found, a_count, b_count, out);
        status = judge(found.test.probability, level, error);
    }
    for (size_t i = 0; i < count; ++i) {
        ics_table_destroy(tables[i]);
    }
    return status;
}
