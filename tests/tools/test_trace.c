/* `icestream trace`.
 *
 * Promises: photons of a real run are repeated with the same hits, bit by bit, in every kind of
 * ice; their paths are consistent; the steps are found in the right file; hits of fast maths and of
 * other settings are reported as different. To join: a new feature of the ice is switched on in
 * all_hits_again_in_full_ice; other settings that change paths get a test like all_hits_again.
 */
#include "pipeline/files/format/table_reader.h"
#include "pipeline/files/hit_reader.h"
#include "pipeline/files/table_writer.h"
#include "tests/support/model_files.h"
#include "tests/support/run_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 40, PHOTONS = 200 };

/* Steps that see modules from near and far, in two files, two events, Cherenkov and isotropic. */
static void make_steps(const run_folder *place)
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

/* A run of the steps with some settings; `sets` of the run are those of the trace. */
static run_folder open_with_hits(const char *const *sets)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    ck_assert_msg(run_folder_run(&place, sets) == ICESTREAM_OK, "%s", place.error.text);
    return place;
}

typedef struct traced {
    int status;
    icestream_error error;
    char *text; /* what was printed */
    icestream_path_point *points;
    size_t count;
} traced;

static void read_points(const char *path, traced *out)
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

/* Traces into paths.npy of the folder, steps of its step files unless the first of `sets` is of the
 * source. `hits`: a name in hits/, or NULL. */
static traced trace(const run_folder *place, const char *hits, icestream_trace_options options,
                    const char *const *sets)
{
    traced result = {.status = ICESTREAM_OK};
    char files[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH], output[SCRATCH_PATH];
    snprintf(files, sizeof files, "source.files=[%s/*.npy]", place->steps);
    const char *all[RUN_FOLDER_SETS] = {files};
    size_t count = *sets != NULL && strncmp(*sets, "source.", 7) == 0 ? 0 : 1, size = 0;
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

static void forget(traced *result)
{
    free(result->points);
    free(result->text);
    *result = (traced){.status = ICESTREAM_OK};
}

static void expect_text(const traced *result, const char *text)
{
    ck_assert_msg(strstr(result->text, text), "'%s' not in: %s", text, result->text);
}

static void expect_error(const traced *result, int status, const char *text)
{
    ck_assert_msg(result->status == status, "%d: %s", result->status, result->error.text);
    ck_assert_msg(strstr(result->error.text, text), "'%s' not in: %s", text, result->error.text);
}

static bool is_end(const icestream_path_point *point)
{
    return point->kind >= ICESTREAM_POINT_ABSORBED;
}

static bool is_same_photon(const icestream_path_point *a, const icestream_path_point *b)
{
    return a->event_id == b->event_id && a->step_id == b->step_id && a->photon_id == b->photon_id;
}

static double distance(const icestream_path_point *a, const icestream_path_point *b)
{
    return sqrt(pow((double)a->x - b->x, 2) + pow((double)a->y - b->y, 2) +
                pow((double)a->z - b->z, 2));
}

/* Numbers from 0, straight lines between points, lengths that add up to the path, times and
 * absorption that grow with it. Returns the end of the photon that begins here. */
static size_t check_photon(const traced *result, size_t first)
{
    const icestream_path_point *points = result->points;
    ck_assert_uint_eq(points[first].kind, ICESTREAM_POINT_START);
    ck_assert_float_eq(points[first].path, 0);
    ck_assert_float_eq(points[first].absorption, 0);
    double length = 0;
    uint32_t scatters = 0;
    size_t i = first;
    for (; i + 1 < result->count && is_same_photon(&points[first], &points[i + 1]); ++i) {
        const icestream_path_point *a = &points[i], *b = &points[i + 1];
        const double step = distance(a, b);
        ck_assert_uint_eq(b->point, a->point + 1);
        ck_assert(!is_end(a));
        ck_assert_double_eq_tol(a->x + step * a->dx, b->x, 2e-3);
        ck_assert_double_eq_tol(a->y + step * a->dy, b->y, 2e-3);
        ck_assert_double_eq_tol(a->z + step * a->dz, b->z, 2e-3);
        ck_assert_double_ge(b->t, a->t);
        ck_assert_double_ge(b->absorption, a->absorption - 1e-6);
        length += step;
        ck_assert_double_eq_tol(length, b->path, 1e-4 * b->path + 1e-3);
        scatters += b->kind == ICESTREAM_POINT_SCATTER;
        ck_assert_uint_eq(b->scatters, scatters);
    }
    return i;
}

static const char *const plain[] = {"device.math=portable", NULL};

/* All hits of a run, one after the other, against the points of that kind. */
static size_t check_hits_again(const run_folder *place, const char *name, const traced *result)
{
    size_t count, k = 0;
    icestream_hit *hits = run_folder_hits(place, name, &count);
    ck_assert_uint_ge(count, 20);
    for (size_t i = 0; i < result->count; ++i) {
        const icestream_path_point *point = &result->points[i];
        if (point->kind != ICESTREAM_POINT_HIT) {
            continue;
        }
        ck_assert_uint_lt(k, count);
        ck_assert_uint_eq(point->event_id, hits[k].event_id);
        ck_assert_uint_eq(point->step_id, hits[k].step_id);
        ck_assert_uint_eq(point->photon_id, hits[k].photon_id);
        ck_assert_uint_eq(point->string, hits[k].string);
        ck_assert_uint_eq(point->module, hits[k].module);
        ck_assert_uint_eq(point->scatters, hits[k].scatters);
        ck_assert_double_eq(point->t, hits[k].t);
        ck_assert_float_eq(point->dx, hits[k].dx);
        ck_assert_float_eq(point->wavelength, hits[k].wavelength);
        ++k;
    }
    ck_assert_uint_eq(k, count);
    free(hits);
    return count;
}

START_TEST(all_hits_again)
{
    run_folder place = open_with_hits(plain);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    const size_t hits = check_hits_again(&place, "a.hits.npy", &result);
    char expected[96];
    snprintf(expected, sizeof expected,
             "%zu of %zu hits are identical to the last bit (they were made with portable maths)",
             hits, hits);
    expect_text(&result, expected);
    size_t photons = 0;
    for (size_t i = 0; i < result.count; ++photons) {
        i = check_photon(&result, i);
        ck_assert_uint_eq(result.points[i].kind, ICESTREAM_POINT_HIT);
        ++i;
    }
    ck_assert_uint_eq(photons, hits); /* each ends with its one hit */
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* Ice with tilt, anisotropy and birefringence, and photons that are detected or not. */
START_TEST(all_hits_again_in_full_ice)
{
    char ice[SCRATCH_PATH], set[SCRATCH_PATH + 32];
    if (!model_shared("ice/spice_bfr-v2", ice)) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", ice);
    const char *const sets[] = {"device.math=portable", set, "stages.detect=pe", "sink.hits=both",
                                NULL};
    run_folder place = open_with_hits(sets);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, sets);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert_uint_ge(check_hits_again(&place, "a.hits.npy", &result), 20);
    expect_text(&result, " hits are identical to the last bit");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

START_TEST(selected_hits)
{
    run_folder place = open_with_hits(plain);
    size_t count, direct = 0, photons = 0;
    icestream_hit *hits = run_folder_hits(&place, "a.hits.npy", &count);
    for (size_t i = 0; i < count; ++i) {
        direct += hits[i].scatters == 0;
    }
    ck_assert_uint_gt(direct, 0);
    ck_assert_uint_lt(direct, count);
    traced result =
        trace(&place, "a.hits.npy", (icestream_trace_options){.select = "scatters == 0"}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    for (size_t i = 0; i < result.count; i += 2, ++photons) {
        ck_assert_uint_eq(result.points[i].kind, ICESTREAM_POINT_START);
        ck_assert_uint_eq(result.points[i + 1].kind, ICESTREAM_POINT_HIT);
    }
    ck_assert_uint_eq(photons, direct);
    forget(&result);
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.select = "t < -1e9"}, plain);
    expect_error(&result, ICESTREAM_E_INPUT, "found no hit for which --select is true");
    forget(&result);
    free(hits);
    run_folder_close(&place);
}
END_TEST

/* Photons without a hit: the ends of all photons of a step add up to the account of its run. */
START_TEST(account_of_a_step)
{
    static const char *const sets[] = {"device.math=portable",   "ice.absorb_above=60",
                                       "ice.absorb_below=-60",   "run.bounce_limit=30",
                                       "graph.reach_cull=false", NULL};
    run_folder place = run_folder_open();
    icestream_step step = run_folder_bright(7, PHOTONS);
    run_folder_steps(&place, "one.steps.npy", &step, 1);
    ck_assert_msg(run_folder_run(&place, sets) == ICESTREAM_OK, "%s", place.error.text);
    char list[SCRATCH_PATH], text[40 * PHOTONS] = "# all\n", name[SCRATCH_PATH + 8];
    for (int i = PHOTONS - 1; i > 0; --i) {
        sprintf(text + strlen(text), "3:7:%d%s", i, i % 3 ? " " : "\n");
    }
    scratch_write(scratch_path(&place.folder, "list.txt", list), text, strlen(text));
    snprintf(name, sizeof name, "@%s", list);
    const char *const photons[] = {"3:7:0", name, "3:7:5"};
    traced result =
        trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 3}, sets);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    json_int_t ends[6] = {0};
    uint32_t id = 0;
    for (size_t i = 0; i < result.count; ++i, ++id) {
        ck_assert_uint_eq(result.points[i].photon_id, id);
        i = check_photon(&result, i);
        ck_assert_uint_ge(result.points[i].kind, ICESTREAM_POINT_HIT);
        ++ends[result.points[i].kind];
    }
    ck_assert_uint_eq(id, PHOTONS);
    json_t *summary = run_folder_summary(&place);
    ck_assert_int_eq(ends[ICESTREAM_POINT_HIT], run_folder_count(summary, "account", "detected"));
    ck_assert_int_eq(ends[ICESTREAM_POINT_ABSORBED],
                     run_folder_count(summary, "account", "absorbed"));
    ck_assert_int_eq(ends[ICESTREAM_POINT_LEFT], run_folder_count(summary, "account", "left"));
    ck_assert_int_eq(ends[ICESTREAM_POINT_STOPPED],
                     run_folder_count(summary, "account", "stopped"));
    for (int i = ICESTREAM_POINT_HIT; i <= ICESTREAM_POINT_STOPPED; ++i) {
        ck_assert_int_gt(ends[i], 0);
    }
    json_decref(summary);
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* Photons that go on after a hit: several hits each, also of one module. */
START_TEST(photons_that_go_on)
{
    static const char *const sets[] = {"device.math=portable", "detector.keep_hit_photons=true",
                                       "detector.oversize=20", NULL};
    run_folder place = open_with_hits(sets);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, sets);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    size_t count, hits = 0, photons = 0;
    free(run_folder_hits(&place, "a.hits.npy", &count));
    for (size_t i = 0; i < result.count; ++i, ++photons) {
        i = check_photon(&result, i);
        ck_assert(is_end(&result.points[i]));
    }
    for (size_t i = 0; i < result.count; ++i) {
        hits += result.points[i].kind == ICESTREAM_POINT_HIT;
    }
    ck_assert_uint_eq(hits, count);
    ck_assert_uint_lt(photons, hits);
    expect_text(&result, " hits are identical to the last bit");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* What ends on an excluded module ends on its surface. */
START_TEST(excluded_module)
{
    static const char *const sets[] = {"device.math=portable", "detector.excluded=[[43, 30]]",
                                       NULL};
    run_folder place = run_folder_open();
    icestream_step step = run_folder_bright(1, 400);
    step.x = 0.4f; /* string 43 is at the origin, its module 30 8.5 m above */
    step.z = 8.5f;
    run_folder_steps(&place, "one.steps.npy", &step, 1);
    char list[SCRATCH_PATH], text[20 * 400] = "", name[SCRATCH_PATH + 8];
    for (int i = 0; i < 400; ++i) {
        sprintf(text + strlen(text), "3:1:%d\n", i);
    }
    scratch_write(scratch_path(&place.folder, "list.txt", list), text, strlen(text));
    snprintf(name, sizeof name, "@%s", list);
    const char *const photons[] = {name};
    traced result =
        trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 1}, sets);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    size_t on_module = 0;
    for (size_t i = 0; i < result.count; ++i) {
        const icestream_path_point *point = &result.points[i];
        const double r = sqrt(pow(point->x, 2) + pow(point->y, 2) + pow(point->z - 8.5, 2));
        if (point->kind == ICESTREAM_POINT_ABSORBED && r < 0.17) {
            ck_assert_double_eq_tol(r, 0.1651, 1e-4);
            ++on_module;
        }
        ck_assert_double_gt(r, 0.1650);
    }
    ck_assert_uint_gt(on_module, 5);
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* Hits of a GPU's own maths, made by hand: the run says portable, the file is rewritten. */
static void rewrite_hits(const run_folder *place, const char *name, const char *math)
{
    char path[2 * SCRATCH_PATH];
    size_t count;
    icestream_hit *hits = run_folder_hits(place, name, &count);
    ics_hit_reader *reader = NULL;
    ics_table_writer *writer = NULL;
    icestream_error error = {.text = ""};
    run_folder_path(place->hits, name, path);
    ck_assert_int_eq(ics_hit_reader_open(path, false, &reader, &error), ICESTREAM_OK);
    json_t *metadata = json_deep_copy(ics_hit_reader_metadata(reader));
    ics_hit_reader_destroy(reader);
    json_object_set_new(metadata, "math", json_string(math));
    hits[3].t += 0.5;
    hits[3].scatters += 2;
    hits[5].module = hits[5].module == 60 ? 59 : (uint16_t)(hits[5].module + 1);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_append(writer, hits, count, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_commit(writer, metadata, &error), ICESTREAM_OK);
    ics_table_writer_destroy(writer);
    json_decref(metadata);
    free(hits);
}

START_TEST(hits_that_differ)
{
    run_folder place = open_with_hits(plain);
    rewrite_hits(&place, "a.hits.npy", "fast");
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    expect_text(&result, "(they were made with fast maths)");
    expect_text(&result, "1 are on the same module and differ by at most 0.5 ns, 2 scatters");
    expect_text(&result, "1 were not reproduced, because their photons take other paths:");
    forget(&result);
    rewrite_hits(&place, "a.hits.npy", "portable");
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    expect_error(&result, ICESTREAM_E_DIFFERENT, "2 of ");
    ck_assert_uint_gt(result.count, 0); /* the paths are there */
    forget(&result);
    static const char *const other[] = {"device.math=portable", "run.seed=17", NULL};
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, other);
    expect_error(&result, ICESTREAM_E_DIFFERENT, " were not reproduced");
    expect_text(&result, "the configuration differ in: seed (1)");
    forget(&result);
    static const char *const ice[] = {"ice.model=uniform", NULL};
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, ice);
    ck_assert_int_eq(result.status, ICESTREAM_E_DIFFERENT);
    expect_text(&result, "differ in: ice\n");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

START_TEST(wrong_photons)
{
    static const struct {
        const char *photon, *says;
        int status;
    } cases[] = {
        {"3:7", "--photon: found '3:7', expected EVENT:STEP:PHOTON", ICESTREAM_E_USAGE},
        {"", "found ''", ICESTREAM_E_USAGE},
        {"::", "found '::'", ICESTREAM_E_USAGE},
        {"3:7:1:1", "found '3:7:1:1'", ICESTREAM_E_USAGE},
        {"3:7:-1", "found '3:7:-1'", ICESTREAM_E_USAGE},
        {"3:7:1.5", "found '3:7:1.5'", ICESTREAM_E_USAGE},
        {"3:4294967296:1", "found '3:4294967296:1'", ICESTREAM_E_USAGE},
        {"18446744073709551616:1:1", "found '184", ICESTREAM_E_USAGE},
        {"a:b:c", "found 'a:b:c'", ICESTREAM_E_USAGE},
        {"@/nonexistent/list", "/nonexistent/list: error: No such file", ICESTREAM_E_CONFIG},
        {"3:7:200", "event_id 3, step_id 7: found photons 0 to 199, expected photon 200",
         ICESTREAM_E_INPUT},
        {"3:20:0", "event_id 3, step_id 20: found no such step in 2 step files", ICESTREAM_E_INPUT},
        {"4:7:0", "event_id 4, step_id 7: found no such step", ICESTREAM_E_INPUT},
        {"18446744073709551615:0:0", "event_id 18446744073709551615", ICESTREAM_E_INPUT},
    };
    run_folder place = run_folder_open();
    make_steps(&place);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        traced result =
            trace(&place, NULL,
                  (icestream_trace_options){.photons = &cases[i].photon, .photon_count = 1}, plain);
        expect_error(&result, cases[i].status, cases[i].says);
        forget(&result);
        ck_assert(!scratch_exists(&place.folder, "paths.npy"));
        ck_assert(!scratch_exists(&place.folder, "paths.npy.part"));
    }
    char list[SCRATCH_PATH], name[SCRATCH_PATH + 8];
    static const char bad[] = "3:7:1\n3:7 1\n # nothing\n3:7:2 \xff\n";
    scratch_write(scratch_path(&place.folder, "list.txt", list), bad, strlen(bad));
    snprintf(name, sizeof name, "@%s", list);
    const char *const photons[] = {name};
    traced result = trace(&place, NULL,
                          (icestream_trace_options){.photons = photons, .photon_count = 1}, plain);
    expect_error(&result, ICESTREAM_E_CONFIG,
                 "list.txt:2:1: error: photon: found '3:7', expected EVENT");
    expect_error(&result, ICESTREAM_E_CONFIG, "list.txt:4:7: error: photon: found");
    forget(&result);
    result = trace(&place, NULL, (icestream_trace_options){.select = "t<3"}, plain);
    expect_error(&result, ICESTREAM_E_USAGE, "--select: expected --hits FILE");
    forget(&result);
    result = trace(&place, NULL, (icestream_trace_options){.hits = NULL}, plain);
    expect_error(&result, ICESTREAM_E_USAGE, "trace: expected photons");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* The step file is known by what the hit file says of it, not by its name. */
START_TEST(which_step_file)
{
    run_folder place = open_with_hits(plain);
    char a[2 * SCRATCH_PATH], b[2 * SCRATCH_PATH], moved[SCRATCH_PATH];
    run_folder_path(place.steps, "a.steps.npy", a);
    run_folder_path(place.steps, "b.steps.npy", b);
    /* a file with the same identities and other steps, next to the right file */
    icestream_step others[20];
    for (uint32_t i = 0; i < 20; ++i) {
        others[i] = run_folder_bright(i, PHOTONS);
    }
    run_folder_steps(&place, "c.steps.npy", others, 20);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    const char *const photons[] = {"3:1:0"};
    result = trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 1},
                   plain);
    expect_error(&result, ICESTREAM_E_INPUT,
                 "found two different steps with event_id 3 and step_id 1");
    forget(&result);
    result =
        trace(&place, NULL,
              (icestream_trace_options){.photons = photons, .photon_count = 1, .steps = a}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    /* gone from the source, but named */
    scratch_path(&place.folder, "moved.npy", moved);
    ck_assert_int_eq(rename(a, moved), 0);
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    expect_error(&result, ICESTREAM_E_INPUT, "from which the hits were made");
    forget(&result);
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.steps = moved}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    forget(&result);
    result = trace(&place, "b.hits.npy", (icestream_trace_options){.steps = moved}, plain);
    expect_error(&result, ICESTREAM_E_INPUT, "expected it in the file of --steps");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* If a folder cannot be read, the error says so, and does not say that the step is missing. The
 * folder is a link to itself, which not even root can read. */
START_TEST(unreadable_folders)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    char link[SCRATCH_PATH], hidden[2 * SCRATCH_PATH], done[3 * SCRATCH_PATH];
    char sets[3][2 * SCRATCH_PATH + 64];
    scratch_path(&place.folder, "loop", link);
    ck_assert_int_eq(symlink("loop", link), 0);
    snprintf(hidden, sizeof hidden, "%s/.icestream", place.steps);
    ck_assert_int_eq(mkdir(hidden, 0777), 0);
    snprintf(done, sizeof done, "%s/done", hidden);
    ck_assert_int_eq(symlink("done", done), 0);
    snprintf(sets[0], sizeof sets[0], "source.files=['%s/*.npy', '%s/*.npy']", place.steps, link);
    snprintf(sets[1], sizeof sets[1], "source.files=['%s/*/*.npy']", place.folder.folder);
    snprintf(sets[2], sizeof sets[2], "source.directory=%s", place.steps);
    const char *const there[] = {"3:1:0"}, *const absent[] = {"4:1:0"};
    for (size_t i = 0; i < 3; ++i) {
        const char *const settings[] = {sets[i], NULL};
        traced result = trace(
            &place, NULL, (icestream_trace_options){.photons = there, .photon_count = 1}, settings);
        ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
        forget(&result);
        result = trace(&place, NULL,
                       (icestream_trace_options){.photons = absent, .photon_count = 1}, settings);
        expect_error(&result, ICESTREAM_E_INPUT, i == 2 ? done : link);
        expect_error(&result, ICESTREAM_E_INPUT,
                     ": Too many levels of symbolic links; the missing steps may be there");
        ck_assert_ptr_null(strstr(result.error.text, "no such step"));
        forget(&result);
    }
    run_folder_close(&place);
}
END_TEST

START_TEST(own_stages_are_refused)
{
    run_folder place = run_folder_open();
    make_steps(&place);
    char header[SCRATCH_PATH], set[SCRATCH_PATH + 64];
    static const char text[] = "/* not looked at */\n";
    scratch_write(scratch_path(&place.folder, "my.h", header), text, strlen(text));
    snprintf(set, sizeof set, "stages.scatter={source: %s}", header);
    const char *const sets[] = {set, NULL};
    const char *const photons[] = {"3:1:0"};
    traced result =
        trace(&place, NULL, (icestream_trace_options){.photons = photons, .photon_count = 1}, sets);
    expect_error(&result, ICESTREAM_E_CONFIG, "stages.scatter: found a header of your own");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("trace")
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, all_hits_again);
    tcase_add_test(all, all_hits_again_in_full_ice);
    tcase_add_test(all, selected_hits);
    tcase_add_test(all, account_of_a_step);
    tcase_add_test(all, photons_that_go_on);
    tcase_add_test(all, excluded_module);
    tcase_add_test(all, hits_that_differ);
    tcase_add_test(all, wrong_photons);
    tcase_add_test(all, which_step_file);
    tcase_add_test(all, unreadable_folders);
    tcase_add_test(all, own_stages_are_refused);
    suite_add_tcase(suite, all);
}
