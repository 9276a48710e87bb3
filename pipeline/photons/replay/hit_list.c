#include "pipeline/photons/replay/hit_list.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/kernels_record.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/files/waveform_check.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/photons/provenance/origin.h"
#include "pipeline/photons/provenance/settings.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16 }; /* hits read at a time */

static int no_memory(const char *path, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for hits", path);
}

/* ---- one file -------------------------------------------------------------------------------- */

static int read_rows(ics_hit_list *list, ics_hit_reader *reader, ics_hit_file *file,
                     icestream_error *error)
{
    const uint64_t rows = ics_hit_reader_rows(reader);
    icestream_hit *grown = reallocarray(list->hits, list->count + rows + 1, sizeof *grown);
    if (grown == NULL) {
        return no_memory(file->path, error);
    }
    list->hits = grown;
    for (size_t got = 1; got > 0;) {
        const uint64_t left = rows - file->rows;
        icestream_hit spare;
        /* One more row is asked for at the end, because the reader checks the file there. */
        ICS_TRY(ics_hit_reader_read(reader, left > 0 ? list->hits + list->count : &spare,
                                    left == 0      ? 1
                                    : left < BLOCK ? (size_t)left
                                                   : BLOCK,
                                    &got, error));
        list->count += got;
        file->rows += got;
    }
    return ICESTREAM_OK;
}

/* Refuses files whose hits are not those of the run of the first file. */
static int compare_runs(const ics_hit_list *list, const char *path, const json_t *metadata,
                        icestream_error *error)
{
    char differences[1024];
    if (ics_metadata_maths(list->metadata) != ics_metadata_maths(metadata) &&
        ics_metadata_maths(metadata) != ICS_MATHS_NONE) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: math: found %s, expected %s as in %s",
                             path, ics_metadata_maths_name(ics_metadata_maths(metadata)),
                             ics_metadata_maths_name(ics_metadata_maths(list->metadata)),
                             list->files[0].path);
    }
    const ics_kernels here = ics_kernels_record_get(metadata);
    const ics_kernels first = ics_kernels_record_get(list->metadata);
    if (here.code != first.code && ics_metadata_maths(metadata) != ICS_MATHS_NONE) {
        char found[192], expected[192];
        return ics_error_set(
            error, ICESTREAM_E_INPUT, "%s: kernels: found %s, expected %s as in %s", path,
            ics_kernels_text(&here, found, sizeof found),
            ics_kernels_text(&first, expected, sizeof expected), list->files[0].path);
    }
    if (ics_settings_has_light(metadata) && !ics_metadata_same_origin(list->metadata, metadata)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found hits of other light than in %s, expected one run, because "
                             "its configuration makes the steps again; replay each file alone",
                             path, list->files[0].path);
    }
    if (ics_metadata_same_settings(list->metadata, metadata)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_settings_list(metadata, list->metadata, differences, sizeof differences, error));
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: found hits of another run than in %s, expected the same settings; "
                         "these differ (both values): %s",
                         path, list->files[0].path, differences);
}

/* Adds the digests of the step files from which a hit file was made. */
static int add_inputs(const json_t *metadata, json_t *inputs)
{
    const json_t *one = json_object_get(json_object_get(metadata, "digests"), "input");
    json_t *many = json_object_get(metadata, "inputs");
    int failed = json_is_string(one) ? json_array_append(inputs, (json_t *)(uintptr_t)one) : 0;
    return json_is_array(many) ? json_array_extend(inputs, many) | failed : failed;
}

static int read_file(ics_hit_list *list, const char *path, json_t *inputs, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    ics_hit_file *file = &list->files[list->file_count];
    *file = (ics_hit_file){.path = path};
    if (ics_waveform_check_is(path)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found waveforms, expected hits, because sums have no photons",
                             path);
    }
    ICS_TRY(ics_hit_reader_open(path, true, &reader, error));
    ICS_TRY(read_rows(list, reader, file, error));
    const json_t *metadata = ics_hit_reader_metadata(reader);
    ICS_TRY(ics_hit_check_account(path, metadata, file->rows, error));
    if (list->metadata == NULL) {
        list->metadata = json_deep_copy(metadata);
    } else {
        ICS_TRY(compare_runs(list, path, metadata, error));
    }
    ICS_TRY(ics_light_digest_of_file(path, file->digest, error));
    for (size_t i = 0; i < list->file_count; ++i) {
        if (strcmp(list->files[i].digest, file->digest) == 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: found the hits of %s once more, expected each file once",
                                 path, list->files[i].path);
        }
    }
    list->file_count += 1;
    return list->metadata != NULL && add_inputs(metadata, inputs) == 0 ? ICESTREAM_OK
                                                                       : no_memory(path, error);
}

/* ---- all files ------------------------------------------------------------------------------- */

static int list_photons(ics_hit_list *list, icestream_error *error)
{
    list->photons = calloc(list->count, sizeof *list->photons);
    if (list->photons == NULL) {
        return no_memory(list->files[0].path, error);
    }
    for (size_t i = 0; i < list->count; ++i) {
        const icestream_hit *hit = &list->hits[i];
        list->photons[i] = (ics_replay_photon){hit->event_id, hit->step_id, hit->photon_id};
    }
    list->photon_count = ics_replay_photons_unite(list->photons, list->count);
    return ICESTREAM_OK;
}

static int read_all(const char *const *paths, size_t count, ics_hit_list *list,
                    icestream_error *error)
{
    json_auto_t *inputs = json_array();
    list->files = calloc(count + 1, sizeof *list->files);
    if (list->files == NULL || inputs == NULL) {
        return no_memory(paths[0], error);
    }
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(read_file(list, paths[i], inputs, error));
    }
    if (list->count == 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found no hit, expected at least one",
                             paths[0]);
    }
    if (json_array_size(inputs) > 0 && json_object_set(list->metadata, "inputs", inputs) != 0) {
        return no_memory(paths[0], error);
    }
    return list_photons(list, error);
}

int ics_hit_list_read(const char *const *paths, size_t count, ics_hit_list *out,
                      icestream_error *error)
{
    *out = (ics_hit_list){.count = 0};
    const int status = read_all(paths, count, out, error);
    if (status != ICESTREAM_OK) {
        ics_hit_list_free(out);
    }
    return status;
}

void ics_hit_list_sample(ics_hit_list *list, size_t most)
{
    if (list->count <= most) {
        return;
    }
    for (size_t i = 0; i < most; ++i) {
        list->hits[i] = list->hits[(size_t)((double)i * (double)list->count / (double)most)];
        list->photons[i] = (ics_replay_photon){list->hits[i].event_id, list->hits[i].step_id,
                                               list->hits[i].photon_id};
    }
    list->count = most;
    list->photon_count = ics_replay_photons_unite(list->photons, most);
}

void ics_hit_list_free(ics_hit_list *list)
{
    free(list->hits);
    free(list->files);
    free(list->photons);
    json_decref(list->metadata);
    *list = (ics_hit_list){.count = 0};
}

/* ---- the configuration ----------------------------------------------------------------------- */

/* What is being made; the members of ics_hit_settings(). */
typedef struct setting_list {
    const char *path;
    char **texts;
    size_t count;
    icestream_error *error;
} setting_list;

static int add_setting(setting_list *all, const char *key, const char *value)
{
    all->texts[all->count] = NULL;
    if (asprintf(&all->texts[all->count], "%s=%s", key, value) < 0) {
        return no_memory(all->path, all->error);
    }
    all->count += 1;
    return ICESTREAM_OK;
}

static int read_setting(setting_list *all, const char *key, const json_t *value)
{
    const char *text = json_string_value(value);
    if (strncmp(key, "header of ", 10) == 0) {
        return ics_error_set(all->error, ICESTREAM_E_INPUT,
                             "%s: trailer: settings: found %s, expected stages of icestream, "
                             "because the probability of what a header does is not known",
                             all->path, key + 10);
    }
    if (strchr(key, '.') == NULL) { /* versions and digests are no keys */
        return ICESTREAM_OK;
    }
    if (strcmp(key, "particles.file") == 0) {
        text = text != NULL ? text : json_string_value(json_object_get(value, "name"));
    }
    return text != NULL
               ? add_setting(all, key, text)
               : ics_error_set(all->error, ICESTREAM_E_INPUT,
                               "%s: trailer: settings.light: found only the digest of %s, expected "
                               "its text; name the configuration of the run in front of the hits",
                               all->path, key);
}

static int read_settings(setting_list *all, const json_t *listed)
{
    static const char *const parts[] = {"values", "models", "light"};
    size_t total = 0;
    for (size_t i = 0; i < 3; ++i) {
        total += json_object_size(json_object_get(listed, parts[i]));
    }
    all->texts = calloc(total + 1, sizeof *all->texts);
    if (all->texts == NULL) {
        return no_memory(all->path, all->error);
    }
    for (size_t i = 0; i < 3; ++i) {
        const char *key;
        json_t *value;
        json_object_foreach(json_object_get(listed, parts[i]), key, value)
        {
            ICS_TRY(read_setting(all, key, value));
        }
    }
    return ICESTREAM_OK;
}

void ics_hit_settings_free(char **settings, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        free(settings[i]);
    }
    free(settings);
}

int ics_hit_settings(const char *path, char ***out, size_t *count, icestream_error *error)
{
    ICS_DESTROYS(ics_hit_reader_destroy) ics_hit_reader *reader = NULL;
    setting_list all = {.path = path, .error = error};
    ICS_TRY(ics_hit_reader_open(path, false, &reader, error));
    const json_t *listed = json_object_get(ics_hit_reader_metadata(reader), "settings");
    if (!json_is_object(listed)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: settings: found none, expected those of the run; name "
                             "the configuration of the run in front of the hits",
                             path);
    }
    const int status = read_settings(&all, listed);
    if (status != ICESTREAM_OK) {
        ics_hit_settings_free(all.texts, all.count);
        return status;
    }
    *out = all.texts;
    *count = all.count;
    return ICESTREAM_OK;
}

int ics_hit_list_check_config(const ics_hit_list *list, const icestream_config *config,
                              const ics_models *models, icestream_error *error)
{
    ics_origin origin;
    json_auto_t *made = NULL, *ours = NULL;
    char differences[1024];
    ICS_TRY(ics_origin_create(config, models, &origin, error));
    ICS_TRY(ics_origin_settings(config, models, &made, error));
    origin.settings = made;
    origin.bins = (ics_bin_rule){.width = 0};
    ICS_TRY(ics_origin_metadata(&origin, NULL, &ours, error));
    if (ics_metadata_same_settings(list->metadata, ours)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_settings_list(list->metadata, ours, differences, sizeof differences, error));
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: found hits of another run than that of the configuration, expected "
                         "its own hits; these differ (hits, configuration): %s",
                         list->files[0].path, differences);
}
