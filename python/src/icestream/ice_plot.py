"""Pictures of fits of the ice, by matplotlib, in the way of icestream.plot: each function draws into `axes`, or into a new
figure,
and returns the axes."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from ._arrays import Table
from ._library import usage
from .ice import Bins, Fit, Gradient, Parameter, expected
from .plot import COLOURS, _flat


def _layers(parameters: Sequence[Parameter]) -> Dict[str, npt.NDArray[np.int64]]:
    """The indices of the parameters of layers, from below, by their kind. The endless layers end where a layer of finite
    thickness would."""
    kinds: Dict[str, List[int]] = {}
    for index in np.argsort([parameter.bottom for parameter in parameters], kind="stable"):
        if parameters[index].top > parameters[index].bottom and parameters[index].kind != "scale" and \
                np.isfinite(parameters[index].bottom + parameters[index].top):
            kinds.setdefault(parameters[index].kind, []).append(int(index))
    if not kinds:
        raise usage("parameters: found none of layers with two faces, expected those of layers")
    return {kind: np.asarray(indices, np.int64) for kind, indices in kinds.items()}


def _faces(parameters: Sequence[Parameter], chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Heights of the faces of layers (m), ascending."""
    return np.append([parameters[index].bottom for index in chosen], parameters[chosen[-1]].top)


def profile(fit: Fit, truth: Optional[npt.ArrayLike] = None, *, axes: Any = None) -> Any:
    """The factors on the layers' coefficients by height: after the fit with its error band, before it with that of the priors
    (dotted lines), and
    the truth, if it is known (x, shape [P])."""
    axes = _flat(axes, (5.6, 6.4))
    for colour, (kind, chosen) in zip(COLOURS, _layers(fit.parameters).items()):
        faces = _faces(fit.parameters, chosen)
        low, high = (np.exp(fit.x + sign * fit.errors)[chosen] for sign in (-1, 1))
        axes.stairs(fit.factors[chosen], faces, orientation="horizontal", baseline=None, color=colour, linewidth=1.4, label=kind)
        axes.fill_betweenx(np.repeat(faces, 2)[1:-1],
                           np.repeat(low, 2),
                           np.repeat(high, 2),
                           color=colour,
                           alpha=0.25,
                           linewidth=0)
        for sign in (-1, 1):
            axes.stairs(np.exp(sign * fit.prior_errors[chosen]),
                        faces,
                        orientation="horizontal",
                        baseline=None,
                        color=colour,
                        linewidth=0.8,
                        linestyle=":")
        if truth is not None:
            axes.stairs(np.exp(np.asarray(truth, np.float64)[chosen]),
                        faces,
                        orientation="horizontal",
                        baseline=None,
                        color="black",
                        linewidth=0.9,
                        linestyle="--",
                        label="truth" if kind == fit.parameters[-1].kind else None)
    axes.axvline(1, color="0.6", linewidth=0.8, zorder=0)
    axes.set(xlabel="factor on the ice before the fit", ylabel="z (m)")
    axes.legend(frameon=False, fontsize="small")
    return axes


def pulls(fit: Fit, *, axes: Any = None) -> Any:
    """The pulls of the bins, (data - expectation) / error, and a normal distribution."""
    axes, values = _flat(axes), fit.bin_pulls()
    edges = np.linspace(-5, 5, 41)
    axes.stairs(np.histogram(np.clip(values, -5, 5), edges)[0],
                edges,
                color=COLOURS[0],
                linewidth=1.4,
                label="%d bins, chi2 %.4g" % (len(values), np.sum(values * values)))
    middle = (edges[1:] + edges[:-1]) / 2
    axes.plot(middle,
              len(values) * (edges[1] - edges[0]) * np.exp(-middle**2 / 2) / np.sqrt(2 * np.pi),
              color="0.4",
              linewidth=1,
              label="normal distribution")
    axes.set(xlabel="(data - expectation) / error", ylabel="bins", xlim=(-5, 5))
    axes.legend(frameon=False, fontsize="small")
    return axes


def sensitivity(hits: Table, gradient: Gradient, *, axes: Any = None) -> Any:
    """By how many percent the light of all hits changes if a layer's coefficient grows by one percent, by height."""
    axes = _flat(axes, (5.6, 6.4))
    light = expected(hits, np.zeros(len(hits), np.int64), gradient=gradient)
    slopes = light.derivatives[0] / light.values[0]
    for colour, (kind, chosen) in zip(COLOURS, _layers(gradient.parameters).items()):
        axes.stairs(slopes[chosen],
                    _faces(gradient.parameters, chosen),
                    orientation="horizontal",
                    baseline=None,
                    color=colour,
                    linewidth=1.4,
                    label="%s, sum %.3g" % (kind, slopes[chosen].sum()))
    axes.axvline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.set(xlabel="d ln(light) / d ln(coefficient)", ylabel="z (m)")
    axes.legend(frameon=False, fontsize="small")
    return axes


def effective(hits: Table, bins: Bins, gradient: Gradient, x: npt.ArrayLike, *, axes: Any = None) -> Any:
    """The effective number of photons of each bin at x against that of the simulated ice."""
    axes, numbers = _flat(axes), []
    for light in (expected(hits, bins), expected(hits, bins, x, gradient=gradient)):
        numbers.append(np.divide(light.values**2, light.variance, out=np.zeros(len(bins)), where=light.variance > 0))
    axes.plot(numbers[0],
              numbers[1],
              ".",
              color=COLOURS[0],
              markersize=3,
              label="bins, together %.3g of %.3g" % (numbers[1].sum(), numbers[0].sum()))
    ends: Tuple[float, float] = (float(numbers[0].min()), float(numbers[0].max()))
    axes.plot(ends, ends, color="0.6", linewidth=0.8, zorder=0)
    axes.set(xlabel="effective photons in the simulated ice", ylabel="effective photons with weights", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize="small")
    return axes
