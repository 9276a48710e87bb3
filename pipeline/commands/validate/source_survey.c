#include "pipeline/commands/validate/source_survey.h"

#include "base/error.h"
#include "base/plural.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/files/step_reader.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/production/spool/claims.h"
#include "pipeline/production/units/hit_path.h"
#include "pipeline/production/units/inputs.h"
#include "pipeline/production/units/sources.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct surveyor {
    const icestream_config *config;
    uint32_t spectrum_count;
    const json_t *light; /* what the steps' light must be made with */
    ics_source_survey *out;
    icestream_error refused; /* files that are no step files */
} surveyor;

/* Reads the header and the trailer of one step file. A file that a run would quarantine is added to
 * `refused`. */
static int look_at_file(surveyor *look, const char *path, icestream_error *error)
{
    ics_source_survey *out = look->out;
    ICS_DESTROYS(ics_step_reader_destroy) ics_step_reader *reader = NULL;
    icestream_error why = {.status = ICESTREAM_OK};
    struct stat about;
    json_auto_t *accepted = NULL;
    int status = ics_step_reader_open(path, look->spectrum_count, &reader, &why);
    if (status == ICESTREAM_OK) {
        status = ics_light_record_judge(look->config, look->light, path,
                                        ics_step_reader_light(reader), &accepted, &why);
    }
    if (status == ICESTREAM_E_MEMORY) {
        return ics_error_copy(error, &why);
    }
    out->files++;
    out->bytes += stat(path, &about) == 0 ? (uint64_t)about.st_size : 0;
    if (status == ICESTREAM_OK) {
        out->rows += ics_step_reader_rows(reader);
    } else {
        ics_error_add(&look->refused, status, "%s", why.text);
    }
    return ICESTREAM_OK;
}

static bool is_default(const icestream_config *config, const char *key)
{
    char where[1024]; /* word: place */
    return strcmp(ics_config_place(config, key, where, sizeof where), "default") == 0;
}

static int look_at_files(surveyor *look, icestream_error *error)
{
    ics_inputs inputs = {NULL, 0};
    icestream_error why = {.status = ICESTREAM_OK};
    int status = ics_inputs_plan(look->config, &inputs, &why);
    if (status == ICESTREAM_E_CONFIG && !look->out->generates &&
        is_default(look->config, "source.files")) {
        look->out->is_missing = true;
        return ICESTREAM_OK;
    }
    if (status != ICESTREAM_OK) {
        return ics_error_copy(error, &why);
    }
    for (size_t i = 0; i < inputs.count && status == ICESTREAM_OK; ++i) {
        const ics_input *input = &inputs.items[i];
        if (input->source->continues || input->url != NULL) {
            look->out->streams++;
            continue;
        }
        look->out->existing += input->output != NULL && access(input->output, F_OK) == 0;
        if (!input->source->makes) {
            status = look_at_file(look, input->path, error);
        }
    }
    ics_inputs_free(&inputs);
    return status;
}

static int look_at_entry(surveyor *look, const char *folder, const char *name,
                         icestream_error *error)
{
    ICS_FREES char *path = NULL, *output = NULL;
    struct stat about;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        path = NULL;
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the name of a file");
    }
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return ICESTREAM_OK;
    }
    output = ics_hit_path_of_file(look->config, name);
    look->out->existing += output != NULL && access(output, F_OK) == 0;
    return look_at_file(look, path, error);
}

static int look_at_folder(surveyor *look, icestream_error *error)
{
    const char *folder = look->config->source.directory;
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        ics_error_set(error, ICESTREAM_E_CONFIG,
                      "source.directory: found %s, expected a folder that is there and can be "
                      "read: %s",
                      folder, strerror(errno));
        return ics_config_blame(look->config, "source.directory", error);
    }
    int status = ICESTREAM_OK;
    const struct dirent *entry;
    while (status == ICESTREAM_OK && (entry = readdir(entries)) != NULL) {
        if (ics_claims_is_step_file(look->config->source.pattern, entry->d_name)) {
            status = look_at_entry(look, folder, entry->d_name, error);
        }
    }
    closedir(entries);
    return status;
}

int ics_source_survey_find(const icestream_config *config, const ics_models *models,
                           ics_source_survey *out, icestream_error *error)
{
    *out = (ics_source_survey){.folder = config->source.directory,
                               .listen = config->source.listen,
                               .queue = config->source.queue};
    json_auto_t *light = NULL;
    if (out->listen != NULL || out->queue != NULL) {
        return ICESTREAM_OK;
    }
    out->generates = ics_config_generates(config);
    ICS_TRY(ics_light_record_create(config, models, true, &light, error));
    surveyor look = {.config = config,
                     .spectrum_count = (uint32_t)models->light->count,
                     .light = light,
                     .out = out};
    ICS_TRY(out->folder != NULL ? look_at_folder(&look, error) : look_at_files(&look, error));
    return ics_error_copy(error, &look.refused);
}

void ics_source_survey_describe(const icestream_config *config, const ics_source_survey *survey,
                                FILE *out)
{
    if (survey->listen != NULL) {
        fprintf(out, "source     clients at %s\n", survey->listen);
        return;
    }
    if (survey->queue != NULL) {
        fprintf(out, "source     tickets of the queue %s\n", survey->queue);
        return;
    }
    if (survey->generates) {
        fprintf(out, "source     none: the run makes the steps of the %s\n",
                ics_config_has_particles(config) ? "particles" : "workload");
        if (survey->existing > 0) {
            fputs("  exists   a hit file of this name: --resume keeps it if its settings are the "
                  "same, "
                  "--force replaces it\n",
                  out);
        }
        return;
    }
    if (survey->is_missing) {
        fprintf(out,
                "source     %s: no step file yet (`icestream generate` makes one; without a source "
                "a run makes the steps of particles or of a workload)\n",
                config->source.files[0]);
        return;
    }
    fprintf(out, "source     %" PRIu64 " step file%s", survey->files,
            survey->files == 1 ? "" : "s");
    if (survey->folder != NULL) {
        fprintf(out, " in %s", survey->folder);
    }
    fprintf(out, ", %" PRIu64 " step%s, %.6g MB", survey->rows, ics_plural_s(survey->rows),
            (double)survey->bytes / 1e6);
    if (survey->streams > 0) {
        fprintf(out, ", and %" PRIu64 " stream%s, which validate does not read", survey->streams,
                survey->streams == 1 ? "" : "s");
    }
    fputc('\n', out);
    if (survey->existing > 0) {
        fprintf(out,
                "  exist    hit files of %" PRIu64
                " of them: --resume keeps those of the same settings\n",
                survey->existing);
    }
}

json_t *ics_source_survey_json(const ics_source_survey *survey)
{
    return json_pack("{s:b, s:s*, s:s*, s:I, s:I, s:I, s:I, s:I}", "generates",
                     (int)survey->generates, "directory", survey->folder, "listen", survey->listen,
                     "files", (json_int_t)survey->files, "streams", (json_int_t)survey->streams,
                     "steps", (json_int_t)survey->rows, "bytes", (json_int_t)survey->bytes,
                     "with_hits", (json_int_t)survey->existing);
}
