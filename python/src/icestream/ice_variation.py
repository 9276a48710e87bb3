"""An ice for each event: SnowStorm (arXiv:1909.01530), from one simulation by weights, or by simulating each event in its ice.

Both ways use the same draws. They depend on the seed and the event alone: neither on photons, nor on other events, nor on the order
in which events are drawn.
"""
from __future__ import annotations

import dataclasses
import json
from typing import Mapping, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Table
from ._commands import Path
from ._library import usage
from .ice import ORIGIN_DEPTH, Array, Gradient, Parameter, Whole

# The columns of a table of layers that a key scales: be400 and adust400 (docs/files.md 15).
_COLUMNS = {"layers.scattering": 1, "layers.be400_per_m": 1, "layers.adust400_per_m": 2}


@dataclasses.dataclass(frozen=True)
class Variation:
    """What vary() draws. events [E]: ascending. x [E, P]: of each event the logarithms of the factors on `parameters`. about: seed,
    sigma and correlation."""

    parameters: Tuple[Parameter, ...]
    events: Whole
    x: Array
    about: Mapping[str, object]

    def of(self, event: int) -> Array:
        """x of an event, shape [P]."""
        return np.asarray(self.x[self._places(np.asarray([event]))[0]], np.float64)

    def _places(self, events: npt.NDArray[np.integer]) -> Whole:
        found = np.minimum(np.searchsorted(self.events, events), len(self.events) - 1)
        missing = self.events[found] != events
        if missing.any():
            raise usage("events: found event %d, expected one of the %d that were drawn" % (events[missing][0], len(self.events)))
        return np.asarray(found, np.int64)

    def log_weights(self, hits: Table, gradient: Gradient) -> Array:
        """ln(weight) of each hit in the ice of its event, shape [hits]. gradient: that of these hits, of the same parameters."""
        if len(hits) != gradient.count:
            raise usage("hits: found %d, expected the %d of the gradient" % (len(hits), gradient.count))
        if gradient.parameters != self.parameters:
            raise usage("gradient: found other parameters than those that were varied, expected the same in the same order")
        x = self.x[self._places(np.asarray(hits)["event_id"].astype(np.int64))[gradient.hit], gradient.parameter]
        each = (gradient.first - gradient.second) * x + gradient.second * np.expm1(x)
        return np.bincount(gradient.hit, each, gradient.count).astype(np.float64)

    def layers(self, event: int, table: npt.ArrayLike) -> Array:
        """A table of layers (docs/files.md 11) in which an event can be simulated: `table`, that of the ice of the parameters, with the
        factors of the event. Rows of the table: depth (m), be400, adust400, temperature difference. Layers must be all that varies."""
        rows = np.array(table, np.float64)
        if rows.ndim != 2 or rows.shape[1] < 3:
            raise usage("table: found an array of shape %s, expected rows of depth, be400, adust400" % (rows.shape, ))
        heights = ORIGIN_DEPTH - rows[:, 0]
        for parameter, x in zip(self.parameters, self.of(event)):
            if parameter.kind not in _COLUMNS:
                raise usage("parameters: found %s, expected keys of the table of layers: %s" %
                            (parameter.name, ", ".join(_COLUMNS)))
            inside = (heights >= parameter.bottom) & (heights < parameter.top)
            if inside.sum() != 1:
                raise usage("table: found %d rows between the heights %g and %g m of %s, expected one" %
                            (inside.sum(), parameter.bottom, parameter.top, parameter.name))
            rows[inside, _COLUMNS[parameter.kind]] *= np.exp(x)
        return rows

    def save(self, path: Path) -> None:
        """Records the draws in a file of NumPy (.npz)."""
        np.savez(path, events=self.events, x=self.x, parameters=json.dumps(self.parameters), about=json.dumps(dict(self.about)))

    @staticmethod
    def load(path: Path) -> "Variation":
        with np.load(path) as file:
            return Variation(tuple(Parameter(*one) for one in json.loads(str(file["parameters"]))), file["events"], file["x"],
                             json.loads(str(file["about"])))


def _normal(seed: int, event: int, count: int) -> Array:
    """Normal numbers of an event: Philox (its 64-bit words do not change with versions of NumPy), and Box and Muller."""
    words = np.random.Philox(key=np.array([seed, event], np.uint64)).random_raw(count + count % 2)
    uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    radius, angle = np.sqrt(-2 * np.log(uniform[0::2])), 2 * np.pi * uniform[1::2]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:count]


def vary(events: npt.ArrayLike,
         parameters: Sequence[Parameter],
         sigma: Mapping[str, float],
         seed: int,
         correlation: Mapping[str, float] = {}) -> Variation:
    """Draws an ice for each event: x is normal with the mean 0.

    parameters: of a Gradient. sigma: for each of their keys the standard deviation of x, about a relative change. seed: 0 to 2^64 -
    1. correlation: for keys of layers the length L (m) over which layers vary together: the correlation of layers at the distance d is
    exp(-d / L); without it layers are independent."""
    kinds = [parameter.kind for parameter in parameters]
    if not kinds or set(sigma) != set(kinds) or not all(np.isfinite(value) and value >= 0 for value in sigma.values()):
        raise usage("sigma: found %s, expected a number of at least 0 for each of %s" % (dict(sigma), ", ".join(sorted(set(kinds)))))
    for parameter in parameters:
        if not parameter.exact and sigma[parameter.kind] > 0:
            raise usage("sigma: found %g for %s, of which only the derivative at 0 is known, expected 0" %
                        (sigma[parameter.kind], parameter.name))
    factor = np.diag([sigma[kind] for kind in kinds]).astype(np.float64)
    for kind, length in correlation.items():
        chosen = np.array([i for i, parameter in enumerate(parameters) if parameter.kind == kind], np.int64)
        heights = np.array([(parameters[i].bottom + parameters[i].top) / 2 for i in chosen])
        if not len(chosen) or not np.all(np.isfinite(heights)) or not (np.isfinite(length) and length > 0):
            raise usage("correlation: found %s for %s, expected a length above 0 for a key of layers" % (length, kind))
        together = np.exp(-np.abs(heights[:, None] - heights) / length)
        factor[np.ix_(chosen, chosen)] = sigma[kind] * np.linalg.cholesky(together)
    numbers = np.unique(np.asarray(events, np.int64))
    x = np.array([factor @ _normal(seed, int(event), len(kinds)) for event in numbers]).reshape(len(numbers), len(kinds))
    about = {"seed": seed, "sigma": dict(sigma), "correlation": dict(correlation)}
    return Variation(tuple(parameters), numbers, x, about)
