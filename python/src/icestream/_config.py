"""Configurations: a path, YAML text or a dict becomes an icestream_config."""
from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._folder import Folder
from ._library import TextStream, call, ffi, lib, strings, usage

Config = Union[str, "os.PathLike[str]", Mapping[str, Any], None]
Settings = Optional[Mapping[str, Any]]
Particles = Union[Sequence[Mapping[str, Any]], npt.NDArray[np.void], str, "os.PathLike[str]", None]


def _plain(value: Any) -> Any:
    """What JSON does not know: values of NumPy, and paths."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise usage("found a value of type %s in a configuration, expected numbers, texts, true or false, lists and dicts"
                % type(value).__name__)


def yaml_of(value: Any, indent: Optional[int] = None) -> str:
    """A value as JSON, which is YAML, too."""
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, indent=indent)
    except (TypeError, ValueError, RecursionError) as error:
        raise usage("a configuration cannot be written as YAML: %s" % error) from error


def is_text(config: str) -> bool:
    """Whether a str is YAML text and not a path: it has a line break, or a colon before a blank or at its end."""
    return "\n" in config or ": " in config or config.endswith(":")


def encode(text: Union[str, "os.PathLike[str]"], what: str) -> bytes:
    """The bytes of a text or of a path for the library."""
    if not isinstance(text, (str, os.PathLike)):
        raise usage("%s: found %s, expected a text" % (what, type(text).__name__))
    try:
        data = os.fsencode(text)
    except UnicodeEncodeError as error:
        raise usage("%s: %s" % (what, error)) from error
    if b"\0" in data:
        raise usage("%s: found a byte 0, expected text without one" % what)
    return data


def settings_of(settings: Settings) -> List[bytes]:
    """KEY=VALUE for each setting. A text is taken as `--set` takes it; other values become YAML."""
    if settings is None:
        return []
    if not isinstance(settings, Mapping):
        raise usage("settings: found %s, expected a dict like {'detector.oversize': 1}" % type(settings).__name__)
    rows = []
    for key, value in settings.items():
        text = os.fspath(value) if isinstance(value, os.PathLike) else value
        rows.append(encode("%s=%s" % (key, text if isinstance(text, str) else yaml_of(value)), "settings"))
    return rows


def listed(particles: Particles) -> Particles:
    """A table of icestream.io as the list of its particles; anything else as it is."""
    if not isinstance(particles, np.ndarray):
        return particles
    from . import io
    if particles.dtype != io.PARTICLE or particles.ndim != 1:
        raise usage("particles: found an array of %s, expected a table with the dtype icestream.io.PARTICLE" % particles.dtype)
    return io.particles(particles)


def particle_settings(particles: Particles) -> List[bytes]:
    """The settings of a submission for a list of particles, or for the path of a list."""
    if particles is None:
        return []
    particles = listed(particles)
    if isinstance(particles, (str, os.PathLike)):
        return [encode("particles.file=%s" % os.fspath(particles), "particles")]
    if isinstance(particles, (Mapping, bytes)) or not isinstance(particles, Sequence):
        raise usage("particles: found %s, expected a list of dicts, or the path of a list" % type(particles).__name__)
    for index, particle in enumerate(particles):
        if not isinstance(particle, Mapping):
            raise usage("particles[%d]: found %s, expected a dict like {'type': 'e-', 'energy': 1e5}"
                        % (index, type(particle).__name__))
    return [encode("particles.list=" + yaml_of(list(particles)), "particles")]


class Stages:
    """Stages given as C text: each becomes a header in a folder of its own, which close() removes."""

    def __init__(self, stages: Optional[Mapping[str, str]]) -> None:
        self.settings: List[bytes] = []
        self._folder: Optional[Folder] = None
        if not isinstance(stages, (Mapping, type(None))):
            raise usage("stages: found %s, expected a dict like {'scatter': TEXT}" % type(stages).__name__)
        for stage, text in (stages or {}).items():
            if not isinstance(text, (str, os.PathLike)) or not str(stage).isidentifier():
                raise usage("stages: found %r: %s, expected a dict like {'scatter': TEXT}" % (stage, type(text).__name__))
            value = os.fspath(text)
            is_header = "\n" in value or value.endswith(".h")
            if "\n" in value:
                self._folder = self._folder or Folder("icestream-stages-")
                value = os.path.join(self._folder.path, stage + ".h")
                with open(value, "w", encoding="utf-8") as file:
                    file.write(text)
            self.settings.append(encode("stages.%s=%s" % (stage, yaml_of({"source": value}) if is_header else value),
                                        "stages"))

    def close(self) -> None:
        """Removes the headers."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def open_config(config: Config, sets: List[bytes]) -> Any:
    """The icestream_config of a path, of YAML text, of a dict, or of None, which stands for the defaults. The result
    frees itself. Raises ConfigError."""
    pointer = ffi.new("icestream_config **")
    rows, count, kept = strings(sets)
    if config is None:
        call(lib.icestream_config_load, ffi.NULL, rows, count, pointer)
    elif isinstance(config, os.PathLike) or (isinstance(config, str) and not is_text(config)):
        call(lib.icestream_config_load, encode(config, "config"), rows, count, pointer)
    elif isinstance(config, (str, Mapping)):
        text = config if isinstance(config, str) else yaml_of(config, indent=1)
        data = text.encode("utf-8", "surrogatepass")
        call(lib.icestream_config_read, ffi.NULL, data, len(data), rows, count, pointer)
    else:
        raise usage("config: found %s, expected a path, YAML text, a dict or None" % type(config).__name__)
    del kept
    return ffi.gc(pointer[0], lib.icestream_config_destroy)


def effective(config: Config = None, settings: Settings = None) -> str:
    """The configuration with all its keys, as YAML."""
    with TextStream() as out:
        call(lib.icestream_config_print, open_config(config, settings_of(settings)), out.stream)
        return out.text()
