/* Where a segment enters a module: the worked numbers of physics.md 8.2 and 8.3, the rule of the
 * first hit, the edges of segments and modules, and the same hits as in double precision up to 500
 * m.
 *
 * How to join: add one test for each new rule of stages/contact.h. */
#include "stages/variants.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>

static stage_world modules(const double (*positions)[3], size_t count, double radius,
                           double oversize)
{
    stage_world world =
        stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                           world_detector(positions, count, oversize), world_light_line(400.0));
    world.detector->radius = radius;
    stage_world_tables(&world);
    return world;
}

static ice_contact_search search_from(float x, float y, float z, float dx, float dy, float dz,
                                      float length)
{
    const ice_contact_search search = {x, y, z, {dx, dy, dz}, length, -1.0f, 0};
    return search;
}

/* Returns the first contact of a segment from the origin along +x. */
static ice_contact along_x(const stage_world *world, float length)
{
    const ice_contact_search search = search_from(0, 0, 0, 1, 0, 0, length);
    return ice_collide_brute_force(&world->tables->device, &search);
}

START_TEST(worked_numbers)
{
    /* physics.md 8.3: F, y of the module at x = 10, distance, relative position at true size. */
    static const struct {
        double oversize, y, h, x, rel_y;
    } rows[] = {{1, 0.1, 9.868630, -0.131370, -0.1},
                {5, 0.5, 9.868630, -0.131370, -0.1},
                {5, 0.8, 9.959281, -0.040719, -0.16},
                {16, 2.0, 9.892144, -0.107856, -0.125}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const double at[1][3] = {{10.0, rows[i].y, 0.0}};
        stage_world world = modules(at, 1, ICE_MODULE_RADIUS, rows[i].oversize);
        world.detector->crossing = _i ? ICE_CROSSING_ENTRY : ICE_CROSSING_DISC;
        const ice_tables *tables = stage_world_tables(&world);
        const ice_contact_search search = search_from(0, 0, 0, 1, 0, 0, 20);
        const ice_contact contact = ice_collide_brute_force(tables, &search);
        ck_assert_uint_eq(contact.module, 0);
        /* An entry lies on the sphere of radius F R; its impact is that of the disc. */
        const double wide = rows[i].oversize * ICE_MODULE_RADIUS;
        const double entry = 10.0 - sqrt(wide * wide - rows[i].y * rows[i].y);
        ck_assert_double_eq_tol(contact.distance, _i ? entry : rows[i].h, 3e-6);
        ck_assert_double_eq_tol(ice_impact_of(tables, &search, contact), rows[i].h, 1.5e-6);
        const ice_photon photon = {
            .path = 3.0f, .wavelength = 421.0f, .emission = 7, .photon_id = 8, .scatters = 9};
        const ice_arrival arrival = ice_arrive(tables, &search, contact, &photon);
        ck_assert_double_eq_tol(arrival.x, rows[i].x, 1.5e-6);
        ck_assert_double_eq_tol(arrival.y, rows[i].rel_y, 1.5e-6);
        ck_assert_double_eq_tol(arrival.z, 0.0, 1e-9);
        ck_assert_double_eq_tol(arrival.path, 3.0 + rows[i].h, 3e-6);
        ck_assert(arrival.wavelength == 421.0f);
        ck_assert_uint_eq(arrival.emission, 7);
        ck_assert_uint_eq(arrival.photon_id, 8);
        ck_assert_uint_eq(arrival.scatters, 9);
        ck_assert_uint_eq(arrival.module, 0);
        ck_assert(arrival.dx == 1.0f && arrival.dy == 0.0f && arrival.dz == 0.0f);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(tangent_counts)
{
    /* Numbers that are exact in single precision: a module of 0.5 m, F = 1 and 4. */
    for (int widened = 0; widened < 2; ++widened) {
        const double edge = widened ? 2.0 : 0.5;
        const double at[1][3] = {{10.0, edge, 0.0}};
        stage_world world = modules(at, 1, 0.5, widened ? 4.0 : 1.0);
        const ice_contact contact = along_x(&world, 20.0f);
        ck_assert_uint_eq(contact.module, 0);
        ck_assert(contact.distance == 10.0f);
        stage_world_destroy(&world);
        const double beyond[1][3] = {{10.0, edge + 1e-6, 0.0}};
        world = modules(beyond, 1, 0.5, widened ? 4.0 : 1.0);
        ck_assert_uint_eq(along_x(&world, 20.0f).module, ICE_NO_MODULE);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(end_of_the_segment_counts)
{
    const double at[1][3] = {{10.0, 0.0, 0.0}};
    stage_world world = modules(at, 1, 0.5, 1.0);
    ck_assert(along_x(&world, 9.5f).distance == 9.5f);
    ck_assert_uint_eq(along_x(&world, 9.5f).module, 0);
    ck_assert_uint_eq(along_x(&world, nextafterf(9.5f, 0.0f)).module, ICE_NO_MODULE);
    /* A photon that is absorbed inside the module or behind it is still a hit. */
    ck_assert_uint_eq(along_x(&world, 10.0f).module, 0);
    ck_assert_uint_eq(along_x(&world, 0.0f).module, ICE_NO_MODULE);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(starts_inside_leave_freely)
{
    const double at[2][3] = {{0.1, 0.0, 0.0}, {5.0, 0.0, 0.0}};
    for (int widened = 0; widened < 2; ++widened) {
        stage_world world = modules(at, 2, 0.5, widened ? 5.0 : 1.0);
        const ice_contact contact = along_x(&world, 20.0f);
        ck_assert_uint_eq(contact.module, 1);
        ck_assert_double_eq_tol(contact.distance, 4.5, 1e-6);
        stage_world_destroy(&world);
    }
    /* On the surface, a photon that flies inwards has a contact at distance 0. A photon that flies
     * outwards has none. */
    const double ahead[1][3] = {{0.5, 0.0, 0.0}}, behind[1][3] = {{-0.5, 0.0, 0.0}};
    stage_world world = modules(ahead, 1, 0.5, 1.0);
    ck_assert_uint_eq(along_x(&world, 20.0f).module, 0);
    ck_assert(along_x(&world, 20.0f).distance == 0.0f);
    stage_world_destroy(&world);
    world = modules(behind, 1, 0.5, 1.0);
    ck_assert_uint_eq(along_x(&world, 20.0f).module, ICE_NO_MODULE);
    stage_world_destroy(&world);
    /* The widened module is not longer along the segment, so 0.3 m before its centre is outside. */
    const double flat[1][3] = {{0.3, 0.5, 0.0}};
    world = modules(flat, 1, 0.1651, 5.0);
    ck_assert_uint_eq(along_x(&world, 20.0f).module, 0);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(nearest_first_and_ties_to_the_lower)
{
    const double line[4][3] = {{40, 0, 0}, {20, 0, 0}, {30, 0, 0}, {10, 3, 0}};
    stage_world world = modules(line, 4, 0.5, 1.0);
    ck_assert_uint_eq(along_x(&world, 100.0f).module, 1);
    stage_world_destroy(&world);

    /* Two widened modules next to each other are entered at the same distance, in both orders. */
    const double pair[3][3] = {{50, 0, 0}, {20, 1, 0}, {20, -1, 0}};
    world = modules(pair, 3, 0.5, 4.0);
    const ice_contact contact = along_x(&world, 100.0f);
    ck_assert_uint_eq(contact.module, 1);
    const ice_tables *tables = &world.tables->device;
    ice_contact backwards = {0.0f, ICE_NO_MODULE};
    const ice_contact_search search = search_from(0, 0, 0, 1, 0, 0, 100);
    for (uint32_t module = 3; module-- > 0;) {
        ice_try_module(tables, &search, module, &backwards);
    }
    ck_assert_uint_eq(backwards.module, 1);
    ck_assert(backwards.distance == contact.distance);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(after_a_contact_every_other_comes_once)
{
    /* Light that continues reaches modules 1 and 2 at the same distance, then 3, then 0, then none.
     */
    const double line[4][3] = {{50, 0, 0}, {20, 1, 0}, {20, -1, 0}, {30, 0, 0.5}};
    stage_world world = modules(line, 4, 0.5, 4.0);
    static const uint32_t expected[] = {1, 2, 3, 0, ICE_NO_MODULE};
    static const ice_variant variants[] = {ICE_collide_brute_force, ICE_collide_string_grid,
                                           ICE_collide_cell_grid};
    for (int variant = 0; variant < 3; ++variant) {
        ice_contact_search search = search_from(0, 0, 0, 1, 0, 0, 100);
        for (size_t i = 0; i < 5; ++i) {
            const ice_contact contact =
                ice_collide(variants[variant], &world.tables->device, &search);
            ck_assert_uint_eq(contact.module, expected[i]);
            search.after_distance = contact.distance;
            search.after_module = contact.module;
        }
    }
    stage_world_destroy(&world);
}
END_TEST

/* ---- against double precision ---------------------------------------------------------------- */

typedef struct agreement {
    size_t hits, different;
    size_t far_off;    /* entry distance off by more than the bound */
    double worst_norm; /* | |rel_true| - R | */
} agreement;

/* Measures segments near one module: the line passes its centre within 1.5 F R. */
static agreement compare(double distance, double oversize, double bound, size_t count)
{
    const double zero[1][3] = {{0.0, 0.0, 0.0}};
    stage_world world = modules(zero, 1, ICE_MODULE_RADIUS, oversize);
    const float radius = world.tables->device.radius;
    agreement result = {0};
    uint64_t state = 31;
    for (size_t i = 0; i < count; ++i) {
        double n[3], across[3], other[3];
        test_direction(&state, n);
        test_direction(&state, other);
        const double along = n[0] * other[0] + n[1] * other[1] + n[2] * other[2];
        double length = 0.0;
        for (int k = 0; k < 3; ++k) {
            across[k] = other[k] - along * n[k];
            length += across[k] * across[k];
        }
        const double impact = 1.5 * oversize * ICE_MODULE_RADIUS * sqrt(test_uniform(&state));
        float from[3], centre[3];
        for (int k = 0; k < 3; ++k) {
            from[k] = (float)test_between(&state, -500.0, 500.0);
            centre[k] =
                (float)((double)from[k] + distance * n[k] + impact * across[k] / sqrt(length));
        }
        const ice_direction direction = {(float)n[0], (float)n[1], (float)n[2]};

        /* physics.md 8.3 with the rounded numbers, after the direction was normalised again. */
        double m[3] = {direction.x, direction.y, direction.z}, d[3], b = 0.0, square = 0.0;
        const double norm = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
        for (int k = 0; k < 3; ++k) {
            m[k] /= norm;
            d[k] = (double)centre[k] - (double)from[k];
            b += d[k] * m[k];
        }
        for (int k = 0; k < 3; ++k) {
            square += (d[k] - b * m[k]) * (d[k] - b * m[k]);
        }
        const double wide = oversize * (double)radius;
        const double discriminant = wide * wide - square;
        const bool hit = discriminant >= 0.0;

        const ice_sphere module = {centre[0], centre[1], centre[2], (float)oversize};
        const ice_approach offset =
            ice_approach_to(&module, radius, from[0], from[1], from[2], direction);
        const bool single = offset.half >= 0.0f;
        result.hits += hit;
        result.different += hit != single;
        if (hit && single) {
            const double h = b - sqrt(discriminant) / oversize;
            result.far_off += !(fabs((double)offset.along - (double)offset.half - h) < bound);
            const double x = -offset.ex / oversize - offset.half * direction.x;
            const double y = -offset.ey / oversize - offset.half * direction.y;
            const double z = -offset.ez / oversize - offset.half * direction.z;
            result.worst_norm =
                fmax(result.worst_norm, fabs(sqrt(x * x + y * y + z * z) - (double)radius));
        }
    }
    stage_world_destroy(&world);
    return result;
}

START_TEST(hit_or_miss_as_in_double)
{
    /* physics.md 8.2: less than 1e-4 of the hits decided otherwise, entry distance off by less than
     * 1e-6 (2 m) .. 2.3e-4 m (500 m) for 99.9 % of them; |rel_true| = R within 1e-4 m. */
    static const double rows[][2] = {
        {2, 2e-5}, {10, 2e-5}, {50, 5e-5}, {200, 1.5e-4}, {500, 2.5e-4}};
    static const double oversizes[] = {1.0, 5.0, 16.0};
    for (size_t f = 0; f < 3; ++f) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
            const agreement a = compare(rows[i][0] + (f ? 5.0 : 0.0), oversizes[f], rows[i][1],
                                        test_scaled(1000000));
            const double different = (double)a.different / (double)a.hits;
            ck_assert_msg(different < 1e-4, "F %g, %g m: %g of hits decided otherwise",
                          oversizes[f], rows[i][0], different);
            ck_assert_msg(a.far_off * 1000 <= a.hits, "F %g, %g m: %zu of %zu entered elsewhere",
                          oversizes[f], rows[i][0], a.far_off, a.hits);
            ck_assert_msg(a.worst_norm < 1e-4, "F %g, %g m: |rel_true| off by %g m", oversizes[f],
                          rows[i][0], a.worst_norm);
        }
    }
}
END_TEST

ICS_TEST_MAIN("contact")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, worked_numbers, 0, 2);
    tcase_add_test(all, tangent_counts);
    tcase_add_test(all, end_of_the_segment_counts);
    tcase_add_test(all, starts_inside_leave_freely);
    tcase_add_test(all, nearest_first_and_ties_to_the_lower);
    tcase_add_test(all, after_a_contact_every_other_comes_once);
    tcase_add_test(all, hit_or_miss_as_in_double);
    suite_add_tcase(suite, all);
}
