"""Events for PyTorch, simulated while they are read: no file is written. Needs torch; docs/learning.md shows a training.

    data = icestream.torch.Events(draw, "run.yaml", events=100000, batch=32)
    for batch in torch.utils.data.DataLoader(data, batch_size=None, num_workers=4): ...
"""
from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Dict, Iterator, List, Mapping, Sequence, Tuple, Union

import numpy as np

from . import io
from ._arrays import Hits, Table
from ._commands import geometry
from ._config import Config, Settings
from ._convert import needed
from ._library import usage
from ._session import Session

torch = needed("torch", "icestream.torch")

Drawn = Union[Sequence[Mapping[str, Any]], Table]
Dataset: Any = torch.utils.data.IterableDataset
SENSOR = ("sensor_x", "sensor_y", "sensor_z")
TRUTH = ("x", "y", "z", "dx", "dy", "dz", "energy", "time")


def _truth_of(particle: Mapping[str, Any]) -> List[float]:
    """TRUTH of a particle; docs/particles.md has the formula of its direction."""
    if "zenith" in particle:
        zenith, azimuth = np.radians(particle["zenith"]), np.radians(particle.get("azimuth", 0))
        direction = [-np.sin(zenith) * np.cos(azimuth), -np.sin(zenith) * np.sin(azimuth), -np.cos(zenith)]
    else:
        direction = [particle.get(name, float("nan")) for name in ("dx", "dy", "dz")]
    start = [particle.get(name, float("nan")) for name in "xyz"]
    return [*start, *direction, particle.get("energy", float("nan")), particle.get("time", 0.0)]


class Events(Dataset):  # type: ignore[misc]
    """Batches of events: particles are drawn, their light is made, and photons are followed in a session of each worker.

    draw: a function of (event, random) that returns the particles of an event, a list of dicts or a table of icestream.io;
    random is a numpy.random.Generator of its own for each event. events: how many; first: the number of the first one. batch: events
    in a batch, which the dataset makes itself, so give the DataLoader batch_size=None. fields: of hits, and sensor_x, sensor_y,
    sensor_z (m), the position of the module. ragged: hits without padding. seed: of `random`; the photons have run.seed. ahead:
    batches that are simulated while one is used. dtype: of hits and truth. config, settings: as for Session; with several workers
    on a CPU give {"device.threads": 1}, because each has a session.

    A batch is a dict: event (batch), truth (batch, TRUTH) of the first particle of each event, counts (batch) of hits, and hits
    (batch, most hits, fields), 0 behind the counts; if ragged, (sum of hits, fields), one event after the other. It depends on
    its events alone: batches are the same, and come in the same order, for any number of workers.
    Each iteration has the same events; for others, change `first`.
    """

    def __init__(self, draw: Callable[[int, np.random.Generator], Drawn], config: Config = None, *, events: int, first: int = 0,
                 batch: int = 1, fields: Sequence[str] = ("t", *SENSOR, "weight"), ragged: bool = False, seed: int = 0,
                 ahead: int = 2, dtype: Any = torch.float32, settings: Settings = None) -> None:
        super().__init__()
        for name, value, least in (("events", events, 1), ("first", first, 0), ("batch", batch, 1), ("seed", seed, 0), ("ahead", ahead, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise usage("%s: found %r, expected a whole number from %d" % (name, value, least))
        from ._arrays import HIT
        unknown = [name for name in fields if name not in SENSOR and name not in (HIT.names or ())]
        if unknown or not fields:
            raise usage("fields: found %s, expected some of %s" % (unknown, ", ".join([*(HIT.names or ()), *SENSOR])))
        self.draw, self.config, self.settings = draw, config, settings
        self.events, self.first, self.batch, self.fields = events, first, batch, tuple(fields)
        self.ragged, self.seed, self.ahead, self.dtype = ragged, seed, ahead, dtype

    def __len__(self) -> int:
        """The number of batches."""
        return -(-self.events // self.batch)

    def particles_of(self, event: int) -> List[Dict[str, Any]]:
        """The particles of an event, as they are given to the session."""
        drawn = self.draw(event, np.random.default_rng([self.seed, event]))
        found = io.particles(drawn) if isinstance(drawn, np.ndarray) else [dict(particle) for particle in drawn]
        if not found:
            raise usage("draw: event %d: found no particle, expected at least one" % event)
        return [{**particle, "event": event} for particle in found]

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        worker = torch.utils.data.get_worker_info()
        mine = range(worker.id if worker else 0, len(self), worker.num_workers if worker else 1)
        modules = geometry(self.config, settings=self.settings) if set(self.fields) & set(SENSOR) else None
        with Session(self.config, settings=self.settings, tickets=self.ahead + 1) as session:
            waiting: Deque[Tuple[int, List[int], List[List[float]]]] = collections.deque()
            for number in mine:
                begin = self.first + number * self.batch
                numbers = list(range(begin, min(begin + self.batch, self.first + self.events)))
                lists = [self.particles_of(event) for event in numbers]
                ticket = session.submit(particles=[particle for found in lists for particle in found])
                waiting.append((ticket, numbers, [_truth_of(found[0]) for found in lists]))
                if len(waiting) > self.ahead:
                    yield self._batch(session, *waiting.popleft(), modules)
            while waiting:
                yield self._batch(session, *waiting.popleft(), modules)

    def _batch(self, session: Session, ticket: int, numbers: List[int], truth: List[List[float]], modules: Any) -> Dict[str, Any]:
        hits = session.result(ticket)
        ends = np.searchsorted(hits["event_id"], np.array(numbers, np.uint64), side="right")
        counts = torch.from_numpy(np.diff(ends, prepend=0).astype(np.int64))
        values = torch.from_numpy(self._values(hits, modules)).to(self.dtype)
        if not self.ragged:
            parts = torch.split(values, counts.tolist())
            values = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True)
        return {"event": torch.tensor(numbers), "truth": torch.tensor(truth, dtype=self.dtype), "counts": counts, "hits": values}

    def _values(self, hits: Hits, modules: Any) -> Any:
        """The fields of hits: (hits, fields)."""
        columns: Dict[str, Any] = {}
        if modules is not None:
            keys = modules["string"].astype(np.uint32) << np.uint32(16) | modules["module"]
            order = np.argsort(keys)
            at = order[np.searchsorted(keys[order], hits["string"].astype(np.uint32) << np.uint32(16) | hits["module"])]
            columns = {name: modules[name[-1]][at] for name in SENSOR}
        return np.stack([np.asarray(columns[name] if name in columns else hits[name], np.float64) for name in self.fields], axis=1)
