/* schedule: auto. Every candidate computes the first batch of the real input, and the run continues
 * with the fastest one. The rows of graphs/schedule.c name the candidates. */
#include "base/error.h"
#include "graphs/cuda/settings.h"
#include "kernels/cache/cache.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CANDIDATES_MAX = ICS_SCHEDULE_COUNT * ICS_SCHEDULE_CANDIDATES, WARM_UP = 2, MEASURED = 6 };

/* Everything that a choice depends on. */
typedef struct request {
    const ics_gpu_options *options; /* what the user has fixed */
    const ics_tables *tables;
    ics_gpu_device device;
} request;

/* Sets *out to the options of a candidate with every number that a run of it will have. Returns
 * false if there are fewer candidates. */
static bool candidate_at(const request *wanted, size_t index, ics_gpu_options *out)
{
    if (!ics_settings_candidate(wanted->options, index, out)) {
        return false;
    }
    ics_gpu_limits limits =
        ics_settings_assumed_limits(wanted->device.architecture, wanted->tables);
    limits.processors = wanted->device.processors;
    ics_settings_resolve(out, &limits);
    return true;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Computes a batch `times` times and drops the hits. */
static int compute(ics_gpu *gpu, const ice_emission *emissions, uint32_t count, uint32_t times,
                   icestream_error *error)
{
    uint32_t sent = 0, done = 0;
    while (done < times) {
        while (sent < times && sent - done < ics_gpu_credits(gpu)) {
            ICS_TRY(ics_gpu_submit(gpu, emissions, count, NULL, error));
            ++sent;
        }
        ICS_TRY(ics_gpu_advance(gpu, error));
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
    return ICESTREAM_OK;
}

/* Sets *seconds to the time (s) of a batch. */
static int measure(const ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, double *seconds,
                   icestream_error *error)
{
    ics_gpu *gpu = NULL;
    int status = ics_gpu_create(options, tables, &gpu, error);
    if (status == ICESTREAM_OK) {
        status = compute(gpu, emissions, count, WARM_UP, error);
    }
    if (status == ICESTREAM_OK) {
        ics_gpu_usage before, after;
        ics_gpu_usage_of(gpu, &before);
        status = compute(gpu, emissions, count, MEASURED, error);
        ics_gpu_usage_of(gpu, &after);
        *seconds = (after.seconds - before.seconds) / MEASURED;
    }
    ics_gpu_destroy(gpu);
    return status;
}

/* ---- earlier choices ------------------------------------------------------------------------- */

/* Copies the key of the program of a candidate that accepts blocks of any size. This key stands for
 * the kernels of this version, the features of the world and the user's stage headers. Returns 0,
 * or -1 if the program does not compile; measuring reports why. */
static int program_key(const request *wanted, char key[65])
{
    ics_gpu_options options;
    size_t index = 0;
    do {
        if (!candidate_at(wanted, index++, &options)) {
            return -1;
        }
    } while (ics_schedule_row(options.schedule)->warp_queues);
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options made_from;
    ics_program *program = NULL;
    const int architecture = wanted->device.architecture;
    if (ics_settings_program(&options, wanted->tables, architecture, &made_from, definitions,
                             NULL) != ICESTREAM_OK ||
        ics_program_create(&made_from, &program, NULL) != ICESTREAM_OK) {
        return -1;
    }
    memcpy(key, program->key, sizeof program->key);
    ics_program_destroy(program);
    return 0;
}

/* Writes the path of the file that remembers this choice. The choice belongs to a device, a world,
 * the candidates, and what the user has fixed. Returns 0, or -1 if there is no cache. */
static int choice_path(const request *wanted, char *path, size_t size)
{
    const ics_gpu_options *options = wanted->options;
    char folder[4096], key[65], program[65];
    if (!options->use_cache || ics_cache_directory(folder, sizeof folder) ||
        program_key(wanted, program) != 0) {
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
    uint32_t candidates[CANDIDATES_MAX][5] = {{0}};
    ics_gpu_options one;
    for (size_t i = 0; ics_settings_candidate(options, i, &one); ++i) {
        const uint32_t numbers[] = {(uint32_t)one.schedule, one.pool, one.bounces_per_wave,
                                    one.block, one.refill};
        memcpy(candidates[i], numbers, sizeof numbers);
    }
    const ics_cache_part parts[] = {{&wanted->device, sizeof wanted->device},
                                    {candidates, sizeof candidates},
                                    {fixed, sizeof fixed},
                                    ics_cache_text(program),
                                    {wanted->tables->memory, wanted->tables->bytes}};
    if (ics_cache_key(parts, sizeof parts / sizeof *parts, key) != 0) {
        return -1;
    }
    const int length = snprintf(path, size, "%s/%s.choice", folder, key);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

/* Returns the number of the candidate that a file remembers, or -1 if there is no such file. */
static int remembered(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    int number = -1;
    if (fscanf(file, "candidate %d", &number) != 1 || number < 0 || number >= CANDIDATES_MAX) {
        number = -1;
    }
    fclose(file);
    if (number >= 0) {
        ics_cache_used(path);
    }
    return number;
}

/* If the file cannot be written, the next run measures again. */
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

/* A text of a fixed size that lines are added to; what does not fit is left out. */
typedef struct report_text {
    char *text;
    size_t size;
} report_text;

static void report_line(report_text report, const ics_gpu_options *options, const char *result)
{
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    const size_t used = strlen(report.text);
    if (used >= report.size) {
        return;
    }
    snprintf(report.text + used, report.size - used, "%s, pool %u, block %u%s%.0u%s%.0u: %s\n",
             ics_graph_schedule_name(options->schedule), options->pool, options->block,
             schedule->long_visits ? ", bounces per wave " : "",
             schedule->long_visits ? options->bounces_per_wave : 0,
             schedule->has_refill ? ", refill " : "", schedule->has_refill ? options->refill : 0,
             result);
}

/* Measures all candidates. *best: the number of the fastest one. ICESTREAM_E_MEMORY: none fits into
 * the memory. Any other error: the device failed. */
static int measure_all(const request *wanted, const ice_emission *emissions, uint32_t count,
                       report_text report, int *best, icestream_error *error)
{
    uint64_t photons = 0;
    for (uint32_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
    }
    *best = -1;
    double best_seconds = 0;
    int status = ICESTREAM_OK;
    ics_gpu_options tried;
    for (size_t i = 0; candidate_at(wanted, i, &tried); ++i) {
        if (!ics_schedule_accepts_block(ics_schedule_row(tried.schedule), tried.block)) {
            report_line(report, &tried, "not with blocks of this size");
            continue;
        }
        double seconds = 0;
        status = measure(&tried, wanted->tables, emissions, count, &seconds, error);
        if (status == ICESTREAM_E_MEMORY) {
            report_line(report, &tried, "too little memory");
            continue;
        }
        if (status != ICESTREAM_OK) {
            return status;
        }
        char result[64];
        snprintf(result, sizeof result, "%.3f ns per photon", 1e9 * seconds / (double)photons);
        report_line(report, &tried, result);
        if (*best < 0 || seconds < best_seconds) {
            *best = (int)i;
            best_seconds = seconds;
        }
    }
    if (*best < 0 && status == ICESTREAM_OK) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "no schedule takes blocks of this size");
    }
    return *best < 0 ? status : ICESTREAM_OK;
}

int ics_gpu_choose(ics_gpu_options *options, const ics_tables *tables,
                   const ice_emission *emissions, uint32_t count, char *report, size_t report_size,
                   icestream_error *error)
{
    report[0] = '\0';
    const report_text lines = {report, report_size};
    const ics_gpu_options given = *options;
    request wanted = {.options = &given, .tables = tables};
    memset(&wanted.device, 0, sizeof wanted.device); /* the key digests its padding, too */
    ICS_TRY(ics_gpu_describe(options->ordinal, &wanted.device, error));
    wanted.device.memory_free = 0; /* changes from moment to moment */
    char path[4200] = "";
    const bool cached = choice_path(&wanted, path, sizeof path) == 0;
    const int before = cached ? remembered(path) : -1;
    if (before >= 0 && candidate_at(&wanted, (size_t)before, options)) {
        report_line(lines, options, "chosen by an earlier run");
        return ICESTREAM_OK;
    }
    int best = -1;
    ICS_TRY(measure_all(&wanted, emissions, count, lines, &best, error));
    (void)candidate_at(&wanted, (size_t)best, options);
    report_line(lines, options, "chosen");
    if (cached) {
        remember(path, best);
    }
    return ICESTREAM_OK;
}
