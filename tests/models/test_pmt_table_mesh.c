/* Promise: tables of effective areas of meshes are divided by the area in which light becomes hits
 * (physics.md 8.16). tests/cli/run/test_mesh.sh runs one. To join: one more mesh whose area is
 * known.
 */
#include "pipeline/photons/models/types/area.h"
#include "pipeline/photons/models/types/pmt_areas.h"
#include "tests/support/meshes.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define DEGREE (M_PI / 180)

/* The area of the triangles that face the light and do not absorb. Of a convex mesh this is the
 * area in which light becomes hits. */
static double area_facing(const ice_mesh *mesh, const double from[3])
{
    double sum = 0;
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        double a[3], b[3], across = 0;
        for (int k = 0; k < 3; ++k) {
            const float *v[3] = {mesh->vertices[mesh->triangles[i][0]],
                                 mesh->vertices[mesh->triangles[i][1]],
                                 mesh->vertices[mesh->triangles[i][2]]};
            a[k] = (double)v[1][k] - (double)v[0][k];
            b[k] = (double)v[2][k] - (double)v[0][k];
        }
        for (int k = 0; k < 3; ++k) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            across += 0.5 * (a[l] * b[m] - a[m] * b[l]) * from[k];
        }
        sum += mesh->parts[i] != ICE_PART_ABSORBER ? fmax(across, 0) : 0;
    }
    return sum;
}

START_TEST(areas_of_meshes)
{
    /* A sphere and boxes, of which one absorbs on two sides, from 40 directions each. The lattice
     * is fixed, so nothing here is random: the largest error is 0.5 % of the area of the sphere
     * around the mesh, and 0.15 % on average. */
    static const double half[3] = {0.1, 0.2, 0.15};
    ice_mesh mesh = _i == 0 ? mesh_icosphere(0.2, 3) : mesh_box(half, 3);
    for (size_t i = 0; _i == 2 && i < mesh.triangle_count; ++i) {
        mesh.parts[i] = mesh.parts[i] == 1 || mesh.parts[i] == 2 ? ICE_PART_ABSORBER : 0;
    }
    const ice_module_type type = {.shape = ICE_SHAPE_MESH, .reach = 0.3, .mesh = mesh};
    ics_type_area area;
    uint64_t state = 8;
    double mean = 0;
    ck_assert_int_eq(ics_type_area_create(&type, &area, NULL), ICESTREAM_OK);
    for (int i = 0; i < 40; ++i) {
        double from[3];
        test_direction(&state, from);
        const double found = ics_type_area_at(&area, acos(from[2]), atan2(from[1], from[0]));
        const double error = fabs(found - area_facing(&mesh, from)) / (M_PI * 0.3 * 0.3);
        ck_assert_msg(error < 5e-3, "direction %d: %g m2, expected %g", i, found,
                      area_facing(&mesh, from));
        mean += error / 40;
    }
    ck_assert_double_lt(mean, 1.5e-3);
    ics_type_area_free(&area);
    mesh_free(&mesh);
}
END_TEST

START_TEST(tables_of_meshes)
{
    /* Both PMTs together detect a third of the light that meets a box from every direction. */
    static const double half[3] = {0.1, 0.2, 0.15};
    ice_pmt pmts[2] = {{.axis = {0, 0, -1}, .efficiency = 1}, {.axis = {0, 0, 1}, .efficiency = 1}};
    ice_module_type type = {.shape = ICE_SHAPE_MESH,
                            .reach = 0.3,
                            .mesh = mesh_box(half, 2),
                            .pmts = pmts,
                            .pmt_count = 2};
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    fputs("pmt,zenith,azimuth,area\n", out);
    for (int z = 0; z <= 180; z += 30) {
        for (int a = 0; a < 360; a += 45) {
            const double zenith = z * DEGREE, azimuth = a * DEGREE;
            const double from[3] = {sin(zenith) * cos(azimuth), sin(zenith) * sin(azimuth),
                                    cos(zenith)};
            for (int k = 0; k < 2; ++k) {
                fprintf(out, "%d,%d,%d,%.9g\n", k, z, a,
                        area_facing(&type.mesh, from) * (1 + k) / 9);
            }
        }
    }
    fclose(out);
    icestream_error error = {0};
    const ics_text text = ics_text_borrow("a.csv", csv, size);
    ck_assert_msg(ics_pmt_areas_read_csv(&text, &type, &error) == ICESTREAM_OK, "%s", error.text);
    const ice_pmt_areas *table = &type.table;
    ck_assert_uint_eq(table->direction_count, 2 + 5 * 8);
    for (size_t i = 0; i < table->direction_count; ++i) {
        const double sum = table->areas[2 * i] + table->areas[2 * i + 1];
        ck_assert_double_eq_tol(sum / table->turned[i], 1.0 / 3, 5e-3);
    }
    ics_pmt_areas_free(&type.table);
    mesh_free(&type.mesh);
    free(csv);
}
END_TEST

ICS_TEST_MAIN("pmt_table_mesh")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, areas_of_meshes, 0, 3);
    tcase_add_test(all, tables_of_meshes);
    suite_add_tcase(suite, all);
}
