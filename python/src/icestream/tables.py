"""Photon tables (docs/tables.md): read them, cut them, add up over axes, compare, draw, and convert to other formats.

    from icestream.tables import Table
    Table("all.npy").slice(azimuth=5, delay=(0, 500)).project("r", "delay").save("rt.npy")

`icestream tabulate` makes tables, and `icestream table merge` adds them up. Sums are whole numbers and stay whole numbers.
"""
from __future__ import annotations

import math
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._abi import VERSION
from ._commands import Path, _describe, _interruptible, _read
from ._config import encode
from ._convert import needed
from ._library import FailedError, InputError, UsageError, usage
from ._table_file import fault, write_table, writing
from ._table_compare import UNIT, Comparison, PermutationTest, compare, permutation_test

__all__ = ["Axis", "Comparison", "PermutationTest", "Table", "UNIT", "compare", "permutation_test"]

Sums = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


class Axis(NamedTuple):
    """An axis of a table. kind: "regular" (bins of equal width), "power" (of equal width in a root of the coordinate) or
    "given" (the file has the edges). unit: "1" for a pure number. edges: one more than there are bins."""

    name: str
    unit: str
    kind: str
    edges: Numbers

    def title(self) -> str:
        """The name with its unit."""
        return self.name if self.unit == "1" else "%s (%s)" % (self.name, self.unit)


def _axis(about: Dict[str, Any]) -> Axis:
    """The axis of an object of the metadata. Edges need the pow() of C, because that of NumPy may round in another way."""
    bins, power, edges = about["bins"], about["power"], about.get("edges")
    if edges is None:
        low, high = math.pow(about["from"], 1.0 / power), math.pow(about["to"], 1.0 / power)
        inner = [math.pow(low + i * ((high - low) / bins), power) for i in range(1, bins)]
        edges = [about["from"], *inner, about["to"]]
    kind = "given" if "edges" in about else "regular" if power == 1 else "power"
    return Axis(about["name"], about["unit"], kind, np.array(edges, np.float64))


def _is_half(geometry: str, azimuth: Dict[str, Any]) -> bool:
    """Whether a bin of the azimuth has the light of both halves. An end may lie a little above the half by rounding."""
    return bool(azimuth["to"] <= (180.0 if geometry == "spherical" else 3.1415927))


def _weights(sums: Sums) -> Numbers:
    """The weights in the bins, without under- and overflow."""
    weights: Numbers = np.multiply(sums[(slice(1, -1),) * sums.ndim], UNIT, dtype=np.float64)
    return weights


@_interruptible
def _load(name: bytes) -> Tuple[Dict[str, Any], Any]:
    """The metadata and the array of a file, which the library checks."""
    about = _describe(name, False)
    if about["kind"] != "table":
        raise fault(InputError, "%s: found a file of %s, expected a photon table" % (os.fsdecode(name), about["kind"]))
    return about["metadata"], _read(os.fsdecode(name))


class Table:
    """The photon table of a file. The file is mapped, and the sums cannot be changed.

    name: the file. metadata: what docs/tables.md 2 lists. sums: whole numbers in units of 2^-32, with under- and overflow in
    the first and the last cell of each axis. squares: the squared weights in the same form, or None. photons, weight: how many
    photons there were, and the sum of their weights. Raises InputError if the file is damaged or something else.
    """

    def __init__(self, path: Path) -> None:
        name = encode(path, "path")
        self._set(os.fsdecode(name), *_load(name))

    def _set(self, name: str, metadata: Dict[str, Any], array: Sums) -> None:
        array.flags.writeable = False
        self.name, self.metadata, self._array = name, metadata, array
        self.axes: Tuple[Axis, ...] = tuple(map(_axis, metadata["axes"]))
        self.sums: Sums = array[0] if metadata["has_squares"] else array
        self.squares: Optional[Sums] = array[1] if metadata["has_squares"] else None
        self.photons = int(metadata["photons"])
        self.weight = int(metadata["weight"]["whole"]) + float(metadata["weight"]["fraction"]) * UNIT

    def __repr__(self) -> str:
        axes = ", ".join("%s %d" % (axis.name, len(axis.edges) - 1) for axis in self.axes)
        return "<Table %s: %s, %s bins, %d photons>" % (self.name, self.metadata["geometry"], axes, self.photons)

    @property
    def values(self) -> Numbers:
        """The sums of weights in the bins, without under- and overflow."""
        return _weights(self.sums)

    @property
    def variances(self) -> Optional[Numbers]:
        """The sums of squared weights in the bins, or None."""
        return None if self.squares is None else _weights(self.squares)

    @property
    def outside(self) -> float:
        """The sum of the weights in under- and overflow."""
        return float(self.sums.sum(dtype=np.float64) * UNIT - self.values.sum())

    # ---- smaller tables

    def _wrong(self, which: Optional[int], text: str, *values: Any) -> UsageError:
        return usage("%s: %s%s" % (self.name, "" if which is None else "axis %s: " % self.axes[which].name, text % values))

    def _find(self, name: str) -> int:
        names = [axis.name for axis in self.axes]
        if name not in names:
            raise self._wrong(None, "found the axis %r, expected one of %s", name, ", ".join(names))
        return names.index(name)

    def _made(self, axes: List[Dict[str, Any]], change: Callable[[Sums, Any], Any]) -> "Table":
        """The table with other axes. `change` makes its sums of these ones, in the given type."""
        arrays = []
        for what, sums in (("weights", self.sums), ("squared weights", self.squares)):
            if sums is not None:
                arrays.append(change(sums, np.int64))
                # A sum from 2^63 to below 2^64 is negative here. Of a larger one the sum of floats shows that it is too large.
                wrong = (arrays[-1] < 0) | (change(sums, np.float64) > 1.5 * 2.0 ** 63)
                if wrong.any():
                    raise fault(FailedError, "%s: cell %d: the sum of %s passes 2147483648 (2^63 units of 2^-32), expected less"
                                % (self.name, np.argmax(wrong), what))
        old, geometry = self.metadata["axes"], self.metadata["geometry"]
        # Volumes need the three axes of position. A part of a full azimuth must not look like a half, whose bins count twice.
        if len(axes) < 3 or [axis["name"] for axis in axes[:3]] != [axis["name"] for axis in old[:3]] \
                or _is_half(geometry, axes[1]) != _is_half(geometry, old[1]):
            geometry = "custom"
        metadata = {**self.metadata, "axes": axes, "geometry": geometry}
        metadata.pop("checkpoint", None)
        table = Table.__new__(Table)
        table._set(self.name, metadata, np.ascontiguousarray(np.stack(arrays) if len(arrays) == 2 else arrays[0]))
        return table

    def slice(self, **ranges: Any) -> "Table":
        """NAME=value takes the bin that holds the value, and removes the axis. NAME=(from, to) keeps the bins of the range, which
        must begin and end at edges; None stands for the end of the axis. What lies outside the range joins under- and overflow,
        so no light is lost. Photons and parts stay. Raises UsageError."""
        table = self
        for name, wanted in ranges.items():
            table = (table._range if isinstance(wanted, (tuple, list)) else table._bin)(table._find(name), wanted)
        return table

    def _number(self, which: int, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
            raise self._wrong(which, "found %r, expected a number or a range (from, to)", value)
        return float(value)

    def _bin(self, which: int, wanted: Any) -> "Table":
        value, edges, axes = self._number(which, wanted), self.axes[which].edges, self.metadata["axes"]
        if not edges[0] <= value < edges[-1]:
            raise self._wrong(which, "found %.9g, expected a number from %.9g to below %.9g", value, edges[0], edges[-1])
        if len(axes) == 1:
            raise self._wrong(which, "found a single bin of the only axis, expected a range (from, to)")
        cell = int(np.searchsorted(edges, value, side="right"))
        return self._made(axes[:which] + axes[which + 1:], lambda sums, kind: sums.take(cell, which))

    def _edge(self, which: int, wanted: Any) -> int:
        """The number of the edge that a value names, up to rounding."""
        value, edges = self._number(which, wanted), self.axes[which].edges
        best = int(np.argmin(np.abs(edges - value)))
        if abs(edges[best] - value) > 1e-6 * (edges[-1] - edges[0]) / (len(edges) - 1):
            raise self._wrong(which, "found %.9g, expected an edge of its bins; the nearest one is %.9g", value, edges[best])
        return best

    def _range(self, which: int, wanted: Sequence[Any]) -> "Table":
        if len(wanted) != 2:
            raise self._wrong(which, "found %r, expected a number or a range (from, to)", wanted)
        begin = 0 if wanted[0] is None else self._edge(which, wanted[0])
        end = len(self.axes[which].edges) - 1 if wanted[1] is None else self._edge(which, wanted[1])
        if begin >= end:
            raise self._wrong(which, "found %r, expected a range of at least one bin", tuple(wanted))
        edges = self.axes[which].edges[begin:end + 1].tolist()
        axes = list(self.metadata["axes"])
        axes[which] = {**axes[which], "from": edges[0], "to": edges[-1], "bins": end - begin, "power": 1, "edges": edges}
        starts = [0, *range(begin + 1, end + 2)]    # the cells of the old axis with which the cells of the new one begin
        return self._made(axes, lambda sums, kind: np.add.reduceat(sums, starts, axis=which, dtype=kind))

    def project(self, *names: str) -> "Table":
        """Keeps the named axes, in this order, and adds up over the others with their under- and overflow. Photons and parts
        stay. Raises UsageError."""
        chosen = [self._find(name) for name in names]
        if not chosen or len(set(chosen)) < len(chosen):
            raise self._wrong(None, "found the names %s, expected names of axes, each once", ", ".join(names) or "of no axis")
        others = tuple(set(range(len(self.axes))) - set(chosen))
        order = [sorted(chosen).index(which) for which in chosen]
        return self._made([self.metadata["axes"][which] for which in chosen],
                          lambda sums, kind: np.sum(sums, axis=others, dtype=kind).transpose(order))

    def volumes(self) -> Numbers:
        """The volumes of the bins (m^3), with one dimension for each axis of position (docs/tables.md 1). Raises InputError if
        they are not known."""
        geometry, axes = self.metadata["geometry"], self.axes[:3]
        is_ball = geometry == "spherical"
        units, found = ["m", "deg" if is_ball else "rad", "1" if is_ball else "m"], [axis.unit for axis in axes]
        if geometry == "custom" or found != units or axes[0].edges[0] < 0:
            raise fault(InputError, "%s: found the geometry %s, with the units %s and a first axis from %.9g, expected spherical "
                        "(m, deg, 1) or cylindrical (m, rad, m) with a radius from 0 or above, because the volume of other bins "
                        "is not known" % (self.name, geometry, ", ".join(found), axes[0].edges[0]))
        power, radians = (3, 0.017453292519943295) if is_ball else (2, 1.0)
        halves = 2.0 if _is_half(geometry, self.metadata["axes"][1]) else 1.0
        radii = np.diff([math.pow(edge, power) for edge in axes[0].edges]) / power * halves * radians
        volumes: Numbers = radii[:, None, None] * np.diff(axes[1].edges)[:, None] * np.diff(axes[2].edges)
        return volumes

    # ---- files of this and other programs, pictures

    def save(self, path: Path) -> None:
        """Writes a .npy file for `icestream table`, with the same bytes for equal tables. Replaces a file of this name. Raises
        OutputError."""
        write_table(path, self._array, self.metadata)

    def to_hist(self) -> Any:
        """A hist.Hist with sums of weights and, of a table with squared weights, their variances. Its member `metadata` is
        that of the table. Needs hist."""
        hist = needed("hist", "Table.to_hist")
        axes = [hist.axis.Regular(len(axis.edges) - 1, axis.edges[0], axis.edges[-1], name=axis.name, label=axis.title())
                if axis.kind == "regular" else hist.axis.Variable(axis.edges, name=axis.name, label=axis.title())
                for axis in self.axes]
        made = hist.Hist(*axes, storage=hist.storage.Double() if self.squares is None else hist.storage.Weight())
        view = made.view(flow=True)
        if self.squares is None:
            view[...] = self.sums * UNIT
        else:
            view["value"], view["variance"] = self.sums * UNIT, self.squares * UNIT
        made.metadata = self.metadata
        return made

    def to_hdf5(self, path: Path) -> None:
        """Writes the table into the group /table of an HDF5 file, in the schema of the Unified Histogram Interface
        (docs/tables.md 5). Replaces a file of this name. Needs h5py. Raises OutputError."""
        h5py = needed("h5py", "Table.to_hdf5")
        about = self.metadata
        with writing(path) as part, h5py.File(part, "w") as file:
            table = file.create_group("table")
            table.attrs["uhi_schema"] = 1
            facts = [(key, about[key]) for key in ("geometry", "step_length", "area", "n_group", "n_phase", "efficiency", "seed")]
            facts += [("photons", float(self.photons)), ("weight", self.weight)]
            table.create_group("metadata").attrs.update([*facts, *about["source"].items(), *about["digests"].items()])
            table.create_group("writer_info/icestream").attrs["version"] = VERSION
            references = table.create_dataset("axes", (len(self.axes),), h5py.ref_dtype)
            for i, axis in enumerate(self.axes):
                group = table.create_group("ref_axes/axis_%d" % i)
                references[i] = group.ref
                group.create_group("metadata").attrs.update(name=axis.name, unit=axis.unit, power=about["axes"][i]["power"])
                group.attrs.update(underflow=True, overflow=True, circular=False)
                if axis.kind == "regular":
                    group.attrs.update(type="regular", lower=axis.edges[0], upper=axis.edges[-1], bins=len(axis.edges) - 1)
                else:
                    group.attrs["type"] = "variable"
                    group["edges"] = axis.edges
            storage = table.create_group("storage")
            storage.attrs["type"] = "double" if self.squares is None else "weighted"
            for name, sums in (("values", self.sums), ("variances", self.squares)):
                if sums is not None:
                    rows = storage.create_dataset(name, sums.shape, "<f8")
                    for i, row in enumerate(sums):    # not all at once, which would need as much memory again
                        rows[i] = row * UNIT

    def to_fits(self, path: Path) -> None:
        """Writes a FITS file in the layout of clsim's tabulator (docs/tables.md 4). Replaces a file of this name. Needs astropy.
        Raises InputError if the volumes of the bins are not known, OutputError."""
        about = self.metadata
        # Under- and overflow take the volume of the nearest bin, as clsim's do.
        norm = np.pad(self.volumes(), 1, mode="edge") / (about["step_length"] * about["area"])
        norm = norm.reshape(norm.shape + (1,) * (len(self.axes) - 3))
        fits = needed("astropy.io.fits", "Table.to_fits")

        def image(sums: Sums, divisor: Numbers) -> Any:
            made = np.empty(sums.shape, ">f4")
            for i, row in enumerate(sums):
                made[i] = row * UNIT / divisor[i]
            return made
        images = [fits.PrimaryHDU(image(self.sums, norm))]
        if self.squares is not None:
            images.append(fits.ImageHDU(image(self.squares, norm * norm), name="ERRORS"))
        images += [fits.ImageHDU(axis.edges, name="EDGES%d" % i) for i, axis in enumerate(self.axes)]
        header = images[0].header
        numbers = {"n_photons": self.weight, "n_group": about["n_group"], "n_phase": about["n_phase"], **about["source"],
                   "efficiency": about["efficiency"], "geometry": 1 if about["geometry"] == "spherical" else 2}
        for name, number in {**numbers, "parity": 0, "level": 1}.items():
            header["HIERARCH _I3_" + name.upper()] = number
        header["LONGSTRN"] = "OGIP 1.0"
        for name, digest in about["digests"].items():    # made by hand, because astropy before 6 cannot divide such a long text
            lines = ["HIERARCH ICESTREAM %s = '%s%s'" % (name.upper(), digest[:40], "&" if digest else "")]
            lines += ["CONTINUE  '%s'" % digest[40:]] if digest else []
            header.append(fits.Card.fromstring("".join(line.ljust(80) for line in lines)), end=True)
        with writing(path) as part:
            fits.HDUList(images).writeto(part, overwrite=True)

    def plot(self, *names: str, axes: Any = None, **options: Any) -> Any:
        """Draws one axis as a curve, or two axes as a map: the weight per unit of the axes, so that bins of different width can
        be compared. names: the axes that are shown; without names, all. axes: those of matplotlib to draw into. options: of
        its stairs() or pcolormesh(). Returns the axes of matplotlib. Needs matplotlib. Raises UsageError."""
        table = self.project(*names) if names else self
        if len(table.axes) > 2:
            raise self._wrong(None, "found %d axes to draw, expected the names of one or two of them", len(table.axes))
        if axes is None:
            _, axes = needed("matplotlib.pyplot", "Table.plot").subplots(figsize=(7.2, 4.4), constrained_layout=True)
        x, y = table.axes[0], table.axes[-1]
        axes.set_xlabel(x.title())
        if len(table.axes) == 1:
            axes.stairs(table.values / np.diff(x.edges), x.edges, **{"baseline": None, **options})
            axes.set_ylabel("weight per unit of %s" % x.name)
        else:
            density = table.values / np.diff(x.edges)[:, None] / np.diff(y.edges)
            axes.set_ylabel(y.title())
            bar = axes.figure.colorbar(axes.pcolormesh(x.edges, y.edges, density.T, **options), ax=axes)
            bar.set_label("weight per unit of %s and %s" % (x.name, y.name))
        return axes
