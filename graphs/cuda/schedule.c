#include "graphs/cuda/schedule.h"

#include "graphs/cuda/check.h"
#include "kernels/cuda/specialise.h"
#include "kernels/cuda/state.h"

#include <string.h>

/* Bytes that a kernel moves between a slot and its threads: words of ICS_SLOT_BYTES, and the
 * segment between the stages of wavefront. scatter leaves labels alone; create reads a bit for
 * every slot.
 */
enum { WORD = 16, PHOTON = ICS_SLOT_BYTES };

/* Threads of a block whose warps have queues (kernels/cuda/device/warp_queue.h): 2064 bytes each of
 * 48 KiB. */
#define ICS_QUEUE_BLOCK_MAX 736u

static const ics_gpu_schedule schedules[ICS_SCHEDULE_COUNT] = {
    [ICS_SCHEDULE_WAVEFRONT] = {.entry = "kernels/cuda/device/wavefront.h",
                                .kernels = {{"gpu_create", 0},
                                            {"gpu_propagate", PHOTON + WORD},
                                            {"gpu_collide", PHOTON + WORD},
                                            {"gpu_scatter", 3 * WORD + 2 * WORD}},
                                .loops = true},
    [ICS_SCHEDULE_FUSED] = {.entry = "kernels/cuda/device/fused.h",
                            .kernels = {{"gpu_create", 0}, {"gpu_visit", 2 * PHOTON}},
                            .loops = true,
                            .warp_queues = true},
    [ICS_SCHEDULE_MONOLITHIC] = {.entry = "kernels/cuda/device/monolithic.h",
                                 .kernels = {{"gpu_monolithic", 0}},
                                 .warp_queues = true,
                                 .slots_per_thread = 2},
    [ICS_SCHEDULE_JOB_QUEUE] = {.entry = "kernels/cuda/device/job_queue.h",
                                .kernels = {{"gpu_job_queue", 0}},
                                .takes_steps = true,
                                .warp_queues = true,
                                .slots_per_thread = 2},
    [ICS_SCHEDULE_THREAD_PER_STEP] = {.entry = "kernels/cuda/device/thread_per_step.h",
                                      .kernels = {{"gpu_thread_per_step", 0}},
                                      .takes_steps = true,
                                      .slots_per_thread = 1},
};

const ics_gpu_schedule *ics_schedule_row(ics_schedule schedule)
{
    return (unsigned)schedule < ICS_SCHEDULE_COUNT && schedules[schedule].entry != NULL
               ? &schedules[schedule]
               : NULL;
}

bool ics_schedule_accepts_block(const ics_gpu_schedule *schedule, uint32_t block)
{
    return !schedule->warp_queues || block <= ICS_QUEUE_BLOCK_MAX;
}

ics_gpu_limits ics_schedule_assumed_limits(int architecture, const ics_tables *tables)
{
    const ics_gpu_limits limits = {.architecture = architecture ? architecture : 90,
                                   .processors = 132,
                                   .features = tables->device.features};
    return limits;
}

static void choose(uint32_t *value, uint32_t fallback)
{
    *value = *value ? *value : fallback;
}

void ics_schedule_resolve(ics_gpu_options *options, const ics_gpu_limits *limits)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    const bool loops = schedule != NULL && schedule->loops;
    options->math = options->math == ICS_MATH_AUTO ? ICS_MATH_FAST : options->math;
    const bool wavefront = options->schedule == ICS_SCHEDULE_WAVEFRONT;
    choose(&options->lanes, wavefront ? 1 : loops ? 3 : 2);
    choose(&options->chains, wavefront ? 4 : 1);
    choose(&options->block, wavefront ? 256 : 128);
    /* 1152 threads of a multiprocessor leave 56 registers each, which for fast maths no kernel
     * needs to spill as compiled for sm_90 and later; 1024 leave 64, which light that crystals
     * bend, and hole ice, need. */
    const bool few_registers = options->math == ICS_MATH_FAST && limits->architecture >= 90 &&
                               !(limits->features & ICE_HAS_MANY_REGISTERS);
    const uint32_t threads = few_registers ? 1152 : 1024;
    const uint32_t blocks = options->block >= 1024 ? 1 : threads / options->block;
    choose(&options->blocks_per_processor, blocks < 32 ? blocks : 32); /* no GPU holds more */
    choose(&options->bounces_per_wave, 128);
    choose(&options->refill, 4);
    choose(&options->hits, 1u << 18);
    choose(&options->batch_photons, 1u << 24);
    choose(&options->batch_emissions, 1u << 17);
    choose(&options->every, 8);
    options->watchdog = options->watchdog > 0 ? options->watchdog : 30;

    /* A slot's thread belongs to one block; create and collide look after the slots of several. */
    const uint32_t unit = options->block * (loops ? 8 * options->chains : 1);
    const uint32_t resident =
        (uint32_t)limits->processors * options->blocks_per_processor * options->block;
    /* wavefront: what still fits into a large GPU's second level cache. The others: a slot for
     * every thread that is resident, in every lane. */
    choose(&options->pool, wavefront ? 1u << 19 : resident * options->lanes);
    const uint32_t most = loops ? UINT32_MAX / 8 : resident * options->lanes;
    const uint32_t pool = options->pool < most ? options->pool : most;
    const uint32_t units = pool / options->lanes / unit;
    options->pool = (units ? units : 1) * unit * options->lanes;
}

uint32_t ics_schedule_lane_slots(const ics_gpu_options *options)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    return options->pool / options->lanes * (schedule->loops ? 1 : schedule->slots_per_thread);
}

uint32_t ics_schedule_start_shift(const ics_gpu_options *options)
{
    uint32_t shift = 0;
    while (1u << shift < options->batch_emissions) {
        ++shift;
    }
    return shift;
}

int ics_schedule_program_options(const ics_gpu_options *options, const ics_tables *tables,
                                 int architecture, ics_program_options *out, char *definitions,
                                 ics_gpu_error *error)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    if (schedule == NULL) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED, "schedule %s has no kernels",
                                   ics_graph_schedule_name(options->schedule));
    }
    if (!ics_schedule_accepts_block(schedule, options->block)) {
        return ics_check_error_set(
            error, ICS_GRAPH_UNSUPPORTED,
            "graph.block: found %u, expected at most %u for schedule %s, whose "
            "warps keep new photons in shared memory",
            options->block, ICS_QUEUE_BLOCK_MAX, ics_graph_schedule_name(options->schedule));
    }
    ice_variants variants = options->variants;
    ics_custom_variants(options->custom, &variants);
    const ics_special_options special = {.variants = variants,
                                         .block = options->block,
                                         .blocks_per_processor = options->blocks_per_processor,
                                         .bounces_per_wave = options->bounces_per_wave,
                                         .refill = options->refill,
                                         .start_shift = ics_schedule_start_shift(options)};
    if (ics_specialise(&tables->device, &special, definitions, ICS_DEFINITIONS_SIZE) != 0) {
        return ics_check_error_set(error, ICS_GRAPH_UNSUPPORTED,
                                   "internal error: definitions of a program are too long");
    }
    *out = (ics_program_options){.entry = schedule->entry,
                                 .definitions = definitions,
                                 .custom = options->custom,
                                 .fast_math = options->math != ICS_MATH_PORTABLE,
                                 .architecture = architecture,
                                 .use_cache = options->use_cache};
    return 0;
}
