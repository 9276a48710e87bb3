"""icestream.io: each format gives each particle once, at its place and time in m, ns and GeV, with its parent.

Promise: a made file of each form gives the same small table, a wrong value names file and event, and a run takes the table. To
join: a new format gets a maker in MAKERS. bench/results/2026-11-30-public-events.md has the public files that were read.
"""
import importlib
import json
import math
import random
import sys
import types

import icestream
import numpy as np
import pytest
from conftest import CONFIG
from icestream import io

LIGHT = 0.299792458  # m/ns
# A neutrino of 71 GeV that goes down makes a muon of 60 GeV and hadrons of 11 GeV at (10, -20, -300) m.
PLACE, DOWN = [10.0, -20.0, -300.0], [0.0, 0.0, -1.0]
EVENT = [(14, 71.0), (13, 60.0), (-2000001006, 11.0)]


def along(energy):
    return [energy, 0.0, 0.0, -energy]


def siren_record(**more):
    return {"vertex": [PLACE], "primary_type": [14], "primary_momentum": [along(71.0)], "parent_idx": [-1], "vertex_time": [5.0],
            "secondary_types": [[13, -2000001006]], "secondary_momenta": [[along(60.0), along(11.0)]],
            "secondary_times": [[5.0, 5.0]], **more}


def make_siren(path, place):
    path.write_text(json.dumps(siren_record(vertex=[place])) + "\n")


def make_siren_parquet(path, place):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([siren_record(vertex=[place])]), path)


def make_siren_hdf5(path, place):
    """As SIREN_Controller.SaveEvents does."""
    h5py, awkward = pytest.importorskip("h5py"), pytest.importorskip("awkward")
    with h5py.File(path, "w") as file:
        group = file.create_group("Events")
        form, length, _ = awkward.to_buffers(awkward.to_packed(awkward.Array([siren_record(vertex=[place])])), container=group)
        group.attrs["form"], group.attrs["length"] = form.to_json(), length


def make_genie(path, place):
    tracks = ["$ track %d %g 0 0 -1 %d" % (code, 1000 * energy, -(at == 0)) for at, (code, energy) in enumerate(EVENT)]
    path.write_text("\n".join(["$ begin", "$ nuance 1", "$ vertex %g %g %g 5e-9" % tuple(place), *tracks, "$ end", "$ stop", ""]))


def make_nuance(path, place):
    make_genie(path, [100 * part for part in place])
    path.write_text(path.read_text().replace("5e-9", "5"))


def write_tree(path, name, columns):
    uproot, awkward = pytest.importorskip("uproot"), pytest.importorskip("awkward")
    with uproot.recreate(path) as file:
        file[name] = {key: awkward.Array([value]) if isinstance(value, list) else np.array([value]) for key, value in columns.items()}


def make_gst(path, place):
    (neutrino, energy), (lepton, own), (hadron, rest) = EVENT
    write_tree(path, "gst", {
        "neu": neutrino, "Ev": energy, "pxv": 0.0, "pyv": 0.0, "pzv": -energy, "fspl": lepton, "El": own, "pxl": 0.0, "pyl": 0.0,
        "pzl": -own, "nf": 1, "pdgf": [hadron], "Ef": [rest], "pxf": [0.0], "pyf": [0.0], "pzf": [-rest], "vtxx": place[0],
        "vtxy": place[1], "vtxz": place[2], "vtxt": 5e-9})


def make_rootracker(path, place):
    write_tree(path, "gRooTracker", {
        "StdHepPdg": [code for code, _ in EVENT] + [1000080160], "StdHepStatus": [0, 1, 1, 15],
        "StdHepP4": [[0.0, 0.0, -energy, energy] for _, energy in EVENT] + [[0.0, 0.0, 0.0, -0.1]], "EvtVtx": [*place, 5e-9]})


def make_gseagen(path, place):
    columns = {"Pdg": 0, "E": 1, "Vx": place[0], "Vy": place[1], "Vz": place[2], "Dx": 0.0, "Dy": 0.0, "Dz": -1.0, "T": 5.0}
    fill = {"Pdg": [code for code, _ in EVENT], "E": [energy for _, energy in EVENT]}
    write_tree(path, "Events", {
        **{part + "_nu": fill.get(part, [value])[0] for part, value in columns.items()},
        **{part + "_tr": fill.get(part, [value] * 3)[1:] for part, value in columns.items()}})


def make_evt(path, place):
    """With codes of GEANT 3: 6 is a muon, 9 a pion."""
    head = "%g %g %g 0 0 -1" % tuple(place)
    path.write_text("start_run: 1\nend_event:\nstart_event: 1 1\nneutrino: 1 %s 71 5 0.1 0.2 1 14 2\ntrack_in: 1 %s 60 5 6 0\n"
                    "track_in: 2 %s 11 5 9\nhit: 1 2 3\nend_event:\n" % (head, head, head))


def make_corsika(path, place):
    """With PDG codes, as Corant 5 writes them."""
    make_evt(path, place)
    path.write_text(path.read_text().replace(" 5 6 0\n", " 5 13 0\n").replace(" 5 9\n", " 5 -211\n"))


def make_km3net(path, place):
    """km3io cannot write: its reader is replaced by one with the same fields. The fourth particle is no final state."""
    pytest.importorskip("awkward")
    path.write_text("ROOT")
    fields = {"id": [1, 2, 3, 4], "pdgid": [14, 13, -211, 111], "E": [71.0, 60.0, 11.0, 11.0], "t": [5.0] * 4,
              "len": [0.0, 0.0, -3.0, 0.0], "status": [100, 1, 1, 12], "mother_id": [-1, 1, 1, 1],
              **{"pos_" + axis: [part] * 4 for axis, part in zip("xyz", place)}, "dir_x": [0.0] * 4, "dir_y": [0.0] * 4,
              "dir_z": [-1.0] * 4}
    trees = types.SimpleNamespace(fields=list(fields), **{name: [np.array(values)] for name, values in fields.items()})

    class OfflineReader(list):
        def __init__(self, _):
            super().__init__([0])
            self.mc_trks = trees
    sys.modules["km3io"] = types.SimpleNamespace(OfflineReader=OfflineReader)


def make_leptoninjector(path, place):
    """The compound types of DataWriter.cxx. The energy of the muon is its momentum."""
    h5py = pytest.importorskip("h5py")
    kind = np.dtype([("initial", "?"), ("ParticleType", "<i4"), ("Position", "<f8", 3), ("Direction", "<f8", 2), ("Energy", "<f8")])
    with h5py.File(path, "w") as file:
        group = file.create_group("RangedInjector0")
        for part, (code, energy) in zip(("initial", "final_1", "final_2"), EVENT):
            momentum = math.sqrt(energy ** 2 - 0.105658374 ** 2) if code == 13 else energy
            group[part] = np.array([(part == "initial", code, place, (math.pi, 0.3), momentum)], kind)


def make_prometheus(path, place):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = {"type": 0, "energy": 1}
    truth = {"interaction": 1}
    for name, value in {"type": 0, "energy": 0, "zenith": math.pi, "azimuth": 0.0, **dict(zip("xyz", place))}.items():
        values = [particle[names[name]] if name in names else value for particle in EVENT]
        truth["initial_state_" + name], truth["final_state_" + name] = values[0], [float(part) for part in values[1:]]
    truth["final_state_parent"] = [0.0, 0.0]
    parquet.write_table(pyarrow.table({"mc_truth": [truth]}), path)


def make_hepmc3(path, place):
    pyhepmc = pytest.importorskip("pyhepmc")
    event = pyhepmc.GenEvent(pyhepmc.Units.GEV, pyhepmc.Units.CM)
    vertex = pyhepmc.GenVertex((*(100 * part for part in place), 100 * 5.0 * LIGHT))
    for at, (code, energy) in enumerate(EVENT):
        particle = pyhepmc.GenParticle((0, 0, -energy, energy), code, 1 if at else 4)
        (vertex.add_particle_out if at else vertex.add_particle_in)(particle)
    event.add_vertex(vertex)
    with pyhepmc.open(str(path), "w") as file:
        file.write(event)


def make_proposal(path, place):
    rows = ["event,type,energy,x,y,z,dx,dy,dz,time,length"]
    rows += [",".join(map(str, (0, code, 1000 * energy, *(100 * part for part in place), 0, 0, -1, 5e-9, "")))
             for code, energy in ((13, 60.0), (1000000009, 11.0))]
    path.write_text("\n".join(rows) + "\n")


MAKERS = {
    "corsika": (make_corsika, {"codes": "pdg"}), "evt": (make_evt, {}), "genie": (make_genie, {}), "genie-gst": (make_gst, {}),
    "genie-rootracker": (make_rootracker, {}), "gseagen": (make_gseagen, {}), "hepmc3": (make_hepmc3, {}),
    "km3net": (make_km3net, {}), "leptoninjector": (make_leptoninjector, {}), "nuance": (make_nuance, {}),
    "prometheus": (make_prometheus, {}), "proposal": (make_proposal, {}), "siren": (make_siren, {}),
    "siren-hdf5": (make_siren_hdf5, {}), "siren-parquet": (make_siren_parquet, {}),
}
TIMELESS = ("leptoninjector", "prometheus")


@pytest.fixture(autouse=True)
def own_modules(monkeypatch):
    if importlib.util.find_spec("km3io") is None or "km3io" in sys.modules:
        monkeypatch.setitem(sys.modules, "km3io", sys.modules.get("km3io"))
    yield
    sys.modules.pop("km3io", None)


def test_every_format_has_a_maker():
    assert set(MAKERS) == set(io.FORMATS)


@pytest.mark.parametrize("form", MAKERS)
def test_a_neutrino_its_muon_and_its_hadrons(form, tmp_path):
    make, options = MAKERS[form]
    path = tmp_path / ("events" + io.FORMATS[form].ending)
    make(path, PLACE)
    table = io.read(path, form, **options)
    assert table.dtype == io.PARTICLE and set(table["event"]) == {0}
    seen = table[table["listed"]]
    assert len(seen) == 2 and seen["energy"].tolist() == pytest.approx([60, 11], rel=1e-6)
    assert seen["type"][0] == 13 and seen["type"][1] in (-2000001006, -211)
    for row in seen:
        assert [row[axis] for axis in "xyz"] == pytest.approx(PLACE, abs=1e-6)
        assert [row["d" + axis] for axis in "xyz"] == pytest.approx(DOWN, abs=1e-6)
    assert seen["time"].tolist() == pytest.approx([0, 0] if form in TIMELESS else [5, 5], abs=1e-6)
    assert np.isnan(seen["length"]).all()
    if form != "proposal":
        assert table["type"][0] == 14 and table["parent"].tolist()[:3] == [-1, 0, 0] and not table["listed"][0]
    else:
        assert seen["parent"].tolist() == [-1, 0]
    listed = io.particles(table)
    assert [particle["energy"] for particle in listed] == pytest.approx([60, 11], rel=1e-6)


@pytest.mark.parametrize("form", MAKERS)
def test_a_vertex_that_is_too_far_names_the_file_and_the_place(form, tmp_path):
    make, options = MAKERS[form]
    path = tmp_path / "far"
    make(path, [0.0, 0.0, 3e4])
    with pytest.raises(icestream.InputError, match=r"far: .*: found (30000|3e\+06|3000000)"):
        io.read(path, form, **options)


def test_a_run_takes_the_table(tmp_path):
    path = tmp_path / "events.jsonl"
    make_siren(path, [10.0, -20.0, -300.0])
    table = io.read(path, "siren")
    hits = icestream.run(CONFIG, particles=table)
    assert hits.tobytes() == icestream.run(CONFIG, particles=io.particles(table)).tobytes() and len(hits) > 0
    assert hits.events.tolist() == [0]
    with open(tmp_path / "list.csv", "w", encoding="utf-8", newline="") as file:
        assert io.write_csv(io.rows_of(table), file) == 2
    assert icestream.run(CONFIG, particles=tmp_path / "list.csv").tobytes() == hits.tobytes()
    with pytest.raises(icestream.UsageError, match="expected a table with the dtype"):
        icestream.run(CONFIG, particles=np.zeros(3))


def test_trees_of_siren_have_parents_times_and_ways(tmp_path):
    """The muon of 60 GeV decays after 40 m."""
    record = siren_record(vertex=[PLACE, [10.0, -20.0, -340.0]], primary_type=[14, 13], primary_momentum=[along(71.0), along(60.0)],
                          parent_idx=[-1, 0], vertex_time=None, secondary_types=[[13, -2000001006], [11]],
                          secondary_momenta=[[along(60.0), along(11.0)], [along(20.0)]], secondary_times=None)
    path = tmp_path / "tree.jsonl"
    path.write_text(json.dumps(record))
    with pytest.warns(icestream.IcestreamWarning, match="1 charged particles fly 40 m"):
        table = io.read(path, "siren")
    assert table["type"].tolist() == [14, 13, -2000001006, 11] and table["parent"].tolist() == [-1, 0, 0, 1]
    assert table["listed"].tolist() == [False, False, True, True]
    assert table["time"][3] == pytest.approx(40 / LIGHT) and table["length"][1] == pytest.approx(40)
    assert io.read(path, "siren", ways=True)["listed"].tolist() == [False, True, True, True]


def test_products_of_a_tau_in_prometheus_end_its_track(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    truth = {"interaction": 1, "initial_state_type": 16, "initial_state_energy": 100.0, "final_state_type": [15.0, 11.0],
             "final_state_energy": [90.0, 30.0], "final_state_parent": [0.0, 1.0]}
    for name, first, final in (("zenith", 0.0, [0.0, 0.0]), ("azimuth", 0.0, [0.0, 0.0]), ("x", 0.0, [0.0, 0.0]),
                               ("y", 0.0, [0.0, 0.0]), ("z", 0.0, [0.0, 3.0])):
        truth["initial_state_" + name], truth["final_state_" + name] = first, final
    parquet.write_table(pyarrow.table({"mc_truth": [truth]}), tmp_path / "tau")
    with pytest.warns(icestream.IcestreamWarning, match="1 particles are products"):
        table = io.read(tmp_path / "tau", "prometheus")
    assert table["length"][1] == 3 and table["time"][2] == pytest.approx(3 / LIGHT) and table["parent"].tolist() == [-1, 0, 1]
    turned = {**truth, "final_state_zenith": [2.0, 2.0]}
    parquet.write_table(pyarrow.table({"mc_truth": [turned]}), tmp_path / "turned")
    with pytest.warns(icestream.IcestreamWarning, match="1 events have products that go elsewhere"):
        io.read(tmp_path / "turned", "prometheus")


def state(kind, energy, z, time=0.0, distance=0.0):
    """A ParticleState or StochasticLoss of PROPOSAL 7."""
    return types.SimpleNamespace(type=kind, energy=energy, time=time, propagated_distance=distance,
                                 position=types.SimpleNamespace(x=0.0, y=0.0, z=z), direction=types.SimpleNamespace(x=0.0, y=0.0, z=-1.0))


def test_objects_of_proposal():
    secondaries = types.SimpleNamespace(
        final_state=lambda: state(13, 106.0, -28000.0, 1e-6, 30000.0), stochastic_losses=lambda: [state(1000000002, 4e4, 1500.0, 1.67e-8)],
        decay_products=lambda: [state(11, 40.0, -28000.0, 1e-6)])
    start = state(13, 5e5, 2000.0)
    table = io.from_proposal([(1, 13, start, secondaries), (1, -13, start, secondaries), (4, 13, start, secondaries)])
    assert table["type"].tolist() == [13, -2000001001, 11, -13, -2000001001, 11, 13, -2000001001, 11]
    assert table["parent"].tolist() == [-1, 0, 0, -1, 3, 3, -1, 0, 0] and table["event"].tolist() == [1] * 6 + [4] * 3
    assert table["energy"][:3].tolist() == pytest.approx([500, 40, 0.04]) and table["z"][:3].tolist() == pytest.approx([20, 15, -280])
    assert table["time"][:3].tolist() == pytest.approx([0, 16.7, 1000]) and table["length"][0] == pytest.approx(300)
    assert io.particles(table)[1]["type"] == "brems"


WRONG = [
    ("evt", "start_event: 1 1\ntrack_in: 1 0 0 0 0 0 1 5 0 -13\n", "wrong: 2: track_in: code: found -13, expected a code of GEANT 3"),
    ("evt", "start_event: 1 1\ntrack_in: 1 0 0 0 0 0 2 5 0 6\n", "wrong: 2: direction: found a length of 2"),
    ("evt", "start_event: 1 1\ntrack_in: 1 0 0 0 0 0 1 5 0\n", "track_in: found 9 fields, expected 10"),
    ("evt", "start_event: 1 1\ntrack_in: 1 0 0 0 0 0 1 5 0 6\n", "wrong: 2: file: found its end, expected end_event"),
    ("corsika", "start_event: 1 1\ntrack_sealepton: 1 0 0\nend_event:\n", "file: found no track_in, expected track_in lines"),
    ("evt", "start_event: 1 1\ntrack_in: 1 0 0 nan 0 0 1 5 0 6\n", "position z: found nan, expected a number in m"),
    ("siren", "{}\n", "wrong: 1: record: found no primary_type"),
    ("siren-parquet", "text", "wrong: file: cannot read as siren-parquet"),
    ("leptoninjector", "text", "wrong: file: cannot read as leptoninjector"),
    ("genie-gst", "text", "wrong: file: cannot read as genie-gst"),
]


@pytest.mark.parametrize("form, text, message", WRONG)
def test_wrong_files_are_input_errors(form, text, message, tmp_path):
    for package in io.FORMATS[form].packages:
        pytest.importorskip(package)
    path = tmp_path / "wrong"
    path.write_text(text)
    with pytest.raises(icestream.InputError, match="(?s)" + message):
        io.read(path, form)


@pytest.mark.parametrize("form", ["genie-gst", "hepmc3", "leptoninjector", "prometheus", "siren-hdf5", "siren-parquet"])
def test_damaged_files_are_read_or_refused(form, tmp_path):
    """100 files with one to four other bytes or a missing end, with a fixed seed."""
    make, options = MAKERS[form]
    path = tmp_path / "damaged"
    make(path, PLACE)
    whole, stream, refused = path.read_bytes(), random.Random(42), 0
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(stream.randint(1, 4)):
            data[stream.randrange(len(data))] = stream.randrange(256)
        path.write_bytes(data[:stream.randrange(len(data))] if stream.random() < 0.1 else data)
        try:
            io.read(path, form, **options)
        except icestream.InputError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 10


def test_a_lost_event_of_hepmc3_is_an_error(tmp_path):
    path = tmp_path / "events.hepmc3"
    make_hepmc3(path, PLACE)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1] + lines[2:6]))
    with pytest.raises(icestream.InputError, match="found 1 that can be read, expected 2|cannot read as hepmc3"):
        io.read(path, "hepmc3")


def test_unknown_formats_and_missing_packages_say_what_to_do(tmp_path, monkeypatch):
    with pytest.raises(icestream.UsageError, match="format: found 'root', expected one of corsika, evt"):
        io.read(tmp_path / "a", "root")
    with pytest.raises(icestream.UsageError, match="format genie: got an unexpected keyword argument 'ways'"):
        io.read(tmp_path / "a", "genie", ways=True)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match="the format leptoninjector needs the package h5py.*pip install h5py"):
        io.read(tmp_path / "a", "leptoninjector")
