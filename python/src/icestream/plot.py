"""Pictures of hits, detectors, ice and paths, by matplotlib.

Every function draws into `axes` if they are given, otherwise into a new figure, and returns the axes:
`icestream.plot.event_display(hits, config).figure.savefig("event.png")`. `modules` is what icestream.geometry() gives, or
a configuration, whose geometry is taken.
"""
from __future__ import annotations

import itertools
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._arrays import Table, weight_sum
from ._commands import MODULE, geometry, layers
from ._config import Config
from ._convert import needed
from ._library import usage

Modules = Union[Table, Config]
Module = Tuple[int, int]
TIME_COLOURS = "turbo_r"  # red is early, blue is late, as in other event displays
SCATTERING, ABSORPTION = "#c2571a", "#1f5fa8"
# Colours that people with a colour vision deficiency can distinguish (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8a6d3b")
BALL, LARGEST_BALL = 3.0, 260.0  # areas (points squared)


def _pyplot() -> Any:
    return needed("matplotlib.pyplot", "icestream.plot")


def _flat(axes: Any, size: Tuple[float, float] = (7.2, 4.4)) -> Any:
    """Axes to draw into, with a light grid."""
    if axes is None:
        _, axes = _pyplot().subplots(figsize=size, layout="constrained")
    axes.grid(True, color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return axes


def _space(axes: Any) -> Any:
    """Axes in three dimensions."""
    if axes is None:
        axes = _pyplot().figure(figsize=(8, 5.6)).add_subplot(projection="3d", computed_zorder=False)
        axes.figure.subplots_adjust(left=0, right=0.96, bottom=0.03, top=1)
    elif not hasattr(axes, "set_zlabel"):
        raise usage("axes: found axes of two dimensions, expected axes with projection='3d'")
    axes.set_xlabel("x (m)", labelpad=8)
    axes.set_ylabel("y (m)", labelpad=8)
    axes.set_zlabel("z (m)", labelpad=8)
    axes.grid(False)
    axes.view_init(elev=16, azim=-50)
    return axes


def _hits_of(hits: Table, event: Optional[int], one: bool = False) -> Table:
    """The hits of one event, or all. one: refuses hits of several events, whose times begin at different moments."""
    if not isinstance(hits, np.ndarray) or hits.dtype.names is None or "weight" not in hits.dtype.names:
        raise usage("hits: found %s, expected an array of hits" % type(hits).__name__)
    some: Table = np.asarray(hits)
    events = np.unique(some["event_id"])
    shown = ", ".join(map(str, events[:5])) + (", ..." if len(events) > 5 else "")
    if event is not None:
        if event not in events:
            raise usage("event: found %r, expected one of the %d event%s with hits: %s"
                        % (event, len(events), "" if len(events) == 1 else "s", shown or "there is none"))
        return some[some["event_id"] == event]
    if one and len(events) > 1:
        raise usage("hits: found those of %d events (%s), expected those of one: give event=%d" % (len(events), shown, events[0]))
    return some


def _modules_of(modules: Modules) -> Table:
    if isinstance(modules, np.ndarray) and modules.dtype == MODULE:
        return modules
    if isinstance(modules, np.ndarray):
        raise usage("modules: found an array of %s, expected that of icestream.geometry()" % modules.dtype)
    return geometry(modules)


def _keys(table: Table) -> npt.NDArray[np.int64]:
    """One number for each (string, module)."""
    return table["string"].astype(np.int64) << 16 | table["module"].astype(np.int64)


def _charges(hits: Table) -> Tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The modules that were hit, their charge, and the time of their first hit."""
    found, index = np.unique(_keys(hits), return_inverse=True)
    first = np.full(len(found), np.inf)
    np.minimum.at(first, index, hits["t"])
    charge: npt.NDArray[np.float64] = np.bincount(index, hits["weight"], len(found)).astype(np.float64)
    return found, charge, first


def _unit(hits: Table) -> str:
    """What the weights of hits count."""
    return "photo-electrons" if len(hits) and np.all(hits["pmt"] >= 0) else "photons"


def _number(value: float) -> str:
    """A number for a legend: 1234, 56.7, 0.00123."""
    return "%.0f" % value if value >= 100 else "%.3g" % value


def _sum_text(hits: Table) -> str:
    """The sum of weights with its error, for a legend."""
    if "photon_id" not in (hits.dtype.names or ()):
        return _number(hits["weight"].sum())
    found = weight_sum(hits)
    return "%s ± %s" % (_number(found.sum), _number(found.error))


def _round_charges(largest: float) -> List[float]:
    """Three round numbers for a legend, the first one not above the largest charge."""
    power = 10.0 ** np.floor(np.log10(largest)) if largest > 0 else 1.0
    first = max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= max(largest, power))
    return [first, first / 10, first / 100]


def _edges(times: npt.NDArray[np.float64], bins: Union[int, Sequence[float]]) -> npt.NDArray[np.float64]:
    """Edges of bins. A number of bins covers the times but for the latest two percent."""
    if not isinstance(bins, (int, np.integer)):
        return np.asarray(bins, dtype=np.float64)
    low = float(times.min()) if len(times) else 0.0
    high = float(np.quantile(times, 0.98)) if len(times) else 1.0
    return np.linspace(low, high if high > low else low + 1.0, int(bins) + 1)


def _steps(axes: Any, edges: npt.NDArray[np.float64], values: npt.NDArray[np.float64], **style: Any) -> None:
    axes.stairs(values, edges, linewidth=1.4, **style)


def arrival_times(hits: Table, modules: Union[int, Sequence[Module]] = 5, *, event: Optional[int] = None,
                  bins: Union[int, Sequence[float]] = 60, axes: Any = None) -> Any:
    """When light arrives at single modules: the photons per ns of each, in one picture. modules: pairs (string, module),
    or how many of the brightest modules. event: needed if
    the hits are of several events. bins: how many, or the edges (ns)."""
    some = _hits_of(hits, event, one=True)
    keys = _keys(some)
    if isinstance(modules, (int, np.integer)):
        found, charge, first = _charges(some)
        brightest = found[np.argsort(-charge, kind="stable")[:modules]]
        chosen = sorted(map(int, brightest), key=lambda key: float(first[found == key][0]))
    else:
        chosen = [int(string) << 16 | int(module) for string, module in modules]
    axes = _flat(axes)
    wanted = np.isin(keys, np.asarray(chosen, dtype=np.int64))
    edges = _edges(some["t"][wanted], bins)
    for key, colour in zip(chosen, itertools.cycle(COLOURS)):
        here = keys == key
        values, _ = np.histogram(some["t"][here], edges, weights=some["weight"][here])
        _steps(axes, edges, values / np.diff(edges), color=colour,
               label="%d-%d: %s" % (key >> 16, key & 0xffff, _sum_text(some[here])))
    axes.set(xlabel="time (ns)", ylabel="%s per ns" % _unit(some), xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    if len(chosen):
        axes.legend(title="string-module: %s" % _unit(some), frameon=False, fontsize="small", title_fontsize="small")
    return axes


def light_curves(hits: Table, *, by: str = "event_id", bins: Union[int, Sequence[float]] = 100, most: int = 8,
                 axes: Any = None) -> Any:
    """The light of the whole detector over time: the photons per ns of each event, or of each string with by="string".
    most: how many of the brightest are shown."""
    if by not in ("event_id", "string"):
        raise usage("by: found %r, expected event_id or string" % (by,))
    some = _hits_of(hits, None)
    numbers, index = np.unique(some[by], return_inverse=True)
    charge = np.bincount(index, some["weight"], len(numbers))
    chosen = np.sort(np.argsort(-charge, kind="stable")[:most])
    axes = _flat(axes)
    edges = _edges(some["t"], bins)
    for row, colour in zip(chosen, itertools.cycle(COLOURS)):
        values, _ = np.histogram(some["t"][index == row], edges, weights=some["weight"][index == row])
        _steps(axes, edges, values / np.diff(edges), color=colour,
               label="%d: %s" % (numbers[row], _sum_text(some[index == row])))
    axes.set(xlabel="time (ns)", ylabel="%s per ns, all modules" % _unit(some), xlim=(edges[0], edges[-1]))
    axes.set_ylim(bottom=0)
    if len(chosen):
        left = len(numbers) - len(chosen)
        name = "event" if by == "event_id" else by
        axes.legend(title="%s: %s%s" % (name, _unit(some), "\n(%d more are not shown)" % left if left else ""),
                    frameon=False, fontsize="small", title_fontsize="small")
    return axes


def _draw_strings(axes: Any, modules: Table) -> None:
    """The modules as a grey background: a line for each string with several modules, points for single ones."""
    order = np.lexsort((modules["module"], modules["string"]))
    rows = modules[order]
    for part in np.split(rows, np.nonzero(np.diff(rows["string"].astype(np.int64)))[0] + 1):
        axes.plot(part["x"], part["y"], part["z"], color="0.82", linewidth=0.6, zorder=0,
                  marker="." if len(part) == 1 else None, markersize=1)


def _equal(axes: Any, *tables: Table) -> None:
    """Equal scales in all directions, and on a short axis fewer numbers, so that they do not touch."""
    ticker = needed("matplotlib.ticker", "icestream.plot")
    bounds = []
    for name in ("x", "y", "z"):
        values = np.concatenate([np.asarray(table[name], dtype=np.float64) for table in tables])
        middle, half = (values.min() + values.max()) / 2, max(float(np.ptp(values)) / 2, 1e-3)
        bounds.append((middle, half))
    largest = max(half for _, half in bounds)
    sizes = []
    for (middle, half), name in zip(bounds, "xyz"):
        half = max(half, 0.35 * largest) * 1.03  # a detector that is nearly flat stays visible
        getattr(axes, "set_%slim" % name)(middle - half, middle + half)
        getattr(axes, name + "axis").set_major_locator(ticker.MaxNLocator(max(3, round(6 * half / largest))))
        sizes.append(half)
    axes.set_box_aspect(sizes, zoom=1)


def event_display(hits: Table, modules: Modules, *, event: Optional[int] = None, axes: Any = None) -> Any:
    """The modules that were hit, in three dimensions: the colour is the time of the first hit, the area of a ball grows
    with the square root of the charge. The other modules are grey lines. event: needed if the hits are of several events."""
    detector = _modules_of(modules)
    some = _hits_of(hits, event, one=True)
    found, charge, first = _charges(some)
    order = np.argsort(_keys(detector), kind="stable")
    index = np.searchsorted(_keys(detector)[order], found)
    known = (index < len(order)) & (_keys(detector)[order][np.minimum(index, len(order) - 1)] == found) if len(order) else \
        np.zeros(len(found), dtype=bool)
    if not np.all(known):
        wrong = found[~known][0]
        raise usage("modules: found no module %d of string %d, which was hit, expected the detector of the hits"
                    % (wrong & 0xffff, wrong >> 16))
    hit = detector[order[index]]
    axes = _space(axes)
    _draw_strings(axes, detector)
    largest = float(charge.max()) if len(charge) else 1.0
    late = np.argsort(-first)  # early modules are drawn last
    low, high = (float(first.min()), float(np.quantile(first, 0.97))) if len(first) else (0.0, 1.0)
    dots = axes.scatter(hit["x"][late], hit["y"][late], hit["z"][late], c=first[late], cmap=TIME_COLOURS,
                        s=BALL + LARGEST_BALL * np.sqrt(charge[late] / largest), edgecolors="white", linewidths=0.3, alpha=0.9,
                        vmin=low, vmax=max(high, low + 1e-9), zorder=1, depthshade=False)
    _equal(axes, detector)
    bar = axes.figure.colorbar(dots, ax=axes, shrink=0.6, pad=0.12, extend="max")
    bar.set_label("time of the first hit (ns)")
    for value in _round_charges(largest):
        axes.scatter([], [], [], s=BALL + LARGEST_BALL * (value / largest) ** 0.5, color="0.6", edgecolors="none",
                     label="%g" % value)
    axes.legend(title=_unit(some), loc="upper left", frameon=False, labelspacing=1.0, fontsize="small",
                title_fontsize="small")
    return axes


def layer_profiles(config: Config = None, wavelength: float = 400.0, *, axes: Any = None) -> Any:
    """The effective scattering length and the absorption length of each layer of the ice or water, by height."""
    table = layers(config, wavelength)
    axes = _flat(axes, (5.2, 6.4))
    edges = np.append(table["bottom"], table["top"][-1])
    for name, label, colour in (("scattering", "effective scattering", SCATTERING),
                                ("absorption", "absorption", ABSORPTION)):
        axes.stairs(table[name], edges, orientation="horizontal", baseline=None, color=colour, linewidth=1.4, label=label)
    axes.set(xlabel="length at %g nm (m)" % wavelength, ylabel="z (m)", xscale="log", ylim=(edges[0], edges[-1]))
    low = min(table["scattering"].min(), table["absorption"].min())
    high = max(table["scattering"].max(), table["absorption"].max())
    ticks = [factor * 10.0 ** power for power in range(-3, 5) for factor in (1, 2, 5)]
    axes.set_xlim(low / 1.2, high * 1.2)
    axes.set_xticks([tick for tick in ticks if low / 1.2 <= tick <= high * 1.2])
    axes.xaxis.set_major_formatter(lambda value, _: "%g" % value)
    axes.xaxis.set_minor_locator(needed("matplotlib.ticker", "icestream.plot").NullLocator())
    axes.legend(frameon=False, fontsize="small")
    return axes


def paths(points: Table, modules: Modules = None, *, most: int = 50, axes: Any = None) -> Any:
    """The paths of photons that icestream.trace() gave, in three dimensions: the colour is the time. Where a path starts
    there is a triangle, where it hits a module a circle. modules: shown where they are near the paths; None: of hex86.
    most: how many paths are shown."""
    if not isinstance(points, np.ndarray) or "path" not in (points.dtype.names or ()):
        raise usage("points: found %s, expected the array of icestream.trace()" % type(points).__name__)
    art = needed("mpl_toolkits.mplot3d.art3d", "icestream.plot")
    some: Table = np.asarray(points)
    starts = np.nonzero(some["point"] == 0)[0]
    ends = np.append(starts[1:], len(some))
    segments: List[Any] = []
    times: List[float] = []
    shown = some[:ends[min(most, len(ends)) - 1]] if len(starts) else some
    axes = _space(axes)
    for start, end in zip(starts[:most], ends[:most]):
        way = np.stack([some[name][start:end] for name in ("x", "y", "z")], axis=1)
        segments.extend(np.stack([way[:-1], way[1:]], axis=1))
        times.extend((some["t"][start:end - 1] + some["t"][start + 1:end]) / 2)
    lines = art.Line3DCollection(segments, cmap=TIME_COLOURS, linewidths=0.9, zorder=2)
    lines.set_array(np.asarray(times))
    axes.add_collection3d(lines)
    _draw_strings(axes, _near(_modules_of(modules), shown))
    for kind, mark, label in ((0, "^", "start"), (2, "o", "hit"), (3, "x", "absorbed")):
        here = shown[shown["kind"] == kind]
        if len(here):
            axes.scatter(here["x"], here["y"], here["z"], marker=mark, s=26, color="black" if mark != "x" else "0.45",
                         label="%s (%d)" % (label, len(here)), zorder=3, depthshade=False)
    if len(shown):
        _equal(axes, shown)
        axes.legend(frameon=False, fontsize="small", loc="upper left")
    axes.figure.colorbar(lines, ax=axes, shrink=0.6, pad=0.12).set_label("time (ns)")
    return axes


def _near(modules: Table, points: Table) -> Table:
    """The modules within the box of the points."""
    if not len(points):
        return modules[:0]
    inside = np.ones(len(modules), dtype=bool)
    for name in ("x", "y", "z"):
        inside &= (modules[name] >= points[name].min() - 20) & (modules[name] <= points[name].max() + 20)
    return modules[inside]
