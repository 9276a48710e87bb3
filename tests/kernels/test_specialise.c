/* The definitions in front of the kernels of a GPU (kernels/cuda/specialise.h) that describe
 * histograms of photons. test_kernels_photons.c shows what kernels make of them.
 *
 * How to join: a definition that is not always there joins with a test of its text. */
#include "graphs/cuda/settings.h"
#include "kernels/cuda/specialise.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* All definitions; as long as those of a run may be (graphs/cuda/settings.h). */
static char text[ICS_DEFINITIONS_SIZE];

/* Returns the definitions of histograms of photons; "" if there are none. */
static const char *definitions_of(const ice_photon_axes *axes)
{
    const ice_tables tables = {.layer_count = 1};
    const ics_special_options options = {.block = 128, .photons = *axes};
    ck_assert_int_eq(ics_specialise(&tables, &options, text, sizeof text), 0);
    const char *found = strstr(text, "#define GPU_SPECIAL_PHOTON");
    return found != NULL ? found : "";
}

START_TEST(kernels_without_histograms_have_no_definition)
{
    const ice_photon_axes none = {.count = 0};
    ck_assert_str_eq(definitions_of(&none), "");
}
END_TEST

START_TEST(bounces_alone_need_no_ways)
{
    const ice_photon_axes axes = {1, 4, {{ICE_PHOTON_BOUNCES, 2, {1, 5, 9}}}};
    ck_assert_str_eq(definitions_of(&axes), "#define GPU_SPECIAL_PHOTON_CELLS 4u\n"
                                            "#define GPU_SPECIAL_PHOTONS(ROW) ROW(0u, 2u, 0u, 0u)\n"
                                            "#define GPU_SPECIAL_PHOTON_EDGES 1u, 5u, 9u\n"
                                            "#define GPU_SPECIAL_PHOTON_WAYS 0\n");
}
END_TEST

START_TEST(cells_and_edges_of_histograms_follow_each_other)
{
    const ice_photon_axes axes = {3,
                                  11,
                                  {{ICE_PHOTON_DELAY, 1, {7, 8}},
                                   {ICE_PHOTON_BOUNCES, 3, {1, 2, 3, 4}},
                                   {ICE_PHOTON_PATH, 1, {5, UINT32_MAX}}}};
    ck_assert_str_eq(definitions_of(&axes),
                     "#define GPU_SPECIAL_PHOTON_CELLS 11u\n"
                     "#define GPU_SPECIAL_PHOTONS(ROW) ROW(2u, 1u, 0u, 0u) ROW(0u, 3u, 3u, 2u) "
                     "ROW(1u, 1u, 8u, 6u)\n"
                     "#define GPU_SPECIAL_PHOTON_EDGES 7u, 8u, 1u, 2u, 3u, 4u, 5u, 4294967295u\n"
                     "#define GPU_SPECIAL_PHOTON_WAYS 1\n");
}
END_TEST

/* Histograms of segments are rows of another list, which has a mark for edges in a row. */
START_TEST(segments_have_a_list)
{
    const ice_photon_axes axes = {3,
                                  12,
                                  {{ICE_PHOTON_LAYERS, 2, {1, 2, 3}},
                                   {ICE_PHOTON_BOUNCES, 1, {1, 2}},
                                   {ICE_PHOTON_LAYERS, 3, {1, 2, 3, 5}}}};
    ck_assert_str_eq(definitions_of(&axes),
                     "#define GPU_SPECIAL_PHOTON_CELLS 12u\n"
                     "#define GPU_SPECIAL_PHOTONS(ROW) ROW(0u, 1u, 4u, 3u)\n"
                     "#define GPU_SPECIAL_SEGMENTS(ROW) ROW(3u, 2u, 0u, 0u, 1) "
                     "ROW(3u, 3u, 7u, 5u, 0)\n"
                     "#define GPU_SPECIAL_PHOTON_EDGES 1u, 2u, 3u, 1u, 2u, 1u, 2u, 3u, 5u\n"
                     "#define GPU_SPECIAL_PHOTON_WAYS 1\n");
}
END_TEST

START_TEST(candidates_have_a_mark)
{
    const ice_photon_axes axes = {1, 4, {{ICE_PHOTON_CANDIDATES, 2, {0, 1, 3}}}};
    ck_assert_str_eq(definitions_of(&axes), "#define GPU_SPECIAL_PHOTON_CELLS 4u\n"
                                            "#define GPU_SPECIAL_PHOTONS(ROW)\n"
                                            "#define GPU_SPECIAL_SEGMENTS(ROW) "
                                            "ROW(4u, 2u, 0u, 0u, 0)\n"
                                            "#define GPU_SPECIAL_CANDIDATES 1\n"
                                            "#define GPU_SPECIAL_PHOTON_EDGES 0u, 1u, 3u\n"
                                            "#define GPU_SPECIAL_PHOTON_WAYS 1\n");
}
END_TEST

/* Many bins: cells and words of histograms follow each other, and no edge is a constant but the
 * first and the last one. A run of few and of many bins has the definitions of both. */
START_TEST(many_bins_have_no_edges)
{
    const ice_tables tables = {.layer_count = 1};
    ics_special_options options = {.block = 128};
    ics_large_axes_add(&options.large, ICE_PHOTON_BOUNCES, (ics_bin_edges){5.0, 105.0, 100, false});
    ck_assert_int_eq(ics_specialise(&tables, &options, text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "#define GPU_SPECIAL_LARGE_CELLS 102u\n"
                                       "#define GPU_SPECIAL_LARGE(ROW) "
                                       "ROW(0u, 100u, 0u, 0u, 0u, 5u, 105u)\n"
                                       "#define GPU_SPECIAL_PHOTON_WAYS 0\n"));
    ck_assert_ptr_null(strstr(text, "GPU_SPECIAL_PHOTON_CELLS"));
    options.photons = (ice_photon_axes){1, 4, {{ICE_PHOTON_BOUNCES, 2, {1, 5, 9}}}};
    ics_large_axes_add(&options.large, ICE_PHOTON_PATH, (ics_bin_edges){1.0, 2.0, 65536, false});
    ck_assert_int_eq(ics_specialise(&tables, &options, text, sizeof text), 0);
    /* A bin of 2^-16 m has 128 words, a bucket 2^12 words; 100 buckets and 101 edges. */
    ck_assert_ptr_nonnull(strstr(text,
                                 "#define GPU_SPECIAL_PHOTON_EDGES 1u, 5u, 9u\n"
                                 "#define GPU_SPECIAL_LARGE_CELLS 65640u\n"
                                 "#define GPU_SPECIAL_LARGE(ROW) "
                                 "ROW(0u, 100u, 0u, 0u, 0u, 5u, 105u) "
                                 "ROW(1u, 65536u, 102u, 203u, 12u, 1065353216u, 1073741824u)\n"
                                 "#define GPU_SPECIAL_PHOTON_WAYS 1\n"));
}
END_TEST

/* The most histograms with the longest edges, with room for all other definitions. */
START_TEST(the_longest_definitions_fit)
{
    ice_photon_axes axes = {.count = ICE_PHOTON_HISTOGRAMS, .cells = ICE_PHOTON_CELLS};
    for (uint32_t i = 0; i < axes.count; ++i) {
        axes.items[i] = (ice_photon_axis){.quantity = ICE_PHOTON_PATH, .bins = ICE_PHOTON_BINS};
        memset(axes.items[i].edges, 0xff, sizeof axes.items[i].edges);
    }
    ck_assert_uint_lt(strlen(definitions_of(&axes)), 4096);
    ck_assert_uint_lt(strlen(text), 4096 + 6144);
}
END_TEST

/* A number stands there with all its bits, also one that is not finite. */
START_TEST(numbers_are_constants)
{
    ice_tables tables = {.thickness = 10.0f, .absorb_above = INFINITY};
    tables.tilt.nodes_u = 2;
    tables.tilt.few[0].offset = -1.0f;
    const ics_special_options options = {.block = 128};
    ck_assert_int_eq(ics_specialise(&tables, &options, text, sizeof text), 0);
    ck_assert_ptr_nonnull(strstr(text, "#define GPU_SPECIAL_NUMBERS(ROW) ROW("));
    ck_assert_ptr_nonnull(strstr(text, " ROW(thickness, 1092616192u)"));
    ck_assert_ptr_nonnull(strstr(text, " ROW(absorb_above, 2139095040u)"));
    ck_assert_ptr_nonnull(strstr(text, " ROW(tilt.few[0].offset, 3212836864u)"));
    ck_assert_ptr_null(strstr(text, "tilt.few[1]"));
}
END_TEST

/* Only `icestream-lab impact` asks for kernels that leave something out. */
START_TEST(kernels_leave_nothing_out_unless_asked)
{
    const ics_tables tables = {.device = {.layer_count = 1}};
    static const char *const definitions[] = {[ICS_WITHOUT_RANDOM] = "#define ICE_WITHOUT_RANDOM\n",
                                              [ICS_WITHOUT_DIVERGENCE] =
                                                  "#define GPU_WITHOUT_DIVERGENCE\n"};
    for (int i = ICS_WITHOUT_NOTHING; i <= ICS_WITHOUT_DIVERGENCE; ++i) {
        const ics_gpu_limits limits = ics_settings_assumed_limits(90, &tables);
        ics_gpu_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC, .without = (ics_without)i};
        ics_program_options program;
        ics_settings_resolve(&options, &limits);
        ck_assert_int_eq(ics_settings_program(&options, &tables, 90, &program, text, NULL), 0);
        for (int k = ICS_WITHOUT_RANDOM; k <= ICS_WITHOUT_DIVERGENCE; ++k) {
            ck_assert_int_eq(strstr(text, definitions[k]) != NULL, i == k);
        }
    }
}
END_TEST

ICS_TEST_MAIN("specialise")
{
    TCase *tests = tcase_create("specialise");
    tcase_add_test(tests, kernels_without_histograms_have_no_definition);
    tcase_add_test(tests, bounces_alone_need_no_ways);
    tcase_add_test(tests, cells_and_edges_of_histograms_follow_each_other);
    tcase_add_test(tests, segments_have_a_list);
    tcase_add_test(tests, candidates_have_a_mark);
    tcase_add_test(tests, many_bins_have_no_edges);
    tcase_add_test(tests, the_longest_definitions_fit);
    tcase_add_test(tests, numbers_are_constants);
    tcase_add_test(tests, kernels_leave_nothing_out_unless_asked);
    suite_add_tcase(suite, tests);
}
