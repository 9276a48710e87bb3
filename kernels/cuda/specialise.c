#include "kernels/cuda/specialise.h"

#include "kernels/cuda/device/special.h"
#include "stages/maths.h"

#include <inttypes.h>

void ics_specialise_kernel(const ics_special_bounds *bounds, FILE *out)
{
    const char *name = bounds->name;
    fprintf(out, "#define GPU_THREADS_%s (%" PRIu32 ")\n#define GPU_BOUNDS_%s ", name,
            bounds->threads, name);
    if (bounds->registers > 0) {
        fprintf(out, "__maxnreg__(%" PRIu32 ")\n", bounds->registers);
    } else if (bounds->blocks > 0) {
        fprintf(out, "__launch_bounds__(%" PRIu32 ", %" PRIu32 ")\n", bounds->threads,
                bounds->blocks);
    } else {
        fprintf(out, "__launch_bounds__(%" PRIu32 ")\n", bounds->threads);
    }
}

bool ics_specialise_candidates(const ice_photon_axes *axes)
{
    for (uint32_t i = 0; i < axes->count; ++i) {
        if (axes->items[i].quantity == ICE_PHOTON_CANDIDATES) {
            return true;
        }
    }
    return false;
}

/* Whether the edges of a histogram are whole numbers in a row. */
static bool are_in_row(const ice_photon_axis *axis)
{
    for (uint32_t i = 1; i <= axis->bins; ++i) {
        if (axis->edges[i] - axis->edges[i - 1] != 1) {
            return false;
        }
    }
    return true;
}

/* The rows of the histograms of segments, or of all others. */
static void define_rows(FILE *out, const ice_photon_axes *axes, bool of_segments)
{
    uint32_t cell = 0, edge = 0, rows = 0;
    for (const ice_photon_axis *axis = axes->items; axis < axes->items + axes->count; ++axis) {
        if ((ice_counts_segments(axis->quantity) != 0) == of_segments) {
            fputs(rows == 0 && of_segments ? "\n#define GPU_SPECIAL_SEGMENTS(ROW)" : "", out);
            fprintf(out, " ROW(%uu, %uu, %uu, %uu", axis->quantity, axis->bins, cell, edge);
            if (of_segments) {
                fprintf(out, ", %u", are_in_row(axis));
            }
            fputs(")", out);
            ++rows;
        }
        cell += axis->bins + 2;
        edge += axis->bins + 1;
    }
}

/* The definitions of the histograms of photons, of which there is at least one. */
static void define_photons(FILE *out, const ice_photon_axes *axes)
{
    const ice_photon_axis *first = axes->items, *end = first + axes->count;
    fprintf(out, "#define GPU_SPECIAL_PHOTON_CELLS %uu\n#define GPU_SPECIAL_PHOTONS(ROW)",
            axes->cells);
    define_rows(out, axes, false);
    define_rows(out, axes, true);
    if (ics_specialise_candidates(axes)) {
        fputs("\n#define GPU_SPECIAL_CANDIDATES 1", out);
    }
    for (const ice_photon_axis *axis = first; axis < end; ++axis) {
        for (uint32_t i = 0; i <= axis->bins; ++i) {
            const bool is_first = axis == first && i == 0;
            fprintf(out, "%s%uu", is_first ? "\n#define GPU_SPECIAL_PHOTON_EDGES " : ", ",
                    axis->edges[i]);
        }
    }
    fputs("\n", out);
}

/* The definitions of the histograms with many bins, of which there is at least one. */
static void define_large(FILE *out, const ics_large_axes *axes)
{
    uint32_t cell = 0, word = 0;
    fprintf(out, "#define GPU_SPECIAL_LARGE_CELLS %uu\n#define GPU_SPECIAL_LARGE(ROW)",
            axes->cells);
    for (const ics_large_axis *axis = axes->items; axis < axes->items + axes->count; ++axis) {
        const ice_large_search search = axis->search;
        fprintf(out, " ROW(%uu, %uu, %uu, %uu, %uu, %uu, %uu)", axis->quantity, search.bins, cell,
                word, search.shift, search.first, search.last);
        cell += search.bins + 2;
        word += ice_large_words(search);
    }
    fputs("\n", out);
}

/* Whether a histogram needs more of a photon than its bounces. */
static bool has_ways(const ics_special_options *options)
{
    bool ways = false;
    for (uint32_t i = 0; i < options->photons.count; ++i) {
        ways = ways || options->photons.items[i].quantity != ICE_PHOTON_BOUNCES;
    }
    for (uint32_t i = 0; i < options->large.count; ++i) {
        ways = ways || options->large.items[i].quantity != ICE_PHOTON_BOUNCES;
    }
    return ways;
}

/* The numbers that are read at every bounce, as their bits, so that no digit is lost. */
static void define_numbers(FILE *out, const ice_tables *tables)
{
    fputs("#define GPU_SPECIAL_NUMBERS(ROW)", out);
#define NUMBER(member) fprintf(out, " ROW(" #member ", %uu)", (uint32_t)ice_bits(tables->member));
    GPU_CONSTANT_NUMBERS(NUMBER)
#undef NUMBER
    for (int32_t k = 0; k < tables->tilt.nodes_u - 1 && k < ICE_TILT_STRETCHES; ++k) {
        const ice_tilt_stretch *few = &tables->tilt.few[k];
        fprintf(out, " ROW(tilt.few[%d].inverse_width, %uu) ROW(tilt.few[%d].offset, %uu)", k,
                (uint32_t)ice_bits(few->inverse_width), k, (uint32_t)ice_bits(few->offset));
    }
    fputs("\n", out);
}

static void define(FILE *out, const char *name, const char *type, int64_t value)
{
    fprintf(out, "#define GPU_SPECIAL_%s (%s%" PRId64 ")\n", name, type, value);
}

void ics_specialise(const ice_tables *tables, const ics_special_options *options, FILE *out)
{
#define VARIANT(name, member) define(out, #name, "(ice_variant)", options->variants.member);
    GPU_SPECIAL_VARIANTS(VARIANT)
#undef VARIANT
#define TABLE(name, member) define(out, #name, "", tables->member);
    GPU_SPECIAL_TABLES(TABLE)
#undef TABLE
    define_numbers(out, tables);
#define OPTION(name, member) define(out, #name, "", options->member);
    GPU_SPECIAL_OPTIONS(OPTION)
#undef OPTION
    if (options->photons.count > 0) {
        define_photons(out, &options->photons);
    }
    if (options->large.count > 0) {
        define_large(out, &options->large);
    }
    if (options->photons.count > 0 || options->large.count > 0) {
        fprintf(out, "#define GPU_SPECIAL_PHOTON_WAYS %u\n", has_ways(options));
    }
    fputs(options->check ? "#define ICE_CHECK\n" : "", out);
    fputs(options->without_random ? "#define ICE_WITHOUT_RANDOM\n" : "", out);
    fputs(options->without_divergence ? "#define GPU_WITHOUT_DIVERGENCE\n" : "", out);
    if (options->clocks > 0) {
        fprintf(out, "#define GPU_CLOCKS %u\n", options->clocks);
    }
}
