#include "graphs/cuda/settings.h"

#include "base/error.h"
#include "kernels/cuda/photon_counts.h"
#include "kernels/cuda/specialise.h"
#include "kernels/cuda/state.h"
#include "stages/hole_ice/hole.h"

#include <string.h>

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
static uint32_t usual_blocks(const ics_gpu_options *options, const ics_gpu_limits *limits,
                             uint32_t block)
{
    enum { BLOCKS_MAX = 32 }; /* no GPU holds more blocks on a multiprocessor */
    const bool few_registers = ics_schedule_row(options->schedule)->few_registers &&
                               options->math == ICS_MATH_FAST && limits->architecture >= 90 &&
                               !(limits->features & ICE_HAS_MANY_REGISTERS) &&
                               !ics_specialise_candidates(&options->photons);
    const uint32_t threads = few_registers ? 1152 : 1024;
    const uint32_t blocks = block >= 1024 ? 1 : threads / block;
    return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

/* The kernels of a schedule with these options. */
static const ics_schedule_kernel *kernels_of(const ics_gpu_options *options)
{
    return ics_schedule_kernels(ics_schedule_row(options->schedule), options->join);
}

/* Replaces every 0 in the settings of the kernels of the schedule. A limit of registers alone says
 * how many blocks there are. create has no limit of its blocks unless the user gives one. */
static void resolve_kernels(ics_gpu_options *options, const ics_gpu_limits *limits)
{
    const ics_schedule_kernel *kernels = kernels_of(options);
    for (size_t i = 0; kernels[i].name != NULL; ++i) {
        ics_tuned_kernel kernel;
        if (!ics_tune_find(kernels[i].name, &kernel)) {
            continue;
        }
        ics_kernel_tune *one = &options->tune.kernels[kernel];
        const bool own_block = one->threads != 0 && one->threads != options->block;
        choose(&one->threads, options->block);
        if (one->registers > 0) {
            choose(&one->blocks, ics_tune_fitting_blocks(one->threads, one->registers));
        } else if (kernel != ICS_TUNED_CREATE) {
            choose(&one->blocks, own_block ? usual_blocks(options, limits, one->threads)
                                           : options->blocks_per_processor);
        }
    }
}

/* The threads of a block of a schedule with one kernel are those of the kernel. */
static void resolve_blocks(ics_gpu_options *options, const ics_gpu_schedule *schedule,
                           const ics_gpu_limits *limits)
{
    ics_tuned_kernel kernel = ICS_TUNED_COUNT;
    const bool tuned = !schedule->loops && ics_tune_find(schedule->kernels[0].name, &kernel);
    if (tuned && options->tune.kernels[kernel].threads > 0) {
        options->block = options->tune.kernels[kernel].threads;
        options->blocks_per_processor = 0;
    }
    choose(&options->block, schedule->block);
    choose(&options->blocks_per_processor, usual_blocks(options, limits, options->block));
    resolve_kernels(options, limits);
    if (tuned) {
        options->blocks_per_processor = options->tune.kernels[kernel].blocks;
    }
}

/* The threads of a kernel that are resident on a multiprocessor, of the schedule's last one, which
 * is the only one or has the long visits. */
static uint32_t resident_threads(const ics_gpu_options *options)
{
    const ics_schedule_kernel *last = kernels_of(options);
    while (last[1].name != NULL) {
        ++last;
    }
    const ics_kernel_tune one = ics_settings_kernel(options, last->name);
    return one.blocks * one.threads;
}

/* The slots of a chain or of a lane without a loop are a multiple of this number: a whole number of
 * blocks of every kernel. */
static uint32_t pool_unit(const ics_gpu_options *options, const ics_gpu_schedule *schedule)
{
    uint64_t common = options->block;
    const ics_schedule_kernel *kernels = kernels_of(options);
    for (size_t i = 0; kernels[i].name != NULL; ++i) {
        common =
            ics_tune_multiple_of(common, ics_settings_kernel(options, kernels[i].name).threads);
    }
    if (!schedule->loops) {
        return (uint32_t)common;
    }
    return (uint32_t)common * options->chains * ICS_CHAIN_PER_THREAD / schedule->slots_per_thread;
}

void ics_settings_resolve(ics_gpu_options *options, const ics_gpu_limits *limits)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    options->math = options->math == ICS_MATH_AUTO ? ICS_MATH_FAST : options->math;
    choose(&options->lanes, schedule->lanes);
    choose(&options->chains, schedule->chains);
    options->join = options->join && ics_schedule_can_join(schedule);
    resolve_blocks(options, schedule, limits);
    choose(&options->bounces_per_wave, schedule->candidates[0].bounces_per_wave);
    choose(&options->bounces_per_wave, 128);
    choose(&options->refill, schedule->refill > 0 ? schedule->refill : 1);
    choose(&options->hits, 1u << 18);
    /* Longer batches need fewer launches. But the hits of the last batches are sorted and written
     * after the GPU has finished, so a run with many hits takes longer with longer batches
     * (bench/results/2026-11-29-h200-aims.md). */
    choose(&options->batch_photons, schedule->batch > 0 ? schedule->batch : 1u << 24);
    choose(&options->batch_emissions, 1u << 17);
    choose(&options->every, 8);
    options->watchdog = options->watchdog > 0 ? options->watchdog : 30;

    /* A pool is a whole number of blocks for every lane, or of blocks for every chain. A schedule
     * that does not loop has no use for more threads than are resident at a time. */
    const uint32_t unit = pool_unit(options, schedule);
    const uint32_t resident = (uint32_t)limits->processors * resident_threads(options);
    choose(&options->pool, schedule->pool ? schedule->pool : resident * options->lanes);
    const uint32_t most =
        schedule->loops ? UINT32_MAX / 8 / schedule->slots_per_thread : resident * options->lanes;
    const uint32_t pool = options->pool < most ? options->pool : most;
    const uint32_t units = pool / options->lanes / unit;
    options->pool = (units ? units : 1) * unit * options->lanes;
}

void ics_settings_resolve_table(const ics_gpu_options *options, ics_kernel_tune *one,
                                uint32_t threads, uint32_t blocks)
{
    enum { REGISTERS = 65536 }; /* of a multiprocessor */
    const bool is_tuned = one->threads != 0 || one->registers != 0;
    choose(&one->threads, options->block);
    choose(&one->threads, threads);
    choose(&one->blocks, options->blocks_per_processor);
    if (one->blocks == 0 && is_tuned) {
        const uint32_t registers =
            one->registers != 0 ? one->registers : REGISTERS / (threads * blocks);
        const uint32_t fitting = ics_tune_fitting_blocks(one->threads, registers);
        choose(&one->blocks, fitting > 0 ? fitting : 1);
    }
    choose(&one->blocks, blocks);
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

ics_kernel_tune ics_settings_kernel(const ics_gpu_options *options, const char *name)
{
    ics_tuned_kernel kernel;
    if (ics_tune_find(name, &kernel) && options->tune.kernels[kernel].threads > 0) {
        return options->tune.kernels[kernel];
    }
    return (ics_kernel_tune){.threads = options->block, .blocks = options->blocks_per_processor};
}

bool ics_settings_has_columns(const ics_gpu_options *options, const ice_tables *tables)
{
    return ICE_HAS_COLUMN_STAYS(tables->features) && options->custom[ICS_STAGE_PROPAGATE] == NULL &&
           options->custom[ICS_STAGE_COLLIDE] == NULL;
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

/* Checks the settings of all kernels of the schedule, also those that are defaults. */
static int check_kernels(const ics_gpu_options *options, icestream_error *error)
{
    const ics_schedule_kernel *kernels = kernels_of(options);
    for (size_t i = 0; kernels[i].name != NULL; ++i) {
        ics_tuned_kernel kernel;
        char reason[256];
        if (ics_tune_find(kernels[i].name, &kernel) &&
            !ics_tune_fits(kernel, &options->tune.kernels[kernel], options->block, reason,
                           sizeof reason)) {
            return ics_error_set(error, ICESTREAM_E_CONFIG, "graph.tune.%s: %s",
                                 ics_tune_word(kernel), reason);
        }
    }
    return ICESTREAM_OK;
}

void ics_settings_define_kernel(const ics_gpu_options *options, ics_tuned_kernel kernel,
                                FILE *definitions)
{
    const ics_kernel_tune one = ics_settings_kernel(options, ics_tune_word(kernel));
    const ics_special_bounds bounds = {ics_tune_constant(kernel), one.threads, one.blocks,
                                       one.registers};
    ics_specialise_kernel(&bounds, definitions);
}

FILE *ics_settings_definitions(char *text, size_t size)
{
    const size_t length = strlen(text);
    text[size - 1] = 0; /* a stream that is full ends with no 0 */
    return fmemopen(text + length, size - 1 - length, "w");
}

int ics_settings_end_definitions(FILE *definitions, icestream_error *error)
{
    if (definitions == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a program of a GPU");
    }
    const bool good = fflush(definitions) == 0 && !ferror(definitions);
    return fclose(definitions) == 0 && good
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_CONFIG,
                               "internal error: definitions of a program are too long");
}

/* Writes the definitions of the program of a schedule. */
static int define(const ics_gpu_options *options, const ics_gpu_schedule *schedule,
                  const ice_tables *tables, const ics_special_options *special, char *definitions,
                  icestream_error *error)
{
    definitions[0] = 0;
    FILE *out = ics_settings_definitions(definitions, ICS_DEFINITIONS_SIZE);
    if (out != NULL) {
        ics_specialise(tables, special, out);
        for (int i = 0; i < ICS_TUNED_COUNT; ++i) {
            if (ics_schedule_has(schedule, (ics_tuned_kernel)i)) {
                ics_settings_define_kernel(options, (ics_tuned_kernel)i, out);
            }
        }
    }
    return ics_settings_end_definitions(out, error);
}

int ics_settings_program(const ics_gpu_options *options, const ics_tables *tables, int architecture,
                         ics_program_options *out, char *definitions, icestream_error *error)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    if (schedule == NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "schedule %s has no kernels",
                             ics_graph_schedule_name(options->schedule));
    }
    const uint32_t block_max = ics_schedule_block_max(
        schedule, ics_photon_counts_shared(&options->photons, &options->large));
    if (options->block > block_max) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "graph.block: found %u, expected at most %u for schedule %s, whose "
                             "warps keep photons in shared memory",
                             options->block, block_max, ics_graph_schedule_name(options->schedule));
    }
    ICS_TRY(check_kernels(options, error));
    enum { CLOCKS = 8 }; /* every 8th block is a sample of the time of stages */
    ice_variants variants = options->variants;
    ics_graph_custom_variants(options->custom, &variants);
    const ics_special_options special = {
        .variants = variants,
        .block = options->block,
        .blocks_per_processor = options->blocks_per_processor,
        .bounces_per_wave = options->bounces_per_wave,
        .refill = options->refill,
        .light_profiles = options->light_profiles,
        .clocks = options->profile && !schedule->loops ? CLOCKS : 0,
        .photons = options->photons,
        .large = options->large,
        .check = options->check,
        .without_random = options->without == ICS_WITHOUT_RANDOM,
        .without_divergence = options->without == ICS_WITHOUT_DIVERGENCE,
        .start_shift = ics_settings_start_shift(options),
        .columns = schedule->columns,
        .counts_at_once = schedule->counts_at_once};
    ICS_TRY(define(options, schedule, &tables->device, &special, definitions, error));
    *out = (ics_program_options){.entry = schedule->entry,
                                 .definitions = definitions,
                                 .custom = options->custom,
                                 .fast_math = options->math != ICS_MATH_PORTABLE,
                                 .architecture = architecture,
                                 .use_cache = options->use_cache};
    return ICESTREAM_OK;
}
