"""Photon tables: what the class reads, cuts, adds up, compares, draws and writes.

The digests and numbers called GOLDEN are those of the actions slice, project and compare that `icestream table` had in version
0.2.0. tests/cli/table/check_tables.py makes the tables, and reads what is written as h5py, hist, astropy and photospline do.
"""
import hashlib
import json
import math
import os
import shutil
import sys

import icestream
import numpy as np
import pytest
from icestream import _table_file
from icestream.tables import Table, compare, permutation_test

CHECKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cli", "table")
if not os.path.exists(os.path.join(CHECKS, "check_tables.py")):
    pytest.skip("there is no %s/check_tables.py: this is not the whole repository" % CHECKS, allow_module_level=True)
pytest.importorskip("crc32c")
sys.path.insert(0, CHECKS)
import check_tables  # noqa: E402 (its folder must be known first)
import table_file  # noqa: E402

GOLDEN = [
    ("squares", lambda table: table.slice(azimuth=61, t=(25, 75)), "28c1ea9b2923e42b3a52e5492eea6e73"),
    ("squares", lambda table: table.slice(r=(None, 2), cosine=(0, None)), "85e3328c3cccd507ae53f254281e74e9"),
    ("cylinder", lambda table: table.slice(z=-0.5), "ca8e75b1aee1d4170f584a8e722afaa4"),
    ("cylinder", lambda table: table.slice(azimuth=(None, math.pi * 2 / 3)), "20a5fbe3625e9148be7b57490d727483"),
    ("squares", lambda table: table.project("t", "r"), "2683071744eb0d3c7e5cb147f05c7d6f"),
    ("merged", lambda table: table.project("cosine", "azimuth", "t", "r"), "77cd435fff78be02aecad9cc745a0e82"),
    ("cylinder", lambda table: table.project("rho", "azimuth", "z"), "173f8b1dcb4a8a72a040699f238f3216"),
]
GOLDEN_SPLITS = [
    (range(10), range(10, 20), (77917, 100000), 318.941, 2.196, 279),
    (range(11), range(11, 20), (92206, 100000), 296.432, 2.244, 461),
    (range(9), range(9, 20), (79917, 100000), 315.505, 2.584, 80),
    (range(3), range(3, 10), (96, 120), 301.327, 2.351, 331),
    (range(0, 20, 3), [k for k in range(20) if k % 3], (1, 77520), 3450.72, 4.12, 105),
]


@pytest.fixture(name="kept", scope="module")
def make_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(name="tables")
def copy_tables(program, kept):
    """In the working directory: tables of any numbers, and made.npy, cylindrical.npy of photons. They are made once."""
    if not os.listdir(kept):
        make_tables(program)
        shutil.copytree(".", kept, dirs_exist_ok=True)
    shutil.copytree(kept, ".", dirs_exist_ok=True)


def make_tables(program):
    check_tables.make(".")
    assert program("table", "merge", "a.npy", "b.npy", "c.npy", "-o", "merged.npy").returncode == 0
    common = ["tabulate", "-s", "device.backend=cpu", "-s", "device.threads=1", "-s", "workload.kind=point", "-s",
              "workload.steps=10"]
    made = program(*common, "-s", "workload.photons_per_step=200", "-s", "stages.tabulate=spherical", "-s", "table.squares=true",
                   "-s", "table.acceptance=detector", "-s", "light.acceptance=none", "-o", "made.npy", "-s",
                   "table.axes=[{name: r, from: 0, to: 100, bins: 10, power: 2}, {name: azimuth, from: 0, to: 180, bins: 4}, "
                   "{name: cosine, from: -1, to: 1, bins: 5}, {name: delay, from: 0, to: 2000, bins: 8, power: 2}]")
    assert made.returncode == 0, made.stderr
    # Squares from the middle of a MiB on, and a whole azimuth.
    made = program(*common, "-s", "workload.photons_per_step=10", "-s", "stages.tabulate=cylindrical", "-s", "table.squares=true",
                   "-s", "table.azimuth=full", "-o", "cylindrical.npy", "-s",
                   "table.axes=[{name: rho, from: 0, to: 150, bins: 20, power: 3}, {name: azimuth, from: 0, to: 6.283185307179586"
                   ", bins: 8}, {name: z, from: -100, to: 100, bins: 20}, {name: delay, from: 0, to: 1000, bins: 30, power: 2}]")
    assert made.returncode == 0, made.stderr


def content(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, *numbers, **changes):
    with open(name, "wb") as file:
        file.write(table_file.table(*numbers, **changes))


def test_a_table_has_what_its_file_says(tables, program):
    table = Table("squares.npy")
    sums = np.load("squares.npy")
    about = json.loads(program("info", "--json", "squares.npy").stdout)
    assert (table.sums == sums[0]).all() and (table.squares == sums[1]).all() and table.sums.dtype == np.int64
    assert (table.values == sums[0][1:-1, 1:-1, 1:-1, 1:-1] * 2.0 ** -32).all() and table.values.dtype == np.float64
    assert (table.variances == sums[1][1:-1, 1:-1, 1:-1, 1:-1] * 2.0 ** -32).all()
    assert (table.photons, table.weight, table.metadata) == (100, 50.5, about["metadata"])
    assert (table.values.sum(), table.outside) == pytest.approx((about["sum_inside"], about["sum_outside"]))
    assert [(axis.name, axis.unit, axis.kind) for axis in table.axes] == [
        ("r", "m", "power"), ("azimuth", "deg", "regular"), ("cosine", "1", "regular"), ("t", "ns", "regular")]
    assert table.axes[0].edges.tolist() == pytest.approx([0, 2, 8]) and table.axes[3].edges.tolist() == [0, 25, 50, 75, 100]
    assert repr(table) == "<Table squares.npy: spherical, r 2, azimuth 3, cosine 2, t 4 bins, 100 photons>"
    with pytest.raises(ValueError):
        table.sums[:] = 0
    assert Table("merged.npy").squares is None and Table("merged.npy").variances is None


@pytest.mark.parametrize("name", ["made", "cylindrical", "merged"])
def test_a_table_is_saved_with_the_bytes_of_the_program(tables, name):
    Table(name + ".npy").save("again.npy")
    assert content("again.npy") == content(name + ".npy")
    table = Table("again.npy")
    table.save("again.npy")             # over the file that is mapped
    assert content("again.npy") == content(name + ".npy") and (table.sums == Table(name + ".npy").sums).all()


@pytest.mark.parametrize("name, change, digest", GOLDEN)
def test_smaller_tables_have_the_bytes_of_the_program(tables, program, name, change, digest):
    change(Table(name + ".npy")).save("small.npy")
    producer = b'"icestream %s"' % icestream.__version__.encode()
    assert hashlib.sha256(content("small.npy")[:-32].replace(producer, b'"icestream"')).hexdigest()[:32] == digest
    assert program("table", "info", "small.npy").returncode == 0


def test_slices_and_projections_keep_all_light(tables):
    Table("merged.npy").project("r", "t").save("rt.npy")
    Table("merged.npy").slice(azimuth=61, t=(25, 75)).save("slice.npy")
    check_tables.check_numpy(".")
    check_tables.check_merged(".")
    made = Table("made.npy")
    assert made.slice(r=(None, None), delay=(None, made.axes[3].edges[4])).sums.sum() == made.sums.sum()
    assert made.project("delay").squares.tolist() == made.squares.sum(axis=(0, 1, 2)).tolist()


def test_smaller_tables_add_up_to_that_of_the_sum(tables, program):
    for name in ("a", "b", "c", "merged"):
        Table(name + ".npy").slice(cosine=(0, None)).project("t", "cosine").save("small-%s.npy" % name)
    assert program("table", "merge", "small-c.npy", "small-a.npy", "small-b.npy", "-o", "small.npy").returncode == 0
    assert content("small.npy") == content("small-merged.npy")


def test_the_geometry_stays_only_if_volumes_are_right(tables):
    table = Table("cylindrical.npy")
    full, half = 2 * math.pi, math.pi
    about = [(table.slice(azimuth=(0, half)), "custom"), (table.slice(azimuth=(0, full * 5 / 8)), "cylindrical"),
             (table.slice(z=5), "custom"), (table.slice(delay=5), "cylindrical"),
             (table.project("rho", "azimuth", "z"), "cylindrical"), (table.project("azimuth", "rho", "z"), "custom"),
             (Table("made.npy").slice(azimuth=(0, 90)), "spherical")]
    assert [small.metadata["geometry"] for small, _ in about] == [geometry for _, geometry in about]
    assert table.volumes().sum() == pytest.approx(math.pi * 150 ** 2 * 200)
    assert Table("made.npy").volumes().sum() == pytest.approx(4 / 3 * math.pi * 100 ** 3)
    assert Table("squares.npy").volumes()[1, 0, 1] == pytest.approx(504 / 3 * math.pi / 3 * 2)
    assert Table("cylinder.npy").volumes()[1, 0, 1] == pytest.approx(60 / 2 * math.pi / 3 * 2)


def test_a_part_of_a_checkpoint_is_no_checkpoint(tables, program):
    write("half.npy", parts=[], checkpoint={"photons": "200", "origin": "here"})
    assert "checkpoint" in Table("half.npy").metadata
    Table("half.npy").project("r").save("r.npy")
    assert program("table", "info", "r.npy").returncode == 0 and "checkpoint" not in Table("r.npy").metadata


def test_a_sum_that_passes_the_limit_is_an_error(tables):
    cells, added = table_file.cells_of(table_file.AXES), 4 * 5 * 4
    largest = ((1 << 63) - 1) // added
    write("large.npy", [largest] * cells)
    assert Table("large.npy").project("t").sums.tolist() == [largest * added] * 6
    for value in (largest + 1, 1 << 62, (1 << 63) - 1):    # the sum with 64 bits is negative, or 0, or -80
        for sums, squares, what in (([value] * cells, None, "weights"), ([0] * cells, [value] * cells, "squared weights")):
            write("large.npy", sums, squares)
            with pytest.raises(icestream.FailedError, match="large.npy: cell 0: the sum of %s passes 2147483648" % what) as error:
                Table("large.npy").project("t")
            assert error.value.exit_status == 1


@pytest.mark.parametrize("change, text", [
    (lambda table: table.slice(x=5), "found the axis 'x', expected one of r, azimuth, cosine, t"),
    (lambda table: table.slice(r=8), "axis r: found 8, expected a number from 0 to below 8"),
    (lambda table: table.slice(r=float("nan")), "axis r: found nan, expected a number or a range"),
    (lambda table: table.slice(r="0:2"), "axis r: found '0:2', expected a number or a range"),
    (lambda table: table.slice(r=(0, 2, 8)), r"axis r: found \(0, 2, 8\), expected a number or a range"),
    (lambda table: table.slice(t=(1, 50)), "axis t: found 1, expected an edge of its bins; the nearest one is 0"),
    (lambda table: table.slice(t=(50, 25)), r"axis t: found \(50, 25\), expected a range of at least one bin"),
    (lambda table: table.project("t").slice(t=5), "axis t: found a single bin of the only axis, expected a range"),
    (lambda table: table.project(), "found the names of no axis, expected names of axes, each once"),
    (lambda table: table.project("r", "r"), "found the names r, r, expected names of axes, each once"),
    (lambda table: table.project("R"), "found the axis 'R', expected one of r"),
    (lambda table: table.plot(), "found 4 axes to draw, expected the names of one or two of them"),
])
def test_wrong_arguments_are_errors(tables, change, text):
    with pytest.raises(icestream.UsageError, match="squares.npy: " + text) as error:
        change(Table("squares.npy"))
    assert error.value.exit_status == 2


def test_wrong_files_are_errors(tables, program):
    with open("cut.npy", "wb") as file:
        file.write(content("a.npy")[:-40])
    write("wrong.npy", power=2, step_length=0)
    for name in ("cut.npy", "wrong.npy", "missing.npy"):
        with pytest.raises(icestream.InputError) as error:
            Table(name)
        assert str(error.value) + "\n" == program("info", name).stderr
    assert program("generate", "--set", "workload.steps=9", "-o", "a.steps.npy").returncode == 0
    with pytest.raises(icestream.InputError, match="a.steps.npy: found a file of steps, expected a photon table"):
        Table("a.steps.npy")
    with pytest.raises(icestream.UsageError, match="path: found int"):
        Table(5)
    with pytest.raises(icestream.OutputError, match="none/a.npy: cannot write: No such file or directory") as fault:
        Table("a.npy").save("none/a.npy")
    assert fault.value.exit_status == 74 and not os.path.exists("none")
    os.mkdir("folder")
    with pytest.raises(icestream.OutputError, match="folder: cannot write: Is a directory"):
        Table("a.npy").save("folder")
    assert not [name for name in os.listdir(".") if name.endswith(".part")]


def test_numbers_are_those_of_jansson():
    assert _table_file._json({"a": [0.1, 1.0, -2.5e-7, 1e22, 123456789012345680.0, 1e100], "b": True, "c": "\u00e4\n"}) == (
        '{"a":[0.10000000000000001,1.0,-2.4999999999999999e-7,1e22,1.2345678901234568e17,1e100],"b":true,"c":"\u00e4\\n"}')


# ---- comparisons

def test_two_tables_by_chi_square(tables):
    pytest.importorskip("scipy")
    found = compare("a.npy", Table("b.npy"))
    assert not found.identical and found.bins == 480 and found.probability == 0
    assert (found.chi_square, found.largest) == (pytest.approx(22045.9, rel=1e-5), pytest.approx(15.17, rel=1e-3))
    assert found.cell == np.unravel_index(106, (4, 5, 4, 6))
    found = compare("merged.npy", "squares.npy")    # with and without squared weights
    assert (found.chi_square, found.largest) == (pytest.approx(27961.5, rel=1e-5), pytest.approx(28.66, rel=1e-3))
    same = compare("squares.npy", "squares.npy")
    assert same.identical and same[1:5] == (0, 480, 1, 0)
    with pytest.raises(icestream.InputError, match="cylinder.npy: axis 1: found rho with 2 bins .* the bins of a.npy: r"):
        compare("a.npy", "cylinder.npy")
    with pytest.raises(icestream.InputError, match="a.npy: axis 2: found no axis, expected the bins of a.npy: azimuth with 3"):
        compare("a.npy", Table("a.npy").project("r"))
    write("dark.npy", photons="0", weight={"whole": "0", "fraction": 0})
    with pytest.raises(icestream.InputError, match="dark.npy: found a weight of photons of 0, expected more"):
        compare("a.npy", "dark.npy")


def test_a_brighter_group_is_found(tables):
    one, two = (["%s-%d.npy" % (name, k) for k in range(1, 5)] for name in ("one", "two"))
    found = permutation_test(one, [Table(name) for name in two])
    assert (found.as_large, found.splits, found.smallest, found.is_sampled, found.bins) == (2, 70, 2 / 70, False, 480)
    assert found.probability == 2 / 70 and found.statistic == pytest.approx(1000.19, rel=1e-5)
    assert permutation_test(one[::2] + two[::2], one[1::2] + two[1::2]).probability > 0.03


@pytest.mark.parametrize("first, second, counts, statistic, largest, cell", GOLDEN_SPLITS)
def test_splits_are_those_of_the_program(tmp_path, monkeypatch, first, second, counts, statistic, largest, cell):
    monkeypatch.chdir(tmp_path)
    for k in range(20):
        write("%d.npy" % k, [value >> (k % 3) for value in check_tables.sums_of(100 + k)], part="%064x" % (k + 1))
    found = permutation_test(["%d.npy" % k for k in first], ["%d.npy" % k for k in second])
    assert (found.as_large, found.splits) == counts and found.is_sampled == (counts[1] == 100000)
    assert (found.statistic, found.largest) == (pytest.approx(statistic, rel=1e-5), pytest.approx(largest, rel=1e-3))
    assert found.cell == np.unravel_index(cell, (4, 5, 4, 6)) and found.bins == 480


@pytest.mark.parametrize("changes, text", [
    ({}, "found the part aaaaaaaaaaaaaaaa..., which a.npy has, too"), ({"parts": []}, "found a table without parts"),
    ({"part": "b" * 64, "photons": "94"}, r"found 94 photons, expected as many as in a.npy, 100 \(within 5 %\)"),
    ({"part": "b" * 64, "step_length": 2}, "step_length: found 2.0, expected 1.0 as in a.npy"),
    ({"part": "b" * 64, "geometry": "custom"}, "geometry: found custom, expected spherical as in a.npy"),
    ({"part": "b" * 64, "digests": {"configuration": "", "ice": "2" * 64, "detector": ""}}, "the digest of the configuration"),
])
def test_tables_that_cannot_be_exchanged_are_errors(tables, changes, text):
    write("wrong.npy", **changes)
    with pytest.raises(icestream.InputError, match="wrong.npy: " + text):
        permutation_test(["a.npy", "wrong.npy"], ["b.npy", "c.npy"])


def test_wrong_groups_are_errors(tables):
    for groups in ((["a.npy"], ["b.npy"]), ([], ["a.npy", "b.npy"]), (["a.npy"], ["b.npy"] * 200)):
        with pytest.raises(icestream.UsageError, match="found [0-9]+ against [0-9]+ tables, expected at least 1 against 2, "):
            permutation_test(*groups)
    with pytest.raises(icestream.UsageError, match="found 'a.npy', expected a list of tables or paths"):
        permutation_test("a.npy", ["b.npy"])


# ---- other programs

def test_hdf5_is_what_h5py_and_hist_read(tables):
    pytest.importorskip("h5py", reason="h5py is not installed (Debian: python3-h5py)")
    for name in ("squares", "merged", "made"):
        Table(name + ".npy").to_hdf5(name + ".h5")
        first = content(name + ".h5")
        Table(name + ".npy").to_hdf5(name + ".h5")
        assert content(name + ".h5") == first
    check_tables.check_h5py(".")
    with pytest.raises(icestream.OutputError, match="none/a.h5: cannot write: "):
        Table("a.npy").to_hdf5("none/a.h5")
    for module in ("hist", "uhi.schema", "fastjsonschema"):
        pytest.importorskip(module, reason="%s is not installed (scripts/setup.sh hist)" % module)
    check_tables.check_hist(".")
    check_tables.check_made_hist(".")


def test_a_histogram_has_the_sums(tables):
    pytest.importorskip("hist", reason="hist is not installed (scripts/setup.sh hist)")
    for name, variances in (("made", True), ("merged", False)):
        table = Table(name + ".npy")
        made = table.to_hist()
        assert (made.values(flow=True) == table.sums * 2.0 ** -32).all() and (made.values() == table.values).all()
        assert not variances or (made.variances() == table.variances).all()
        assert made.axes.name == tuple(axis.name for axis in table.axes) and made.axes[0].label == "r (m)"
        assert all(np.allclose(one.edges, other.edges, rtol=1e-14) for one, other in zip(made.axes, table.axes))
        assert made.metadata["geometry"] == "spherical"


def test_fits_is_what_astropy_and_photospline_read(tables):
    fits = pytest.importorskip("astropy.io.fits", reason="astropy is not installed (Debian: python3-astropy)")
    for name in ("a", "b", "c", "merged", "squares", "made", "cylinder"):
        Table(name + ".npy").to_fits(name + ".fits")
    check_tables.check_astropy(".")
    check_tables.check_made_astropy(".")
    check_tables.check_photospline(".")
    with fits.open("made.fits") as file:
        about = Table("made.npy").metadata
        assert {name: file[0].header["icestream " + name] for name in about["digests"]} == about["digests"]
        assert file[0].header["_i3_n_group"] == pytest.approx(about["n_group"], rel=1e-14)
    with pytest.raises(icestream.InputError, match="merged.npy: found the geometry custom, with the units m, ns .* spherical"):
        Table("merged.npy").project("r", "t").to_fits("rt.fits")
    write("below.npy", axes=[dict(table_file.AXES[0], power=1, **{"from": -2.0})] + table_file.AXES[1:])
    with pytest.raises(icestream.InputError, match="below.npy: .* a first axis from -2, expected .* a radius from 0 or above"):
        Table("below.npy").volumes()


def test_pictures_show_the_weight_per_unit(tables):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (pip install './python[plot]')")
    matplotlib.use("Agg")
    table = Table("made.npy")
    axes = table.plot("r", linewidth=2)
    shown = axes.patches[0].get_data()
    assert (shown.values * np.diff(shown.edges)).sum() == pytest.approx(table.project("r").values.sum())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("r (m)", "weight per unit of r")
    axes = table.project("cosine", "delay").plot()
    density = np.asarray(axes.collections[0].get_array()).reshape(8, 5)
    widths = np.diff(table.axes[3].edges)[:, None] * np.diff(table.axes[2].edges)
    assert (density * widths).sum() == pytest.approx(table.project("cosine", "delay").values.sum())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("cosine", "delay (ns)")
    _, own = matplotlib.pyplot.subplots()
    assert table.plot("delay", axes=own) is own
    matplotlib.pyplot.close("all")
