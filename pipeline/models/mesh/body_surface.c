#include "pipeline/models/mesh/body_surface.h"

#include "base/error.h"
#include "physics/body.h"
#include "pipeline/models/mesh/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_MAX = ICS_SURFACE_RISES + 2, WINDOW_RINGS = 2 };

/* The height of the window of a PMT over the glass, so that a picture shows both (m). */
#define WINDOW_LIFT 0.001

/* Two unit vectors that are perpendicular to `axis` and to each other; (u, v, axis) is
 * right-handed. */
static void make_frame(const double axis[3], double u[3], double v[3])
{
    const double length = hypot(axis[0], axis[1]);
    if (length < 1e-9) {
        memcpy(u, (const double[3]){1, 0, 0}, sizeof(double[3]));
    } else {
        memcpy(u, (const double[3]){-axis[1] / length, axis[0] / length, 0}, sizeof(double[3]));
    }
    v[0] = axis[1] * u[2] - axis[2] * u[1];
    v[1] = axis[2] * u[0] - axis[0] * u[2];
    v[2] = axis[0] * u[1] - axis[1] * u[0];
}

/* ---- growing a mesh whose arrays are large enough ---------------------------------------------
 */

static int reserve(ice_mesh *mesh, size_t vertices, size_t triangles, icestream_error *error)
{
    mesh->vertices = malloc((vertices + 1) * sizeof *mesh->vertices);
    mesh->triangles = malloc((triangles + 1) * sizeof *mesh->triangles);
    mesh->parts = malloc((triangles + 1) * sizeof *mesh->parts);
    if (mesh->vertices == NULL || mesh->triangles == NULL || mesh->parts == NULL) {
        ics_mesh_free(mesh);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "surface of a module: out of memory");
    }
    return ICESTREAM_OK;
}

static uint32_t add_vertex(ice_mesh *mesh, double x, double y, double z)
{
    float *vertex = mesh->vertices[mesh->vertex_count];
    vertex[0] = (float)x;
    vertex[1] = (float)y;
    vertex[2] = (float)z;
    return (uint32_t)mesh->vertex_count++;
}

/* Leaves out a triangle that has two equal corners, as at a pole. */
static void add_triangle(ice_mesh *mesh, uint32_t a, uint32_t b, uint32_t c, int part)
{
    if (a != b && b != c && c != a) {
        memcpy(mesh->triangles[mesh->triangle_count], (const uint32_t[3]){a, b, c},
               sizeof *mesh->triangles);
        mesh->parts[mesh->triangle_count++] = (int16_t)part;
    }
}

/* ---- bodies with an axis ----------------------------------------------------------------------
 */

/* A ring of vertices; a ring of radius 0 is one vertex. */
typedef struct ring {
    uint32_t first;
    bool is_point;
} ring;

static uint32_t ring_vertex(const ring *r, uint32_t side, uint32_t sides)
{
    return r->is_point ? r->first : r->first + side % sides;
}

/* Joins two rings, the lower one first; their triangles look away from the axis. */
static void join(ice_mesh *mesh, const ring *low, const ring *high, uint32_t sides, int part)
{
    for (uint32_t i = 0; i < sides; ++i) {
        const uint32_t a = ring_vertex(low, i, sides), b = ring_vertex(low, i + 1, sides);
        const uint32_t c = ring_vertex(high, i + 1, sides), d = ring_vertex(high, i, sides);
        add_triangle(mesh, a, b, c, part);
        add_triangle(mesh, a, c, d, part);
    }
}

/* Fills the outline of a body, from its lowest point up, as pairs of radius and height. Returns
 * their number. */
static size_t make_profile(const ice_module_type *type, double profile[PROFILE_MAX][2])
{
    const double r = type->radius, h = type->half_height;
    if (type->shape == ICE_SHAPE_CYLINDER) {
        const double corners[4][2] = {{0, -h}, {r, -h}, {r, h}, {0, h}};
        const size_t skipped = type->open_ends ? 1 : 0;
        memcpy(profile, corners + skipped, (4 - 2 * skipped) * sizeof *corners);
        return 4 - 2 * skipped;
    }
    /* The ends of a capsule are half-spheres around the points at +-middle. */
    const bool is_capsule = type->shape == ICE_SHAPE_CAPSULE;
    const double middle = is_capsule ? h - r : 0, height = is_capsule ? r : h;
    size_t count = 0;
    for (int i = 0; i <= ICS_SURFACE_RISES; ++i) {
        const double angle = ICE_PI * i / ICS_SURFACE_RISES;
        const bool is_pole = i == 0 || i == ICS_SURFACE_RISES;
        const double radius = is_pole ? 0 : r * sin(angle), z = -height * cos(angle);
        if (2 * i <= ICS_SURFACE_RISES) {
            profile[count][0] = radius;
            profile[count++][1] = z - middle;
        }
        if (2 * i > ICS_SURFACE_RISES || (2 * i == ICS_SURFACE_RISES && middle > 0)) {
            profile[count][0] = radius;
            profile[count++][1] = z + middle;
        }
    }
    return count;
}

static void add_body(const ice_module_type *type, ice_mesh *mesh)
{
    double profile[PROFILE_MAX][2];
    const size_t count = make_profile(type, profile);
    ring last = {0};
    for (size_t k = 0; k < count; ++k) {
        const ring next = {(uint32_t)mesh->vertex_count, profile[k][0] <= 0};
        const int vertices = next.is_point ? 1 : ICS_SURFACE_SIDES;
        for (int i = 0; i < vertices; ++i) {
            const double angle = 2 * ICE_PI * i / ICS_SURFACE_SIDES;
            add_vertex(mesh, profile[k][0] * cos(angle), profile[k][0] * sin(angle), profile[k][1]);
        }
        if (k > 0) {
            join(mesh, &last, &next, ICS_SURFACE_SIDES, ICE_PART_GLASS);
        }
        last = next;
    }
}

/* ---- PMTs -------------------------------------------------------------------------------------
 */

/* Moves a point near the surface of an analytic body onto it. */
static void pull_to_glass(const ice_module_type *type, double point[3])
{
    const double length = sqrt(point[0] * point[0] + point[1] * point[1] + point[2] * point[2]);
    if (length > 0) {
        const double axis[3] = {point[0] / length, point[1] / length, point[2] / length};
        ice_body_point(type->shape, type->radius, type->half_height, axis, point);
    }
}

/* A cap of rings around the middle of the window, on the glass. A mesh has a flat one. */
static void add_window(const ice_module_type *type, const ice_pmt *pmt, int part, ice_mesh *mesh)
{
    double u[3], v[3];
    const double *c = pmt->centre, *axis = pmt->axis;
    const double away = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    const double widest =
        pmt->radius > 0 ? pmt->radius : fmin(ICS_SURFACE_PMT_RADIUS, 0.5 * type->reach);
    make_frame(axis, u, v);
    ring last = {0};
    /* From outside to the middle, so that "up" is along the axis. */
    for (int k = WINDOW_RINGS; k >= 0; --k) {
        const double radius = widest * k / WINDOW_RINGS;
        const ring next = {(uint32_t)mesh->vertex_count, k == 0};
        /* The glass falls back behind the tangent plane as a sphere around the centre does. */
        const double back = away > 0 ? 1 - sqrt(fmax(0, 1 - radius * radius / (away * away))) : 0;
        for (int i = 0; i < (k == 0 ? 1 : ICS_SURFACE_WINDOW); ++i) {
            const double angle = 2 * ICE_PI * i / ICS_SURFACE_WINDOW;
            double point[3];
            for (int n = 0; n < 3; ++n) {
                point[n] = c[n] + radius * (cos(angle) * u[n] + sin(angle) * v[n]) -
                           (type->shape == ICE_SHAPE_MESH ? 0 : back * c[n]);
            }
            if (type->shape != ICE_SHAPE_MESH) {
                pull_to_glass(type, point);
            }
            add_vertex(mesh, point[0] + WINDOW_LIFT * axis[0], point[1] + WINDOW_LIFT * axis[1],
                       point[2] + WINDOW_LIFT * axis[2]);
        }
        if (k < WINDOW_RINGS) {
            join(mesh, &last, &next, ICS_SURFACE_WINDOW, part);
        }
        last = next;
    }
}

/* ---- surfaces ---------------------------------------------------------------------------------
 */

static bool has_pmt_parts(const ice_mesh *mesh)
{
    for (size_t i = 0; i < mesh->triangle_count; ++i) {
        if (mesh->parts[i] >= 0) {
            return true;
        }
    }
    return false;
}

static void copy_mesh(const ice_mesh *mesh, ice_mesh *out)
{
    memcpy(out->vertices, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    memcpy(out->triangles, mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles);
    memcpy(out->parts, mesh->parts, mesh->triangle_count * sizeof *mesh->parts);
    out->vertex_count = mesh->vertex_count;
    out->triangle_count = mesh->triangle_count;
}

int ics_body_surface(const ice_module_type *type, ice_mesh *out, icestream_error *error)
{
    const bool is_mesh = type->shape == ICE_SHAPE_MESH;
    const size_t windows = is_mesh && has_pmt_parts(&type->mesh) ? 0 : type->pmt_count;
    const size_t body = (size_t)PROFILE_MAX * ICS_SURFACE_SIDES;
    const size_t window = (size_t)(WINDOW_RINGS + 1) * ICS_SURFACE_WINDOW;
    *out = (ice_mesh){0};
    ICS_TRY(reserve(out, (is_mesh ? type->mesh.vertex_count : body) + windows * window,
                    (is_mesh ? type->mesh.triangle_count : 2 * body) + 2 * windows * window,
                    error));
    if (is_mesh) {
        copy_mesh(&type->mesh, out);
    } else {
        add_body(type, out);
    }
    for (size_t i = 0; i < windows; ++i) {
        add_window(type, &type->pmts[i], (int)i, out);
    }
    return ICESTREAM_OK;
}

int ics_body_surface_cable(const ice_cable *cable, ice_mesh *out, icestream_error *error)
{
    double along[3], axis[3] = {0, 0, 1}, u[3], v[3];
    for (int n = 0; n < 3; ++n) {
        along[n] = cable->to[n] - cable->from[n];
    }
    const double length = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
    for (int n = 0; n < 3 && length > 0; ++n) {
        axis[n] = along[n] / length;
    }
    *out = (ice_mesh){0};
    ICS_TRY(reserve(out, 4 * (size_t)ICS_SURFACE_TUBE, 8 * (size_t)ICS_SURFACE_TUBE, error));
    make_frame(axis, u, v);
    const double profile[4][2] = {{0, 0}, {cable->radius, 0}, {cable->radius, 1}, {0, 1}};
    ring last = {0};
    for (int k = 0; k < 4; ++k) {
        const ring next = {(uint32_t)out->vertex_count, profile[k][0] <= 0};
        for (int i = 0; i < (next.is_point ? 1 : ICS_SURFACE_TUBE); ++i) {
            const double x = profile[k][0] * cos(2 * ICE_PI * i / ICS_SURFACE_TUBE);
            const double y = profile[k][0] * sin(2 * ICE_PI * i / ICS_SURFACE_TUBE);
            add_vertex(out, x * u[0] + y * v[0] + profile[k][1] * along[0],
                       x * u[1] + y * v[1] + profile[k][1] * along[1],
                       x * u[2] + y * v[2] + profile[k][1] * along[2]);
        }
        if (k > 0) {
            join(out, &last, &next, ICS_SURFACE_TUBE, ICE_PART_ABSORBER);
        }
        last = next;
    }
    return ICESTREAM_OK;
}
