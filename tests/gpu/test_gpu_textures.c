/* The textures of fast maths on a GPU: the height among tilted layers is right within the bound
 * that the image of the tilt promises, and the clearance is a lower bound of the distance to the
 * nearest module. tests/tables/test_tilt_image.c and test_near_image.c show the same on a CPU, with
 * what CUDA's programming guide says about the arithmetic of a texture unit.
 *
 * How to join: add a detector to `detectors`. */
#include "graphs/cuda/upload.h"
#include "tables/near_image.h"
#include "tests/gpu/gpu_world.h"
#include "tests/gpu/texture_sites.h"
#include "tests/support/test_scale.h"

#include <math.h>
#include <stdlib.h>

enum { LAYERS = 120 };

/* Half the width (m) of each detector: a usual one, whose map of clearances has texels with 16
 * bits, and one that is too wide for them. Positions are inside the image of the tilt. */
static const double detectors[] = {400.0, 3000.0};

static stage_world world_of(double half_width)
{
    double b[LAYERS], a[LAYERS];
    for (int i = 0; i < LAYERS; ++i) {
        b[i] = 0.4;
        a[i] = 0.01;
    }
    ice_medium *medium = world_medium_layered(-600.0, 10.0, LAYERS, b, a);
    world_medium_add(medium, ICE_HAS_TILT_LINE);
    const double at[][3] = {
        {half_width, -half_width, 0.0}, {0.0, 0.0, 100.0}, {-half_width, 20.0, -50.0}};
    return stage_world_create(medium, world_detector(at, 3, 5.0), world_light_line(400.0));
}

static texture_site *sites_of(const stage_world *world, uint32_t count, double width)
{
    texture_site *sites = calloc(count, sizeof *sites);
    ck_assert_ptr_nonnull(sites);
    uint64_t state = 31;
    for (uint32_t i = 0; i < count; ++i) {
        sites[i].x = (float)test_between(&state, -width, width);
        sites[i].y = (float)test_between(&state, -width, width);
        sites[i].z = (float)test_between(&state, -600.0, 600.0);
    }
    ics_upload upload = {0};
    ice_tables tables;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_upload_tables(0, world->tables, true, &upload, &tables, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_int_eq(texture_sites(&tables, sites, count), cudaSuccess);
    ics_upload_free(&upload);
    return sites;
}

START_TEST(textures_keep_their_promises)
{
    const double half_width = detectors[_i];
    stage_world world = world_of(half_width);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert(ics_tables_near_is_short(tables) == (_i == 0));
    const uint32_t count = (uint32_t)gpu_scaled(1000000, 100000);
    texture_site *sites = sites_of(&world, count, fmin(1.2 * half_width, 1500.0));
    double most = 0.0, loss = 0.0;
    for (uint32_t i = 0; i < count; ++i) {
        const float x = sites[i].x, y = sites[i].y, z = sites[i].z;
        most = fmax(most, fabs((double)(sites[i].height - ice_height(tables, x, y, z))));
        ck_assert_msg(
            (double)sites[i].clearance <= fmax(world_clearance(tables, (double)x, (double)y), 0.0),
            "(%.9g, %.9g): clearance %g m", (double)x, (double)y, (double)sites[i].clearance);
        loss = fmax(loss, (double)(ice_clearance(tables, x, y) - sites[i].clearance));
    }
    ck_assert_double_le(most, (double)ICE_TILT_IMAGE_ERROR);
    ck_assert_double_gt(most, 0.0); /* the texture is another way than that of the CPU */
    ck_assert_double_lt(loss, 3.0 / (double)tables->clearance_inverse_cell);
    free(sites);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu textures");
    TCase *tests = tcase_create("textures");
    tcase_add_loop_test(tests, textures_keep_their_promises, 0,
                        sizeof detectors / sizeof *detectors);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
