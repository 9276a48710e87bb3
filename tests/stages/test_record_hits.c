/* If the hits of a segment do not all fit into a buffer, a later call records the rest: no hit is
 * recorded twice and none is lost (stages/bounce.h, ice_record_hits).
 *
 * How to join: add one test for each new state in which a photon waits for room. */
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

typedef struct small_buffer {
    ice_arrival items[8];
    uint32_t count, capacity;
} small_buffer;

static int put_arrival(void *user, const ice_arrival *arrival)
{
    small_buffer *buffer = user;
    if (buffer->count == buffer->capacity) {
        return -1;
    }
    buffer->items[buffer->count++] = *arrival;
    return 0;
}

#define ICE_PUT_ARRIVAL(sink, tables, arrival) put_arrival(sink, arrival)
#include "stages/bounce.h"

/* Makes four modules in a row, 10 m apart. Light flies along the row, and continues after a hit if
 * `go_on` is true. */
static stage_world world_of_four(bool go_on)
{
    static const double positions[][3] = {{10, 0, 0}, {20, 0, 0}, {30, 0, 0}, {40, 0, 0}};
    ice_detector *detector = world_detector(positions, 4, 1.0);
    detector->keep_hit_photons = go_on;
    stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0), detector,
                                           world_light_line(400.0));
    stage_world_tables(&world);
    return world;
}

static ice_photon photon_along_x(void)
{
    const ice_photon photon = {
        .dx = 1.0f, .absorption = 10.0f, .wavelength = 400.0f, .photon_id = 5};
    return photon;
}

/* `left`: the absorption depth at the end of the segment. */
static int32_t record_hits_of(const stage_world *world, float length, float left,
                              small_buffer *buffer, uint32_t *fate, uint32_t *recorded)
{
    const ice_photon photon = photon_along_x();
    return ice_record_hits(ICE_collide_string_grid, &world->tables->device, &length, left, &photon,
                           buffer, fate, recorded);
}

static int32_t record_hits(const stage_world *world, float length, small_buffer *buffer,
                           uint32_t *fate, uint32_t *recorded)
{
    return record_hits_of(world, length, 1.0f, buffer, fate, recorded);
}

START_TEST(a_buffer_of_any_size_gets_every_hit_once)
{
    stage_world world = world_of_four(true);
    small_buffer whole = {.capacity = 8};
    uint32_t fate = ICE_ALIVE, recorded = 0;
    ck_assert_int_eq(record_hits(&world, 45.0f, &whole, &fate, &recorded), 4);
    ck_assert_uint_eq(recorded, 0);

    /* Record again until all hits are recorded, with room for _i hits each time. */
    small_buffer parts = {.capacity = 0};
    int32_t result = -1;
    int calls = 0;
    for (; result < 0; ++calls) {
        ck_assert_int_lt(calls, 8);
        parts.capacity += (uint32_t)_i;
        result = record_hits(&world, 45.0f, &parts, &fate, &recorded);
        ck_assert_uint_eq(recorded, result < 0 ? parts.count : 0);
    }
    ck_assert_int_eq(calls, (4 + _i - 1) / _i);
    ck_assert_uint_eq(parts.count, 4);
    ck_assert_mem_eq(parts.items, whole.items, 4 * sizeof *whole.items);
    ck_assert_uint_eq(fate, ICE_ALIVE);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(a_photon_that_ends_on_a_hit_waits_for_its_place)
{
    stage_world world = world_of_four(false);
    small_buffer full = {.capacity = 0};
    uint32_t fate = ICE_ALIVE, recorded = 0;
    ck_assert_int_lt(record_hits(&world, 45.0f, &full, &fate, &recorded), 0);
    ck_assert_uint_eq(recorded, 0);
    ck_assert_uint_eq(fate, ICE_ALIVE);
    full.capacity = 1;
    ck_assert_int_eq(record_hits(&world, 45.0f, &full, &fate, &recorded), 1);
    ck_assert_uint_eq(fate, ICE_DETECTED);
    ck_assert_uint_eq(full.items[0].module, 0);
    stage_world_destroy(&world);
}
END_TEST

/* A bounce that could not record its hit leaves the photon as it was. */
START_TEST(a_bounce_can_be_done_again)
{
    stage_world world = world_of_four(false);
    const ice_variants variants = world_variants();
    const ice_tables *tables = &world.tables->device;
    small_buffer refuses = {.capacity = 0}, takes = {.capacity = 8};
    uint32_t refused = 0;
    for (uint32_t id = 0; id < 400; ++id) {
        const ice_identity identity = {.step_id = 1, .photon_id = id};
        ice_photon photon = photon_along_x();
        photon.photon_id = id;
        const ice_random random = ice_random_of(tables, identity);
        ice_active_photon active = ice_activate(tables, random, photon);
        uint32_t hits = 0, recorded = 0;
        if (ice_bounce_photon(&variants, tables, &active, &refuses, &hits, &recorded) == 0) {
            continue;
        }
        ++refused;
        ck_assert_mem_eq(&active.photon, &photon, sizeof photon);
        ck_assert_uint_eq(active.random.state, random.state);
        ck_assert_uint_eq(active.fate, ICE_ALIVE);
        takes.count = 0;
        ck_assert_int_eq(ice_bounce_photon(&variants, tables, &active, &takes, &hits, &recorded),
                         0);
        ck_assert_uint_eq(takes.count, 1);
        ck_assert_uint_eq(hits, 1);
        ck_assert_uint_eq(active.fate, ICE_DETECTED);
        ck_assert_uint_eq(active.photon.scatters, 1);
    }
    /* exp(-10 / 25) of 400 segments reach the first module; five sigma are 47. */
    ck_assert_uint_gt(refused, 268 - 47);
    ck_assert_uint_lt(refused, 268 + 47);
    stage_world_destroy(&world);
}
END_TEST

/* Wide modules whose hits are entries: the photon passes them 0.5 m from their centres, so that it
 * enters them 0.6569 m before the centre, and its impact is 0.1314 m before it (physics.md 8.19).
 * The absorption length is 100 m. */
START_TEST(an_entry_is_a_hit_if_the_photon_lives_until_its_impact)
{
    static const double positions[][3] = {{10, 0.5, 0}, {10.1, -0.5, 0}, {20, 0.5, 0}};
    static const struct {
        float length, left;
        int32_t hits;
    } rows[] = {{9.34f, 1.0f, 0},     /* the segment ends before the sphere */
                {9.36f, 1.0f, 1},     /* it enters the first sphere and scatters */
                {9.36f, 0.00515f, 1}, /* 0.5086 m to go cost 0.005086 */
                {9.36f, 0.00503f, 0}, /* absorbed on the way to the impact */
                {9.36f, 0.0f, 0},     /* ends in absorption, or at the end of the world */
                {9.9f, 0.0f, 1}, /* behind the impact of the first, before that of the second */
                {9.9f, 1.0f, 2},      {30.0f, 0.0f, 3}};
    ice_detector *detector = world_detector(positions, 3, 5.0);
    detector->keep_hit_photons = true;
    detector->crossing = ICE_CROSSING_ENTRY;
    stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0), detector,
                                           world_light_line(400.0));
    stage_world_tables(&world);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        small_buffer whole = {.capacity = 8}, parts = {.capacity = 0};
        uint32_t fate = ICE_ALIVE, recorded = 0;
        ck_assert_int_eq(
            record_hits_of(&world, rows[i].length, rows[i].left, &whole, &fate, &recorded),
            rows[i].hits);
        for (int32_t result = -1; result < 0; ++parts.capacity) {
            ck_assert_uint_lt(parts.capacity, 5);
            result = record_hits_of(&world, rows[i].length, rows[i].left, &parts, &fate, &recorded);
        }
        ck_assert_uint_eq(parts.count, (uint32_t)rows[i].hits);
        ck_assert_mem_eq(parts.items, whole.items, parts.count * sizeof *parts.items);
        if (whole.count > 0) {
            ck_assert_float_eq_tol(whole.items[0].path, 9.86863f, 2e-5f);
        }
    }
    stage_world_destroy(&world);
}
END_TEST

/* A photon that starts inside a wide module does not enter it. */
START_TEST(light_from_inside_a_wide_module_is_no_entry)
{
    const double at[1][3] = {{0.5, 0.3, 0.0}};
    for (int entry = 0; entry < 2; ++entry) {
        ice_detector *detector = world_detector(at, 1, 5.0);
        detector->crossing = entry ? ICE_CROSSING_ENTRY : ICE_CROSSING_DISC;
        stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0),
                                               detector, world_light_line(400.0));
        stage_world_tables(&world);
        small_buffer hits = {.capacity = 8};
        uint32_t fate = ICE_ALIVE, recorded = 0;
        ck_assert_int_eq(record_hits(&world, 5.0f, &hits, &fate, &recorded), entry ? 0 : 1);
        stage_world_destroy(&world);
    }
}
END_TEST

ICS_TEST_MAIN("record hits")
{
    TCase *tests = tcase_create("full buffers");
    tcase_add_loop_test(tests, a_buffer_of_any_size_gets_every_hit_once, 1, 5);
    tcase_add_test(tests, an_entry_is_a_hit_if_the_photon_lives_until_its_impact);
    tcase_add_test(tests, light_from_inside_a_wide_module_is_no_entry);
    tcase_add_test(tests, a_photon_that_ends_on_a_hit_waits_for_its_place);
    tcase_add_test(tests, a_bounce_can_be_done_again);
    suite_add_tcase(suite, tests);
}
