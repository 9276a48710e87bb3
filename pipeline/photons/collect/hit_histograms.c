#include "pipeline/photons/collect/hit_histograms.h"

#include "base/error.h"
#include "pipeline/photons/config/histograms.h"

#include <stdlib.h>

enum { UHI_SCHEMA = 1 };

typedef struct axis {
    ics_histogram_axis config;
    double bins_per_unit; /* bins per unit of a linear axis */
    double *edges;        /* [bins + 1] */
    size_t stride;        /* counts from one bin to the next */
} axis;

typedef struct histogram {
    axis axes[ICS_HISTOGRAM_AXES];
    uint32_t axis_count;
    size_t cells;
    uint64_t *counts; /* [cells], the last axis fastest, with under- and overflows */
} histogram;

struct ics_hit_histograms {
    histogram *items; /* [count] */
    size_t count;
};

/* ---- making ---------------------------------------------------------------------------------- */

static double *make_edges(const ics_histogram_axis *config)
{
    double *edges = malloc(((size_t)config->bins + 1) * sizeof *edges);
    for (uint32_t i = 0; edges != NULL && i <= config->bins; ++i) {
        edges[i] = ics_config_histogram_edge(config, i);
    }
    return edges;
}

/* Returns false if there is no memory. */
static bool make_histogram(const ics_histogram_config *config, histogram *out)
{
    bool made = true;
    out->axis_count = config->axis_count;
    out->cells = 1;
    for (uint32_t i = config->axis_count; i-- > 0;) {
        axis *of = &out->axes[i];
        of->config = config->axes[i];
        of->stride = out->cells;
        of->bins_per_unit = of->config.bins / (of->config.to - of->config.from);
        of->edges = make_edges(&of->config);
        made &= of->edges != NULL;
        out->cells *= (size_t)of->config.bins + 2;
    }
    out->counts = calloc(out->cells, sizeof *out->counts);
    return made && out->counts != NULL;
}

int ics_hit_histograms_create(const ics_histogram_config *configs, size_t count,
                              ics_hit_histograms **out, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_histograms_destroy) ics_hit_histograms *made = calloc(1, sizeof *made);
    bool has_all = made != NULL;
    if (has_all) {
        made->items = calloc(count > 0 ? count : 1, sizeof *made->items);
        made->count = made->items != NULL ? count : 0;
        has_all = made->items != NULL;
    }
    for (size_t i = 0; has_all && i < count; ++i) {
        has_all = make_histogram(&configs[i], &made->items[i]);
    }
    *out = has_all ? ICS_HAND_OVER(made) : NULL;
    return has_all ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu histograms",
                                   count);
}

void ics_hit_histograms_destroy(ics_hit_histograms *histograms)
{
    if (histograms == NULL) {
        return;
    }
    for (size_t i = 0; i < histograms->count; ++i) {
        for (uint32_t k = 0; k < ICS_HISTOGRAM_AXES; ++k) {
            free(histograms->items[i].axes[k].edges);
        }
        free(histograms->items[i].counts);
    }
    free(histograms->items);
    free(histograms);
}

/* ---- counting -------------------------------------------------------------------------------- */

static double value_of(ics_quantity quantity, const icestream_hit *hit)
{
    switch (quantity) {
    case ICS_HIT_TIME:
        return hit->t;
    case ICS_HIT_STRING:
        return hit->string;
    case ICS_HIT_MODULE:
        return hit->module;
    case ICS_HIT_PMT:
        return hit->pmt;
    case ICS_HIT_EVENT:
        return (double)hit->event_id;
    case ICS_HIT_WAVELENGTH:
        return hit->wavelength;
    case ICS_HIT_IMPACT:
        return hit->dz;
    case ICS_HIT_SCATTERS:
        return hit->scatters;
    default:
        return hit->weight;
    }
}

/* The bin of a value within a linear axis, from 0. A product finds it but for its rounding. */
static uint32_t linear_bin(const axis *of, double value)
{
    const uint32_t last = of->config.bins - 1;
    const double guess = (value - of->config.from) * of->bins_per_unit;
    uint32_t bin = guess < last ? (uint32_t)guess : last;
    while (bin > 0 && value < of->edges[bin]) {
        --bin;
    }
    while (bin < last && value >= of->edges[bin + 1]) {
        ++bin;
    }
    return bin;
}

/* The bin of a value within a logarithmic axis, by bisection. */
static uint32_t log_bin(const axis *of, double value)
{
    uint32_t low = 0, high = of->config.bins;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (value >= of->edges[middle]) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the number of a value's bin, from 0 for the underflow to bins + 1 for the overflow. */
static uint32_t bin_of(const axis *of, double value)
{
    if (value >= of->config.to) {
        return of->config.bins + 1;
    }
    if (!(value >= of->config.from)) {
        return 0;
    }
    return 1 + (of->config.is_log ? log_bin(of, value) : linear_bin(of, value));
}

static ics_counted counted_by(const histogram *item)
{
    return ics_config_counted(item->axes[0].config.quantity);
}

void ics_hit_histograms_add_photons(ics_hit_histograms *histograms, const uint64_t *cells,
                                    const uint64_t *large)
{
    for (size_t i = 0; i < histograms->count; ++i) {
        const histogram *item = &histograms->items[i];
        if (counted_by(item) != ICS_COUNTED_PHOTONS) {
            continue;
        }
        const uint64_t **next = ics_config_is_large(&item->axes[0].config) ? &large : &cells;
        for (size_t k = 0; k < item->cells; ++k) {
            item->counts[k] += (*next)[k];
        }
        *next += item->cells;
    }
}

void ics_hit_histograms_add_step(ics_hit_histograms *histograms, uint32_t photons)
{
    for (size_t i = 0; i < histograms->count; ++i) {
        const histogram *item = &histograms->items[i];
        if (counted_by(item) == ICS_COUNTED_STEPS) {
            item->counts[bin_of(&item->axes[0], photons)]++;
        }
    }
}

void ics_hit_histograms_add(ics_hit_histograms *histograms, const icestream_hit *hits, size_t count)
{
    for (size_t i = 0; i < histograms->count; ++i) {
        const histogram *item = &histograms->items[i];
        if (counted_by(item) != ICS_COUNTED_HITS) {
            continue;
        }
        for (size_t n = 0; n < count; ++n) {
            size_t cell = 0;
            for (uint32_t k = 0; k < item->axis_count; ++k) {
                const axis *of = &item->axes[k];
                cell += of->stride * bin_of(of, value_of(of->config.quantity, &hits[n]));
            }
            item->counts[cell]++;
        }
    }
}

void ics_hit_histograms_merge(ics_hit_histograms *histograms, ics_hit_histograms *from)
{
    for (size_t i = 0; i < histograms->count; ++i) {
        for (size_t k = 0; k < histograms->items[i].cells; ++k) {
            histograms->items[i].counts[k] += from->items[i].counts[k];
            from->items[i].counts[k] = 0;
        }
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Returns the array with one more item; NULL, and the array is gone: no memory. */
static json_t *with(json_t *array, json_t *item)
{
    if (json_array_append_new(array, item) == 0) {
        return array;
    }
    json_decref(array);
    return NULL;
}

static json_t *edges_json(const axis *of)
{
    json_t *edges = json_array();
    for (uint32_t i = 0; i <= of->config.bins; ++i) {
        edges = with(edges, json_real(of->edges[i]));
    }
    return edges;
}

static json_t *axis_json(const axis *of)
{
    const char *name = ics_config_quantity_name(of->config.quantity);
    const char *unit = ics_config_quantity_unit(of->config.quantity);
    json_t *metadata = json_pack("{s:s, s:s}", "name", name, "unit", unit);
    return of->config.is_log
               ? json_pack("{s:s, s:o, s:b, s:b, s:b, s:o}", "type", "variable", "edges",
                           edges_json(of), "underflow", 1, "overflow", 1, "circular", 0, "metadata",
                           metadata)
               : json_pack("{s:s, s:f, s:f, s:i, s:b, s:b, s:b, s:o}", "type", "regular", "lower",
                           of->config.from, "upper", of->config.to, "bins", (int)of->config.bins,
                           "underflow", 1, "overflow", 1, "circular", 0, "metadata", metadata);
}

/* Counts of the axes from `k` on, as arrays of arrays. */
static json_t *counts_json(const histogram *item, uint32_t k, const uint64_t *counts)
{
    if (k >= ICS_HISTOGRAM_AXES || k == item->axis_count) {
        return json_integer((json_int_t)*counts);
    }
    json_t *array = json_array();
    for (size_t i = 0; i < (size_t)item->axes[k].config.bins + 2; ++i) {
        array = with(array, counts_json(item, k + 1, counts + i * item->axes[k].stride));
    }
    return array;
}

static json_t *histogram_json(const histogram *item)
{
    json_t *axes = json_array();
    for (uint32_t i = 0; i < item->axis_count; ++i) {
        axes = with(axes, axis_json(&item->axes[i]));
    }
    return json_pack("{s:i, s:o, s:{s:s, s:o}}", "uhi_schema", UHI_SCHEMA, "axes", axes, "storage",
                     "type", "int", "values", counts_json(item, 0, item->counts));
}

json_t *ics_hit_histograms_json(const ics_hit_histograms *histograms)
{
    json_t *all = json_array();
    for (size_t i = 0; i < histograms->count; ++i) {
        all = with(all, histogram_json(&histograms->items[i]));
    }
    return all;
}
