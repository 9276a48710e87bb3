/* A user's header for collide that returns the same contact again has one hit of it, and the search
 * ends (docs/stages.md). */
#define ICE_CUSTOM_collide "tests/stages/same_contact.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#define ICE_PUT_ARRIVAL(sink, tables, arrival) ((void)(arrival), ++*(int32_t *)(sink), 0)
#include "stages/bounce.h"

START_TEST(the_same_contact_counts_once)
{
    static const double positions[][3] = {{10, 0, 0}, {20, 0, 0}};
    ice_detector *detector = world_detector(positions, 2, 1.0);
    detector->keep_hit_photons = true;
    stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0), detector,
                                           world_light_line(400.0));
    stage_world_tables(&world);
    const ice_photon photon = {.dx = 1.0f, .absorption = 10.0f, .wavelength = 400.0f};
    float length = 45.0f;
    uint32_t fate = ICE_ALIVE, recorded = 0;
    int32_t put = 0;
    ck_assert_int_eq(ice_record_hits(ICE_collide_custom, &world.tables->device, &length, 1.0f,
                                     &photon, &put, &fate, &recorded),
                     1);
    ck_assert_int_eq(put, 1);
    ck_assert_uint_eq(fate, ICE_ALIVE);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("header contacts")
{
    TCase *tests = tcase_create("header contacts");
    tcase_add_test(tests, the_same_contact_counts_once);
    suite_add_tcase(suite, tests);
}
