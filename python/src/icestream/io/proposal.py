"""Muons and taus that PROPOSAL 7 propagated (cm, s, MeV): its objects, or a CSV file of them."""
from __future__ import annotations

import csv
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from ._rows import CODES, Fault, Row, Source, energy_of, make, number, position, time_of, unit_vector, whole

COLUMNS = ["event", "type", "x", "y", "z", "dx", "dy", "dz", "energy", "time", "length"]
# Interaction types of PROPOSAL (Particle.h), as names and as numbers from 1000000000. The light of a continuous loss
# is that of the track. A decay is no loss: its products are particles.
LOSSES = {
    "Brems": CODES["brems"], "Ioniz": CODES["delta"], "Epair": CODES["epair"], "Photonuclear": CODES["munu"],
    "MuPair": -2000001005, "Hadrons": CODES["hadr"], "ContinuousEnergyLoss": CODES["dark"], "WeakInt": CODES["hadr"],
    "Compton": CODES["delta"], "Annihilation": 22, "Photopair": CODES["epair"],
}
NUMBERS = dict(zip([*range(2, 11), 12, 13], LOSSES.values()))


def _code(text: str) -> int:
    name = text.strip().rpartition(".")[2]
    if name in LOSSES:
        return LOSSES[name]
    code = whole(text, "type")
    if code <= 1000000000:
        return code
    if code - 1000000000 not in NUMBERS:
        raise Fault("type", str(code), "a PDG code, or a loss of PROPOSAL: " + ", ".join(LOSSES))
    return NUMBERS[code - 1000000000]


def _row(event: int, code: int, place: List[Any], heading: List[Any], energy: Any, time: Any, length: Any, parent: int) -> Row:
    if not any(number(part, axis, -1.001, 1.001) for axis, part in zip(("dx", "dy", "dz"), heading)):
        raise Fault("dx, dy, dz", "0, 0, 0", "a direction")
    metres = None if length is None else number(length, "length", 0, 1e7, "cm") / 100
    return make(event, code, position(place, "position", 0.01, "cm"), unit_vector(heading, "direction", True),
               energy_of(energy, "energy", "MeV"), time_of(time, "time", "s"), metres, parent)


def read(source: Source) -> Iterator[Row]:
    """A CSV file with COLUMNS in PROPOSAL's units. The losses after a particle are those of that particle."""
    names: Optional[List[str]] = None
    event, count, track = None, 0, -1
    for line in source.lines():
        try:
            fields = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise Fault("line", f"no CSV ({error})", "fields with complete quotes") from None
        if names is None:
            names = fields
            missing = sorted(set(COLUMNS) - set(names))
            if missing:
                raise Fault("columns", ", ".join(names), f"also {', '.join(missing)}")
            continue
        if len(fields) != len(names):
            raise Fault("line", f"{len(fields)} fields", f"{len(names)}")
        row: Dict[str, str] = dict(zip(names, fields))
        code, number_of = _code(row["type"]), whole(row["event"], "event")
        if number_of != event:
            event, count, track = number_of, 0, -1
        is_loss = not -1000000000 < code < 1000000000 or code == 22
        track = track if is_loss else count
        yield _row(event, code, [row[axis] for axis in "xyz"], [row[axis] for axis in ("dx", "dy", "dz")], row["energy"],
                   row["time"], row["length"].strip() or None, track if is_loss else -1)
        count += 1


def rows_of(tracks: Iterable[Tuple[int, int, Any, Any]]) -> Iterator[Row]:
    """Rows of (event, PDG code, start, secondaries): the ParticleState that was propagated, and what Propagator.propagate
    returned. The track, its stochastic losses and the products of its decay; losses and products are its children."""
    event, count = None, 0
    for number_of, code, start, secondaries in tracks:
        if number_of != event:
            event, count = number_of, 0
        track = count

        def row(kind: int, state: Any, length: Any = None, parent: int = -1) -> Row:
            return _row(number_of, kind, [getattr(state.position, axis) for axis in "xyz"],
                        [getattr(state.direction, axis) for axis in "xyz"], state.energy, state.time, length, parent)

        yield row(code, start, secondaries.final_state().propagated_distance - start.propagated_distance)
        losses = [row(_code(str(int(loss.type))), loss, None, track) for loss in secondaries.stochastic_losses()]
        products = [row(int(state.type), state, None, track) for state in secondaries.decay_products()]
        yield from losses + products
        count += 1 + len(losses) + len(products)
