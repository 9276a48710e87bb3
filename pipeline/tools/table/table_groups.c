/* Two groups of tables: checks, and the products that the permutation test needs. */
#include "base/error.h"
#include "pipeline/tools/table/table_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables with more different numbers of photons than this share cannot be exchanged. */
static const double photons_tolerance = 0.05;

/* The tables 0 to first - 1 against the others. */
typedef struct groups {
    const ics_table *const *tables; /* [count] */
    const char *const *names;       /* [count] */
    size_t first, count;
} groups;

/* ---- checks ---------------------------------------------------------------------------------- */

/* A part, and the table that has it. */
typedef struct part_owner {
    const char *digest;
    size_t table;
} part_owner;

static int compare_owners(const void *a, const void *b)
{
    const part_owner *left = a, *right = b;
    const int order = strcmp(left->digest, right->digest);
    return order != 0 ? order : (left->table > right->table) - (left->table < right->table);
}

static int check_sorted_parts(const groups *of, const part_owner *owners, size_t count,
                              icestream_error *error)
{
    for (size_t i = 1; i < count; ++i) {
        if (strcmp(owners[i - 1].digest, owners[i].digest) == 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found the part %.16s..., which %s has, too; expected tables "
                                 "whose photons have different random numbers: each table needs "
                                 "another run.seed",
                                 of->names[owners[i].table], owners[i].digest,
                                 of->names[owners[i - 1].table]);
        }
    }
    return ICESTREAM_OK;
}

/* No table may have a part of another one. */
static int check_parts(const groups *of, icestream_error *error)
{
    size_t count = 0, next = 0;
    for (size_t i = 0; i < of->count; ++i) {
        if (of->tables[i]->part_count == 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found a table without parts, expected the digests of its "
                                 "parts, which show that tables are independent",
                                 of->names[i]);
        }
        count += of->tables[i]->part_count;
    }
    part_owner *owners = calloc(count + 1, sizeof *owners); /* + 1: never of 0 bytes */
    if (owners == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu parts", count);
    }
    for (size_t i = 0; i < of->count; ++i) {
        for (size_t k = 0; k < of->tables[i]->part_count; ++k) {
            owners[next++] = (part_owner){of->tables[i]->parts[k].digest, i};
        }
    }
    qsort(owners, count, sizeof *owners, compare_owners);
    const int status = check_sorted_parts(of, owners, count, error);
    free(owners);
    return status;
}

/* Table i against table `base`, the first one of the group of table i. */
static int check_group(const groups *of, size_t base, size_t i, icestream_error *error)
{
    const ics_table_facts *a = &of->tables[base]->facts, *b = &of->tables[i]->facts;
    const char *differs = strcmp(a->configuration, b->configuration) != 0 ? "configuration"
                          : strcmp(a->ice, b->ice) != 0                   ? "ice"
                          : strcmp(a->detector, b->detector) != 0         ? "detector"
                                                                          : NULL;
    return differs == NULL ? ICESTREAM_OK
                           : ics_error_set(error, ICESTREAM_E_INPUT,
                                           "%s: the digest of the %s differs from that of %s; "
                                           "expected tables of one group that differ in run.seed "
                                           "only",
                                           of->names[i], differs, of->names[base]);
}

static int check_table(const groups *of, size_t i, icestream_error *error)
{
    const ics_table *a = of->tables[0], *b = of->tables[i];
    const char *name = of->names[i];
    ICS_TRY(ics_table_tool_check_bins(a, of->names[0], b, name, error));
    if (a->facts.geometry != b->facts.geometry) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found the geometry %s, expected %s as in %s", name,
                             ics_table_geometry_name(b->facts.geometry),
                             ics_table_geometry_name(a->facts.geometry), of->names[0]);
    }
    if (a->facts.step_length != b->facts.step_length) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found samples every %.9g m, expected every %.9g m as in %s", name,
                             b->facts.step_length, a->facts.step_length, of->names[0]);
    }
    if (!(ics_table_tool_weight(b) > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a weight of photons of 0, expected more, because sums are "
                             "divided by it",
                             name);
    }
    if (fabs((double)b->photons - (double)a->photons) > photons_tolerance * (double)a->photons) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu64 " photons, expected as many as in %s, %" PRIu64
                             " (within 5 %%), because only tables of equal size can be exchanged",
                             name, b->photons, of->names[0], a->photons);
    }
    return ICESTREAM_OK;
}

static int check_groups(const groups *of, icestream_error *error)
{
    for (size_t i = 0; i < of->count; ++i) {
        ICS_TRY(check_table(of, i, error));
    }
    for (size_t i = 0; i < of->count; ++i) {
        ICS_TRY(check_group(of, i < of->first ? 0 : of->first, i, error));
    }
    return check_parts(of, error);
}

/* ---- products -------------------------------------------------------------------------------- */

/* Replaces the values of one bin, [count], by their differences from their mean, in standard
 * deviations over all tables. False: all values are equal. */
static bool scale_bin(double *values, size_t count)
{
    double sum = 0.0, squares = 0.0, low = values[0], high = values[0];
    for (size_t i = 0; i < count; ++i) {
        sum += values[i];
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    for (size_t i = 0; i < count; ++i) {
        values[i] -= sum / (double)count;
        squares += values[i] * values[i];
    }
    if (low == high || !(squares > 0.0)) {
        return false;
    }
    const double deviation = sqrt(squares / (double)(count - 1));
    for (size_t i = 0; i < count; ++i) {
        values[i] /= deviation;
    }
    return true;
}

static void add_products(const double *values, size_t count, double *products)
{
    for (size_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < count; ++k) {
            products[i * count + k] += values[i] * values[k];
        }
    }
}

/* Of a scaled bin the difference of the means of both groups, in its standard deviation over all
 * splits. The values add up to 0. */
static double difference(const groups *of, const double *values)
{
    const double scale = 1.0 / (double)of->first + 1.0 / (double)(of->count - of->first);
    double sum = 0.0;
    for (size_t i = 0; i < of->first; ++i) {
        sum += values[i];
    }
    return fabs(sum) * sqrt(scale);
}

static void add_bins(const groups *of, double *products, ics_table_tool_groups *out)
{
    double values[ICS_PERMUTATION_OBJECTS], unit[ICS_PERMUTATION_OBJECTS];
    for (size_t i = 0; i < of->count; ++i) {
        unit[i] = ICS_TABLE_UNIT / ics_table_tool_weight(of->tables[i]);
    }
    for (uint64_t cell = 0; cell < of->tables[0]->cells; ++cell) {
        for (size_t i = 0; i < of->count; ++i) {
            values[i] = (double)of->tables[i]->sums[cell] * unit[i];
        }
        if (!scale_bin(values, of->count)) {
            continue;
        }
        const double found = difference(of, values);
        add_products(values, of->count, products);
        out->bins += 1;
        if (found > out->largest) {
            out->largest = found;
            out->largest_cell = cell;
        }
    }
}

int ics_table_tool_compare_groups(const ics_table *const *tables, const char *const *names,
                                  size_t first, size_t count, ics_table_tool_groups *out,
                                  icestream_error *error)
{
    const groups of = {tables, names, first, count};
    *out = (ics_table_tool_groups){.bins = 0};
    ICS_TRY(check_groups(&of, error));
    double *products = calloc(count * count, sizeof *products);
    if (products == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu tables", count);
    }
    add_bins(&of, products, out);
    out->test = ics_permutation_test(products, first, count);
    free(products);
    return ICESTREAM_OK;
}
