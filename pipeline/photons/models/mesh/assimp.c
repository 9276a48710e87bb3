/* Assimp reads the file in a child process, which writes what it has found into memory that both
 * processes share: a head, the objects, the corners of the triangles. Only the file itself is read:
 * Assimp gets its bytes and finds no other file, so a material library that the file names is
 * missing, and its materials have only their names. */
#include "base/error.h"
#include "pipeline/photons/models/mesh/file.h"

#if !ICS_HAVE_ASSIMP

int ics_mesh_file_open(const char *name, const char *data, size_t size, const char *format,
                       ics_mesh_file *out, icestream_error *error)
{
    (void)data;
    (void)size;
    *out = (ics_mesh_file){.name = name};
    return ics_error_add(error, ICESTREAM_E_CONFIG,
                         "%s: error: this icestream was built without Assimp, which reads %s files",
                         name, format);
}

#else

#include "base/visible_text.h"
#include "pipeline/photons/files/contained.h"
#include "tables/tree.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Seconds of processor time that the child may take, and more for each MiB of the file. Assimp
 * reads some 10 MiB/s, but some damaged files keep it busy for ever. */
enum { SECONDS = 1, SECONDS_PER_MIB = 2 };

/* The begin of the shared memory (16 bytes). */
typedef struct head {
    uint64_t object_count, triangle_count;
} head;

/* What the child is to do. */
typedef struct order {
    const char *name, *data, *format;
    size_t size;
    int shared; /* descriptor of the memory */
} order;

/* Where the child writes. */
typedef struct writer {
    const struct aiScene *scene;
    ics_mesh_object *objects; /* NULL: only count */
    float (*corners)[3];
    uint64_t object_count, triangle_count;
} writer;

static size_t bytes_of(const head *counts)
{
    return sizeof *counts + counts->object_count * sizeof(ics_mesh_object) +
           counts->triangle_count * 3 * sizeof(float[3]);
}

static void write_corners(const struct aiMesh *mesh, float (*corners)[3])
{
    for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
        const unsigned *indices = mesh->mFaces[i].mIndices;
        for (int c = 0; c < 3; ++c) {
            const struct aiVector3D *at = &mesh->mVertices[indices[c]];
            float *corner = corners[3 * (size_t)i + (size_t)c];
            corner[0] = at->x;
            corner[1] = at->y;
            corner[2] = at->z;
        }
    }
}

/* Returns whether all faces are triangles with existing vertices. */
static bool has_triangles_only(const struct aiMesh *mesh)
{
    for (unsigned i = 0; i < mesh->mNumFaces; ++i) {
        const struct aiFace *face = &mesh->mFaces[i];
        if (face->mNumIndices != 3) {
            return false;
        }
        for (int c = 0; c < 3; ++c) {
            if (face->mIndices[c] >= mesh->mNumVertices) {
                return false;
            }
        }
    }
    return true;
}

static void copy_name(const struct aiString *name, char out[ICS_MESH_NAME_BYTES])
{
    size_t length = strnlen(name->data, sizeof name->data);
    length = length < ICS_MESH_NAME_BYTES ? length : ICS_MESH_NAME_BYTES - 1;
    memcpy(out, name->data, length);
    out[length] = '\0';
}

/* Counts or writes the triangles of a mesh of Assimp, whose node has the name of the object. */
static void take_mesh(writer *to, const struct aiNode *node, const struct aiMesh *mesh)
{
    if (mesh->mNumFaces == 0 || !has_triangles_only(mesh)) {
        return;
    }
    if (to->objects != NULL) {
        ics_mesh_object *object = &to->objects[to->object_count];
        struct aiString material = {0};
        (void)aiGetMaterialString(to->scene->mMaterials[mesh->mMaterialIndex], AI_MATKEY_NAME,
                                  &material);
        copy_name(&node->mName, object->name);
        copy_name(&material, object->material);
        object->first = to->triangle_count;
        object->count = mesh->mNumFaces;
        write_corners(mesh, to->corners + 3 * to->triangle_count);
    }
    ++to->object_count;
    to->triangle_count += mesh->mNumFaces;
}

/* Files of the three formats have two levels of nodes. A crash by endless levels is contained. */
static void take_node(writer *to, const struct aiNode *node)
{
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
        take_mesh(to, node, to->scene->mMeshes[node->mMeshes[i]]);
    }
    for (unsigned i = 0; i < node->mNumChildren; ++i) {
        take_node(to, node->mChildren[i]);
    }
}

static int write_scene(const order *what, const struct aiScene *scene, icestream_error *error)
{
    writer to = {.scene = scene};
    take_node(&to, scene->mRootNode);
    const head counts = {to.object_count, to.triangle_count};
    if (counts.triangle_count == 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found no triangles, expected a surface of triangles",
                             what->name);
    }
    if (counts.triangle_count > ICS_TREE_TRIANGLES_MAX) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found %llu triangles, expected at most %d", what->name,
                             (unsigned long long)counts.triangle_count, ICS_TREE_TRIANGLES_MAX);
    }
    const size_t bytes = bytes_of(&counts);
    char *memory = ftruncate(what->shared, (off_t)bytes) != 0
                       ? MAP_FAILED
                       : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, what->shared, 0);
    if (memory == MAP_FAILED) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: %zu bytes of memory: %s",
                             what->name, bytes, strerror(errno));
    }
    memcpy(memory, &counts, sizeof counts);
    to = (writer){.scene = scene, .objects = (void *)(memory + sizeof counts)};
    to.corners = (void *)(to.objects + counts.object_count);
    take_node(&to, scene->mRootNode);
    return ICESTREAM_OK;
}

/* What the child does. Faults of Assimp end the child at once, whatever the parent does on signals;
 * what the C++ library prints then is not shown. */
static int import_in_child(void *user, icestream_error *error)
{
    const order *what = user;
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        (void)signal(faults[i], SIG_DFL);
    }
    const rlim_t seconds = SECONDS + SECONDS_PER_MIB * (what->size >> 20);
    const struct rlimit limit = {seconds, seconds + 1};
    (void)setrlimit(RLIMIT_CPU, &limit);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
        (void)dup2(nowhere, STDERR_FILENO);
    }
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    aiSetImportPropertyInteger(settings, AI_CONFIG_PP_SBP_REMOVE,
                               aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    const struct aiScene *scene = aiImportFileFromMemoryWithProperties(
        what->data, (unsigned)what->size, aiProcess_Triangulate | aiProcess_SortByPType,
        what->format, settings);
    if (scene == NULL || scene->mRootNode == NULL) {
        char shown[512];
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found a file that Assimp cannot read as %s: %s",
                             what->name, what->format,
                             ics_visible_text(aiGetErrorString(), false, shown, sizeof shown));
    }
    return write_scene(what, scene, error);
}

/* Looks at what the child has written. The child may have been damaged without a crash, so nothing
 * is taken on trust. */
static bool is_whole(const ics_mesh_file *file, const head *counts)
{
    uint64_t next = 0;
    for (size_t i = 0; i < file->object_count; ++i) {
        const ics_mesh_object *object = &file->objects[i];
        if (object->first != next || object->count > counts->triangle_count - next ||
            memchr(object->name, 0, sizeof object->name) == NULL ||
            memchr(object->material, 0, sizeof object->material) == NULL) {
            return false;
        }
        next += object->count;
    }
    return next == counts->triangle_count;
}

static int map_shared(int shared, ics_mesh_file *out, icestream_error *error)
{
    struct stat status;
    head counts = {0};
    const bool known = fstat(shared, &status) == 0 &&
                       pread(shared, &counts, sizeof counts, 0) == (ssize_t)sizeof counts;
    const size_t bytes = known ? (size_t)status.st_size : 0;
    bool whole = known && counts.triangle_count > 0 &&
                 counts.triangle_count <= ICS_TREE_TRIANGLES_MAX &&
                 counts.object_count <= counts.triangle_count && bytes == bytes_of(&counts);
    void *memory = whole ? mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, shared, 0) : MAP_FAILED;
    if (memory != MAP_FAILED) {
        out->memory = memory;
        out->bytes = bytes;
        out->objects = (const void *)((const char *)memory + sizeof counts);
        out->object_count = (size_t)counts.object_count;
        out->corners = (const void *)(out->objects + counts.object_count);
        out->triangle_count = (size_t)counts.triangle_count;
        whole = is_whole(out, &counts);
    }
    return memory != MAP_FAILED && whole
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found damaged triangles after Assimp had read it, "
                               "expected a whole file",
                               out->name);
}

/* Whether a PLY file has a head of text that ends. Assimp would look for its end for ever. */
static bool ends_its_head(const char *data, size_t size)
{
    const char *end = memmem(data, size, "\nend_header", 11);
    return end != NULL && memchr(data, 0, (size_t)(end - data)) == NULL;
}

/* The line of an OBJ file with a number such as .1, which Assimp does not read; 0: there is none.
 */
static size_t find_bare_point(const char *data, size_t size)
{
    size_t line = 1, begin = 0;
    for (size_t i = 0; i + 1 < size; ++i) {
        const char *sign = data + i - (i > 0 && (data[i - 1] == '-' || data[i - 1] == '+'));
        if (data[i] == '\n') {
            ++line;
            begin = i + 1;
        } else if (data[i] == '.' && data[begin] == 'v' && isdigit((unsigned char)data[i + 1]) &&
                   (sign[-1] == ' ' || sign[-1] == '\t')) {
            return line;
        }
    }
    return 0;
}

int ics_mesh_file_open(const char *name, const char *data, size_t size, const char *format,
                       ics_mesh_file *out, icestream_error *error)
{
    *out = (ics_mesh_file){.name = name};
    if (strcmp(format, "ply") == 0 && !ends_its_head(data, size)) {
        return ics_error_add(
            error, ICESTREAM_E_CONFIG,
            "%s: error: found no head that ends with a line end_header, expected a PLY file", name);
    }
    const size_t line = strcmp(format, "obj") == 0 ? find_bare_point(data, size) : 0;
    if (line > 0) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s:%zu: error: found a number that begins with a point, expected a "
                             "digit in front of it, as in 0.1",
                             name, line);
    }
    order what = {.name = name, .data = data, .format = format, .size = size};
    what.shared = memfd_create("icestream mesh", MFD_CLOEXEC);
    if (what.shared < 0) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: no memory to read it: %s", name,
                             strerror(errno));
    }
    icestream_error own = {0};
    int status = ics_contained_check(import_in_child, &what, name, &own);
    if (status == ICESTREAM_E_INPUT) { /* the child has crashed */
        status = ics_error_add(error, ICESTREAM_E_CONFIG, "%s", own.text);
    } else if (status != ICESTREAM_OK) {
        status = ics_error_add(error, status, "%s", own.text);
    } else {
        status = map_shared(what.shared, out, error);
    }
    close(what.shared);
    if (status != ICESTREAM_OK) {
        ics_mesh_file_close(out);
    }
    return status;
}

#endif
