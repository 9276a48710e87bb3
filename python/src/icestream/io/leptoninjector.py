"""Events of LeptonInjector (HDF5): a neutrino and its two products, for each injector of the file."""
from __future__ import annotations

import math
from importlib import import_module
from typing import Iterator

from ._rows import Fault, Row, Source, energy_of, from_angles, make, position, turned, whole

# GeV, Constants.h of LeptonInjector
MASSES = {11: 0.000511, 13: 0.105658374, 15: 1.77686}
FIELDS = {"ParticleType", "Position", "Direction", "Energy"}


def read(source: Source) -> Iterator[Row]:
    """DataWriter.cxx: positions in m, energies in GeV, no times. `Direction` is (theta, phi) of the direction of travel, because
    LeptonInjector.cxx goes from the vertex along it to the detector. The `Energy` of a product is its momentum: kineticEnergy()
    in Particle.cxx returns sqrt(E^2 - m^2)."""
    h5py = import_module("h5py")
    with h5py.File(source.path, "r") as file:
        event, wrong = 0, 0
        for name, group in file.items():
            tables = []
            for part in ("initial", "final_1", "final_2"):
                if part not in group or not FIELDS <= set(group[part].dtype.names or ()):
                    raise Fault(f"{name}/{part}", "another content", "a table with " + ", ".join(sorted(FIELDS)))
                tables.append(group[part][()])
            if len({len(table) for table in tables}) != 1:
                raise Fault(name, "tables of different lengths", "a row in each table for each event")
            for records in zip(*tables):
                source.where = f"event {event}"
                rows = []
                for at, record in enumerate(records):
                    code, energy = whole(record["ParticleType"], "ParticleType"), energy_of(record["Energy"], "Energy")
                    heading = from_angles(record["Direction"][0], record["Direction"][1], "Direction")
                    energy = math.hypot(energy, MASSES.get(abs(code), 0.0)) if at else energy
                    rows.append(make(event, code, position(record["Position"], "Position"), heading, energy, 0.0, None,
                                    0 if at else -1, at > 0))
                wrong += turned(rows)
                yield from rows
                event += 1
    if wrong:
        source.notes.append(f"{wrong} events have products that go elsewhere than their neutrino: found more than 60 degrees "
                            "between them, expected less. The products are used.")
