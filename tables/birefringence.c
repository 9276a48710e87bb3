/* Tables of birefringence: its strength by depth and the deflection by direction. */
#include "stages/birefringence.h"

#include "base/error.h"
#include "tables/deflection_image.h"
#include "tables/internal.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

uint32_t ics_tables_find_birefringence(const ice_medium *medium)
{
    const ice_birefringence *set = &medium->birefringence;
    bool strong = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        strong |=
            medium->layers[i].birefringence != 0.0 || medium->layers[i].birefringence_mean != 0.0;
    }
    const bool deflects = set->along[0] != 0.0 || set->across[0] != 0.0 || set->mean[0] != 0.0;
    return strong && deflects ? ICE_HAS_BIREFRINGENCE : 0;
}

/* Returns the strength of the mean deflection divided by the strength of the diffusion, or NAN if
 * this quotient differs between layers. */
static double mean_share(const ice_medium *medium)
{
    double share = 0.0;
    bool found = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        if (layer->birefringence == 0.0 && layer->birefringence_mean == 0.0) {
            continue;
        }
        const double here = layer->birefringence_mean / layer->birefringence;
        if (!found) {
            share = here;
        }
        found = true;
        if (!(fabs(here - share) <= 1e-12 * share)) {
            return NAN;
        }
    }
    return share;
}

/* Builds the table of one strength and of its sums over the layers below. `offset` is the offset of
 * the strength in ice_layer. */
static int build_strengths(ics_table_builder *builder, const ice_medium *medium, size_t offset,
                           const ice_birefringence_row **table)
{
    ice_birefringence_row *rows;
    ICS_TRY(ics_tables_array(builder, table, medium->layer_count, sizeof *rows, &rows));
    double sum = 0.0; /* m */
    for (size_t i = 0; i < medium->layer_count; ++i) {
        double strength;
        memcpy(&strength, (const char *)&medium->layers[i] + offset, sizeof strength);
        rows[i].strength = (float)strength;
        rows[i].low = ice_face(builder->tables, (int32_t)i);
        rows[i].sum = ics_tables_split_sum(sum);
        sum += medium->thickness * strength;
    }
    return ICESTREAM_OK;
}

/* Fills the table of deflections. `share` multiplies the mean deflection: the tables of the layers
 * contain only one strength if both strengths have the same profile. */
static void fill_deflections(ice_deflection_row *rows, const ice_birefringence *set, double share)
{
    for (int knot = ICE_DEFLECTION_KNOTS; knot >= 0; --knot) {
        const double cosine = fmin(knot / (double)ICE_DEFLECTION_SCALE, 1.0);
        /* Along the flow axis mx is 0, but mx divided by the sine is not; the limit keeps the
         * quotient finite. */
        const double sine = fmax(sqrt(1.0 - cosine * cosine), 1e-6);
        const float along = (float)(0.5 * fmax(ice_rms_deflection(set->along, sine), 0.0));
        const float across = (float)(0.5 * fmax(ice_rms_deflection(set->across, sine), 0.0));
        const float mean =
            (float)(0.5 * share * fmax(ice_mean_deflection(set->mean, sine, cosine), 0.0) / sine);
        if (knot > 0) {
            rows[knot - 1].along_more = along;
            rows[knot - 1].across_more = across;
            rows[knot - 1].mean_more = mean;
        }
        if (knot == ICE_DEFLECTION_KNOTS) {
            continue;
        }
        rows[knot].along = along;
        rows[knot].across = across;
        rows[knot].mean = mean;
        rows[knot].along_more -= along;
        rows[knot].across_more -= across;
        rows[knot].mean_more -= mean;
    }
}

int ics_tables_build_birefringence(ics_table_builder *builder, const ice_medium *medium,
                                   const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    (void)detector;
    const double share = mean_share(medium);
    ice_deflection_table *deflection;
    ICS_TRY(ics_tables_array(builder, &tables->deflection, 1, sizeof *deflection, &deflection));
    ice_fill_normals(&deflection->normals);
    ICS_TRY(build_strengths(builder, medium, offsetof(ice_layer, birefringence),
                            &tables->birefringence));
    fill_deflections(deflection->rows, &medium->birefringence, isnan(share) ? 1.0 : share);
    if (!isnan(share)) {
        return ICESTREAM_OK;
    }
    tables->features |= ICE_HAS_MEAN_BIREFRINGENCE;
    return build_strengths(builder, medium, offsetof(ice_layer, birefringence_mean),
                           &tables->mean_birefringence);
}

void ics_tables_deflection_texels(const ice_tables *tables, float *numbers)
{
    const ice_deflection_row *rows = tables->deflection->rows;
    for (int knot = 0; knot < ICS_DEFLECTION_TEXELS; ++knot) {
        const bool is_behind = knot == ICE_DEFLECTION_KNOTS;
        const ice_deflection_row *row = &rows[is_behind ? knot - 1 : knot];
        float *texel = numbers + (size_t)knot * ICS_DEFLECTION_NUMBERS;
        texel[0] = row->along + (is_behind ? row->along_more : 0.0f);
        texel[1] = row->across + (is_behind ? row->across_more : 0.0f);
        texel[2] = row->mean + (is_behind ? row->mean_more : 0.0f);
        texel[3] = 0.0f;
    }
}
