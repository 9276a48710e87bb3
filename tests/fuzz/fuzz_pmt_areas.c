/* Fuzzes tables of effective areas. Input: a digit or a letter from 'a', the number of PMTs less 1;
 * a letter, the body: 's'phere, sp'h'eroid, 'c'apsule, c'y'linder, or an 'o'pen cylinder; then the
 * file, which is CSV after a digit and .npy after a letter. What is
 * accepted must keep the promises of physics/model.h, and detection by it must give probabilities
 * from 0 to 1 and PMTs that exist; otherwise the fuzzer aborts. Good inputs are in
 * corpus/pmt_areas. */
#include "physics/detect/variants.h"
#include "pipeline/photons/models/detector/pmt_tables.h"
#include "pipeline/photons/models/types/pmt_areas.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

enum { PMTS_MAX = 10 };

static void check_table(const ice_module_type *type)
{
    const ice_pmt_areas *table = &type->table;
    require(table->ring_count > 0 && table->direction_count >= table->ring_count);
    require(table->firsts[0] == 0 && table->firsts[table->ring_count] == table->direction_count);
    for (size_t ring = 0; ring < table->ring_count; ++ring) {
        const double zenith = table->zeniths[ring];
        require(zenith >= 0 && zenith <= M_PI && table->firsts[ring] < table->firsts[ring + 1]);
        require(ring == 0 || table->zeniths[ring - 1] < zenith);
        for (size_t i = table->firsts[ring]; i < table->firsts[ring + 1]; ++i) {
            require(table->azimuths[i] >= 0 && table->azimuths[i] < 2 * M_PI);
            require(i == table->firsts[ring] || table->azimuths[i - 1] < table->azimuths[i]);
        }
    }
    for (size_t i = 0; i < table->direction_count * type->pmt_count; ++i) {
        require(table->areas[i] >= 0 && table->areas[i] <= 100);
        require(table->areas[i] <= type->pmts[i % type->pmt_count].largest_area);
    }
}

/* Asks from many directions, among them all directions of the table. */
static void check_detection(const ice_detection *detection, const ice_module_type *type)
{
    for (size_t i = 0; i < type->table.direction_count + 200; ++i) {
        const bool is_listed = i < type->table.direction_count;
        size_t ring = 0;
        while (is_listed && type->table.firsts[ring + 1] <= i) {
            ++ring;
        }
        const double zenith = is_listed ? type->table.zeniths[ring] : acos(cos(1.7 * (double)i)),
                     azimuth = is_listed ? type->table.azimuths[i] : 2.4 * (double)i;
        const ice_arrival light = {.wavelength = 400,
                                   .dx = (float)-(sin(zenith) * cos(azimuth)),
                                   .dy = (float)-(sin(zenith) * sin(azimuth)),
                                   .dz = (float)-cos(zenith)};
        const float p = ice_detect_pmt_table(detection, &light);
        require(p >= 0 && p <= 1.0001f);
        for (int k = 0; p > 0 && k <= 8; ++k) {
            const float share = k < 8 ? (float)k / 8 : 0.99999994f;
            const int32_t pmt = ice_pmt_of_pmt_table(detection, &light, share);
            require(pmt >= 0 && (size_t)pmt < type->pmt_count);
        }
    }
}

static void detect_by(ice_module_type *type)
{
    ice_module module = {.efficiency = 1};
    ice_detector detector = {.modules = &module, .module_count = 1, .types = type, .type_count = 1};
    const ice_sensor sensor = {.efficiency = 1};
    const ice_pmt_module hung = {.w = 1};
    const ice_pmt_type body = {.count = (uint32_t)type->pmt_count};
    ice_pmt_tables tables = {.modules = &hung, .types = &body};
    const ice_detection detection = {
        .sensors = &sensor, .module_count = 1, .flat = 1, .pmts = &tables};
    static const double factors[PMTS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double maximum = ics_pmt_area_maximum(type, factors);
    void *memory = malloc(ics_pmt_area_tables_bytes(&detector));
    require(maximum > 0 && maximum <= 1.001 * ICS_PMT_AREAS_MOST);
    if (memory != NULL) {
        ics_pmt_area_tables_fill(&detector, maximum, memory, &tables);
        check_detection(&detection, type);
    }
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char bodies[] = "shcyo";
    static const ice_shape shapes[] = {ICE_SHAPE_SPHERE, ICE_SHAPE_SPHEROID, ICE_SHAPE_CAPSULE,
                                       ICE_SHAPE_CYLINDER, ICE_SHAPE_CYLINDER};
    ice_pmt pmts[PMTS_MAX] = {0};
    icestream_error error = {0};
    const bool is_array = size > 0 && data[0] >= 'a';
    const int less = size > 0 ? data[0] - (is_array ? 'a' : '0') : -1;
    if (size < 2 || less < 0 || less >= PMTS_MAX || data[1] == 0 ||
        strchr(bodies, data[1]) == NULL) {
        return 0;
    }
    const size_t body = (size_t)(strchr(bodies, data[1]) - bodies);
    ice_module_type type = {.shape = shapes[body],
                            .open_ends = body == 4,
                            .radius = 0.2,
                            .half_height = body == 0 ? 0.2 : 0.3,
                            .pmts = pmts,
                            .pmt_count = (size_t)less + 1};
    for (size_t k = 0; k < type.pmt_count; ++k) {
        pmts[k].efficiency = 1;
    }
    const ics_text text = {.name = "fuzz", .data = (char *)data + 2, .size = size - 2};
    const int status = is_array ? ics_pmt_areas_read_npy(&text, &type, &error)
                                : ics_pmt_areas_read_csv(&text, &type, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    require((status == ICESTREAM_OK) == (type.table.ring_count > 0));
    if (status == ICESTREAM_OK) {
        check_table(&type);
        detect_by(&type);
    }
    ics_pmt_areas_free(&type.table);
    return 0;
}
