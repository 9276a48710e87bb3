/* Segments through layers: the propagate variants have the worked examples of physics.md 5.5, and
 * agree with the reference algorithm (5.2) and the prefix sums (5.3) in double precision
 * (layer_oracle.h).
 *
 * How to join: a new propagate variant joins in the lists `variants` and in the table `cases`. */
#include "stages/variants.h"
#include "tests/stages/layer_oracle.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- the stage ------------------------------------------------------------------------------- */

static ice_segment_start start_of(const ice_tables *tables, float wavelength, float z, float nz,
                                  float scattering, float absorption)
{
    const ice_segment_start start = {z, nz, scattering, absorption,
                                     ice_optics_at(tables, wavelength)};
    return start;
}

/* ---- the worked example ---------------------------------------------------------------------- */

static const double example_b[3] = {1.0 / 2.0, 1.0 / 3.0, 1.0 / 2.5};
static const double example_a[3] = {1.0 / 100.0, 1.0 / 80.0, 1.0 / 120.0};
static const struct {
    double ze, nz, tau_sca, tau_a, s;
    bool absorbed;
    double z_end, left;
} example[] = {
    {4, 0.6, 0.9, 0.5, 2.7, false, 5.62, 0.46625},
    {4, 0.6, 10, 0.5, 26.666667, false, 20.0, 0.236111},
    {4, -0.6, 10, 0.5, 22.222222, false, -9.333333, 0.261111},
    {4, 0.6, 50, 0.15, 13.0, true, 11.8, 0},
    {4, 0, 0.9, 0.5, 2.7, false, 4.0, 0.46625},
    {15, 0.5, 7, 3, 17.5, false, 23.75, 2.854167},
    {-25, 0.8, 12, 3, 24.0, false, -5.8, 2.76},
    {19, 0.8, 5, 2, 12.5, false, 29.0, 1.895833},
};
enum { EXAMPLES = sizeof example / sizeof *example };

static stage_world example_world(void)
{
    return stage_world_create(world_medium_layered(-10.0, 10.0, 3, example_b, example_a),
                              world_detector_far(), world_light_line(400.0));
}

START_TEST(worked_example_in_double)
{
    stage_world world = example_world();
    layer_oracle c = layer_oracle_create(world.medium, 400.0);
    for (size_t i = 0; i < EXAMPLES; ++i) {
        const oracle_move moves[2] = {layer_oracle_walk(&c, example[i].ze, example[i].nz,
                                                        example[i].tau_sca, example[i].tau_a),
                                      layer_oracle_prefix_sum(&c, example[i].ze, example[i].nz,
                                                              example[i].tau_sca,
                                                              example[i].tau_a)};
        for (int k = 0; k < 2; ++k) {
            ck_assert_double_eq_tol(moves[k].length, example[i].s, 5.1e-7);
            ck_assert_double_eq_tol(moves[k].absorption, example[i].left, 5.1e-7);
            ck_assert_int_eq(moves[k].absorbed, example[i].absorbed);
        }
    }
    layer_oracle_destroy(&c);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(worked_example_of_both_variants)
{
    static const ice_variant variants[] = {ICE_propagate_cumulative, ICE_propagate_layer_walk};
    stage_world world = example_world();
    const ice_tables *tables = stage_world_tables(&world);
    for (size_t i = 0; i < EXAMPLES; ++i) {
        for (int k = 0; k < 2; ++k) {
            const ice_segment_start start =
                start_of(tables, 400.0f, (float)example[i].ze, (float)example[i].nz,
                         (float)example[i].tau_sca, (float)example[i].tau_a);
            const ice_segment segment = ice_propagate(variants[k], tables, start);
            ck_assert_double_eq_tol(segment.length, example[i].s, 1e-5);
            ck_assert_double_eq_tol(segment.absorption, example[i].left, 1e-6);
            ck_assert_int_eq(segment.absorption < ICE_ABSORPTION_END, example[i].absorbed);
            const double z_end = (double)start.z + (double)start.nz * (double)segment.length;
            ck_assert_double_eq_tol(z_end, example[i].z_end, 1e-5);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(ties_are_absorption)
{
    /* If b = a, the photon scatters and is absorbed at the same point, in the layer or behind a
     * face. */
    static const double equal[3] = {0.25, 0.5, 0.25};
    static const ice_variant variants[] = {ICE_propagate_cumulative, ICE_propagate_layer_walk};
    stage_world world = stage_world_create(world_medium_layered(-10.0, 10.0, 3, equal, equal),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    for (int k = 0; k < 2; ++k) {
        for (int direction = -1; direction <= 1; ++direction) {
            for (int far = 0; far < 2; ++far) {
                const float depth = far ? 6.0f : 0.5f;
                const ice_segment segment =
                    ice_propagate(variants[k], tables,
                                  start_of(tables, 400.0f, 5.0f, (float)direction, depth, depth));
                ck_assert_msg(segment.absorption < ICE_ABSORPTION_END,
                              "variant %d, nz %d, depth %g: depth left %g", k, direction,
                              (double)depth, (double)segment.absorption);
            }
        }
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(first_and_last_numbers)
{
    /* Depths of 0 (from a uniform number of 1) up to the largest (from 2^-24), heights at every
     * face and just next to it, horizontal and nearly horizontal directions: no segment is NaN or
     * infinite. */
    static const float depths[] = {0.0f, 5.9604644775390625e-8f, 1.0f, 16.63553237915039f};
    static const float slopes[] = {0.0f, -0.0f, 1e-30f, -1e-30f, 1e-6f, -1e-6f, 1.0f, -1.0f};
    static const ice_variant variants[] = {ICE_propagate_cumulative, ICE_propagate_layer_walk};
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    for (int32_t face = 0; face <= tables->layer_count; ++face) {
        for (int side = -1; side <= 1; ++side) {
            for (size_t slope = 0; slope < 8; ++slope) {
                for (size_t k = 0; k < 32; ++k) {
                    float z = ice_face(tables, face);
                    if (side) {
                        z = nextafterf(z, side < 0 ? -1e9f : 1e9f);
                    }
                    const float tau_sca = depths[k / 2 % 4], tau_a = depths[k / 8];
                    const ice_segment segment =
                        ice_propagate(variants[k % 2], tables,
                                      start_of(tables, 400.0f, z, slopes[slope], tau_sca, tau_a));
                    ck_assert_msg(isfinite(segment.length) && segment.length >= 0.0f &&
                                      isfinite(segment.absorption) && segment.absorption >= 0.0f &&
                                      segment.absorption <= tau_a,
                                  "z %.9g nz %g depths %g %g: length %g, %g left", (double)z,
                                  (double)slopes[slope], (double)tau_sca, (double)tau_a,
                                  (double)segment.length, (double)segment.absorption);
                }
            }
        }
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(equal_layers_are_one)
{
    /* physics.md 12.4. */
    static const ice_variant variants[] = {ICE_propagate_cumulative, ICE_propagate_layer_walk};
    double b[40], a[40];
    for (size_t i = 0; i < 40; ++i) {
        b[i] = 0.4;
        a[i] = 0.01;
    }
    stage_world many = stage_world_create(world_medium_layered(-200.0, 10.0, 40, b, a),
                                          world_detector_far(), world_light_line(400.0));
    stage_world one = stage_world_create(world_medium_layered(-200.0, 400.0, 1, b, a),
                                         world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&many), *single = stage_world_tables(&one);
    uint64_t state = 8;
    for (size_t i = 0, n = test_scaled(200000); i < n; ++i) {
        const float z = (float)test_between(&state, -220.0, 220.0);
        const float nz = (float)test_between(&state, -1.0, 1.0);
        const float tau_sca = (float)(4.0 * test_exponential(&state));
        const float tau_a = (float)test_exponential(&state);
        int32_t leaves;
        const ice_segment exact =
            ice_segment_in_layer(single, start_of(single, 400.0f, z, nz, tau_sca, tau_a), &leaves);
        ck_assert_int_eq(leaves, 0);
        for (int k = 0; k < 2; ++k) {
            const ice_segment segment =
                ice_propagate(variants[k], tables, start_of(tables, 400.0f, z, nz, tau_sca, tau_a));
            ck_assert_double_lt(fabs((double)segment.length - exact.length) * fabsf(nz), 5e-4);
        }
    }
    stage_world_destroy(&many);
    stage_world_destroy(&one);
}
END_TEST

/* ---- random moves ---------------------------------------------------------------------------- */

typedef struct statistics {
    size_t far_off; /* |ds| >= 1e-3 m */
    size_t left_layer;
    double worst_vertical; /* |ds| |nz|, m */
    double worst_depth;    /* error of the absorption depth left, times |nz| */
    double worst_double;   /* error of 5.3 in double precision, in units of 1e-9 m + 1e-12 s; times
                              |nz| / 0.01 if |nz| < 0.01 */
} statistics;

/* Returns a random nz. Some are exactly or nearly vertical or horizontal. */
static float random_nz(uint64_t *state, size_t i)
{
    const float sign = test_word(state) & 1 ? 1.0f : -1.0f;
    switch (i % 16) {
    case 0:
        return sign;
    case 1:
        return 0.0f * sign;
    case 2:
        return sign * (float)exp(-test_between(state, 0.0, 20.0));
    default:
        return (float)test_between(state, -1.0, 1.0);
    }
}

static double worse(double so_far, double error)
{
    /* The comparison is written so that NaN counts as the worst error. */
    return error <= so_far ? so_far : error;
}

/* Compares `count` random segments with the reference. They start in every layer in turn, and up to
 * six layers above and below. */
static statistics measure(const stage_world *world, ice_variant variant, double low, double high,
                          size_t count)
{
    const ice_tables *tables = &world->tables->device;
    layer_oracle c = layer_oracle_create(world->medium, 400.0);
    statistics result = {0};
    uint64_t state = 21;
    float wavelength = 0.0f;
    for (size_t i = 0; i < count; ++i) {
        if (i % 256 == 0) {
            wavelength = (float)test_between(&state, low, high);
            layer_oracle_set(&c, world->medium, (double)wavelength);
        }
        const double place = (double)(i % (c.count + 12)) - 6.0 + test_uniform(&state);
        const float z = (float)(c.bottom + place * c.thickness);
        const float nz = random_nz(&state, i);
        /* Every eighth segment is long: it crosses many layers. */
        const double stretch = i % 8 == 5 ? 10.0 : 1.0;
        const float tau_sca = (float)fmax(stretch * test_exponential(&state), 1e-7);
        const float tau_a = (float)fmax(stretch * test_exponential(&state), 2e-5);
        const ice_segment_start start = start_of(tables, wavelength, z, nz, tau_sca, tau_a);
        int32_t leaves;
        ice_segment segment = ice_segment_in_layer(tables, start, &leaves);
        result.left_layer += leaves != 0;
        if (leaves) {
            segment = ice_propagate_beyond(variant, tables, start);
        }

        const oracle_move exact =
            layer_oracle_walk(&c, (double)z, (double)nz, (double)tau_sca, (double)tau_a);
        const oracle_move sums =
            layer_oracle_prefix_sum(&c, (double)z, (double)nz, (double)tau_sca, (double)tau_a);
        const double slope = fabs((double)nz);
        const double ds = fabs((double)segment.length - exact.length);
        const double depth = fabs((double)segment.absorption - exact.absorption);
        const double in_double = fabs(sums.length - exact.length) / (1e-9 + 1e-12 * exact.length);
        result.far_off += !(ds < 1e-3);
        result.worst_vertical = worse(result.worst_vertical, ds * slope);
        result.worst_depth = worse(result.worst_depth, depth * slope);
        result.worst_double = worse(result.worst_double, in_double * fmin(1.0, slope / 0.01));
    }
    layer_oracle_destroy(&c);
    return result;
}

/* physics.md 5.3: over 1e6 segments, vertical errors are at most 5e-4 m, and 99.9 % of the lengths
 * are within 1e-3 m. In double precision 5.3 is within (1e-9 m + 1e-12 s) `doubles` of 5.2. */
static void expect_tolerance(const stage_world *world, const char *name, double doubles)
{
    static const struct {
        const char *name;
        ice_variant variant;
        double low, high;
    } cases[] = {
        {"cumulative, 400 nm", ICE_propagate_cumulative, 400.0, 400.0},
        {"cumulative, band", ICE_propagate_cumulative, 265.0, 680.0},
        {"layer-walk, 400 nm", ICE_propagate_layer_walk, 400.0, 400.0},
        {"layer-walk, band", ICE_propagate_layer_walk, 265.0, 680.0},
    };
    const size_t count = test_scaled(1000000);
    for (size_t i = 0; i < 4; ++i) {
        const statistics s = measure(world, cases[i].variant, cases[i].low, cases[i].high, count);
        ck_assert_msg(s.worst_vertical <= 5e-4, "%s, %s: |ds||nz| up to %g m", name, cases[i].name,
                      s.worst_vertical);
        ck_assert_msg(s.far_off * 1000 <= count, "%s, %s: %zu of %zu off by 1e-3 m", name,
                      cases[i].name, s.far_off, count);
        ck_assert_msg(s.worst_double <= doubles, "%s, %s: doubles differ by %g tolerances", name,
                      cases[i].name, s.worst_double);
        /* Enough segments left their layer. */
        ck_assert_uint_gt(s.left_layer * 20, count);
        printf("%s, %s: |ds||nz| up to %.2g m, %.4f %% off by 1e-3 m, depth %.2g, doubles %.2g\n",
               name, cases[i].name, s.worst_vertical, 100.0 * (double)s.far_off / (double)count,
               s.worst_depth, s.worst_double);
    }
}

START_TEST(built_in_ice)
{
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    stage_world_tables(&world);
    expect_tolerance(&world, "south-pole-like", 1.0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(real_ice)
{
    static const char *const folders[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    for (size_t i = 0; i < 2; ++i) {
        char path[MODEL_PATH], set[MODEL_PATH + 32];
        if (model_shared(folders[i], path) == NULL) {
            return;
        }
        snprintf(set, sizeof set, "ice.directory=%s", path);
        stage_world world = stage_world_from_config(NULL, set, MODEL_LAYERS_ONLY, NULL);
        stage_world_tables(&world);
        /* The bedrock of these models has an absorption depth of 1e5, so doubles lose two digits
         * near it. */
        expect_tolerance(&world, folders[i], 100.0);
        stage_world_destroy(&world);
    }
}
END_TEST

ICS_TEST_MAIN("propagate")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, worked_example_in_double);
    tcase_add_test(all, worked_example_of_both_variants);
    tcase_add_test(all, ties_are_absorption);
    tcase_add_test(all, first_and_last_numbers);
    tcase_add_test(all, equal_layers_are_one);
    tcase_add_test(all, built_in_ice);
    tcase_add_test(all, real_ice);
    suite_add_tcase(suite, all);
}
