/* Fuzzes tables of transit times, which are CSV. What is accepted must keep the promises of
 * physics/model.h, and the times drawn from it must be in the table; otherwise the fuzzer aborts.
 * Good inputs are in corpus/transit_times. */
#include "pipeline/photons/models/detector/pmt_tables.h"
#include "pipeline/photons/models/types/transit_times.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

static void check_ranges(const ice_transit *transit)
{
    for (size_t i = 0; i < transit->count; ++i) {
        const ice_transit_range *range = &transit->ranges[i];
        require(range->from < range->to && fabs(range->from) <= 1e6 && fabs(range->to) <= 1e6);
        require(range->low >= 0 && range->high >= 0 && isfinite(range->low + range->high));
        require(i == 0 || transit->ranges[i - 1].to == range->from);
    }
    require(isfinite(ics_transit_times_mean(transit)));
}

static void draw(const ice_transit *transit)
{
    ice_module_type type = {.transit = *transit};
    const ice_detector detector = {.types = &type, .type_count = 1};
    ice_pmt_tables tables = {0};
    void *memory = malloc(ics_pmt_transit_bytes(&detector));
    require(ics_pmt_transit_bytes(&detector) > 0);
    if (memory == NULL) {
        return;
    }
    ics_pmt_transit_fill(&detector, memory, &tables);
    const uint32_t count = tables.transits[0].count;
    float before = (float)transit->ranges[0].from;
    require(count > 0);
    for (uint32_t i = 0; i <= 64; ++i) {
        const uint32_t word = i < 64 ? i << 26 : UINT32_MAX;
        const float t = ice_transit_drawn(tables.transit_parts, count, word, i < 64 ? 0 : word);
        require(t >= before && t <= (float)transit->ranges[transit->count - 1].to);
        before = t;
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    icestream_error error = {0};
    ice_transit transit;
    const ics_text text = {.name = "fuzz", .data = (char *)data, .size = size};
    const int status = ics_transit_times_read_csv(&text, &transit, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    require((status == ICESTREAM_OK) == (transit.count > 0));
    if (status == ICESTREAM_OK) {
        check_ranges(&transit);
        draw(&transit);
    }
    ics_transit_times_free(&transit);
    return 0;
}
