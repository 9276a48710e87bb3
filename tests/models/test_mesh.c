/* Meshes from files: the three formats give the same surface, parts follow the names of objects and
 * materials, and whatever is wrong with a file is an error or a warning that names it.
 *
 * How to join: a fault of a file is a row of `faults`. Hostile bytes belong to tests/fuzz. */
#include "pipeline/photons/models/mesh/mesh.h"
#include "tables/tree.h"
#include "tests/support/meshes.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const ics_mesh_settings plain = {.unit = 1.0, .reach = 2.0};

static int read_text(const char *name, const char *text, const ics_mesh_settings *settings,
                     ice_mesh *out, ics_warnings *warnings, icestream_error *error)
{
    return ics_mesh_read_memory(name, text, strlen(text), settings, out, warnings, error);
}

#if ICS_HAVE_ASSIMP

/* ---- the three formats ----------------------------------------------------------------------- */

static void write_obj(FILE *file, const ice_mesh *mesh)
{
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        fprintf(file, "v %.9g %.9g %.9g\n", (double)mesh->vertices[i][0],
                (double)mesh->vertices[i][1], (double)mesh->vertices[i][2]);
    }
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        fprintf(file, "f %u %u %u\n", mesh->triangles[i][0] + 1, mesh->triangles[i][1] + 1,
                mesh->triangles[i][2] + 1);
    }
}

static void write_stl(FILE *file, const ice_mesh *mesh)
{
    const char head[80] = "made by a test";
    const uint32_t count = (uint32_t)mesh->triangle_count;
    fwrite(head, sizeof head, 1, file);
    fwrite(&count, sizeof count, 1, file);
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        const float normal[3] = {0};
        fwrite(normal, sizeof normal, 1, file);
        for (int c = 0; c < 3; ++c) {
            fwrite(mesh->vertices[mesh->triangles[i][c]], sizeof normal, 1, file);
        }
        fwrite("\0", 2, 1, file);
    }
}

static void write_ply(FILE *file, const ice_mesh *mesh)
{
    fprintf(file,
            "ply\nformat ascii 1.0\nelement vertex %zu\nproperty float x\nproperty float y\n"
            "property float z\nelement face %zu\nproperty list uchar int vertex_indices\n"
            "end_header\n",
            mesh->vertex_count, mesh->triangle_count);
    for (size_t i = 0; i < mesh->vertex_count; ++i) {
        fprintf(file, "%.9g %.9g %.9g\n", (double)mesh->vertices[i][0],
                (double)mesh->vertices[i][1], (double)mesh->vertices[i][2]);
    }
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        fprintf(file, "3 %u %u %u\n", mesh->triangles[i][0], mesh->triangles[i][1],
                mesh->triangles[i][2]);
    }
}

START_TEST(formats_give_the_same_surface)
{
    static const char *const names[] = {"a.obj", "a.STL", "a.ply"};
    static void (*const write[])(FILE *, const ice_mesh *) = {write_obj, write_stl, write_ply};
    ice_mesh sphere = mesh_icosphere(0.16, 3), found;
    ics_warnings warnings = {0};
    icestream_error error = {0};
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    FILE *file = fopen(scratch_path(&place, names[_i], path), "wb");
    ck_assert_ptr_nonnull(file);
    write[_i](file, &sphere);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_msg(ics_mesh_read(path, &plain, &found, &warnings, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(warnings.count, 0);
    ck_assert_uint_eq(found.vertex_count, sphere.vertex_count);
    ck_assert_uint_eq(found.triangle_count, sphere.triangle_count);
    ck_assert_double_eq_tol(ics_mesh_reach(&found), 0.16, 1e-7);
    for (size_t i = 0; i < found.triangle_count; ++i) {
        ck_assert_int_eq(found.parts[i], ICE_PART_GLASS);
        for (int c = 0; c < 3; ++c) {
            ck_assert_mem_eq(found.vertices[found.triangles[i][c]],
                             sphere.vertices[sphere.triangles[i][c]], sizeof *found.vertices);
        }
    }
    ics_mesh_free(&found);
    mesh_free(&sphere);
    scratch_remove(&place);
}
END_TEST

/* ---- parts ----------------------------------------------------------------------------------- */

/* Two tetrahedra. The first has the material glass on two faces and steel on two, the second is all
 * of glass. */
#define TETRAHEDRON                                                                                \
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no body\nusemtl glass\nf 1 3 2\nf 1 2 4\nusemtl steel\n"   \
    "f 1 4 3\nf 2 3 4\n"
#define TWO                                                                                        \
    TETRAHEDRON "o eye\nusemtl glass\nv 0 0 -1\nv 1 0 -1\nv 0 1 -1\nv 0 0 -0.5\n"                  \
                "f 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"

START_TEST(parts_name_objects_first_and_then_materials)
{
    static const struct {
        ics_mesh_part parts[3];
        size_t count;
        int expected[8];
    } rows[] = {
        {{{"glass", ICE_PART_GLASS}, {"steel", ICE_PART_ABSORBER}},
         2,
         {-1, -1, -2, -2, -1, -1, -1, -1}},
        {{{"glass", 5}, {"body", ICE_PART_ABSORBER}}, 2, {-2, -2, -2, -2, 5, 5, 5, 5}},
        {{{"*", ICE_PART_ABSORBER}, {"eye", 0}}, 2, {-2, -2, -2, -2, 0, 0, 0, 0}},
        {{{"eye", 1}, {"steel", 2}, {"glass", 3}}, 3, {3, 3, 2, 2, 1, 1, 1, 1}},
        {{{"x", 1}}, 0, {-1, -1, -1, -1, -1, -1, -1, -1}},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        ics_mesh_settings settings = plain;
        settings.parts = rows[i].parts;
        settings.part_count = rows[i].count;
        ice_mesh mesh;
        ics_warnings warnings = {0};
        icestream_error error = {0};
        ck_assert_msg(read_text("m.obj", TWO, &settings, &mesh, &warnings, &error) == ICESTREAM_OK,
                      "%s", error.text);
        ck_assert_uint_eq(mesh.triangle_count, 8);
        ck_assert_uint_eq(mesh.vertex_count, 8);
        ck_assert_uint_eq(warnings.count, 0);
        for (size_t t = 0; t < 8; ++t) {
            ck_assert_int_eq(mesh.parts[t], rows[i].expected[t]);
        }
        ics_mesh_free(&mesh);
    }
}
END_TEST

START_TEST(units_of_the_file_become_metres)
{
    ics_mesh_settings settings = plain;
    settings.unit = 0.001;
    ice_mesh mesh;
    ics_warnings warnings = {0};
    ck_assert_int_eq(read_text("m.obj", TETRAHEDRON, &settings, &mesh, &warnings, NULL),
                     ICESTREAM_OK);
    ck_assert_double_eq_tol(ics_mesh_reach(&mesh), 0.001, 1e-9);
    ics_mesh_free(&mesh);
}
END_TEST

/* ---- what is wrong --------------------------------------------------------------------------- */

#define STEEL "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

/* Name, text, what the error or the warning says. */
static const struct {
    const char *name, *text, *says;
    bool warns;
} faults[] = {
    {"mesh", "x", "mesh: error: found a mesh with another ending", false},
    {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2\np 3\n", "m.obj: error: found", false},
    {"m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
     "m.obj: error: found a file that Assimp cannot read as obj: OBJ: vertex index out of range",
     false},
    {"m.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", "m.stl: error: found",
     false},
    {"m.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", "m.ply: error: found", false},
    {"m.obj", STEEL "o b\nf 1 3 2\nv inf 0 0\nf 1 2 5\n",
     "m.obj: error: triangle 2 of object 'b': found a vertex (inf, 0, 0)", false},
    {"m.obj", STEEL "o b\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n",
     "m.obj: error: object b: found a volume of -0.167 m3, expected more than 0", false},
    {"m.obj", STEEL "o b\nf 1 2 3\nf 1 4 2\no c\nf 1 3 4\nf 2 4 3\n",
     "m.obj: error: the mesh: found a volume of -0.167 m3", false},
    {"m.obj", STEEL "o b\nf 1 3 2\nf 1 2 4\nf 1 4 3\n",
     "m.obj: triangle 1 of object 'b': an edge has no neighbour that runs along it in the opposite "
     "sense; the mesh has 3 such open edges",
     true},
    {"m.obj", STEEL "o b\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n", "the mesh has 3 such open edges",
     true},
    {"m.obj", STEEL "o b\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 2 2 4\nf 3 3 3\n",
     "m.obj: triangle 5 of object 'b': found no area; 2 such triangles are left out", true},
};

START_TEST(faults_of_a_file_are_named)
{
    ice_mesh mesh;
    ics_warnings warnings = {0};
    icestream_error error = {0};
    const int status =
        read_text(faults[_i].name, faults[_i].text, &plain, &mesh, &warnings, &error);
    if (faults[_i].warns) {
        ck_assert_msg(status == ICESTREAM_OK, "%s", error.text);
        ck_assert_uint_eq(warnings.count, 1);
        ck_assert_msg(strstr(warnings.items[0], faults[_i].says) != NULL, "%s", warnings.items[0]);
        ck_assert_uint_ge(mesh.triangle_count, 3);
    } else {
        ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
        ck_assert_int_eq(error.status, ICESTREAM_E_CONFIG);
        ck_assert_msg(strncmp(error.text, faults[_i].says, strlen(faults[_i].says)) == 0, "%s",
                      error.text);
        ck_assert_ptr_null(mesh.vertices);
    }
    ics_mesh_free(&mesh);
    ics_warnings_free(&warnings);
}
END_TEST

START_TEST(files_that_are_no_files_are_refused)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ice_mesh mesh;
    ics_warnings warnings = {0};
    icestream_error error = {0};
    ck_assert_int_eq(
        ics_mesh_read(scratch_path(&place, "none.obj", path), &plain, &mesh, &warnings, &error),
        ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "none.obj: error: No such file") != NULL, "%s", error.text);
    error = (icestream_error){0};
    ck_assert_int_eq(mkdir(scratch_path(&place, "folder.obj", path), 0700), 0);
    ck_assert_int_eq(ics_mesh_read(path, &plain, &mesh, &warnings, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "found a folder, expected a file") != NULL, "%s", error.text);
    error = (icestream_error){0};
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.obj", path), 0600), 0);
    ck_assert_int_eq(ics_mesh_read(path, &plain, &mesh, &warnings, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "found a device or pipe") != NULL, "%s", error.text);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("mesh")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, formats_give_the_same_surface, 0, 3);
    tcase_add_test(all, parts_name_objects_first_and_then_materials);
    tcase_add_test(all, units_of_the_file_become_metres);
    tcase_add_loop_test(all, faults_of_a_file_are_named, 0, COUNT(faults));
    tcase_add_test(all, files_that_are_no_files_are_refused);
    suite_add_tcase(suite, all);
}

#else

START_TEST(says_that_assimp_is_missing)
{
    ice_mesh mesh;
    ics_warnings warnings = {0};
    icestream_error error = {0};
    ck_assert_int_eq(read_text("m.obj", "x", &plain, &mesh, &warnings, &error), ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, "m.obj: error: this icestream was built without Assimp") !=
                      NULL,
                  "%s", error.text);
}
END_TEST

ICS_TEST_MAIN("mesh")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, says_that_assimp_is_missing);
    suite_add_tcase(suite, all);
}

#endif
