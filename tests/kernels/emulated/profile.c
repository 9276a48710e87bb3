#include "tests/kernels/emulated/profile.h"

#include "kernels/cuda/device/slot_words.h"

#include <check.h>
#include <string.h>

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

/* Photons of the batches that are neither in the pool nor ended. The counts of a pool are modulo
 * 2^32. */
static uint64_t photons_in_queue(const grid_lane *self)
{
    uint64_t created = 0, ended = 0;
    uint32_t alive = 0;
    for (uint32_t place = 0; place < ICS_LANE_BATCHES; ++place) {
        created += self->created[place];
        for (uint32_t i = 0; i < ICS_SHARES; ++i) {
            const ics_batch_count *count = &self->shares[i].batches[place];
            ended += count->absorbed + count->detected + count->left + count->stopped;
        }
    }
    for (uint32_t i = 0; i < ICS_SHARES; ++i) {
        alive += self->shares[i].alive;
    }
    return created - ended - alive;
}

/* Photons in the pool that wait for room in the hit buffer. */
static uint32_t waiting_in_pool(const ics_lane_memory *memory)
{
    uint32_t waiting = 0;
    for (uint32_t slot = 0; slot < memory->capacity; ++slot) {
        const ics_word identity = memory->identity[slot];
        waiting += !gpu_is_vacant(identity) &&
                   gpu_may_wait(__float_as_uint(identity.x), __float_as_uint(identity.w));
    }
    return waiting;
}

/* Returns how many photons the last stamp added to a record. Fails unless it added one wave. */
static uint64_t added(const ics_wave_waits *before, const ics_wave_waits *now)
{
    const uint64_t photons = now->photons - before->photons;
    ics_wave_waits expected = *before;
    expected.waves += photons > 0;
    expected.photons += photons;
    expected.most = expected.most > photons ? expected.most : photons;
    ++expected.bins[gpu_wave_wait_bin_of(photons)];
    ck_assert_mem_eq(now, &expected, sizeof expected);
    return photons;
}

/* A photon of wavefront that waits is parked in every second wave, and does not count in it. But in
 * the last wave of a trip nothing is parked. With the join, that wave has the scatter of two. */
static void check_wave(const grid_lane *self, const grid_setting *with,
                       const ics_wave_clock *before, bool is_last)
{
    const uint64_t queue = added(&before->waits[ICS_WAIT_SLOT], &self->clock.waits[ICS_WAIT_SLOT]);
    const uint64_t hits = added(&before->waits[ICS_WAIT_HITS], &self->clock.waits[ICS_WAIT_HITS]);
    const uint64_t waiting = waiting_in_pool(&self->memory);
    ck_assert_uint_eq(self->clock.waves, before->waves + 1);
    ck_assert_uint_eq(queue, photons_in_queue(self));
    if (with->join) {
        ck_assert_uint_le(hits, is_last ? 2 * waiting : waiting);
    } else if (is_last || with->schedule == ICS_SCHEDULE_FUSED) {
        ck_assert_uint_eq(hits, waiting);
    } else {
        ck_assert_uint_le(hits, waiting);
    }
}

void grid_profile_end(grid_lane *self, const grid_setting *with, const ics_gpu_schedule *row,
                      uint32_t kernel, uint32_t wave)
{
    const ics_schedule_kernel *one = &ics_schedule_kernels(row, with->join)[kernel];
    bool last = true;
    for (const ics_schedule_kernel *later = one + 1; later->name != NULL; ++later) {
        last = last && !ics_schedule_has_kernel(row, later, wave);
    }
    const ics_wave_clock before = self->clock;
    stamp(self, with, one->stage, last ? ICS_STAMP_WAVE : ICS_STAMP_STAGE);
    if (last) {
        check_wave(self, with, &before, wave + 1 == row->waves_per_trip);
    } else {
        ck_assert_uint_eq(self->clock.waves, before.waves);
        ck_assert_mem_eq(self->clock.waits, before.waits, sizeof before.waits);
    }
}
