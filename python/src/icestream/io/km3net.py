"""Events of KM3NeT: offline files (ROOT, by km3io) of gSeaGen, MUPAGE, GENHEN and CORSIKA, and their texts (evt)."""
from __future__ import annotations

from importlib import import_module
from typing import Any, Dict, Iterator, List

from ._rows import Fault, Row, Source, energy_of, make, number, time_of, unit_vector, whole
from .genie import tree

FINAL = 1  # TRK_ST_FINALSTATE, in km3io.definitions.trkmembers
# Codes of GEANT 3 and their PDG codes: ConvertGeant3ToPdg of ROOT's TDatabasePDG. A neutrino has no flavour there.
GEANT3 = {
    1: 22, 2: -11, 3: 11, 4: -2000000004, 5: -13, 6: 13, 7: 111, 8: 211, 9: -211, 10: 130, 11: 321, 12: -321, 13: 2112, 14: 2212,
    15: -2212, 16: 310, 17: 221, 18: 3122, 19: 3222, 20: 3212, 21: 3112, 22: 3322, 23: 3312, 24: 3334, 25: -2112, 26: -3122,
    27: -3222, 28: -3212, 29: -3112, 30: -3322, 31: -3312, 32: -3334, 33: -15, 34: 15, 35: 411, 36: -411, 37: 421, 38: -421,
    39: 431, 40: -431, 41: 4122, 45: 1000010020, 46: 1000010030, 47: 1000020040, 49: 1000020030,
}


def _place(values: List[Any]) -> List[float]:
    return [number(value, f"position {axis}", unit="m") for axis, value in zip("xyz", values)]


def _length(value: Any) -> Any:
    """The length of a track (m). 0 or less, as JSirene writes for muons outside the detector, is not known."""
    length = number(value, "length", -1e9, 1e9, "m")
    return length if length > 0 else None


def read(source: Source) -> Iterator[Row]:
    """`mc_trks` of an offline file. Particles of status FINAL are listed. If the file has no status, or only 0, these are all but
    the first one. Times are those of the event, without mc_t."""
    km3io = import_module("km3io")
    file = km3io.OfflineReader(source.path)
    trees = file.mc_trks
    if trees is None:
        raise Fault("file", "no mc_trks", "simulated events")
    names = ["id", "pdgid", "E", "t", "len", "pos_x", "pos_y", "pos_z", "dir_x", "dir_y", "dir_z"]
    missing = [name for name in names if name not in trees.fields]
    if missing:
        raise Fault("mc_trks", "no " + ", ".join(missing), "these fields")
    names += [name for name in ("status", "mother_id") if name in trees.fields]
    columns = {name: getattr(trees, name) for name in names}
    for event, _ in source.events(range(len(file))):
        track = {name: column[event].tolist() for name, column in columns.items()}
        count = len(track["id"])
        states = track.get("status", [0] * count)
        has_states = any(states)
        row_of: Dict[int, int] = {}
        for at, number_of in enumerate(track["id"]):
            row_of.setdefault(number_of, at)
        for at in range(count):
            mother = row_of.get(track["mother_id"][at], -1) if has_states and "mother_id" in track else (0 if at else -1)
            heading = unit_vector([track["dir_" + axis][at] for axis in "xyz"], "dir", True)
            yield make(event, whole(track["pdgid"][at], "pdgid"), _place([track["pos_" + axis][at] for axis in "xyz"]), heading,
                      energy_of(track["E"][at], "E"), time_of(track["t"][at], "t"), _length(track["len"][at]), mother,
                      states[at] == FINAL if has_states else at > 0)


def read_gseagen(source: Source) -> Iterator[Row]:
    """gSeaGen's own tree `Events`: the neutrino and the particles that it made (GeV, m, ns)."""
    parts = ("Pdg", "E", "Vx", "Vy", "Vz", "Dx", "Dy", "Dz", "T")
    for event, record in tree(source, "Events", [f"{part}_{which}" for which in ("nu", "tr") for part in parts]):
        neutrino = [record[part + "_nu"] for part in parts]
        for at, (code, energy, x, y, z, dx, dy, dz, t) in enumerate(
                [neutrino, *zip(*(record[part + "_tr"] for part in parts))]):
            yield make(event, whole(code, "Pdg"), _place([x, y, z]), unit_vector([dx, dy, dz], "direction", True),
                      energy_of(energy), time_of(t), None, 0 if at else -1, at > 0)


def _fields(line: str, name: str, least: int) -> List[str]:
    fields = line.split()
    if len(fields) < least:
        raise Fault(name, f"{len(fields)} fields", f"{least}")
    return fields


def read_evt(source: Source, codes: str = "geant3") -> Iterator[Row]:
    """A text with `start_event`, `neutrino`, `track_primary` and `track_in` lines: number, x y z (m), direction, energy (GeV), time
    (ns), code, and perhaps length. codes: "geant3", or "pdg" for programs that write those."""
    if codes not in ("geant3", "pdg"):
        raise Fault("codes", codes, "geant3 or pdg")
    event, count, tracks, is_open = -1, 0, 0, False
    for line in source.lines():
        name, _, rest = line.strip().partition(":")
        if name == "start_event":
            if is_open:
                raise Fault("line", name, "end_event before it")
            event, count, is_open = event + 1, 0, True
        elif name == "end_event":
            is_open = False
        elif name in ("neutrino", "track_primary", "track_in"):
            if not is_open:
                raise Fault("line", name, "start_event before it")
            field = _fields(rest, name, 13 if name == "neutrino" else 10)
            code = whole(field[12 if name == "neutrino" else 9], f"{name}: code")
            if name != "neutrino" and codes == "geant3" and (name == "track_in" or 0 <= code < 100):
                if code not in GEANT3:
                    raise Fault(f"{name}: code", str(code), "a code of GEANT 3, or codes='pdg' for PDG codes")
                code = GEANT3[code]
            length = _length(field[10]) if name == "track_in" and len(field) == 11 else None
            yield make(event, code, _place(field[1:4]), unit_vector(field[4:7], "direction", True), energy_of(field[7]),
                      time_of(field[8]), length, 0 if count and name == "track_in" else -1, name == "track_in")
            count += name != "track_in" or count > 0
            tracks += name == "track_in"
    if is_open:
        raise Fault("file", "its end", "end_event of the last event")
    if not tracks:
        raise Fault("file", "no track_in", "track_in lines, which a program makes that propagates muons to the detector")
