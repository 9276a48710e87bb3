#include "pipeline/models/detector/pmt_response.h"

#include <math.h>

static size_t coefficients_of(const ice_pmt_acceptance *acceptance, bool has_angles)
{
    return has_angles ? acceptance->angular.count : 0;
}

double ics_pmt_response_maximum(const ice_module_type *type, size_t k, bool has_angles)
{
    const ice_pmt_acceptance *acceptance = ice_pmt_acceptance_of(type, k);
    double largest = acceptance->count > 0 ? 0 : 1;
    for (size_t i = 0; i < acceptance->count; ++i) {
        largest = fmax(largest, acceptance->ratios[i]);
    }
    return coefficients_of(acceptance, has_angles) > 0 ? largest * acceptance->angular.maximum
                                                       : largest;
}

static size_t numbers_of(const ice_pmt_acceptance *acceptance, bool has_angles)
{
    return coefficients_of(acceptance, has_angles) + 2 * acceptance->count;
}

size_t ics_pmt_response_bytes(const ice_detector *detector, bool has_angles)
{
    size_t numbers = 0, responses = detector->type_count;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        numbers += numbers_of(&type->acceptance, has_angles);
        for (size_t k = 0; k < type->own_count; ++k) {
            numbers += numbers_of(&type->own_acceptances[k], has_angles);
        }
        responses += type->own_count;
    }
    return numbers == 0 ? 0 : responses * sizeof(ice_pmt_response) + numbers * sizeof(float);
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

static ice_pmt_response put_response(const ice_pmt_acceptance *acceptance, bool has_angles,
                                     const float *begin, float **next)
{
    const size_t coefficients = coefficients_of(acceptance, has_angles);
    ice_pmt_response response = {.coefficient_count = (uint32_t)coefficients,
                                 .point_count = (uint32_t)acceptance->count};
    response.first_coefficient = put(begin, next, acceptance->angular.coefficients, coefficients);
    response.first_point = put(begin, next, acceptance->wavelengths, acceptance->count);
    put(begin, next, acceptance->ratios, acceptance->count);
    return response;
}

void ics_pmt_response_fill(const ice_detector *detector, bool has_angles, void *memory,
                           ice_pmt_tables *out)
{
    size_t count = detector->type_count;
    for (size_t i = 0; i < detector->type_count; ++i) {
        count += detector->types[i].own_count;
    }
    ice_pmt_response *responses = memory, *own = responses + detector->type_count;
    float *numbers = (float *)(responses + count), *next = numbers;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        responses[i] = put_response(&type->acceptance, has_angles, numbers, &next);
        for (size_t k = 0; k < type->own_count; ++k) {
            *own++ = put_response(&type->own_acceptances[k], has_angles, numbers, &next);
        }
    }
    out->responses = responses;
    out->numbers = numbers;
}
