"""HDF5 and back: the bytes stay the same, files of other programs are taken, and what is damaged is an error."""
import json
import os
import random
import time

import icestream
import numpy as np
import pytest
from icestream.convert import from_hdf5, to_hdf5

h5py = pytest.importorskip("h5py", reason="HDF5 needs h5py")


@pytest.fixture(name="files")
def make_files(program):
    """A file of each kind in the working directory."""
    for command in ("generate -s workload.steps=400 -s workload.photons_per_step=100 -o a.steps.npy",
                    "run -q -s source.files=[a.steps.npy] -s sink.directory=.",
                    "trace -s source.files=[a.steps.npy] --hits a.hits.npy -o a.paths.npy",
                    "convert --waveforms 50 a.hits.npy a.waveforms.npy"):
        done = program(*command.split())
        assert done.returncode == 0, done.stderr
    return ["a.%s.npy" % kind for kind in ("steps", "hits", "paths", "waveforms")]


@pytest.fixture(name="made")
def make_hdf5(files):
    to_hdf5("a.hits.npy", "a.h5")
    return "a.h5"


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def refused(path, text):
    with pytest.raises(icestream.InputError, match=text) as error:
        from_hdf5(path, "new.npy")
    assert str(path) in str(error.value) and ".icestream-" not in str(error.value) and error.value.exit_status == 3
    assert not os.path.exists("new.npy")


def replace(path, name, data, **attributes):
    """Writes a dataset again."""
    with h5py.File(path, "a") as file:
        del file[name]
        file[name] = data
        file[name].attrs.update(attributes)


def test_there_and_back_gives_the_same_bytes(files):
    for name in files:
        to_hdf5(name, "x.h5", force=True)
        from_hdf5("x.h5", "x.npy", force=True)
        assert bytes_of("x.npy") == bytes_of(name) and icestream.load("x.h5").tobytes() == icestream.load(name).tobytes()
    to_hdf5("a.steps.npy", "x.h5", force=True)
    assert icestream.load("x.h5").light == icestream.load("a.steps.npy").light is not None
    assert icestream.load("a.hits.npy", verify=True).metadata["seed"] == "1"


def test_layout_and_attributes(made):
    rows, about = np.load("a.hits.npy"), icestream.load("a.hits.npy").metadata
    with h5py.File(made) as file:
        assert set(file) == {"hits", "metadata"}
        table, attributes = file["hits"], {key: value.decode() for key, value in file["hits"].attrs.items()}
        assert table.dtype == icestream.HIT and table.compression is None
        assert table.chunks == (16384,) and table.maxshape == (None,)
        assert table[()].tobytes() == rows.tobytes()
        assert attributes == {"schema": about["schema"], "coordinates": about["coordinates"],
                              **{"unit of " + name: unit for name, unit in about["units"].items()}}
        kind = table.attrs.get_id("schema").get_type()
        assert kind.get_cset() == h5py.h5t.CSET_UTF8 and kind.get_size() == len("icestream.hits") + 1
        text = file["metadata"][()].tobytes()
        assert file["metadata"].dtype == np.uint8 and about.items() <= json.loads(text).items() and text in bytes_of("a.hits.npy")
        assert file["metadata"].attrs["crc32c"].dtype == np.uint32
    time.sleep(1.1)
    to_hdf5("a.hits.npy", "later.h5")
    assert bytes_of("later.h5") == bytes_of(made)  # no times in it


def test_existing_files_stay(files, made):
    for call in (lambda **how: to_hdf5("a.hits.npy", made, **how), lambda **how: from_hdf5(made, "a.hits.npy", **how)):
        with pytest.raises(icestream.OutputError, match="found an existing file") as error:
            call()
        assert error.value.exit_status == 74
        call(force=True)
    with pytest.raises(icestream.OutputError, match="none/x.npy: cannot write: No such file"):
        from_hdf5(made, "none/x.npy")
    with pytest.raises(icestream.UsageError, match="source: found ndarray"):
        to_hdf5(np.zeros(3), "x.h5")
    assert not [name for name in os.listdir(".") if name.startswith(".")]


def test_tables_of_other_programs(files):
    steps = np.load("a.steps.npy")
    types = [(name, ">f8" if steps.dtype[name].kind == "f" else ">i8") for name in steps.dtype.names[::-1]]
    rows = np.zeros(len(steps), types + [("more", ">i4"), ("text", "S3")])
    for name in steps.dtype.names:
        rows[name] = steps[name]
    with h5py.File("b.h5", "w") as file:
        file.create_dataset("steps", data=rows, compression="gzip")
    from_hdf5("b.h5", "b.steps.npy")
    again = np.load("b.steps.npy")
    assert set(again.dtype.names) == set(steps.dtype.names) and again.dtype["beta"] == np.dtype("<f8")
    assert all((again[name] == steps[name]).all() for name in steps.dtype.names)
    to_hdf5("b.steps.npy", "c.h5")  # a file without metadata
    with h5py.File("c.h5") as file:
        assert set(file) == {"steps"}
    rows["photons"][1] = -1
    replace("b.h5", "steps", rows)
    refused("b.h5", "b.h5: row 1, field photons: found -1, expected a value that fits")


@pytest.mark.parametrize("name, data, text", [
    ("other", np.zeros(2, [("x", "f4")]), "found none of the datasets /steps, /hits, /paths and /waveforms"),
    ("steps", np.zeros(2, "f4"), "found no table, expected one dimension"),
    ("steps", np.zeros((2, 2), [("x", "f4")]), "found no table, expected one dimension"),
    ("steps", np.zeros(2, [("x", "f4"), ("photons", "u4")]), "field y: found none of this name"),
    ("steps", np.zeros(2, [("q", "f4")]), "c.h5"),
    ("hits", np.zeros(2, [("photon_id", "S4"), ("t", "f4", (2,))]), "c.h5"),
])
def test_unfit_tables(program, name, data, text):
    with h5py.File("c.h5", "w") as file:
        file[name] = data
    refused("c.h5", text)


def test_changed_files(made):
    rows, whole = icestream.load(made), bytes_of(made)
    with h5py.File(made) as file:
        text, checksum = file["metadata"][()], file["metadata"].attrs["crc32c"]
    for name, data, attributes, found in (
            ("hits", np.where(np.arange(len(rows)) == 1, rows[:1], rows), {}, "a.h5: rows 0 to 16383: found CRC-32C"),
            ("hits", np.asarray(rows[1:]), {}, "a.h5: trailer: rows: found %d, expected %d" % (len(rows), len(rows) - 1)),
            ("metadata", text ^ 1, {"crc32c": checksum}, "a.h5: trailer: found metadata with CRC-32C"),
            ("metadata", text, {}, "dataset metadata: found something else.*checksum crc32c"),
            ("metadata", np.zeros(9, "f4"), {"crc32c": checksum}, "dataset metadata: found something else"),
            ("metadata", np.frombuffer(b'{"digests":{"ice":"1"}}', "u1"), {"crc32c": np.uint32(0x9eb25f14)}, "a.h5: trailer: ")):
        replace(made, name, data, **attributes)
        refused(made, found)
        with open(made, "wb") as file:
            file.write(whole)
    with h5py.File(made, "a") as file:
        del file["metadata"]  # then nothing is claimed
    from_hdf5(made, "new.npy")
    assert np.load("new.npy").tobytes() == rows.tobytes()


def test_rows_that_are_not_there(made):
    with h5py.File(made, "a") as file:
        del file["metadata"]
        file["hits"].resize((1 << 50,))
    refused(made, "a.h5: dataset hits: found 1125899906842624 rows in [0-9]+ bytes, expected rows that are in the file")


def test_damaged_files_are_errors(made, monkeypatch, tmp_path):
    whole = bytes_of(made)
    structures = bytearray(whole)
    dice = random.Random(5)
    for k in range(12):
        for _ in range(3):
            structures[dice.randrange(0, 3000)] = dice.randrange(256)
        with open("bad.h5", "wb") as file:
            file.write(structures if k % 3 else whole[:dice.randrange(len(whole))])
        try:
            from_hdf5("bad.h5", "bad.npy", force=True)
        except icestream.InputError as error:
            assert "bad.h5" in str(error)
    with open("junk.h5", "wb") as file:
        file.write(b"no HDF5 at all, but long enough")
    refused("junk.h5", "junk.h5: cannot convert: .*signature")
    refused("missing.h5", "missing.h5: cannot convert: No such file")
    os.mkfifo("pipe.h5")
    refused("pipe.h5", "pipe.h5: found something that is not a file")
    crash = tmp_path / "crash"
    crash.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crash.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(crash))
    refused(made, r"a.h5: the library that uses HDF5 crashed \(Segmentation fault\)")
    with pytest.raises(icestream.OutputError, match="crashed"):
        to_hdf5("a.hits.npy", "x.h5")


def test_damaged_sources_leave_no_target(files):
    data = bytearray(bytes_of("a.steps.npy"))
    data[1024 + 72 * 7] ^= 1
    for name, content in (("b.steps.npy", data), ("made.npy", b"\x89HDF\r\n\x1a\n"), ("table.npy", None)):
        if content is not None:
            with open(name, "wb") as file:
                file.write(content)
        with pytest.raises(icestream.InputError, match="rows 0 to 14563: found CRC-32C" if content is data else name):
            to_hdf5(name, "x.h5")
        assert not os.path.exists("x.h5")
