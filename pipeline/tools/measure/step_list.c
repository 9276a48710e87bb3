#include "pipeline/tools/measure/step_list.h"

#include "base/error.h"
#include "pipeline/files/step_reader.h"
#include "pipeline/tools/measure/workload.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(size_t count, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "no memory for %zu steps", count);
}

int ics_step_list_from_workload(const icestream_config *config, ics_step_list *out,
                                icestream_error *error)
{
    *out = (ics_step_list){0};
    ics_workload *workload = NULL;
    int status = ics_workload_create(config, &workload, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    size_t count = (size_t)ics_workload_steps(workload);
    out->steps = calloc(count ? count : 1, sizeof *out->steps);
    if (out->steps != NULL) {
        ics_workload_fill(workload, 0, count, out->steps);
        out->count = count;
        out->photons = ics_workload_photons(workload);
        snprintf(out->origin, sizeof out->origin, "workload %s", ics_workload_name(workload));
    } else {
        status = no_memory(count, error);
    }
    ics_workload_destroy(workload);
    return status;
}

static int append_file(ics_step_list *list, const char *path, uint32_t spectrum_count,
                       icestream_error *error)
{
    ics_step_reader *reader = NULL;
    ics_step_summary summary = {0};
    int status = ics_step_reader_open(path, spectrum_count, &reader, error);
    if (status == ICESTREAM_OK) {
        status = ics_step_reader_check(reader, &summary, NULL, error);
    }
    icestream_step *steps = NULL;
    if (status == ICESTREAM_OK) {
        /* One row more than there are, so that there is always room to read into. */
        size_t total = list->count + (size_t)summary.rows + 1;
        steps = reallocarray(list->steps, total, sizeof *steps);
        if (steps == NULL) {
            status = no_memory(total, error);
        }
    }
    if (steps != NULL) {
        list->steps = steps;
    }
    for (size_t got = 1; status == ICESTREAM_OK && got > 0;) {
        size_t left = (size_t)summary.rows + 1;
        status = ics_step_reader_read(reader, list->steps + list->count, left, &got, error);
        if (status == ICESTREAM_OK) {
            list->count += got;
            summary.rows -= got;
        }
    }
    list->photons += summary.photons;
    ics_step_reader_destroy(reader);
    return status;
}

static int append_files(ics_step_list *list, const glob_t *found, uint32_t spectrum_count,
                        icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < found->gl_pathc; ++i) {
        status = append_file(list, found->gl_pathv[i], spectrum_count, error);
    }
    if (status == ICESTREAM_OK && found->gl_pathc == 1) {
        snprintf(list->origin, sizeof list->origin, "%s", found->gl_pathv[0]);
    } else if (status == ICESTREAM_OK && found->gl_pathc > 1) {
        snprintf(list->origin, sizeof list->origin, "%zu step files", (size_t)found->gl_pathc);
    }
    return status;
}

int ics_step_list_from_files(const icestream_config *config, uint32_t spectrum_count,
                             ics_step_list *out, icestream_error *error)
{
    *out = (ics_step_list){0};
    glob_t found = {0};
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < config->source.count; ++i) {
        const char *pattern = config->source.files[i];
        if (strcmp(pattern, "-") == 0) {
            status = ics_error_set(error, ICESTREAM_E_USAGE,
                                   "source.files: found \"-\", expected files: standard input is "
                                   "for `icestream run`");
        } else if (glob(pattern, i > 0 ? GLOB_APPEND : 0, NULL, &found) == GLOB_NOSPACE) {
            status = ics_error_set(error, ICESTREAM_E_MEMORY, "no memory to list %s", pattern);
        }
    }
    if (status == ICESTREAM_OK) {
        status = append_files(out, &found, spectrum_count, error);
    }
    globfree(&found);
    if (status != ICESTREAM_OK) {
        ics_step_list_free(out);
    }
    return status;
}

void ics_step_list_free(ics_step_list *list)
{
    free(list->steps);
    *list = (ics_step_list){0};
}
