#include "pipeline/photons/table/about.h"

#include "base/error.h"
#include "base/visible_text.h"
#include "pipeline/photons/table/metadata.h"

#include <inttypes.h>
#include <string.h>

/* What the sums say as a whole. */
typedef struct totals {
    double inside, all;
    uint64_t filled; /* bins with light */
} totals;

static bool is_inside(const ics_table *table, uint64_t cell)
{
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        const uint64_t at = cell / table->strides[i] % ((uint64_t)table->axes[i].bins + 2);
        if (at == 0 || at > table->axes[i].bins) {
            return false;
        }
    }
    return true;
}

static totals add_up(const ics_table *table)
{
    totals result = {.filled = 0};
    for (uint64_t i = 0; i < table->cells; ++i) {
        if (table->sums[i] != 0) {
            const double sum = (double)table->sums[i] * ICS_TABLE_UNIT;
            const bool counts = is_inside(table, i);
            result.all += sum;
            result.inside += counts ? sum : 0.0;
            result.filled += counts;
        }
    }
    return result;
}

static uint64_t count_bins(const ics_table *table)
{
    uint64_t bins = 1;
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        bins *= table->axes[i].bins;
    }
    return bins;
}

static const char *text_of(const char *digest)
{
    return *digest != '\0' ? digest : "none";
}

static void print_axes(const ics_table *table, FILE *out)
{
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        const ics_table_axis *axis = &table->axes[i];
        const bool has_unit = strcmp(axis->unit, "1") != 0;
        fprintf(out, "  axis %-10s %.9g to %.9g%s%s, %" PRIu32 " bins", axis->name, axis->from,
                axis->to, has_unit ? " " : "", has_unit ? axis->unit : "", axis->bins);
        if (axis->edges != NULL) {
            fputs(", given edges", out);
        } else if (axis->power > 1) {
            fprintf(out, ", power %" PRIu32, axis->power);
        }
        fputc('\n', out);
    }
}

void ics_table_about_print(const ics_table *table, const char *name, FILE *out)
{
    const totals total = add_up(table);
    const ics_table_facts *facts = &table->facts;
    ics_visible_print(out, name);
    fprintf(out, ": photon table, %s, %" PRIu64 " bins%s\n",
            ics_table_geometry_name(facts->geometry), count_bins(table),
            table->squares != NULL ? ", with squared weights" : "");
    print_axes(table, out);
    fprintf(out, "  photons         %" PRIu64 ", weight %.9g\n", table->photons,
            (double)table->weight.whole + table->weight.fraction * ICS_TABLE_UNIT);
    if (table->checkpoint != NULL) {
        fprintf(out, "  checkpoint      of a table of %s photons\n",
                json_string_value(json_object_get(table->checkpoint, "photons")));
    }
    fprintf(out,
            "  sums            %.9g in the bins, %.9g outside of them, %" PRIu64
            " bins with light\n",
            total.inside, total.all - total.inside, total.filled);
    fprintf(out,
            "  made with       steps of %.9g m, area %.9g m^2, n_group %.9g, n_phase %.9g, seed "
            "%" PRIu64 "\n",
            facts->step_length, facts->area, facts->n_group, facts->n_phase, facts->seed);
    fprintf(out,
            "  source          z %.9g m, zenith %.9g deg, azimuth %.9g deg, energy %.9g GeV, type "
            "%" PRId32 "\n",
            facts->z, facts->zenith, facts->azimuth, facts->energy, facts->type);
    fprintf(out, "  configuration   %s\n  ice             %s\n  detector        %s\n",
            text_of(facts->configuration), text_of(facts->ice), text_of(facts->detector));
    fprintf(out, "  parts           %zu\n", table->part_count);
}

int ics_table_about_json(const ics_table *table, json_t **out, icestream_error *error)
{
    const totals total = add_up(table);
    json_t *metadata = NULL;
    ICS_TRY(ics_table_metadata_create(table, &metadata, error));
    *out = json_pack("{s:I, s:I, s:f, s:f, s:o}", "bins", (json_int_t)count_bins(table),
                     "bins_with_light", (json_int_t)total.filled, "sum_inside", total.inside,
                     "sum_outside", total.all - total.inside, "metadata", metadata);
    return *out != NULL ? ICESTREAM_OK
                        : ics_error_set(error, ICESTREAM_E_MEMORY,
                                        "out of memory for the description of a table");
}
