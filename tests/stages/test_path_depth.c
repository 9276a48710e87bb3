/* Optical depths of segments of known length: what the stage propagate has consumed is found again,
 * in every kind of ice, and the pieces add up to numeric integrals.
 *
 * How to join: a feature of the ice that changes depths joins `worlds`, a shipped ice `ices`. */
#include "tests/support/model_files.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

static double piece_sums[3]; /* scattering and absorption depth of all pieces; their number */
#define ICE_PUT_PIECE(sink, layer, scattering, absorption)                                         \
    ((void)(sink), (void)(layer), piece_sums[0] += (scattering), piece_sums[1] += (absorption),    \
     piece_sums[2] += 1.0)

#include "stages/path_depth.h"
#include "tests/stages/feature_world.h"

#include <check.h>
#include <math.h>

/* Draws a segment in the world, around a string, and compares its depths with those it was made of.
 * Returns the larger relative difference. */
static double check_segment(const ice_tables *tables, uint64_t *state, bool absorbed)
{
    double v[3];
    test_direction(state, v);
    ice_photon photon = {.x = (float)test_between(state, -60, 60),
                         .y = (float)test_between(state, -60, 60),
                         .z = (float)test_between(state, -480, 480),
                         .dx = (float)v[0],
                         .dy = (float)v[1],
                         .dz = (float)v[2],
                         .wavelength = (float)test_between(state, 320, 600)};
    const ice_optics optics = ice_optics_at(tables, photon.wavelength);
    const ice_site site = ice_site_of(tables, photon.x, photon.y, photon.z);
    const float scattering = (float)test_exponential(state);
    const float absorption = (float)test_exponential(state) * (absorbed ? 0.01f : 30.0f);
    photon.absorption = absorption;
    const ice_segment segment = ice_find_segment(
        ICE_propagate_cumulative, tables,
        ice_segment_start_of(&photon, ice_height(tables, photon.x, photon.y, photon.z), scattering,
                             optics),
        &photon, ice_clearance_of(tables, site.near, photon.x, photon.y));
    const ice_path_segment path = {photon.x, photon.y,
                                   ice_height(tables, photon.x, photon.y, photon.z),
                                   ice_direction_of(&photon), optics};
    piece_sums[0] = piece_sums[1] = piece_sums[2] = 0.0;
    const ice_path_depth depth = ice_path_depth_of(tables, &path, (double)segment.length, NULL);
    ck_assert_double_eq(piece_sums[0], depth.scattering);
    ck_assert_double_eq(piece_sums[1], depth.absorption);
    const double used = (double)absorption - (double)segment.absorption;
    double difference = fabs(depth.absorption - used) / (1.0 + used);
    if (segment.absorption > 0.0f) {
        difference =
            fmax(difference, fabs(depth.scattering - scattering) / (1.0 + (double)scattering));
    } else {
        ck_assert_double_le(depth.scattering, (double)scattering * (1.0 + 1e-5) + 1e-4);
    }
    return difference;
}

/* Depths are single-precision numbers of order 1, and heights of 500 m are rounded by 3e-5 m, in
 * ice with coefficients up to 1/m. */
static void check_world(stage_world *world, const char *name)
{
    const ice_tables *tables = stage_world_tables(world);
    uint64_t state = 40;
    double worst = 0.0;
    for (size_t i = 0; i < test_scaled(200000); ++i) {
        worst = fmax(worst, check_segment(tables, &state, i % 4 == 3));
    }
    ck_assert_msg(worst < 1e-4, "%s: depths differ by %g", name, worst);
}

static const uint32_t worlds[] = {
    0,
    ICE_HAS_TILT_LINE,
    ICE_HAS_TILT_MAP,
    ICE_HAS_OLD_ABSORPTION_ANISOTROPY | ICE_HAS_SCATTERING_ANISOTROPY,
    ICE_HAS_ABSORPTION_ANISOTROPY,
    ICE_HAS_HOLES,
    ICE_HAS_HOLES | ICE_HAS_TILT_LINE | ICE_HAS_ABSORPTION_ANISOTROPY |
        ICE_HAS_OLD_ABSORPTION_ANISOTROPY | ICE_HAS_SCATTERING_ANISOTROPY,
};

START_TEST(depths_of_propagate_are_found)
{
    stage_world world = feature_world(worlds[_i]);
    static const double modules[][3] = {{0, 0, 0}, {20, 0, 10}, {-15, 25, -100}, {30, -40, 200}};
    stage_world_set_detector(&world, world_detector(modules, COUNT(modules), 1.0));
    char name[32];
    snprintf(name, sizeof name, "features %u", worlds[_i]);
    check_world(&world, name);
    stage_world_destroy(&world);
}
END_TEST

static const char *const ices[] = {"spice_bfr-v2", "spice_ftp-v3m"};

START_TEST(depths_in_published_ice)
{
    char folder[MODEL_PATH], shared[64], set[MODEL_PATH + 32];
    snprintf(shared, sizeof shared, "ice/%s", ices[_i]);
    if (model_shared(shared, folder) == NULL) {
        return;
    }
    snprintf(set, sizeof set, "ice.directory=%s", folder);
    stage_world world = stage_world_from_config(NULL, set, "ice.hole_ice=unscaled", NULL);
    check_world(&world, ices[_i]);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(depths_in_built_in_ice)
{
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    check_world(&world, "built-in ice");
    stage_world_destroy(&world);
}
END_TEST

/* The integrals of the coefficients at the heights of 20,000 points along the segment. */
START_TEST(depths_are_integrals)
{
    stage_world world = feature_world(ICE_HAS_TILT_LINE);
    const ice_tables *tables = stage_world_tables(&world);
    uint64_t state = 7;
    for (int i = 0; i < 30; ++i) {
        double v[3];
        test_direction(&state, v);
        const ice_path_segment path = {3.0f,
                                       4.0f,
                                       (float)test_between(&state, -400, 400),
                                       {(float)v[0], (float)v[1], (float)v[2]},
                                       ice_optics_at(tables, 450.0f)};
        const double length = test_between(&state, 0, 150);
        enum { POINTS = 20000 };
        double scattering = 0.0, absorption = 0.0;
        for (int k = 0; k < POINTS; ++k) {
            const double at = length * (k + 0.5) / POINTS;
            const int32_t layer =
                ice_layer_at(tables, (float)((double)path.height + at * (double)path.n.z));
            const ice_layer_row *row = &tables->layers[layer];
            scattering += (double)ice_scattering(path.optics, row->scattering, row->bubbles);
            absorption += (double)ice_absorption(path.optics, row->dust, row->ice);
        }
        const ice_path_depth depth = ice_path_depth_of(tables, &path, length, NULL);
        /* Every face is found within one point: 15 faces and coefficients up to 0.5/m. */
        const double error = 15 * 0.5 * length / POINTS;
        ck_assert_double_eq_tol(depth.scattering, scattering * length / POINTS, error);
        ck_assert_double_eq_tol(depth.absorption, absorption * length / POINTS, 0.1 * error);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("path_depth")
{
    TCase *depth = tcase_create("path_depth");
    tcase_set_timeout(depth, 300);
    tcase_add_loop_test(depth, depths_of_propagate_are_found, 0, (int)COUNT(worlds));
    tcase_add_loop_test(depth, depths_in_published_ice, 0, (int)COUNT(ices));
    tcase_add_test(depth, depths_in_built_in_ice);
    tcase_add_test(depth, depths_are_integrals);
    suite_add_tcase(suite, depth);
}
