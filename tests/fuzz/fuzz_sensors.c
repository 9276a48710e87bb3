/* Fuzzes what modules detect. The first byte chooses the reader: '0' to '3' lists of modules in the
 * order of ics_sensor_file, '4' an angular acceptance like as.dat, '5' ratios like wv.rde. What is
 * accepted must keep the promises of physics/model.h; otherwise the fuzzer aborts. Good inputs are
 * in corpus/sensors. */
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/light/curve.h"
#include "tests/fuzz/fuzz_models.h"

static int check_list(ics_sensor_file kind, const ics_text *text, icestream_error *error)
{
    ice_module modules[FUZZ_MODULES];
    char name[] = "fuzz";
    ice_detector detector = {.name = name, .modules = modules, .module_count = FUZZ_MODULES};
    ics_warnings warnings = {0};
    make_modules(modules);
    int status = ics_sensors_file_read(kind, text, &detector, &warnings, error);
    for (int i = 0; i < FUZZ_MODULES; ++i) {
        const ice_module *m = &modules[i];
        const double *back = m->back;
        double length = sqrt(back[0] * back[0] + back[1] * back[1] + back[2] * back[2]);
        require(m->string == 1 + i / 3 && m->module == 1 + i % 3);
        require(m->efficiency > 0 && m->efficiency <= 100 && m->acceptance < ICE_ACCEPTANCES);
        require(fabs(m->cable_azimuth) < 6.2832);
        require(length == 0 || fabs(length - 1) < 1e-12);
        if (status != ICESTREAM_OK) {
            require(m->efficiency == 1 && !m->has_cable && !m->is_off && length == 0);
        }
    }
    ics_warnings_free(&warnings);
    return status;
}

static int check_angular(const ics_text *text, icestream_error *error)
{
    ice_angular angular;
    ics_warnings warnings = {0};
    int status = ics_angular_read(text, &angular, &warnings, error);
    ics_warnings_free(&warnings);
    if (status != ICESTREAM_OK) {
        return status;
    }
    require(angular.maximum > 0 && angular.maximum <= 10);
    require(angular.has_edge == (angular.count == 0));
    double mean = ics_angular_mean(&angular);
    require(mean >= 0 && mean <= angular.maximum * 1.01);
    return status;
}

static int check_ratio(const ics_text *text, icestream_error *error)
{
    ics_curve curve;
    int status = ics_curve_read_ratio(text, &curve, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    for (double wavelength = 200; wavelength <= 750; wavelength += 7.3) {
        double ratio = ics_curve_at_or_end(&curve, wavelength);
        require(ratio > 0 && ratio <= 100);
    }
    ics_curve_free(&curve);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] < '0' || data[0] > '5') {
        return 0;
    }
    ics_text text = ics_text_borrow("fuzz", (const char *)data + 1, size - 1);
    icestream_error error = {0};
    int status = data[0] == '4'   ? check_angular(&text, &error)
                 : data[0] == '5' ? check_ratio(&text, &error)
                                  : check_list((ics_sensor_file)(data[0] - '0'), &text, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    return 0;
}
