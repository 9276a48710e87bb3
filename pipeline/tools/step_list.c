/* Steps in memory, from files or from the configured workload. */
#include "pipeline/error.h"
#include "pipeline/files/step_reader.h"
#include "pipeline/tools/experiment.h"
#include "pipeline/tools/workload.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(size_t count, is_error *error)
{
    return is_error_set(error, IS_E_MEMORY, "no memory for %zu steps", count);
}

int is_step_list_from_workload(const is_config *config, is_step_list *out, is_error *error)
{
    *out = (is_step_list){0};
    is_workload *workload = NULL;
    int status = is_workload_create(config, &workload, error);
    if (status != IS_OK)
        return status;
    size_t count = (size_t)is_workload_steps(workload);
    out->steps = calloc(count ? count : 1, sizeof *out->steps);
    if (out->steps) {
        is_workload_fill(workload, 0, count, out->steps);
        out->count = count;
        out->photons = is_workload_photons(workload);
        snprintf(out->origin, sizeof out->origin, "workload %s", is_workload_name(workload));
    } else {
        status = no_memory(count, error);
    }
    is_workload_destroy(workload);
    return status;
}

static int append_file(is_step_list *list, const char *path, uint32_t spectrum_count,
                       is_error *error)
{
    is_step_reader *reader = NULL;
    is_step_summary summary = {0};
    int status = is_step_reader_open(path, spectrum_count, &reader, error);
    if (status == IS_OK)
        status = is_step_reader_check(reader, &summary, NULL, error);
    is_step *steps = NULL;
    if (status == IS_OK) {
        /* One row more than there are, so that there is always room to read into. */
        size_t total = list->count + (size_t)summary.rows + 1;
        steps = reallocarray(list->steps, total, sizeof *steps);
        if (!steps)
            status = no_memory(total, error);
    }
    if (steps)
        list->steps = steps;
    for (size_t got = 1; status == IS_OK && got > 0;) {
        size_t left = (size_t)summary.rows + 1;
        status = is_step_reader_read(reader, list->steps + list->count, left, &got, error);
        if (status == IS_OK) {
            list->count += got;
            summary.rows -= got;
        }
    }
    list->photons += summary.photons;
    is_step_reader_destroy(reader);
    return status;
}

static int append_files(is_step_list *list, const glob_t *found, uint32_t spectrum_count,
                        is_error *error)
{
    int status = IS_OK;
    for (size_t i = 0; status == IS_OK && i < found->gl_pathc; ++i)
        status = append_file(list, found->gl_pathv[i], spectrum_count, error);
    if (status == IS_OK && found->gl_pathc == 1)
        snprintf(list->origin, sizeof list->origin, "%s", found->gl_pathv[0]);
    else if (status == IS_OK && found->gl_pathc > 1)
        snprintf(list->origin, sizeof list->origin, "%zu step files", (size_t)found->gl_pathc);
    return status;
}

int is_step_list_from_files(const is_config *config, uint32_t spectrum_count, is_step_list *out,
                            is_error *error)
{
    *out = (is_step_list){0};
    glob_t found = {0};
    int status = IS_OK;
    for (size_t i = 0; status == IS_OK && i < config->source.count; ++i) {
        const char *pattern = config->source.files[i];
        if (strcmp(pattern, "-") == 0)
            status = is_error_set(error, IS_E_USAGE,
                                  "source.files: found \"-\", expected files: standard input is "
                                  "for `icestream run`");
        else if (glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found) == GLOB_NOSPACE)
            status = is_error_set(error, IS_E_MEMORY, "no memory to list %s", pattern);
    }
    if (status == IS_OK)
        status = append_files(out, &found, spectrum_count, error);
    globfree(&found);
    if (status != IS_OK)
        is_step_list_free(out);
    return status;
}

void is_step_list_free(is_step_list *list)
{
    free(list->steps);
    *list = (is_step_list){0};
}
