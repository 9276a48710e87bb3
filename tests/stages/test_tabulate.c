/* The stage tabulate: cells, weights and samples that were worked out by hand, and absorption
 * depths along segments against a walk through the layers in double precision.
 *
 * How to join: a new geometry joins with a point whose coordinates are known. */
#include "stages/tabulate/tabulate.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

static const float inverse_c = 3.33564095f; /* ns/m */

/* clsim's spherical axes without overflow. */
static ice_tabulation spherical(void)
{
    return (ice_tabulation){
        .axes = {{.bins = 200, .power = 2, .scale = 200 / 24.0831892f, .ends_above = 1},
                 {.bins = 36, .power = 1, .scale = 36 / 180.0f},
                 {.bins = 100, .power = 1, .first = -1, .scale = 50},
                 {.bins = 105, .power = 2, .scale = 105 / 83.6660027f, .ends_above = 1}},
        .axis_count = 4,
        .geometry = ICE_TABULATE_SPHERICAL,
        .step = 1,
        .inverse_step = 1,
        .absorption_lengths = 46,
        .inverse_speed = 1.35f * inverse_c};
}

static ice_tabulate_origin origin_at(float x, float y, float z)
{
    return (ice_tabulate_origin){.x = x, .y = y, .z = z, .ux = 1, .vy = 1, .wz = 1, .weight = 1};
}

START_TEST(angles_are_those_of_atan2)
{
    for (int i = 0; i <= 4000; ++i) {
        const double angle = M_PI * i / 4000.0;
        for (double r = 1e-3; r < 2000.0; r *= 17.0) {
            const float x = (float)(r * cos(angle)), y = (float)fabs(r * sin(angle));
            ck_assert_double_eq_tol(ice_tabulate_angle(x, y), atan2(y, x), 4e-7);
        }
    }
    ck_assert_float_eq(ice_tabulate_angle(0.0f, 0.0f), 0.0f);
    ck_assert_float_eq(ice_tabulate_angle(2.0f, 0.0f), 0.0f);
}
END_TEST

START_TEST(a_point_has_the_coordinates_of_its_geometry)
{
    const ice_tabulate_sample near = {.x = 2, .y = -2, .z = 1, .time = 30, .impact = 0.25f};
    const ice_tabulate_sample far = {.y = 4, .z = 5, .time = 100};
    ice_tabulation table = spherical();
    ice_tabulate_point at;
    at = ice_tabulate_locate(&table, ICE_TABULATE_SPHERICAL, &near);
    ck_assert_float_eq_tol(at.first, 3.0f, 1e-6f);
    ck_assert_float_eq_tol(at.azimuth, 45.0f, 1e-4f); /* the halves add up */
    ck_assert_float_eq_tol(at.third, 1.0f / 3.0f, 1e-6f);
    ck_assert_float_eq_tol(at.delay, 30.0f - 3.0f * 1.35f * inverse_c, 1e-5f);
    ck_assert_float_eq(at.impact, 0.25f);
    table.full_azimuth = 1;
    at = ice_tabulate_locate(&table, ICE_TABULATE_SPHERICAL, &near);
    ck_assert_float_eq_tol(at.azimuth, 315.0f, 1e-4f);

    table.cherenkov_tangent = 0.75f;
    table.inverse_speed = inverse_c;
    at = ice_tabulate_locate(&table, ICE_TABULATE_CYLINDRICAL, &far);
    ck_assert_float_eq_tol(at.first, 4.0f, 1e-6f);
    ck_assert_float_eq_tol(at.azimuth, 1.57079633f, 1e-6f);
    ck_assert_float_eq(at.third, 5.0f);
    ck_assert_float_eq_tol(at.delay, 100.0f - (5.0f + 3.0f) * inverse_c, 1e-4f);
}
END_TEST

START_TEST(cells_follow_from_the_power_of_an_axis)
{
    const ice_tabulation table = spherical();
    const ice_tabulate_axis *r = &table.axes[0], *cosine = &table.axes[2];
    /* Bin i of r ends at 580 (i / 200)^2: bin 1 at 0.0145 m, bin 100 at 145 m. */
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 0.0f), 1);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 0.0144f), 1);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 0.0146f), 2);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 144.9f), 100);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 145.1f), 101);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 579.9f), 200);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, 581.0f), 201);
    ck_assert_int_eq(ice_tabulate_cell(r, 2, -1.0f), 0);
    ck_assert_int_eq(ice_tabulate_cell(cosine, 1, -1.01f), 0);
    ck_assert_int_eq(ice_tabulate_cell(cosine, 1, -0.995f), 1);
    ck_assert_int_eq(ice_tabulate_cell(cosine, 1, 0.005f), 51);
    ck_assert_int_eq(ice_tabulate_cell(cosine, 1, 1.01f), 101);
    ck_assert_int_eq(ice_tabulate_cell(cosine, 1, NAN), 0);
    /* x^3 from 8 to 125 in 3 bins: edges 8, 27, 64, 125. */
    const ice_tabulate_axis cubic = {
        .bins = 3, .power = 3, .inverse_power = 1.0f / 3.0f, .first = 2, .scale = 1};
    ck_assert_int_eq(ice_tabulate_cell(&cubic, 3, 7.9f), 0);
    ck_assert_int_eq(ice_tabulate_cell(&cubic, 3, 8.1f), 1);
    ck_assert_int_eq(ice_tabulate_cell(&cubic, 3, 63.9f), 2);
    ck_assert_int_eq(ice_tabulate_cell(&cubic, 3, 64.1f), 3);
    ck_assert_int_eq(ice_tabulate_cell(&cubic, 3, 126.0f), 4);
    ck_assert_int_eq(ice_tabulate_ends(r, 201), 1);
    ck_assert_int_eq(ice_tabulate_ends(r, 0), 0);
    ck_assert_int_eq(ice_tabulate_ends(cosine, 101), 0);
}
END_TEST

START_TEST(weights_are_rounded_to_the_nearest_unit)
{
    ck_assert_uint_eq(ice_tabulate_units(1.0f), UINT64_C(1) << 32);
    ck_assert_uint_eq(ice_tabulate_units(0.0f), 0);
    ck_assert_uint_eq(ice_tabulate_units(0x1p-33f), 1);
    ck_assert_uint_eq(ice_tabulate_units(0x0.fffffep-33f), 0);
    ck_assert_uint_eq(ice_tabulate_units(0x1.8p-32f), 2);
    ck_assert_uint_eq(ice_tabulate_units(0x1p30f), UINT64_C(1) << 62);
    ck_assert_uint_eq(ice_tabulate_units(3.5f), UINT64_C(7) << 31);
    ck_assert_float_eq_tol(ice_tabulate_weight(2.0f, 1.0f), 0.735758882f, 1e-6f);
}
END_TEST

/* A sample every 2 m at the offset u of the photon, over segments of 1.5, 0.25, 7 and 0.5 m: the
 * remainder of a segment is carried into the next one. */
START_TEST(the_remainder_is_carried_into_the_next_segment)
{
    stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    ice_tabulation table = spherical();
    table.step = 2;
    table.inverse_step = 0.5f;
    const ice_tabulate_origin origin = origin_at(0, 0, 0);
    static const float lengths[] = {1.5f, 0.25f, 7.0f, 0.5f};
    ice_photon photon = {.dx = 1, .wavelength = 400, .absorption = 46};
    float found[8];
    size_t count = 0;
    for (size_t i = 0; i < COUNT(lengths); ++i) {
        const ice_tabulate_segment segment = {.photon = photon,
                                              .start = {.offset = 0.25f},
                                              .optics = ice_optics_at(tables, photon.wavelength),
                                              .length = lengths[i],
                                              .factor = 1};
        ice_tabulate_way way = ice_tabulate_begin(&table, tables, &origin, segment);
        for (int32_t k = 0; k < way.count; ++k) {
            const ice_tabulate_sample sample = ice_tabulate_next(&table, tables, &way, k);
            found[count++] = sample.x;
            ck_assert_float_eq_tol(sample.time, sample.x * way.slowness, 1e-4f);
        }
        photon.x += lengths[i];
        photon.path += lengths[i];
    }
    ck_assert_uint_eq(count, 5);
    for (size_t i = 0; i < 5; ++i) {
        ck_assert_float_eq_tol(found[i], 0.5f + 2.0f * (float)i, 1e-5f);
    }
    ck_assert_double_eq_tol(ice_slowness(tables, 400.0f),
                            ice_group_index_double(400.0) / 0.299792458, 1e-5);
    stage_world_destroy(&world);
}
END_TEST

/* The absorption depth from a to b (m), by steps of 1 mm in double precision. */
static double depth_of(const ice_tables *tables, ice_optics optics, double z, double dz, double way)
{
    double depth = 0.0;
    const int steps = (int)ceil(way / 1e-3);
    for (int i = 0; i < steps; ++i) {
        const double height = z + dz * way * (i + 0.5) / steps;
        const ice_layer_row *row = &tables->layers[ice_layer_at(tables, (float)height)];
        depth += (double)ice_absorption(optics, row->dust, row->ice) * way / steps;
    }
    return depth;
}

START_TEST(depths_of_samples_are_those_of_the_layers)
{
    static const double b[] = {0.4, 0.2, 0.9, 0.3}, a[] = {0.01, 0.05, 0.002, 0.03};
    static const double slopes[] = {1, -1, 0.5, -0.3, 0.01, 0};
    stage_world world = stage_world_create(world_medium_layered(-20, 10, 4, b, a),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    const ice_tabulation table = spherical();
    const ice_tabulate_origin origin = origin_at(0, 0, 0);
    for (size_t i = 0; i < COUNT(slopes); ++i) {
        const float dz = (float)slopes[i];
        const ice_photon photon = {.z = i % 2 ? 17.0f : -23.0f,
                                   .dx = sqrtf(1 - dz * dz),
                                   .dz = dz,
                                   .wavelength = 400,
                                   .absorption = 44};
        const ice_optics optics = ice_optics_at(tables, photon.wavelength);
        const ice_tabulate_segment segment = {.photon = photon,
                                              .start = {.offset = 0.5f},
                                              .optics = optics,
                                              .height = photon.z,
                                              .length = 45,
                                              .factor = 1};
        ice_tabulate_way way = ice_tabulate_begin(&table, tables, &origin, segment);
        ck_assert_int_eq(way.count, 45);
        for (int32_t k = 0; k < way.count; ++k) {
            const ice_tabulate_sample sample = ice_tabulate_next(&table, tables, &way, k);
            const double expected = 2.0 + depth_of(tables, optics, photon.z, dz, k + 0.5);
            ck_assert_double_eq_tol(sample.depth, expected, 3e-5);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

/* The standard curve 0.34 + 0.51 x - 0.17 x^3 has the maximum 0.68 (physics.md 8.5). Its values for
 * x = 1, 0.5, 0 and -1 are 0.68, 0.57375, 0.34 and 0. Where a curve is negative, 0 counts. */
START_TEST(acceptances_are_those_of_the_curve)
{
    const ice_tabulation standard = {.acceptance = {0.5f, 0.75f, 0, -0.25f}};
    ck_assert_float_eq_tol(ice_tabulate_accepted(&standard, 1.0f), 1.0f, 1e-6f);
    ck_assert_float_eq_tol(ice_tabulate_accepted(&standard, 0.5f), 0.57375f / 0.68f, 1e-6f);
    ck_assert_float_eq_tol(ice_tabulate_accepted(&standard, 0.0f), 0.5f, 1e-6f);
    ck_assert_float_eq_tol(ice_tabulate_accepted(&standard, -1.0f), 0.0f, 1e-6f);
    const ice_tabulation steep = {.acceptance = {-0.5f, 1.5f}};
    ck_assert_float_eq(ice_tabulate_accepted(&steep, 0.25f), 0.0f);
    ck_assert_float_eq_tol(ice_tabulate_accepted(&steep, 0.5f), 0.25f, 1e-6f);
}
END_TEST

/* The offsets of photons are uniform: in each of 16 parts of [0, 1) lies the expected number within
 * 5 standard deviations (a false alarm in 1e5 seeds). */
START_TEST(offsets_are_uniform)
{
    enum { PHOTONS = 1 << 16, PARTS = 16 };
    const ice_tables tables = {.seed_low = 7};
    uint32_t counts[PARTS] = {0};
    for (uint32_t i = 0; i < PHOTONS; ++i) {
        const ice_identity identity = {.event_low = 3, .step_id = i >> 8, .photon_id = i & 255};
        const float u = ice_tabulate_offset(&tables, identity);
        ck_assert(u >= 0.0f && u < 1.0f);
        ++counts[(int)(u * PARTS)];
    }
    for (int i = 0; i < PARTS; ++i) {
        ck_assert_double_eq_tol(counts[i], PHOTONS / PARTS, 5.0 * 64.0);
    }
}
END_TEST

ICS_TEST_MAIN("tabulate")
{
    TCase *tabulate = tcase_create("tabulate");
    tcase_add_test(tabulate, angles_are_those_of_atan2);
    tcase_add_test(tabulate, a_point_has_the_coordinates_of_its_geometry);
    tcase_add_test(tabulate, cells_follow_from_the_power_of_an_axis);
    tcase_add_test(tabulate, weights_are_rounded_to_the_nearest_unit);
    tcase_add_test(tabulate, the_remainder_is_carried_into_the_next_segment);
    tcase_add_test(tabulate, depths_of_samples_are_those_of_the_layers);
    tcase_add_test(tabulate, acceptances_are_those_of_the_curve);
    tcase_add_test(tabulate, offsets_are_uniform);
    suite_add_tcase(suite, tabulate);
}
