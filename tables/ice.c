/* Tables of the layers: their coefficients, and the integrals of these over depth. */
#include "base/error.h"
#include "stages/optics.h"
#include "tables/internal.h"

#include <math.h>

static int check_layer(const ics_table_builder *builder, const ice_layer *layer, size_t index)
{
    const double scattering = layer->effective_scattering + layer->bubbles;
    const double ice = 1.0 + 0.01 * layer->delta_tau;
    if (scattering > 0.0 && layer->dust_absorption >= 0.0 && ice > 0.0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        builder->error, ICESTREAM_E_CONFIG,
        "layer %zu from below: scattering %g 1/m, dust absorption %g 1/m, temperature factor "
        "%g: expected all positive",
        index, scattering, layer->dust_absorption, ice);
}

/* Returns a coefficient of a layer, 1/m, for the tables. It is never so small that the stages could
 * divide by 0 (ice_ratio). What light does in 1e12 km of ice makes no difference. */
static double coefficient(double value)
{
    return fmax(value, (double)ICE_LEAST_COEFFICIENT);
}

/* Computes the integrals over depth at the faces of the layers (physics.md 5.3). */
static void integrate(const ice_medium *medium, ice_depth_row *cumulative)
{
    const double scale = medium->thickness / (1.0 - medium->mean_cosine);
    double scattering = 0.0, bubbles = 0.0, dust = 0.0, ice = 0.0;
    for (size_t face = 0; face <= medium->layer_count; ++face) {
        const ice_depth_row row = {ics_tables_split_sum(scattering), ics_tables_split_sum(bubbles),
                                   ics_tables_split_sum(dust), ics_tables_split_sum(ice)};
        cumulative[face] = row;
        if (face == medium->layer_count) {
            break;
        }
        const ice_layer *layer = &medium->layers[face];
        scattering += scale * coefficient(layer->effective_scattering);
        bubbles += scale * layer->bubbles;
        dust += medium->thickness * coefficient(layer->dust_absorption);
        ice += medium->thickness * (1.0 + 0.01 * layer->delta_tau);
    }
}

/* Sets clear_dust and clear_ice of all layers, for the reach bound. `clear_range` (m) says how far
 * a photon's height can change, and `least` is the smallest factor of absorption over all
 * directions, times ICE_REACH_SAFETY. */
static void find_clearest(const ice_tables *tables, double clear_range, float least,
                          ice_layer_row *layers)
{
    /* One layer is added, because a photon may be at either end of its layer. */
    const double reach = ceil(clear_range / (double)tables->thickness) + 1.0;
    const int32_t range = reach < tables->layer_count ? (int32_t)reach : tables->layer_count;
    for (int32_t i = 0; i < tables->layer_count; ++i) {
        layers[i].clear_dust = layers[i].clear_ice = INFINITY;
        const int32_t first = i > range ? i - range : 0;
        for (int32_t j = first; j <= i + range && j < tables->layer_count; ++j) {
            layers[i].clear_dust = fminf(layers[i].clear_dust, layers[j].dust);
            layers[i].clear_ice = fminf(layers[i].clear_ice, layers[j].ice);
        }
        layers[i].clear_dust *= least;
        layers[i].clear_ice *= least;
    }
}

int ics_tables_build_ice(ics_table_builder *builder, const ice_medium *medium)
{
    ice_tables *tables = builder->tables;
    const size_t count = medium->layer_count;
    ice_layer_row *layers;
    ICS_TRY(ics_tables_array(builder, &tables->layers, count, sizeof *layers, &layers));
    ice_depth_row *cumulative;
    ICS_TRY(
        ics_tables_array(builder, &tables->cumulative, count + 1, sizeof *cumulative, &cumulative));

    tables->layer_count = (int32_t)count;
    tables->bottom = (float)medium->bottom;
    tables->thickness = (float)medium->thickness;
    tables->inverse_thickness = (float)(1.0 / medium->thickness);
    tables->layer_of_zero = (float)(-medium->bottom / medium->thickness);
    tables->alpha = (float)medium->alpha;
    tables->kappa = (float)medium->kappa;
    tables->absorption_a = (float)medium->absorption_a;
    tables->absorption_b = (float)medium->absorption_b;
    tables->absorb_above = (float)medium->absorb_above;
    tables->absorb_below = (float)medium->absorb_below;
    tables->bounded = isfinite(medium->absorb_above) || isfinite(medium->absorb_below);

    const double geometric = 1.0 / (1.0 - medium->mean_cosine);
    tables->clearest_dust = tables->clearest_ice = INFINITY;
    for (size_t i = 0; i < count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        ICS_TRY(check_layer(builder, layer, i));
        layers[i].scattering = (float)(coefficient(layer->effective_scattering) * geometric);
        layers[i].bubbles = (float)(layer->bubbles * geometric);
        layers[i].dust = (float)coefficient(layer->dust_absorption);
        layers[i].ice = (float)(1.0 + 0.01 * layer->delta_tau);
        layers[i].low = i == 0 ? -INFINITY : ice_face(tables, (int32_t)i);
        layers[i].high = i + 1 == count ? INFINITY : ice_face(tables, (int32_t)i + 1);
        tables->clearest_dust = fminf(tables->clearest_dust, layers[i].dust);
        tables->clearest_ice = fminf(tables->clearest_ice, layers[i].ice);
    }
    integrate(medium, cumulative);
    const float least = ICE_REACH_SAFETY * (float)ics_tables_least_absorption(medium);
    tables->clearest_dust *= least;
    tables->clearest_ice *= least;
    find_clearest(tables, ics_tables_clear_range(medium), least, layers);

    tables->scatter = ics_tables_scatter_constants(medium, medium->mean_cosine,
                                                   medium->liu_fraction, medium->rayleigh_fraction);
    return ICESTREAM_OK;
}
