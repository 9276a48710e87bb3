#include "pipeline/photons/models/detector/pmt_tables.h"

#include "pipeline/photons/models/types/transit_times.h"

#include <math.h>
#include <string.h>

/* The mean of the standard acceptance 0.34 + 0.51 x - 0.17 x^3, which is nowhere below 0, over all
 * directions (physics.md 8.5). */
#define STANDARD_MEAN 0.34
/* The same mean in ppc (omav in ini.cxx), which scales the types of om.conf. */
#define STANDARD_MEAN_OF_PPC 0.335822

double ics_pmt_standard_area(const ice_module_type *type)
{
    return M_PI * ICE_MODULE_RADIUS * ICE_MODULE_RADIUS *
           (type->is_of_ppc ? STANDARD_MEAN_OF_PPC : STANDARD_MEAN);
}

double ics_pmt_effective_area(const ice_module_type *type, const ice_pmt *pmt)
{
    if (pmt->radius > 0) {
        return M_PI * pmt->radius * pmt->radius * pmt->efficiency;
    }
    return pmt->efficiency * ics_pmt_standard_area(type) /
           (ice_pmt_share_mean(type->beta) * (double)type->pmt_count);
}

/* ---- what PMTs accept by angle and by wavelength -----------------------------------------------
 */

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

static size_t response_bytes(const ice_detector *detector, bool has_angles)
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
static uint32_t put_numbers(const float *begin, float **next, const double *numbers, size_t count)
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
    response.first_coefficient =
        put_numbers(begin, next, acceptance->angular.coefficients, coefficients);
    response.first_point = put_numbers(begin, next, acceptance->wavelengths, acceptance->count);
    put_numbers(begin, next, acceptance->ratios, acceptance->count);
    return response;
}

static void fill_responses(const ice_detector *detector, bool has_angles, void *memory,
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

/* ---- transit times -----------------------------------------------------------------------------
 */

/* Parts without a probability are left out. */
static size_t parts_of(const ice_transit *transit)
{
    size_t count = 0;
    for (size_t i = 0; i < transit->count; ++i) {
        count += ics_transit_area(&transit->ranges[i]) > 0;
    }
    return count;
}

/* The numbers of distributions and of their parts. */
typedef struct sizes {
    size_t transits, parts;
} sizes;

static sizes sizes_of(const ice_detector *detector)
{
    sizes sum = {.transits = detector->type_count};
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        sum.parts += parts_of(&type->transit);
        for (size_t k = 0; k < type->own_transit_count; ++k) {
            sum.parts += parts_of(&type->own_transits[k]);
        }
        sum.transits += type->own_transit_count;
    }
    return sum;
}

size_t ics_pmt_transit_bytes(const ice_detector *detector)
{
    const sizes all = sizes_of(detector);
    return all.parts == 0
               ? 0
               : all.transits * sizeof(ice_transit_parts) + all.parts * sizeof(ice_transit_part);
}

/* Appends the parts of a distribution. */
static ice_transit_parts put_transit(const ice_transit *transit, const ice_transit_part *begin,
                                     ice_transit_part **next)
{
    const ice_transit_parts parts = {.first = (uint32_t)(*next - begin),
                                     .count = (uint32_t)parts_of(transit)};
    double sum = 0, before = 0;
    for (size_t i = 0; i < transit->count; ++i) {
        sum += ics_transit_area(&transit->ranges[i]);
    }
    for (size_t i = 0; i < transit->count; ++i) {
        const ice_transit_range *range = &transit->ranges[i];
        const double area = ics_transit_area(range), largest = fmax(range->low, range->high);
        if (area > 0) {
            *(*next)++ = (ice_transit_part){
                .begin = (uint32_t)fmin(round(before / sum * 0x1p32), 0x1p32 - 1),
                .from = (float)range->from,
                .to = (float)range->to,
                .low = (float)(range->low / largest),
                .high = (float)(range->high / largest)};
        }
        before += area;
    }
    return parts;
}

void ics_pmt_transit_fill(const ice_detector *detector, void *memory, ice_pmt_tables *out)
{
    ice_transit_parts *transits = memory, *own = transits + detector->type_count;
    ice_transit_part *parts = (ice_transit_part *)(transits + sizes_of(detector).transits);
    ice_transit_part *next = parts;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        transits[i] = put_transit(&type->transit, parts, &next);
        for (size_t k = 0; k < type->own_transit_count; ++k) {
            *own++ = put_transit(&type->own_transits[k], parts, &next);
        }
    }
    out->transits = transits;
    out->transit_parts = parts;
}

/* ---- effective areas ------------------------------------------------------------------------ */

/* A table whose first or last ring is not a pole gets the pole as a ring of one direction. */
static size_t poles_to_add(const ice_pmt_areas *table)
{
    return table->ring_count == 0
               ? 0
               : (table->zeniths[0] > 0) + (table->zeniths[table->ring_count - 1] < M_PI);
}

/* Returns the effective area of PMT k in one direction, times its efficiency, over the area that
 * the module turns to the light. The area of a cylinder without ends vanishes along its axis, where
 * the reader accepts only effective areas of 0. */
static double share_of(const ice_module_type *type, size_t direction, size_t k)
{
    const double area =
        type->table.areas[direction * type->pmt_count + k] * type->pmts[k].efficiency;
    return area > 0 ? area / type->table.turned[direction] : 0;
}

double ics_pmt_area_maximum(const ice_module_type *type, const double *factors)
{
    const ice_pmt_areas *table = &type->table;
    double best = 0;
    for (size_t ring = 0; ring < table->ring_count; ++ring) {
        for (size_t i = table->firsts[ring]; i < table->firsts[ring + 1]; ++i) {
            double sum = 0;
            for (size_t k = 0; k < type->pmt_count; ++k) {
                sum += share_of(type, i, k) * factors[k];
            }
            best = fmax(best, sum);
        }
    }
    return best;
}

/* Numbers of all types. */
typedef struct area_sizes {
    size_t rings, directions, sums;
} area_sizes;

static void add_sizes(area_sizes *sum, const ice_module_type *type)
{
    const size_t poles = poles_to_add(&type->table);
    const size_t directions = type->table.direction_count + poles;
    sum->rings += type->table.ring_count + poles;
    sum->directions += directions;
    sum->sums += directions * type->pmt_count;
}

static area_sizes area_sizes_of(const ice_detector *detector)
{
    area_sizes sum = {0};
    for (size_t i = 0; i < detector->type_count; ++i) {
        add_sizes(&sum, &detector->types[i]);
    }
    return sum;
}

size_t ics_pmt_area_tables_bytes(const ice_detector *detector)
{
    const area_sizes all = area_sizes_of(detector);
    return detector->type_count * sizeof(ice_pmt_grid) + all.rings * sizeof(ice_pmt_ring) +
           (all.directions + all.sums) * sizeof(float);
}

/* Where the next ring, direction and sum of a type go. */
typedef struct writer {
    ice_pmt_ring *ring;
    float *azimuth, *sum;
    uint32_t directions; /* of the type until now */
} writer;

/* Adds the sums of one direction: the mean of `count` directions of a ring from `first` on. */
static void put_direction(writer *to, const ice_module_type *type, size_t first, size_t count,
                          double maximum)
{
    double sum = 0;
    for (size_t k = 0; k < type->pmt_count; ++k) {
        for (size_t i = 0; i < count; ++i) {
            sum += share_of(type, first + i, k) / (double)count;
        }
        *to->sum++ = (float)(sum / maximum);
    }
    *to->azimuth++ = count == 1 ? (float)type->table.azimuths[first] : 0;
    ++to->directions;
}

/* Adds a pole, where the share is the mean of the nearest ring. */
static void put_pole(writer *to, const ice_module_type *type, size_t ring, double zenith,
                     double maximum)
{
    const size_t first = type->table.firsts[ring], count = type->table.firsts[ring + 1] - first;
    *to->ring++ = (ice_pmt_ring){.zenith = (float)zenith, .first = to->directions, .count = 1};
    put_direction(to, type, first, count, maximum);
}

static void put_type(writer *to, const ice_module_type *type, double maximum)
{
    const ice_pmt_areas *table = &type->table;
    to->directions = 0;
    if (table->ring_count > 0 && table->zeniths[0] > 0) {
        put_pole(to, type, 0, 0, maximum);
    }
    for (size_t ring = 0; ring < table->ring_count; ++ring) {
        const size_t first = table->firsts[ring], count = table->firsts[ring + 1] - first;
        *to->ring++ = (ice_pmt_ring){.zenith = (float)table->zeniths[ring],
                                     .first = to->directions,
                                     .count = (uint32_t)count};
        for (size_t i = 0; i < count; ++i) {
            put_direction(to, type, first + i, 1, maximum);
        }
    }
    if (table->ring_count > 0 && table->zeniths[table->ring_count - 1] < M_PI) {
        put_pole(to, type, table->ring_count - 1, M_PI, maximum);
    }
}

void ics_pmt_area_tables_fill(const ice_detector *detector, double maximum, void *memory,
                              ice_pmt_tables *out)
{
    const area_sizes all = area_sizes_of(detector);
    ice_pmt_grid *grids = memory;
    ice_pmt_ring *rings = (ice_pmt_ring *)(grids + detector->type_count);
    float *azimuths = (float *)(rings + all.rings), *sums = azimuths + all.directions;
    writer to = {.ring = rings, .azimuth = azimuths, .sum = sums};
    for (size_t i = 0; i < detector->type_count; ++i) {
        grids[i] = (ice_pmt_grid){.first_ring = (uint32_t)(to.ring - rings),
                                  .first_azimuth = (uint32_t)(to.azimuth - azimuths),
                                  .first_sum = (uint32_t)(to.sum - sums)};
        put_type(&to, &detector->types[i], maximum);
        grids[i].ring_count = (uint32_t)(to.ring - rings) - grids[i].first_ring;
    }
    out->grids = grids;
    out->rings = rings;
    out->azimuths = azimuths;
    out->sums = sums;
}

/* ---- all tables ------------------------------------------------------------------------------ */

static size_t window_count(const ice_detector *detector)
{
    size_t count = 0;
    for (size_t i = 0; i < detector->type_count; ++i) {
        count += detector->types[i].pmt_count;
    }
    return count;
}

size_t ics_pmt_tables_bytes(const ice_detector *detector, const char *variant)
{
    return detector->module_count * sizeof(ice_pmt_module) +
           detector->type_count * sizeof(ice_pmt_type) +
           window_count(detector) * sizeof(ice_pmt_window) +
           response_bytes(detector, strcmp(variant, ICS_PMT_PLACE) == 0) +
           ics_pmt_transit_bytes(detector) +
           (strcmp(variant, ICS_PMT_TABLE) == 0 ? ics_pmt_area_tables_bytes(detector) : 0);
}

/* A PMT without its weight, and without the numbers of its response and its transit times. */
static ice_pmt_window window_of(const ice_pmt *pmt)
{
    return (ice_pmt_window){.axis_x = (float)pmt->axis[0],
                            .axis_y = (float)pmt->axis[1],
                            .axis_z = (float)pmt->axis[2],
                            .x = (float)pmt->centre[0],
                            .y = (float)pmt->centre[1],
                            .z = (float)pmt->centre[2],
                            .radius = (float)pmt->radius,
                            .delay = (float)pmt->delay,
                            .spread = (float)pmt->spread};
}

static void fill_modules(const ice_detector *detector, ice_pmt_module *modules)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        ice_orientation q = {.w = 1};
        if (module->orientation > 0) {
            q = detector->orientations[module->orientation];
        }
        modules[i] = (ice_pmt_module){.w = (float)q.w,
                                      .x = (float)q.x,
                                      .y = (float)q.y,
                                      .z = (float)q.z,
                                      .type = module->type};
    }
}

/* Returns what the probabilities of a PMT are multiplied by, before the division by their largest
 * value (ice_pmt_window.weight). */
static double weight_of(const char *variant, const ice_module_type *type, const ice_pmt *pmt)
{
    if (strcmp(variant, ICS_PMT_PLANE) == 0) {
        return ics_pmt_effective_area(type, pmt);
    }
    return strcmp(variant, ICS_PMT_PLACE) == 0 ? pmt->efficiency : 0;
}

/* Fills the windows of all types. The responses and the transit times of single PMTs are numbered
 * behind those of the types. */
static void fill_windows(const ice_detector *detector, const char *variant, ice_pmt_window *next)
{
    size_t responses = detector->type_count, transits = detector->type_count;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        for (size_t k = 0; k < type->pmt_count; ++k, ++next) {
            const ice_pmt *pmt = &type->pmts[k];
            *next = window_of(pmt);
            next->weight = (float)(weight_of(variant, type, pmt) / detector->angular.maximum);
            next->response = (uint32_t)(pmt->acceptance == 0 ? i : responses + pmt->acceptance - 1);
            next->transit = (uint32_t)(pmt->transit == 0 ? i : transits + pmt->transit - 1);
        }
        responses += type->own_count;
        transits += type->own_transit_count;
    }
}

static void fill_types(const ice_detector *detector, ice_pmt_type *types)
{
    uint32_t next = 0;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        types[i] = (ice_pmt_type){.first = next,
                                  .count = (uint32_t)type->pmt_count,
                                  .shape = (uint32_t)type->shape,
                                  .open_ends = type->open_ends,
                                  .radius = (float)type->radius,
                                  .half_height = (float)type->half_height,
                                  .beta = (float)type->beta,
                                  .own_responses = type->own_count > 0};
        next += (uint32_t)type->pmt_count;
    }
}

void ics_pmt_tables_fill(const ice_detector *detector, const char *variant, void *memory,
                         ice_pmt_tables *out)
{
    const bool has_angles = strcmp(variant, ICS_PMT_PLACE) == 0;
    const size_t responses = response_bytes(detector, has_angles),
                 transits = ics_pmt_transit_bytes(detector);
    ice_pmt_module *modules = memory;
    ice_pmt_type *types = (ice_pmt_type *)(modules + detector->module_count);
    ice_pmt_window *windows = (ice_pmt_window *)(types + detector->type_count);
    char *rest = (char *)(windows + window_count(detector));
    fill_modules(detector, modules);
    fill_types(detector, types);
    fill_windows(detector, variant, windows);
    *out = (ice_pmt_tables){.modules = modules, .types = types, .windows = windows};
    if (responses > 0) {
        fill_responses(detector, has_angles, rest, out);
    }
    if (transits > 0) {
        ics_pmt_transit_fill(detector, rest + responses, out);
    }
    if (strcmp(variant, ICS_PMT_TABLE) == 0) {
        ics_pmt_area_tables_fill(detector, detector->angular.maximum, rest + responses + transits,
                                 out);
    }
}
