/* The table of the GPU schedules. A new schedule is a line in graphs/options.h, a row here and a
 * header with its kernels; docs/gpu.md lists the few other places. */
#include "graphs/schedule.h"

#include "kernels/cuda/state.h"

#include <stddef.h>

/* Bytes that a kernel moves between a slot and its threads: a word of a column, and the words of a
 * photon. scatter does not touch identities, and create reads one bit for every slot. */
enum { WORD = sizeof(ics_word), PHOTON = ICS_SLOT_BYTES };

/* thread-per-step is no candidate for AUTO, because each of its warps waits for its slowest photon.
 */
#define ENTRY(word) "kernels/cuda/device/" #word ".h"
static const ics_gpu_schedule rows[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_WAVEFRONT] = {.entry = ENTRY(wavefront),
                                .kernels = {{.name = "gpu_create",
                                             .slots_per_thread = ICS_CREATE_PER_THREAD,
                                             .once_per_trip = true},
                                            {.name = "gpu_propagate",
                                             .slots_per_thread = 1,
                                             .bytes_per_slot = PHOTON + WORD},
                                            {.name = "gpu_collide",
                                             .slots_per_thread = ICS_COLLIDE_PER_THREAD,
                                             .bytes_per_slot = PHOTON + WORD,
                                             .sparse = true},
                                            {.name = "gpu_scatter",
                                             .slots_per_thread = 1,
                                             .bytes_per_slot = 3 * WORD + 2 * WORD}},
                                .columns =
                                    ICS_COLUMN_SEGMENT | ICS_COLUMN_VACANT | ICS_COLUMN_CANDIDATES,
                                .loops = true,
                                .waves_per_trip = ICS_WAVES_PER_TRIP,
                                .slots_per_thread = 1,
                                .lanes = 1,
                                .chains = 4,
                                .block = 256,
                                .pool = 1u << 19, /* fits into a large GPU's second level cache */
                                .candidates = {{.block = 256, .pool = 1u << 19}}},
    [ICS_SCHEDULE_FUSED] =
        {.entry = ENTRY(fused),
         .kernels = {{.name = "gpu_create", .slots_per_thread = ICS_CREATE_PER_THREAD},
                     {.name = "gpu_visit", .slots_per_thread = 1, .bytes_per_slot = 2 * PHOTON}},
         .columns = ICS_COLUMN_VACANT | ICS_COLUMN_LEFTOVERS,
         .loops = true,
         .waves_per_trip = ICS_VISITS_PER_TRIP,
         .slots_per_thread = 1,
         .warp_queues = true,
         .long_visits = true,
         .has_refill = true,
         .lanes = 3,
         .chains = 1,
         .block = 128,
         .candidates = {{.block = 128, .bounces_per_wave = 128, .refill = 4},
                        {.block = 128, .bounces_per_wave = 256, .refill = 4}}},
    [ICS_SCHEDULE_MONOLITHIC] = {.entry = ENTRY(monolithic),
                                 .kernels = {{.name = "gpu_monolithic", .slots_per_thread = 1}},
                                 .slots_per_thread = 2,
                                 .warp_queues = true,
                                 .has_refill = true,
                                 .lanes = 2,
                                 .chains = 1,
                                 .block = 128,
                                 .candidates = {{.block = 128, .refill = 4},
                                                {.block = 128, .refill = 6}}},
    [ICS_SCHEDULE_JOB_QUEUE] = {.entry = ENTRY(job_queue),
                                .kernels = {{.name = "gpu_job_queue", .slots_per_thread = 1}},
                                .columns = ICS_COLUMN_CURSORS,
                                .slots_per_thread = 2,
                                .takes_steps = true,
                                .warp_queues = true,
                                .lanes = 2,
                                .chains = 1,
                                .block = 128,
                                .candidates = {{.block = 128}}},
    [ICS_SCHEDULE_THREAD_PER_STEP] = {.entry = ENTRY(thread_per_step),
                                      .kernels = {{.name = "gpu_thread_per_step",
                                                   .slots_per_thread = 1}},
                                      .columns = ICS_COLUMN_CURSORS,
                                      .slots_per_thread = 1,
                                      .takes_steps = true,
                                      .lanes = 2,
                                      .chains = 1,
                                      .block = 128},
};

const ics_gpu_schedule *ics_schedule_row(ics_schedule schedule)
{
    return (unsigned)schedule < ICS_SCHEDULE_COUNT && rows[schedule].entry != NULL ? &rows[schedule]
                                                                                   : NULL;
}

bool ics_schedule_can_profile(ics_schedule schedule)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    return row != NULL && row->loops;
}

bool ics_schedule_accepts_block(const ics_gpu_schedule *schedule, uint32_t block)
{
    return !schedule->warp_queues || block <= ICS_WARP_QUEUE_BLOCK_MAX;
}
