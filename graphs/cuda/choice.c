#include "graphs/cuda/choice.h"

#include "base/disk.h"
#include "kernels/cache/cache.h"
#include "kernels/cuda/photon_counts.h"

#include <stdio.h>
#include <string.h>

bool ics_choice_candidate(const ics_choice_request *request, size_t index, ics_gpu_options *out)
{
    if (!ics_settings_candidate(request->options, index, out)) {
        return false;
    }
    ics_gpu_limits limits =
        ics_settings_assumed_limits(request->device.architecture, request->tables);
    limits.processors = request->device.processors;
    ics_settings_resolve(out, &limits);
    return true;
}

/* ---- which candidate ------------------------------------------------------------------------- */

bool ics_choice_suits(const ics_gpu_options *options, const ice_emission *emissions, uint32_t count)
{
    /* The slowest warp may take this many times as long as all warps on average: then about half of
     * the warps have nothing to do at the end of a batch. */
    enum { MOST = 2, WARP = 32 };
    const ics_gpu_schedule *schedule = ics_schedule_row(options->schedule);
    if (!schedule->takes_steps) {
        return true;
    }
    const uint64_t threads = options->pool / options->lanes;
    const uint64_t workers = schedule->warp_bytes > 0 ? threads / WARP : threads;
    uint64_t photons = 0, largest = 0;
    for (uint32_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
        largest = emissions[i].photons > largest ? emissions[i].photons : largest;
    }
    return largest * workers <= MOST * photons;
}

/* Whether the shared memory of a processor has room for the blocks of a candidate. */
static bool block_fits(const ics_gpu_options *one)
{
    return one->block <=
           ics_schedule_block_max(ics_schedule_row(one->schedule),
                                  ics_photon_counts_shared(&one->photons, &one->large));
}

/* Whether a choice begins with this schedule. */
static bool is_preferred(const ics_choice_request *request, const ics_gpu_schedule *schedule)
{
    return ics_settings_has_columns(request->options, &request->tables->device)
               ? schedule->preferred_in_columns
               : schedule->preferred;
}

int ics_choice_best(const ics_choice_request *request, const ics_choice_results *results,
                    const ice_emission *emissions, uint32_t count)
{
    int best = -1, first = -1;
    bool has_preferred = false;
    ics_gpu_options one;
    for (size_t i = 0; ics_choice_candidate(request, i, &one); ++i) {
        const double time = results->nanoseconds[i];
        const ics_gpu_schedule *schedule = ics_schedule_row(one.schedule);
        if (time == ICS_CHOICE_IMPOSSIBLE || !block_fits(&one) ||
            !ics_choice_suits(&one, emissions, count)) {
            continue;
        }
        if (time > 0 && (best < 0 || time < results->nanoseconds[best])) {
            best = (int)i;
        }
        if (first < 0 || (is_preferred(request, schedule) && !has_preferred)) {
            first = (int)i;
            has_preferred = is_preferred(request, schedule);
        }
    }
    return best >= 0 ? best : first;
}

int ics_choice_next(const ics_choice_request *request, const ics_choice_results *results,
                    const ice_emission *emissions, uint32_t count)
{
    ics_gpu_options one;
    int next = -1;
    for (size_t i = 0; ics_choice_candidate(request, i, &one); ++i) {
        const ics_gpu_schedule *schedule = ics_schedule_row(one.schedule);
        if (results->nanoseconds[i] == 0 && block_fits(&one) &&
            ics_choice_suits(&one, emissions, count) &&
            (next < 0 || is_preferred(request, schedule))) {
            next = (int)i;
            if (is_preferred(request, schedule)) {
                break; /* the other results are compared with this one */
            }
        }
    }
    return next;
}

/* ---- the key --------------------------------------------------------------------------------- */

/* Writes the digest of the program of a candidate that accepts blocks of any size. The digest
 * stands for the kernels of this version, the features of the world and the user's stage headers;
 * the programs of the other candidates differ only in numbers that the key contains. Returns 0 or
 * -1. */
static int digest_program(const ics_choice_request *request, char digest[65])
{
    ics_gpu_options options;
    size_t index = 0;
    do {
        if (!ics_choice_candidate(request, index++, &options)) {
            return -1;
        }
    } while (ics_schedule_row(options.schedule)->warp_bytes > 0);
    char definitions[ICS_DEFINITIONS_SIZE];
    ics_program_options made_from;
    if (ics_settings_program(&options, request->tables, request->device.architecture, &made_from,
                             definitions, NULL) != ICESTREAM_OK) {
        return -1;
    }
    return ics_program_digest(&made_from, digest, NULL) == ICESTREAM_OK ? 0 : -1;
}

/* Writes the digest of the options of one candidate. */
static int digest_candidate(const ics_gpu_options *options, char digest[65])
{
    const ics_cache_part parts[] = {
        {&options->schedule, sizeof options->schedule},
#define X(type, name) {&options->name, sizeof options->name},
        ICS_GPU_SPEED_OPTIONS(X)
#undef X
            {&options->tune, sizeof options->tune},
    };
    return ics_cache_key(parts, sizeof parts / sizeof *parts, digest);
}

typedef struct tables_digest {
    char text[65]; /* digest of all blocks so far */
    bool failed;
} tables_digest;

static void add_block(void *user, const void *bytes, size_t size)
{
    tables_digest *digest = user;
    const ics_cache_part parts[] = {{digest->text, sizeof digest->text}, {bytes, size}};
    digest->failed |= ics_cache_key(parts, sizeof parts / sizeof *parts, digest->text) != 0;
}

/* Writes the digest of all tables without the seed, because a run with another seed is as fast. */
static int digest_tables(const ics_tables *tables, char digest[65])
{
    ics_tables unseeded;
    memcpy(&unseeded, tables, sizeof unseeded); /* with the bytes between the members */
    unseeded.device.seed_low = unseeded.device.seed_high = 0;
    tables_digest all = {.failed = false};
    ics_tables_visit(&unseeded, add_block, &all);
    memcpy(digest, all.text, sizeof all.text);
    return all.failed ? -1 : 0;
}

int ics_choice_key(const ics_choice_request *request, char key[65])
{
    char program[65], tables[65], candidates[ICS_CHOICE_CANDIDATES_MAX][65];
    if (digest_program(request, program) != 0 || digest_tables(request->tables, tables) != 0) {
        return -1;
    }
    ics_cache_part parts[3 + ICS_CHOICE_CANDIDATES_MAX] = {
        {&request->device, sizeof request->device},
        ics_cache_text(program),
        ics_cache_text(tables)};
    size_t count = 3;
    ics_gpu_options options;
    for (size_t i = 0; ics_choice_candidate(request, i, &options); ++i) {
        if (digest_candidate(&options, candidates[i]) != 0) {
            return -1;
        }
        parts[count++] = ics_cache_text(candidates[i]);
    }
    return ics_cache_key(parts, count, key);
}

/* ---- files ----------------------------------------------------------------------------------- */

int ics_choice_path(const ics_choice_request *request, char *path, size_t size)
{
    char folder[4096], key[65];
    if (!request->options->use_cache || ics_cache_directory(folder, sizeof folder) != 0 ||
        ics_choice_key(request, key) != 0) {
        return -1;
    }
    const int length = snprintf(path, size, "%s/%s.choice", folder, key);
    return length > 0 && (size_t)length < size ? 0 : -1;
}

int ics_choice_read(const char *path, ics_choice_results *results)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    char line[128];
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned index;
        double nanoseconds;
        char end;
        if (sscanf(line, "candidate %u %lf ns%c", &index, &nanoseconds, &end) == 3 && end == '\n' &&
            index < ICS_CHOICE_CANDIDATES_MAX &&
            (nanoseconds == ICS_CHOICE_IMPOSSIBLE || (nanoseconds > 0 && nanoseconds < 1e9)) &&
            results->nanoseconds[index] == 0) {
            results->nanoseconds[index] = nanoseconds;
        }
    }
    fclose(file);
    ics_cache_used(path);
    return 0;
}

void ics_choice_write(const char *path, const ics_choice_results *results)
{
    ics_choice_results all = *results;
    (void)ics_choice_read(path, &all);
    char text[64 * ICS_CHOICE_CANDIDATES_MAX];
    size_t length = 0;
    for (unsigned i = 0; i < ICS_CHOICE_CANDIDATES_MAX; ++i) {
        if (all.nanoseconds[i] != 0) {
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "candidate %u %.6g ns\n", i, all.nanoseconds[i]);
        }
    }
    const ics_disk_part part = {text, length};
    (void)ics_disk_write_whole(path, &part, 1);
}
