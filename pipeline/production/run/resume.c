#include "pipeline/production/run/resume.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/new.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/generator/light_settings.h"
#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/production/checkpoint/checkpoint.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/units/hit_path.h"

#include <stdlib.h>

/* Finds the maths of a hit file that was made with the settings of this run. *counts false: there
 * is no such file, or it has no photon, and then the maths does not matter. */
static int find_maths(const char *path, const json_t *settings, bool *counts, ics_maths_used *out,
                      icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    icestream_account account;
    icestream_error reason = {.status = ICESTREAM_OK};
    *counts = false;
    int status = ics_hit_reader_open(path, false, &reader, &reason);
    if (status == ICESTREAM_OK) {
        const json_t *metadata = ics_hit_reader_metadata(reader);
        *counts = ics_metadata_same_settings(metadata, settings) &&
                  ics_metadata_account(metadata, &account) && account.created > 0;
        *out = ics_metadata_maths(metadata);
    }
    ics_hit_reader_destroy(reader);
    /* A file that cannot be read will be made again. */
    return status == ICESTREAM_E_MEMORY ? ics_error_copy(error, &reason) : ICESTREAM_OK;
}

/* With device.fallback cpu a run computes with fast maths while it has the GPU and with portable
 * maths afterwards. So its files may have either. */
bool ics_run_may_mix_maths(const icestream_config *config)
{
    return config->device.fallback == ICS_FALLBACK_CPU && config->device.math != ICS_MATH_PORTABLE;
}

/* The search through all hit files. */
typedef struct search {
    const json_t *settings;
    ics_maths_used expected;
    size_t count; /* of hit files with other maths */
    icestream_error found;
} search;

static int judge_file(void *user, const char *path, icestream_error *error)
{
    search *at = user;
    bool counts = false;
    ics_maths_used maths = ICS_MATHS_NONE;
    int status = find_maths(path, at->settings, &counts, &maths, error);
    if (status != ICESTREAM_OK || !counts || maths == at->expected) {
        return status;
    }
    const char *name = ics_metadata_maths_name(maths);
    if (at->count == 0) { /* first, because the list may be longer than the text of an error */
        ics_error_add(&at->found, ICESTREAM_E_OUTPUT,
                      "nothing was computed; --resume does not mix maths: continue with the "
                      "device and the device.math that made these files, or compute all files "
                      "again with --force");
    }
    ics_error_add(&at->found, ICESTREAM_E_OUTPUT, "%s: math: found %s, expected %s", path,
                  name != NULL ? name : "nothing", ics_metadata_maths_name(at->expected));
    at->count++;
    return ICESTREAM_OK;
}

static int find_other_maths(const ics_run_state *run, search *at, icestream_error *error)
{
    for (size_t i = 0; i < run->inputs.count; ++i) {
        const char *output = run->inputs.items[i].output;
        if (output != NULL) {
            ICS_TRY(judge_file(at, output, error));
        }
    }
    return run->common.known != NULL ? ics_known_hits_each(run->common.known, judge_file, at, error)
                                     : ICESTREAM_OK;
}

/* Makes the metadata that hits of an input must have. Of a step file its digest is not known yet;
 * if the run makes the steps, their particles are settings like others. */
static int expect_of(const ics_run_state *run, const ics_input *input, json_t **out,
                     icestream_error *error)
{
    char digest[ICS_DIGEST_TEXT];
    json_auto_t *light = NULL;
    bool has_light = false;
    if (input->source->makes) {
        icestream_error why = {.status = ICESTREAM_OK};
        int status = ics_light_settings_make(run->config, &light, &why);
        if (status == ICESTREAM_OK) {
            status = ics_light_digest_make(run->config, run->models, digest, &why);
        }
        /* ICESTREAM_E_CONFIG: what is wrong with a list is the business of its unit. */
        if (status != ICESTREAM_OK && status != ICESTREAM_E_CONFIG) {
            return ics_error_copy(error, &why);
        }
        has_light = status == ICESTREAM_OK;
    }
    ICS_TRY(ics_origin_metadata(&run->common.origin, has_light ? digest : NULL, out, error));
    return ics_origin_add_light(*out, has_light ? light : NULL, error);
}

/* Judges the hit files of the messages 0, 1, ... of a stream, up to the first that is missing. */
static int judge_messages(const ics_run_state *run, const ics_input *input, const json_t *settings,
                          size_t *count, icestream_error *found, icestream_error *error)
{
    bool there = true;
    for (uint64_t i = 0; there; ++i) {
        ICS_FREES char *path = ics_new_made(ics_hit_path_of_message(run->config, input->path, i));
        ICS_TRY(ics_hit_check_collect(path, settings, count, &there, found, error));
    }
    return ICESTREAM_OK;
}

/* Adds the hit files of other settings to `found`; *count: their number. */
static int find_other_settings(const ics_run_state *run, size_t *count, icestream_error *found,
                               icestream_error *error)
{
    for (size_t i = 0; i < run->inputs.count; ++i) {
        const ics_input *input = &run->inputs.items[i];
        const bool messages = input->source->continues && input->output == NULL;
        json_auto_t *settings = NULL;
        icestream_error later = {.status = ICESTREAM_OK};
        bool there = false;
        if (input->output == NULL && !messages) {
            continue;
        }
        const int status = expect_of(run, input, &settings, &later);
        if (status == ICESTREAM_E_MEMORY) {
            return ics_error_copy(error, &later);
        }
        if (status != ICESTREAM_OK) {
            continue; /* a fault of an input is the business of its unit */
        }
        ICS_TRY(messages
                    ? judge_messages(run, input, settings, count, found, error)
                    : ics_hit_check_collect(input->output, settings, count, &there, found, error));
    }
    return ICESTREAM_OK;
}

int ics_run_check_settings(const ics_run_state *run, icestream_error *error)
{
    size_t count = 0;
    icestream_error found = {.status = ICESTREAM_OK};
    ICS_TRY(find_other_settings(run, &count, &found, error));
    return count > 0 ? ics_error_copy(error, &found) : ICESTREAM_OK;
}

int ics_run_find_merged(ics_run_state *run, icestream_error *error)
{
    const char *folder = run->config->sink.directory;
    const bool resumes = run->options->resume;
    bool any = false;
    /* Waveforms are never in such a file. */
    if (!run->common.sink->files || run->common.origin.bins.width > 0 ||
        (run->options->force && !resumes)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_known_hits_create(folder, resumes ? "*.hits.npy" : ICS_KNOWN_HITS_OF_RUNS,
                                  &run->common.origin, &run->common.stop, &run->common.known,
                                  error));
    icestream_error why = {.status = ICESTREAM_OK};
    const int status = ics_known_hits_look(run->common.known, &any, &why);
    if (status != ICESTREAM_OK && ics_error_may_pass(&why)) {
        return ICESTREAM_OK; /* units look again */
    }
    /* Units would wait for the digests of their step files in vain. */
    if (status == ICESTREAM_OK && !any) {
        ics_known_hits_destroy(run->common.known);
        run->common.known = NULL;
    }
    return ics_error_copy(error, &why);
}

/* Opens the checkpoint of a named step file only to compare its settings. */
static int judge_checkpoint(ics_run_state *run, const ics_input *input, icestream_error *found,
                            icestream_error *error)
{
    json_auto_t *origin = NULL;
    ics_checkpoint *checkpoint = NULL;
    icestream_error why = {.status = ICESTREAM_OK};
    ICS_TRY(expect_of(run, input, &origin, error));
    if (run->common.content != NULL) {
        ics_new_member(origin, "content", json_string(run->common.content));
    }
    ICS_FREES char *path = ics_new_text("%s.checkpoint", input->output);
    const int status = ics_checkpoint_open(path, origin, &checkpoint, &why);
    ics_checkpoint_close(checkpoint);
    if (status == ICESTREAM_E_CONFIG) {
        if (found->status == ICESTREAM_OK) {
            ics_error_add(found, ICESTREAM_E_OUTPUT,
                          "nothing was computed; a checkpoint of other settings is not replaced: "
                          "give the settings of these files, choose another sink.directory, or "
                          "begin afresh with --force");
        }
        ics_error_add(found, ICESTREAM_E_OUTPUT, "%s", why.text);
    }
    /* What else is wrong with a checkpoint is found again, and logged, when its step file comes. A
     * fault of the system may have passed by then. */
    if (status != ICESTREAM_OK && why.cause != 0) {
        ics_run_log_text(run, ICS_EVENT_WARNING, "%s; this checkpoint is looked at again later",
                         why.text);
    }
    return status == ICESTREAM_E_MEMORY ? ics_error_copy(error, &why) : ICESTREAM_OK;
}

int ics_run_check_checkpoints(ics_run_state *run, icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    for (size_t i = 0; i < run->inputs.count; ++i) {
        const ics_input *input = &run->inputs.items[i];
        /* The unit of steps that the run makes looks at its checkpoint before anything else. */
        if (input->output != NULL && input->source->repeats && !input->source->makes) {
            ICS_TRY(judge_checkpoint(run, input, &found, error));
        }
    }
    return ics_error_copy(error, &found);
}

int ics_run_check_maths(ics_run_state *run, icestream_error *error)
{
    json_auto_t *settings = NULL;
    ics_device_facts facts;
    ics_device_facts_of(run->device, &facts);
    ICS_TRY(ics_origin_metadata(&run->common.origin, NULL, &settings, error));
    search at = {.expected = facts.maths, .settings = settings};
    ICS_TRY(find_other_maths(run, &at, error));
    if (at.count == 0) {
        return ICESTREAM_OK;
    }
    if (ics_run_may_mix_maths(run->config)) {
        ics_run_log_text(
            run, ICS_EVENT_WARNING,
            "%zu hit file%s of other maths than this run's, which is %s, "
            "and may be kept (device.fallback cpu); the trailer of each file names its maths",
            at.count, at.count == 1 ? " is" : "s are", ics_metadata_maths_name(facts.maths));
        return ICESTREAM_OK;
    }
    return ics_error_copy(error, &at.found);
}
