"""The surfaces of a detector, hits and paths of photons, as .vtp and .obj for programs that draw, such as ParaView and Blender.
docs/detectors.md says what the triangles are, and docs/files.md 13 how the numbers of points and cells are called."""
from __future__ import annotations

import base64
import os
import pathlib
import re
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from ._arrays import HIT, PATH_POINT, Table
from ._commands import Path, _call, _warn, geometry
from ._config import Config, Settings, encode, open_config, settings_of
from ._convert import needed
from ._folder import Folder
from ._library import TextStream, call, ffi, lib, usage
from .convert import written

Surface = Tuple[Any, Any, Any]  # points (m), corners of triangles, part of each triangle
GLASS, ABSORBER, CABLE = -1, -2, -3  # parts; from 0: the number of a PMT
WORDS = {"glass": GLASS, "absorber": ABSORBER, "cable": CABLE}
SIDES, RISES, WINDOW_SIDES, TUBE_SIDES = 24, 12, 12, 8
WINDOW_LIFT, WINDOW_RADIUS = 0.001, 0.05  # m
KINDS = {"f": "Float", "i": "Int", "u": "UInt"}  # of numbers in VTK
POINT_DATA = ("t_ns", "path_m", "absorption", "wavelength_nm", "point", "string", "module", "kind", "scatters")
OM_CONF = r"^[ \t]*[^#\s]\S*(?:[ \t]+[^#\s]\S*){3}[ \t]+(\S+)[ \t]+(\S+)(?:[ \t]+[^#\s]\S*){3}"  # Rr and Rz of a type


class Scene(NamedTuple):
    """Triangles ("Polys"), lines ("Lines") or dots ("Verts"). points: positions (m). cells: the numbers of the points of each
    cell, one cell after the other. ends: where each cell ends in `cells`. point_data, cell_data: numbers of each, by names."""

    kind: str
    points: Any
    cells: Any
    ends: Any
    point_data: Dict[str, Any]
    cell_data: Dict[str, Any]

    def write(self, path: Path, force: bool = False) -> None:
        """Writes a file .vtp, or .obj of surfaces. force: replaces an existing file. Raises OutputError."""
        is_obj = os.fspath(path).endswith(".obj") and "part" in self.cell_data
        if not is_obj and not os.fspath(path).endswith(".vtp"):
            raise usage("%s: found another ending, expected .vtp, or .obj of surfaces" % os.fspath(path))
        with written(path, force) as part, open(part, "w", encoding="ascii") as file:
            file.writelines(self._obj() if is_obj else self._vtp())

    def _vtp(self) -> Iterator[str]:
        counts = {"Points": len(self.points), "Verts": 0, "Lines": 0, "Strips": 0, "Polys": 0, self.kind: len(self.ends)}
        cells = {"connectivity": np.asarray(self.cells, np.int32), "offsets": np.asarray(self.ends, np.int32)}
        yield ('<?xml version="1.0"?>\n<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
               "<PolyData>\n<Piece%s>\n" % "".join(' NumberOf%s="%d"' % count for count in counts.items()))
        for element, arrays in {"Points": {"points": self.points}, "PointData": self.point_data, "CellData": self.cell_data,
                                self.kind: cells}.items():
            yield "<%s>\n" % element
            for name, rows in arrays.items():  # the number of the bytes and the bytes, in base64
                data = base64.b64encode(np.uint64(rows.nbytes).tobytes() + rows.tobytes()).decode()
                yield '<DataArray type="%s%d" Name="%s" NumberOfComponents="%d" format="binary">\n%s\n</DataArray>\n' % (
                    KINDS[rows.dtype.kind], 8 * rows.itemsize, name, rows.shape[1] if rows.ndim > 1 else 1, data)
            yield "</%s>\n" % element
        yield "</Piece>\n</PolyData>\n</VTKFile>\n"

    def _obj(self) -> Iterator[str]:
        """All points, and then an object for each module or cable, with a material for each of its parts."""
        yield "# icestream, m\n" + "v %.10g %.10g %.10g\n" * len(self.points) % tuple(self.points.ravel().tolist())
        keys, last = np.stack([self.cell_data[name].astype(int) for name in ("string", "module", "part")]), ""
        begins = np.flatnonzero(np.any(np.diff(keys, axis=1, prepend=keys[:, :1] - 1), axis=0))
        for begin, end in zip(begins, [*begins[1:], len(self.ends)]):
            string, module, part = keys[:, begin]
            name = "o string_%d_%s_%d\n" % (string, "cable" if part == CABLE else "module", module)
            faces = "f %d %d %d\n" * (end - begin) % tuple((self.cells[3 * begin:3 * end] + 1).tolist())
            yield (name if name != last else "") + "usemtl %s\n" % ([*WORDS][-1 - part] if part < 0 else "pmt_%d" % part) + faces
            last = name


def _vectors(rows: Table, prefix: str = "") -> Any:
    return np.stack([rows[prefix + name] for name in "xyz"], axis=1)


def paths(points: Table) -> Scene:
    """A line for each photon of the paths that icestream.trace() gave, or that a file of paths has."""
    if getattr(points, "dtype", None) != PATH_POINT or points.ndim != 1 or not np.isfinite(_vectors(points)).all():
        raise usage("points: found %r, expected the array of icestream.trace(), with finite x, y, z" % type(points).__name__)
    photon, is_first = ("event_id", "step_id", "photon_id"), (points["point"] == 0) | (np.arange(len(points)) == 0)
    for name in photon:
        is_first[1:] |= points[name][1:] != points[name][:-1]
    ends = np.append(np.flatnonzero(is_first), len(points))[1:]
    data = {name: points[name.split("_")[0]] for name in POINT_DATA}
    cell_data = {"fate" if name == "kind" else name: points[name][ends - 1] for name in (*photon, "kind")}
    return Scene("Lines", _vectors(points), np.arange(len(points)), ends, {**data, "direction": _vectors(points, "d")}, cell_data)


def hits(rows: Table, config: Config = None, *, settings: Settings = None) -> Scene:
    """A dot for each hit, where it is in the detector of the configuration; `impact_m` is where it is on its module."""
    if getattr(rows, "dtype", None) != HIT or rows.ndim != 1:
        raise usage("rows: found %r, expected an array of hits" % type(rows).__name__)
    rows = np.asarray(rows)
    modules = geometry(config, settings=settings)
    keys, wanted = ((table["string"].astype(np.uint32) << 16) + table["module"] for table in (modules, rows))
    order = np.argsort(keys)
    found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    strange = np.flatnonzero(keys[found] != wanted)
    if strange.size:
        raise usage("rows: row %d: found string %d, module %d, expected a module of the configured detector" % (
            strange[0], rows["string"][strange[0]], rows["module"][strange[0]]))
    data = {{"t": "t_ns", "wavelength": "wavelength_nm"}.get(name, name): rows[name] for name in HIT.names if name.lstrip("d") not in "xyz"}
    count = np.arange(len(rows))
    return Scene("Verts", _vectors(modules[found]) + _vectors(rows), count, count + 1,
                 {**data, "impact_m": _vectors(rows), "direction": _vectors(rows, "d")}, {})


def _joined(rings: Sequence[Any], part: int) -> Surface:
    """The triangles between rings of points, the lowest first; they look away from the axis. A ring may be a single point."""
    faces, first, side = [], 0, np.arange(max(map(len, rings)))
    for low, high in zip(rings, rings[1:]):
        (a, b), (d, c) = ((side % len(ring), (side + 1) % len(ring)) for ring in (low, high))
        faces.append(first + np.stack([a, b, len(low) + c, a, len(low) + c, len(low) + d], axis=1).reshape(-1, 3))
        first += len(low)
    corners = np.concatenate(faces)
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    return np.concatenate(rings), corners, np.full(len(corners), part)


def _merged(parts: Sequence[Surface]) -> Surface:
    firsts = np.cumsum([0, *(len(points) for points, _, _ in parts)])
    moved = [(points, corners + first, numbers) for (points, corners, numbers), first in zip(parts, firsts)]
    return tuple(map(np.concatenate, zip(*moved)))  # type: ignore[return-value]


def _ring(radius: float, sides: int, axis: Any = (0.0, 0.0, 1.0)) -> Any:
    """Points around an axis, which tables of PMTs have in single precision; one point for the radius 0."""
    u = np.array([-axis[1], axis[0], 0]) / np.hypot(*axis[:2]) if np.hypot(*axis[:2]) >= 1e-6 else np.array([1.0, 0, 0])
    angles = 2 * np.pi * np.arange(sides if radius > 0 else 1) / sides
    return radius * (np.outer(np.cos(angles), u) + np.outer(np.sin(angles), np.cross(axis, u)))


class _Type:
    """A type of modules. about: a value of detector.types. reach: the radius of the sphere around a module (m)."""

    def __init__(self, about: Mapping[str, Any], reach: float) -> None:
        self.about, self.reach, self.shape = about, reach, about.get("shape", "sphere")
        is_round = self.shape in ("sphere", "mesh")
        self.radius, self.height = (reach, reach) if is_round else (float(about["radius"]), float(about["half_height"]))

    def body(self) -> Surface:
        """The body in the frame of the module. The vertices of a polyhedron lie on the true surface."""
        r, h = self.radius, self.height
        profile = [(0.0, -h), (r, -h), (r, h), (0.0, h)]
        if self.shape == "cylinder" and self.about.get("open_ends") in (True, "true"):
            profile = profile[1:3]
        elif self.shape != "cylinder":
            middle = h - r if self.shape == "capsule" else 0.0  # of the half-spheres of a capsule
            angles = np.linspace(0, np.pi, RISES + 1)[1:-1]
            halves = [(a, -middle) for a in angles[:RISES // 2]] + [(a, middle) for a in angles[RISES // 2 - (middle > 0):]]
            profile[1:3] = [(r * np.sin(a), -(h - abs(z)) * np.cos(a) + z) for a, z in halves]
        return _joined([_ring(radius, SIDES) + (0, 0, z) for radius, z in profile], GLASS)

    def window(self, centre: Any, axis: Any, radius: float, part: int) -> Surface:
        """The window of a PMT: a cap on the glass; of a mesh it is flat."""
        widest, away, rings = radius if radius > 0 else min(WINDOW_RADIUS, 0.5 * self.reach), float(np.linalg.norm(centre)), []
        for share in (1.0, 0.5, 0.0):
            points = centre + _ring(widest * share, WINDOW_SIDES, axis)
            if self.shape != "mesh" and away > 0:  # the glass falls back behind the tangent plane
                points = self.on_glass(points - (1 - np.sqrt(max(0, 1 - (widest * share / away) ** 2))) * centre)
            rings.append(points + WINDOW_LIFT * axis)
        return _joined(rings, part)

    def on_glass(self, points: Any) -> Any:
        """Where the lines from the centre through points meet the surface."""
        axes = points / np.linalg.norm(points, axis=1, keepdims=True)
        across, up = np.maximum(np.hypot(axes[:, 0], axes[:, 1]), 1e-300), np.maximum(np.abs(axes[:, 2]), 1e-300)
        side, end = self.radius / across, self.height - self.radius
        over = end * up + np.sqrt(np.maximum(0, self.radius**2 - (end * across) ** 2))
        shapes = {"spheroid": 1 / np.hypot(across / self.radius, up / self.height),
                  "cylinder": np.minimum(side, self.height / up), "capsule": np.where(side * up <= end, side, over)}
        return shapes.get(self.shape, np.full(len(points), self.radius))[:, np.newaxis] * axes


def _mesh_of(about: Mapping[str, Any]) -> Surface:
    """The triangles of a file. Objects and materials of an .obj say what their parts are; another file is one object."""
    points, corners, found = [], [], []  # type: List[Any], List[Any], List[Any]
    parts = {str(name): WORDS.get(part, part) for name, part in about.get("parts", {"*": "glass"}).items()}
    if not about["mesh"].lower().endswith(".obj"):
        mesh = needed("meshio", "a mesh of this format").read(about["mesh"])
        part, triangles = parts.get("*", next(iter(parts.values()))), mesh.cells_dict["triangle"]
        return mesh.points * float(about.get("unit", 1)), triangles, np.full(len(triangles), part)
    names = {"o": "", "usemtl": ""}
    for word, *rest in filter(None, map(str.split, pathlib.Path(about["mesh"]).read_text("utf-8", "replace").splitlines())):
        if word == "v":
            points.append([float(number) for number in rest[:3]])
        elif word in ("o", "g", "usemtl"):
            names["o" if word == "g" else word] = " ".join(rest)
        elif word == "f":
            numbers = (int(corner.split("/")[0]) for corner in rest)
            at = [number - 1 if number > 0 else len(points) + number for number in numbers]
            corners += [(at[0], at[k], at[k + 1]) for k in range(1, len(at) - 1)]
            found += [parts.get(names["o"], parts.get(names["usemtl"], parts.get("*", GLASS)))] * (len(at) - 2)
    return np.array(points) * float(about.get("unit", 1)), np.array(corners), np.array(found)


def _tables_of(chosen: Any) -> Tuple[Table, Any, Dict[str, Any], List[Dict[str, Any]]]:
    """The rows of modules and PMTs, the quaternion of each module, the keys of the detector, and the types by numbers."""
    yaml = needed("yaml", "icestream.scene", "pyyaml")
    with Folder() as folder, TextStream() as report, TextStream() as out:
        table, rows = os.path.join(folder, "modules.csv"), os.path.join(folder, "pmts.npy")
        _call(folder, lib.icestream_geometry, chosen, encode(table, "path"), True, report.stream)
        _call(folder, lib.icestream_geometry_pmts, chosen, encode(rows, "path"), True, ffi.NULL)
        call(lib.icestream_config_print, chosen, out.stream)
        _warn(report.text())
        (names, *lines), pmts = pathlib.Path(table).read_text("utf-8", "replace").splitlines(), np.load(rows)
        about = yaml.safe_load("".join(re.findall(r"^(?:detector|ice):\n(?:  .*\n)*", out.text(), flags=re.M)))
    turns = [line.rsplit(",", 4)[1:] if names.endswith("qw,qx,qy,qz") else (1, 0, 0, 0) for line in lines]
    types, conf = list(about["detector"]["types"].values()), about["detector"]["om_conf"]
    for number, path in enumerate(types):
        if isinstance(path, str):
            given = yaml.safe_load(pathlib.Path(path).read_text("utf-8"))
            types[number] = {**given, "mesh": os.path.join(os.path.dirname(path), str(given.get("mesh")))}
    conf = os.path.join(about["ice"].get("directory") or "none", "om.conf") if conf == "auto" else conf
    text = pathlib.Path(conf).read_text("utf-8", "replace") if not types and os.path.isfile(conf) else ""
    for r, h in (map(float, sizes) for sizes in re.findall(OM_CONF, text, re.M)):
        shape = "cylinder" if h < 0 else "sphere" if h == r else "spheroid"
        types.append({"shape": shape, "radius": r, "half_height": abs(h), "open_ends": h < 0})
    return pmts, np.asarray(turns, np.float64), about["detector"], types


def _turned(turn: Any, points: Any) -> Any:
    """Points in the frame of the detector, by the quaternion (w, x, y, z) of a module."""
    twice = 2 * np.cross(turn[1:], points)
    return points + turn[0] * twice + np.cross(turn[1:], twice)


def _cables(modules: Table, types: Sequence[_Type], about: Dict[str, Any]) -> Iterator[Tuple[int, Surface]]:
    """The string and the tube of each cable (physics.md 8.15)."""
    radius, azimuth, way = float(about["cable_radius"]), np.radians(float(about["string_cable_azimuth"])), about["string_cables"]
    order: Any = np.lexsort([modules["module"], modules["z"], modules["string"]]) if way != "none" else []
    for pair in map(list, zip(order, order[1:])):
        # Of a mesh, and of a body whose axis is not vertical, the sphere around it counts.
        is_vertical = np.hypot(modules["dx"][pair], modules["dy"][pair]) < 1e-6
        sizes = [(types[k].radius, types[k].height) if good else (types[k].reach,) * 2 for k, good in zip(pair, is_vertical)]
        begin, end = _vectors(modules[pair])
        along = (end - begin) / np.linalg.norm(end - begin)
        aside = (max(sizes[0][0], sizes[1][0]) + radius) * np.array([np.cos(azimuth), np.sin(azimuth), 0])
        begin, end = (begin + aside, end + aside) if way == "side" else (begin + sizes[0][1] * along, end - sizes[1][1] * along)
        if modules["string"][pair[0]] == modules["string"][pair[1]]:
            rings = [at + _ring(size, TUBE_SIDES, along) for size, at in ((0, begin), (radius, begin), (radius, end), (0, end))]
            yield modules["string"][pair[0]], _joined(rings, CABLE)


def surfaces(config: Config = None, *, settings: Settings = None) -> Scene:
    """The modules, PMTs and cables of a configuration as triangles. Each has the numbers string, module, type and part: the
    number of a PMT, -1 glass, -2 an absorber of a mesh, -3 a cable, whose `module` counts cables. Needs pyyaml."""
    rows, turns, about, given = _tables_of(open_config(config, settings_of(settings)))
    begins = np.flatnonzero(rows["pmt"] < 0)
    modules, numbers, types, shapes = rows[begins], rows["type"][begins].tolist(), {}, {}
    for number in sorted(set(numbers)):
        k = numbers.index(number)  # a module of this type, whose PMTs are taken to its own frame
        kind = types[number] = _Type(given[number] if number < len(given) else {}, float(modules["radius"][k]))
        pmts, back = rows[begins[k] + 1:[*begins, len(rows)][k + 1]], turns[k] * (1, -1, -1, -1)
        centres, axes = _turned(back, _vectors(pmts) - _vectors(modules[[k]])), _turned(back, _vectors(pmts, "d"))
        body = _mesh_of(kind.about) if kind.shape == "mesh" else kind.body()
        windows = zip(centres, axes, pmts["radius"].tolist(), range(len(pmts))) if np.all(body[2] < 0) else ()
        shapes[number] = _merged([body, *(kind.window(*window) for window in windows)])
    owners = modules[["string", "module", "type"]].tolist()
    placed = [(_turned(turn, shapes[number][0]) + place, *shapes[number][1:])
              for number, turn, place in zip(numbers, turns, _vectors(modules))]
    for string, tube in _cables(modules, [types[number] for number in numbers], about):
        owners.append((string, len(placed) - len(modules) & 0xffff, 0))
        placed.append(tube)
    points, corners, parts = _merged(placed)
    names = np.repeat(np.array(owners, np.uint16), [len(surface[1]) for surface in placed], axis=0).T
    return Scene("Polys", points, corners.ravel(), 3 * np.arange(1, len(corners) + 1), {},
                 {**dict(zip(("string", "module", "type"), names)), "part": parts.astype(np.int16)})
