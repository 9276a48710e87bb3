"""Events of other programs as one table of particles, and hits for programs that learn from them.

    particles = icestream.io.read("events.parquet", "siren")
    hits = icestream.run("run.yaml", particles=particles)
    icestream.io.to_prometheus(hits, particles, "run.yaml", "train.parquet")

FORMATS has a row for each format. A new one gets a file with a generator of rows, a row here, one in docs/particles.md, and a made
file in python/tests/test_io.py. The readers need Python alone until numpy is asked for, so that configs/particles/to_csv.py runs
without the package.
"""
from __future__ import annotations

import csv
import os
from typing import IO, TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Tuple, Union

from . import genie, hepmc, km3net, leptoninjector, prometheus, proposal, siren
from ._rows import FARTHEST, LATEST, MOST_ENERGY, Fault, Reader, Row, Source, list_fields

if TYPE_CHECKING:
    from .._arrays import Table
    from ._learning import to_parquet as to_parquet
    from ._learning import to_prometheus as to_prometheus


class Format(NamedTuple):
    """read: a generator of rows of a Source. ending: of its files. packages: what it needs."""

    read: Reader
    ending: str
    packages: Tuple[str, ...] = ()


FORMATS: Dict[str, Format] = {
    "corsika": Format(km3net.read_evt, ".evt"),
    "evt": Format(km3net.read_evt, ".evt"),
    "genie": Format(genie.read, ".txt"),
    "genie-gst": Format(genie.read_gst, ".root", ("uproot",)),
    "genie-rootracker": Format(genie.read_rootracker, ".root", ("uproot",)),
    "gseagen": Format(km3net.read_gseagen, ".root", ("uproot",)),
    "hepmc3": Format(hepmc.read, ".hepmc3", ("pyhepmc",)),
    "km3net": Format(km3net.read, ".root", ("km3io",)),
    "leptoninjector": Format(leptoninjector.read, ".h5", ("h5py",)),
    "nuance": Format(genie.read_nuance, ".txt"),
    "prometheus": Format(prometheus.read, ".parquet", ("pyarrow",)),
    "proposal": Format(proposal.read, ".csv"),
    "siren": Format(siren.read, ".jsonl"),
    "siren-hdf5": Format(siren.read_hdf5, ".hdf5", ("awkward", "h5py")),
    "siren-parquet": Format(siren.read_parquet, ".parquet", ("pyarrow",)),
}
COLUMNS = ["event", "type", "x", "y", "z", "dx", "dy", "dz", "energy", "time", "length"]
# The dtype of the table of particles. Row in _rows.py says what its fields are; a length that is not known is NaN.
PARTICLE = [("event", "<u8"), ("type", "<i8"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("dx", "<f8"), ("dy", "<f8"),
            ("dz", "<f8"), ("energy", "<f8"), ("time", "<f8"), ("length", "<f8"), ("parent", "<i4"), ("listed", "?")]
UNITS = {"x": "m", "y": "m", "z": "m", "energy": "GeV", "time": "ns", "length": "m"}


def check(row: Row) -> Row:
    """Raises Fault for a listed particle that no list of particles can have. history is not limited."""
    if row.listed:
        limits = [(name, getattr(row, name), -FARTHEST, FARTHEST, "m") for name in "xyz"]
        limits += [("energy", row.energy, 0, MOST_ENERGY, "GeV"), ("time", row.time, -LATEST, LATEST, "ns"),
                   ("length", row.length or 0, 0, 1e5, "m")]
        for name, value, low, high, unit in limits:
            if not low <= value <= high:
                raise Fault(name, f"{value:g} {unit}", f"{low:g} to {high:g} {unit}, from the detector's centre and with z up")
    return row


def rows(source: Source, form: str, **options: Any) -> Iterator[Row]:
    """The particles of a file, one by one, checked. Raises Fault; an event that decreases, and a file without any listed
    particle, are faults, too."""
    count, event = 0, 0
    for row in FORMATS[form].read(source, **options):
        if row.event < event:
            raise Fault("event", str(row.event), f"{event} or more")
        event, count = row.event, count + row.listed
        yield check(row)
    if not count:
        raise Fault("file", "no particle", "at least one")


def _table(found: Iterable[Row]) -> "Table":
    import numpy as np
    return np.array([row._replace(length=float("nan") if row.length is None else row.length) for row in found], PARTICLE)


def read(path: Union[str, "os.PathLike[str]"], format: str, **options: Any) -> "Table":  # pylint: disable=redefined-builtin
    """The particles of a file as an array of dtype PARTICLE, in the order of the file; events count from 0 unless the format
    numbers them (proposal). format: a key of FORMATS. options: `ways=True` of the three of siren, `codes="pdg"` of evt and
    corsika. Raises InputError with file and place, UsageError, and ImportError with what to install."""
    import inspect
    import warnings

    from .._convert import needed
    from .._library import IcestreamWarning, fault, usage
    if format not in FORMATS:
        raise usage("format: found %r, expected one of %s" % (format, ", ".join(FORMATS)))
    for package in FORMATS[format].packages:
        needed(package, "the format " + format)
    source = Source(os.fspath(path))
    try:
        inspect.signature(FORMATS[format].read).bind(source, **options)
    except TypeError as error:
        raise usage("format %s: %s" % (format, error)) from error
    try:
        table = _table(rows(source, format, **options))
    except Fault as error:
        raise fault("%s: %s: %s" % (source.path, source.where or "file", error)) from error
    except MemoryError:
        raise
    except Exception as error:  # pylint: disable=broad-except  # libraries raise anything for a damaged file
        raise fault("%s: %s: cannot read as %s: %s: %.200s"
                    % (source.path, source.where or "file", format, type(error).__name__, error)) from error
    for note in source.notes:
        warnings.warn("%s: %s" % (source.path, note), IcestreamWarning, stacklevel=2)
    return table


def from_proposal(tracks: Iterable[Tuple[int, int, Any, Any]]) -> "Table":
    """The table of muons and taus that PROPOSAL 7 propagated: for each (event, PDG code, start, secondaries), the ParticleState
    before and what Propagator.propagate returned. Raises InputError."""
    from .._library import fault
    try:
        return _table(check(row) for row in proposal.rows_of(tracks))
    except Fault as error:
        raise fault("tracks: %s" % error) from error


def particles(table: "Table") -> List[Dict[str, Any]]:
    """The listed rows of a table as a list of particles, as run() and submit() take it; they also take the table itself."""
    return [dict(list_fields(row)) for row in rows_of(table) if row.listed]


def rows_of(table: "Table") -> Iterator[Row]:
    """The rows of a table."""
    for values in table.tolist():
        row = Row._make(values)
        yield row._replace(length=None if row.length != row.length else row.length)


def write_csv(found: Iterable[Row], file: IO[str]) -> int:
    """Writes the listed rows as a list of particles (CSV) and returns their number. rows_of(table) gives those of a table."""
    out = csv.writer(file, lineterminator="\n")
    out.writerow(COLUMNS)
    count = 0
    for row in found:
        if row.listed:
            fields = dict(list_fields(row))
            out.writerow([fields.get(name, "") for name in COLUMNS])
            count += 1
    return count


def __getattr__(name: str) -> Any:
    if name in ("to_prometheus", "to_parquet"):
        from . import _learning
        return getattr(_learning, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
