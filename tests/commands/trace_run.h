/* Runs of `icestream trace`, for tests: steps, their hits, and the paths of their photons. Every
 * function fails the test on errors of the set-up. */
#ifndef TRACE_RUN_H
#define TRACE_RUN_H

#include "pipeline/photons/files/format/table_reader.h"
#include "tests/support/run_folder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Number of steps, and of the photons of each. */
enum { STEPS = 40, PHOTONS = 300 };

/* Writes steps near to modules and far from them into two files. There are two events, and half of
 * the steps are isotropic, the others Cherenkov light. */
static inline void make_steps(const run_folder *place)
{
    icestream_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = run_folder_bright(i % 20, PHOTONS);
        steps[i].event_id = i < 20 ? 3 : UINT64_C(0x100000002);
        steps[i].x = 2.0f + (float)(i % 10);
        steps[i].z = -40.0f + 4.0f * (float)i;
        if (i % 2 == 1) {
            steps[i].flags = 0;
            steps[i].kind = ICESTREAM_KIND_TRACK;
            steps[i].dx = 0.6f;
            steps[i].dz = 0.8f;
            steps[i].length = 3.0f;
        }
    }
    run_folder_steps(place, "a.steps.npy", steps, 30);
    run_folder_steps(place, "b.steps.npy", steps + 30, STEPS - 30);
}

/* Runs the steps of make_steps() with the settings `sets`, which the trace must be given as well.
 */
static inline run_folder open_with_hits(const char *const *sets)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    ck_assert_msg(run_folder_run(&place, sets) == ICESTREAM_OK, "%s", place.error.text);
    return place;
}

/* The outcome of a trace; the caller calls forget(). */
typedef struct traced {
    int status;
    icestream_error error;
    char *text; /* what was printed */
    icestream_path_point *points;
    size_t count;
} traced;

/* Reads the paths. */
static inline void read_points(const char *path, traced *out)
{
    ics_table_reader *reader = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_table_reader_open(path, NULL, &reader, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_ptr_eq(ics_table_reader_layout(reader), ics_layout_paths());
    const size_t rows = (size_t)ics_table_reader_rows(reader);
    out->points = calloc(rows + 1, sizeof *out->points);
    for (size_t got = 1; got > 0; out->count += got) {
        ck_assert_int_eq(ics_table_reader_read(reader, out->points + out->count,
                                               rows - out->count + 1, &got, &error),
                         ICESTREAM_OK);
    }
    ck_assert_uint_eq(out->count, rows);
    ics_table_reader_destroy(reader);
}

/* Traces into paths.npy of the folder. The steps come from its step files, unless the first of
 * `sets` is a key of `source`. `hits` is a name in hits/, or NULL. */
static inline traced trace(const run_folder *place, const char *hits,
                           icestream_trace_options options, const char *const *sets)
{
    traced result = {.status = ICESTREAM_OK};
    char files[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH], output[SCRATCH_PATH];
    snprintf(files, sizeof files, "source.files=[%s/*.npy]", place->steps);
    const char *all[RUN_FOLDER_SETS] = {RUN_FOLDER_WIDE};
    size_t count = 2, size = 0;
    if (*sets == NULL || strncmp(*sets, "source.", 7) != 0) {
        all[count++] = files;
    }
    for (; *sets != NULL; ++sets) {
        all[count++] = *sets;
    }
    icestream_config *config = NULL;
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, &result.error) == ICESTREAM_OK,
                  "%s", result.error.text);
    options.output = scratch_path(&place->folder, "paths.npy", output);
    options.hits = hits != NULL ? run_folder_path(place->hits, hits, path) : NULL;
    options.force = true;
    FILE *out = open_memstream(&result.text, &size);
    result.status = icestream_trace(config, &options, out, &result.error);
    fclose(out);
    ck_assert_int_eq(result.status, result.status ? result.error.status : ICESTREAM_OK);
    if (result.status == ICESTREAM_OK || result.status == ICESTREAM_E_DIFFERENT) {
        read_points(output, &result);
    }
    icestream_config_destroy(config);
    return result;
}

static inline void forget(traced *result)
{
    free(result->points);
    free(result->text);
    *result = (traced){.status = ICESTREAM_OK};
}

/* Checks that the printed text contains `text`. */
static inline void expect_text(const traced *result, const char *text)
{
    ck_assert_msg(strstr(result->text, text) != NULL, "'%s' not in: %s", text, result->text);
}

/* Checks the status, and that the error contains `text`. */
static inline void expect_error(const traced *result, int status, const char *text)
{
    ck_assert_msg(result->status == status, "%d: %s", result->status, result->error.text);
    ck_assert_msg(strstr(result->error.text, text) != NULL, "'%s' not in: %s", text,
                  result->error.text);
}

/* The settings of most runs. */
static const char *const plain[] = {"device.math=portable", NULL};

#endif
