"""Events of Prometheus (Parquet): `mc_truth`, with the neutrino and all particles that it made."""
from __future__ import annotations

import math
from importlib import import_module
from typing import Iterator, List

from ._rows import Fault, LIGHT_SPEED, Row, Source, energy_of, from_angles, make, position, turned, whole

NAMES = ("type", "energy", "zenith", "azimuth", "x", "y", "z")
TRACKS = {13, 15}


def read(source: Source) -> Iterator[Row]:
    """m, GeV and radians. `zenith` and `azimuth` are the polar angle and azimuth of the direction of travel (particle.py:
    theta, phi), and not where the particle comes from. The files have neither times nor lengths: a muon or tau with children
    ends at them, and they start when light would be there."""
    parquet = import_module("pyarrow.parquet")
    file = parquet.ParquetFile(source.path)
    if "mc_truth" not in file.schema_arrow.names:
        raise Fault("columns", ", ".join(file.schema_arrow.names), "mc_truth")
    wrong = late = 0
    batches = file.iter_batches(batch_size=256, columns=["mc_truth"])
    for event, record in source.events(value for batch in batches for value in batch.column(0).to_pylist()):
        missing = [name for name in NAMES if "initial_state_" + name not in record or "final_state_" + name not in record]
        if missing:
            raise Fault("mc_truth", "no " + ", ".join(missing), "initial_state_ and final_state_ of " + ", ".join(NAMES))
        columns = [record["final_state_" + name] for name in NAMES]
        parents = record.get("final_state_parent", [0] * len(columns[0]))
        if len({len(column) for column in (*columns, parents)}) != 1:
            raise Fault("final_state", "lists of different lengths", "a value for each particle")
        rows: List[Row] = []
        for at, (code, energy, zenith, azimuth, *place) in enumerate(
                [[record["initial_state_" + name] for name in NAMES], *zip(*columns)]):
            parent = whole(parents[at - 1], "final_state_parent") if at else -1
            if at and not 0 <= parent < at:
                raise Fault("final_state_parent", str(parent), f"0 to {at - 1}")
            where, time = position(place, "position"), 0.0
            if parent > 0:
                way = math.dist(where, rows[parent][2:5])
                time = rows[parent].time + way / LIGHT_SPEED
                if abs(rows[parent].type) in TRACKS:
                    rows[parent] = rows[parent]._replace(length=way)
                late += 1
            rows.append(make(event, whole(code, "type"), where, from_angles(zenith, azimuth, "direction"), energy_of(energy), time,
                            None, parent, at > 0))
        wrong += turned(rows)
        yield from rows
    if late:
        source.notes.append(f"{late} particles are products of a muon or tau: Prometheus has no times, and they start when light "
                            "from the first vertex would be there.")
    if wrong:
        source.notes.append(f"{wrong} events have products that go elsewhere than their neutrino: found more than 60 degrees "
                            "between them, expected less. The products are used.")
