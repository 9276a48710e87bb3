#include "pipeline/models/detector/pmt_arrangement.h"

#include "physics/body.h"
#include "pipeline/models/types/direction.h"

#include <math.h>

/* Directions and places of two modules are alike if they differ by no more than this. */
#define ALIKE_DIRECTION 2e-3
#define ALIKE_PLACE     2e-3 /* m */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Gives three perpendicular unit vectors of two directions. Returns false if these are parallel. */
static bool frame_of(const double a[3], const double b[3], double out[3][3])
{
    double normal[3];
    cross(a, b, normal);
    const double length = sqrt(dot(normal, normal));
    if (!(length > 1e-3)) {
        return false;
    }
    for (int i = 0; i < 3; ++i) {
        out[0][i] = a[i];
        out[2][i] = normal[i] / length;
    }
    cross(out[2], out[0], out[1]);
    return true;
}

/* Makes the quaternion of a rotation matrix. */
static ice_orientation quaternion_of(const double r[3][3])
{
    /* The largest of the four numbers is the one from which the others are computed. */
    const double squares[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                               1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
    int best = 0;
    for (int i = 1; i < 4; ++i) {
        best = squares[i] > squares[best] ? i : best;
    }
    const double s = 2 * sqrt(squares[best]);
    const double wx = (r[2][1] - r[1][2]) / s, wy = (r[0][2] - r[2][0]) / s,
                 wz = (r[1][0] - r[0][1]) / s, xy = (r[0][1] + r[1][0]) / s,
                 xz = (r[0][2] + r[2][0]) / s, yz = (r[1][2] + r[2][1]) / s;
    const ice_orientation all[4] = {
        {s / 4, wx, wy, wz}, {wx, s / 4, xy, xz}, {wy, xy, s / 4, yz}, {wz, xz, yz, s / 4}};
    ice_orientation q = all[best];
    const double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = (ice_orientation){q.w / length, q.x / length, q.y / length, q.z / length};
    return q;
}

bool ics_pmt_arrangement_turn(const ice_module_type *type, const ice_pmt *pmts, size_t count,
                              ice_orientation *out)
{
    double from[3][3], to[3][3], r[3][3];
    size_t second = 1;
    if (type->pmt_count != count) {
        return false;
    }
    while (second < count && !frame_of(type->pmts[0].axis, type->pmts[second].axis, from)) {
        ++second;
    }
    if (second >= count) { /* all axes are parallel: only modules that hang alike are alike */
        *out = ics_upright;
    } else {
        if (!frame_of(pmts[0].axis, pmts[second].axis, to)) {
            return false;
        }
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                r[i][j] = to[0][i] * from[0][j] + to[1][i] * from[1][j] + to[2][i] * from[2][j];
            }
        }
        *out = quaternion_of((const double(*)[3])r);
    }
    for (size_t k = 0; k < count; ++k) {
        double axis[3], place[3];
        ice_orient(out, type->pmts[k].axis, axis);
        ice_orient(out, type->pmts[k].centre, place);
        for (int i = 0; i < 3; ++i) {
            if (!(fabs(axis[i] - pmts[k].axis[i]) <= ALIKE_DIRECTION) ||
                !(fabs(place[i] - pmts[k].centre[i]) <= ALIKE_PLACE)) {
                return false;
            }
        }
    }
    /* A module that hangs as the first one is upright, whatever was rounded. */
    if (fabs(out->x) + fabs(out->y) + fabs(out->z) < ALIKE_DIRECTION) {
        *out = ics_upright;
    }
    return true;
}
