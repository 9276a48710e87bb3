"""Surfaces, hits and paths as files for programs that draw. Surfaces are closed and have the size of the true bodies."""
import base64
import json
import xml.etree.ElementTree as xml

import icestream
import numpy as np
import pytest
from conftest import CONFIG

TYPES = {
    "ball": {"shape": "sphere", "radius": 0.2, "pmts": [{"zenith": 90, "azimuth": 0, "radius": 0.05}]},
    "egg": {"shape": "spheroid", "radius": 0.15, "half_height": 0.27, "pmts": [[180, 0], [40, 70]]},
    "pill": {"shape": "capsule", "radius": 0.18, "half_height": 0.3, "pmts": [[180, 0], [60, 30], [90, 120]], "pmt_radius": 0.04},
    "tube": {"shape": "cylinder", "radius": 0.1, "half_height": 0.4, "pmts": [[90, 10], [20, 0]], "pmt_radius": 0.02},
    "open": {"shape": "cylinder", "radius": 0.1, "half_height": 0.4, "open_ends": True},
}
MODULES = """string,module,x,y,z,type,zenith,azimuth,roll
1,1,0,0,0,ball,0,0,90
1,2,0,0,-17,egg,0,0,0
1,3,0.5,0,-34,pill,30,40,50
2,1,3,0,5,pill,0,0,0
3,1,6,0,0,tube,0,0,0
4,1,9,0,0,open,0,0,0
"""


def configuration(folder, **detector):
    (folder / "modules.csv").write_text(MODULES, encoding="utf-8")
    return {"detector": {"file": str(folder / "modules.csv"), "types": TYPES, **detector}}


@pytest.fixture(name="surfaces")
def make_surfaces():
    pytest.importorskip("yaml", reason="surfaces need pyyaml")
    return icestream.scene.surfaces


def triangles_of(scene):
    """The corners of each triangle, and its object and material in an .obj."""
    names = zip(*(scene.cell_data[name].tolist() for name in ("string", "module", "part")))
    materials = {-1: "glass", -2: "absorber", -3: "cable"}
    return scene.points[scene.cells.reshape(-1, 3)], [
        ("string_%d_%s_%d" % (string, "cable" if part == -3 else "module", module), materials.get(part, "pmt_%d" % part))
        for string, module, part in names]


def read_obj(path):
    points, triangles, names, name, material = [], [], [], "", ""
    with open(path, encoding="ascii") as file:
        for word, *rest in map(str.split, file):
            if word == "v":
                points.append([float(number) for number in rest])
            elif word == "o":
                name = rest[0]
            elif word == "usemtl":
                material = rest[0]
            elif word == "f":
                triangles.append([int(number) - 1 for number in rest])
                names.append((name, material))
    return np.array(points)[np.array(triangles)], names


def read_vtp(path):
    """The arrays of the only piece, with its numbers of things."""
    piece, = xml.parse(path).getroot().iter("Piece")
    arrays = {}
    for array in piece.iter("DataArray"):
        data = base64.b64decode(array.text)
        kind = {"Float": "f", "Int": "i", "UInt": "u"}[array.get("type").rstrip("0123456789")]
        values = np.frombuffer(data[8:], "<%s%d" % (kind, int(array.get("type").lstrip("FloatUInt")) // 8))
        assert int.from_bytes(data[:8], "little") == len(data) - 8
        arrays[array.get("Name")] = values if array.get("NumberOfComponents") == "1" else values.reshape(len(values) // 3, 3)
    return {key: int(value) for key, value in piece.attrib.items() if value != "0"}, arrays


def areas(triangles):
    return np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1) / 2


def volume(triangles, names, wanted):
    """The volume within the triangles of an object and material, and how far these are from being closed."""
    some = triangles[[name == wanted for name in names]]
    some = some - some[0, 0]
    normals = np.cross(some[:, 1] - some[:, 0], some[:, 2] - some[:, 0])
    return np.einsum("ij,ij->", some[:, 0], normals) / 6, np.abs(normals.sum(axis=0)).max()


def test_bodies_are_closed_and_have_the_true_size(surfaces, tmp_path):
    """A polyhedron within a body is a little smaller: at most 5 % with 24 sides and 12 steps."""
    scene = surfaces(configuration(tmp_path, string_cables="straight", cable_radius=0.02))
    triangles, names = triangles_of(scene)
    for name, material, true in (("string_1_module_1", "glass", 4 / 3 * np.pi * 0.2**3),
                                 ("string_1_module_2", "glass", 4 / 3 * np.pi * 0.15**2 * 0.27),
                                 ("string_1_module_3", "glass", np.pi * 0.18**2 * (4 / 3 * 0.18 + 0.24)),
                                 ("string_2_module_1", "glass", np.pi * 0.18**2 * (4 / 3 * 0.18 + 0.24)),
                                 ("string_3_module_1", "glass", np.pi * 0.1**2 * 0.8),
                                 ("string_1_cable_1", "cable", 0.9003 * np.pi * 0.02**2 * (17 - 0.2 - 0.27))):
        found, gap = volume(triangles, names, (name, material))
        assert 0.95 < found / true < 1.0001 and gap < 1e-9, name
    tube = triangles[[name == ("string_4_module_1", "glass") for name in names]]
    assert len(tube) == 48 and areas(tube).sum() == pytest.approx(2 * np.pi * 0.1 * 0.8, rel=0.01)
    # The middle of a window is one millimetre before the glass; the ball is turned by 90 degrees.
    window = triangles[[name == ("string_1_module_1", "pmt_0") for name in names]].reshape(-1, 3)
    assert np.abs(window - (0, 0.201, 0)).sum(axis=1).min() < 1e-6
    assert np.linalg.norm(window - window.mean(axis=0), axis=1).max() == pytest.approx(0.05, rel=0.1)


def test_a_mesh_keeps_its_parts(surfaces, tmp_path):
    surfaces(configuration(tmp_path)).write(tmp_path / "all.obj")
    triangles, names = read_obj(tmp_path / "all.obj")
    kept = [k for k, name in enumerate(names) if name[0] == "string_2_module_1"]
    surfaces(configuration(tmp_path, types={"pill": TYPES["pill"]}, file=one_module(tmp_path))).write(tmp_path / "pill.obj")
    mesh = {"shape": "mesh", "radius": 0.31, "mesh": "pill.obj", "parts": {"pmt_0": 0, "pmt_1": 1, "pmt_2": 2, "*": "glass"},
            "pmts": TYPES["pill"]["pmts"]}
    (tmp_path / "pill.yaml").write_text(json.dumps(mesh), encoding="utf-8")
    try:
        with pytest.warns(icestream.IcestreamWarning, match="open edges"):
            again = surfaces({"detector": {"file": one_module(tmp_path), "types": {"pill": str(tmp_path / "pill.yaml")}}})
    except icestream.ConfigError as error:
        pytest.skip(str(error))  # built without Assimp
    found, own_names = triangles_of(again)
    assert own_names == [names[k] for k in kept]
    assert areas(found) == pytest.approx(areas(triangles[kept]), rel=1e-4) and (found.max(axis=(0, 1)) < 0.31).all()


def one_module(folder):
    (folder / "one.csv").write_text("string,module,x,y,z,type\n2,1,0,0,0,pill\n", encoding="utf-8")
    return str(folder / "one.csv")


def test_other_sources_of_types(surfaces, tmp_path):
    """Without types modules are spheres, and om.conf of ppc has its own shapes."""
    assert len(surfaces({"detector": {"file": plain(tmp_path)}}).ends) == 2 * 24 * 11
    conf, where = tmp_path / "om.conf", tmp_path / "om.map"
    conf.write_text("# name number area beta Rr Rz num zenith azimuth\nDEgg -1 1.0 0.5 0.15 0.267 2 180 0\n0 0\n"
                    "WOM 5 1.0 0.5 0.05 -0.4 1 180 0\n", encoding="utf-8")
    where.write_text("1 2 5\n", encoding="utf-8")
    scene = surfaces({"detector": {"file": plain(tmp_path, 2), "om_conf": str(conf), "om_map": str(where)}})
    triangles, names = triangles_of(scene)
    assert volume(triangles, names, ("string_1_module_1", "glass"))[0] == pytest.approx(4 / 3 * np.pi * 0.15**2 * 0.267, rel=0.05)
    assert sum(name == ("string_1_module_2", "glass") for name in names) == 48
    assert set(scene.cell_data["type"].tolist()) == {0, 1}


def plain(folder, count=1):
    rows = "".join("1,%d,0,0,%d\n" % (k + 1, -9 * k) for k in range(count))
    (folder / "plain.csv").write_text("string,module,x,y,z\n" + rows, encoding="utf-8")
    return str(folder / "plain.csv")


def test_vtp_has_the_numbers_of_surfaces(surfaces, tmp_path):
    scene = surfaces(configuration(tmp_path, string_cables="side"))
    scene.write(tmp_path / "a.vtp")
    counts, arrays = read_vtp(tmp_path / "a.vtp")
    assert counts == {"NumberOfPoints": len(scene.points), "NumberOfPolys": len(scene.ends)}
    assert arrays["points"].tobytes() == scene.points.tobytes() and (arrays["connectivity"] == scene.cells).all()
    assert (arrays["offsets"] == np.arange(3, 3 * len(scene.ends) + 1, 3)).all()
    for name, kind in (("string", "<u2"), ("module", "<u2"), ("type", "<u2"), ("part", "<i2")):
        assert arrays[name].dtype.str == kind and (arrays[name] == scene.cell_data[name]).all()


def test_hits_become_dots(tmp_path, steps):
    hits = icestream.run(CONFIG, steps)
    icestream.scene.hits(hits, CONFIG).write(tmp_path / "a.vtp")
    counts, arrays = read_vtp(tmp_path / "a.vtp")
    assert counts == {"NumberOfPoints": len(hits), "NumberOfVerts": len(hits)} and len(hits) > 0
    place = {(row["string"], row["module"]): [row[axis] for axis in "xyz"] for row in icestream.geometry(CONFIG)}
    for k, hit in enumerate(np.asarray(hits)):
        centre = np.array(place[hit["string"], hit["module"]])
        assert np.abs(arrays["points"][k] - centre - [hit[axis] for axis in "xyz"]).max() < 1e-9
    for name in ("event_id", "t_ns", "wavelength_nm", "weight", "step_id", "photon_id", "string", "module", "pmt", "scatters"):
        assert arrays[name].tobytes() == np.asarray(hits)[name.split("_ns")[0].split("_nm")[0]].tobytes()
    assert (arrays["impact_m"] == np.stack([hits[axis] for axis in "xyz"], axis=1)).all()
    far = np.asarray(hits)[:2].copy()
    far["string"][1] = 9999
    with pytest.raises(icestream.UsageError, match="row 1: found string 9999, module"):
        icestream.scene.hits(far, CONFIG)
    with pytest.raises(icestream.UsageError, match="expected an array of hits"):
        icestream.scene.hits(steps, CONFIG)


def test_modules_with_types_have_positions(tmp_path):
    modules = icestream.geometry(configuration(tmp_path))
    assert modules["z"].tolist() == [0, -17, -34, 5, 0, 0]


def test_paths_become_lines(tmp_path, steps):
    points = icestream.trace(CONFIG, icestream.run(CONFIG, steps)[:5], steps=steps)
    icestream.scene.paths(points).write(tmp_path / "a.vtp")
    counts, arrays = read_vtp(tmp_path / "a.vtp")
    ends = np.append(np.flatnonzero(points["point"] == 0)[1:], len(points))
    assert counts == {"NumberOfPoints": len(points), "NumberOfLines": 5} and (arrays["offsets"] == ends).all()
    assert (arrays["points"] == np.stack([points[name] for name in "xyz"], axis=1)).all()
    assert (arrays["direction"] == np.stack([points["d" + name] for name in "xyz"], axis=1)).all()
    for name in ("t_ns", "path_m", "absorption", "wavelength_nm", "point", "string", "module", "kind", "scatters"):
        field = points[name.split("_")[0]]
        assert arrays[name].tobytes() == field.tobytes() and arrays[name].dtype == field.dtype
    assert (arrays["fate"] == points["kind"][ends - 1]).all() and (arrays["photon_id"] == points["photon_id"][ends - 1]).all()
    with pytest.raises(icestream.OutputError, match="a.vtp: found an existing file"):
        icestream.scene.paths(points).write(tmp_path / "a.vtp")
    icestream.scene.paths(points[:0]).write(tmp_path / "a.vtp", force=True)
    assert read_vtp(tmp_path / "a.vtp")[0] == {}
    for call in (lambda: icestream.scene.paths(points).write(tmp_path / "a.obj"), lambda: icestream.scene.paths(steps)):
        with pytest.raises(icestream.UsageError, match="found .*, expected"):
            call()
    points["x"][2] = np.nan
    with pytest.raises(icestream.UsageError, match="finite"):
        icestream.scene.paths(points)


def test_faults_of_a_configuration_are_those_of_the_program(surfaces):
    with pytest.raises(icestream.ConfigError, match="missing.csv"):
        surfaces({"detector": {"file": "missing.csv"}})
