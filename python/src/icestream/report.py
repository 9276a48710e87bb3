"""Writes a page about the runs that wrote into a folder: `python -m icestream report DIR -o FILE.html`.

docs/telemetry.md says what the page has. This module gathers the facts and draws the pictures; report.html is the page, in
which jinja2 escapes every text. Memory does not grow with the number of hits: hit files are mapped and counted in blocks.
"""
from __future__ import annotations

import argparse
import array
import collections
import contextlib
import functools
import io
import json
import math
import os
import pathlib
import re
import time
import warnings
from datetime import datetime
from typing import Any, Callable, Counter, Deque, Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._abi import VERSION
from ._arrays import Account, Table
from ._commands import _describe, _read, geometry, layers
from ._config import effective, encode, open_config, settings_of
from ._convert import needed
from ._library import FOLDER, ConfigError, Error, InputError, OutputError, TextStream, call, ffi, lib, usage

Numbers = npt.NDArray[np.float64]
PAGE_MOST = 2_000_000  # bytes
SHOWN = 200            # rows of a list
BINS = 120             # of the time from the first event to the last one
LINE_MOST = 65536      # bytes of a line of a journal
BLOCK = 1 << 18        # rows of a hit file that are mapped and counted at once
# Bins of times are narrow near 0: 4096 for each factor of two of 1 + |t| / ns, up to 2^40 ns.
OCTAVE, TIMES = 4096, 40 * 4096
LATE = 1e6             # ns: the times of later hits count from a round time near the first hit
SPOTS = 30             # squares along each side of the picture from above, which stand for more strings than their number
LEVELS = 60            # of the picture by depth
TROUBLES = ("hits_quarantined", "refused", "failed", "command_failed", "retried", "paused", "device_lost", "signal")
# Pictures have these marks as colours; the page has its own colours instead, so that one picture suits light, dark and paper.
INK, LINE, ONE, TWO, THREE, SOFT = ("#%06x" % mark for mark in range(1, 7))
COLOURS = {INK: "ink", LINE: "line", ONE: "one", TWO: "two", THREE: "three", SOFT: "soft"}
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "icestream", "font.size": 11, "text.color": INK, "axes.labelcolor": INK,
         "axes.edgecolor": LINE, "xtick.color": LINE, "ytick.color": LINE, "xtick.labelcolor": INK, "ytick.labelcolor": INK,
         "axes.grid": True, "axes.axisbelow": True, "grid.color": LINE, "grid.linewidth": 0.6, "axes.spines.top": False,
         "axes.spines.right": False, "legend.frameon": False, "lines.linewidth": 1.3, "lines.markersize": 2.5}


# ---- values of JSON, of which nothing is certain, and how the page shows them ------------------------------------------


def _get(of: Any, *keys: Union[str, int]) -> Any:
    for key in keys:
        is_there = key in of if isinstance(of, dict) else isinstance(of, list) and isinstance(key, int) and key < len(of)
        of = of[key] if is_there else None
    return of


def _number(of: Any, *keys: Union[str, int]) -> float:
    value = _get(of, *keys)
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e300 else 0.0


def _text(of: Any, *keys: Union[str, int]) -> str:
    value = _get(of, *keys)
    return value if isinstance(value, str) else ""


def _rows(value: Any) -> List[Any]:
    return value[:SHOWN] if isinstance(value, list) else []


def _pairs(value: Any) -> List[Tuple[str, Any]]:
    return list(value.items())[:SHOWN] if isinstance(value, dict) else []


def _seconds(text: str) -> float:
    """The time (s since 1970) of a text like 2026-11-21T22:48:53.123Z. Raises ValueError."""
    return datetime.fromisoformat(text[:-1] + "+00:00").timestamp()


def _count(value: Any) -> str:
    """A whole number, with narrow spaces if it is long."""
    count = int(_number(value))
    return "%d" % count if count < 10000 else "{:,}".format(count).replace(",", "\u202f")


def _about(value: Any) -> str:
    """A number as the status line of a run has it: 1.23 million."""
    count = _number(value)
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if unit <= count < 1e12:
            return "%.*f %s" % (2 if count / unit < 9.995 else 1 if count / unit < 99.95 else 0, count / unit, name)
    return "%.3g" % count if count >= 1e12 else "%.0f" % count


def _finalize(most: int) -> Callable[[Any], Any]:
    """What happens to a text before it is escaped: it is cut, and control characters and wrong bytes become visible."""
    def visible(match: "re.Match[str]") -> str:
        code = ord(match.group())
        return "\\x%02x" % (code - 0xdc00 if 0xdc80 <= code < 0xdd00 else code)

    def finalize(value: Any) -> Any:
        if hasattr(value, "__html__"):
            return value
        text = "" if value is None else str(value)
        text = text if len(text) <= most else text[:most] + " [cut]"
        return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", visible, text)
    return finalize


# ---- journals ---------------------------------------------------------------------------------------------------------


def _json(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _events(folder: str) -> Iterator[Tuple[float, Dict[str, Any]]]:
    """The events of run.journal and of rotated files, the oldest first, with their times. Damaged lines are left out; the
    library counts them."""
    paths = [os.path.join(folder, name) for name in os.listdir(folder) if re.fullmatch(r"run\.journal([.-].*)?", name, re.S)
             and not name.endswith((".gz", ".bz2", ".xz", ".zst", ".part"))]
    for path in sorted(filter(os.path.isfile, paths), key=lambda path: (path.endswith("run.journal"), os.stat(path).st_mtime)):
        with open(path, "rb") as file:
            for line in iter(functools.partial(file.readline, LINE_MOST), b""):
                if line.endswith(b"\n"):  # otherwise it is incomplete, or is just being written
                    # A line may begin with the incomplete line of a killed process.
                    event = _json(line) or _json(line[max(line.rfind(b'{"time":"'), 0):])
                    if _text(event, "event") and _text(event, "worker"):
                        with contextlib.suppress(ValueError, OverflowError):
                            yield _seconds(_text(event, "time")), event


class History:
    """Rates, queues and files over time. Memory does not grow with the journals, but for 8 bytes for each step file."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.length = first, max(last - first, 1e-3)
        self.edges: Numbers = np.linspace(0, self.length, BINS + 1)  # s after the first event
        units = ((86400, "days"), (3600, "h"), (60, "min"), (0, "s"))
        self.unit, self.unit_name = next((max(unit, 1), name) for unit, name in units if self.length > 3 * unit)
        self.photons, self.hits, self.files, self.samples, self.queue, self.queue_most, self.open = np.zeros((7, BINS))
        self.devices: Dict[str, Numbers] = {}  # photons
        self.room = 0.0  # of the queue (batches)
        self.light: Dict[str, Any] = {}
        self.latencies = array.array("d")
        self.done: Deque[Any] = collections.deque((), SHOWN)
        self.quarantined, self.troubles = self.done.copy(), self.done.copy()
        self.start: Dict[str, Any] = {}  # of the newest run
        self._workers: Dict[str, Any] = {}  # time and last sums of each

    def _bin(self, when: float) -> int:
        return int(np.clip(when / self.length * BINS, 0, BINS - 1))

    def add(self, at: float, event: Dict[str, Any]) -> None:
        when, kind = at - self.first, event["event"]
        if kind == "start":
            self.start = event
            self._workers[event["worker"]] = (when, {})
        elif kind in ("sample", "stop"):
            self._add_sums(when, event)
        elif kind == "done":
            self.files[self._bin(when)] += 1
            self.latencies.append(min(max(_number(event, "seconds"), 0.0), 1e15))
            self.done.append(event)
        elif kind == "quarantined" or kind in TROUBLES:
            (self.quarantined if kind == "quarantined" else self.troubles).append(event)

    def _grow(self, into: Numbers, when: float, event: Dict[str, Any], *keys: str) -> None:
        """Adds what a sum has grown by since the last line of its worker, evenly over the time between them. A sum that became
        smaller is that of another run."""
        since, before = self._workers.get(event["worker"], (0.0, {}))
        now, then = _number(event, *keys), _number(before, *keys)
        grown = max(now - then if now >= then else now, 0.0)
        if when - since < 1e-9:
            into[self._bin(when)] += grown
        else:
            into += grown * np.diff(np.clip((self.edges - since) / (when - since), 0, 1))

    def _add_sums(self, when: float, event: Dict[str, Any]) -> None:
        self._grow(self.photons, when, event, "photons")
        self._grow(self.hits, when, event, "hits")
        if event["event"] == "sample":
            for name, _ in _pairs(event.get("devices")):
                if name in self.devices or len(self.devices) < 8:
                    self._grow(self.devices.setdefault(name, np.zeros(BINS)), when, event, "devices", name)
            index, queue = self._bin(when), _number(event, "queues", "batches", 0)
            self.samples[index] += 1
            self.queue[index] += queue
            self.queue_most[index] = max(self.queue_most[index], queue)
            self.open[index] += _number(event, "queues", "units", 0)
            self.room = max(self.room, _number(event, "queues", "batches", 1))
            self._add_light(event.get("light"))
        self._workers[event["worker"]] = (when, {key: event.get(key) for key in ("photons", "hits", "devices")})

    def _add_light(self, light: Any) -> None:
        """Adds the light of a run that has ended. Levels of another version of the program are left out."""
        photons = np.array([_number(level) for level in _rows(_get(light, "photons"))])
        frame = (_number(light, "low"), _number(light, "step"), len(photons))
        if len(photons) and frame[1] > 0 and self.light.get("frame", frame) == frame:
            self.light = {"frame": frame, "photons": photons + self.light.get("photons", 0.0),
                          **{key: _number(light, key) + self.light.get(key, 0.0) for key in ("below", "above")}}


# ---- hit files --------------------------------------------------------------------------------------------------------


def _time_edges(bins: Any) -> Any:
    """The lower edges of bins of times (ns)."""
    at = (np.asarray(bins, np.float64) - TIMES) / OCTAVE
    return np.sign(at) * (np.exp2(np.abs(at)) - 1)


class HitCounts:
    """Counts of the hits in files: by module, by time, by scatters."""

    def __init__(self) -> None:
        self.hits = self.events = self.files = 0
        self.in_waveforms = 0  # hits of waveforms, whose scatters are not known
        self.weight = self.squares = 0.0  # sum of the weights, square of its error
        self.modules: Counter[int] = collections.Counter()  # by string * 65536 + module
        self.times, self.scatters = np.zeros(2 * TIMES), np.zeros(65536)
        self.origin: Optional[float] = None  # ns
        self.account: Counter[str] = collections.Counter()
        self.metadata: Any = None  # of the first file

    def add(self, path: str) -> None:
        """Adds a file of hits or of waveforms. Of a damaged file nothing is counted, because the library reads every file first
        and compares its checksums. Raises InputError."""
        about = _describe(encode(path, "path"), False)
        are_hits = about["kind"] == "hits"
        if not are_hits and about["kind"] != "waveforms":
            raise _fault("%s: found %s, expected hits or waveforms" % (path, about["kind"]))
        for begin in range(0, about["rows"], BLOCK):
            self._add_rows(_read(path)[begin:begin + BLOCK], are_hits, _number(about, "metadata", "bin_ns") / 2)
        self.files += 1
        self.events += about["events"]
        self.weight += _number(about, "weights", "sum")
        self.squares += _number(about, "weights", "error") ** 2
        self.account.update({key: int(_number(about, "metadata", "account", key)) for key in Account._fields})
        self.metadata = self.metadata or about["metadata"]

    def _add_rows(self, rows: Table, are_hits: bool, half_bin: float) -> None:
        many = None if are_hits else rows["hits"].astype(np.float64)
        found, index = np.unique(rows["string"].astype(np.int64) << 16 | rows["module"].astype(np.int64), return_inverse=True)
        self.modules.update(dict(zip(found.tolist(), np.bincount(index, many).astype(int).tolist())))
        t = rows["t"].astype(np.float64)
        if self.origin is None:
            self.origin = 1000 * math.floor(t[0] / 1000) if LATE < abs(t[0]) < 1e15 else 0.0
        t += (0.0 if are_hits else half_bin) - self.origin  # the hits of a bin of a waveform count at its middle
        bins = np.fmin(np.log2(1 + np.abs(t)) * OCTAVE, TIMES - 1).astype(np.int64)
        bins = np.where(t < 0, TIMES - 1 - bins, TIMES + bins)
        part = np.bincount(bins - bins.min(), many)
        self.times[bins.min():bins.min() + len(part)] += part
        self.hits += int(part.sum())
        if are_hits:
            self.scatters += np.bincount(rows["scatters"].astype(np.int64), minlength=65536)
        else:
            self.in_waveforms += int(part.sum())

    def time_quantile(self, share: float) -> float:
        """The time after the origin (ns) that this share of the hits does not exceed."""
        return float(_time_edges(np.searchsorted(np.cumsum(self.times), max(share * self.hits, 1))))

    def scatter_quantile(self, share: float) -> int:
        return int(np.searchsorted(np.cumsum(self.scatters), max(share * self.scatters.sum(), 1)))


# ---- ice and detector -------------------------------------------------------------------------------------------------


class Models(NamedTuple):
    """The ice and the detector of the hits, and the configuration that describes them."""

    ice: str
    layers: Table
    modules: Table
    configuration: str


def _load_models(path: Optional[str], settings: Dict[str, str], wanted: Tuple[str, str]) -> Models:
    """The models of a configuration. Raises Error if they are not those of the hits."""
    config = None if path is None else pathlib.Path(path)
    fault: Error = _fault("%s: found no digests" % path)
    with TextStream() as out:
        # validate describes the models before it looks for step files, which may be gone. cuda: a GPU need not be here.
        machine = ffi.new("char[]", b"cuda")
        options = ffi.new("icestream_validate_options *", {"machine": machine})
        try:
            call(lib.icestream_validate_with, open_config(config, settings_of(settings)), options, out.stream)
        except Error as error:
            fault = error
        text = out.text()
    digests = re.search(r"^digests +ice (\w+)\n +detector (\w+)\n", text, re.M)
    if digests is None:
        raise fault
    if digests.groups() != wanted:
        raise ConfigError("%s: describes other ice or another detector than those of the hits: found the digests %.8s and %.8s, "
                          "expected %.8s and %.8s" % (path or "the settings in the hit file", *digests.groups(), *wanted))
    return Models(text.splitlines()[0].split(maxsplit=1)[1], layers(config, settings=settings),
                  geometry(config, settings=settings), effective(config, settings))


def _find_models(start: Any, summary: Any, metadata: Any, notes: List[str]) -> Optional[Models]:
    """The models of the configuration that the journal names, or else those of the settings in the hit file."""
    ice, detector = (_text(metadata, "digests", key) or _text(summary, "digests", key) for key in ("ice", "detector"))
    if not ice or not detector:
        notes.append("No hit file and no summary has digests of ice and detector, so the positions of the modules and the ice "
                     "are not shown.")
        return None
    name = _text(start, "configuration") or _text(summary, "configuration")
    path = os.path.join(_text(start, "folder"), name) if name else None
    settings = {key: str(value) for key, value in _pairs(_get(metadata, "settings", "models"))}
    reasons = ["neither the journal nor a hit file names one"]
    for source, sets in ((path, {}), (path, settings), (None, settings)):
        if source is not None or sets:
            try:
                return _load_models(source, sets, (ice, detector))
            except (Error, OSError, ValueError) as error:
                reasons.append(str(error))
    notes.append("The positions of the modules and the ice are not shown, because the configuration cannot be used: %s"
                 % reasons[min(len(reasons), 2) - 1])
    return None


# ---- pictures ---------------------------------------------------------------------------------------------------------


class Pictures(Dict[str, str]):
    """Pictures by name, as SVG."""

    @contextlib.contextmanager
    def draw(self, name: str, x: str, y: str, is_tall: bool = False) -> Iterator[Any]:
        library, figure = needed("matplotlib", "icestream report"), needed("matplotlib.figure", "icestream report")
        out = io.StringIO()
        with library.rc_context():
            library.rcdefaults()
            library.rcParams.update(STYLE)
            sheet = figure.Figure(figsize=(460 / 72, (460 if is_tall else 300) / 72), layout="constrained")
            axes = sheet.add_subplot(xlabel=x, ylabel=y)
            yield axes
            if axes.get_legend_handles_labels()[0]:
                axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)
            sheet.savefig(out, format="svg", transparent=True)
        svg = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", out.getvalue(), flags=re.S)
        svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', name + "-", svg)  # each id once in the page
        for mark, colour in COLOURS.items():
            svg = svg.replace(mark, "var(--%s)" % colour)
        self[name] = svg


def _stairs(axes: Any, values: Any, edges: Any, colour: str = ONE, name: str = "", **how: Any) -> None:
    axes.stairs(values, edges, fill=True, color=colour, alpha=0.35, label=name, **how)
    axes.stairs(values, edges, color=colour, linewidth=1.3, **how)


def _draw_history(pictures: Pictures, history: History) -> None:
    edges, seconds, x = history.edges / history.unit, history.length / BINS, "time since the first event (%s)" % history.unit_name
    middles, used, samples = (edges[1:] + edges[:-1]) / 2, history.samples > 0, np.maximum(history.samples, 1)
    limits = {"xlim": (0, edges[-1]), "ylim": (0, None)}
    with pictures.draw("rate", x, "photons/s") as axes:
        _stairs(axes, history.photons / seconds, edges)
        for photons, colour in zip(history.devices.values(), (TWO, THREE, SOFT)):
            if len(history.devices) > 1:
                axes.stairs(photons / seconds, edges, color=colour, linewidth=1.3)
        axes.set(**limits)
    if used.any():
        with pictures.draw("queues", x, "waiting") as axes:
            for rows, colour, what in ((history.queue, ONE, "batches for a device (room for %g)" % history.room),
                                       (history.open, TWO, "step files in work")):
                axes.plot(middles[used], (rows / samples)[used], "o-", color=colour, label=what)
            axes.set(**limits)
    if len(history.latencies) > 4:
        shown = np.maximum(np.array(history.latencies), 2.0 ** -20)  # a logarithmic axis has no 0
        octaves = np.arange(-20, math.ceil(math.log2(shown.max())) + 2)
        bins = np.outer(2.0 ** octaves, 1 + np.arange(4) / 4).ravel()
        with pictures.draw("latency", "arrival to commit (s)", "step files") as axes:
            _stairs(axes, np.histogram(shown, bins)[0], bins)
            axes.set_xscale("log", base=2 if shown.max() < 100 * shown.min() else 10)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set(xlim=(shown.min() / 2, shown.max() * 2), ylim=(0, None))
        with pictures.draw("done", x, "step files done") as axes:
            _stairs(axes, np.cumsum(history.files), edges)
            axes.set(**limits)


def _round_width(length: float) -> float:
    """A round width of bins, 100 of which cover the length."""
    least = length / 100 if length > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= least * (1 - 1e-9))


def _draw_hits(pictures: Pictures, hits: HitCounts) -> None:
    first, last = hits.time_quantile(0), hits.time_quantile(0.999)
    begin = 0.0 if 0 < first < 0.2 * last else first
    width = _round_width(last - begin)
    middles = (_time_edges(np.arange(2 * TIMES)) + _time_edges(np.arange(1, 2 * TIMES + 1))) / 2
    scatters = max(1.0, math.floor(_round_width(hits.scatter_quantile(0.999) + 1.0)))
    for name, what, unit, low, step, at, counts in (
            ("times", "time after %s (ns)" % ("%.15g ns" % hits.origin if hits.origin else "the t0 of the event"), "ns",
             width * math.floor(begin / width), width, middles, hits.times),
            ("scatters", "scatters before the hit", "scatters", 0.0, scatters, np.arange(65536), hits.scatters)):
        if counts.any():
            with pictures.draw(name, what, "hits per %.3g %s" % (step, unit)) as axes:
                boxes, edges = np.histogram(at, 100, (low, low + 100 * step), weights=counts)
                _stairs(axes, np.maximum(boxes, 0.5), edges, baseline=0.5)
                axes.set(yscale="log", xlim=(low, edges[-1]), ylim=(0.5, None))


def _draw_detector(pictures: Pictures, modules: Table, counts: Numbers, levels: Dict[str, Any]) -> None:
    _, index = np.unique(modules["string"], return_inverse=True)
    size = np.bincount(index)
    x, y, hits = np.bincount(index, modules["x"]) / size, np.bincount(index, modules["y"]) / size, np.bincount(index, counts)
    side = max(float(np.ptp(x)), float(np.ptp(y)), 20.0) * 1.2
    (left, low), square = ((axis.min() + axis.max() - side) / 2 for axis in (x, y)), side / SPOTS
    if len(size) > SPOTS * SPOTS:
        found, index = np.unique(np.floor((x - left) / square) * SPOTS + np.floor((y - low) / square), return_inverse=True)
        x, y, hits = left + (found // SPOTS + 0.5) * square, low + (found % SPOTS + 0.5) * square, np.bincount(index, hits)
    with pictures.draw("above", "x (m)", "y (m)", True) as axes:
        lit = hits > 0
        axes.scatter(x[lit], y[lit], s=3000 * hits[lit] / max(hits.max(), 1), color=ONE, alpha=0.35, linewidths=0)
        axes.plot(x, y, "o", color=SOFT, markersize=1.5)
        axes.set(xlim=(left, left + side), ylim=(low, low + side), aspect="equal")
    with pictures.draw("depth", "hits", "z (m)", True) as axes:
        edges, most = levels["edges"], levels["most"]
        sums = np.maximum(levels["hits"], 0.5)
        _stairs(axes, sums, edges, name="all modules at a height", orientation="horizontal", baseline=0.5)
        axes.plot(most[most > 0], ((edges[1:] + edges[:-1]) / 2)[most > 0], "o", color=TWO, label="the brightest module")
        axes.set(xscale="log", xlim=(0.5, None), ylim=(edges[0], edges[-1]))


def _draw_ice(pictures: Pictures, ice: Optional[Table], light: Dict[str, Any]) -> None:
    limits: Any = (None, None)
    if ice is not None and len(ice) > 1:
        limits = (ice["bottom"][0], ice["top"][-1])
        with pictures.draw("ice", "length (m)", "z (m)", True) as axes:
            for name, what, colour in (("absorption", "absorption", ONE), ("scattering", "effective scattering", TWO)):
                axes.plot(ice[name], (ice["bottom"] + ice["top"]) / 2, color=colour, label=what)
            axes.set(xscale="log", ylim=limits)
            axes.xaxis.set_major_formatter("{x:g}")
    if light:
        with pictures.draw("light", "photons made", "z (m)", True) as axes:
            _stairs(axes, light["photons"], light["edges"], THREE, orientation="horizontal")
            axes.set(xlim=(0, None), ylim=limits)


# ---- the page ---------------------------------------------------------------------------------------------------------


def _fault(text: str) -> InputError:
    return InputError(text, lib.ICESTREAM_E_INPUT, 3)


def _unwritten(text: str) -> OutputError:
    return OutputError(text, lib.ICESTREAM_E_OUTPUT, 74)


def _read_summary(path: str, notes: List[str]) -> Any:
    summary = None
    try:
        with open(path, encoding="utf-8") as file:
            summary = json.load(file)
        if _text(summary, "schema") != "icestream.summary":
            notes.append("%s: found schema %s, expected icestream.summary." % (path, _text(summary, "schema") or "(none)"))
            summary = None
    except FileNotFoundError:
        notes.append("There is no summary.json in this folder: the run has not ended, or its summary has another name. Devices "
                     "and warnings are in it.")
    except (OSError, ValueError, RecursionError) as error:
        notes.append("%s: the summary is damaged: %s." % (path, error))
    return summary


def _read_history(folder: str, journal: Any, notes: List[str]) -> History:
    first, last = (_seconds(journal[key]) if journal[key] else 0.0 for key in ("first", "last"))
    history = History(first, last)
    for when, event in _events(folder):
        history.add(when, event)
    if not journal["files"]:
        notes.append("There is no run.journal in this folder, so the history of the runs, latencies and queues are not known.")
    elif journal["torn"] + journal["unknown"]:
        notes.append("%d lines of the journal are damaged and %d are unknown to this version; the report leaves them out."
                     % (journal["torn"], journal["unknown"]))
    if journal["events"] and not history.samples.any():
        notes.append("The journal has no samples, because an older version wrote it; rates are those of whole runs.")
    return history


def _count_levels(modules: Table, counts: Numbers) -> Dict[str, Any]:
    """Hits by height: of all modules, and of the brightest one."""
    height = max(float(np.ptp(modules["z"])), 1.0) / (LEVELS - 1)
    edges = modules["z"].min() + height * (np.arange(LEVELS + 1) - 0.5)
    index = ((modules["z"] - edges[0]) / height).astype(int)
    most = np.zeros(LEVELS)
    np.maximum.at(most, index, counts)
    sizes, sums = np.bincount(index, minlength=LEVELS), np.bincount(index, counts, LEVELS)
    return {"edges": edges, "modules": sizes, "hits": sums, "most": most}


def _gather(folder: str) -> Dict[str, Any]:
    """All that the page shows. Raises InputError if the folder has no results of a run."""
    with TextStream() as out:
        call(lib.icestream_folder_status, encode(folder, "DIR"), True, out.stream)
        status = json.loads(out.text())
    notes, damaged, pictures, hits, models = list(status["notes"]), [], Pictures(), HitCounts(), None
    history = _read_history(folder, status["journal"], notes)
    summary = _read_summary(os.path.join(folder, "summary.json"), notes)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".hits.npy") and not name.startswith("."))
    if not status["journal"]["files"] and not names and summary is None:
        raise _fault("%s: found no run.journal, no summary.json and no hit file, expected the folder into which a run wrote "
                     "(sink.directory)" % folder)
    for name in names:
        try:
            hits.add(os.path.join(folder, name))
        except (OSError, ValueError) as error:  # InputError, or the file is gone
            damaged.append((name, str(error)))
    if not names:
        notes.append("There is no hit file in this folder.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those about the configuration
        models = _find_models(history.start, summary, hits.metadata, notes)
    levels, counts = {}, np.zeros(0)
    if models is not None and hits.hits:
        keys = models.modules["string"].astype(int) << 16 | models.modules["module"]
        counts = np.array([hits.modules[key] for key in keys.tolist()], np.float64)
        levels = _count_levels(models.modules, counts)
    if history.light:
        low, step, number = history.light["frame"]
        history.light["edges"] = low + step * np.arange(number + 1)
    try:
        needed("matplotlib.figure", "icestream report")
        if status["journal"]["events"]:
            _draw_history(pictures, history)
        if hits.hits:
            _draw_hits(pictures, hits)
        if levels and models is not None:
            _draw_detector(pictures, models.modules, counts, levels)
        _draw_ice(pictures, models.layers if models is not None else None, history.light)
    except ImportError as error:
        notes.append("Pictures are missing: %s. The tables have their numbers." % error)
    latencies, ranks = np.sort(np.array(history.latencies)), (0, 0.5, 0.9, 0.99, 1)
    parts = [rows.reshape(-1, 5) for rows in (history.photons, history.hits, history.files, history.samples, history.queue)]
    account = hits.account if hits.account["created"] else _get(summary, "account")
    return {
        "folder": folder, "version": VERSION, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "status": status,
        "history": history, "summary": summary, "hits": hits, "models": models, "levels": levels, "pictures": pictures,
        "damaged": damaged, "notes": notes, "account": {key: int(_number(account, key)) for key in Account._fields},
        "states": collections.Counter(worker["state"] for worker in status["workers"]), "has_squares": len(set(
            models.modules["string"].tolist() if models is not None else ())) > SPOTS * SPOTS,
        "rates": list(zip(history.edges[::5], *(part.sum(1) for part in parts), history.queue_most.reshape(-1, 5).max(1))),
        "seconds": history.length / BINS * 5,
        "latencies": [latencies[max(math.ceil(share * len(latencies)), 1) - 1] for share in ranks if len(latencies)],
        "quantiles": [(share, hits.time_quantile(share), hits.scatter_quantile(share) if hits.scatters.any() else "-")
                      for share in (0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1)] if hits.hits else [],
        "brightest": sorted(((count, -key) for key, count in hits.modules.items() if count), reverse=True)}


def _render(page: Dict[str, Any]) -> bytes:
    """The page as UTF-8. If it becomes too large, texts are cut more."""
    jinja2 = needed("jinja2", "icestream report")
    data = b""
    for most in (2048, 300, 80):
        environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, finalize=_finalize(most),
                                         trim_blocks=True, lstrip_blocks=True, undefined=jinja2.ChainableUndefined)
        environment.filters.update(count=_count, about=_about, number=_number, rows=_rows, pairs=_pairs,
                                   g=lambda value, digits=3: "%.*g" % (digits, _number(value)))
        data = environment.get_template("report.html").render(page).encode("utf-8")
        if len(data) < PAGE_MOST:
            break
    return data


def write(folder: str, output: str = "report.html", force: bool = False) -> None:
    """Writes the page. Raises Error with the exit status of the command. If hit files are damaged, the page is written first."""
    if output != "-" and not output.endswith(".html"):
        raise usage("--output: found %s, expected a name that ends in .html, which is what is written" % output)
    needed("jinja2", "icestream report")

    def check() -> None:
        if output != "-" and not force and os.path.lexists(output):
            raise _unwritten("%s: found an existing file, expected none (--force overwrites)" % output)
    check()
    try:
        page = _gather(folder)
    except OSError as error:
        raise _fault("%s: %s" % (error.filename or folder, error.strerror)) from error
    rest, part = memoryview(_render(page)), "%s.%d.part" % (output, os.getpid())
    try:
        if output == "-":
            while rest:
                rest = rest[os.write(1, rest):]
        else:
            with open(part, "xb") as file:
                file.write(rest)
            check()
            os.replace(part, output)
    except OSError as error:
        raise _unwritten("%s: cannot be written: %s" % (output, error.strerror)) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
    if page["damaged"]:
        reasons = [reason for _, reason in page["damaged"]]
        more = ["and %d more" % (len(reasons) - 10)] if len(reasons) > 10 else []
        raise _fault("\n".join([*reasons[:10], *more, "%s: the report is complete but for the hits of these files" % output]))


def add_command(commands: Any) -> None:
    """Adds the command to the subparsers of `python -m icestream`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report", help="writes a page about the runs that wrote into a folder",
        description="Writes a page about the runs that wrote into a folder. The page is one HTML file that needs nothing else. "
        "matplotlib draws the pictures; without it the page has only tables.")
    parser.add_argument("folder", metavar="DIR", help="a sink.directory")
    parser.add_argument("-o", "--output", metavar="FILE", default="report.html",
                        help="the HTML file to write; - is standard output [default: report.html]")
    parser.add_argument("-f", "--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(execute=lambda given: write(given.folder, given.output, given.force))
