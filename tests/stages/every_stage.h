/* Calls every stage through its public functions, so that a compiler checks them: every_stage.cu as
 * CUDA C, every_stage.c as strict C11. It is never run.
 *
 * How to join: a new stage is called here. */
#ifndef EVERY_STAGE_H
#define EVERY_STAGE_H

#include "physics/detect/detect_none.h"
#include "physics/detect/detect_pe.h"
#include "stages/variants.h"

ICE_FN int32_t every_stage_put(void *sink, const ice_arrival *arrival)
{
    *(ice_arrival *)sink = *arrival;
    return 0;
}

#define ICE_PUT_ARRIVAL(sink, tables, arrival) every_stage_put(sink, arrival)
#include "stages/bounce.h"
#include "stages/path_weight.h"

/* Whether an arrival at a module becomes a photo-electron. */
ICE_FN uint32_t every_stage_detect(const ice_tables *tables, ice_identity identity,
                                   const ice_arrival *arrival)
{
    const ice_sensor sensor = {0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 0.0f, 0, ICE_SENSOR_CABLE};
    const float one = 1.0f;
    const ice_detection detection = {&sensor, &one, &one, &one, &one, 1,    0,
                                     0.0f,    1,    0,    1.0f, 0.0f, 1.0f, NULL};
    const float probability =
        ice_detect_pe(&detection, arrival) * ice_detect_none(&detection, arrival);
    return ice_detection_number(tables, identity, arrival->scatters, 1, arrival->module) <
           probability;
}

/* The probability density of a segment that the photon has begun and of the scatter at its end. */
ICE_FN double every_stage_weigh(const ice_variants *variants, const ice_tables *tables,
                                const ice_photon *begin, const ice_photon *end, ice_optics optics)
{
    const ice_path_segment segment = ice_path_segment_of(tables, optics, begin);
    const ice_path_depth depth = ice_path_depth_of(tables, &segment, (double)end->path, NULL);
    const ice_path_sum start = ice_path_sum_begin();
    ice_path_sum sum = start;
    ice_density angle;
    ice_path_sum_add(&sum, &depth);
    ice_path_sum_multiply(&sum, ice_path_scatter(variants->scatter, tables, segment.height,
                                                 ice_direction_of(begin), end, &angle));
    return ice_path_sum_log_ratio(&start, &sum) + angle.by_mean_cosine;
}

/* One photon from its start to its end. */
ICE_FN void every_stage(const ice_variants *variants, const ice_tables *tables,
                        const ice_emission *emission, ice_arrival *arrival, uint32_t *fates,
                        ice_account *account)
{
    const ice_identity identity = ice_identity_of(emission, emission->first_photon);
    ice_active_photon active =
        ice_activate(tables, ice_random_of(tables, identity),
                     ice_create(variants->create, tables, emission, 0, emission->first_photon));
    uint32_t hits = 0, recorded = 0;
    const ice_photon begin = active.photon;
    while (active.fate == ICE_ALIVE) {
        if (ice_bounce_photon(variants, tables, &active, arrival, &hits, &recorded)) {
            return;
        }
    }
    account->hits += hits + every_stage_detect(tables, identity, arrival);
    ice_count_fate(account, active.fate, 1);
    fates[0] = active.fate;
    uint32_t front = 0, back = 1;
    while (ice_compact_partition(fates, &front, &back)) {
        ++front;
    }
    arrival->path =
        ice_pow(active.photon.path, 0.5f) +
        (float)every_stage_weigh(variants, tables, &begin, &active.photon, active.optics);
}

#endif
