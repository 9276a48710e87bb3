/* Tables of ice and light from memory. The first byte chooses the reader: '0' icemodel.dat,
 * '1' layers in CSV, '2' a cumulative acceptance like wv.dat, '3' a spectrum. What is accepted must
 * keep the promises of the readers; anything else aborts. */
#include "pipeline/models/curve.h"
#include "pipeline/models/ice_layers.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool kept)
{
    if (!kept)
        abort();
}

static void check_layers(is_layer_list *layers)
{
    const ice_medium scalars = {.alpha = 0.9,
                                .kappa = 1.08,
                                .absorption_a = 6954.1,
                                .absorption_b = 6617.75,
                                .mean_cosine = 0.9};
    is_error error = {0};
    ice_medium *medium = NULL;
    int status =
        is_medium_from_layers("fuzz", layers, &scalars, IS_SUBTRACTION_NONE, &medium, &error);
    require((status == IS_OK) == (medium != NULL));
    require((status == IS_OK) == (error.status == IS_OK));
    if (medium) {
        require(medium->layer_count == layers->count && medium->thickness > 0);
        require(isfinite(medium->bottom));
        for (size_t i = 0; i < medium->layer_count; ++i)
            for (int k = 0; k <= 9; ++k) {
                double wavelength = 250 + 50 * k;
                require(is_medium_scattering(medium, i, wavelength) > 0);
                require(is_medium_absorption(medium, i, wavelength) > 0);
            }
    }
    is_medium_destroy(medium);
    is_layer_list_free(layers);
}

static void check_curve(is_curve *curve)
{
    require(is_curve_integral(curve) > 0);
    for (size_t i = 0; i < curve->count; ++i) {
        require(curve->y[i] >= 0 && isfinite(curve->y[i]));
        require(i == 0 || curve->x[i] > curve->x[i - 1]);
        require(is_curve_at(curve, curve->x[i]) == curve->y[i]);
    }
    is_curve_free(curve);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    is_text text = is_text_borrow("fuzz", (const char *)data + 1, size - 1);
    is_error error = {0};
    const is_ppc_columns columns = {.dust_scale = 1};
    is_layer_list layers;
    is_curve curve;
    int status = IS_OK;
    switch (data[0]) {
    case '0':
        status = is_ppc_layers_read(&text, &columns, &layers, &error);
        if (status == IS_OK)
            check_layers(&layers);
        break;
    case '1':
        status = is_csv_layers_read(&text, columns.anisotropy, &layers, &error);
        if (status == IS_OK)
            check_layers(&layers);
        break;
    case '2':
        status = is_curve_read_cumulative(&text, &curve, &error);
        if (status == IS_OK)
            check_curve(&curve);
        break;
    case '3':
        status = is_curve_read_density(&text, &curve, &error);
        if (status == IS_OK)
            check_curve(&curve);
        break;
    default:
        break;
    }
    require((status == IS_OK) == (error.status == IS_OK));
    return 0;
}
