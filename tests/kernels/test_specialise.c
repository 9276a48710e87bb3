/* The definitions in front of the kernels of a GPU (kernels/cuda/specialise.h): the longest ones
 * fit, numbers keep their bits, and nothing is left out unless it is asked for.
 * tests/kernels/test_kernels_photons.c and tests/gpu/test_gpu_photons.c show what kernels make of
 * the definitions of histograms.
 *
 * How to join: a definition with a limit joins in the_longest_definitions_fit. */
#include "graphs/cuda/settings.h"
#include "kernels/cuda/specialise.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* All definitions; as long as those of a run may be (graphs/cuda/settings.h). */
static char text[ICS_DEFINITIONS_SIZE];

static void specialise(const ice_tables *tables, const ics_special_options *options)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    ck_assert_ptr_nonnull(out);
    ics_specialise(tables, options, out);
    ck_assert_int_eq(fclose(out), 0);
}

/* Returns the definitions of histograms of photons; "" if there are none. */
static const char *definitions_of(const ice_photon_axes *axes)
{
    const ice_tables tables = {.layer_count = 1};
    const ics_special_options options = {.block = 128, .photons = *axes};
    specialise(&tables, &options);
    const char *found = strstr(text, "#define GPU_SPECIAL_PHOTON");
    return found != NULL ? found : "";
}

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
    specialise(&tables, &options);
    ck_assert_ptr_nonnull(strstr(text, "#define GPU_SPECIAL_NUMBERS(ROW) ROW("));
    ck_assert_ptr_nonnull(strstr(text, " ROW(thickness, 1092616192u)"));
    ck_assert_ptr_nonnull(strstr(text, " ROW(absorb_above, 2139095040u)"));
    ck_assert_ptr_nonnull(strstr(text, " ROW(tilt.few[0].offset, 3212836864u)"));
    ck_assert_ptr_null(strstr(text, "tilt.few[1]"));
}
END_TEST

/* Only `bench/impact.py` asks for kernels that leave something out. */
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
    tcase_add_test(tests, the_longest_definitions_fit);
    tcase_add_test(tests, numbers_are_constants);
    tcase_add_test(tests, kernels_leave_nothing_out_unless_asked);
    suite_add_tcase(suite, tests);
}
