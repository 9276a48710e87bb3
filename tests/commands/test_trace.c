/* `icestream trace`: paths and hits.
 *
 * Promises: photons of a real run are repeated with the same hits, bit by bit, in every kind of
 * ice; their paths are consistent; hits of fast maths and of other settings are reported as
 * different. To join: a new feature of the ice is switched on in all_hits_are_repeated_in_full_ice;
 * other settings that change paths get a test like all_hits_are_repeated.
 */
#include "pipeline/photons/files/hit_reader.h"
#include "pipeline/photons/files/table_writer.h"
#include "tests/commands/trace_run.h"
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Checks the points of the photon that begins at index `first`: they are numbered from 0 and joined
 * by straight lines, the distances add up to the path, and time and absorption grow along it.
 * Returns the index of the last point. */
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

/* Checks that the points of the kind HIT are the hits of the run, in order and bit by bit. Returns
 * the number of hits. */
static size_t check_repeated_hits(const run_folder *place, const char *name, const traced *result)
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

START_TEST(all_hits_are_repeated)
{
    run_folder place = open_with_hits(plain);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, plain);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    const size_t hits = check_repeated_hits(&place, "a.hits.npy", &result);
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
START_TEST(all_hits_are_repeated_in_full_ice)
{
    char ice[SCRATCH_PATH], set[SCRATCH_PATH + 32];
    if (model_shared("ice/spice_bfr-v2", ice) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", ice);
    const char *const sets[] = {"device.math=portable",
                                set,
                                "ice.birefringence_subtraction=constant",
                                "detector.layout=hex86",
                                "detector.efficiencies=none",
                                "stages.detect=pe",
                                "sink.hits=both",
                                NULL};
    run_folder place = open_with_hits(sets);
    traced result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, sets);
    ck_assert_msg(result.status == ICESTREAM_OK, "%s", result.error.text);
    ck_assert_uint_ge(check_repeated_hits(&place, "a.hits.npy", &result), 20);
    expect_text(&result, " hits are identical to the last bit");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

/* Photons are chosen by number. The fates of all photons of a step add up to the account of its
 * run. */
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

/* With detector.keep_hit_photons a photon continues after a hit and has several hits, also of one
 * module. */
START_TEST(photons_continue_after_hits)
{
    static const char *const sets[] = {"device.math=portable", "detector.keep_hit_photons=true",
                                       "detector.oversize=20", "detector.crossing=disc", NULL};
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

/* Photons that an excluded module absorbs end on its surface. */
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

/* Rewrites a hit file with two changed hits and another name of the maths, as if a GPU with fast
 * maths had made it. */
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
    expect_text(&result, "the configuration differ in: run.seed (1, 17)\n");
    forget(&result);
    static const char *const ice[] = {"ice.model=uniform", NULL};
    result = trace(&place, "a.hits.npy", (icestream_trace_options){.hits = NULL}, ice);
    ck_assert_int_eq(result.status, ICESTREAM_E_DIFFERENT);
    expect_text(&result, "differ in: ice.model (south-pole-like, uniform)\n");
    forget(&result);
    run_folder_close(&place);
}
END_TEST

ICS_TEST_MAIN("trace")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, all_hits_are_repeated);
    tcase_add_test(all, all_hits_are_repeated_in_full_ice);
    tcase_add_test(all, account_of_a_step);
    tcase_add_test(all, photons_continue_after_hits);
    tcase_add_test(all, excluded_module);
    tcase_add_test(all, hits_that_differ);
    suite_add_tcase(suite, all);
}
