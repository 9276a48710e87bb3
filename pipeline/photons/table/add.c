/* Adding to photon tables: sums, photons, parts, and whole tables. */
#include "base/error.h"
#include "pipeline/photons/table/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

static int add_array(const char *what, int64_t *into, const int64_t *from, uint64_t first,
                     uint64_t count, icestream_error *error)
{
    for (uint64_t i = 0; i < count; ++i) {
        if (from[i] < 0 || __builtin_add_overflow(into[first + i], from[i], &into[first + i])) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "photon table: cell %" PRIu64
                                 ": the sum of %s passes 2147483648 (2^63 units of 2^-32); use "
                                 "fewer photons, smaller weights or narrower bins",
                                 first + i, what);
        }
    }
    return ICESTREAM_OK;
}

int ics_table_add_sums(ics_table *table, uint64_t first, const int64_t *sums,
                       const int64_t *squares, uint64_t count, icestream_error *error)
{
    ICS_TRY(add_array("weights", table->sums, sums, first, count, error));
    if (squares == NULL || table->squares == NULL) {
        return ICESTREAM_OK;
    }
    return add_array("squared weights", table->squares, squares, first, count, error);
}

int ics_table_add_photons(ics_table *table, uint64_t photons, ics_table_weight weight,
                          icestream_error *error)
{
    const uint64_t fraction = (uint64_t)table->weight.fraction + weight.fraction;
    uint64_t whole = 0;
    if (__builtin_add_overflow(table->photons, photons, &photons) ||
        __builtin_add_overflow(table->weight.whole, weight.whole, &whole) ||
        __builtin_add_overflow(whole, fraction >> 32, &whole)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "photon table: the number of photons or their weight passes 2^64");
    }
    table->photons = photons;
    table->weight = (ics_table_weight){.whole = whole, .fraction = (uint32_t)fraction};
    return ICESTREAM_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int compare_parts(const void *a, const void *b)
{
    return strcmp(((const ics_table_part *)a)->digest, ((const ics_table_part *)b)->digest);
}

static const ics_table_part *find_part(const ics_table *table, const ics_table_part *part)
{
    return table->part_count == 0 ? NULL
                                  : bsearch(part, table->parts, table->part_count,
                                            sizeof *table->parts, compare_parts);
}

/* Adds parts that the table does not hold. */
static int put_parts(ics_table *table, const ics_table_part *parts, size_t count,
                     icestream_error *error)
{
    if (count == 0) {
        return ICESTREAM_OK;
    }
    ics_table_part *grown = reallocarray(table->parts, table->part_count + count, sizeof *grown);
    if (grown == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the parts of a table");
    }
    memcpy(grown + table->part_count, parts, count * sizeof *parts);
    table->parts = grown;
    table->part_count += count;
    qsort(grown, table->part_count, sizeof *grown, compare_parts);
    return ICESTREAM_OK;
}

int ics_table_add_part(ics_table *table, const char *digest, icestream_error *error)
{
    ics_table_part part = {.digest = ""};
    if (strlen(digest) != ICS_DIGEST_TEXT - 1 ||
        strspn(digest, "0123456789abcdef") != ICS_DIGEST_TEXT - 1) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "photon table: found the part '%.80s', expected the 64 hexadecimal "
                             "digits of a SHA-256",
                             digest);
    }
    memcpy(part.digest, digest, ICS_DIGEST_TEXT);
    if (find_part(table, &part) != NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "photon table: found the part %.16s... a second time, expected every "
                             "part once",
                             digest);
    }
    return put_parts(table, &part, 1, error);
}

/* ---- whole tables ---------------------------------------------------------------------------- */

static bool same_axis(const ics_table_axis *a, const ics_table_axis *b)
{
    if (strcmp(a->name, b->name) != 0 || strcmp(a->unit, b->unit) != 0 || a->bins != b->bins ||
        a->from != b->from || a->to != b->to || a->power != b->power ||
        (a->edges == NULL) != (b->edges == NULL)) {
        return false;
    }
    for (uint32_t i = 0; a->edges != NULL && i <= a->bins; ++i) {
        if (a->edges[i] != b->edges[i]) {
            return false;
        }
    }
    return true;
}

static int check_axes(const char *name, const ics_table *into, const char *from_name,
                      const ics_table *from, icestream_error *error)
{
    if (into->axis_count != from->axis_count) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu32 " axes, expected %" PRIu32 " as in %s", from_name,
                             from->axis_count, into->axis_count, name);
    }
    for (uint32_t i = 0; i < into->axis_count; ++i) {
        const ics_table_axis *a = &from->axes[i], *b = &into->axes[i];
        if (!same_axis(a, b)) {
            return ics_error_set(
                error, ICESTREAM_E_INPUT,
                "%s: axis %" PRIu32 ": found %s with %" PRIu32
                " bins from %.9g to %.9g, power %" PRIu32 "%s, expected %s with %" PRIu32
                " bins from %.9g to %.9g, power %" PRIu32 "%s, as in %s",
                from_name, i + 1, a->name, a->bins, a->from, a->to, a->power,
                a->edges != NULL ? " and given edges" : "", b->name, b->bins, b->from, b->to,
                b->power, b->edges != NULL ? " and given edges" : "", name);
        }
    }
    if ((into->squares == NULL) != (from->squares == NULL)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a table %s squared weights, expected one %s them, as %s",
                             from_name, from->squares != NULL ? "with" : "without",
                             into->squares != NULL ? "with" : "without", name);
    }
    return ICESTREAM_OK;
}

static int check_facts(const char *name, const ics_table_facts *into, const char *from_name,
                       const ics_table_facts *from, icestream_error *error)
{
    const struct {
        bool is_same;
        const char *what;
    } rows[] = {
        {into->geometry == from->geometry, "the geometry"},
        {into->step_length == from->step_length, "the step length"},
        {into->area == from->area, "the area of a module"},
        {into->n_group == from->n_group && into->n_phase == from->n_phase, "the refractive index"},
        {into->z == from->z && into->zenith == from->zenith && into->azimuth == from->azimuth &&
             into->energy == from->energy && into->type == from->type,
         "the source"},
        {into->efficiency == from->efficiency, "the efficiency"},
        {strcmp(into->configuration, from->configuration) == 0, "the digest of the configuration"},
        {strcmp(into->ice, from->ice) == 0, "the digest of the ice"},
        {strcmp(into->detector, from->detector) == 0, "the digest of the detector"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (!rows[i].is_same) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: %s differs from that of %s; tables add up only if they were "
                                 "made in the same way",
                                 from_name, rows[i].what, name);
        }
    }
    return ICESTREAM_OK;
}

static int check_parts(const char *name, const ics_table *into, const char *from_name,
                       const ics_table *from, icestream_error *error)
{
    if (into->checkpoint != NULL || from->checkpoint != NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a checkpoint of a table that lacks photons, expected a "
                             "complete table",
                             into->checkpoint != NULL ? name : from_name);
    }
    if (into->part_count == 0 || from->part_count == 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a table without parts, expected the digests of its parts, "
                             "because without them no double part can be found",
                             into->part_count == 0 ? name : from_name);
    }
    for (size_t i = 0; i < from->part_count; ++i) {
        if (find_part(into, &from->parts[i]) != NULL) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found the part %.16s..., which %s holds already; expected "
                                 "every part once",
                                 from_name, from->parts[i].digest, name);
        }
    }
    return ICESTREAM_OK;
}

int ics_table_add(ics_table *into, const char *name, const ics_table *from, const char *from_name,
                  icestream_error *error)
{
    ICS_TRY(check_axes(name, into, from_name, from, error));
    ICS_TRY(check_facts(name, &into->facts, from_name, &from->facts, error));
    ICS_TRY(check_parts(name, into, from_name, from, error));
    ICS_TRY(put_parts(into, from->parts, from->part_count, error));
    into->facts.seed = from->facts.seed < into->facts.seed ? from->facts.seed : into->facts.seed;
    ICS_TRY(ics_table_add_photons(into, from->photons, from->weight, error));
    return ics_table_add_sums(into, 0, from->sums, from->squares, from->cells, error);
}

static void exchange(int64_t **a, int64_t **b)
{
    int64_t *before = *a;
    *a = *b;
    *b = before;
}

int ics_table_exchange_sums(ics_table *table, const char *name, ics_table *from,
                            const char *from_name, icestream_error *error)
{
    ICS_TRY(check_axes(name, table, from_name, from, error));
    ICS_TRY(check_facts(name, &table->facts, from_name, &from->facts, error));
    exchange(&table->sums, &from->sums);
    exchange(&table->squares, &from->squares);
    return ICESTREAM_OK;
}
