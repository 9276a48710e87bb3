#include "tests/kernels/emulated/profile.h"

#include <check.h>

static void stamp(grid_lane *self, const grid_setting *with, uint32_t stage, ics_stamp ends)
{
    grid_arguments arguments = {
        .lane = &self->memory, .clock = &self->clock, .stage = stage, .ends = ends};
    ck_assert(grid_schedules[with->schedule]->stamp != NULL);
    grid_now += 1000;
    grid_run(1, 32, grid_schedules[with->schedule]->stamp, &arguments);
}

void grid_profile_begin(grid_lane *self, const grid_setting *with)
{
    stamp(self, with, ICS_CLOCK_OTHER, ICS_STAMP_TRIP);
}

void grid_profile_end(grid_lane *self, const grid_setting *with, const ics_gpu_schedule *row,
                      uint32_t kernel)
{
    stamp(self, with, ics_schedule_kernels(row, with->join)[kernel].stage, ICS_STAMP_STAGE);
}
