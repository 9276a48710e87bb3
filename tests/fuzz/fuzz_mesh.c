/* Fuzzes meshes from files. The first byte chooses the format: 'o' OBJ, 's' STL, 'p' PLY. Assimp
 * reads the rest in a child process, which may crash: that is an error of the file. A mesh that is
 * accepted must keep the promises of mesh.h, and a tree must be possible; otherwise the fuzzer
 * aborts. Good inputs are in corpus/mesh. */
#include "pipeline/photons/models/mesh/mesh.h"
#include "tables/tree.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>

#define REACH 3.0

static void check_mesh(const ice_mesh *mesh)
{
    require(mesh->triangle_count > 0 && mesh->vertex_count >= 3);
    require(ics_mesh_reach(mesh) <= REACH * 1.000001);
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        const uint32_t *corner = mesh->triangles[i];
        require(corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]);
        require(mesh->parts[i] == 3 || mesh->parts[i] == ICE_PART_ABSORBER);
        for (int c = 0; c < 3; ++c) {
            require(corner[c] < mesh->vertex_count);
        }
    }
    ics_tree_forest forest = {0};
    uint32_t root;
    require(ics_tables_tree_add(&forest, mesh, REACH, &root, NULL) == ICESTREAM_OK);
    require(forest.deepest >= 1 && forest.deepest <= ICE_MESH_DEPTH);
    ics_tables_tree_free(&forest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ics_mesh_part parts[] = {{"eye", 3}, {"*", ICE_PART_ABSORBER}};
    static const ics_mesh_settings with_eye = {parts, 2, 1.0, REACH},
                                   without = {parts + 1, 1, 1.0, REACH};
    if (size < 2 || memchr("osp", data[0], 3) == NULL) {
        return 0;
    }
    const char *name = data[0] == 'o' ? "fuzz.obj" : data[0] == 's' ? "fuzz.stl" : "fuzz.ply";
    const ics_mesh_settings *settings = memmem(data, size, "eye", 3) != NULL ? &with_eye : &without;
    ice_mesh mesh;
    ics_warnings warnings = {0};
    icestream_error error = {0};
    const int status = ics_mesh_read_memory(name, (const char *)data + 1, size - 1, settings, &mesh,
                                            &warnings, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    if (status == ICESTREAM_OK) {
        check_mesh(&mesh);
    } else {
        require(mesh.vertices == NULL && mesh.triangle_count == 0);
    }
    ics_mesh_free(&mesh);
    ics_warnings_free(&warnings);
    return 0;
}
