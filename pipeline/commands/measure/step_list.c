#include "pipeline/commands/measure/step_list.h"

#include "base/disk.h"
#include "base/error.h"
#include "base/memory.h"
#include "pipeline/photons/devices/workers.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/generator/forecast.h"
#include "pipeline/photons/generator/step_generator.h"
#include "pipeline/photons/models/light_record.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* Remembers what the light of a file, or of generated steps, was made with. */
static int add_record(ics_step_list *list, const char *name, const json_t *light,
                      icestream_error *error)
{
    json_t *entry = json_pack("{s:o, s:O?}", "name", json_string_nocheck(name), "light", light);
    if (list->records == NULL) {
        list->records = json_array();
    }
    return json_array_append_new(list->records, entry) == 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the light of steps");
}

static int no_memory(size_t count, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu steps", count);
}

/* Makes room for `more` steps behind those of the list. */
static int grow(ics_step_list *list, size_t *capacity, size_t more, icestream_error *error)
{
    const size_t wanted = list->count + more;
    if (wanted <= *capacity) {
        return ICESTREAM_OK;
    }
    const size_t twice = 2 * *capacity, next = wanted > twice ? wanted : twice;
    icestream_step *steps = reallocarray(list->steps, next, sizeof *steps);
    if (steps == NULL) {
        return no_memory(next, error);
    }
    list->steps = steps;
    *capacity = next;
    return ICESTREAM_OK;
}

/* Reads all steps that are made. */
static int read_generated(ics_step_list *list, ics_step_generator *generator,
                          uint32_t spectrum_count, icestream_error *error)
{
    enum { PIECE = 4096 };
    size_t capacity = 0;
    for (size_t got = 1; got > 0;) {
        ICS_TRY(grow(list, &capacity, PIECE, error));
        int status = ics_step_generator_read(generator, spectrum_count, list->steps + list->count,
                                             PIECE, &got, error);
        if (status == ICESTREAM_E_INPUT) { /* the particles are a part of the configuration */
            status = error->status = ICESTREAM_E_CONFIG;
        }
        if (status != ICESTREAM_OK) {
            return status;
        }
        list->count += got;
    }
    list->photons = ics_step_generator_totals(generator).photons;
    list->generated = true;
    snprintf(list->origin, sizeof list->origin, "%s", ics_step_generator_name(generator));
    return add_record(list, list->origin, ics_step_generator_light(generator), error);
}

/* All steps of these commands are in memory. */
static int check_memory(const icestream_config *config, const ics_models *models,
                        icestream_error *error)
{
    ics_forecast forecast;
    ICS_TRY(ics_forecast_make(config, models, ICS_SURVEY_PARTS, NULL, &forecast, error));
    return ics_memory_check("the steps need", ics_forecast_bytes(&forecast), 0, error);
}

int ics_step_list_generate(const icestream_config *config, const ics_models *models,
                           ics_step_list *out, icestream_error *error)
{
    ICS_DESTROYS(ics_step_generator_destroy) ics_step_generator *generator = NULL;
    *out = (ics_step_list){0};
    ICS_TRY(check_memory(config, models, error));
    ICS_TRY(ics_step_generator_create(config, models, -1, &generator, error));
    ICS_TRY(ics_step_generator_start(generator, ics_workers_thread_count(config->device.threads),
                                     error));
    const int status = read_generated(out, generator, (uint32_t)models->light->count, error);
    if (status != ICESTREAM_OK) {
        ics_step_list_free(out);
    }
    return status;
}

/* What the steps of files are read for. */
typedef struct files_user {
    const icestream_config *config;
    uint32_t spectrum_count;
    json_t *light; /* what their light must be made with */
} files_user;

static int append_file(ics_step_list *list, const char *path, const files_user *user,
                       icestream_error *error)
{
    json_auto_t *accepted = NULL;
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    ics_step_summary summary = {0};
    ICS_TRY(ics_step_reader_open(path, user->spectrum_count, &reader, error));
    ICS_TRY(ics_light_record_judge(user->config, user->light, path, ics_step_reader_light(reader),
                                   &accepted, error));
    list->accepted |= accepted != NULL;
    ICS_TRY(add_record(list, path, ics_step_reader_light(reader), error));
    ICS_TRY(ics_step_reader_check(reader, &summary, NULL, error));
    /* One row more than the file has, so that the last read, which finds the end, has room. */
    const size_t total = list->count + (size_t)summary.rows + 1;
    icestream_step *steps = reallocarray(list->steps, total, sizeof *steps);
    if (steps == NULL) {
        return no_memory(total, error);
    }
    list->steps = steps;
    for (size_t got = 1; got > 0;) {
        ICS_TRY(ics_step_reader_read(reader, list->steps + list->count, total - list->count, &got,
                                     error));
        list->count += got;
    }
    list->photons += summary.photons;
    return ICESTREAM_OK;
}

static int append_files(ics_step_list *list, const glob_t *found, const files_user *user,
                        icestream_error *error)
{
    for (size_t i = 0; i < found->gl_pathc; ++i) {
        ICS_TRY(append_file(list, found->gl_pathv[i], user, error));
    }
    if (found->gl_pathc == 1) {
        snprintf(list->origin, sizeof list->origin, "%s", found->gl_pathv[0]);
    } else if (found->gl_pathc > 1) {
        snprintf(list->origin, sizeof list->origin, "%zu step files", (size_t)found->gl_pathc);
    }
    return ICESTREAM_OK;
}

/* Finds the files of source.files. The caller calls globfree(), also after an error. */
static int find_files(const icestream_config *config, glob_t *found, icestream_error *error)
{
    *found = (glob_t){0};
    for (size_t i = 0; i < config->source.count; ++i) {
        const char *pattern = config->source.files[i];
        if (strcmp(pattern, "-") == 0) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "source.files: found \"-\", expected files: only "
                                 "`icestream run` reads standard input");
        }
        if (glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, found) == GLOB_NOSPACE) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the files of %s",
                                 pattern);
        }
    }
    return ICESTREAM_OK;
}

int ics_step_list_from_files(const icestream_config *config, const ics_models *models,
                             ics_step_list *out, icestream_error *error)
{
    *out = (ics_step_list){0};
    glob_t found;
    json_auto_t *light = NULL;
    ICS_TRY(ics_light_record_create(config, models, true, &light, error));
    const files_user user = {config, (uint32_t)models->light->count, light};
    int status = find_files(config, &found, error);
    if (status == ICESTREAM_OK) {
        status = append_files(out, &found, &user, error);
    }
    globfree(&found);
    if (status != ICESTREAM_OK) {
        ics_step_list_free(out);
    }
    return status;
}

int ics_step_list_of_run(const icestream_config *config, const ics_models *models,
                         ics_step_list *out, icestream_error *error)
{
    *out = (ics_step_list){0};
    if (!ics_config_generates(config)) {
        ICS_TRY(ics_step_list_from_files(config, models, out, error));
    }
    return out->origin[0] == '\0' ? ics_step_list_generate(config, models, out, error)
                                  : ICESTREAM_OK;
}

static const char *name_of(const ics_step_list *list, size_t i)
{
    const char *name = json_string_value(json_object_get(json_array_get(list->records, i), "name"));
    return name != NULL ? name : "";
}

/* Whether the file `path` is one of the list, under this or another name. */
static bool has_file(const ics_step_list *list, const char *path)
{
    for (size_t i = 0; i < json_array_size(list->records); ++i) {
        if (ics_disk_is_same_file(name_of(list, i), path)) {
            return true;
        }
    }
    return false;
}

/* Returns the first file of the list that is not among those found; NULL: all are. */
static const char *find_missing(const ics_step_list *list, const glob_t *found)
{
    for (size_t i = 0; i < json_array_size(list->records); ++i) {
        bool is_there = false;
        for (size_t k = 0; k < found->gl_pathc && !is_there; ++k) {
            is_there = ics_disk_is_same_file(name_of(list, i), found->gl_pathv[k]);
        }
        if (!is_there) {
            return name_of(list, i);
        }
    }
    return NULL;
}

int ics_step_list_compare_files(const ics_step_list *list, const icestream_config *config,
                                char **first, icestream_error *error)
{
    glob_t found;
    const char *other = NULL;
    bool has_all = true;
    *first = NULL;
    int status = find_files(config, &found, error);
    for (size_t i = 0; status == ICESTREAM_OK && i < found.gl_pathc && has_all; ++i) {
        other = found.gl_pathv[i];
        has_all = has_file(list, other);
    }
    if (status == ICESTREAM_OK && has_all) {
        other = find_missing(list, &found);
    }
    if (other != NULL) {
        *first = strdup(other);
        status = *first != NULL ? ICESTREAM_OK : no_memory(list->count, error);
    }
    globfree(&found);
    return status;
}

void ics_step_list_free(ics_step_list *list)
{
    free(list->steps);
    json_decref(list->records);
    *list = (ics_step_list){0};
}
