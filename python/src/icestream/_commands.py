"""What other commands of the program do, by the functions of the library: load, generate, trace, compare, stages and
geometry."""
from __future__ import annotations

import functools
import json
import operator
import os
import threading
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union, cast

import numpy as np

from ._arrays import HIT, STEP, Hits, Steps, Table, check_steps, write_steps
from ._config import Config, Particles, Settings, encode, open_config, particle_settings, settings_of
from ._folder import Folder
from ._library import DifferentError, Error, IcestreamWarning, TextStream, call, ffi, lib, strings, usage

Path = Union[str, "os.PathLike[str]"]
MODULE = np.dtype([("string", "<u2"), ("module", "<u2"), ("x", "<f8"), ("y", "<f8"), ("z", "<f8"), ("efficiency", "<f8")])
LAYER = np.dtype([("bottom", "<f8"), ("top", "<f8"), ("scattering", "<f8"), ("absorption", "<f8")])


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _interruptible(function: _Function) -> _Function:
    """A function that may take long runs in a thread of its own, so that Ctrl-C is noticed. After Ctrl-C it goes on in the
    background until its end; it owns all that the library uses meanwhile."""
    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        results: List[Any] = []
        faults: List[BaseException] = []

        def work() -> None:
            try:
                results.append(function(*arguments, **named))
            except BaseException as error:  # pylint: disable=broad-except
                faults.append(error)
        thread = threading.Thread(target=work, daemon=True, name="icestream")
        thread.start()
        while thread.is_alive():
            thread.join(0.05)
        if faults:
            raise faults[0]
        return results[0]
    return cast(_Function, wrapper)


def _warn(text: str) -> None:
    """Hands on the lines of a report that warn."""
    for line in text.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line[len("warning: "):], IcestreamWarning, stacklevel=4)


def _read(path: str) -> Table:
    """The rows of a .npy file, mapped: the system reads only what is used, and changes stay in memory."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        rows = np.load(file, mmap_mode=None) if size < 4096 else None
    table: Table = rows if rows is not None else np.load(path, mmap_mode="c")
    return table


def _describe(name: bytes, verify: bool, shown: str = "") -> Dict[str, Any]:
    """What `icestream info --json` prints, which reads all rows. shown: what errors call the file instead."""
    with TextStream() as out:
        try:
            call(lib.icestream_info, name, verify, True, out.stream)
        except Error as error:
            error.args = (str(error).replace(os.fsdecode(name), shown or os.fsdecode(name)),)
            raise
        about: Dict[str, Any] = json.loads(out.text())
    return about


def _with_light(rows: Table, about: Dict[str, Any]) -> Steps:
    """Steps with the record of their light, which the file has."""
    table = rows.view(Steps)
    record = about["light"]
    table.light = None if record is None else json.dumps(record)
    return table


@_interruptible
def load(path: Path, verify: bool = False) -> Table:
    """Reads a file of hits, steps, paths or waveforms, also in HDF5 (by h5py), or a photon table (.npy), whose array has the sums
    with under- and overflow as whole numbers. Hits come as Hits. A .npy file is mapped into memory; changes of the array
    do not change the file. verify: reads all rows first, and checks digests, values and order. Raises InputError if the
    file cannot be used."""
    name = os.fsdecode(encode(path, "path"))
    if not name.endswith((".h5", ".hdf5")):
        return _load(name, verify, name)
    from .convert import from_hdf5
    with Folder() as folder:
        copy = os.path.join(folder, "copy.npy")
        from_hdf5(name, copy)
        return _load(copy, verify, name)


def _load(path: str, verify: bool, shown: str) -> Table:
    """Reads a .npy file, which errors call `shown`."""
    about = _describe(encode(path, "path"), bool(verify), shown)
    table = _read(path)
    if about["kind"] == "steps":
        return _with_light(table, about)
    if about["kind"] != "hits":
        return table
    hits = table.view(Hits)
    hits.metadata = about["metadata"]
    return hits


@_interruptible
def generate(config: Config = None, particles: Particles = None, *, settings: Settings = None) -> Steps:
    """The steps of the particles, or of the workload of the configuration, as an array with the record of their light. The library writes them into a
    temporary file, which is removed at once and mapped into memory."""
    chosen = open_config(config, settings_of(settings) + particle_settings(particles))
    with Folder() as folder:
        path = os.path.join(folder, "made.steps.npy")
        with TextStream() as report:
            _call(folder, lib.icestream_generate_report, chosen, encode(path, "path"), True, report.stream)
            _warn(report.text())
        return _with_light(_read(path), _describe(encode(path, "path"), False))


def _call(folder: str, function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function of the library that uses files of a temporary folder; messages name them without the folder."""
    try:
        call(function, *arguments)
    except Error as error:
        error.args = (str(error).replace(folder + os.sep, ""),)
        raise


def _file_of(table: Any, dtype: "np.dtype[np.void]", folder: str, name: str) -> bytes:
    """The path of a file with the rows of an array; a path stays as it is."""
    if isinstance(table, (str, os.PathLike)):
        return encode(table, name)
    if dtype is STEP:
        rows: Any = check_steps(table)
    elif isinstance(table, (np.ndarray, np.void)) and table.dtype == dtype and table.ndim <= 1:
        rows = np.atleast_1d(table)
    else:
        raise usage("%s: found %s, expected hits or the path of a hit file" % (name, type(table).__name__))
    path = os.path.join(folder, "given.%s.npy" % name)
    if dtype is STEP:
        with open(path, "wb") as file:
            write_steps(file, rows)
    else:
        np.save(path, np.asarray(rows))
    return encode(path, name)


def _names_of(photons: Sequence[Tuple[int, int, int]]) -> List[bytes]:
    """EVENT:STEP:PHOTON for each photon."""
    try:
        return [b"%d:%d:%d" % tuple(map(operator.index, photon)) for photon in photons]
    except TypeError as error:
        raise usage("photons: found %r, expected a list of (event_id, step_id, photon_id)" % (photons,)) from error


@_interruptible
def trace(config: Config = None, hits: Union[Table, Path, None] = None, *,
          photons: Sequence[Tuple[int, int, int]] = (), steps: Union[Table, Path, None] = None, particles: Particles = None, settings: Settings = None) -> Table:
    """Repeats single photons and returns every point of their paths, an array of the dtype PATH_POINT.

    The photons are those of `hits` (an array or a hit file) and those that `photons` names: (event_id, step_id, photon_id).
    The steps are `steps` (an array or a step file), or else those of
    the configuration, as run() makes them. Raises DifferentError if the paths do not end in the hits again.
    """
    names = _names_of(photons)
    if hits is None and not names:
        raise usage("trace: found neither hits nor photons, expected one of them")
    chosen = open_config(config, settings_of(settings) + particle_settings(particles))
    with Folder() as folder:
        rows, count, kept = strings(names)
        output = os.path.join(folder, "made.paths.npy")
        texts = {
            "hits": None if hits is None else _file_of(hits, HIT, folder, "hits"),
            "steps": None if steps is None else _file_of(steps, STEP, folder, "steps"),
            "output": encode(output, "output"),
        }
        options = ffi.new("icestream_trace_options *")
        for name, text in texts.items():
            if text is not None:
                kept.append(ffi.new("char[]", text))
                setattr(options, name, kept[-1])
        options.photons, options.photon_count, options.force = rows, count, True
        with TextStream() as report:
            _call(folder, lib.icestream_trace, chosen, options, report.stream)
        return _read(output)


@_interruptible
def compare(config: Config = None, against: Config = None, *, schedules: Optional[str] = None,
            settings: Settings = None) -> Dict[str, Any]:
    """Runs the same steps through several schedules, or through two configurations, and compares the hits. Returns what
    `icestream compare --json` prints. Raises DifferentError, whose `report` is the same, if hits differ that should not.
    """
    chosen = open_config(config, settings_of(settings))
    other = None if against is None else open_config(against, settings_of(settings))
    options = ffi.new("icestream_compare_options *")
    options.json = True
    if other is not None:
        options.against = other
    if schedules is not None:
        text = ffi.new("char[]", encode(schedules, "schedules"))
        options.schedules = text
    with TextStream() as out:
        try:
            call(lib.icestream_compare, chosen, options, out.stream)
        except DifferentError as error:
            error.report = json.loads(out.text() or "null")
            raise
        report: Dict[str, Any] = json.loads(out.text())
    return report


def stages() -> Dict[str, Any]:
    """The stages and their variants, with parameters and fields: what `icestream stages --json` prints."""
    with TextStream() as out:
        call(lib.icestream_stages, True, out.stream)
        report: Dict[str, Any] = json.loads(out.text())
    return report


def geometry(config: Config = None, *, settings: Settings = None) -> Table:
    """The modules of a configuration: an array with string, module, x, y, z (m) and efficiency."""
    chosen = open_config(config, settings_of(settings))
    with Folder() as folder:
        path = os.path.join(folder, "modules.csv")
        with TextStream() as report:
            _call(folder, lib.icestream_geometry, chosen, encode(path, "path"), True, report.stream)
            _warn(report.text())
        return np.loadtxt(path, MODULE, delimiter=",", skiprows=1, ndmin=1, usecols=range(len(MODULE.names)))


def layers(config: Config = None, wavelength: float = 400.0, *, settings: Settings = None) -> Table:
    """The layers of the ice or water, the deepest first: an array with bottom and top (z, m), effective scattering length
    and absorption length (m) at a wavelength (nm)."""
    if isinstance(wavelength, bool) or not isinstance(wavelength, (int, float, np.number)):
        raise usage("wavelength: found %r, expected a number (nm)" % (wavelength,))
    with TextStream() as out:
        call(lib.icestream_layers, open_config(config, settings_of(settings)), float(wavelength), out.stream)
        return np.loadtxt(out.text().splitlines()[1:], LAYER, delimiter=",", ndmin=1)
