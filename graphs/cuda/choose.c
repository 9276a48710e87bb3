/* schedule: auto. The candidates carry the first batch of the real input, and the fastest stays. */
#include "graphs/cuda/check.h"
#include "graphs/cuda/schedule.h"
#include "kernels/cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is tried. thread-per-step is not: it waits for the slowest photon of every warp. 0: the
 * schedule's own default. */
typedef struct candidate {
    ics_schedule schedule;
    uint32_t pool, bounces_per_wave, block, refill;
} candidate;

static const candidate candidates[] = {
    {ICS_SCHEDULE_MONOLITHIC, 0, 0, 128, 4}, {ICS_SCHEDULE_MONOLITHIC, 0, 0, 128, 6},
    {ICS_SCHEDULE_JOB_QUEUE, 0, 0, 128, 0},  {ICS_SCHEDULE_FUSED, 0, 128, 128, 4},
    {ICS_SCHEDULE_FUSED, 0, 256, 128, 4},    {ICS_SCHEDULE_WAVEFRONT, 1u << 19, 0, 256, 0},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates, WARM_UP = 2, MEASURED = 6 };

/* The user's own numbers stand. */
static ics_gpu_options with(const ics_gpu_options *options, const candidate *one)
{
    ics_gpu_options result = *options;
    result.schedule = one->schedule;
    result.pool = options->pool ? options->pool : one->pool;
    result.bounces_per_wave =
        options->bounces_per_wave ? options->bounces_per_wave : one->bounces_per_wave;
    result.block = options->block ? options->block : one->block;
    result.refill = options->refill ? options->refill : one->refill;
    return result;
}

/* The same with every number that a run of it will have. */
static ics_gpu_options resolved(const ics_gpu_options *options, const candidate *one,
                                const ics_tables *tables, const ics_gpu_device *device)
{
    ics_gpu_options result = with(options, one);
    ics_gpu_limits limits = ics_schedule_assumed_limits(device->architecture, tables);
    limits.processors = device->processors;
    ics_schedule_resolve(&result, &limits);
    return result;
}

bool ics_schedule_candidate(const ics_gpu_options *options, size_t index, ics_gpu_options *out)
{
    if (index >= CANDIDATES) {
        return false;
    }
    *out = with(options, &candidates[index]);
    return true;
}

static int carry(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, uint32_t times,
                 ics_gpu_error *error)
{
    uint32_t sent = 0, done = 0;
    while (done < times) {
        int status = ICS_GRAPH_OK;
        while (status == ICS_GRAPH_OK && sent < times && sent - done < ics_gpu_credits(gpu)) {
            status = ics_gpu_submit(gpu, emissions, count, NULL, error);
            ++sent;
        }
        if (status == ICS_GRAPH_OK) {
            status = ics_gpu_advance(gpu, error);
        }
        if (status != ICS_GRAPH_OK) {
            return status;
        }
        ics_gpu_result result;
        bool any = false;
        while (ics_gpu_take(gpu, &result)) {
            ics_graph_arrivals_free(&result.arrivals);
            ++done;
            any = true;
        }
        if (!any && done < times) {
            ics_gpu_wait(gpu, 1);
        }
    }
    return ICS_GRAPH_OK;
}

/* Seconds per batch. */
static int measure(const ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, double *seconds,
                   ics_gpu_error *error)
{
    ics_gpu *gpu = NULL;
    int status = ics_gpu_create(options, tables, &gpu, error);
    if (status == ICS_GRAPH_OK) {
        status = carry(gpu, emissions, count, WARM_UP, error);
    }
    if (status == ICS_GRAPH_OK) {
        ics_gpu_usage before, after;
        ics_gpu_usage_of(gpu, &before);
        status = carry(gpu, emissions, count, MEASURED, error);
        ics_gpu_usage_of(gpu, &after);
        *seconds = (after.seconds - before.seconds) / MEASURED;
    }
    ics_gpu_destroy(gpu);
    return status;
}

/* ---- what was chosen before ------------------------------------------------------------------ */

/* The name of the last candidate's program, which stands for this version's kernels, the features
 * of the world and the user's own stage headers, and takes blocks of any size. Returns 0, or -1: it
 * does not compile. */
static int program_key(const ics_gpu_options *options, const ics_tables *tables,
                       const ics_gpu_device *device, char key[65])
{
    const ics_gpu_options last = resolved(options, &candidates[CANDIDATES - 1], tables, device);
    char definitions[ICS_DEFINITIONS_SIZE], why[512];
    ics_program_options wanted;
    ics_gpu_error ignored; /* measuring will complain */
    ics_program *program = NULL;
    if (ics_schedule_program_options(&last, tables, device->architecture, &wanted, definitions,
                                     &ignored) != ICS_GRAPH_OK ||
        ics_program_create(&wanted, &program, why, sizeof why) != 0) {
        return -1;
    }
    memcpy(key, program->key, sizeof program->key);
    ics_program_destroy(program);
    return 0;
}

/* A choice belongs to a device, a world and what the user has fixed. Returns 0, or -1: no cache. */
static int choice_path(const ics_gpu_options *options, const ics_tables *tables,
                       const ics_gpu_device *device, char *path, size_t size)
{
    char folder[4096], key[65], program[65];
    if (!options->use_cache || ics_cache_directory(folder, sizeof folder) ||
        program_key(options, tables, device, program) != 0) {
        return -1;
    }
    const uint32_t fixed[] = {options->pool,
                              options->bounces_per_wave,
                              options->block,
                              options->refill,
                              options->blocks_per_processor,
                              options->lanes,
                              options->hits,
                              options->batch_emissions,
                              options->batch_photons,
                              options->sort,
                              options->when,
                              options->every,
                              options->math};
    const ics_cache_part parts[] = {{device, sizeof *device},
                                    {candidates, sizeof candidates},
                                    {fixed, sizeof fixed},
                                    ics_cache_text(program),
                                    {tables->memory, tables->bytes}};
    if (ics_cache_key(parts, sizeof parts / sizeof *parts, key) != 0) {
        return -1;
    }
    const int length = snprintf(path, size, "%s/%s.choice", folder, key);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

/* The number of a candidate, -1: none is remembered. */
static int remembered(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    int number = -1;
    if (fscanf(file, "candidate %d", &number) != 1 || number < 0 || number >= CANDIDATES) {
        number = -1;
    }
    fclose(file);
    if (number >= 0) {
        ics_cache_used(path);
    }
    return number;
}

/* A choice that cannot be kept is measured again next time. */
static void remember(const char *path, int number)
{
    char partial[4300]; /* the path, a dot, a number */
    snprintf(partial, sizeof partial, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(partial, "w");
    if (file == NULL) {
        return;
    }
    const bool written = fprintf(file, "candidate %d\n", number) > 0;
    if (fclose(file) != 0 || !written || rename(partial, path) != 0) {
        remove(partial);
    }
}

/* ---- choosing -------------------------------------------------------------------------------- */

static void report_line(char *report, size_t size, const ics_gpu_options *options,
                        const char *result)
{
    const size_t used = strlen(report);
    if (used >= size) {
        return;
    }
    snprintf(report + used, size - used, "%s, pool %u, block %u%s%.0u%s%.0u: %s\n",
             ics_graph_schedule_name(options->schedule), options->pool, options->block,
             options->schedule == ICS_SCHEDULE_FUSED ? ", bounces per wave " : "",
             options->schedule == ICS_SCHEDULE_FUSED ? options->bounces_per_wave : 0,
             options->schedule == ICS_SCHEDULE_MONOLITHIC ? ", refill " : "",
             options->schedule == ICS_SCHEDULE_MONOLITHIC ? options->refill : 0, result);
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   ics_gpu_error *error)
{
    report[0] = '\0';
    ics_gpu_device device;
    memset(&device, 0, sizeof device);
    const int described = ics_gpu_describe(options->ordinal, &device, error);
    if (described != ICS_GRAPH_OK) {
        return described;
    }
    device.memory_free = 0; /* of the moment: no part of what a choice belongs to */
    char path[4200] = "";
    const bool cached = choice_path(options, tables, &device, path, sizeof path) == 0;
    const int before = cached ? remembered(path) : -1;
    if (before >= 0) {
        *options = resolved(options, &candidates[before], tables, &device);
        report_line(report, report_size, options, "chosen by an earlier run");
        return ICS_GRAPH_OK;
    }
    uint64_t photons = 0;
    for (uint32_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
    }
    int best = -1;
    double best_seconds = 0;
    for (int i = 0; i < CANDIDATES; ++i) {
        const ics_gpu_options tried = resolved(options, &candidates[i], tables, &device);
        if (!ics_schedule_accepts_block(ics_schedule_row(tried.schedule), tried.block)) {
            report_line(report, report_size, &tried, "not with blocks of this size");
            continue;
        }
        double seconds = 0;
        const int status = measure(&tried, tables, emissions, count, &seconds, error);
        /* A candidate that does not fit is none; a device that fails is a failure. */
        if (status != ICS_GRAPH_OK && status != ICS_GRAPH_NO_MEMORY) {
            return status;
        }
        char result[64];
        if (status == ICS_GRAPH_OK) {
            snprintf(result, sizeof result, "%.3f ns per photon", 1e9 * seconds / (double)photons);
        } else {
            snprintf(result, sizeof result, "too little memory");
        }
        report_line(report, report_size, &tried, result);
        if (status == ICS_GRAPH_OK && (best < 0 || seconds < best_seconds)) {
            best = i;
            best_seconds = seconds;
        }
    }
    if (best < 0) {
        return error->status; /* of the last one: none fits */
    }
    *options = resolved(options, &candidates[best], tables, &device);
    report_line(report, report_size, options, "chosen");
    if (cached) {
        remember(path, best);
    }
    return ICS_GRAPH_OK;
}
