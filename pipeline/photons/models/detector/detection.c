#include "pipeline/photons/models/detector/detection.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/pmt_detection.h"
#include "pipeline/photons/models/detector/pmt_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

static ice_sensor sensor_of(const ice_detector *detector, const ice_module *module)
{
    const double *back = module->back;
    const bool upright = back[0] == 0 && back[1] == 0 && back[2] == 0;
    /* Sensors without a cable do not depend on how thick a cable would be. */
    const double reach = module->has_cable ? detector->radius + detector->cable_radius : 0;
    return (ice_sensor){.back_x = (float)back[0],
                        .back_y = (float)back[1],
                        .back_z = upright ? 1.0f : (float)back[2],
                        .efficiency = (float)module->efficiency,
                        .cable_x = (float)(reach * cos(module->cable_azimuth)),
                        .cable_y = (float)(reach * sin(module->cable_azimuth)),
                        .acceptance = module->acceptance,
                        .flags = (module->is_off ? ICE_SENSOR_OFF : 0u) |
                                 (module->has_cable ? ICE_SENSOR_CABLE : 0u)};
}

/* Appends numbers in single precision and returns where they begin. */
static const float *put(float **next, const double *numbers, size_t count, double scale)
{
    const float *first = *next;
    for (size_t i = 0; i < count; ++i) {
        *(*next)++ = (float)(numbers[i] * scale);
    }
    return first;
}

static void fill(ice_detection *tables, const ice_detector *detector, const ice_light *light,
                 ice_sensor *sensors, float *numbers)
{
    const ice_angular *angular = &detector->angular;
    bool has_cables = false;
    for (size_t i = 0; i < detector->module_count; ++i) {
        has_cables = has_cables || detector->modules[i].has_cable;
        sensors[i] = sensor_of(detector, &detector->modules[i]);
    }
    *tables = (ice_detection){.sensors = sensors,
                              .module_count = (uint32_t)detector->module_count,
                              .point_count = (uint32_t)light->bias_count,
                              .flat = (float)light->flat_acceptance,
                              .coefficient_count = (uint32_t)angular->count,
                              .has_edge = angular->has_edge,
                              .edge = (float)(angular->edge * detector->radius),
                              .cable_radius = has_cables ? (float)detector->cable_radius : 0,
                              .cable_half = has_cables ? (float)(detector->cable_length / 2) : 0};
    tables->wavelengths = put(&numbers, light->bias_wavelength, light->bias_count, 1);
    tables->bias = put(&numbers, light->bias, light->bias_count, 1);
    tables->coefficients =
        put(&numbers, angular->coefficients, angular->count, 1 / angular->maximum);
    tables->curves = numbers;
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        put(&numbers, light->acceptances[k], light->bias_count, 1);
    }
}

int ics_detection_create(const ice_detector *detector, const ice_light *light, const char *variant,
                         ics_hit_content content, ics_detection **out, icestream_error *error)
{
    const size_t numbers = (2 + ICE_ACCEPTANCES) * light->bias_count + detector->angular.count;
    const size_t sensors = detector->module_count * sizeof(ice_sensor);
    const bool has_pmts = ics_pmt_detection_is(variant);
    const size_t fixed = sensors + numbers * sizeof(float);
    const size_t bytes = fixed + (has_pmts ? ics_pmt_tables_bytes(detector, variant) : 0);
    ICS_FREES ics_detection *detection = calloc(1, sizeof *detection);
    char *memory = malloc(bytes);
    if (detection == NULL || memory == NULL) {
        free(memory);
        return ics_error_no_memory(error, "detector");
    }
    *detection = (ics_detection){.content = content, .memory = memory, .bytes = bytes};
    fill(&detection->tables, detector, light, (ice_sensor *)memory, (float *)(memory + sensors));
    for (int i = 0; i < ICE_DETECT_VARIANTS; ++i) {
        if (strcmp(ice_detect_variants[i].name, variant) == 0) {
            detection->variant = &ice_detect_variants[i];
        }
    }
    if (has_pmts) {
        ics_pmt_tables_fill(detector, variant, memory + fixed, &detection->pmts);
        detection->tables.pmts = &detection->pmts;
    }
    *out = detection;
    detection = NULL;
    return ICESTREAM_OK;
}

void ics_detection_destroy(ics_detection *detection)
{
    if (detection == NULL) {
        return;
    }
    free(detection->memory);
    free(detection);
}
