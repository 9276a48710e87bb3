/* Bounces of the two stages that need no module: in ice, and in a column of hole ice. Shared by the
 * schedules that sort photons by the work of their next bounce. */
#ifndef ICS_KERNELS_CUDA_DEVICE_FLY_H
#define ICS_KERNELS_CUDA_DEVICE_FLY_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/segment_words.h"
#include "stages/bounce_work.h"
#include "stages/hole_ice/column.h"

/* Whether photons have bounces inside columns of hole ice, which are a stage then. */
#define GPU_HAS_COLUMNS ICE_HAS_COLUMN_STAYS(GPU_SPECIAL_FEATURES)

/* A state of a photon besides its ice_fate and those of segment_words.h: its next bounce needs
 * another stage. */
enum { GPU_NEEDS_STAGE = GPU_DROPPED + 1 };

/* One bounce in ice, if that is the next one; otherwise sets the fate of the photon to
 * GPU_NEEDS_STAGE, or ends the photon. */
ICE_FN void gpu_fly_once(const ice_tables *tables, gpu_hit_sink *sink, ice_active_photon *active)
{
    ice_bounce bounce;
    ice_work work;
    (void)sink;
    ICE_CLOCK(PROPAGATE);
    if (!ice_start_bounce_in_ice(GPU_SPECIAL_PROPAGATE, tables, active, &bounce, &work)) {
        active->fate = work == ICE_WORK_NONE ? (uint32_t)ICE_LEFT : (uint32_t)GPU_NEEDS_STAGE;
        return;
    }
    ICE_COUNT_SEGMENT(sink, tables, &active->photon, bounce.height, bounce.length);
    ICE_CLOCK(SCATTER);
    ice_end_bounce_in_ice(GPU_SPECIAL_SCATTER, tables, &bounce, &active->photon, &active->random,
                          &active->fate, &active->site);
}

/* The same for a bounce in a column of hole ice, which ends no photon. */
ICE_FN void gpu_fly_in_column(const ice_tables *tables, gpu_hit_sink *sink,
                              const ice_column_stay *stay, ice_active_photon *active)
{
    ICE_CLOCK(PROPAGATE);
    if (!ice_bounce_in_column(GPU_SPECIAL_SCATTER, tables, stay, active, sink)) {
        active->fate = GPU_NEEDS_STAGE;
    }
}

/* What the bounces in a column of a photon have in common. Where there are none, no bounce is
 * between the heights. */
ICE_FN void gpu_begin_stay(const ice_tables *tables, const ice_photon *photon,
                           ice_column_stay *stay)
{
    if (!ice_column_stay_of(tables, photon, stay)) {
        stay->high = -ICE_INFINITY;
    }
}

/* As GPU_SPECIAL_REFILL, for photons in columns. Their bounces are short, so that a refill costs
 * more of them (the best of 8, 12 and 16 on an H200). */
#define GPU_REFILL_IN_COLUMNS 12u

/* Bounces through columns go on as long as this number of the threads of a warp have one (the best
 * of 4, 8, 16, 24 and 32 on an H200). */
#define GPU_STAY_IN_COLUMNS 24u

#endif
