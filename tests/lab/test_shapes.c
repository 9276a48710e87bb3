/* `icestream-lab shapes`.
 *
 * Promises: a row for every case, oversize and schedule; hits that fit the shapes; figures of the
 * trees; refusal of detectors with types; no file stays behind. Times
 * are not checked. How to join: a new case in bench/lab/shapes/cases.c needs no line
 * here, unless its hits can be checked. */
#include "bench/lab/shapes/cases.h"
#include "bench/lab/shapes/shapes.h"
#include "tests/support/json_values.h"
#include "tests/support/model_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Cases with light near strings are measured at one oversize only. */
enum { NEAR_CASES = 3, STEPS = 40 };

static icestream_config *small_config(const char *more)
{
    return model_config("device.backend=cpu", "device.threads=1", "ice.model=uniform",
                        "workload.kind=uniform", "workload.steps=40",
                        "workload.photons_per_step=500", "graph.schedule=monolithic", more, NULL);
}

/* Measures shapes, at the oversizes of the table or at `only`. Returns the status; the caller frees
 * *text. */
static int measure(const icestream_config *config, icestream_bench_options options, double only,
                   char **text, icestream_error *error)
{
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    ck_assert_ptr_nonnull(out);
    const int status = ics_shapes_measure(config, &options, only, out, error);
    fclose(out);
    return status;
}

#if ICS_HAVE_ASSIMP
static size_t files_in(const char *folder)
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    ck_assert_ptr_nonnull(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(entries);
    return count;
}

/* The hits of the first row whose modules have this name and number. */
static json_int_t hits_of(const json_t *root, const char *name, double oversize, json_int_t number)
{
    const json_t *rows = json_object_get(root, "rows");
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *row = json_array_get(rows, i), *shape = json_object_get(row, "shape");
        if (strcmp(text_of(shape, "modules"), name) == 0 &&
            number_of(shape, "oversize") == oversize && whole_of(shape, "module_count") == number) {
            return whole_of(row, "hits");
        }
    }
    ck_abort_msg("no row %s, oversize %g, %lld modules", name, oversize, (long long)number);
}

START_TEST(every_case_has_a_row)
{
    icestream_config *config = small_config("run.seed=3");
    const scratch place = scratch_create();
    char *text = NULL;
    icestream_error error = {0};
    const icestream_bench_options options = {.repeats = 1, .json = true, .workload = true};
    setenv("TMPDIR", place.folder, 1);
    ck_assert_msg(measure(config, options, 0, &text, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_uint_eq(files_in(place.folder), 0);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    const json_t *rows = json_object_get(root, "rows");
    ck_assert_uint_eq(json_array_size(rows), 2 * ICS_SHAPE_CASES - NEAR_CASES);
    ck_assert_int_eq(whole_of(root, "photons"), STEPS * 500);

    /* The same steps meet the same spheres, whether they have a type or not. */
    const json_int_t spheres = hits_of(root, "spheres without a type", 5, 5160);
    ck_assert_int_gt(spheres, 0);
    ck_assert_int_eq(spheres, hits_of(root, "sphere", 5, 5160));
    ck_assert_int_eq(spheres, hits_of(root, "spheres again", 5, 5160));
    /* Cables take light, larger bodies get more. */
    ck_assert_int_le(hits_of(root, "spheres and cables", 5, 5160), spheres);
    ck_assert_int_ge(hits_of(root, "cylinder", 5, 5160), spheres);
    ck_assert_int_gt(hits_of(root, "three types", 5, 300000), 0);
    ck_assert_int_gt(hits_of(root, "spheres, near light", 5, 5160), spheres);
    for (size_t i = 0; i < json_array_size(rows); ++i) {
        const json_t *shape = json_object_get(json_array_get(rows, i), "shape");
        const json_int_t triangles = whole_of(shape, "triangles");
        if (triangles == 0) {
            ck_assert(json_is_null(json_object_get(shape, "nodes_per_candidate")));
            continue;
        }
        ck_assert(triangles == 20480 || triangles == 200000);
        /* A triangle has 48 bytes, and the way to it at least log2(triangles / leaf) nodes. */
        ck_assert_int_gt(whole_of(shape, "tree_bytes"), 48 * triangles);
        ck_assert_int_lt(whole_of(shape, "tree_bytes"), 120 * triangles);
        ck_assert_double_gt(number_of(shape, "nodes_per_candidate"), 11);
        ck_assert_double_lt(number_of(shape, "nodes_per_candidate"), 100);
        /* Almost every line through the sphere meets the mesh. */
        ck_assert_double_gt(number_of(shape, "triangles_per_candidate"), 0.99);
        ck_assert_double_lt(number_of(shape, "triangles_per_candidate"), 30);
    }
    json_decref(root);
    free(text);
    icestream_config_destroy(config);
    scratch_remove(&place);
}
END_TEST

#else
START_TEST(says_that_assimp_is_missing)
{
    icestream_config *config = small_config("run.seed=3");
    char *text = NULL;
    icestream_error error = {0};
    const icestream_bench_options options = {.repeats = 1, .workload = true};
    ck_assert_int_eq(measure(config, options, 0, &text, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "mesh.stl: error: this icestream was built without Assimp"),
                  "%s", error.text);
    free(text);
    icestream_config_destroy(config);
}
END_TEST
#endif

START_TEST(detectors_with_types_are_refused)
{
    icestream_config *config =
        small_config("detector.types={a: {shape: sphere, radius: 0.2}, b: {shape: sphere, "
                     "radius: 0.1}}");
    char *text = NULL;
    icestream_error error = {0};
    const icestream_bench_options options = {.repeats = 1, .workload = true};
    ck_assert_int_eq(measure(config, options, 0, &text, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "shapes: found detector.types, expected none"), "%s",
                  error.text);
    free(text);
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("shapes")
{
    TCase *tests = tcase_create("shapes");
#if ICS_HAVE_ASSIMP
    tcase_add_test(tests, every_case_has_a_row);
#else
    tcase_add_test(tests, says_that_assimp_is_missing);
#endif
    tcase_add_test(tests, detectors_with_types_are_refused);
    suite_add_tcase(suite, tests);
}
