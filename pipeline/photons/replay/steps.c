#include "pipeline/photons/replay/steps.h"

#include "base/blocked.h"
#include "base/error.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/generator/light_settings.h"
#include "pipeline/photons/generator/step_generator.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/provenance/settings.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16384 }; /* steps read at a time */

/* The state of the search, which reads one step file after the other. */
typedef struct search {
    const ics_replay_photons *photons;
    const icestream_config *config;
    json_t *light; /* what the steps' light must be made with */
    uint32_t spectra;
    bool named;        /* --steps names the file: it is used even if its digest is another one */
    const char **from; /* [count], where each step was found; NULL: not found yet */
    ics_replay_steps *steps;
    bool used; /* the file that is read now has some of the steps */
} search;

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for steps");
}

/* ---- photons --------------------------------------------------------------------------------- */

int ics_replay_photon_compare(const void *a, const void *b)
{
    const ics_replay_photon *left = a, *right = b;
    if (left->event_id != right->event_id) {
        return left->event_id < right->event_id ? -1 : 1;
    }
    if (left->step_id != right->step_id) {
        return left->step_id < right->step_id ? -1 : 1;
    }
    return (left->photon_id > right->photon_id) - (left->photon_id < right->photon_id);
}

size_t ics_replay_photons_unite(ics_replay_photon *items, size_t count)
{
    size_t kept = 0;
    qsort(items, count, sizeof *items, ics_replay_photon_compare);
    for (size_t i = 0; i < count; ++i) {
        if (kept == 0 || ics_replay_photon_compare(&items[kept - 1], &items[i]) != 0) {
            items[kept++] = items[i];
        }
    }
    return kept;
}

size_t ics_replay_photons_find(const ics_replay_photons *photons, uint64_t event_id,
                               uint32_t step_id)
{
    const ics_replay_photon first = {event_id, step_id, 0};
    size_t low = 0, high = photons->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ics_replay_photon_compare(&photons->items[middle], &first) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- which files ----------------------------------------------------------------------------- */

/* The patterns of the source's files. */
typedef struct pattern_list {
    char **items;
    size_t count;
} pattern_list;

static void free_patterns(pattern_list *patterns)
{
    for (size_t i = 0; i < patterns->count; ++i) {
        free(patterns->items[i]);
    }
    free(patterns->items);
}

/* Adds a pattern and takes ownership of it. NULL stands for a pattern for which there was no
 * memory. */
static int add_pattern(pattern_list *patterns, char *pattern, icestream_error *error)
{
    char **grown = reallocarray(patterns->items, patterns->count + 1, sizeof *grown);
    if (grown != NULL) {
        patterns->items = grown;
    }
    if (grown == NULL || pattern == NULL) {
        free(pattern);
        return no_memory(error);
    }
    patterns->items[patterns->count++] = pattern;
    return ICESTREAM_OK;
}

static int add_folder(pattern_list *patterns, const icestream_config *config, const char *folder,
                      const char *below, icestream_error *error)
{
    char *pattern = NULL;
    if (asprintf(&pattern, "%s%s/%s", folder, below, config->source.pattern) < 0) {
        return no_memory(error);
    }
    return add_pattern(patterns, pattern, error);
}

/* Lists the patterns of the source's files, also of those that a run has moved to its spool. */
static int list_source(const icestream_config *config, pattern_list *patterns,
                       icestream_error *error)
{
    if (config->source.directory != NULL) {
        const char *spool = config->source.spool;
        ICS_TRY(add_folder(patterns, config, config->source.directory, "", error));
        return spool != NULL ? add_folder(patterns, config, spool, "/done", error)
                             : add_folder(patterns, config, config->source.directory,
                                          "/.icestream/done", error);
    }
    for (size_t i = 0; i < config->source.count; ++i) {
        if (strcmp(config->source.files[i], "-") == 0) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "source.files: found \"-\", expected files; if the steps came "
                                 "through a pipe, name a file with them: --steps FILE");
        }
        ICS_TRY(add_pattern(patterns, strdup(config->source.files[i]), error));
    }
    return ICESTREAM_OK;
}

static int find_files(const pattern_list *patterns, glob_t *found, icestream_error *error)
{
    for (size_t i = 0; i < patterns->count; ++i) {
        if (glob(patterns->items[i], i > 0 ? GLOB_APPEND : 0, NULL, found) == GLOB_NOSPACE) {
            return no_memory(error);
        }
    }
    return ICESTREAM_OK;
}

/* ---- one file -------------------------------------------------------------------------------- */

static bool names_digest(const json_t *item, const char *digest)
{
    return json_is_string(item) && strcmp(json_string_value(item), digest) == 0;
}

/* Returns whether the hit file names this digest as one of its step files. Stores in *names_inputs
 * whether the hit file names any step file. */
static bool is_origin_of_hits(const json_t *metadata, const char *digest, bool *names_inputs)
{
    const json_t *one = json_object_get(json_object_get(metadata, "digests"), "input");
    const json_t *many = json_object_get(metadata, "inputs"), *item;
    bool found = names_digest(one, digest);
    size_t i;
    json_array_foreach(many, i, item)
    {
        found = found || names_digest(item, digest);
    }
    *names_inputs = json_is_string(one) || json_is_array(many);
    return found;
}

/* The same for a step file that was checked, also if the hit file names a large one by the SHA-256
 * that sha256sum prints, as versions before 0.3.0 did. */
static int find_origin(const json_t *metadata, ics_step_reader *reader, const char *digest,
                       bool *names_inputs, bool *found, icestream_error *error)
{
    char plain[ICS_PARTS_DIGEST_TEXT];
    *found = is_origin_of_hits(metadata, digest, names_inputs);
    if (*found || !*names_inputs || !ics_parts_digest_has_parts(digest)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_step_reader_plain_digest(reader, NULL, plain, error));
    *found = is_origin_of_hits(metadata, plain, names_inputs);
    return ICESTREAM_OK;
}

/* Stores a step for all of its photons. */
static int store_step(search *s, const icestream_step *step, const char *path,
                      icestream_error *error)
{
    const ics_replay_photons *photons = s->photons;
    size_t i = ics_replay_photons_find(photons, step->event_id, step->step_id);
    for (; i < photons->count && photons->items[i].event_id == step->event_id &&
           photons->items[i].step_id == step->step_id;
         ++i) {
        icestream_step *item = &s->steps->items[i];
        const void *before = item, *now = step; /* compares all bytes: rows have no gaps */
        if (s->from[i] != NULL && memcmp(before, now, sizeof *step) != 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s and %s: found two different steps with event_id %" PRIu64
                                 " and step_id %u, expected one; name the right file: --steps FILE",
                                 s->from[i], path, step->event_id, step->step_id);
        }
        if (photons->items[i].photon_id >= step->photons) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: event_id %" PRIu64 ", step_id %u: found photons 0 to %" PRId64
                                 ", expected photon %u among them",
                                 path, step->event_id, step->step_id, (int64_t)step->photons - 1,
                                 photons->items[i].photon_id);
        }
        *item = *step;
        s->from[i] = path;
        s->used = true;
    }
    return ICESTREAM_OK;
}

static int read_steps(search *s, ics_step_reader *reader, const char *path, icestream_error *error)
{
    ICS_FREES icestream_step *steps = malloc(BLOCK * sizeof *steps);
    if (steps == NULL) {
        return no_memory(error);
    }
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_step_reader_read(reader, steps, BLOCK, &got, error));
        for (size_t i = 0; i < got; ++i) {
            ICS_TRY(store_step(s, &steps[i], path, error));
        }
    }
    return ICESTREAM_OK;
}

static int look_through(search *s, const char *path, icestream_error *error)
{
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    json_auto_t *accepted = NULL;
    ics_step_summary summary;
    bool names_inputs = false, counts = true, is_named = false;
    ICS_TRY(ics_step_reader_open(path, s->spectra, &reader, error));
    ICS_TRY(ics_step_reader_check(reader, &summary, NULL, error));
    ICS_TRY(
        find_origin(s->photons->metadata, reader, summary.digest, &names_inputs, &is_named, error));
    if (!is_named) {
        counts = s->named || !names_inputs;
        s->steps->foreign = names_inputs && s->named;
    }
    s->used = false;
    if (counts) {
        ICS_TRY(read_steps(s, reader, path, error));
    }
    if (!s->used) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_light_record_judge(s->config, s->light, path, ics_step_reader_light(reader),
                                   &accepted, error));
    return json_array_append_new(s->steps->inputs, json_string(summary.digest)) == 0
               ? ICESTREAM_OK
               : no_memory(error);
}

/* ---- steps that a run makes ------------------------------------------------------------------ */

static bool has_all(const search *s)
{
    size_t found = 0;
    for (size_t i = 0; i < s->photons->count; ++i) {
        found += s->from[i] != NULL;
    }
    return found == s->photons->count;
}

/* Makes the metadata that the hits would have. */
static int expect_of(const icestream_config *config, const ics_models *models, const char *digest,
                     json_t **out, icestream_error *error)
{
    ics_origin origin;
    json_auto_t *light = NULL, *settings = NULL;
    ICS_TRY(ics_origin_create(config, models, &origin, error));
    ICS_TRY(ics_origin_settings(config, models, &settings, error));
    origin.settings = settings;
    origin.bins = (ics_bin_rule){.width = 0};
    ICS_TRY(ics_origin_metadata(&origin, digest, out, error));
    ICS_TRY(ics_light_settings_make(config, &light, error));
    return ics_origin_add_light(*out, light, error);
}

/* Names the settings that differ between the run of the hits and the configuration. */
static int refuse_light(const search *s, const icestream_config *config, const ics_models *models,
                        const char *digest, icestream_error *error)
{
    char keys[1024] = "";
    json_auto_t *ours = NULL;
    ICS_TRY(expect_of(config, models, digest, &ours, error));
    ICS_TRY(ics_settings_list(s->photons->metadata, ours, keys, sizeof keys, error));
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "the hits: found digests.input of other steps than the %s of this "
                         "configuration, expected the configuration that made the hits; these "
                         "keys differ (hits, configuration): %s; or name the file with their "
                         "steps: --steps FILE",
                         ics_config_has_particles(config) ? "particles" : "workload", keys);
}

/* Digests the light, which must be that of the hit file, if the hit file names its steps. */
static int check_light(const search *s, const icestream_config *config, const ics_models *models,
                       char digest[ICS_DIGEST_TEXT], icestream_error *error)
{
    bool names_inputs = false;
    if (ics_particle_list_is_stream(config->particles.file)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "particles.file: found a pipe, expected a file; or name a file with "
                             "the steps: --steps FILE");
    }
    ICS_TRY(ics_light_digest_make(config, models, digest, error));
    return is_origin_of_hits(s->photons->metadata, digest, &names_inputs) || !names_inputs
               ? ICESTREAM_OK
               : refuse_light(s, config, models, digest, error);
}

static int find_generated(search *s, ics_step_generator *generator, uint32_t threads,
                          icestream_error *error)
{
    const char *name = ics_step_generator_name(generator);
    ICS_FREES icestream_step *steps = malloc(BLOCK * sizeof *steps);
    if (steps == NULL) {
        return no_memory(error);
    }
    ICS_TRY(ics_step_generator_start(generator, threads, error));
    for (size_t got = 1; got > 0 && !has_all(s);) {
        ICS_TRY(ics_step_generator_read(generator, s->spectra, steps, BLOCK, &got, error));
        for (size_t i = 0; i < got; ++i) {
            ICS_TRY(store_step(s, &steps[i], name, error));
        }
    }
    return ICESTREAM_OK;
}

static int make_again(search *s, const icestream_config *config, const ics_models *models,
                      icestream_error *error)
{
    char digest[ICS_DIGEST_TEXT];
    ICS_DESTROYS(ics_step_generator_destroy) ics_step_generator *generator = NULL;
    ICS_TRY(check_light(s, config, models, digest, error));
    ICS_TRY(ics_step_generator_create(config, models, -1, &generator, error));
    ICS_TRY(find_generated(s, generator, ics_workers_thread_count(config->device.threads), error));
    return json_array_append_new(s->steps->inputs, json_string(digest)) == 0 ? ICESTREAM_OK
                                                                             : no_memory(error);
}

/* ---- all files ------------------------------------------------------------------------------- */

/* Checks that all folders of the source can be read. Otherwise a missing step may be in such a
 * folder, and the error names the folder. */
static int require_folders(const pattern_list *patterns, icestream_error *error)
{
    char where[512];
    int cause;
    for (size_t i = 0; i < patterns->count; ++i) {
        if (ics_blocked_pattern(patterns->items[i], where, sizeof where, &cause)) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: %s; the missing steps may be there: make it readable, "
                                 "or name a file with the steps: --steps FILE",
                                 where, strerror(cause));
        }
    }
    return ICESTREAM_OK;
}

static int require_all(const search *s, const pattern_list *patterns, icestream_error *error)
{
    bool names_inputs = false;
    (void)is_origin_of_hits(s->photons->metadata, "", &names_inputs);
    for (size_t i = 0; i < s->photons->count; ++i) {
        if (s->from[i] == NULL) {
            return require_folders(patterns, error) != ICESTREAM_OK
                       ? ICESTREAM_E_INPUT
                       : ics_error_set(
                             error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64
                             ", step_id %u: found no such step in %zu step file%s%s, "
                             "expected it in %s",
                             s->photons->items[i].event_id, s->photons->items[i].step_id,
                             s->steps->files, s->steps->files == 1 ? "" : "s",
                             names_inputs && !s->named ? " from which the hits were made" : "",
                             s->named ? "the file of --steps"
                                      : "the step files of the configuration's source; or name "
                                        "another file: --steps FILE");
        }
    }
    return ICESTREAM_OK;
}

static int search_files(search *s, const glob_t *found, const char *path, icestream_error *error)
{
    s->steps->files = path != NULL ? 1 : found->gl_pathc;
    if (path != NULL) {
        return look_through(s, path, error);
    }
    for (size_t i = 0; i < found->gl_pathc; ++i) {
        ICS_TRY(look_through(s, found->gl_pathv[i], error));
    }
    return ICESTREAM_OK;
}

/* Looks for all steps, and lists where they may be. */
static int find_all(search *s, const ics_models *models, const char *path, glob_t *found,
                    pattern_list *patterns, icestream_error *error)
{
    const icestream_config *config = s->config;
    const bool generates = path == NULL && ics_config_generates(config);
    if (s->steps->items == NULL || s->steps->inputs == NULL || s->from == NULL) {
        return no_memory(error);
    }
    if (path == NULL && !generates) {
        ICS_TRY(list_source(config, patterns, error));
    }
    ICS_TRY(find_files(patterns, found, error));
    ICS_TRY(ics_light_record_create(config, models, true, &s->light, error));
    ICS_TRY(generates ? make_again(s, config, models, error) : search_files(s, found, path, error));
    return require_all(s, patterns, error);
}

int ics_replay_steps_find(const icestream_config *config, const char *path,
                          const ics_replay_photons *photons, const ics_models *models,
                          ics_replay_steps *out, icestream_error *error)
{
    const size_t count = photons->count;
    *out = (ics_replay_steps){
        .items = calloc(count, sizeof *out->items), .count = count, .inputs = json_array()};
    search s = {.photons = photons,
                .config = config,
                .spectra = (uint32_t)models->light->count,
                .named = path != NULL,
                .from = calloc(count, sizeof *s.from),
                .steps = out};
    glob_t found = {0};
    pattern_list patterns = {0};
    const int status = find_all(&s, models, path, &found, &patterns, error);
    globfree(&found);
    free_patterns(&patterns);
    free(s.from);
    json_decref(s.light);
    if (status != ICESTREAM_OK) {
        ics_replay_steps_free(out);
    }
    return status;
}

void ics_replay_steps_free(ics_replay_steps *steps)
{
    free(steps->items);
    json_decref(steps->inputs);
    *steps = (ics_replay_steps){.items = NULL};
}
