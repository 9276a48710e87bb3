#!/usr/bin/env python3
"""Promises: photon tables as other programs read them.

    check_tables.py FOLDER   writes the tables a.npy, b.npy, c.npy, squares.npy, cylinder.npy, one-N.npy, two-N.npy

python/tests/test_tables.py writes other formats of them with icestream.tables, and calls the checks.

photospline is in no package of Debian or of Python. Splines are fitted to photon tables by scripts that read them with the class
FITSTable of IceCube's project photospline (icecube.photospline.photonics); the photospline that is published alone
reads only splines. The check `photospline` reads with astropy exactly what FITSTable reads:

- the values, from the first image of the file;
- the edges of axis i, from the image EDGESi, for as many axes as the first image has;
- the squared weights, from the image ERRORS; a file without it has none;
- as its header all keys that begin with `_i3_`, in small letters and without these four.

FITSTable divides by n_photons unless bit 32 of `efficiency` is set, and adds two tables only if their shapes and all
keys but n_photons are equal. Other readers take the edges by position: image 1 and those that follow, or image 2 if
image 1 is ERRORS.
"""

import json
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bad_inputs"))
from table_file import AXES, cells_of, table  # noqa: E402

UNIT = 2.0**-32


def sums_of(seed):
    numbers = random.Random(seed)
    return [numbers.randrange(1 << 40) for _ in range(cells_of(AXES))]


def make(folder):
    for number, name in enumerate("abc"):
        with open(os.path.join(folder, name + ".npy"), "wb") as file:
            file.write(table(sums_of(number), part=name * 64))
    with open(os.path.join(folder, "squares.npy"), "wb") as file:
        file.write(table(sums_of(3), squares=sums_of(4)))
    axes = [dict(AXES[0], name="rho"), dict(AXES[1], unit="rad", to=math.pi), dict(AXES[2], name="z", unit="m"), AXES[3]]
    with open(os.path.join(folder, "cylinder.npy"), "wb") as file:
        file.write(table(sums_of(5), axes=axes, geometry="cylindrical"))
    make_groups(folder)


def make_groups(folder):
    """Four tables of little light and four of twice as much. The test of groups does not use their squared weights."""
    for number, name in enumerate(("one", "two")):
        for k in range(1, 5):
            sums = [value >> (1 - number) for value in sums_of(10 * number + k)]
            with open(os.path.join(folder, "%s-%d.npy" % (name, k)), "wb") as file:
                file.write(table(sums, squares=sums_of(20 + k), part=str(4 * number + k) + "0" * 63))


def rows(path, count):
    with open(path, "rb") as file:
        return struct.unpack("<%dq" % count, file.read()[1024 : 1024 + 8 * count])


def sums_of_merged():
    return [sum(all_of) for all_of in zip(*(sums_of(k) for k in range(3)))]


def check_merged(folder):
    assert list(rows(os.path.join(folder, "merged.npy"), cells_of(AXES))) == sums_of_merged()


def check_numpy(folder):
    import numpy

    merged = numpy.load(os.path.join(folder, "merged.npy"))
    assert merged.shape == (4, 5, 4, 6) and merged.dtype == numpy.dtype("<i8")
    assert merged.ravel().tolist() == sums_of_merged()
    squares = numpy.load(os.path.join(folder, "squares.npy"))
    assert squares.shape == (2, 4, 5, 4, 6)
    project = numpy.load(os.path.join(folder, "rt.npy"))
    assert (project == merged.sum(axis=(1, 2))).all()
    cut = numpy.load(os.path.join(folder, "slice.npy"))
    assert cut.shape == (4, 4, 4)
    assert (cut[:, :, 1:3] == merged[:, 2, :, 2:4]).all()
    assert (cut[:, :, 3] == merged[:, 2, :, 4:].sum(axis=2)).all()


def check_h5py(folder):
    import h5py
    import numpy

    table_sums = numpy.load(os.path.join(folder, "squares.npy"))
    with h5py.File(os.path.join(folder, "squares.h5"), "r") as file:
        group = file["table"]
        assert group.attrs["uhi_schema"] == 1
        assert (group["storage/values"][()] == table_sums[0] * UNIT).all()
        assert (group["storage/variances"][()] == table_sums[1] * UNIT).all()
        axes = [group["ref_axes"][reference] for reference in group["axes"]]
        kinds = [axis.attrs["type"] for axis in axes]
        kinds = [kind.decode() if isinstance(kind, bytes) else kind for kind in kinds]
        assert kinds == ["variable", "regular", "regular", "regular"]
        assert numpy.allclose(axes[0]["edges"][()], [0, 2, 8], rtol=1e-14)
        assert axes[3].attrs["upper"] == 100 and axes[3].attrs["bins"] == 4
        assert group["metadata"].attrs["weight"] == 50.5


def read_hist(folder, name):
    """A histogram of hist. uhi's schema must accept what the file holds."""
    import h5py
    import hist
    import uhi.io.hdf5
    import uhi.io.json
    import uhi.schema

    with h5py.File(os.path.join(folder, name), "r") as file:
        content = uhi.io.hdf5.read(file["table"])
    uhi.schema.validate_histogram(json.loads(json.dumps(content, default=uhi.io.json.default)))
    return hist.Hist(content)


def check_hist(folder):
    import numpy

    read = read_hist(folder, "squares.h5")
    table_sums = numpy.load(os.path.join(folder, "squares.npy"))
    assert (read.values(flow=True) == table_sums[0] * UNIT).all()
    assert (read.variances(flow=True) == table_sums[1] * UNIT).all()
    assert read.axes.name == ("r", "azimuth", "cosine", "t"), read.axes.name
    assert numpy.allclose(read.axes[0].edges, [0, 2, 8], rtol=1e-14)
    # Without squared weights the storage has doubles.
    read = read_hist(folder, "merged.h5")
    assert read.storage_type.__name__ == "Double", read.storage_type
    assert (read.values(flow=True) == numpy.load(os.path.join(folder, "merged.npy")) * UNIT).all()


def check_astropy(folder):
    import numpy
    from astropy.io import fits

    sums = numpy.array(sums_of(3)).reshape(4, 5, 4, 6) * UNIT
    squares = numpy.array(sums_of(4)).reshape(4, 5, 4, 6) * UNIT
    with fits.open(os.path.join(folder, "squares.fits")) as file:
        file.verify("exception")
        assert file[0].data.shape == sums.shape and file[0].data.dtype.itemsize == 4
        # Radius 2 to 8 m, a third of the half turn, cosine 0 to 1: docs/tables.md 4.
        norm = 703.7167544041137
        assert numpy.allclose(file[0].data[2, 1, 2], sums[2, 1, 2] / norm, rtol=1e-6)
        assert numpy.allclose(file[0].data[3, 0, 3], sums[3, 0, 3] / norm, rtol=1e-6)
        assert numpy.allclose(file["ERRORS"].data[2, 1, 2], squares[2, 1, 2] / norm**2, rtol=1e-6)
        # The inner ball: 8 m^3 instead of 504.
        assert numpy.allclose(file[0].data[1, 1, 2], sums[1, 1, 2] / (norm * 8 / 504), rtol=1e-6)
        assert numpy.allclose(file["EDGES0"].data, [0, 2, 8], rtol=1e-14)
        assert file["EDGES3"].data.tolist() == [0, 25, 50, 75, 100]
        header = file[0].header
        assert header["_i3_n_photons"] == 50.5 and header["_i3_n_group"] == 1.35
        assert header["_i3_z"] == -12.5 and header["_i3_geometry"] == 1 and header["_i3_type"] == 11
        assert header["icestream ice"] == "2" * 64, repr(header)


class PhotonTable:
    """What photospline's FITSTable reads from a file; see the beginning of this file."""

    def __init__(self, path):
        from astropy.io import fits

        with fits.open(path) as file:
            self.values = file[0].data.astype(float)
            self.edges = [file["EDGES%d" % i].data.astype(float) for i in range(self.values.ndim)]
            self.weights = file["ERRORS"].data.astype(float) if "ERRORS" in file else None
            keys = [key.lower() for key in file[0].header]
            self.header = {key[4:]: file[0].header[key] for key in keys if key.startswith("_i3_")}
            first = 1 if self.weights is None else 2
            self.edges_by_position = [image.data for image in file[first:]]

    def check(self, kind):
        import numpy

        assert [len(edges) + 1 for edges in self.edges] == list(self.values.shape), "edges do not fit"
        assert len(self.edges_by_position) == len(self.edges)
        assert all((a == b).all() for a, b in zip(self.edges, self.edges_by_position))
        assert all((numpy.diff(edges) > 0).all() for edges in self.edges)
        assert numpy.isfinite(self.values).all()
        whole = ("efficiency", "geometry", "parity", "type", "level")
        others = ("n_photons", "zenith", "azimuth", "z", "energy", "n_group", "n_phase")
        assert sorted(self.header) == sorted(whole + others), self.header
        assert all(type(self.header[key]) is int for key in whole), self.header
        assert all(type(self.header[key]) is float and math.isfinite(self.header[key]) for key in others), self.header
        assert self.header["geometry"] == kind and self.header["level"] == 1 and self.header["parity"] == 0
        # Nothing is divided by the number of photons yet, and no value is per ns.
        assert self.header["efficiency"] & (32 | 256) == 0 and self.header["n_photons"] > 0


def check_photospline(folder):
    import numpy

    names = ("a", "b", "c", "merged", "squares", "made", "cylinder")
    tables = {name: PhotonTable(os.path.join(folder, name + ".fits")) for name in names}
    for name, read in tables.items():
        read.check(2 if name == "cylinder" else 1)
        assert (read.weights is not None) == (name in ("squares", "made")), name
        assert read.weights is None or read.weights.shape == read.values.shape, name
    # Adding the three tables there gives the table that icestream has merged.
    parts, merged = [tables[name] for name in "abc"], tables["merged"]
    for part in parts:
        assert {**part.header, "n_photons": 0} == {**merged.header, "n_photons": 0}
    assert sum(part.header["n_photons"] for part in parts) == merged.header["n_photons"] == 151.5
    assert numpy.allclose(sum(part.values for part in parts), merged.values, rtol=1e-6)
    # A cylinder: (8^2 - 2^2) / 2 * pi / 3 * 2 * width of z, for steps of 1 m and an area of 0.5 m^2.
    volume = 30 * math.pi / 3 * 2
    sums = numpy.array(sums_of(5)).reshape(4, 5, 4, 6) * UNIT
    assert numpy.allclose(tables["cylinder"].values[2, 1, 2], sums[2, 1, 2] / (volume / 0.5), rtol=1e-6)


def check_made_hist(folder):
    import numpy

    read = read_hist(folder, "made.h5")
    sums = numpy.load(os.path.join(folder, "made.npy")) * UNIT
    assert sums[0].sum() > 0
    assert (read.values(flow=True) == sums[0]).all()
    assert (read.variances(flow=True) == sums[1]).all()
    assert read.axes.name == ("r", "azimuth", "cosine", "delay"), read.axes.name
    assert numpy.allclose(read.axes["r"].edges, 100 * (numpy.arange(11) / 10) ** 2)
    # An axis is found by its name, and a projection keeps the sums.
    assert numpy.allclose(read.project("r").values(flow=True), sums[0].sum(axis=(1, 2, 3)))


def check_made_astropy(folder):
    import numpy
    from astropy.io import fits

    sums = numpy.load(os.path.join(folder, "made.npy"))[0] * UNIT
    inside = (slice(1, -1),) * sums.ndim
    with fits.open(os.path.join(folder, "made.fits")) as file:
        file.verify("exception")
        image = file[0].data[inside].astype(float)
        edges = [file["EDGES%d" % i].data for i in range(sums.ndim)]
        header = file[0].header
        area, step = numpy.pi * 0.16510**2, 1.0
        assert header["_i3_efficiency"] == 1 and header["_i3_geometry"] == 1
        assert header["_i3_n_photons"] == 2000
    # Both halves of the azimuth are in one bin, so the volume counts twice.
    volume = (numpy.diff(edges[0] ** 3) / 3)[:, None, None, None]
    volume = volume * (2 * numpy.radians(numpy.diff(edges[1])))[:, None, None]
    volume = volume * numpy.diff(edges[2])[:, None]
    assert numpy.allclose(image * volume / (step * area), sums[inside], rtol=1e-6)


if __name__ == "__main__":
    make(sys.argv[1])
