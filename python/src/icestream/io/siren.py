"""Events of SIREN: the trees that SaveEvents writes as HDF5 or Parquet, or Parquet as lines of JSON (m, ns, GeV)."""
from __future__ import annotations

import json
import math
from importlib import import_module
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from ._rows import CODES, Fault, LATEST, LIGHT_SPEED, MOST_ENERGY, Row, Source, make, number, position, unit_vector, whole

# Particles without charge that make no light unless they interact again (ParticleTypes.def).
INVISIBLE = {*range(5910, 5917), 5921, 5901, 5902, 5903}
CHARGED = {11, 13, 15}
NEEDED = {"vertex", "primary_type", "secondary_types", "secondary_momenta"}
USED = [*sorted(NEEDED), "primary_momentum", "parent_idx", "vertex_time", "secondary_times"]


def listed(value: Any, what: str, count: Optional[int] = None) -> List[Any]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        found = f"a list of {len(value)}" if isinstance(value, list) else value
        raise Fault(what, found, "a list" if count is None else f"a list of {count}")
    return value


def momentum_of(value: Any, what: str) -> List[float]:
    """(E, px, py, pz) in GeV."""
    momentum = [number(part, what, -MOST_ENERGY, MOST_ENERGY, "GeV") for part in listed(value, what, 4)]
    if math.hypot(*momentum[1:]) > momentum[0] * (1 + 1e-6) + 1e-6:
        raise Fault(what, momentum, "(E, px, py, pz) with E at least as large as the momentum")
    return momentum


def time(value: Any, what: str) -> float:
    return number(value, what, -LATEST, LATEST, "ns")


class Tree:
    """The interactions of one event, with the secondaries that make them."""

    def __init__(self, record: Any) -> None:
        if not isinstance(record, dict):
            raise Fault("record", record, "an object with vertex, primary_type, ... (to_json with lines=True)")
        record = {name: value for name, value in record.items() if value is not None}
        missing = NEEDED - set(record)
        if missing:
            raise Fault("record", f"no {', '.join(sorted(missing))}", "these of SIREN's SaveEvents")
        vertices = listed(record["vertex"], "vertex")
        count = len(vertices)
        if count == 0:
            raise Fault("vertex", "an empty list", "at least one vertex")
        self.vertices = [position(listed(v, f"vertex {i}", 3), f"vertex {i}") for i, v in enumerate(vertices)]

        def column(name: str, convert: Callable[[Any, str], Any]) -> Any:
            if name not in record:
                return None
            return [convert(value, f"{name} {i}") for i, value in enumerate(listed(record[name], name, count))]

        def each(convert: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
            return lambda values, what: [convert(v, f"{what}.{k}") for k, v in enumerate(listed(values, what))]

        self.primaries = column("primary_type", whole)
        self.types = column("secondary_types", each(whole))
        self.momenta = column("secondary_momenta", each(momentum_of))
        self.primary_momenta = column("primary_momentum", momentum_of)
        self.parents = column("parent_idx", whole)
        self.times = column("vertex_time", time)
        own = column("secondary_times", each(time))
        for i, types in enumerate(self.types):
            listed(self.momenta[i], f"secondary_momenta {i}", len(types))
            if own is not None:
                listed(own[i], f"secondary_times {i}", len(types))
        self.link()
        self.set_times(own)

    def link(self) -> None:
        """Finds the secondary that makes each vertex: self.origin[i] is (vertex, number), None for a root."""
        self.origin: List[Optional[Tuple[int, int]]] = [None] * len(self.vertices)
        taken = set()
        for i, kind in enumerate(self.primaries):
            parent = self.parents[i] if self.parents else (None if i else -1)
            if parent == -1:
                continue
            if parent is not None and not 0 <= parent < i:
                raise Fault(f"parent_idx {i}", str(parent), f"-1, or an earlier vertex: 0 to {i - 1}")
            among = range(i) if parent is None else [parent]
            found = [(p, k) for p in among for k, t in enumerate(self.types[p]) if t == kind and (p, k) not in taken]
            if not found:
                raise Fault(f"primary_type {i}", str(kind), "the type of a secondary of its parent")
            if len(found) > 1 and self.primary_momenta is None:
                raise Fault(f"vertex {i}", f"{len(found)} possible secondaries of type {kind}", "primary_momentum")
            best = min(found, key=lambda at: self.distance(i, at)) if len(found) > 1 else found[0]
            if len(found) > 1 and self.distance(i, best) > 0.01:
                raise Fault(f"primary_momentum {i}", self.primary_momenta[i], "that of a secondary of its parent")
            self.origin[i] = best
            taken.add(best)

    def distance(self, i: int, at: Tuple[int, int]) -> float:
        """Difference of momenta, relative to the energy."""
        wanted, found = self.primary_momenta[i], self.momenta[at[0]][at[1]]
        return math.dist(wanted, found) / max(float(wanted[0]), 1e-9)

    def way_to(self, i: int) -> Tuple[float, float]:
        """Length (m) and time (ns) of the way to a vertex. SIREN flies at the speed of the momentum."""
        origin = self.origin[i]
        if origin is None:
            return 0.0, 0.0
        energy, *momentum = self.momenta[origin[0]][origin[1]]
        length = math.dist(self.vertices[i], self.vertices[origin[0]])
        speed = min(math.hypot(*momentum) / energy, 1.0) if energy > 0 else 0.0
        if length > 0 and speed == 0:
            raise Fault(f"vertex {i}", f"a way of {length:g} m of a particle at rest", "a momentum")
        return length, length / (speed * LIGHT_SPEED) if length > 0 else 0.0

    def set_times(self, own: Any) -> None:
        """Events of SIREN before July 2026 have no times: then the first vertex has 0. If a newer SIREN wrote such an
        event again, all its times are 0."""
        ways = [self.way_to(i) for i in range(len(self.vertices))]
        given = [moment for times in [self.times or [], *(own or [])] for moment in times]
        self.has_zeros = bool(given) and not any(given) and any(length for length, _ in ways)
        if self.has_zeros:
            self.times = own = None
        if self.times is None:
            self.times = [0.0] * len(self.vertices)
            for i, origin in enumerate(self.origin):
                if own and own[i]:
                    self.times[i] = min(own[i])
                elif origin is not None:
                    self.times[i] = self.times[origin[0]] + ways[i][1]
        for i, origin in enumerate(self.origin):
            least = ways[i][0] / LIGHT_SPEED
            earliest = self.times[origin[0]] + least if origin else self.times[i]
            if self.times[i] < earliest - 0.01 - 1e-4 * least - 1e-9 * abs(earliest):
                raise Fault(f"vertex_time {i}", f"{self.times[i]:.6g} ns",
                            f"{earliest:.6g} ns or more, {ways[i][0]:.6g} m after its parent")
        self.secondary_times = own or [[moment] * len(types) for moment, types in zip(self.times, self.types)]


def _rows(source: Source, records: Iterator[Any], ways: bool) -> Iterator[Row]:
    """The primary of each root, and all secondaries. Those that interact again are not listed, because their own secondaries
    are. ways: charged ones are listed as tracks to their next vertex."""
    lengths: List[float] = []
    zeros = 0
    for event, record in enumerate(records):
        tree = Tree(record)
        zeros += tree.has_zeros
        goes_to = {origin: i for i, origin in enumerate(tree.origin) if origin}
        row_of: Dict[Tuple[int, int], int] = {}
        count = 0
        for i, vertex in enumerate(tree.vertices):
            origin = tree.origin[i]
            parent = row_of[origin] if origin else -1
            if origin is None and tree.primary_momenta is not None:
                energy, *momentum = tree.primary_momenta[i]
                yield make(event, tree.primaries[i], vertex, unit_vector(momentum, "primary_momentum"), energy, tree.times[i],
                          None, -1, False)
                parent, count = count, count + 1
            for k, (kind, (energy, *momentum)) in enumerate(zip(tree.types[i], tree.momenta[i])):
                row_of[i, k] = count
                count += 1
                row = make(event, CODES["dark"] if abs(kind) in INVISIBLE else kind, vertex, unit_vector(momentum, "momentum"),
                          energy, tree.secondary_times[i][k], None, parent, (i, k) not in goes_to)
                if not row.listed and abs(kind) in CHARGED and tree.way_to(goes_to[i, k])[0] > 0:
                    lengths.append(tree.way_to(goes_to[i, k])[0])
                    row = row._replace(length=lengths[-1], listed=ways and abs(kind) != 11)
                yield row
    if zeros:
        source.notes.append(f"{zeros} events have the time 0 at all vertices; their times are computed from the distances.")
    if lengths and not ways:
        source.notes.append(f"{len(lengths)} charged particles fly {sum(lengths):.6g} m to their next vertices. The light of "
                            "these ways is not in the list; ways writes them as tracks.")


def _json(source: Source) -> Iterator[Any]:
    for line in source.lines():
        if line.strip():
            try:
                yield json.loads(line)
            except RecursionError:
                raise Fault("line", "lists in lists", "a JSON object of SIREN") from None
            except ValueError as error:
                raise Fault("line", f"no JSON ({error})", "one JSON object per line (to_json with lines=True)") from None


def read(source: Source, ways: bool = False) -> Iterator[Row]:
    """Lines of JSON."""
    return _rows(source, _json(source), ways)


def read_parquet(source: Source, ways: bool = False) -> Iterator[Row]:
    parquet = import_module("pyarrow.parquet")
    file = parquet.ParquetFile(source.path)
    names = [name for name in USED if name in file.schema_arrow.names]
    batches = file.iter_batches(batch_size=256, columns=names)
    return _rows(source, (record for _, record in source.events(row for batch in batches for row in batch.to_pylist())), ways)


def read_hdf5(source: Source, ways: bool = False) -> Iterator[Row]:
    """SIREN_Controller.py writes the buffers of an awkward array into the group Events, its form and length as attributes."""
    awkward = import_module("awkward")
    h5py = import_module("h5py")
    with h5py.File(source.path, "r") as file:
        if "Events" not in file or not {"form", "length"} <= set(file["Events"].attrs):
            raise Fault("file", ", ".join(file), "a group Events with the attributes form and length")
        group = file["Events"]
        table = awkward.from_buffers(awkward.forms.from_json(group.attrs["form"]), int(group.attrs["length"]),
                                     {name: data[()] for name, data in group.items()})
        names = [name for name in USED if name in table.fields]
        records = (table[names][at].to_list() for at in range(len(table)))
        yield from _rows(source, (record for _, record in source.events(records)), ways)
