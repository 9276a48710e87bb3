/* Fuzzes water. The first byte chooses the reader: '0' the YAML file, '1' a table by wavelength in
 * CSV. What is accepted must keep the promises of the readers; otherwise the fuzzer aborts. Good
 * inputs are in corpus/water. */
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/light/wavelength_table.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool good(double value, double low, double high)
{
    return value >= low && value <= high;
}

static void check_medium(const ice_medium *medium)
{
    require(medium->spectral != NULL && medium->layer_count >= 1);
    require(medium->thickness > 0 && isfinite(medium->bottom));
    require(good(medium->rayleigh_fraction, 0, 1) && fabs(medium->mean_cosine) < 1);
    for (int k = 0; k <= 450; ++k) {
        const double wavelength = ICE_WAVELENGTH_MIN + k;
        require(good(medium->spectral[k].scattering, 1e-6, 1e9));
        require(good(ics_ice_phase_index(medium, wavelength), 1.0005, 3.01));
        require(good(ics_ice_group_index(medium, wavelength), 1.0005, 3.01));
        for (size_t i = 0; i < medium->layer_count && i < 4; ++i) {
            require(ics_ice_scattering(medium, i, wavelength) > 0);
            require(ics_ice_absorption(medium, i, wavelength) > 0);
        }
    }
}

static void read_yaml(const char *text, size_t size)
{
    icestream_error error = {0};
    ics_warnings warnings = {0};
    ics_yaml *document = NULL;
    ice_medium *medium = NULL;
    /* Inputs that name files are left out, because the result would depend on other files. */
    if (memmem(text, size, "file", 4) != NULL) {
        return;
    }
    if (ics_yaml_read_text("water.yaml", text, size, &document, &error) != ICESTREAM_OK) {
        return;
    }
    int status = ics_ice_from_spectral("water.yaml", ics_yaml_root(document), "hg-sl", &medium,
                                       &warnings, &error);
    require((status == ICESTREAM_OK) == (medium != NULL));
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    if (medium != NULL) {
        check_medium(medium);
    }
    ics_ice_destroy(medium);
    ics_warnings_free(&warnings);
    ics_yaml_destroy(document);
}

static void read_csv(const char *bytes, size_t size)
{
    static const ics_wavelength_column columns[] = {{"a", 0.5, 2}, {"b", 1, 3}};
    icestream_error error = {0};
    ics_wavelength_table table;
    ics_text text = ics_text_borrow("water.csv", bytes, size);
    int status = ics_wavelength_table_read_text(&text, columns, 2, &table, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    for (int k = 0; k < 2; ++k) {
        for (size_t i = 0; i < table.curves[k].count; ++i) {
            const ics_curve *curve = &table.curves[k];
            require(status == ICESTREAM_OK && good(curve->y[i], columns[k].low, columns[k].high));
            require(good(curve->x[i], 100, 2000) && (i == 0 || curve->x[i] > curve->x[i - 1]));
            require(curve->count < 3 || isfinite(ics_wavelength_table_slope(curve, i)));
        }
    }
    ics_wavelength_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == '0') {
        read_yaml((const char *)data + 1, size - 1);
    } else if (size > 0) {
        read_csv((const char *)data + 1, size - 1);
    }
    return 0;
}
