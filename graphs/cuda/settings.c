#include "graphs/cuda/settings.h"

#include "base/error.h"
#include "kernels/cuda/specialise.h"
#include "kernels/cuda/state.h"

ics_gpu_limits ics_settings_assumed_limits(int architecture, const ics_tables *tables)
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

/* The number of blocks that the compiler makes room for on a multiprocessor. 1024 threads of a
 * multiprocessor leave 64 registers for each, 1152 leave 56. */
static uint32_t usual_blocks(const ics_gpu_options *options, const ics_gpu_limits *limits)
{
    enum { BLOCKS_MAX = 32 }; /* no GPU holds more blocks on a multiprocessor */
    const bool few_registers = ics_schedule_row(options->schedule)->few_registers &&
                               options->math == ICS_MATH_FAST && limits->architecture >= 90 &&
                               !(limits->features & ICE_HAS_MANY_REGISTERS);
    const uint32_t threads = few_registers ? 1152 : 1024;
    const uint32_t blocks = options->block >= 1024 ? 1 : threads / options->block;
    return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

void ics_settings_resolve(ics_gpu_options *options, const ics_gpu_limits *limits)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    options->math = options->math == ICS_MATH_AUTO ? ICS_MATH_FAST : options->math;
    choose(&options->lanes, schedule->lanes);
    choose(&options->chains, schedule->chains);
    choose(&options->block, schedule->block);
    choose(&options->blocks_per_processor, usual_blocks(options, limits));
    options->join = options->join && ics_schedule_can_join(schedule);
    choose(&options->bounces_per_wave, 128);
    choose(&options->refill, 4);
    choose(&options->hits, 1u << 18);
    choose(&options->batch_photons, 1u << 24);
    choose(&options->batch_emissions, 1u << 17);
    choose(&options->every, 8);
    options->watchdog = options->watchdog > 0 ? options->watchdog : 30;

    /* A pool is a whole number of blocks for every lane, or of blocks for every chain. A schedule
     * that does not loop has no use for more threads than are resident at a time. */
    const uint32_t unit =
        options->block * (schedule->loops ? ICS_CHAIN_PER_THREAD * options->chains : 1);
    const uint32_t resident =
        (uint32_t)limits->processors * options->blocks_per_processor * options->block;
    choose(&options->pool, schedule->pool ? schedule->pool : resident * options->lanes);
    const uint32_t most = schedule->loops ? UINT32_MAX / 8 : resident * options->lanes;
    const uint32_t pool = options->pool < most ? options->pool : most;
    const uint32_t units = pool / options->lanes / unit;
    options->pool = (units ? units : 1) * unit * options->lanes;
}

bool ics_settings_candidate(const ics_gpu_options *options, size_t index, ics_gpu_options *out)
{
    for (int schedule = 0; schedule < ICS_SCHEDULE_COUNT; ++schedule) {
        const ics_gpu_schedule *row = ics_schedule_row((ics_schedule)schedule);
        for (size_t i = 0; row != NULL && i < ICS_SCHEDULE_CANDIDATES; ++i) {
            const ics_schedule_candidate *one = &row->candidates[i];
            if (one->block == 0 || index-- > 0) {
                continue;
            }
            *out = *options;
            out->schedule = (ics_schedule)schedule;
            choose(&out->pool, one->pool);
            choose(&out->bounces_per_wave, one->bounces_per_wave);
            choose(&out->block, one->block);
            choose(&out->refill, one->refill);
            return true;
        }
    }
    return false;
}

uint32_t ics_settings_lane_slots(const ics_gpu_options *options)
{
    return options->pool / options->lanes * ics_schedule_row(options->schedule)->slots_per_thread;
}

uint32_t ics_settings_start_shift(const ics_gpu_options *options)
{
    uint32_t shift = 0;
    while (1u << shift < options->batch_emissions) {
        ++shift;
    }
    return shift;
}

int ics_settings_program(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                         ics_program_options *out, char *definitions, icestream_error *error)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    if (schedule == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "schedule %s has no kernels",
                             ics_graph_schedule_name(options->schedule));
    }
    const uint32_t block_max = ics_schedule_block_max(schedule, options->bounces.bins > 0);
    if (options->block > block_max) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "graph.block: found %u, expected at most %u for schedule %s, whose "
                             "warps keep photons in shared memory",
                             options->block, block_max, ics_graph_schedule_name(options->schedule));
    }
    ice_variants variants = options->variants;
    ics_graph_custom_variants(options->custom, &variants);
    const ics_special_options special = {.variants = variants,
                                         .block = options->block,
                                         .blocks_per_processor = options->blocks_per_processor,
                                         .bounces_per_wave = options->bounces_per_wave,
                                         .refill = options->refill,
                                         .light_profiles = options->light_profiles,
                                         .bounces = options->bounces,
                                         .check = options->check,
                                         .start_shift = ics_settings_start_shift(options)};
    if (ics_specialise(&tables->device, &special, definitions, ICS_DEFINITIONS_SIZE) != 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "internal error: definitions of a program are too long");
    }
    *out = (ics_program_options){.entry = schedule->entry,
                                 .definitions = definitions,
                                 .custom = options->custom,
                                 .fast_math = options->math != ICS_MATH_PORTABLE,
                                 .architecture = architecture,
                                 .use_cache = options->use_cache};
    return ICESTREAM_OK;
}
