"""What the readers share: rows of the table of particles, and their checks. Only Python's own library is needed."""
from __future__ import annotations

import math
import reprlib
from typing import Any, BinaryIO, Callable, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

LIGHT_SPEED = 0.299792458  # m/ns
FARTHEST = 1e4  # m, the largest coordinate of icestream
MOST_ENERGY = 1e11  # GeV
LATEST = 1e12  # ns
# Rest energies of nucleons make no light (GeV, Review of Particle Physics).
NUCLEONS = {2212: 0.938272, 2112: 0.939565}
# Names in particle lists of the codes of IceTray for losses (docs/particles.md).
NAMES = {-2000001001: "brems", -2000001002: "delta", -2000001003: "epair", -2000001004: "munu", -2000001006: "hadr",
         -2000001111: "dark"}
CODES = {name: code for code, name in NAMES.items()}


class Fault(Exception):
    """A record that cannot be read: the field, what was found, what was expected."""

    def __init__(self, what: str, found: Any, expected: str) -> None:
        found = found if isinstance(found, str) else reprlib.repr(found)
        super().__init__(f"{what}: found {found[:60]}, expected {expected}")


class Row(NamedTuple):
    """A particle of the table. The energy is the total energy, with the mass. length: None if it is not known. parent: the row
    of the same event that made it, from 0; -1: none. listed: whether the particle is given to icestream; False is history,
    such as the incoming neutrino, or a particle whose own products are in the table."""

    event: int
    type: int
    x: float
    y: float
    z: float
    dx: float
    dy: float
    dz: float
    energy: float
    time: float = 0.0
    length: Optional[float] = None
    parent: int = -1
    listed: bool = True


def make(event: int, code: int, position: Sequence[float], direction: Sequence[float], energy: float, time: float = 0.0,
         length: Optional[float] = None, parent: int = -1, listed: bool = True) -> Row:
    """A row of a position (m) and a direction of length 1."""
    x, y, z = position
    dx, dy, dz = direction
    return Row(event, code, x, y, z, dx, dy, dz, energy, time, length, parent, listed)


class Source:
    """A file that is read. where: the line or the event that is being read, for messages. notes: what the user must know."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.where = ""
        self.notes: List[str] = []

    def lines(self) -> Iterator[str]:
        """The lines of a text in UTF-8. `where` becomes their number."""
        with open(self.path, "rb") as file:
            yield from self.text_of(file)

    def text_of(self, file: BinaryIO) -> Iterator[str]:
        self.where = "1"
        for at, line in enumerate(file, 1):
            self.where = str(at)
            try:
                yield line.decode("utf-8-sig" if at == 1 else "utf-8")
            except UnicodeDecodeError:
                raise Fault("line", "bytes that are no text", "text in UTF-8") from None

    def events(self, records: Iterable[Any]) -> Iterator[Any]:
        """The events of a file that has no lines: (number, record)."""
        for number_of, record in enumerate(records):
            self.where = f"event {number_of}"
            yield number_of, record


Reader = Callable[..., Iterator[Row]]


def number(value: Any, what: str, low: float = -math.inf, high: float = math.inf, unit: str = "") -> float:
    """A finite number of a text or of a value."""
    expected = f"a number{unit and ' in '}{unit}"
    if isinstance(value, bool) or not (isinstance(value, str) or hasattr(value, "__float__")):
        raise Fault(what, value, expected)
    try:
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Fault(what, value if isinstance(value, str) else "a huge number", expected) from None
    if not math.isfinite(result) or not low <= result <= high:
        raise Fault(what, str(value), f"{expected} from {low:g} to {high:g}" if low > -math.inf else expected)
    return result


def whole(value: Any, what: str) -> int:
    result = number(value, what)
    if result != int(result) or abs(result) > 2**53:
        raise Fault(what, str(value), "a whole number")
    return int(result)


def position(values: Sequence[Any], what: str, metre: float = 1.0, unit: str = "m") -> List[float]:
    """Three coordinates (m). metre: the length of a unit of the file."""
    most = FARTHEST / metre
    return [number(value, f"{what} {axis}", -most, most, unit) * metre for axis, value in zip("xyz", values)]


def energy_of(value: Any, what: str = "energy", unit: str = "GeV") -> float:
    """An energy (GeV) of a number in GeV or MeV."""
    scale = {"GeV": 1.0, "MeV": 1e-3}[unit]
    return number(value, what, 0, MOST_ENERGY / scale, unit) * scale


def time_of(value: Any, what: str = "time", unit: str = "ns") -> float:
    """A time (ns) of a number in ns or s."""
    scale = {"ns": 1.0, "s": 1e9}[unit]
    return number(value, what, -LATEST / scale, LATEST / scale, unit) * scale


def unit_vector(vector: Sequence[Any], what: str, is_unit: bool = False) -> List[float]:
    """The direction of a momentum; a particle at rest has none, and gets (0, 0, 1). is_unit: the file gives directions, so
    that another length is an error."""
    parts = [number(value, f"{what} {axis}") for axis, value in zip("xyz", vector)]
    size = math.hypot(*parts)
    if size == 0:
        return [0.0, 0.0, 1.0]
    if is_unit and abs(size - 1) > 2e-3:
        raise Fault(what, f"a length of {size:.6g}", "the length 1 of a direction")
    return [part / size for part in parts]


def from_angles(theta: Any, phi: Any, what: str) -> List[float]:
    """The direction of travel with polar angle theta and azimuth phi (radians)."""
    polar = number(theta, f"{what} theta", -1e-6, math.pi + 1e-6, "radians")
    azimuth = number(phi, f"{what} phi", -2 * math.pi - 1e-6, 2 * math.pi + 1e-6, "radians")
    return [math.sin(polar) * math.cos(azimuth), math.sin(polar) * math.sin(azimuth), math.cos(polar)]


def list_fields(row: Row) -> Iterator[Tuple[str, Any]]:
    """The keys of a particle in a list of particles. The rest energy of a nucleon makes no light."""
    kind: Any = NAMES.get(row.type, row.type)
    energy = row.energy
    if row.type in NUCLEONS:
        kind, energy = "hadr", max(energy - NUCLEONS[row.type], 0.0)
    yield from zip(("event", "type", "x", "y", "z", "dx", "dy", "dz", "energy", "time"),
                   (row.event, kind, *row[2:8], energy, row.time))
    if row.length is not None:
        yield "length", row.length


def turned(rows: Sequence[Row], degrees: float = 60.0) -> bool:
    """Whether the products of the first particle go elsewhere than it: more than `degrees` away (above 10 GeV)."""
    products = [row for row in rows if row.parent == 0]
    if not products or rows[0].energy < 10:
        return False
    x, y, z = (sum(row.energy * getattr(row, axis) for row in products) for axis in ("dx", "dy", "dz"))
    along = x * rows[0].dx + y * rows[0].dy + z * rows[0].dz
    return bool(along < math.hypot(x, y, z) * math.cos(math.radians(degrees)))
