"""Light in another ice from hits that are there: expectations, their derivatives, and fits of the ice.

docs/reweighting.md has the formulas. A parameter x is the logarithm of a factor f = exp(x) on a coefficient of the ice in
which the hits were simulated, so x = 0 is that ice. Along the path of a hit that was scattered n times in a layer and passed
the optical depth tau there, the weight of f on the layer's scattering is exactly exp(n x - tau (f - 1)); of absorption, which
ends no path that hit, n is 0.

Units of statistics are photons: the weights of the hits of one photon are summed before they are squared.
"""
from __future__ import annotations

import dataclasses
import functools
import json
import os
import struct
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import Table
from ._commands import Path, _call, _interruptible, _warn
from ._config import Config, Settings, encode, open_config, settings_of
from ._convert import needed
from ._folder import Folder
from ._library import IcestreamWarning, TextStream, fault, ffi, lib, strings, usage

Array = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Paths = Union[Path, Sequence[Path]]
ORIGIN_DEPTH = 1948.07  # depth (m) of z = 0, docs/physics.md 1
_IDENTITY = ("event_id", "step_id", "photon_id")


class Parameter(NamedTuple):
    """What derivatives belong to. name: unique. kind: the key of the ice file, or "scale". bottom, top: heights (m) of its layer,
    -inf and inf if it is of no
    layer. value: of the coefficient in the ice of the hits. exact: weights are exact for every x; otherwise only the derivative
    at x = 0 is known."""

    name: str
    kind: str
    bottom: float = -np.inf
    top: float = np.inf
    value: float = 1.0
    exact: bool = True


@dataclasses.dataclass(frozen=True)
class Gradient:
    """Derivatives of ln(weight) of hits by parameters x at x = 0, without zeros: entry i says that hit `hit[i]` has the
    first derivative `first[i]` and the second derivative `second[i]` by `parameters[parameter[i]]`.

    With n = first - second and tau = -second, ln(weight) = sum over entries of n x - tau (exp(x) - 1) for every x. count: the
    number of hits."""

    parameters: Tuple[Parameter, ...]
    count: int
    hit: Whole
    parameter: Whole
    first: Array
    second: Array

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) != len(names):
            raise usage("parameters: found a name twice in %s, expected different names" % names)
        for name, limit in (("hit", self.count), ("parameter", len(names))):
            values = getattr(self, name)
            if values.shape != self.first.shape or self.second.shape != self.first.shape:
                raise usage(
                    "gradient: found arrays of different lengths, expected the same length of hit, parameter, first and second")
            if len(values) and not (values.min() >= 0 and values.max() < limit):
                raise usage("gradient: %s: found numbers from %d to %d, expected 0 to %d" %
                            (name, values.min(), values.max(), limit - 1))

    @functools.cached_property
    def _rows(self) -> Tuple[Any, Any]:
        """n and tau as sparse matrices [count, P] with the same places."""
        sparse = needed("scipy.sparse", "icestream.ice", "scipy")
        shape = (self.count, len(self.parameters))
        place = sparse.csr_matrix((np.arange(1, len(self.hit) + 1), (self.hit, self.parameter)), shape=shape)
        if place.nnz != len(self.hit):
            raise usage("gradient: found several entries for the same hit and parameter, expected one")
        order = place.data - 1
        return (sparse.csr_matrix((self.first[order] - self.second[order], place.indices, place.indptr),
                                  shape=shape), sparse.csr_matrix((-self.second[order], place.indices, place.indptr),
                                                                  shape=shape))

    def log_weights(self, x: npt.ArrayLike) -> Array:
        """ln(weight) of each hit at the parameters x, shape [count]."""
        scatters, depths = self._rows
        point = self._checked(x)
        return np.asarray(scatters @ point - depths @ np.expm1(point), np.float64)

    def slopes(self, x: npt.ArrayLike) -> Any:
        """The derivatives of ln(weight) at x: n - tau exp(x), a sparse matrix of SciPy, [count, P]."""
        scatters, depths = self._rows
        slopes = scatters.copy()
        slopes.data -= depths.data * np.exp(self._checked(x))[depths.indices]
        return slopes

    def _checked(self, x: npt.ArrayLike) -> Array:
        point = np.asarray(x, np.float64)
        if point.shape != (len(self.parameters), ) or not np.all(np.isfinite(point)):
            raise usage("x: found an array of shape %s, expected %d finite numbers" % (point.shape, len(self.parameters)))
        for parameter, number in zip(self.parameters, point):
            if number != 0 and not parameter.exact:
                raise usage(
                    "x: found %g for %s, of which only the derivative at 0 is known, expected 0; weights() gives the weights "
                    "of such a change"
                    % (number, parameter.name))
        return point

    def part(self, chosen: npt.NDArray[np.bool_]) -> "Gradient":
        """That of the hits that are chosen, shape [count]."""
        used = chosen[self.hit]
        return Gradient(self.parameters, int(chosen.sum()), (np.cumsum(chosen) - 1)[self.hit[used]], self.parameter[used],
                        self.first[used], self.second[used])

    def merged(self, groups: npt.ArrayLike, parameters: Sequence[Parameter]) -> "Gradient":
        """One parameter for several: parameter i becomes parameters[groups[i]], or none if groups[i] is -1, so that several
        layers get a common factor."""
        new = np.asarray(groups, np.int64)
        if new.shape != (len(self.parameters), ) or (len(new) and not (new.min() >= -1 and new.max() < len(parameters))):
            raise usage("groups: found an array of shape %s, expected %d numbers from -1 to %d" %
                        (new.shape, len(self.parameters), len(parameters) - 1))
        kept = new[self.parameter] >= 0
        key = self.hit[kept] * len(parameters) + new[self.parameter[kept]]
        found, index = np.unique(key, return_inverse=True)
        return Gradient(tuple(parameters), self.count, found // max(len(parameters), 1), found % max(len(parameters), 1),
                        np.bincount(index, self.first[kept], len(found)).astype(np.float64),
                        np.bincount(index, self.second[kept], len(found)).astype(np.float64))

    def with_scales(self, hits: Table, by: str = "event_id") -> "Gradient":
        """The same with a further parameter for the light of each value of a field of the hits, such as the unknown brightness of
        each flasher: a factor on the weights."""
        if len(hits) != self.count:
            raise usage("hits: found %d, expected the %d of the gradient" % (len(hits), self.count))
        values, index = np.unique(np.asarray(hits)[by], return_inverse=True)
        ones = np.ones(len(index))
        return Gradient(self.parameters + tuple(Parameter("scale %s %s" % (by, value), "scale") for value in values), self.count,
                        np.concatenate([self.hit, np.arange(len(index))]),
                        np.concatenate([self.parameter, len(self.parameters) + index]), np.concatenate([self.first, ones]),
                        np.concatenate([self.second, 0 * ones]))


def weights(hits: Paths, to: Paths, config: Config = None, *, steps: Optional[Path] = None, settings: Settings = None) -> Array:
    """The weights of hits in other ices, by `icestream reweight`: how much more probable their paths are there.

    hits: a hit file of icestream run, or several of one run. to: a YAML file with the keys that change, or KEY=VALUE, or several
    of
    both. config: of the run; None: as the hit file lists it. steps: the step file, if it is not found.

    Returns an array of the shape [hits], or [hits, len(to)] if `to` is a list. Raises ConfigError if no weight describes a
    change, DifferentError if a hit is not on the path of its
    photon, InputError."""
    targets = _texts(to, "to")
    options = ffi.new("icestream_reweight_options *")
    rows, _ = _replayed("icestream_reweight", options, hits, {"targets": targets}, config, steps, settings)
    values = np.array(rows["weights"], np.float64).reshape(len(rows), len(targets))
    return values[:, 0] if isinstance(to, (str, os.PathLike)) else values


def gradient(hits: Paths,
             parameters: Sequence[str] = ("layers.scattering", "layers.absorption"),
             config: Config = None,
             *,
             steps: Optional[Path] = None,
             settings: Settings = None) -> Gradient:
    """The derivatives of the logarithms of weights of hits, by `icestream gradient`. parameters: keys of docs/files.md 15; those
    of layers stand for
    all layers. Everything else is as for weights()."""
    options = ffi.new("icestream_gradient_options *")
    rows, about = _replayed("icestream_gradient", options, hits,
                            {"parameters": [encode(name, "parameters") for name in parameters]}, config, steps, settings)
    everywhere = [-np.inf, np.inf]  # depths of what is of no layer
    found = tuple(
        Parameter(one["name"], one["key"], ORIGIN_DEPTH - one.get("depth_m", everywhere)[1], ORIGIN_DEPTH -
                  one.get("depth_m", everywhere)[0], one["value"], one["exact"]) for one in about["parameters"])
    return Gradient(found, about["hits"], rows["hit"].astype(np.int64), rows["parameter"].astype(np.int64),
                    rows["value"].astype(np.float64), np.nan_to_num(rows["second"].astype(np.float64)))


def _texts(given: Paths, name: str) -> List[bytes]:
    """Paths or KEY=VALUE for the library."""
    return [encode(one, name) for one in ([given] if isinstance(given, (str, os.PathLike)) else given)]


@_interruptible
def _replayed(function: str, options: Any, hits: Paths, lists: Dict[str, List[bytes]], config: Config, steps: Optional[Path],
              settings: Settings) -> Tuple[Table, Dict[str, Any]]:
    """Calls icestream_reweight or icestream_gradient. Returns the rows and the metadata of the file that they write."""
    chosen = ffi.NULL if config is None and settings is None else open_config(config, settings_of(settings))
    kept: List[Any] = []
    with Folder() as folder:
        output = os.path.join(folder, "made.npy")
        for name, texts in {"hits": _texts(hits, "hits"), **lists}.items():
            pointer, count, alive = strings(texts)
            kept += [pointer, alive]
            setattr(options, name, pointer)
            setattr(options, name[:-1] + "_count", count)
        for name, path in (("output", output), ("steps", steps)):
            if path is not None:
                kept.append(ffi.new("char[]", encode(path, name)))
                setattr(options, name, kept[-1])
        with TextStream() as report:
            _call(folder, getattr(lib, function), chosen, options, report.stream)
            _warn(report.text())
        with open(output, "rb") as file:
            file.seek(-32, os.SEEK_END)
            start, length = struct.unpack("<QQ16x", file.read(32))
            file.seek(start)
            about: Dict[str, Any] = json.loads(file.read(length))
        return np.load(output), about


class Bins:
    """Bins in fields of hits, such as the module, and in time.

    hits: *simulated* hits. A bin is used if their effective number of photons in it is at least `least`; never choose bins by the
    data, whose
    fluctuations would choose. times: edges (ns), ascending; None: one bin for all times. `labels` names the bins that are used:
    the fields of `by`, and
    `early` and `late` (ns)."""
    def __init__(self,
                 hits: Table,
                 times: Optional[npt.ArrayLike] = None,
                 by: Sequence[str] = ("string", "module"),
                 *,
                 least: float = 25.0) -> None:
        self.by = tuple(by)
        self.times = np.asarray([-np.inf, np.inf] if times is None else times, np.float64)
        if self.times.ndim != 1 or len(self.times) < 2 or not np.all(np.diff(self.times) > 0):
            raise usage("times: found %s, expected at least two ascending edges" % (self.times, ))
        self.keys = np.unique(self._fields(hits))
        self._numbers = np.arange(len(self.keys) * (len(self.times) - 1))  # the bin of each pair of fields and time
        light, squares = _photon_sums(hits, self.index(hits), np.asarray(hits["weight"], np.float64), len(self._numbers))
        used = (light > 0) & (light * light >= least * squares)
        if not used.any():
            raise usage("bins: found no bin in %s and times with %g effective photons among %d hits, expected one" %
                        (", ".join(self.by), least, len(hits)))
        place, time = np.divmod(np.nonzero(used)[0], len(self.times) - 1)
        self._numbers = np.where(used, np.cumsum(used) - 1, -1)
        self.labels = np.empty(len(place), self.keys.dtype.descr + [("early", "<f8"), ("late", "<f8")])
        for name in self.by:
            self.labels[name] = self.keys[name][place]
        self.labels["early"], self.labels["late"] = self.times[time], self.times[time + 1]

    def _fields(self, hits: Table) -> Table:
        if not isinstance(hits, np.ndarray) or not set(self.by + ("t", "weight") + _IDENTITY) <= set(hits.dtype.names or ()):
            raise usage("hits: found %s, expected an array of hits with the fields %s" %
                        (type(hits).__name__, ", ".join(self.by)))
        rows = np.asarray(hits)
        keys = np.empty(len(rows), [(name, rows.dtype[name]) for name in self.by])
        for name in self.by:
            keys[name] = rows[name]
        return keys

    def __len__(self) -> int:
        return len(self.labels)

    def index(self, hits: Table) -> Whole:
        """The bin of each hit, -1 outside of all bins."""
        keys = self._fields(hits)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        time = np.searchsorted(self.times, hits["t"], side="right") - 1
        inside = (self.keys[place] == keys) & (time >= 0) & (time < len(self.times) - 1)
        return np.where(inside, self._numbers[np.where(inside, place * (len(self.times) - 1) + time, 0)], -1).astype(np.int64)

    def counts(self, hits: Table) -> Array:
        """The number of hits in each bin: for data, whose rows count 1 each."""
        index = self.index(hits)
        return np.bincount(index[index >= 0], minlength=len(self)).astype(np.float64)


BinsOrIndex = Union[Bins, npt.NDArray[np.integer[Any]]]


def _photons(hits: Table) -> Whole:
    """The same number for hits of the same photon, shape [hits]."""
    columns = [np.asarray(hits)[name] for name in _IDENTITY]
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    if len(order):
        new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(new)
    return numbers


def _cells(hits: Table, index: Whole, count: int) -> Tuple[Whole, Whole, Whole]:
    """The pairs of photon and bin: the photon and the bin of each, sorted by them, and the pair of each hit (-1: in no bin)."""
    inside = index >= 0
    key = _photons(hits)[inside] * count + index[inside]
    found, back = np.unique(key, return_inverse=True)
    cell = np.full(len(index), -1, np.int64)
    cell[inside] = back
    return found // count, found % count, cell


def _photon_sums(hits: Table, index: Whole, weights: Array, count: int) -> Tuple[Array, Array]:
    """Sum of weights, and sum of squared weights of photons, in each bin."""
    _, bins, cell = _cells(hits, index, count)
    inside = cell >= 0
    sums = np.bincount(cell[inside], weights[inside], len(bins))
    return np.bincount(bins, sums, count).astype(np.float64), np.bincount(bins, sums * sums, count).astype(np.float64)


@dataclasses.dataclass(frozen=True)
class Expectation:
    """Expected light in bins. B: number of bins, P: number of parameters.

    values, variance [B]: the sum of weights and its statistical variance. derivatives, variance_derivatives [B, P]: of both by
    the parameters x.
    effective: the number of photons of equal weight whose sum would fluctuate as much, all bins together."""

    values: Array
    variance: Array
    derivatives: Array
    variance_derivatives: Array
    effective: float
    _photon: Whole
    _bin: Whole
    _sums: Array

    def covariance(self) -> Array:
        """The statistical covariance of the values, shape [B, B]: the sum over photons of what a photon adds to two bins, as a
        photon that goes on after a hit may be in several. Raises UsageError above 1e9 bytes."""
        count = len(self.values)
        if 8 * count * count > 1e9:
            raise usage(
                "covariance: found %d bins, whose covariance has %.3g bytes, expected at most 1e9; `variance` is its diagonal" %
                (count, 8.0 * count * count))
        matrix = np.diag(self.variance)
        for shift in range(1, len(self._photon)):  # all pairs of cells of a photon, which are next to each other
            same = np.nonzero(self._photon[shift:] == self._photon[:-shift])[0]
            if not len(same):
                break
            products = self._sums[same] * self._sums[same + shift]
            np.add.at(matrix, (self._bin[same], self._bin[same + shift]), products)
            np.add.at(matrix, (self._bin[same + shift], self._bin[same]), products)
        return matrix


def _index(hits: Table, bins: BinsOrIndex) -> Tuple[Whole, int]:
    if isinstance(bins, Bins):
        return bins.index(hits), len(bins)
    index = np.asarray(bins)
    if index.shape != (len(hits), ) or index.dtype.kind not in "iu" or (len(index) and index.min() < -1):
        raise usage("bins: found an array of %s of shape %s, expected Bins, or %d whole numbers from -1" %
                    (index.dtype, index.shape, len(hits)))
    return index.astype(np.int64), int(index.max(initial=-1)) + 1


def expected(hits: Table,
             bins: BinsOrIndex,
             x: Optional[npt.ArrayLike] = None,
             *,
             gradient: Optional[Gradient] = None,
             weights: Optional[npt.ArrayLike] = None,
             scale: float = 1.0) -> Expectation:
    """The expected light in bins in another ice, with its derivatives and statistical covariance.

    bins: Bins, or for each hit the number of its bin, -1 for none. x: the parameters of `gradient`; None: 0, the ice of the hits.
    weights: factors on
    the weights of the hits, shape [hits], such as weights() gives. scale: a factor on all weights: light of the data / light that
    was simulated."""
    index, count = _index(hits, bins)
    total = np.asarray(hits["weight"], np.float64) * scale
    if weights is not None:
        factors = np.asarray(weights, np.float64)
        if factors.shape != total.shape or not np.all(np.isfinite(factors)) or np.any(factors < 0):
            raise usage("weights: found an array of shape %s, expected %d finite numbers from 0" % (factors.shape, len(total)))
        total = total * factors
    if gradient is None and x is not None:
        raise usage("x: found parameters without a gradient, expected gradient=...")
    if gradient is not None and gradient.count != len(hits):
        raise usage("gradient: found one of %d hits, expected one of %d" % (gradient.count, len(hits)))
    size = 0 if gradient is None else len(gradient.parameters)
    point = np.zeros(size) if x is None else np.asarray(x, np.float64)
    if gradient is not None:
        total = total * np.exp(gradient.log_weights(point))
    photon, place, cell = _cells(hits, index, max(count, 1))
    inside = cell >= 0
    sums = np.bincount(cell[inside], total[inside], len(photon)).astype(np.float64)
    derivatives = variances = np.zeros((count, size))
    if gradient is not None:
        sparse = needed("scipy.sparse", "icestream.ice", "scipy")
        slopes, hit = gradient.slopes(point), np.nonzero(inside)[0]
        derivatives, variances = ((sparse.csr_matrix(
            (factors[hit], (index[hit], hit)), shape=(count, len(hits))) @ slopes).toarray()
                                  for factors in (total, 2 * total * np.where(inside, sums[cell], 0)))
    photons = np.bincount(photon, sums) if len(photon) else np.zeros(0)
    squares = float(np.sum(photons * photons))
    return Expectation(
        np.bincount(place, sums, count).astype(np.float64),
        np.bincount(place, sums * sums, count).astype(np.float64), derivatives, variances,
        float(photons.sum())**2 / squares if squares > 0 else 0.0, photon, place, sums)


class Likelihood(NamedTuple):
    """ln(likelihood) of each bin, and its derivatives by the expectation and by its variance, shape [B] each."""

    log: Array
    by_value: Array
    by_variance: Array


def effective_likelihood(data: npt.ArrayLike, values: npt.ArrayLike, variance: npt.ArrayLike) -> Likelihood:
    """The Poisson likelihood of counts k with an expectation that a finite simulation knows only as values +- sqrt(variance):
    the mean of Poisson(k; m) over m of a gamma distribution with shape a = values^2/variance + 1 and rate b = values/variance,

        L = b^a Gamma(k + a) / (k! (1 + b)^(k + a) Gamma(a)),

    equation 3.16 of Arguelles, Schneider and Yuan, JHEP 06 (2019) 030, arXiv:1901.04645. A variance of 0 is Poisson's. A bin
    without
    data and without light has ln L = 0; one with data and without light is an error (UsageError)."""
    special = needed("scipy.special", "icestream.ice", "scipy")
    k, mean, spread = np.broadcast_arrays(*(np.atleast_1d(np.asarray(array, np.float64)) for array in (data, values, variance)))
    if not (np.all(np.isfinite(k)) and np.all(k >= 0) and np.all(np.isfinite(mean)) and np.all(mean >= 0) and
            np.all(spread >= 0)):
        raise usage("likelihood: found a negative or infinite number, expected counts, expectations and variances from 0")
    dark = np.nonzero((mean == 0) & (k > 0))[0]
    if len(dark):
        raise usage(
            "likelihood: found %g hits in bin %d, where the simulation has no light (%d such bins), expected simulated light "
            "in every bin with data: "
            "simulate more photons, or use wider bins" % (k[dark[0]], dark[0], len(dark)))
    log, by_value, by_variance = np.zeros(k.shape), np.zeros(k.shape), np.zeros(k.shape)
    plain = (spread == 0) & (mean > 0)
    log[plain] = k[plain] * np.log(mean[plain]) - mean[plain] - special.gammaln(k[plain] + 1)
    by_value[plain] = k[plain] / mean[plain] - 1
    lit = (spread > 0) & (mean > 0)
    k, m, v = k[lit], mean[lit], spread[lit]
    a, b = m * m / v + 1, m / v
    log[lit] = -a * np.log1p(1 / b) + special.gammaln(k + a) - special.gammaln(a) - special.gammaln(k + 1) - k * np.log1p(b)
    by_a = -np.log1p(1 / b) + special.digamma(k + a) - special.digamma(a)
    by_b = a / b - (k + a) / (1 + b)
    by_value[lit] = by_a * 2 * b + by_b / v
    by_variance[lit] = -by_a * b * b - by_b * b / v
    return Likelihood(log, by_value, by_variance)


class Prior(NamedTuple):
    """What is known beforehand: ln p = -0.5 (x - centre)^T precision (x - centre). precision [P, P], centre [P]."""

    precision: Array
    centre: Array


def gaussian(parameters: Sequence[Parameter], sigma: float, kind: Optional[str] = None, centre: float = 0.0) -> Prior:
    """Every parameter (of a kind) is `centre` with the standard deviation sigma, independently."""
    _check_sigma(sigma)
    chosen = _chosen(parameters, kind)
    return Prior(np.diag(chosen / sigma**2), chosen * centre)


def smooth(parameters: Sequence[Parameter], sigma: float, kind: str) -> Prior:
    """Neighbouring layers have parameters of a kind that differ by 0 with the standard deviation sigma. A parameter is a
    *change* of the ice that was simulated, whose own steps between layers cost nothing."""
    _check_sigma(sigma)
    chosen = np.nonzero(_chosen(parameters, kind))[0]
    order = chosen[np.argsort([parameters[i].bottom for i in chosen], kind="stable")]
    precision = np.zeros((len(parameters), len(parameters)))
    for below, above in zip(order[:-1], order[1:]):
        precision[below, below] += sigma**-2
        precision[above, above] += sigma**-2
        precision[below, above] -= sigma**-2
        precision[above, below] -= sigma**-2
    return Prior(precision, np.zeros(len(parameters)))


def _check_sigma(sigma: float) -> None:
    if not sigma > 0:
        raise usage("sigma: found %r, expected a number above 0" % (sigma, ))


def _chosen(parameters: Sequence[Parameter], kind: Optional[str]) -> Array:
    chosen = np.array([kind in (None, parameter.kind) for parameter in parameters], np.float64)
    if not chosen.any():
        raise usage("kind: found %r, expected one of %s" % (kind, sorted({parameter.kind for parameter in parameters})))
    return chosen


@dataclasses.dataclass(frozen=True)
class Fit:
    """The result of fit(). P: number of parameters.

    x, errors [P], covariance [P, P]: logarithms of the factors relative to the ice of the first hits, of data, priors and finite
    simulation together. simulation_errors [P]: the part of the errors that more simulated photons remove. prior_errors [P]: those
    without data, inf where no prior gives any. expectation: at x. data [B]. log_posterior: ln L + ln prior, without what the
    priors' norm adds. share: the effective number of photons at x relative to that of the ice in
    which the last hits were simulated. simulations: how many fresh simulations were made. iterations: steps of the fit."""

    parameters: Tuple[Parameter, ...]
    x: Array
    errors: Array
    covariance: Array
    simulation_errors: Array
    prior_errors: Array
    expectation: Expectation
    data: Array
    log_posterior: float
    share: float
    simulations: int
    iterations: int

    @property
    def factors(self) -> Array:
        """exp(x): factors on the coefficients."""
        return np.exp(self.x)

    def pulls(self, truth: npt.ArrayLike) -> Array:
        """(x - truth) / error."""
        return np.asarray((self.x - np.asarray(truth, np.float64)) / self.errors, np.float64)

    def pulls_chi2(self, truth: npt.ArrayLike) -> float:
        """(x - truth)^T covariance^-1 (x - truth): a chi-square with P degrees of freedom where the priors are right or weak."""
        difference = self.x - np.asarray(truth, np.float64)
        return float(difference @ np.linalg.solve(self.covariance, difference))

    def bin_pulls(self) -> Array:
        """(data - expectation) / sqrt(expectation + variance) of each bin with light, in the order of the bins."""
        mean, variance = self.expectation.values, self.expectation.variance
        lit = mean > 0
        return np.asarray((self.data - mean)[lit] / np.sqrt((mean + variance)[lit]), np.float64)


class _State(NamedTuple):
    """What a step starts from. score: what has to become 0; information: minus its derivative; spread: the covariance of the
    score that comes from the data and the
    simulation, and spread_simulation its part from the simulation. log: ln(posterior)."""

    x: Array
    log: float
    score: Array
    information: Array
    spread: Array
    spread_simulation: Array
    expectation: Expectation


Fresh = Callable[[Array], Tuple[Table, Gradient]]


def fit(data: Union[Table, npt.ArrayLike],
        hits: Table,
        parameters: Gradient,
        priors: Sequence[Prior] = (),
        *,
        bins: Bins,
        scale: float = 1.0,
        method: str = "split",
        simulate: Optional[Fresh] = None,
        least_share: float = 0.5,
        most: int = 100) -> Fit:
    """Fits parameters of the ice to data by the weights of simulated hits, exactly at every step.

    data: measured hits, or counts in the bins. parameters: what gradient() gives of the hits. scale: light of the data / light
    that was simulated.

    method: "gauss-newton" maximises effective_likelihood() and the priors with exact weights at every step, and "iminuit" does the
    same by iminuit. Both pull parameters towards the simulated ice if the simulation has not much more light than the data, because
    a hit that fluctuates counts in the expectation and in its slope. "split" has no such pull: it makes one step from a simulation,
    with expectations of one half of the photons and slopes of the other half, and its errors contain the noise of the slopes. The step
    is linear, so its result must not be far from the simulated ice. docs/reweighting.md has the formulas.

    If the effective number of photons falls below `least_share` of that of the unweighted hits, the fit goes on from a
    fresh simulation: simulate(x) returns hits and gradient of the ice with the factors exp(x) on the first ice, and its light
    must have the same scale. Without
    `simulate` there is a warning. most: the largest number of steps, after which FailedError is raised. Raises UsageError for
    wrong arguments."""
    counts = bins.counts(data) if isinstance(data, np.ndarray) and data.dtype.names is not None else np.asarray(data, np.float64)
    if counts.shape != (len(bins), ):
        raise usage("data: found an array of shape %s, expected hits or the counts of %d bins" % (counts.shape, len(bins)))
    if not 0 < least_share < 1:
        raise usage("least_share: found %r, expected a number between 0 and 1" % (least_share, ))
    if method not in ("split", "gauss-newton", "iminuit"):
        raise usage("method: found %r, expected split, gauss-newton or iminuit" % (method, ))
    if method == "iminuit" and simulate is not None:
        raise usage(
            "simulate: found a function with method='iminuit', which cannot change its simulation, expected split or gauss-newton"
        )
    size = len(parameters.parameters)
    for prior in priors:
        if prior.precision.shape != (size, size) or prior.centre.shape != (size, ):
            raise usage("priors: found one of shape %s, expected (%d, %d)" % (prior.precision.shape, size, size))
    problem = _Problem(counts, bins, priors, scale, hits, parameters, method == "split")
    if method == "iminuit":
        state, iterations = _migrad(problem, most)
    else:
        state, iterations = (_split_steps if method == "split" else _newton)(problem, simulate, least_share, most)
    share = problem.share(state)
    if share < least_share:
        warnings.warn(
            "fit: the effective number of photons at the result is %.3g of that of the simulated ice, expected at least %g: "
            "simulate at the result "
            "and fit again, or give `simulate`" % (share, least_share),
            IcestreamWarning,
            stacklevel=2)
    inverse = np.linalg.inv(state.information)
    known = sum((prior.precision for prior in priors), np.zeros((size, size)))
    covariance = inverse @ (state.spread + known) @ inverse
    of_simulation = inverse @ state.spread_simulation @ inverse
    return Fit(parameters.parameters, problem.base + state.x, np.sqrt(np.diag(covariance)), covariance,
               np.sqrt(np.diag(of_simulation)), _prior_errors(known), state.expectation, counts, state.log, share,
               problem.simulations, iterations)


def _prior_errors(precision: Array) -> Array:
    """Errors of parameters by the priors alone, inf for those that have none or only relative ones."""
    values, vectors = np.linalg.eigh(precision)
    free = values <= 1e-12 * values.max(initial=1e-300)
    errors = np.sqrt((vectors[:, ~free] ** 2) @ (1 / values[~free]))
    errors[np.any(np.abs(vectors[:, free]) > 1e-6, axis=1)] = np.inf
    return np.asarray(errors, np.float64)


def _together(one: Expectation, other: Expectation) -> Expectation:
    """The sum of expectations of different photons."""
    light, squares = (float(np.sum([np.sum(np.bincount(part._photon, part._sums)**power) for part in (one, other)]))
                      for power in (1, 2))
    return Expectation(one.values + other.values, one.variance + other.variance, one.derivatives + other.derivatives,
                       one.variance_derivatives + other.variance_derivatives, light * light / squares if squares > 0 else 0.0,
                       np.concatenate([one._photon, other._photon + 1 + one._photon.max(initial=0)]),
                       np.concatenate([one._bin, other._bin]), np.concatenate([one._sums, other._sums]))


class _Problem:
    """Data, priors, and the simulation that is weighted now. base: the ice of the simulation relative to the first one."""
    def __init__(self, data: Array, bins: Bins, priors: Sequence[Prior], scale: float, hits: Table, gradient: Gradient,
                 split: bool) -> None:
        self.data, self.bins, self.priors, self.scale, self.split = data, bins, priors, scale, split
        self.base = np.zeros(len(gradient.parameters))
        self.simulations = 0
        self._use(hits, gradient)

    def _use(self, hits: Table, gradient: Gradient) -> None:
        self.gradient = gradient
        odd = _photons(hits) % 2 == 1
        self.parts = [(hits[half], gradient.part(half)) for half in (odd, ~odd)] if self.split else [(hits, gradient)]
        self.full = expected(hits, self.bins, scale=self.scale).effective

    def refresh(self, x: Array, simulate: Fresh) -> None:
        """Goes on from a fresh simulation at x."""
        self.base = self.base + x
        hits, gradient = simulate(self.base.copy())
        if [parameter.name for parameter in gradient.parameters] != [parameter.name for parameter in self.gradient.parameters]:
            raise usage("simulate: found a gradient with other parameters, expected those of the first simulation")
        self.simulations += 1
        self._use(hits, gradient)

    def share(self, state: _State) -> float:
        """The effective number of photons at a point relative to the unweighted simulation."""
        return state.expectation.effective / self.full

    def at(self, x: Array) -> _State:
        """The posterior and the score at x, relative to the present simulation."""
        parts = [expected(hits, self.bins, x, gradient=gradient, scale=self.scale) for hits, gradient in self.parts]
        there = parts[0] if len(parts) == 1 else _together(*parts)
        likelihood = effective_likelihood(self.data, there.values, there.variance)
        log = float(likelihood.log.sum())
        score, information, spread, of_simulation = self._effective(there, likelihood)
        if self.split:
            score, information, spread, of_simulation = self._split(parts, there)
        for prior in self.priors:
            pull = self.base + x - prior.centre
            log -= 0.5 * float(pull @ prior.precision @ pull)
            score = score - prior.precision @ pull
            information = information + prior.precision
        return _State(x, log, score, information, spread, of_simulation, there)

    def _effective(self, there: Expectation, likelihood: Likelihood) -> Tuple[Array, Array, Array, Array]:
        """The derivative of the effective likelihood. The information of a bin about its expectation is 1/(expectation +
        variance): data and simulation fluctuate
        independently."""
        score = likelihood.by_value @ there.derivatives + likelihood.by_variance @ there.variance_derivatives
        lit = there.values > 0
        slopes, both = there.derivatives[lit], (there.values + there.variance)[lit]
        information = (slopes.T / both) @ slopes
        return score, information, information, (slopes.T * (there.variance[lit] / both**2)) @ slopes

    def _split(self, halves: List[Expectation], there: Expectation) -> Tuple[Array, Array, Array, Array]:
        """The sum over halves h and bins of u (k/2 - m_h), with the expectation m_h of a half and the slopes u = D/(m + v) of the
        other half, whose
        fluctuations are independent of those of m_h. D: derivative, v: variance."""
        size = len(self.base)
        score = np.zeros(size)
        information, of_simulation = np.zeros((size, size)), np.zeros((size, size))
        both = np.zeros((len(self.bins), size))
        for here, other in (halves, halves[::-1]):
            slopes = np.zeros_like(both)
            lit = other.values > 0
            slopes[lit] = other.derivatives[lit] / (other.values + other.variance)[lit, None]
            score += (self.data / 2 - here.values) @ slopes
            information += slopes.T @ here.derivatives
            of_simulation += (slopes.T * here.variance) @ slopes
            both += slopes / 2
        return score, (information + information.T) / 2, (both.T * there.values) @ both + of_simulation, of_simulation


def _check_determined(information: Array, parameters: Sequence[Parameter]) -> None:
    """Raises UsageError if a combination of parameters has no positive information."""
    values, vectors = np.linalg.eigh(information)
    if values[0] <= 1e-12 * max(values[-1], 0.0):
        weak = parameters[int(np.argmax(np.abs(vectors[:, 0])))].name
        raise usage("parameters: found some that data, simulation and priors do not determine, for example %s, expected priors, "
                    "more simulated photons or wider bins" % weak)


def _split_steps(problem: _Problem, simulate: Optional[Fresh], least_share: float, most: int) -> Tuple[_State, int]:
    """One step of Newton from each simulation, until the weights at its end are good. Steps with weights would not help: the
    noise of weighted slopes grows faster than what is left of the difference shrinks."""
    for iteration in range(1, most + 1):
        state = problem.at(np.zeros_like(problem.base))
        _check_determined(state.information, problem.gradient.parameters)
        step = np.linalg.solve(state.information, state.score)
        there = problem.at(step)
        if simulate is None or problem.share(there) >= least_share:
            return state._replace(x=step, log=there.log, expectation=there.expectation), iteration
        while problem.share(there) < least_share:
            step = step / 2
            there = problem.at(step)
        problem.refresh(step, simulate)
    raise fault("fit: found no ice whose weights are good in %d simulations, expected one" % most, "ICESTREAM_E_FAILED")


def _newton(problem: _Problem, simulate: Optional[Fresh], least_share: float, most: int) -> Tuple[_State, int]:
    """Gauss-Newton's steps. None of them changes a coefficient by more than a factor of exp(0.5), and they are halved until the
    likelihood grows."""
    state = problem.at(np.zeros_like(problem.base))
    for iteration in range(1, most + 1):
        _check_determined(state.information, problem.gradient.parameters)
        step = np.linalg.solve(state.information, state.score)
        gain = float(state.score @ step)  # twice the expected gain of ln(posterior)
        if gain < 1e-4:
            return state, iteration
        step *= min(1.0, 0.5 / float(np.abs(step).max()))
        worn = False
        for _ in range(30):
            trial = problem.at(state.x + step)
            if simulate is not None and problem.share(trial) < least_share:
                worn = True
            elif worn or trial.log > state.log:
                break
            step = step / 2
        else:
            raise fault(
                "fit: found no step that raises the posterior, with an expected gain of %.3g left after %d steps, "
                "expected below 5e-5" % (gain / 2, iteration), "ICESTREAM_E_FAILED")
        if worn and simulate is not None:  # as far as weights carry
            problem.refresh(trial.x, simulate)
            trial = problem.at(np.zeros_like(step))
        state = trial
    raise fault("fit: found no maximum in %d steps, expected one" % most, "ICESTREAM_E_FAILED")


def _migrad(problem: _Problem, most: int) -> Tuple[_State, int]:
    """The maximum by iminuit. Its errors are not used: they are those of Gauss-Newton."""
    minuit = needed("iminuit", "icestream.ice.fit(method='iminuit')").Minuit(
        lambda x: -problem.at(np.asarray(x)).log,
        np.zeros_like(problem.base),
        grad=lambda x: -problem.at(np.asarray(x)).score,
        name=[parameter.name for parameter in problem.gradient.parameters])
    minuit.errordef = minuit.LIKELIHOOD
    minuit.migrad(ncall=100 * most)
    if not minuit.valid:
        raise fault("fit: iminuit found no valid minimum: %s" % minuit.fmin, "ICESTREAM_E_FAILED")
    return problem.at(np.asarray(minuit.values, np.float64)), int(minuit.nfcn)


def effective_share(hits: Table, gradient: Gradient, x: npt.ArrayLike) -> float:
    """The effective number of photons at x, relative to that at 0."""
    photons = _photons(hits)
    weights = np.asarray(hits["weight"], np.float64)
    shares: List[float] = []
    for factors in (np.exp(gradient.log_weights(x)), 1.0):
        sums = np.bincount(photons, weights * factors)
        shares.append(float(sums.sum()**2 / (sums * sums).sum()))
    return shares[0] / shares[1]
