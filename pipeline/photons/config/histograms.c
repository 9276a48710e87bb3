/* The key sink.histograms. */
#include "pipeline/photons/config/histograms.h"

#include "base/error.h"
#include "pipeline/photons/config/faults.h"
#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/schema/kinds.def"

#include <stdio.h>
#include <string.h>

/* In the order of ics_quantity. */
#define PHOTON_QUANTITY(constant, name, unit, whole) {name, unit, ICS_COUNTED_PHOTONS},
static const struct {
    const char *name, *unit;
    ics_counted counted; /* what has the quantity */
} quantities[ICS_QUANTITY_COUNT] = {
    {"time", "ns", ICS_COUNTED_HITS},      {"string", "", ICS_COUNTED_HITS},
    {"module", "", ICS_COUNTED_HITS},      {"pmt", "", ICS_COUNTED_HITS},
    {"event", "", ICS_COUNTED_HITS},       {"wavelength", "nm", ICS_COUNTED_HITS},
    {"impact", "", ICS_COUNTED_HITS},      {"scatters", "", ICS_COUNTED_HITS},
    {"weight", "", ICS_COUNTED_HITS},      {"photons", "", ICS_COUNTED_STEPS},
    ICE_PHOTON_QUANTITIES(PHOTON_QUANTITY)};

static const char *quantity_names(const char *path, size_t index)
{
    (void)path;
    return index < ICS_QUANTITY_COUNT ? quantities[index].name : NULL;
}

const char *ics_config_quantity_name(ics_quantity quantity)
{
    return quantities[quantity].name;
}

const char *ics_config_quantity_unit(ics_quantity quantity)
{
    return quantities[quantity].unit;
}

ics_counted ics_config_counted(ics_quantity quantity)
{
    return quantities[quantity].counted;
}

/* Returns the bins of all histograms with their under- and overflow: of each histogram the product
 * of (bins + 2) over its axes. It is a sum of doubles, because it may be larger than any integer.
 */
static double histogram_cells(const icestream_config *config)
{
    double all = 0.0;
    for (size_t i = 0; i < config->sink.histogram_count; ++i) {
        const ics_histogram_config *histogram = &config->sink.histograms[i];
        double cells = 1.0;
        for (uint32_t k = 0; k < histogram->axis_count; ++k) {
            cells *= (double)histogram->axes[k].bins + 2.0;
        }
        all += cells;
    }
    return all;
}

static ics_bin_edges edges_of(const ics_histogram_axis *axis)
{
    return (ics_bin_edges){axis->from, axis->to, axis->bins, axis->is_log};
}

double ics_config_histogram_edge(const ics_histogram_axis *axis, uint32_t bin)
{
    const ics_bin_edges edges = edges_of(axis);
    return ics_bin_edge(&edges, bin);
}

/* Returns how many histograms count this. */
static size_t count_of(const icestream_config *config, ics_counted what)
{
    size_t count = 0;
    for (size_t i = 0; i < config->sink.histogram_count; ++i) {
        count += quantities[config->sink.histograms[i].axes[0].quantity].counted == what;
    }
    return count;
}

static bool has_candidates(const icestream_config *config)
{
    for (size_t i = 0; i < config->sink.histogram_count; ++i) {
        if (config->sink.histograms[i].axes[0].quantity == ICS_PHOTON_CANDIDATES) {
            return true;
        }
    }
    return false;
}

/* ---- photons --------------------------------------------------------------------------------- */

bool ics_config_is_large(const ics_histogram_axis *axis)
{
    return quantities[axis->quantity].counted == ICS_COUNTED_PHOTONS &&
           axis->bins > ICE_PHOTON_BINS;
}

static void add_axis(const ics_histogram_axis *from, ice_photon_quantity quantity,
                     ice_photon_axes *out)
{
    ice_photon_axis *axis = &out->items[out->count++];
    axis->quantity = quantity;
    axis->bins = from->bins;
    out->cells += axis->bins + 2;
    for (uint32_t k = 0; k <= axis->bins; ++k) {
        axis->edges[k] = ics_bin_edge_word(quantity, ics_config_histogram_edge(from, k));
    }
}

void ics_config_photon_axes(const icestream_config *config, ice_photon_axes *out,
                            ics_large_axes *large)
{
    *out = (ice_photon_axes){.count = 0};
    *large = (ics_large_axes){.count = 0};
    for (size_t i = 0; i < config->sink.histogram_count; ++i) {
        const ics_histogram_axis *from = &config->sink.histograms[i].axes[0];
        if (quantities[from->quantity].counted != ICS_COUNTED_PHOTONS ||
            out->count + large->count == ICE_PHOTON_HISTOGRAMS) {
            continue;
        }
        const ice_photon_quantity quantity =
            (ice_photon_quantity)(from->quantity - ICS_PHOTON_BOUNCES);
        if (ics_config_is_large(from)) {
            ics_large_axes_add(large, quantity, edges_of(from));
        } else {
            add_axis(from, quantity, out);
        }
    }
}

int ics_config_histograms_check(const icestream_config *config, icestream_error *error)
{
    static const char key[] = "sink.histograms";
    const double cells = histogram_cells(config);
    const size_t photons = count_of(config, ICS_COUNTED_PHOTONS);
    if (cells > ICS_CONFIG_HISTOGRAM_CELLS) {
        return ics_config_fault(config, key, key, error,
                                "found %.9g bins with their under- and overflow, expected at most "
                                "%u in all histograms together",
                                cells, ICS_CONFIG_HISTOGRAM_CELLS);
    }
    if (photons > ICE_PHOTON_HISTOGRAMS) {
        return ics_config_fault(config, key, key, error,
                                "found %zu histograms of photons, expected at most %u", photons,
                                ICE_PHOTON_HISTOGRAMS);
    }
    const bool has_any = config->sink.histogram_count > 0;
    const struct {
        bool is_wrong;
        const char *other, *text;
    } rows[] = {
        {config->stages.custom[ICS_STAGE_COLLIDE] != NULL && has_candidates(config),
         "stages.collide",
         "found axis candidates, which counts what a built-in variant tests, and stages.collide is "
         "a header"},
        {has_any && strcmp(config->sink.directory, "-") == 0, "sink.directory",
         "is for files, whose trailer has the histograms, and sink.directory is \"-\""},
        {has_any && config->sink.hits == ICS_CONTENT_WAVEFORMS, "sink.hits",
         "counts hits, and the files of sink.hits: waveforms have none"},
        {photons + count_of(config, ICS_COUNTED_STEPS) > 0 && config->sink.checkpoint != 0.0,
         "sink.checkpoint",
         "found histograms of photons or steps, which checkpoints do not hold; expected "
         "sink.checkpoint: off"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (rows[i].is_wrong) {
            return ics_config_fault(config, key, rows[i].other, error, "%s", rows[i].text);
        }
    }
    return ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const ics_schema_field axis_fields[] = {
    MEMBER(ics_histogram_axis, "name", quantity, CHOICE_BY(quantity_names) REQUIRED,
           "quantity that is counted"),
    MEMBER(ics_histogram_axis, "from", from, NUMBER(-1e18, 1e18) REQUIRED,
           "where the first bin begins"),
    MEMBER(ics_histogram_axis, "to", to, NUMBER(-1e18, 1e18) REQUIRED, "where the last bin ends"),
    MEMBER(ics_histogram_axis, "bins", bins, WHOLE(1, ICS_CONFIG_HISTOGRAM_CELLS - 2) REQUIRED,
           "number of bins"),
    MEMBER(ics_histogram_axis, "scale", is_log, CHOICE("linear", "log") DEFAULT("linear"),
           "log: bins are equally wide in the logarithm")};

/* Bins must be much wider than the rounding of their edges, which have 24 bits in a logarithmic
 * axis and 53 bits in a linear one. */
static bool are_too_narrow(const ics_histogram_axis *axis)
{
    const double size = axis->to > -axis->from ? axis->to : -axis->from;
    return axis->is_log ? axis->to / axis->from < 1.0 + 1e-5 * axis->bins
                        : axis->to - axis->from < 1e-12 * size * axis->bins;
}

static int check_axis(const ics_yaml_node *node, const void *item, icestream_error *error)
{
    const ics_histogram_axis *axis = item;
    const char *name = quantities[axis->quantity].name;
    if (axis->from >= axis->to) {
        return ics_yaml_error(error, node,
                              "sink.histograms: axis %s: found from %.9g and to %.9g, expected "
                              "from below to",
                              name, axis->from, axis->to);
    }
    if (axis->is_log && axis->from < ICS_BIN_EDGE_LOG_LEAST) {
        return ics_yaml_error(error, node,
                              "sink.histograms: axis %s: found from %.9g and scale log, expected "
                              "from %g or above, because edges are rounded to 24 bits",
                              name, axis->from, ICS_BIN_EDGE_LOG_LEAST);
    }
    if (are_too_narrow(axis)) {
        return ics_yaml_error(error, node,
                              "sink.histograms: axis %s: found %u bins from %.17g to %.17g, "
                              "expected wider bins, whose edges are different numbers",
                              name, axis->bins, axis->from, axis->to);
    }
    return ICESTREAM_OK;
}

/* Photons are counted where they end, steps where they are stored, and hits where they are written,
 * so that only quantities of hits can be axes together. */
static int check_counted(const ics_yaml_node *node, const ics_histogram_config *histogram,
                         icestream_error *error)
{
    for (uint32_t i = 0; i < histogram->axis_count; ++i) {
        const ics_histogram_axis *axis = &histogram->axes[i];
        const ics_counted counted = quantities[axis->quantity].counted;
        if (counted != ICS_COUNTED_HITS && histogram->axis_count > 1) {
            return ics_yaml_error(error, node,
                                  "sink.histograms: found axis %s among %u axes, expected it "
                                  "alone, because it counts %s",
                                  quantities[axis->quantity].name, histogram->axis_count,
                                  axis->quantity >= ICS_PHOTON_LAYERS ? "segments of photons"
                                  : counted == ICS_COUNTED_STEPS      ? "steps"
                                                                      : "photons");
        }
        const bool of_segments = axis->quantity >= ICS_PHOTON_LAYERS;
        const uint32_t most = of_segments ? ICE_PHOTON_BINS : ICE_LARGE_BINS;
        if (counted == ICS_COUNTED_PHOTONS && axis->bins > most) {
            return ics_yaml_error(error, node,
                                  "sink.histograms: axis %s: found %u bins, expected at most %u%s",
                                  quantities[axis->quantity].name, axis->bins, most,
                                  of_segments ? ", because it counts segments of photons" : "");
        }
    }
    return ICESTREAM_OK;
}

static int check_histogram(const ics_yaml_node *node, const void *item, icestream_error *error)
{
    const ics_histogram_config *histogram = item;
    for (uint32_t i = 1; i < histogram->axis_count; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            if (histogram->axes[k].quantity == histogram->axes[i].quantity) {
                return ics_yaml_error(error, node->items[i],
                                      "sink.histograms: found axis %s twice in one histogram, "
                                      "expected each at most once",
                                      quantities[histogram->axes[i].quantity].name);
            }
        }
    }
    return check_counted(node, histogram, error);
}

const ics_schema_list ics_config_histograms = {
    .expected = "a list of {name, from, to, bins, scale}, or of lists of up to three of them",
    .example = "[{name: time, from: 0, to: 5000, bins: 100}]",
    .item_size = sizeof(ics_histogram_config),
    .most = 64,
    .fields = axis_fields,
    .field_count = sizeof axis_fields / sizeof *axis_fields,
    .check = check_axis,
    .several = {.most = ICS_HISTOGRAM_AXES,
                .size = sizeof(ics_histogram_axis),
                .count_offset = offsetof(ics_histogram_config, axis_count),
                .name = "axes",
                .check = check_histogram}};
