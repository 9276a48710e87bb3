#!/usr/bin/env python3
"""Writes a module as a mesh: a capsule with the windows of 24 PMTs and a harness on its side.

    capsule_obj.py MESH.obj TYPE.yaml

The surface of the capsule is closed; its triangles belong to the objects eye_0 .. eye_23 and body. The harness is
a closed tube of the object harness. TYPE.yaml is the type for detector.types.
"""
import math
import sys

RADIUS, HALF_HEIGHT = 0.178, 0.205  # m, of the capsule
COLUMNS, ROWS = 96, 48
CAP = math.cos(math.radians(13))  # of the windows
HARNESS = (0.2, 0.012, 0.15)  # distance from the axis, radius, half height, m


def pmt_axes():
    """4 PMTs at 33 degrees and 8 at 72 degrees from the axis, above and below."""
    axes = []
    for upper in (True, False):
        for zenith, count in ((33, 4), (72, 8)):
            for i in range(count):
                axes.append((zenith if upper else 180 - zenith, 360 / count * i))
    return axes


def direction(zenith, azimuth):
    sine = math.sin(math.radians(zenith))
    return (
        sine * math.cos(math.radians(azimuth)),
        sine * math.sin(math.radians(azimuth)),
        math.cos(math.radians(zenith)),
    )


def profile(share):
    """Returns (distance from the axis, height) on the way from the upper to the lower end."""
    straight = HALF_HEIGHT - RADIUS
    quarter = RADIUS * math.pi / 2
    way = share * (2 * quarter + 2 * straight)
    if way < quarter:
        return RADIUS * math.sin(way / RADIUS), straight + RADIUS * math.cos(way / RADIUS)
    if way < quarter + 2 * straight:
        return RADIUS, straight - (way - quarter)
    angle = (way - 2 * straight) / RADIUS
    return RADIUS * math.sin(angle), -straight + RADIUS * math.cos(angle)


def body_of_rows(vertices, rows, columns):
    """Triangles of a body that is round about an axis, whose rows of vertices run from above to below. The first
    and the last row are one vertex each."""
    for row in range(len(rows) - 1):
        for i in range(columns):
            a, b = rows[row][i % len(rows[row])], rows[row][(i + 1) % len(rows[row])]
            c, d = rows[row + 1][i % len(rows[row + 1])], rows[row + 1][(i + 1) % len(rows[row + 1])]
            if c != d:
                yield a, c, d
            if a != b:
                yield a, d, b


def add_row(vertices, x, radius, z, columns):
    begin = len(vertices)
    for i in range(columns if radius > 1e-9 else 1):
        angle = 2 * math.pi * i / columns
        vertices.append((x + radius * math.cos(angle), radius * math.sin(angle), z))
    return list(range(begin, len(vertices)))


def object_of(corners, axes):
    centre = [sum(values) for values in zip(*corners)]
    length = math.sqrt(sum(value * value for value in centre))
    for k, axis in enumerate(axes):
        if sum(a * b for a, b in zip(centre, direction(*axis))) > CAP * length:
            return "eye_%d" % k
    return "body"


def main(mesh, kind):
    axes, vertices, objects = pmt_axes(), [], {}
    rows = []
    for row in range(ROWS + 1):
        radius, z = profile(row / ROWS)
        rows.append(add_row(vertices, 0, radius if 0 < row < ROWS else 0, z, COLUMNS))
    for triangle in body_of_rows(vertices, rows, COLUMNS):
        name = object_of([vertices[i] for i in triangle], axes)
        objects.setdefault(name, []).append(triangle)
    distance, radius, height = HARNESS
    tube = [(0, height), (radius, height), (radius, -height), (0, -height)]
    rows = [add_row(vertices, distance, r, z, 12) for r, z in tube]
    objects["harness"] = list(body_of_rows(vertices, rows, 12))
    with open(mesh, "w", encoding="ascii") as out:
        for vertex in vertices:
            out.write("v %.9g %.9g %.9g\n" % vertex)
        for name in sorted(objects):
            out.write("o %s\n" % name)
            for triangle in objects[name]:
                out.write("f %d %d %d\n" % tuple(i + 1 for i in triangle))
    with open(kind, "w", encoding="ascii") as out:
        out.write("shape: mesh\nradius: 0.27\nmesh: %s\nparts:\n  body: glass\n  harness: absorber\n" % mesh)
        for k in range(len(axes)):
            out.write("  eye_%d: %d\n" % (k, k))
        out.write("pmts:\n")
        for zenith, azimuth in axes:
            out.write("  - [%g, %g]\n" % (zenith, azimuth))


if __name__ == "__main__":
    main(*sys.argv[1:])
