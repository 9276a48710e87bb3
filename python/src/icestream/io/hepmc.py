"""Events in HepMC3, as generators of air showers and neutrinos write them: muon bundles of CORSIKA 8, GENIE, SIREN."""
from __future__ import annotations

from importlib import import_module
from typing import Dict, Iterator, Optional

from ._rows import Fault, LIGHT_SPEED, Row, Source, energy_of, make, number, time_of, unit_vector, whole

METRE = {"MM": 1e-3, "CM": 1e-2}
GEV = {"GEV": 1.0, "MEV": 1e-3}
FINAL = 1  # HepMC3's status of a particle that is stable in the generator


def _count(path: str) -> Optional[int]:
    """The number of events of a text; None: the file is no plain text. pyhepmc ends without an error at a damaged event."""
    with open(path, "rb") as file:
        if not file.read(100).lstrip().startswith(b"HepMC::"):
            return None
        file.seek(0)
        return sum(line.startswith(b"E ") for line in file)


def read(source: Source) -> Iterator[Row]:
    """All particles, at the vertex that made them, or at the one where they end. Those of status 1 are listed. The fourth
    coordinate of a vertex is c t in the unit of length of the file."""
    pyhepmc = import_module("pyhepmc")
    expected, found = _count(source.path), 0
    with pyhepmc.open(source.path) as file:
        for event, record in source.events(file):
            found += 1
            metre, scale = METRE[record.length_unit.name], GEV[record.momentum_unit.name]
            row_of: Dict[int, int] = {particle.id: at for at, particle in enumerate(record.particles)}
            for particle in record.particles:
                vertex = particle.production_vertex
                if (vertex is None or vertex.id == 0) and particle.end_vertex is not None:
                    vertex = particle.end_vertex
                if vertex is None:
                    raise Fault(f"particle {particle.id}", "no vertex", "a vertex that it comes from or ends at")
                at, momentum = vertex.position, particle.momentum
                place = [number(value * metre, f"vertex {axis}", unit="m") for axis, value in zip("xyz", (at.x, at.y, at.z))]
                parents = [row_of[parent.id] for parent in particle.parents if parent.id in row_of]
                yield make(event, whole(particle.pid, "pid"), place,
                          unit_vector((momentum.px, momentum.py, momentum.pz), "momentum"),
                          energy_of(momentum.e * scale), time_of(at.t * metre / LIGHT_SPEED), None, min(parents, default=-1),
                          particle.status == FINAL)
    if expected is not None and found != expected:
        raise Fault("events", f"{found} that can be read", f"{expected}, the lines that begin with E")
