/* What --resume asks of all outputs before anything is computed: the maths that they were computed
 * with. Whether one is complete and of this input, readers see when its turn comes (unit.c). */
#include "pipeline/error.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/host/run_state.h"

/* The maths of a hit file that this run's settings made; *counts false: there is no such file, or
 * no photon in it, which is the same with any maths. */
static int find_maths(const char *path, const json_t *settings, bool *counts, is_maths_used *out,
                      is_error *error)
{
    is_hit_reader *reader = NULL;
    is_account account;
    is_error reason = {.status = IS_OK};
    *counts = false;
    int status = is_hit_reader_open(path, false, &reader, &reason);
    if (status == IS_OK) {
        const json_t *metadata = is_hit_reader_metadata(reader);
        *counts = is_metadata_same_settings(metadata, settings) &&
                  is_metadata_account(metadata, &account) && account.created > 0;
        *out = is_metadata_maths(metadata);
    }
    is_hit_reader_destroy(reader);
    /* A file that cannot be read is made anew. */
    return status == IS_E_MEMORY ? is_error_copy(error, &reason) : IS_OK;
}

/* With device.fallback cpu one run computes with fast maths while the GPU is there and with
 * portable ones without it, so the files of an earlier part of it may be either. */
static bool may_mix(const is_config *config)
{
    return config->device.fallback == IS_FALLBACK_CPU && config->device.math != IS_MATH_PORTABLE;
}

/* Hit files that were looked at. */
typedef struct search {
    const json_t *settings;
    is_maths_used expected;
    size_t count; /* with other maths */
    is_error found;
} search;

static int judge_file(void *user, const char *path, is_error *error)
{
    search *at = user;
    bool counts = false;
    is_maths_used maths = IS_MATHS_NONE;
    int status = find_maths(path, at->settings, &counts, &maths, error);
    if (status != IS_OK || !counts || maths == at->expected) {
        return status;
    }
    const char *name = is_maths_name(maths);
    if (at->count == 0) { /* first, for the list may be longer than what an error holds */
        is_error_add(&at->found, IS_E_OUTPUT,
                     "nothing was computed; --resume does not mix maths: go on with the "
                     "device and the device.math that made these files, or make all files "
                     "anew with --force");
    }
    is_error_add(&at->found, IS_E_OUTPUT, "%s: math: found %s, expected %s", path,
                 name != NULL ? name : "nothing", is_maths_name(at->expected));
    at->count++;
    return IS_OK;
}

static int find_other_maths(const is_run_state *run, search *at, is_error *error)
{
    int status = IS_OK;
    for (size_t i = 0; status == IS_OK && i < run->inputs.count; ++i) {
        const char *output = run->inputs.items[i].output;
        status = output != NULL ? judge_file(at, output, error) : IS_OK;
    }
    return status == IS_OK && run->common.known != NULL
               ? is_known_hits_each(run->common.known, judge_file, at, error)
               : status;
}

int is_run_check_maths(is_run_state *run, is_error *error)
{
    json_t *settings = NULL;
    search at = {.expected = is_device_maths(run->device)};
    int status = is_run_origin_metadata(&run->common.origin, NULL, &settings, error);
    if (status == IS_OK) {
        at.settings = settings;
        status = find_other_maths(run, &at, error);
    }
    json_decref(settings);
    if (status != IS_OK || at.count == 0) {
        return status;
    }
    if (may_mix(run->config)) {
        is_run_say(run, IS_EVENT_WARNING,
                   "%zu hit file%s of other maths than this run's, which is %s, "
                   "and may be kept (device.fallback cpu); the trailer of each tells its own",
                   at.count, at.count == 1 ? " is" : "s are",
                   is_maths_name(is_device_maths(run->device)));
        return IS_OK;
    }
    return is_error_copy(error, &at.found);
}
