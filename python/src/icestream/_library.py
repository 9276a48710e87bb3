"""Finds libicestream.so and calls it. A call that fails raises the exception of its status, with the message that the
program `icestream` prints."""
from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Optional, Tuple, Type

from . import _abi

ffi: Any = _abi.ffi
NAME = "libicestream.so." + _abi.VERSION.split(".", maxsplit=1)[0]
FOLDER = os.path.dirname(os.path.abspath(__file__))


class Error(Exception):
    """What went wrong, in the words of the program `icestream`.

    status: the status of the library, for example -3. exit_status: the exit status with which the program would end.
    cause: the errno of a system call that failed, otherwise 0. ticket: the ticket of a session whose result this is,
    otherwise None.
    """

    def __init__(self, text: str, status: int = -1, exit_status: int = 1, cause: int = 0) -> None:
        super().__init__(text)
        self.status = status
        self.exit_status = exit_status
        self.cause = cause
        self.ticket: Optional[int] = None


class FailedError(Error):
    """The computation failed (exit status 1)."""


class UsageError(Error, ValueError):
    """Wrong usage: an argument, a closed session, a session of another process (exit status 2)."""


class ConfigError(Error, ValueError):
    """The configuration is wrong (exit status 2). The message has file, line and column."""


class InputError(Error, ValueError):
    """Steps or a file cannot be used (exit status 3)."""


class OutputError(Error):
    """A file cannot be written (exit status 74)."""


class NoMemoryError(Error, MemoryError):
    """There is not enough memory (exit status 1)."""


class DeviceError(Error):
    """There is no such device, or it failed (exit status 1)."""


class DifferentError(Error):
    """Results differ that should agree (exit status 1). report: the comparison, or None."""

    report: Optional[Dict[str, Any]] = None


class UnfinishedError(Error):
    """There is work that is not finished (exit status 75)."""


class InterruptedTicketError(Error):
    """The ticket was given up, or its session was closed (exit status 130)."""


_CLASSES: Dict[str, Type[Error]] = {
    "ICESTREAM_E_FAILED": FailedError,
    "ICESTREAM_E_USAGE": UsageError,
    "ICESTREAM_E_CONFIG": ConfigError,
    "ICESTREAM_E_INPUT": InputError,
    "ICESTREAM_E_OUTPUT": OutputError,
    "ICESTREAM_E_MEMORY": NoMemoryError,
    "ICESTREAM_E_DEVICE": DeviceError,
    "ICESTREAM_E_DIFFERENT": DifferentError,
    "ICESTREAM_E_UNFINISHED": UnfinishedError,
    "ICESTREAM_E_INTERRUPTED": InterruptedTicketError,
}


class IcestreamWarning(UserWarning):
    """A warning that `icestream run` logs, for example about the configuration."""


for _class in (Error, IcestreamWarning, *_CLASSES.values()):
    _class.__module__ = "icestream"  # tracebacks show the names that programs catch


def _candidates() -> List[str]:
    """The places of the library: $ICESTREAM_LIBRARY, else the folder of the package, else where the loader looks."""
    wanted = os.environ.get("ICESTREAM_LIBRARY")
    return [wanted] if wanted else [os.path.join(FOLDER, "lib", NAME), NAME]


def _load() -> Tuple[Any, str]:
    faults = []
    for path in _candidates():
        if os.path.dirname(path) and not os.path.exists(path):
            faults.append("%s: there is no such file" % path)
            continue
        try:
            # Hits and threads may outlive `lib`, so the library stays until the end of the process.
            return ffi.dlopen(path, os.RTLD_NOW | os.RTLD_NODELETE), path
        except OSError as error:
            faults.append(str(error))
    raise ImportError(
        "icestream: found no %s that can be loaded, expected one in the package, among the libraries of the system, or "
        "in the variable ICESTREAM_LIBRARY; tried: %s" % (NAME, "; ".join(faults)))


lib: Any
lib, LIBRARY_PATH = _load()
# Functions of C, as the whole process sees them: another allocator that was loaded before Python (LD_PRELOAD) frees what it gave.
libc: Any = ffi.dlopen(None)


def text_of(pointer: Any) -> str:
    """The text behind a char pointer. Bytes that are not UTF-8 are kept as escapes."""
    return str(ffi.string(pointer).decode("utf-8", "backslashreplace"))


def exception_of(status: int, error: Any) -> Error:
    """The exception for a negative status. error: the icestream_error that the library filled."""
    text = text_of(error.text) or text_of(lib.icestream_status_text(status))
    kind = next((cls for name, cls in _CLASSES.items() if getattr(lib, name) == status), Error)
    return kind(text, status, int(lib.icestream_status_exit(status)), int(error.cause))


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is an icestream_error. The interpreter is free for other threads until the
    function returns. Raises Error."""
    error = ffi.new("icestream_error *")
    status = function(*arguments, error)
    if status != lib.ICESTREAM_OK:
        raise exception_of(status, error)


def usage(text: str) -> UsageError:
    """The exception for a wrong argument that the package finds itself."""
    return UsageError(text, lib.ICESTREAM_E_USAGE, int(lib.icestream_status_exit(lib.ICESTREAM_E_USAGE)))


def fault(text: str, name: str = "ICESTREAM_E_INPUT") -> Error:
    """The exception of a status for what the package finds itself. The default is a file that cannot be used."""
    status = int(getattr(lib, name))
    return _CLASSES[name](text, status, int(lib.icestream_status_exit(status)))


class TextStream:
    """A stream of C that is kept in memory, for functions that print. Use: with TextStream() as out: f(out.stream)."""

    def __enter__(self) -> "TextStream":
        self._text = ffi.new("char **")
        self._length = ffi.new("size_t *")
        self.stream = libc.open_memstream(self._text, self._length)
        if self.stream == ffi.NULL:
            raise NoMemoryError("a stream in memory cannot be opened", lib.ICESTREAM_E_MEMORY)
        return self

    def text(self) -> str:
        """What was printed. Closes the stream."""
        self._close()
        return bytes(ffi.buffer(self._text[0], self._length[0])).decode("utf-8", "backslashreplace")

    def _close(self) -> None:
        if self.stream is not None:
            libc.fclose(self.stream)
            self.stream = None

    def __exit__(self, *_: object) -> None:
        self._close()
        libc.free(self._text[0])
        self._text[0] = ffi.NULL


def strings(texts: List[bytes]) -> Tuple[Any, int, List[Any]]:
    """A char ** with its length, and what must stay alive as long as it is used."""
    kept = [ffi.new("char[]", text) for text in texts]
    return (ffi.new("char *[]", kept) if kept else ffi.NULL), len(kept), kept


def build() -> Dict[str, str]:
    """What the library was built from and with: version, commit, compiler, CUDA, libraries."""
    with TextStream() as out:
        call(lib.icestream_build_print, out.stream)
        rows = [line.split(": ", 1) for line in out.text().splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 2}
