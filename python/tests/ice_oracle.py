"""A second way to the derivatives of icestream.ice: NumPy on the paths of `icestream trace`, for level layers without
anisotropy, birefringence and hole ice, where paths consist of straight lines. The coefficients follow docs/physics.md 4.2."""
import icestream
import numpy as np
from icestream.ice import Gradient, Parameter

# Built-in numbers of an ice file (configs/ice/uniform.yaml), as its comments name them.
ALPHA, KAPPA, PURE_A, PURE_B, MEAN_COSINE = 0.8986, 1.0841, 6954.1, 6617.75, 0.9
TOP_DEPTH = 1948.07


def ice_of(layers):
    """The `ice` section of a configuration. layers: rows (depth of the centre, be400, adust400, dtau), at equal distances."""
    return {
        "layers": [list(map(float, row)) for row in layers],
        "alpha": ALPHA,
        "kappa": KAPPA,
        "absorption_a": PURE_A,
        "absorption_b": PURE_B,
        "mean_cosine": MEAN_COSINE
    }


def faces(layers):
    """Heights of the faces between layers, ascending, with -inf and inf."""
    depths = np.sort(np.asarray(layers)[:, 0])[::-1]
    thickness = depths[0] - depths[1] if len(depths) > 1 else 100.0
    inner = TOP_DEPTH - depths[1:] - thickness / 2
    return np.concatenate([[-np.inf], inner, [np.inf]])


def gradient(config, hits, layers, steps=None):
    """The Gradient of hits: scattering, and absorption by dust, of each layer, the deepest first."""
    paths = icestream.trace(config, hits, steps=steps)
    rows = np.asarray(layers, float)[np.argsort(-np.asarray(layers)[:, 0])]
    edges, count = faces(layers), len(rows)
    z, kind = paths["z"].astype(float), paths["kind"]
    start = kind == 0
    length = np.diff(paths["path"].astype(float), prepend=0.0)
    length[start] = 0
    before = np.where(start, z, np.roll(z, 1))
    low, high = np.minimum(before, z), np.maximum(before, z)
    wavelength = paths["wavelength"].astype(float)
    dust = rows[:, 2] * (wavelength[:, None] / 400)**-KAPPA
    scattering = rows[:, 1] * (wavelength[:, None] / 400)**-ALPHA / (1 - MEAN_COSINE)
    inside = np.maximum(np.minimum(high[:, None], edges[1:]) - np.maximum(low[:, None], edges[:-1]), 0)
    flat = high - low <= 0
    layer = np.clip(np.searchsorted(edges, z, side="right") - 1, 0, count - 1)
    share = np.where(flat[:, None], np.eye(count)[layer], inside / np.where(flat, 1, high - low)[:, None])
    part = share * length[:, None]
    # Sums from the start of each photon: sums over all rows less those before its start.
    first = np.maximum.accumulate(np.where(start, np.arange(len(paths)), 0))

    def sums(terms):
        total = np.cumsum(terms, axis=0)
        return total - total[first] + terms[first]

    depth = sums(part * scattering)
    absorbed = sums(part * dust)
    scatters = sums(np.eye(count)[layer] * (kind == 1)[:, None])
    names = ("event_id", "step_id", "photon_id", "string", "module")
    at = np.nonzero(kind == 2)[0]
    order = at[np.lexsort([paths["t"][at]] + [paths[name][at] for name in names[::-1]])]
    expected = np.lexsort([hits["t"]] + [np.asarray(hits)[name] for name in names[::-1]])
    place = np.empty(len(hits), int)
    found = {tuple(paths[name][i] for name in names) + (paths["t"][i], ): i for i in order}
    for i in expected:
        place[i] = found[tuple(np.asarray(hits)[name][i] for name in names) + (hits["t"][i], )]
    parameters = [
        Parameter("%s %d" % (kind, i), kind, edges[i], edges[i + 1]) for kind in ("scattering", "absorption")
        for i in range(count)
    ]
    second = -np.concatenate([depth[place], absorbed[place]], axis=1)
    values = np.concatenate([scatters[place], np.zeros((len(hits), count))], axis=1) + second
    hit, parameter = np.nonzero((values != 0) | (second != 0))
    return Gradient(tuple(parameters), len(hits), hit, parameter, values[hit, parameter], second[hit, parameter])
