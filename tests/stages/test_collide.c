/* The collide variants find the same modules at the same distances, bit for bit, as a search
 * through all modules, for segments of every kind and for all contacts along them. A segment that
 * ice_may_collide rejects has no contact.
 *
 * How to join: a new collide variant joins where the variants are compared; a new kind of segment
 * joins in any_segment(). */
#include "stages/variants.h"
#include "tests/support/model_files.h"
#include "tests/support/shape_world.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* ---- brute force that is fast enough for 1e7 segments ---------------------------------------- */

/* All modules in the order of x. A segment is tried only with modules inside its bounding box,
 * widened by a large margin. Some segments are also tried with all modules, which proves that the
 * box leaves out no contact. */
typedef struct slow_search {
    const ice_tables *tables;
    uint32_t *order; /* [module_count] */
    float margin;    /* of the widest module, and 1 m */
} slow_search;

typedef struct located {
    float x;
    uint32_t module;
} located;

static int by_x(const void *left, const void *right)
{
    const located *a = left, *b = right;
    return (a->x > b->x) - (a->x < b->x);
}

static slow_search slow_search_create(const ice_tables *tables)
{
    slow_search search = {tables, calloc(tables->module_count, sizeof(uint32_t)), 1.0f};
    located *list = calloc(tables->module_count, sizeof *list);
    ck_assert(search.order && list);
    for (uint32_t i = 0; i < tables->module_count; ++i) {
        list[i] = (located){tables->modules[i].x, i};
        search.margin = fmaxf(search.margin, 1.0f + tables->radius * tables->modules[i].oversize);
    }
    qsort(list, tables->module_count, sizeof *list, by_x);
    for (uint32_t i = 0; i < tables->module_count; ++i) {
        search.order[i] = list[i].module;
    }
    free(list);
    return search;
}

static ice_contact slow_contact(const slow_search *search, const ice_contact_search *segment)
{
    const ice_tables *tables = search->tables;
    const double margin = search->margin;
    const double from[3] = {segment->x, segment->y, segment->z};
    const double direction[3] = {segment->direction.x, segment->direction.y, segment->direction.z};
    double low[3], high[3];
    for (int axis = 0; axis < 3; ++axis) {
        const double to = from[axis] + (double)segment->length * direction[axis];
        low[axis] = fmin(from[axis], to) - margin;
        high[axis] = fmax(from[axis], to) + margin;
    }
    uint32_t first = 0, count = tables->module_count;
    while (count > 0) {
        const uint32_t half = count / 2;
        const bool below = (double)tables->modules[search->order[first + half]].x < low[0];
        first = below ? first + half + 1 : first;
        count = below ? count - half - 1 : half;
    }
    ice_contact nearest = {0.0f, ICE_NO_MODULE};
    for (; first < tables->module_count; ++first) {
        const uint32_t index = search->order[first];
        const ice_sphere *module = &tables->modules[index];
        if ((double)module->x > high[0]) {
            break;
        }
        if ((double)module->y >= low[1] && (double)module->y <= high[1] &&
            (double)module->z >= low[2] && (double)module->z <= high[2]) {
            ice_try_module(tables, segment, index, &nearest);
        }
    }
    return nearest;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The box of all modules, 100 m wider. */
typedef struct volume {
    double low[3], high[3];
} volume;

static volume volume_of(const ice_tables *tables)
{
    volume v = {{1e9, 1e9, 1e9}, {-1e9, -1e9, -1e9}};
    for (uint32_t i = 0; i < tables->module_count; ++i) {
        const double at[3] = {tables->modules[i].x, tables->modules[i].y, tables->modules[i].z};
        for (int axis = 0; axis < 3; ++axis) {
            v.low[axis] = fmin(v.low[axis], at[axis] - 100.0);
            v.high[axis] = fmax(v.high[axis], at[axis] + 100.0);
        }
    }
    return v;
}

/* Makes a random direction. Some directions lie along an axis, in a plane of two axes, or nearly
 * along the vertical. */
static void any_direction(uint64_t *state, double n[3])
{
    test_direction(state, n);
    const uint64_t kind = test_word(state) % 16;
    if (kind < 3) { /* along an axis */
        const double sign = n[0] < 0.0 ? -1.0 : 1.0;
        for (int axis = 0; axis < 3; ++axis) {
            n[axis] = axis == (int)kind ? sign : 0.0;
        }
    } else if (kind == 3 || kind == 4) { /* horizontal; in a vertical plane */
        const int axis = kind == 3 ? 2 : 0;
        n[axis] = 0.0;
        const double norm = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; ++k) {
            n[k] /= norm;
        }
    } else if (kind == 5) { /* nearly vertical */
        n[0] = exp(-test_between(state, 5.0, 60.0));
        n[1] = -n[0];
        n[2] = n[2] < 0.0 ? -1.0 : 1.0;
    }
}

static ice_contact_search any_segment(uint64_t *state, const ice_tables *tables, const volume *v)
{
    double n[3], from[3];
    any_direction(state, n);
    double length =
        test_word(state) % 4 ? 15.0 * test_exponential(state) : test_between(state, 0.0, 300.0);
    const uint32_t target = (uint32_t)(test_word(state) % tables->module_count);
    const ice_sphere *module = &tables->modules[target];
    const double centre[3] = {module->x, module->y, module->z};
    const float radius = tables->features & ICE_HAS_SHAPES
                             ? ice_body_of(tables->shapes, target).radius
                             : tables->radius;
    const double reach = (double)radius * (double)module->oversize;
    const ice_grid *grid = test_word(state) & 1 ? &tables->cell_grid : &tables->string_grid;
    switch (test_word(state) % 8) {
    case 0: /* anywhere */
    case 1:
        for (int axis = 0; axis < 3; ++axis) {
            from[axis] = test_between(state, v->low[axis], v->high[axis]);
        }
        break;
    case 2: /* from inside a module */
        for (int axis = 0; axis < 3; ++axis) {
            from[axis] = centre[axis] + 0.6 * test_between(state, -reach, reach);
        }
        break;
    case 3: /* from a corner of a grid */
        from[0] = (double)grid->x + floor(test_uniform(state) * grid->nx) * (double)grid->cell;
        from[1] = (double)grid->y + floor(test_uniform(state) * grid->ny) * (double)grid->cell;
        from[2] = (double)grid->z + floor(test_uniform(state) * grid->nz) * (double)grid->cell;
        break;
    default:                              /* close to a module */
        if (test_word(state) % 64 == 0) { /* from kilometres away */
            length = test_between(state, 500.0, 5000.0);
        }
        for (int axis = 0; axis < 3; ++axis) {
            from[axis] = centre[axis] + 1.1 * test_between(state, -reach, reach) -
                         test_between(state, -0.1, 1.1) * length * n[axis];
        }
        break;
    }
    const ice_contact_search segment = {(float)from[0],
                                        (float)from[1],
                                        (float)from[2],
                                        {(float)n[0], (float)n[1], (float)n[2]},
                                        test_word(state) % 64 ? (float)length : 0.0f,
                                        -1.0f,
                                        0};
    return segment;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool same(ice_contact a, ice_contact b)
{
    return a.module == b.module && ice_bits(a.distance) == ice_bits(b.distance);
}

static void expect_same(const char *name, const char *variant, const ice_contact_search *segment,
                        ice_contact contact, ice_contact exact)
{
    ck_assert_msg(same(contact, exact),
                  "%s, %s: from (%.9g, %.9g, %.9g) along (%.9g, %.9g, %.9g) for %.9g m after "
                  "(%.9g m, %u): module %u at %.9g m, expected %u at %.9g m",
                  name, variant, (double)segment->x, (double)segment->y, (double)segment->z,
                  (double)segment->direction.x, (double)segment->direction.y,
                  (double)segment->direction.z, (double)segment->length,
                  (double)segment->after_distance, segment->after_module, contact.module,
                  (double)contact.distance, exact.module, (double)exact.distance);
}

/* Compares all contacts along `count` segments, for the detector of the world with F = 1, 5 and 16.
 * With F = 5 contacts are entries. */
static void compare(stage_world *world, const char *name, size_t count)
{
    static const double oversizes[] = {1.0, 5.0, 16.0};
    uint64_t state = 41;
    for (size_t f = 0; f < 3; ++f) {
        shape_world_set_oversize(world->detector, oversizes[f]);
        world->detector->crossing = f == 1 ? ICE_CROSSING_ENTRY : ICE_CROSSING_DISC;
        const ice_tables *tables = stage_world_tables(world);
        slow_search search = slow_search_create(tables);
        const volume v = volume_of(tables);
        size_t contacts = 0, rejected = 0;
        for (size_t i = 0; i < count; ++i) {
            ice_contact_search segment = any_segment(&state, tables, &v);
            const float clearance = ice_clearance(tables, segment.x, segment.y);
            const bool is_long = segment.length >= ice_least_distance(tables, clearance, segment.z);
            const bool may = ice_may_collide(tables, segment.x, segment.y, segment.z,
                                             segment.direction, segment.length);
            rejected += !may;
            for (int step = 0; step < 1000; ++step) {
                const ice_contact exact = slow_contact(&search, &segment);
                if (i % 512 == 0) {
                    expect_same(name, "brute-force", &segment,
                                ice_collide_brute_force(tables, &segment), exact);
                }
                expect_same(name, "string-grid", &segment,
                            ice_collide_string_grid(tables, &segment), exact);
                expect_same(name, "cell-grid", &segment, ice_collide_cell_grid(tables, &segment),
                            exact);
                if (exact.module == ICE_NO_MODULE) {
                    break;
                }
                ck_assert_msg(may, "%s: ice_may_collide rejects a segment that reaches module %u",
                              name, exact.module);
                ck_assert_msg(is_long, "%s: %g m is too short for module %u", name,
                              (double)segment.length, exact.module);
                ++contacts;
                segment.after_distance = exact.distance;
                segment.after_module = exact.module;
            }
        }
        free(search.order);
        /* Enough segments had a contact, and enough were rejected. */
        ck_assert_uint_gt(contacts * 20, count);
        ck_assert_uint_gt(rejected * 50, count);
    }
}

/* Returns the number of segments for each oversize. With three oversizes there are a million for
 * each detector. Dense modules get a third of that, because every segment takes long. */
static size_t segments(void)
{
    return test_scaled(350000);
}

static stage_world with_detector(ice_detector *detector)
{
    return stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0), detector,
                              world_light_line(400.0));
}

START_TEST(hex86)
{
    stage_world world = stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    compare(&world, "hex86", segments());
    stage_world_destroy(&world);
}
END_TEST

START_TEST(hex86_with_jitter)
{
    stage_world world =
        stage_world_from_config(NULL, "detector.layout=hex86", "detector.jitter=true", NULL);
    compare(&world, "hex86 with jitter", segments());
    stage_world_destroy(&world);
}
END_TEST

START_TEST(real_detector)
{
    char path[MODEL_PATH], set[MODEL_PATH + 32];
    if (model_shared("ice/spice_bfr-v2/geo-f2k", path) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "detector.file=%s", path);
    stage_world world = stage_world_from_config(NULL, set, NULL);
    compare(&world, "geo-f2k", segments());
    stage_world_destroy(&world);
}
END_TEST

/* Makes `count` modules at random positions in a cube of 200 m. A tenth of them are excluded. */
static ice_detector *cluster_of(size_t count, uint64_t state)
{
    static double positions[5000][3];
    ck_assert_uint_le(count, 5000);
    for (size_t i = 0; i < count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            positions[i][axis] = test_between(&state, -100.0, 100.0);
        }
    }
    ice_detector *detector = world_detector((const double(*)[3])positions, count, 1.0);
    for (size_t i = 0; i < count; ++i) {
        detector->modules[i].absorbs = i % 10 == 0;
    }
    return detector;
}

START_TEST(cluster)
{
    stage_world world = with_detector(cluster_of(5000, 43));
    compare(&world, "cluster", segments() / 3);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(types_and_orientations)
{
    ice_detector *detector = cluster_of(1000, 45);
    shape_world_add_types(detector, 1.0, 7, 46);
    shape_world_mix(detector);
    stage_world world = with_detector(detector);
    compare(&world, "types and orientations", segments() / 3);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(strings_without_order)
{
    /* The string numbers do not follow the positions: every string has modules everywhere. */
    ice_detector *detector = cluster_of(300, 44);
    for (size_t i = 0; i < 300; ++i) {
        detector->modules[i].string = (uint16_t)(i % 5);
        detector->modules[i].module = (uint16_t)(i / 5);
    }
    stage_world world = with_detector(detector);
    compare(&world, "strings without order", segments());
    stage_world_destroy(&world);
}
END_TEST

START_TEST(one_module)
{
    static const double at[1][3] = {{123.4, -56.7, 89.0}};
    stage_world world = with_detector(world_detector(at, 1, 1.0));
    compare(&world, "one module", segments());
    stage_world_destroy(&world);
}
END_TEST

START_TEST(inclined_strings)
{
    /* 25 strings of 40 modules that lean by up to 45 degrees, far from the origin. */
    static const size_t strings = 25, modules = 40;
    static double positions[25 * 40][3];
    for (size_t i = 0; i < strings * modules; ++i) {
        const double string = floor((double)i / (double)modules), module = (double)(i % modules);
        positions[i][0] = 3000.0 + 60.0 * fmod(string, 5.0) + 10.0 * module * cos(string) * 0.7;
        positions[i][1] = -2000.0 + 60.0 * floor(string / 5.0) + 10.0 * module * sin(string) * 0.7;
        positions[i][2] = -800.0 + 10.0 * module;
    }
    ice_detector *detector = world_detector((const double(*)[3])positions, strings * modules, 1.0);
    for (size_t i = 0; i < strings * modules; ++i) {
        detector->modules[i].string = (uint16_t)(1 + i / modules);
        detector->modules[i].module = (uint16_t)(1 + i % modules);
    }
    stage_world world = with_detector(detector);
    compare(&world, "inclined strings", segments());
    stage_world_destroy(&world);
}
END_TEST

START_TEST(vertical_segments_reach_the_string)
{
    /* Other programs miss these contacts (physics.md 8.2, 14.2). Light flies from above and from
     * below. */
    static const ice_variant variants[] = {ICE_collide_string_grid, ICE_collide_cell_grid,
                                           ICE_collide_brute_force};
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    for (int variant = 0; variant < 3; ++variant) {
        for (int up = 0; up < 2; ++up) {
            const ice_contact_search segment = {
                0.1f,  0.0f, up ? -600.0f : 600.0f, {0.0f, 0.0f, up ? 1.0f : -1.0f}, 200.0f,
                -1.0f, 0};
            const ice_contact contact = ice_collide(variants[variant], tables, &segment);
            ck_assert_uint_ne(contact.module, ICE_NO_MODULE);
            const ice_module *module = &world.detector->modules[contact.module];
            ck_assert_uint_eq(module->string, 43);
            ck_assert_uint_eq(module->module, up ? 60 : 1);
            ck_assert_double_eq_tol(contact.distance, 98.5 - sqrt(0.1651 * 0.1651 - 0.01), 1e-4);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("collide")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, hex86);
    tcase_add_test(all, hex86_with_jitter);
    tcase_add_test(all, real_detector);
    tcase_add_test(all, cluster);
    tcase_add_test(all, types_and_orientations);
    tcase_add_test(all, strings_without_order);
    tcase_add_test(all, one_module);
    tcase_add_test(all, inclined_strings);
    tcase_add_test(all, vertical_segments_reach_the_string);
    suite_add_tcase(suite, all);
}
