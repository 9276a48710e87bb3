/* Birefringence: the deflection of a segment has the worked numbers of physics.md 6.4, and random
 * deflections have the moments that follow from them. Integrals over layers equal sums of small
 * pieces. A texture for a GPU has the numbers of the table.
 *
 * How to join: add one test for each new term of the deflection. */
#include "tables/deflection_image.h"
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

START_TEST(strengths_by_angle)
{
    static const struct {
        double angle, sx, sy, mx;
    } rows[] = {{0, 0.076795, 0.077381, 0},
                {30, 0.062604, 0.068607, 0.004248},
                {60, 0.038317, 0.048744, 0.001638},
                {90, 0.029460, 0.040100, 0}};
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    for (int i = 0; i < 4; ++i) {
        const double angle = rows[i].angle * M_PI / 180.0;
        const ice_deflection row = ice_deflection_at(tables, (float)cos(angle), (float)sin(angle));
        ck_assert_double_eq_tol(2.0 * row.along, rows[i].sx, 2e-6);
        ck_assert_double_eq_tol(2.0 * row.across, rows[i].sy, 2e-6);
        ck_assert_double_eq_tol(2.0 * row.mean, rows[i].mx, 2e-6);
    }
    /* Angles between the rows of the table. */
    const double *c = world.medium->birefringence.along, *m = world.medium->birefringence.mean;
    for (int i = 0; i <= 5000; ++i) {
        const double angle = 0.5 * M_PI * i / 5000, sine = sin(angle), cosine = cos(angle);
        const ice_deflection row = ice_deflection_at(tables, (float)cosine, (float)sine);
        ck_assert_double_eq_tol(2.0 * row.along, c[0] * exp(-c[1] * pow(atan(c[3] * sine), c[2])),
                                5e-6);
        ck_assert_double_eq_tol(
            2.0 * row.mean, m[0] * atan(m[3] * sine * cosine) * exp(-m[1] * sine + m[2] * cosine),
            2e-6);
    }
    stage_world_destroy(&world);
}
END_TEST

/* A bent segment: its direction at the end, and the vector (m) from the end of the straight segment
 * to the end of the bent one. */
typedef struct bent_segment {
    ice_direction direction, shift;
} bent_segment;

static bent_segment bend(const ice_tables *tables, ice_direction n, ice_birefringence_sum over,
                         float length, ice_normal g)
{
    const ice_bent_segment bent = ice_bend(tables, n, over, length, g);
    const ice_direction end = ice_of_flow(tables, bent.end);
    return (bent_segment){ice_of_flow(tables, bent.direction),
                          {end.x - length * n.x, end.y - length * n.y, end.z - length * n.z}};
}

START_TEST(worked_deflection)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_direction n = {0.48f, 0.6f, 0.64f};
    const ice_birefringence_sum over = {10.0f, 10.0f};
    static const ice_normal none = {0, 0, 0, 0}, one = {1, 0, 0, 0};
    const bent_segment bent = bend(tables, n, over, 10.0f, none);
    ck_assert_double_eq_tol(bent.direction.x, 0.4780209, 3e-7);
    ck_assert_double_eq_tol(bent.direction.y, 0.6018647, 3e-7);
    ck_assert_double_eq_tol(bent.direction.z, 0.6397303, 3e-7);
    /* Half of the segment in the old direction, half in that of the middle. */
    ck_assert_double_eq_tol(bent.shift.x, 5.0 * (0.4780209 - 0.48), 3e-6);
    ck_assert_double_eq_tol(bent.shift.y, 5.0 * (0.6018647 - 0.6), 3e-6);
    /* sx sqrt(RA) = 0.0954558 more along q turns by 2 atan(d / 2). */
    const ice_direction turned = bend(tables, n, over, 10.0f, one).direction;
    const double cosine = (double)turned.x * n.x + (double)turned.y * n.y + (double)turned.z * n.z;
    ck_assert_double_eq_tol(acos(cosine), 2 * atan(0.5 * (0.0954558 + 0.00273251)), 2e-6);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(deflection_along_the_axis)
{
    /* If n is the flow axis, nothing divides by zero and n stays a unit vector. */
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_birefringence_sum over = {10.0f, 10.0f};
    static const ice_normal g = {1.0f, -1.0f, 0.5f, 2.0f};
    for (int sign = -1; sign <= 1; sign += 2) {
        const ice_direction n = {(float)sign * tables->flow_x, (float)sign * tables->flow_y, 0.0f};
        const ice_direction m = bend(tables, n, over, 10.0f, g).direction;
        ck_assert_double_eq_tol(ice_square(m), 1.0, 1e-6);
        ck_assert(isfinite(m.x) && isfinite(m.y) && isfinite(m.z));
    }
    stage_world_destroy(&world);
}
END_TEST

/* The integrals of the strengths over a segment equal sums over small pieces. */
START_TEST(integrals_over_layers)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 6;
    for (int i = 0; i < 2000; ++i) {
        const double z = test_between(&state, -650, 650), length = test_between(&state, 0, 60);
        const double nz = i % 10 == 0 ? 0.0 : test_between(&state, -1, 1);
        const ice_birefringence_sum over =
            ice_birefringence_over(tables, (float)z, (float)nz, (float)length);
        enum { PIECES = 4000 };
        double diffusion = 0, mean = 0;
        for (int k = 0; k < PIECES; ++k) {
            const double at = z + nz * length * (k + 0.5) / PIECES;
            const double j = fmin(fmax(floor((at + 600) / 10), 0), 119);
            diffusion += 0.5 * fmod(j, 5) * length / PIECES;
            mean += 0.5 * fmod(j, 4) * length / PIECES;
        }
        ck_assert_double_eq_tol(over.diffusion, diffusion, 0.03);
        ck_assert_double_eq_tol(over.mean, mean, 0.03);
    }
    stage_world_destroy(&world);
}
END_TEST

/* The sum over the layers of a segment, as a GPU makes it, equals the difference of two sums from
 * the top. Segments go through one layer, through two, through many, and out of the ice at both
 * ends; some of them are horizontal, and some start at a face. */
START_TEST(sum_layer_after_layer)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    static const double longest[] = {1.0, 10.0, 60.0, 2000.0};
    uint64_t state = 8;
    for (size_t i = 0, n = test_scaled(40000); i < n; ++i) {
        const double face = 10.0 * floor(test_between(&state, -65, 65));
        const float height = (float)(i % 7 == 0 ? face : test_between(&state, -650, 650));
        const float length = (float)test_between(&state, 0, longest[i % 4]);
        const float nz = i % 10 == 0 ? 0.0f : (float)test_between(&state, -1, 1);
        const float expected = ice_birefringence_over_layers(tables, height, nz, length).diffusion;
        /* Strengths are below 2. Heights are rounded by up to 3e-5 m, which a nearly horizontal
         * segment multiplies. */
        const float steepness = fmaxf(fabsf(nz), 0.01f);
        ck_assert_float_eq_tol(ice_strength_on(tables, height, nz, length), expected,
                               1e-3f + 1e-5f * length + 3e-4f / steepness);
    }
    stage_world_destroy(&world);
}
END_TEST

/* What a texture unit makes of the texels, between two of them and at both ends, is what the table
 * says. */
START_TEST(texels_are_the_table)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    static float texels[ICS_DEFLECTION_TEXELS][ICS_DEFLECTION_NUMBERS];
    ics_tables_deflection_texels(tables, texels[0]);
    for (int i = 0; i <= 5000; ++i) {
        const float along = (float)i / 5000.0f, across = sqrtf(1.0f - along * along);
        const float x = along * ICE_DEFLECTION_SCALE; /* from the middle of the first texel */
        const int texel = (int)x;
        const float t = x - (float)texel, *low = texels[texel], *high = texels[texel + 1];
        const ice_deflection at = ice_deflection_at(tables, along, across);
        ck_assert_float_eq_tol(low[0] + t * (high[0] - low[0]), at.along, 1e-8f);
        ck_assert_float_eq_tol(low[1] + t * (high[1] - low[1]), at.across, 1e-8f);
        ck_assert_float_eq_tol((low[2] + t * (high[2] - low[2])) * across, at.mean, 1e-8f);
    }
    stage_world_destroy(&world);
}
END_TEST

/* If the mean deflection has the same profile over the layers as the diffusion, up to a factor,
 * then the table of angles contains the factor. Otherwise the mean deflection has another
 * profile. */
START_TEST(strengths_in_proportion)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const float sine = 0.6f, cosine = 0.8f;
    const float mean = ice_deflection_at(tables, cosine, sine).mean;
    ck_assert_uint_eq(tables->features, ICE_HAS_BIREFRINGENCE | ICE_HAS_MEAN_BIREFRINGENCE);
    for (size_t i = 0; i < world.medium->layer_count; ++i) {
        world.medium->layers[i].birefringence_mean = 3.0 * world.medium->layers[i].birefringence;
    }
    tables = stage_world_tables(&world);
    ck_assert_uint_eq(tables->features, ICE_HAS_BIREFRINGENCE);
    ck_assert_double_eq_tol(ice_deflection_at(tables, cosine, sine).mean, 3.0 * mean, 1e-9);
    const ice_birefringence_sum over = ice_birefringence_over(tables, 12.0f, 0.5f, 40.0f);
    ck_assert_float_gt(over.diffusion, 0.0f);
    ck_assert(over.mean == over.diffusion);
    stage_world_destroy(&world);
}
END_TEST

/* Moments over many segments of 1 m: the mean and the spread of the deflection are those of
 * physics.md 6.4 per metre. The correlation of the displacement with the angle is sqrt(3)/2, and
 * the rms of the displacement is L theta / sqrt(3) in each plane. Correct code fails each of the
 * six comparisons (5 sigma) with a probability of 6e-7. */
START_TEST(moments_per_metre)
{
    stage_world world = feature_world(ICE_HAS_BIREFRINGENCE);
    const ice_tables *tables = stage_world_tables(&world);
    const double angle = 0.5;
    const ice_direction n = feature_direction(FEATURE_FLOW, cos(angle), 0, sin(angle));
    const ice_direction q = feature_direction(FEATURE_FLOW, sin(angle), 0, -cos(angle));
    const ice_birefringence_sum over = {1.0f, 1.0f};
    const ice_deflection row = ice_deflection_at(tables, (float)cos(angle), (float)sin(angle));
    const int count = (int)test_scaled(1000000);
    double mean = 0, along = 0, across = 0, shift = 0, both = 0;
    for (int i = 0; i < count; ++i) {
        const ice_identity identity = {7, 0, 3, (uint32_t)i};
        ice_random random = ice_random_of(tables, identity);
        const bent_segment bent = bend(tables, n, over, 1.0f, ice_draw_deflection(tables, &random));
        const double tq = (double)bent.direction.x * q.x + (double)bent.direction.y * q.y +
                          (double)bent.direction.z * q.z;
        const double tp = -(double)bent.direction.x * sin(FEATURE_FLOW) +
                          (double)bent.direction.y * cos(FEATURE_FLOW);
        const double sp =
            -(double)bent.shift.x * sin(FEATURE_FLOW) + (double)bent.shift.y * cos(FEATURE_FLOW);
        mean += tq / count;
        along += tq * tq / count;
        across += tp * tp / count;
        shift += sp * sp / count;
        both += sp * tp / count;
    }
    const double sx = 2.0 * row.along, sy = 2.0 * row.across, mx = 2.0 * row.mean;
    /* The turn 2 atan(d/2) is shorter than d by d^3/12, its sine by d^3/4: 0.2 % of squares. */
    const double relative = 5.0 * sqrt(2.0 / count) + 0.01;
    ck_assert_double_eq_tol(mean, mx, 5.0 * sx / sqrt(count) + 0.01 * mx);
    ck_assert_double_eq_tol(along / (sx * sx + mx * mx), 1.0, relative);
    ck_assert_double_eq_tol(across / (sy * sy), 1.0, relative);
    ck_assert_double_eq_tol(shift / (sy * sy / 3.0), 1.0, relative);
    ck_assert_double_eq_tol(both / (sy * sy / 2.0), 1.0, relative);
    ck_assert_double_eq_tol(both / sqrt(shift * across), sqrt(0.75), 0.01);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("birefringence")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, strengths_by_angle);
    tcase_add_test(all, strengths_in_proportion);
    tcase_add_test(all, worked_deflection);
    tcase_add_test(all, deflection_along_the_axis);
    tcase_add_test(all, integrals_over_layers);
    tcase_add_test(all, sum_layer_after_layer);
    tcase_add_test(all, texels_are_the_table);
    tcase_add_test(all, moments_per_metre);
    suite_add_tcase(suite, all);
}
