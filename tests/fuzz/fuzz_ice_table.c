/* Fuzzes tables of ice and light. The first byte chooses the reader: '0' icemodel.dat, '1' layers
 * in CSV, '2' a cumulative acceptance like wv.dat, '3' a spectrum. An accepted table must keep the
 * promises of its reader; otherwise the fuzzer aborts. Good inputs are in corpus/ice_table. */
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/light/curve.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>
#include <stdlib.h>

static void check_layers(ics_layer_list *layers)
{
    const ice_medium scalars = {.alpha = 0.9,
                                .kappa = 1.08,
                                .absorption_a = 6954.1,
                                .absorption_b = 6617.75,
                                .mean_cosine = 0.9};
    icestream_error error = {0};
    ice_medium *medium = NULL;
    int status =
        ics_ice_from_layers("fuzz", layers, &scalars, ICS_SUBTRACTION_NONE, &medium, &error);
    require((status == ICESTREAM_OK) == (medium != NULL));
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    if (medium != NULL) {
        require(medium->layer_count == layers->count && medium->thickness > 0);
        require(isfinite(medium->bottom));
        for (size_t i = 0; i < medium->layer_count; ++i) {
            for (int k = 0; k <= 9; ++k) {
                double wavelength = 250 + 50 * k;
                require(ics_ice_scattering(medium, i, wavelength) > 0);
                require(ics_ice_absorption(medium, i, wavelength) > 0);
            }
        }
    }
    ics_ice_destroy(medium);
    ics_ice_layer_list_free(layers);
}

static void check_curve(ics_curve *curve)
{
    require(ics_curve_integral(curve) > 0);
    for (size_t i = 0; i < curve->count; ++i) {
        require(curve->y[i] >= 0 && isfinite(curve->y[i]));
        require(i == 0 || curve->x[i] > curve->x[i - 1]);
        require(ics_curve_at(curve, curve->x[i]) == curve->y[i]);
    }
    ics_curve_free(curve);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    ics_text text = ics_text_borrow("fuzz", (const char *)data + 1, size - 1);
    icestream_error error = {0};
    const ics_ppc_columns columns = {.dust_scale = 1};
    ics_layer_list layers;
    ics_curve curve;
    int status = ICESTREAM_OK;
    switch (data[0]) {
    case '0':
        status = ics_ice_ppc_layers_read(&text, &columns, &layers, &error);
        if (status == ICESTREAM_OK) {
            check_layers(&layers);
        }
        break;
    case '1':
        status = ics_ice_csv_layers_read(&text, columns.anisotropy, &layers, &error);
        if (status == ICESTREAM_OK) {
            check_layers(&layers);
        }
        break;
    case '2':
        status = ics_curve_read_cumulative(&text, &curve, &error);
        if (status == ICESTREAM_OK) {
            check_curve(&curve);
        }
        break;
    case '3':
        status = ics_curve_read_density(&text, &curve, &error);
        if (status == ICESTREAM_OK) {
            check_curve(&curve);
        }
        break;
    default:
        break;
    }
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    return 0;
}
