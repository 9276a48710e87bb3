#include "graphs/cuda/choice.h"

#include "base/disk.h"
#include "kernels/cache/cache.h"

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
    } while (ics_schedule_row(options.schedule)->warp_queues);
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
    const ics_cache_part parts[] = {{&options->schedule, sizeof options->schedule},
#define X(type, name) {&options->name, sizeof options->name},
                                    ICS_GPU_SPEED_OPTIONS(X)
#undef X
    };
    return ics_cache_key(parts, sizeof parts / sizeof *parts, digest);
}

typedef struct tables_digest {
    char text[65]; /* of all blocks so far */
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
    memset(unseeded.device.key_low, 0, sizeof unseeded.device.key_low);
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

int ics_choice_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return -1;
    }
    int number = -1;
    if (fscanf(file, "candidate %d", &number) != 1 || number < 0 ||
        number >= ICS_CHOICE_CANDIDATES_MAX) {
        number = -1;
    }
    fclose(file);
    if (number >= 0) {
        ics_cache_used(path);
    }
    return number;
}

void ics_choice_write(const char *path, int number)
{
    char line[32];
    const int length = snprintf(line, sizeof line, "candidate %d\n", number);
    const ics_disk_part part = {line, (size_t)length};
    (void)ics_disk_write_whole(path, &part, 1);
}
