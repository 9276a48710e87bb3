/* Bounces that are sorted by their work have the bits of whole bounces: a bounce in ice alone,
 * found by ice_start_bounce_in_ice(), a segment that may touch a module, in ice with any features,
 * and a bounce inside a column of hole ice.
 *
 * How to join: a new value of ice_work joins with a line in `works`. */
#include "tests/stages/feature_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>

/* feature_world.h says where arrivals go. */
#include "stages/bounce_work.h"
#include "stages/hole_ice/column.h"

static const uint32_t features[] = {0, ICE_HAS_HOLES,
                                    ICE_HAS_HOLES | ICE_HAS_TILT_LINE |
                                        ICE_HAS_SCATTERING_ANISOTROPY |
                                        ICE_HAS_OLD_ABSORPTION_ANISOTROPY,
                                    ICE_HAS_HOLES | ICE_HAS_BIREFRINGENCE};
enum { FEATURES = sizeof features / sizeof *features, WORKS = ICE_WORK_COLUMN + 1 };

/* Makes three strings that stand close together, around which photons scatter. */
static stage_world world_of_strings(uint32_t with)
{
    static const double positions[][3] = {{0, 0, 0}, {0, 0, 15}, {6, 0, 3}, {-3, 5, -8}};
    enum { LAYERS = 60 };
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 0.2 + 0.1 * (i % 4);
        a[i] = 0.02 + 0.01 * (i % 3);
    }
    ice_medium *medium = world_medium_layered(-300.0, 10.0, LAYERS, b, a);
    world_medium_add(medium, with);
    if (with & ICE_HAS_HOLES) {
        medium->hole.radius = 0.08; /* less than that of a module */
        medium->hole.effective_scattering = 0.03;
    }
    return stage_world_create(medium, world_detector(positions, 4, 1.0), world_light_line(400.0));
}

/* One bounce in the way of a schedule that sorts by work. Returns the work. */
static ice_work sorted_bounce(const ice_tables *tables, ice_active_photon *active)
{
    ice_bounce bounce;
    uint32_t hits = 0, recorded = 0;
    const ice_variants variants = world_variants();
    ice_work work = ICE_WORK_ICE;
    (void)ice_start_bounce_in_ice(variants.propagate, tables, active, &bounce, &work);
    if (work == ICE_WORK_NONE) {
        active->fate = ICE_LEFT;
    } else if (work == ICE_WORK_COLUMN) {
        (void)ice_bounce_photon(&variants, tables, active, NULL, &hits, &recorded);
    } else {
        if (work == ICE_WORK_MODULE) {
            (void)ice_record_hits(variants.collide, tables, &bounce.length,
                                  ice_left_of(bounce.leaves_world, bounce.absorption),
                                  &active->photon, NULL, &active->fate, &recorded);
        }
        ice_end_bounce_in_ice(variants.scatter, tables, &bounce, &active->photon, &active->random,
                              &active->fate, &active->site);
    }
    return work;
}

static void check_same(const ice_active_photon *found, const ice_active_photon *expected)
{
    ck_assert_uint_eq(found->fate, expected->fate);
    ck_assert_mem_eq(&found->photon, &expected->photon, sizeof found->photon);
    ck_assert_uint_eq(found->random.state, expected->random.state);
}

START_TEST(sorted_bounces_are_whole_bounces)
{
    stage_world world = world_of_strings(features[_i]);
    const ice_tables *tables = stage_world_tables(&world);
    const ice_variants variants = world_variants();
    uint64_t works[WORKS] = {0};
    for (uint32_t id = 0; id < test_scaled(3000); ++id) {
        const ice_emission light = {.x = (float)(id % 17) - 8.0f,
                                    .y = (float)(id % 13) - 6.0f,
                                    .z = (float)(id % 11),
                                    .beta = 1.0f,
                                    .photons = 1,
                                    .flags = ICE_EMISSION_ISOTROPIC};
        const ice_photon photon = ice_create(variants.create, tables, &light, 0, id);
        ice_active_photon sorted =
            ice_activate(tables, ice_random_of(tables, ice_identity_of(&light, id)), photon);
        ice_active_photon whole = sorted;
        while (whole.fate == ICE_ALIVE) {
            uint32_t hits = 0, recorded = 0;
            (void)ice_bounce_photon(&variants, tables, &whole, NULL, &hits, &recorded);
            ++works[sorted_bounce(tables, &sorted)];
            check_same(&sorted, &whole);
        }
    }
    ck_assert_uint_gt(works[ICE_WORK_NONE], 100);
    ck_assert_uint_gt(works[ICE_WORK_ICE], 1000);
    ck_assert_uint_gt(works[ICE_WORK_MODULE], 50);
    ck_assert_int_eq(works[ICE_WORK_COLUMN] > 100, (features[_i] & ICE_HAS_HOLES) != 0);
    stage_world_destroy(&world);
}
END_TEST

/* What the bounces of photons from the axes of columns were. */
typedef struct column_counts {
    uint64_t inside, others, near_module, ended;
} column_counts;

/* Follows a photon in both ways, until it has left the column for good or has ended. */
static void follow_in_column(const ice_tables *tables, ice_active_photon whole,
                             column_counts *counts)
{
    const ice_variants variants = world_variants();
    ice_active_photon inside = whole;
    ice_column_stay stay = {0};
    bool has_stay = ice_column_stay_of(tables, &whole.photon, &stay);
    for (int bounce = 0; whole.fate == ICE_ALIVE && bounce < 4000; ++bounce) {
        uint32_t hits = 0, recorded = 0;
        (void)ice_bounce_photon(&variants, tables, &whole, NULL, &hits, &recorded);
        if (has_stay && ice_bounce_in_column(variants.scatter, tables, &stay, &inside, NULL)) {
            ck_assert_uint_eq(hits, 0);
            check_same(&inside, &whole);
            ++counts->inside;
            counts->near_module += stay.module != ICE_NO_MODULE;
            continue;
        }
        /* Nothing has changed, and the other function takes over. */
        (void)ice_bounce_photon(&variants, tables, &inside, NULL, &hits, &recorded);
        check_same(&inside, &whole);
        has_stay = ice_column_stay_of(tables, &whole.photon, &stay);
        ++counts->others;
    }
    counts->ended += whole.fate != ICE_ALIVE;
}

START_TEST(bounces_in_columns_are_whole_bounces)
{
    stage_world world = world_of_strings(features[_i]);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert(ICE_HAS_COLUMN_STAYS(tables->features));
    ck_assert(!ICE_HAS_COLUMN_STAYS(tables->features | ICE_HAS_CABLES));
    column_counts counts = {0, 0, 0, 0};
    for (uint32_t id = 0; id < test_scaled(3000); ++id) {
        const ice_string *string = &tables->strings[id % tables->string_count];
        const ice_emission light = {.x = string->x + 0.002f * (float)(id % 41),
                                    .y = string->y,
                                    .z = string->low + 0.03f * (float)(id % 600) - 1.0f,
                                    .beta = 1.0f,
                                    .photons = 1,
                                    .flags = ICE_EMISSION_ISOTROPIC};
        const ice_photon photon = ice_create(world_variants().create, tables, &light, 0, id);
        follow_in_column(
            tables,
            ice_activate(tables, ice_random_of(tables, ice_identity_of(&light, id)), photon),
            &counts);
    }
    ck_assert_uint_gt(counts.others, 1000);
    ck_assert_uint_gt(counts.ended, 100);
    ck_assert_uint_gt(counts.inside, 1000);
    ck_assert_uint_gt(counts.near_module, 100);
    ck_assert_uint_gt(counts.inside, counts.near_module);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("bounce work")
{
    TCase *tests = tcase_create("work");
    tcase_add_loop_test(tests, sorted_bounces_are_whole_bounces, 0, FEATURES);
    tcase_add_loop_test(tests, bounces_in_columns_are_whole_bounces, 1,
                        FEATURES); /* with columns */
    suite_add_tcase(suite, tests);
}
