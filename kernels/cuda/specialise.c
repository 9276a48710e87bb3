#include "kernels/cuda/specialise.h"

#include "kernels/cuda/device/special.h"
#include "stages/maths.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A text that is being written. */
typedef struct writer {
    char *text;
    size_t size, length; /* length >= size: the text is too long */
} writer;

static void define(writer *to, const char *name, const char *type, int64_t value)
{
    const size_t left = to->length < to->size ? to->size - to->length : 0;
    const int length = snprintf(left > 0 ? to->text + to->length : NULL, left,
                                "#define GPU_SPECIAL_%s (%s%" PRId64 ")\n", name, type, value);
    to->length += (size_t)length;
}

static void write_text(writer *to, const char *text)
{
    const size_t left = to->length < to->size ? to->size - to->length : 0;
    to->length += (size_t)snprintf(left > 0 ? to->text + to->length : NULL, left, "%s", text);
}

int ics_specialise_kernel(const ics_special_bounds *bounds, char *text, size_t size)
{
    const size_t length = strlen(text);
    char limit[64];
    if (bounds->registers > 0) {
        snprintf(limit, sizeof limit, "__maxnreg__(%" PRIu32 ")", bounds->registers);
    } else if (bounds->blocks > 0) {
        snprintf(limit, sizeof limit, "__launch_bounds__(%" PRIu32 ", %" PRIu32 ")",
                 bounds->threads, bounds->blocks);
    } else {
        snprintf(limit, sizeof limit, "__launch_bounds__(%" PRIu32 ")", bounds->threads);
    }
    const int added = snprintf(text + length, size - length,
                               "#define GPU_THREADS_%s (%" PRIu32 ")\n#define GPU_BOUNDS_%s %s\n",
                               bounds->name, bounds->threads, bounds->name, limit);
    return added > 0 && (size_t)added < size - length ? 0 : -1;
}

static void append(writer *to, const char *before, uint32_t value, const char *after)
{
    const size_t left = to->length < to->size ? to->size - to->length : 0;
    to->length += (size_t)snprintf(left > 0 ? to->text + to->length : NULL, left, "%s%u%s", before,
                                   value, after);
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
static void define_rows(writer *to, const ice_photon_axes *axes, bool of_segments)
{
    uint32_t cell = 0, edge = 0, rows = 0;
    for (const ice_photon_axis *axis = axes->items; axis < axes->items + axes->count; ++axis) {
        if ((ice_counts_segments(axis->quantity) != 0) == of_segments) {
            append(to,
                   rows == 0 && of_segments ? "\n#define GPU_SPECIAL_SEGMENTS(ROW) ROW(" : " ROW(",
                   axis->quantity, "u, ");
            append(to, "", axis->bins, "u, ");
            append(to, "", cell, "u, ");
            append(to, "", edge, of_segments ? "u, " : "u)");
            if (of_segments) {
                append(to, "", are_in_row(axis), ")");
            }
            ++rows;
        }
        cell += axis->bins + 2;
        edge += axis->bins + 1;
    }
}

/* The definitions of the histograms of photons, of which there is at least one. */
static void define_photons(writer *to, const ice_photon_axes *axes)
{
    const ice_photon_axis *first = axes->items, *end = first + axes->count;
    append(to, "#define GPU_SPECIAL_PHOTON_CELLS ", axes->cells,
           "u\n#define GPU_SPECIAL_PHOTONS(ROW)");
    define_rows(to, axes, false);
    define_rows(to, axes, true);
    if (ics_specialise_candidates(axes)) {
        append(to, "\n#define GPU_SPECIAL_CANDIDATES ", 1, "");
    }
    for (const ice_photon_axis *axis = first; axis < end; ++axis) {
        for (uint32_t i = 0; i <= axis->bins; ++i) {
            append(to, axis == first && i == 0 ? "\n#define GPU_SPECIAL_PHOTON_EDGES " : ", ",
                   axis->edges[i], "u");
        }
    }
    write_text(to, "\n");
}

/* The definitions of the histograms with many bins, of which there is at least one. */
static void define_large(writer *to, const ics_large_axes *axes)
{
    uint32_t cell = 0, word = 0;
    append(to, "#define GPU_SPECIAL_LARGE_CELLS ", axes->cells,
           "u\n#define GPU_SPECIAL_LARGE(ROW)");
    for (const ics_large_axis *axis = axes->items; axis < axes->items + axes->count; ++axis) {
        const ice_large_search search = axis->search;
        const uint32_t numbers[] = {axis->quantity, search.bins,  cell,       word,
                                    search.shift,   search.first, search.last};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
            append(to, i == 0 ? " ROW(" : ", ", numbers[i], "u");
        }
        write_text(to, ")");
        cell += search.bins + 2;
        word += ice_large_words(search);
    }
    write_text(to, "\n");
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
static void define_numbers(writer *to, const ice_tables *tables)
{
    write_text(to, "#define GPU_SPECIAL_NUMBERS(ROW)");
#define NUMBER(member) append(to, " ROW(" #member ", ", (uint32_t)ice_bits(tables->member), "u)");
    GPU_CONSTANT_NUMBERS(NUMBER)
#undef NUMBER
    for (int32_t k = 0; k < tables->tilt.nodes_u - 1 && k < ICE_TILT_STRETCHES; ++k) {
        append(to, " ROW(tilt.few[", (uint32_t)k, "].inverse_width, ");
        append(to, "", (uint32_t)ice_bits(tables->tilt.few[k].inverse_width), "u)");
        append(to, " ROW(tilt.few[", (uint32_t)k, "].offset, ");
        append(to, "", (uint32_t)ice_bits(tables->tilt.few[k].offset), "u)");
    }
    write_text(to, "\n");
}

int ics_specialise(const ice_tables *tables, const ics_special_options *options, char *text,
                   size_t size)
{
    writer to = {.size = size};
    to.text = text;
#define VARIANT(name, member) define(&to, #name, "(ice_variant)", options->variants.member);
    GPU_SPECIAL_VARIANTS(VARIANT)
#undef VARIANT
#define TABLE(name, member) define(&to, #name, "", tables->member);
    GPU_SPECIAL_TABLES(TABLE)
#undef TABLE
    define_numbers(&to, tables);
#define OPTION(name, member) define(&to, #name, "", options->member);
    GPU_SPECIAL_OPTIONS(OPTION)
#undef OPTION
    if (options->photons.count > 0) {
        define_photons(&to, &options->photons);
    }
    if (options->large.count > 0) {
        define_large(&to, &options->large);
    }
    if (options->photons.count > 0 || options->large.count > 0) {
        append(&to, "#define GPU_SPECIAL_PHOTON_WAYS ", has_ways(options), "\n");
    }
    if (options->check) {
        write_text(&to, "#define ICE_CHECK\n");
    }
    if (options->without_random) {
        write_text(&to, "#define ICE_WITHOUT_RANDOM\n");
    }
    if (options->without_divergence) {
        write_text(&to, "#define GPU_WITHOUT_DIVERGENCE\n");
    }
    if (options->clocks > 0) {
        append(&to, "#define GPU_CLOCKS ", options->clocks, "\n");
    }
    return to.length < size ? 0 : -1;
}
