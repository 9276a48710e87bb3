#include "tests/support/run_folder.h"

#include "pipeline/photons/files/hit_reader.h"
#include "tests/support/step_files.h"

#include <check.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

run_folder run_folder_open(void)
{
    run_folder place = {.folder = scratch_create()};
    scratch_path(&place.folder, "steps", place.steps);
    scratch_path(&place.folder, "hits", place.hits);
    ck_assert_int_eq(mkdir(place.steps, 0777), 0);
    return place;
}

void run_folder_close(const run_folder *place)
{
    scratch_remove(&place->folder);
}

const char *run_folder_path(const char *folder, const char *name, char path[2 * SCRATCH_PATH])
{
    snprintf(path, 2 * SCRATCH_PATH, "%s/%s", folder, name);
    return path;
}

bool run_folder_exists(const char *folder, const char *name)
{
    char path[2 * SCRATCH_PATH];
    return access(run_folder_path(folder, name, path), F_OK) == 0;
}

bool run_folder_has_hits(const run_folder *place, const char *name)
{
    return run_folder_exists(place->hits, name);
}

icestream_step run_folder_bright(uint32_t step_id, uint32_t photons)
{
    return (icestream_step){.x = 4.0f,
                            .z = 2.0f,
                            .t = 1000.0f,
                            .beta = 1.0f,
                            .weight = 1.0f,
                            .photons = photons,
                            .event_id = 3,
                            .step_id = step_id,
                            .kind = ICESTREAM_KIND_POINT,
                            .flags = ICESTREAM_STEP_ISOTROPIC};
}

icestream_step run_folder_varied(uint32_t step_id, uint32_t photons)
{
    icestream_step step = run_folder_bright(step_id, photons);
    if (step_id % 4 == 1) {
        step.flags = ICESTREAM_STEP_PROFILE(ICESTREAM_PROFILE_CASCADE);
        step.length = 0.6f;
        step.beta = 2.5f;
        step.dz = 1.0f;
    } else if (step_id % 4 == 2) {
        step.flags = ICESTREAM_STEP_PROFILE(ICESTREAM_PROFILE_GAUSS) | ICESTREAM_STEP_SURFACE |
                     ICESTREAM_STEP_NOT_THINNED;
        step.beta = 1.5f;
        step.dx = 1.0f;
        step.spectrum = 3;
    } else if (step_id % 4 == 3) {
        step.flags = 0;
        step.length = 3.5f;
        step.beta = 0.97f;
        step.dy = 1.0f;
    }
    return step;
}

void run_folder_steps(const run_folder *place, const char *name, const icestream_step *steps,
                      size_t count)
{
    char path[2 * SCRATCH_PATH];
    step_file_write(run_folder_path(place->steps, name, path), steps, count);
}

void run_folder_bright_steps(const run_folder *place, const char *name, uint32_t first,
                             uint32_t count, uint32_t photons)
{
    icestream_step *steps = calloc(count, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < count; ++i) {
        steps[i] = run_folder_bright(first + i, photons);
    }
    run_folder_steps(place, name, steps, count);
    free(steps);
}

int run_folder_run(run_folder *place, const char *const *sets)
{
    char files[2 * SCRATCH_PATH], sink[2 * SCRATCH_PATH];
    snprintf(files, sizeof files, "source.files=[%s/*.npy]", place->steps);
    snprintf(sink, sizeof sink, "sink.directory=%s", place->hits);
    const char *all[RUN_FOLDER_SETS] = {files, sink, "device.threads=2", "source.empty=accept",
                                        RUN_FOLDER_WIDE};
    size_t count = 6;
    for (; *sets != NULL; ++sets) {
        ck_assert_uint_lt(count, RUN_FOLDER_SETS);
        all[count++] = *sets;
    }
    icestream_config *config = NULL;
    ck_assert_msg(icestream_config_load(NULL, all, count, &config, &place->error) == ICESTREAM_OK,
                  "%s", place->error.text);
    int status = icestream_run(config, &place->options, &place->error);
    ck_assert_int_eq(status, place->error.status);
    icestream_config_destroy(config);
    return status;
}

char *run_folder_log(run_folder *place, const char *const *sets)
{
    char *text = NULL;
    size_t size = 0;
    place->options.progress = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(place->options.progress);
    ck_assert_msg(run_folder_run(place, sets) == ICESTREAM_OK, "%s", place->error.text);
    fclose(place->options.progress);
    place->options.progress = NULL;
    return text;
}

icestream_hit *run_folder_hits(const run_folder *place, const char *name, size_t *count)
{
    char path[2 * SCRATCH_PATH];
    ics_hit_reader *reader = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_hit_reader_open(run_folder_path(place->hits, name, path), true, &reader,
                                      &error) == ICESTREAM_OK,
                  "%s", error.text);
    size_t rows = (size_t)ics_hit_reader_rows(reader), got = 0;
    icestream_hit *hits = calloc(rows + 1, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    for (*count = 0; *count < rows; *count += got) {
        ck_assert_int_eq(ics_hit_reader_read(reader, hits + *count, rows - *count, &got, &error),
                         ICESTREAM_OK);
        ck_assert_uint_gt(got, 0);
    }
    ics_hit_reader_destroy(reader);
    return hits;
}

json_t *run_folder_summary(const run_folder *place)
{
    char path[2 * SCRATCH_PATH];
    json_t *summary = json_load_file(run_folder_path(place->hits, "summary.json", path), 0, NULL);
    ck_assert_ptr_nonnull(summary);
    return summary;
}

json_int_t run_folder_count(const json_t *summary, const char *group, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(summary, group), name));
}

json_int_t run_folder_files(const run_folder *place, const char *result)
{
    json_t *summary = run_folder_summary(place);
    const json_int_t count = run_folder_count(summary, "file_counts", result);
    json_decref(summary);
    return count;
}
