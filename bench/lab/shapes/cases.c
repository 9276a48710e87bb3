#include "bench/lab/shapes/cases.h"

#include "base/error.h"
#include "bench/lab/shapes/icosphere.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEAR_STRINGS  20.0   /* m */
#define SPHERE_RADIUS 0.1651 /* m, of the vertices of an icosphere */

/* Sizes (m) of 2026-11-24-h200-shapes.md, so that the tables can be compared. Only the outer shape
 * of the three types counts here: a sphere, and the spheroid and the capsule of types that ship. */
#define THREE_TYPES                                                                                \
    "{ a: {shape: sphere, radius: 0.1651}, b: {shape: spheroid, radius: 0.150, half_height: "      \
    "0.267}, c: {shape: capsule, radius: 0.1765, half_height: 0.204} }"
#define ICOSPHERE "{ a: {shape: mesh, radius: 0.17, mesh: mesh.stl} }"

/* Case 0 must be the spheres of the run: the modules of other cases are its modules. */
enum { SPHERES = 0, NEAR_SPHERES = 9 };
const ics_shape_case ics_shape_cases[ICS_SHAPE_CASES] = {
    [SPHERES] = {.name = "spheres without a type"},
    {.name = "sphere", .types = "{ a: {shape: sphere, radius: 0.1651} }"},
    {.name = "spheroid", .types = "{ a: {shape: spheroid, radius: 0.1651, half_height: 0.20} }"},
    {.name = "capsule", .types = "{ a: {shape: capsule, radius: 0.1651, half_height: 0.20} }"},
    {.name = "cylinder", .types = "{ a: {shape: cylinder, radius: 0.1651, half_height: 0.20} }"},
    {.name = "mesh", .types = ICOSPHERE, .frequency = 32},
    {.name = "spheres and cables", .has_cables = true},
    {.name = "three types", .types = THREE_TYPES, .layout = ICS_SHAPE_MIXED},
    {.name = "three types", .types = THREE_TYPES, .layout = ICS_SHAPE_LARGE},
    [NEAR_SPHERES] = {.name = "spheres, near light", .near_strings = true, .base = NEAR_SPHERES},
    {.name = "mesh, near light",
     .types = ICOSPHERE,
     .frequency = 32,
     .near_strings = true,
     .base = NEAR_SPHERES},
    {.name = "mesh, near light",
     .types = ICOSPHERE,
     .frequency = 100,
     .near_strings = true,
     .base = NEAR_SPHERES},
    {.name = "spheres again"},
};

/* ---- files ----------------------------------------------------------------------------------- */

/* Strings of hex86 are 125 m apart and its modules 17 m (physics.md 13.3). */
static void write_large(FILE *out)
{
    enum { ROWS = 50, COLUMNS = 100, MODULES = 60 };
    uint32_t next = 0;
    for (int string = 0; string < ROWS * COLUMNS; ++string) {
        const int row = string / COLUMNS, column = string % COLUMNS;
        const double x = 125 * (column + 0.5 * (row % 2) - COLUMNS / 2.0 + 0.25);
        const double y = 125 * sqrt(0.75) * (row - (ROWS - 1) / 2.0);
        for (int module = 0; module < MODULES; ++module, ++next) {
            fprintf(out, "%d,%d,%.4f,%.4f,%.4f,1,%c\n", string + 1, module + 1, x, y,
                    17 * ((MODULES - 1) / 2.0 - module), 'a' + (int)(next % 3));
        }
    }
}

static void write_mixed(const ice_module *modules, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; ++i) {
        const ice_module *m = &modules[i];
        fprintf(out, "%u,%u,%.17g,%.17g,%.17g,%.17g,%c\n", m->string, m->module, m->x, m->y, m->z,
                m->efficiency, 'a' + (int)(i % 3));
    }
}

/* Opens a new file of the world. Returns NULL after an error. */
static FILE *open_file(const ics_shape_world *world, const char *name, icestream_error *error)
{
    char path[sizeof world->folder + 32];
    snprintf(path, sizeof path, "%s/%s", world->folder, name);
    FILE *out = fopen(path, "wbx");
    if (out == NULL) {
        ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot be written: %s", path,
                      strerror(errno));
    }
    return out;
}

static int close_file(const ics_shape_world *world, FILE *file, icestream_error *error)
{
    const bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed
               ? ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: a file cannot be written: %s",
                               world->folder, strerror(errno))
               : ICESTREAM_OK;
}

static int write_files(const ics_shape_case *this, const ice_module *modules, size_t count,
                       const ics_shape_world *world, icestream_error *error)
{
    int status = ICESTREAM_OK;
    FILE *out;
    if (this->frequency > 0) {
        if ((out = open_file(world, "mesh.stl", error)) == NULL) {
            return ICESTREAM_E_OUTPUT;
        }
        ics_icosphere_write(SPHERE_RADIUS, this->frequency, out);
        status = close_file(world, out, error);
    }
    if (status == ICESTREAM_OK && this->layout != ICS_SHAPE_CONFIGURED) {
        if ((out = open_file(world, "modules.csv", error)) == NULL) {
            return ICESTREAM_E_OUTPUT;
        }
        fputs("string,module,x,y,z,efficiency,type\n", out);
        if (this->layout == ICS_SHAPE_LARGE) {
            write_large(out);
        } else {
            write_mixed(modules, count, out);
        }
        status = close_file(world, out, error);
    }
    return status;
}

static int make_folder(ics_shape_world *out, icestream_error *error)
{
    const char *temporary = getenv("TMPDIR");
    int length = snprintf(out->folder, sizeof out->folder, "%s/icestream-shapes-XXXXXX",
                          temporary != NULL && temporary[0] == '/' ? temporary : "/tmp");
    if (length >= (int)sizeof out->folder || mkdtemp(out->folder) == NULL) {
        const int cause = length >= (int)sizeof out->folder ? ENAMETOOLONG : errno;
        ics_error_set(error, ICESTREAM_E_OUTPUT, "%s: cannot be made: %s", out->folder,
                      strerror(cause));
        out->folder[0] = '\0';
        return ICESTREAM_E_OUTPUT;
    }
    return ICESTREAM_OK;
}

/* ---- configurations -------------------------------------------------------------------------- */

/* Reads the types as if they stood in a file of the folder, so that they find the mesh. */
static int read_types(const ics_shape_case *this, ics_shape_world *out, icestream_error *error)
{
    char name[sizeof out->folder + 32];
    snprintf(name, sizeof name, "%s/types.yaml", out->folder);
    return ics_yaml_read_text(name, this->types, strlen(this->types), &out->types, error);
}

int ics_shape_world_create(const ics_shape_case *this, const ice_module *modules, size_t count,
                           icestream_config *config, ics_shape_world *out, icestream_error *error)
{
    *out = (ics_shape_world){0};
    ics_error_set(error, ICESTREAM_OK, "%s", "");
    int status = make_folder(out, error);
    if (status == ICESTREAM_OK) {
        status = write_files(this, modules, count, out, error);
    }
    if (status == ICESTREAM_OK && this->types != NULL) {
        status = read_types(this, out, error);
        config->detector.types = out->types != NULL ? ics_yaml_root(out->types) : NULL;
    }
    if (status == ICESTREAM_OK && this->layout != ICS_SHAPE_CONFIGURED) {
        if (asprintf(&out->modules, "%s/modules.csv", out->folder) < 0) {
            out->modules = NULL;
            return ics_error_set(error, ICESTREAM_E_MEMORY, "shapes: out of memory");
        }
        config->detector.layout = NULL;
        config->detector.file = out->modules;
    }
    if (this->has_cables) {
        config->detector.string_cables = ICS_CABLES_SIDE;
    }
    return status;
}

void ics_shape_world_remove_files(ics_shape_world *world)
{
    static const char *const names[] = {"mesh.stl", "modules.csv"};
    char path[sizeof world->folder + 32];
    for (size_t i = 0; world->folder[0] != '\0' && i < sizeof names / sizeof *names; ++i) {
        snprintf(path, sizeof path, "%s/%s", world->folder, names[i]);
        unlink(path);
    }
    if (world->folder[0] != '\0') {
        rmdir(world->folder);
    }
    world->folder[0] = '\0';
}

void ics_shape_world_free(ics_shape_world *world)
{
    ics_shape_world_remove_files(world);
    ics_yaml_destroy(world->types);
    free(world->modules);
    *world = (ics_shape_world){0};
}

/* ---- light ----------------------------------------------------------------------------------- */

/* A number in [0, 1) for a step: splitmix64 of its number. */
static double draw(uint64_t step, uint64_t number)
{
    uint64_t word = (3 * step + number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((word ^ (word >> 31)) >> 11) * 0x1p-53;
}

void ics_shape_world_near_strings(const ice_detector *detector, icestream_step *steps, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t chosen = (size_t)(draw(i, 0) * (double)detector->module_count);
        const ice_module *module = &detector->modules[chosen];
        const double distance = NEAR_STRINGS * sqrt(draw(i, 1));
        const double azimuth = 2 * ICE_PI * draw(i, 2);
        steps[i].x = (float)(module->x + distance * cos(azimuth));
        steps[i].y = (float)(module->y + distance * sin(azimuth));
    }
}
