#include "pipeline/photons/files/hit_bins.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXPONENT_LEAST = 149 /* the lowest bit of class 0 and of class 1 is 2^-149 */ };

_Static_assert(sizeof(ics_bin_sum) == sizeof(icestream_hit) &&
                   offsetof(ics_bin_sum, bin) == offsetof(icestream_hit, t) &&
                   offsetof(ics_bin_sum, zero[4]) > offsetof(icestream_hit, step_id) &&
                   offsetof(ics_bin_sum, string) == offsetof(icestream_hit, string) &&
                   offsetof(ics_bin_sum, module) == offsetof(icestream_hit, module),
               "sums are sorted and stored as hits");

/* ---- rules ----------------------------------------------------------------------------------- */

ics_bin_rule ics_hit_bins_rule_of(const icestream_config *config)
{
    const double *range = config->sink.waveform_range;
    if (config->sink.hits != ICS_CONTENT_WAVEFORMS) {
        return (ics_bin_rule){.width = 0};
    }
    return (ics_bin_rule){.width = config->sink.waveform_bin,
                          .has_range = range[0] < range[1],
                          .low = range[0],
                          .high = range[1]};
}

int ics_hit_bins_store(const ics_bin_rule *rule, json_t *metadata, icestream_error *error)
{
    if (rule->width == 0) {
        return ICESTREAM_OK;
    }
    int failed = json_object_set_new(metadata, "bin_ns", json_real(rule->width));
    if (rule->has_range) {
        failed |=
            json_object_set_new(metadata, "range_ns", json_pack("[f, f]", rule->low, rule->high));
    }
    return failed
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for metadata")
               : ICESTREAM_OK;
}

int ics_hit_bins_store_hits(const ics_bin_rule *rule, const icestream_account *account,
                            uint64_t hits, json_t *metadata, icestream_error *error)
{
    const uint64_t all = account->hits - account->undetected;
    if (hits > all || (hits < all && !rule->has_range)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: found %" PRIu64
                             " hits in the waveforms, expected %" PRIu64
                             ", the hits of the photon account",
                             hits, all);
    }
    const int failed =
        json_object_set_new(metadata, "hits", json_integer((json_int_t)hits)) |
        json_object_set_new(metadata, "outside", json_integer((json_int_t)(all - hits)));
    return failed
               ? ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory for metadata")
               : ICESTREAM_OK;
}

/* Writes a value of bin_ns, which hits do not have, or of range_ns. */
static void print_value(const json_t *value, bool is_range, char *text, size_t size)
{
    if (value == NULL) {
        snprintf(text, size, "%s", is_range ? "all times" : "none (hits)");
    } else if (json_is_array(value)) {
        snprintf(text, size, "[%.9g, %.9g]", json_number_value(json_array_get(value, 0)),
                 json_number_value(json_array_get(value, 1)));
    } else {
        snprintf(text, size, "%.9g", json_number_value(value));
    }
}

bool ics_hit_bins_same(const json_t *found, const json_t *expected, char *text, size_t size)
{
    static const char *const keys[] = {"bin_ns", "range_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        const json_t *had = json_object_get(found, keys[i]);
        const json_t *wanted = json_object_get(expected, keys[i]);
        if (had != wanted && !json_equal(had, wanted)) {
            char old[64], new[64];
            print_value(had, i == 1, old, sizeof old);
            print_value(wanted, i == 1, new, sizeof new);
            snprintf(text, size, "%s: found %s, expected %s", keys[i], old, new);
            return false;
        }
    }
    return true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

int ics_hit_bins_sum_of(const ics_bin_rule *rule, const icestream_hit *hit, const char *hint,
                        ics_bin_sum *out, bool *inside, icestream_error *error)
{
    *inside = ice_time_bins_contain(rule, hit->t);
    if (!*inside) {
        return ICESTREAM_OK;
    }
    const double bin = ice_time_bin_of(rule, hit->t);
    if (!ice_time_bin_exists(bin)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64 ": found a hit at %.9g ns, expected at most 2^31 "
                             "bins of %.9g ns from time 0 (%s leaves it out)",
                             hit->event_id, hit->t, rule->width, hint);
    }
    *out = (ics_bin_sum){.event_id = hit->event_id,
                         .bin = bin,
                         .hits = 1,
                         .mantissa = ice_weight_mantissa(hit->weight),
                         .exponent = ice_weight_class(hit->weight),
                         .string = hit->string,
                         .module = hit->module};
    return ICESTREAM_OK;
}

#define COMPARE(left, right)                                                                       \
    if ((left) != (right)) {                                                                       \
        return (left) < (right) ? -1 : 1;                                                          \
    }

static int compare_bins(const ics_bin_sum *left, const ics_bin_sum *right)
{
    COMPARE(left->event_id, right->event_id)
    COMPARE(left->string, right->string)
    COMPARE(left->module, right->module)
    COMPARE(left->bin, right->bin)
    return 0;
}

/* The order of hit files: within a bin the bytes decide, of which `hits` come first. Every class is
 * there once. */
static int compare_rows(const void *a, const void *b)
{
    const int order = compare_bins(a, b);
    return order != 0 ? order : memcmp(a, b, sizeof(ics_bin_sum));
}

static int compare_classes(const void *a, const void *b)
{
    const ics_bin_sum *left = a, *right = b;
    const int order = compare_bins(left, right);
    return order != 0 ? order
                      : (left->exponent > right->exponent) - (left->exponent < right->exponent);
}

size_t ics_hit_bins_unite(ics_bin_sum *sums, size_t count)
{
    size_t kept = 0;
    bool one_class = true;
    if (count == 0) {
        return 0;
    }
    qsort(sums, count, sizeof *sums, compare_classes);
    for (size_t i = 0; i < count; ++i) {
        ics_bin_sum *last = kept > 0 ? &sums[kept - 1] : NULL;
        if (last != NULL && compare_classes(last, &sums[i]) == 0) {
            last->hits += sums[i].hits;
            last->mantissa += sums[i].mantissa;
        } else {
            one_class = one_class && sums[i].exponent == sums[0].exponent;
            sums[kept++] = sums[i];
        }
    }
    if (!one_class) { /* several sums of one bin may now stand in another order than their bytes */
        qsort(sums, kept, sizeof *sums, compare_rows);
    }
    return kept;
}

int ics_hit_bins_replace(const ics_bin_rule *rule, icestream_hit *hits, size_t *count,
                         icestream_error *error)
{
    size_t kept = 0;
    void *rows = hits; /* sums replace the hits that were read already */
    ics_bin_sum *sums = rows;
    for (size_t i = 0; i < *count; ++i) {
        icestream_hit hit;
        ics_bin_sum sum = {.hits = 0};
        bool inside = false;
        memcpy(&hit, (char *)rows + i * sizeof hit, sizeof hit);
        ICS_TRY(ics_hit_bins_sum_of(rule, &hit, "sink.waveform_range", &sum, &inside, error));
        if (inside) {
            sums[kept++] = sum;
        }
    }
    *count = ics_hit_bins_unite(sums, kept);
    return ICESTREAM_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct ics_bin_rows {
    const ics_bin_rule *rule;
    ics_bin_receiver receive;
    void *user;
    ics_bin_totals totals;
    bool begun;
    ics_bin_sum bin;          /* the bin that is added up, with all its hits */
    uint32_t lowest, highest; /* classes that have a sum */
    /* Sums of the bin by class; 0 outside lowest .. highest. */
    uint64_t mantissas[ICE_WEIGHT_CLASSES];
};

int ics_hit_bins_rows_create(const ics_bin_rule *rule, ics_bin_receiver receive, void *user,
                             ics_bin_rows **out, icestream_error *error)
{
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "waveforms: out of memory");
    }
    (*out)->rule = rule;
    (*out)->receive = receive;
    (*out)->user = user;
    return ICESTREAM_OK;
}

void ics_hit_bins_rows_destroy(ics_bin_rows *rows)
{
    free(rows);
}

/* Gives the bin to the receiver. */
static int end_bin(ics_bin_rows *rows, icestream_error *error)
{
    const ics_bin_sum *bin = &rows->bin;
    double weight = 0.0;
    if (!rows->begun) {
        return ICESTREAM_OK;
    }
    for (uint32_t k = rows->lowest; k <= rows->highest; ++k) {
        weight += ldexp((double)rows->mantissas[k], (int)(k > 0 ? k - 1 : 0) - EXPONENT_LEAST);
        rows->mantissas[k] = 0;
    }
    rows->totals.hits += bin->hits;
    rows->totals.bins += 1;
    rows->begun = false;
    const icestream_waveform_bin row = {.event_id = bin->event_id,
                                        .t = ice_time_bins_origin(rows->rule) +
                                             bin->bin * rows->rule->width,
                                        .weight = weight,
                                        .hits = bin->hits,
                                        .bin = (int32_t)bin->bin,
                                        .string = bin->string,
                                        .module = bin->module};
    return rows->receive(rows->user, &row, error);
}

static int add_sum(ics_bin_rows *rows, const ics_bin_sum *sum, icestream_error *error)
{
    if (rows->begun && compare_bins(&rows->bin, sum) != 0) {
        const bool same_event = rows->bin.event_id == sum->event_id;
        ICS_TRY(end_bin(rows, error));
        rows->totals.events += !same_event;
    } else if (!rows->begun) {
        rows->totals.events += 1;
    }
    if (!rows->begun) {
        rows->begun = true;
        rows->bin = *sum;
        rows->lowest = rows->highest = sum->exponent;
        rows->bin.hits = 0;
    }
    rows->lowest = sum->exponent < rows->lowest ? sum->exponent : rows->lowest;
    rows->highest = sum->exponent > rows->highest ? sum->exponent : rows->highest;
    rows->bin.hits += sum->hits;
    uint64_t *mantissa = &rows->mantissas[sum->exponent];
    return __builtin_add_overflow(*mantissa, sum->mantissa, mantissa)
               ? ics_error_set(error, ICESTREAM_E_INPUT,
                               "event_id %" PRIu64 ": found %" PRIu64
                               " hits in one bin, expected at most 2^40",
                               sum->event_id, rows->bin.hits)
               : ICESTREAM_OK;
}

int ics_hit_bins_rows_add(ics_bin_rows *rows, const ics_bin_sum *sums, size_t count,
                          icestream_error *error)
{
    for (size_t i = 0; i < count; ++i) {
        if (sums[i].exponent >= ICE_WEIGHT_CLASSES || !ice_time_bin_exists(sums[i].bin)) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "event_id %" PRIu64
                                 ": found bin %.9g and class of weights %" PRIu32
                                 ", expected a bin below 2^31 and a finite weight",
                                 sums[i].event_id, sums[i].bin, sums[i].exponent);
        }
        ICS_TRY(add_sum(rows, &sums[i], error));
    }
    return ICESTREAM_OK;
}

int ics_hit_bins_rows_end(ics_bin_rows *rows, ics_bin_totals *out, icestream_error *error)
{
    ICS_TRY(end_bin(rows, error));
    *out = rows->totals;
    return ICESTREAM_OK;
}
