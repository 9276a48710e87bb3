#include "pipeline/models/detector/pmt_response.h"

#include <math.h>

static size_t coefficients_of(const ice_module_type *type, bool has_angles)
{
    return has_angles ? type->acceptance.angular.count : 0;
}

double ics_pmt_response_maximum(const ice_module_type *type, bool has_angles)
{
    double largest = type->acceptance.count > 0 ? 0 : 1;
    for (size_t i = 0; i < type->acceptance.count; ++i) {
        largest = fmax(largest, type->acceptance.ratios[i]);
    }
    return coefficients_of(type, has_angles) > 0 ? largest * type->acceptance.angular.maximum
                                                 : largest;
}

size_t ics_pmt_response_bytes(const ice_detector *detector, bool has_angles)
{
    size_t numbers = 0;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        numbers += coefficients_of(type, has_angles) + 2 * type->acceptance.count;
    }
    return numbers == 0 ? 0
                        : detector->type_count * sizeof(ice_pmt_response) + numbers * sizeof(float);
}

/* Appends numbers in single precision and returns the index of the first one. */
static uint32_t put(const float *begin, float **next, const double *numbers, size_t count)
{
    const uint32_t first = (uint32_t)(*next - begin);
    for (size_t i = 0; i < count; ++i) {
        *(*next)++ = (float)numbers[i];
    }
    return first;
}

void ics_pmt_response_fill(const ice_detector *detector, bool has_angles, void *memory,
                           ice_pmt_tables *out)
{
    ice_pmt_response *responses = memory;
    float *numbers = (float *)(responses + detector->type_count), *next = numbers;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_pmt_acceptance *acceptance = &detector->types[i].acceptance;
        const size_t coefficients = coefficients_of(&detector->types[i], has_angles);
        ice_pmt_response *response = &responses[i];
        response->coefficient_count = (uint32_t)coefficients;
        response->point_count = (uint32_t)acceptance->count;
        response->first_coefficient =
            put(numbers, &next, acceptance->angular.coefficients, coefficients);
        response->first_point = put(numbers, &next, acceptance->wavelengths, acceptance->count);
        put(numbers, &next, acceptance->ratios, acceptance->count);
    }
    out->responses = responses;
    out->numbers = numbers;
}
