#include "pipeline/models/detector/transit_tables.h"

#include "pipeline/models/types/transit_times.h"

#include <math.h>

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

size_t ics_transit_tables_bytes(const ice_detector *detector)
{
    const sizes all = sizes_of(detector);
    return all.parts == 0
               ? 0
               : all.transits * sizeof(ice_transit_parts) + all.parts * sizeof(ice_transit_part);
}

/* Appends the parts of a distribution. */
static ice_transit_parts put(const ice_transit *transit, const ice_transit_part *begin,
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

void ics_transit_tables_fill(const ice_detector *detector, void *memory, ice_pmt_tables *out)
{
    ice_transit_parts *transits = memory, *own = transits + detector->type_count;
    ice_transit_part *parts = (ice_transit_part *)(transits + sizes_of(detector).transits);
    ice_transit_part *next = parts;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        transits[i] = put(&type->transit, parts, &next);
        for (size_t k = 0; k < type->own_transit_count; ++k) {
            *own++ = put(&type->own_transits[k], parts, &next);
        }
    }
    out->transits = transits;
    out->transit_parts = parts;
}
