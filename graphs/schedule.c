/* The table of the GPU schedules. A new schedule is a line in graphs/options.h, a row here and a
 * header with its kernels; docs/gpu.md lists the few other files. */
#include "graphs/schedule.h"

#include "kernels/cuda/state.h"

#include <stddef.h>

/* Bytes that a kernel moves between a slot and its threads: a word of a column, half of one (an
 * extract or a way), a segment, and all of a photon. propagate reads position, direction, way and
 * extract, and writes way and segment; scatter reads the segment, and reads and writes position and
 * direction. create reads one bit for every slot. The height of a segment, which some features of
 * ice need, and what propagate stores for collide do not count.
 */
enum {
    WORD = sizeof(ics_word),
    PAIR = sizeof(ics_pair),
    SEGMENT = sizeof(uint32_t),
    PHOTON = ICS_SLOT_BYTES,
    MOVES_PROPAGATE = 2 * WORD + 3 * PAIR + SEGMENT,
    MOVES_SCATTER = 4 * WORD + SEGMENT,
    MOVES_BOTH = 4 * WORD + 3 * PAIR + 2 * SEGMENT
};

/* Slots of wavefront. The words that change in every wave must fit into the second level cache. On
 * an H200, whose cache has 50 MB, the time of a photon falls until there are about 640,000 slots,
 * because the start of a kernel costs the same for any number, and is longer with more
 * (bench/results/2026-11-28-h200-two-gpus-and-trials.md). A multiple of 4096: blocks of 256
 * threads, two chains, ICS_CHAIN_PER_THREAD slots for each thread. */
#define WAVEFRONT_POOL 638976u

/* Photons in a batch of wavefront, which is 5 % faster with 2^25 than with 2^24
 * (bench/results/2026-11-29-h200-aims.md). We think that the reason is this. A launch of 2^24
 * photons has about as many waves as a photon can have scatters. So all three batches of a lane can
 * wait for their last photons, and meanwhile the pool runs empty. */
#define WAVEFRONT_BATCH (1u << 25)

/* A kernel of event-wavefront: one warp for each region. */
#define EVENT_KERNEL(word, when, of_stage, ...)                                                    \
    {                                                                                              \
        .name = "gpu_" #word, .slots_per_thread = ICS_REGION_PER_THREAD, .waves = (when),          \
        .stage = (of_stage), __VA_ARGS__                                                           \
    }

/* The kernels of wavefront that are the same with and without the join. */
#define WAVEFRONT_CREATE                                                                           \
    {                                                                                              \
        .name = "gpu_create", .slots_per_thread = ICS_CREATE_PER_THREAD, .waves = ICS_FIRST_WAVE   \
    }
#define WAVEFRONT_PROPAGATE(when)                                                                  \
    {                                                                                              \
        .name = "gpu_propagate", .slots_per_thread = 1, .bytes_per_slot = MOVES_PROPAGATE,         \
        .stage = 1, .waves = (when)                                                                \
    }
#define WAVEFRONT_COLLIDE                                                                          \
    {                                                                                              \
        .name = "gpu_collide", .slots_per_thread = ICS_COLLIDE_PER_THREAD,                         \
        .bytes_per_slot = 4 * WORD + SEGMENT, .stage = 2, .sparse = true, .parallel = true         \
    }
#define WAVEFRONT_SCATTER(when)                                                                    \
    {                                                                                              \
        .name = "gpu_scatter", .slots_per_thread = 1, .bytes_per_slot = MOVES_SCATTER, .stage = 3, \
        .waves = (when), .awaits = 1                                                               \
    }

/* thread-per-step is no candidate for AUTO, because each of its warps waits for its slowest photon.
 */
#define ENTRY(word) "kernels/cuda/device/" #word ".h"
static const ics_gpu_schedule rows[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_WAVEFRONT] = {.entry = ENTRY(wavefront),
                                .kernels = {WAVEFRONT_CREATE, WAVEFRONT_PROPAGATE(ICS_ALL_WAVES),
                                            WAVEFRONT_COLLIDE, WAVEFRONT_SCATTER(ICS_ALL_WAVES)},
                                .joined = {WAVEFRONT_CREATE,
                                           WAVEFRONT_PROPAGATE(ICS_FIRST_WAVE),
                                           {.name = "gpu_scatter_propagate",
                                            .slots_per_thread = 1,
                                            .bytes_per_slot = MOVES_BOTH,
                                            .stage = 3,
                                            .waves = ICS_LATER_WAVES,
                                            .awaits = 2},
                                           WAVEFRONT_COLLIDE,
                                           WAVEFRONT_SCATTER(ICS_LAST_WAVE)},
                                .columns =
                                    ICS_COLUMN_SEGMENT | ICS_COLUMN_VACANT | ICS_COLUMN_CANDIDATES,
                                .loops = true,
                                .compacts = true,
                                .waves_per_trip = ICS_WAVES_PER_TRIP,
                                .waves_per_create = ICS_WAVES_PER_CREATE,
                                .counts_at_once = true,
                                .slots_per_thread = 1,
                                .few_registers = true,
                                .lanes = 1,
                                .chains = 2,
                                .block = 256,
                                .pool = WAVEFRONT_POOL,
                                .batch = WAVEFRONT_BATCH,
                                .candidates = {{.block = 256, .pool = WAVEFRONT_POOL}}},
    [ICS_SCHEDULE_EVENT_WAVEFRONT] = {.entry = ENTRY(event_wavefront),
                                      .kernels = {EVENT_KERNEL(collide, ICS_ALL_WAVES, 2),
                                                  EVENT_KERNEL(column, ICS_ALL_WAVES, 3,
                                                               .in_columns = true),
                                                  EVENT_KERNEL(fly, ICS_LAST_WAVE, 1)},
                                      .columns = ICS_COLUMN_NEEDS,
                                      .loops = true,
                                      .waves_per_trip = ICS_EVENT_WAVES,
                                      .waves_per_create = ICS_EVENT_WAVES,
                                      .slots_per_thread = ICS_REGION_PER_THREAD,
                                      .warp_bytes = ICS_WARP_FLY_BYTES,
                                      .long_visits = true,
                                      .few_registers = true,
                                      .lanes = 2,
                                      .chains = 1,
                                      .block = 128,
                                      .refill = 4,
                                      .candidates = {{.block = 128, .bounces_per_wave = 1024}}},
    [ICS_SCHEDULE_MONOLITHIC] = {.entry = ENTRY(monolithic),
                                 .kernels = {{.name = "gpu_monolithic", .slots_per_thread = 1}},
                                 .slots_per_thread = 2,
                                 .warp_bytes = ICS_WARP_QUEUE_BYTES,
                                 .preferred = true,
                                 .lanes = 2,
                                 .chains = 1,
                                 .block = 256,
                                 .refill = 4,
                                 /* A flasher stands next to a string. With a refill of 8 its new
                                  * photons look for modules together. */
                                 .candidates = {{.block = 256, .refill = 4},
                                                {.block = 256, .refill = 8}}},
    [ICS_SCHEDULE_JOB_QUEUE] = {.entry = ENTRY(job_queue),
                                .kernels = {{.name = "gpu_job_queue", .slots_per_thread = 1}},
                                .columns = ICS_COLUMN_CURSORS,
                                .slots_per_thread = 2,
                                .takes_steps = true,
                                .warp_bytes = ICS_WARP_QUEUE_BYTES,
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
                                      .few_registers = true,
                                      .lanes = 2,
                                      .chains = 1,
                                      .block = 128},
    [ICS_SCHEDULE_WARP_WAVEFRONT] = {.entry = ENTRY(warp_wavefront),
                                     .kernels = {{.name = "gpu_warp_wavefront",
                                                  .slots_per_thread = 1}},
                                     .slots_per_thread = ICS_WARP_SLOTS_PER_THREAD,
                                     .warp_bytes = ICS_WARP_SLOTS_BYTES,
                                     .preferred_in_columns = true,
                                     .lanes = 2,
                                     .chains = 1,
                                     .block = 256,
                                     .refill = 6,
                                     .candidates = {{.block = 256}}},
};

const ics_gpu_schedule *ics_schedule_row(ics_schedule schedule)
{
    return (unsigned)schedule < ICS_SCHEDULE_COUNT && rows[schedule].entry != NULL ? &rows[schedule]
                                                                                   : NULL;
}

const ics_schedule_kernel *ics_schedule_kernels(const ics_gpu_schedule *schedule, bool joined)
{
    return joined ? schedule->joined : schedule->kernels;
}

bool ics_schedule_can_join(const ics_gpu_schedule *schedule)
{
    return schedule->joined[0].name != NULL;
}

bool ics_schedule_has_kernel(const ics_gpu_schedule *schedule, const ics_schedule_kernel *kernel,
                             uint32_t wave)
{
    const uint32_t in_round = wave % schedule->waves_per_create;
    switch (kernel->waves) {
    case ICS_FIRST_WAVE:
        return in_round == 0;
    case ICS_LATER_WAVES:
        return in_round > 0;
    case ICS_LAST_WAVE:
        return in_round + 1 == schedule->waves_per_create;
    default:
        return true;
    }
}

bool ics_schedule_awaits(const ics_gpu_schedule *schedule, const ics_schedule_kernel *kernel,
                         uint32_t wave, uint32_t parity)
{
    if (kernel->awaits == 0) {
        return false;
    }
    const bool is_last = kernel->awaits == 1 && wave + 1 == schedule->waves_per_trip;
    return (wave >= kernel->awaits && (wave - kernel->awaits) % 2 == parity) ||
           (is_last && wave % 2 == parity);
}

bool ics_schedule_can_profile(ics_schedule schedule)
{
    const ics_gpu_schedule *row = ics_schedule_row(schedule);
    return row != NULL && row->loops;
}

/* Whether a list of kernels, up to one whose name is NULL, has this one. */
static bool has_kernel(const ics_schedule_kernel *kernels, ics_tuned_kernel kernel)
{
    ics_tuned_kernel one;
    for (size_t i = 0; kernels[i].name != NULL; ++i) {
        if (ics_tune_find(kernels[i].name, &one) && one == kernel) {
            return true;
        }
    }
    return false;
}

bool ics_schedule_has(const ics_gpu_schedule *schedule, ics_tuned_kernel kernel)
{
    return has_kernel(schedule->kernels, kernel) || has_kernel(schedule->joined, kernel);
}

uint32_t ics_schedule_block_of(ics_tuned_kernel kernel)
{
    uint32_t block = 128; /* that of the kernel for tables, which no schedule has */
    for (int i = 0; i < ICS_SCHEDULE_COUNT; ++i) {
        const ics_gpu_schedule *row = &rows[i];
        if (row->entry != NULL && ics_schedule_has(row, kernel) && row->block > block) {
            block = row->block;
        }
    }
    return block;
}

uint32_t ics_schedule_block_max(const ics_gpu_schedule *schedule, uint32_t photon_bytes)
{
    enum { THREADS_MAX = 1024 }; /* of a block, on any GPU */
    if (schedule->warp_bytes == 0) {
        return THREADS_MAX;
    }
    const uint32_t block_bytes = ICS_BLOCK_BYTES + photon_bytes;
    return (ICS_SHARED_BYTES - block_bytes) / schedule->warp_bytes * 32;
}
