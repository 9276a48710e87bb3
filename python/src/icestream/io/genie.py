"""Events of GENIE: the texts of gntpc (nuance_tracker, t2k_tracker), its summary (gst) and rootracker files."""
from __future__ import annotations

from importlib import import_module
from typing import Any, Iterator, List, Optional

from ._rows import Fault, Row, Source, energy_of, make, number, position, time_of, unit_vector, whole

WORDS = {"begin": 2, "end": 2, "stop": 2, "vertex": 6, "track": 8, "nuance": 2, "genie": 2, "info": 2}


def _nucleus(code: int) -> Optional[int]:
    """The PDG code of a nucleus that NUANCE calls 1000 Z + A; None: the code is no nucleus."""
    charge, mass = code // 1000, code % 1000
    is_nucleus = code > 1000 and charge <= 118 and charge <= mass <= 3 * charge + 2
    return 1000000000 + 10000 * charge + 10 * mass if is_nucleus else None


def _tracker(source: Source, metre: float, units: List[str]) -> Iterator[Row]:
    """Particles before and after the nucleus (status -1 and 0). A vertex holds until the next one; gntpc gives a particle at
    rest the direction -999."""
    event, place, time, is_open, count = -1, [0.0], 0.0, False, 0
    for line in source.lines():
        word = line.split()
        if not word:
            continue
        kind = word[1] if word[0] == "$" and len(word) > 1 else word[0]
        if word[0] != "$" or kind not in WORDS:
            raise Fault("line", line.strip(), "a line of $ begin, nuance, genie, vertex, track, info, end or stop")
        if len(word) < WORDS[kind]:
            raise Fault(kind, f"{len(word)} words", f"{WORDS[kind]}")
        if (kind == "begin") == is_open and kind != "stop" or (kind == "stop" and is_open):
            raise Fault("line", f"$ {kind}", "$ end before it" if is_open else "$ begin before it")
        if kind == "begin":
            event, place, is_open, count = event + 1, [0.0], True, 0
        elif kind == "end":
            is_open = False
        elif kind == "stop":
            return
        elif kind == "vertex":
            place = position(word[2:5], "vertex", metre, units[0])
            time = time_of(word[5], "vertex time", units[1])
        elif kind == "track":
            code, status = whole(word[2], "code"), whole(word[7], "status")
            energy = energy_of(word[3], "energy", "MeV")
            direction = [number(value, "direction", -999, 1.001) for value in word[4:7]]
            if len(place) != 3:
                raise Fault("track", "no vertex before it", "a line $ vertex")
            if status not in (-1, 0):
                continue
            heading = unit_vector([0, 0, 0] if min(direction) < -1.001 else direction, "direction")
            parent = 0 if status == 0 and count else -1
            yield make(event, _nucleus(code) or code, place, heading, energy, time, None, parent, status == 0)
            count += status == -1 or count > 0
    if is_open:
        raise Fault("file", "its end", "$ end of the last event")


def read(source: Source) -> Iterator[Row]:
    """gntpc writes the vertex in the units of GENIE's record, m and s (gNtpConv.cxx, GHepRecord.cxx)."""
    return _tracker(source, 1.0, ["m", "s"])


def read_nuance(source: Source) -> Iterator[Row]:
    """NUANCE and WCSim write the same format in cm and ns."""
    return _tracker(source, 0.01, ["cm", "ns"])


def tree(source: Source, name: str, branches: List[str]) -> Iterator[Any]:
    """The events of a tree: (number, dict of the branches)."""
    uproot = import_module("uproot")
    with uproot.open(source.path) as file:
        if name not in file:
            raise Fault("file", ", ".join(file.keys()), f"a tree {name}")
        missing = sorted(set(branches) - set(file[name].keys()))
        if missing:
            raise Fault(name, f"no {', '.join(missing)}", "these branches")
        batches = file[name].iterate(branches, library="np", step_size="20 MB")
        yield from source.events({key: batch[key][at] for key in branches}
                                 for batch in batches for at in range(len(batch[branches[0]])))


GST = ["neu", "Ev", "pxv", "pyv", "pzv", "fspl", "El", "pxl", "pyl", "pzl", "nf", "pdgf", "Ef", "pxf", "pyf", "pzf", "vtxx",
       "vtxy", "vtxz", "vtxt"]


def read_gst(source: Source) -> Iterator[Row]:
    """The neutrino, the lepton and the hadrons of `gntpc -f gst`: GeV, and the vertex in m and s (gNtpConv.cxx: "SI")."""
    for event, record in tree(source, "gst", GST):
        place, time = position([record["vtx" + axis] for axis in "xyz"], "vtx"), time_of(record["vtxt"], "vtxt", "s")
        count = whole(record["nf"], "nf")
        for name in ("pdgf", "Ef", "pxf", "pyf", "pzf"):
            if len(record[name]) != count:
                raise Fault(name, f"{len(record[name])} values", f"nf, {count}")
        final = [(record["fspl"], record["El"], [record[name] for name in ("pxl", "pyl", "pzl")])]
        final += zip(record["pdgf"], record["Ef"], map(list, zip(record["pxf"], record["pyf"], record["pzf"])))
        first = (record["neu"], record["Ev"], [record[name] for name in ("pxv", "pyv", "pzv")])
        for at, (code, energy, momentum) in enumerate([first, *final]):
            yield make(event, whole(code, "code"), place, unit_vector(momentum, "momentum"), energy_of(energy), time, None,
                      0 if at else -1, at > 0)


def read_rootracker(source: Source) -> Iterator[Row]:
    """The first particle, and those of status 1 (final) of `gntpc -f rootracker`. StdHepP4 is (px, py, pz, E) in GeV, EvtVtx (x,
    y, z, t) in m and s. What is left of the nucleus (status 15) makes no light; its energy is bookkeeping, and may be negative."""
    for event, record in tree(source, "gRooTracker", ["StdHepPdg", "StdHepStatus", "StdHepP4", "EvtVtx"]):
        place, time = position(record["EvtVtx"][:3], "EvtVtx"), time_of(record["EvtVtx"][3], "EvtVtx", "s")
        for at, (code, status, momentum) in enumerate(zip(record["StdHepPdg"], record["StdHepStatus"], record["StdHepP4"])):
            if at == 0 or status == 1:
                yield make(event, whole(code, "StdHepPdg"), place, unit_vector(momentum[:3], "StdHepP4"),
                          energy_of(momentum[3], "StdHepP4"), time, None, 0 if at else -1, at > 0)
