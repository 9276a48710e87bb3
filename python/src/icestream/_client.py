"""Sends steps to a run that listens (source.listen), and takes the hits."""
from __future__ import annotations

import hashlib
import io
import json
import os
import select
import socket
import stat
import time
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from ._arrays import HIT, WAVEFORM_BIN, Table, write_steps
from ._library import ConfigError, Error, InputError, UnfinishedError, usage

_WINDOW = 4  # messages under way: a listener reads no more of one client
_BLOCK = 1 << 16
_LINE = 1 << 16
_LEAST = 1 << 10  # bytes that show that a connection is of use: single ones keep no client
_DAMAGED = 5
_PATIENCE = 300.0  # with a run that cannot be reached (s)
_CONNECT = 30.0  # for one attempt to connect, at most (s)
_ALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 6))  # so that a lost host is noticed

Steps = Union[Table, Iterable[Table]]


class _Lost(Exception):
    """The connection is to be made again."""


class _Message:
    """One array of steps, as a message."""

    def __init__(self, steps: Table, place: int) -> None:
        buffer = io.BytesIO()
        write_steps(buffer, steps)
        self.bytes = memoryview(buffer.getvalue())
        self.place = place
        self.sent = 0
        self.number = -1
        self.is_received = False


def _read_token(path: Union[str, "os.PathLike[str]"]) -> bytes:
    with open(path, "rb") as file:
        about = os.fstat(file.fileno())
        if stat.S_IMODE(about.st_mode) & 0o077:
            raise ConfigError("%s: found a token that other users can read, expected mode 0600" % os.fspath(path))
        line = file.readline(2048).strip()
    if not 16 <= len(line) <= 1024 or not all(33 <= byte <= 126 for byte in line):
        raise ConfigError("%s: found no token in the first line, expected 16 to 1024 printable characters without blanks"
                          % os.fspath(path))
    return line


def _connect(to: str, limit: float) -> socket.socket:
    """Connects within `limit` seconds."""
    if to.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(limit)
            connection.connect(to[5:])
        except OSError:
            connection.close()
            raise
        return connection
    host, colon, port = to.rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise ConfigError("to: found %r, expected unix:PATH or HOST:PORT" % to)
    connection = socket.create_connection((host.strip("[]"), int(port)), limit)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _ALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    return connection


def _shown(value: Any) -> str:
    """What a server said, for a message: short, and without characters that change a terminal."""
    try:
        text = str(value)[:1000]
    except RecursionError:
        text = "a deeply nested value"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _memory() -> int:
    """How many bytes of hits one answer may have."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _hits_of(data: bytes, to: str) -> Table:
    """The rows of a hit file. Error: it is none."""
    try:
        hits: Table = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # pylint: disable=broad-except # NumPy has no list of what a wrong header raises
        raise Error("%s: found an answer that is no hit file: %s" % (to, _shown(error))) from error
    if hits.ndim != 1 or hits.dtype not in (HIT, WAVEFORM_BIN):
        raise Error("%s: found an answer of %d dimensions and %s, expected rows of a hit file" % (to, hits.ndim, _shown(hits.dtype)))
    return hits


class Client:
    """A connection to a run that listens. `send` may be called again and again; it is no thread's own, so use one thread.

    to: "unix:PATH" or "HOST:PORT". token: the path of a file whose first line is the token. patience: seconds after which
    a run is given up that cannot be reached, or over whose connection neither an answer nor 1024 bytes of steps or hits come
    or go, so choose more than an array takes. 0: one attempt to connect. None, and 0 once the run is connected: as long as the
    connection lasts; a run that cannot be reached is given up after 300 s.
    """

    def __init__(self, to: str, token: Union[str, "os.PathLike[str]", None] = None, patience: Optional[float] = None) -> None:
        if patience is not None and (isinstance(patience, bool) or not isinstance(patience, (int, float)) or not patience >= 0):
            raise usage("patience: found %r, expected a number of seconds from 0, or None" % (patience,))
        self.to, self.patience = to, _PATIENCE if patience is None else patience
        self._silence = patience or None  # on an open connection (s)
        self.repeated = 0
        self._process = os.getpid()
        self._token = _read_token(token) if token is not None else None
        self._socket: Optional[socket.socket] = None
        self._received = bytearray()
        self._answer: Optional[Dict[str, Any]] = None  # `done`, whose hits are coming
        self._damaged = 0
        self._next = 0
        self._under_way: List[_Message] = []
        self._last = self._exchanged = time.monotonic()  # of a result; of an answer, or of _LEAST bytes
        self._moved = 0  # bytes since then

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, steps: Steps) -> Iterator[Table]:
        """Sends one array of steps, or several, and yields the hits of each, in the order of the arrays.

        InputError: the run refuses the steps. ConfigError: it refuses the client. UnfinishedError: the patience ended.
        """
        if self._under_way:
            raise InputError("send: the iterator of an earlier call was not used up, expected one at a time")
        arrays = iter([steps] if isinstance(steps, np.ndarray) else steps)
        ready: Dict[int, Table] = {}
        place = taken = 0
        more = True
        self._last = time.monotonic()
        try:
            while more or self._under_way or ready:
                while more and len(self._under_way) < _WINDOW and len(ready) < _WINDOW:
                    array = next(arrays, None)
                    more = array is not None
                    if array is not None:
                        self._under_way.append(_Message(array, place))
                        place += 1
                        self._last = self._exchanged = time.monotonic()
                if taken in ready:
                    yield ready.pop(taken)
                    taken += 1
                    self._last = self._exchanged = time.monotonic()  # the time of the caller does not count
                elif self._under_way:
                    ready.update(self._turn())
        finally:
            if self._under_way:  # given up in the middle: answers of these messages would confuse a later call
                self._under_way = []
                self._forget()

    def _forget(self) -> None:
        self.close()
        self._received.clear()
        self._answer = None
        self._next = 0
        for message in self._under_way:
            self.repeated += message.number >= 0
            message.number, message.sent, message.is_received = -1, 0, False

    def _open(self) -> None:
        pause = 0.1
        while self._socket is None:
            try:
                self._socket = _connect(self.to, min(_CONNECT, max(0.1, self._left())))
                greeting = (b"TOKEN " + self._token + b"\n" if self._token else b"") + b"HITS\n"
                self._socket.sendall(greeting)
                self._socket.setblocking(False)
                self._exchanged = time.monotonic()
            except OSError as error:
                self.close()
                self._be_patient(error)
                time.sleep(min(pause, self._left()))
                pause = min(2 * pause, 5)

    def _left(self) -> float:
        """In how many seconds a run that cannot be reached is given up."""
        return max(0.0, self._last + self.patience - time.monotonic())

    def _be_patient(self, cause: BaseException) -> None:
        if self._left() <= 0:
            raise UnfinishedError("%s: no result for %g s, and the connection was lost: %s"
                                  % (self.to, self.patience, _shown(cause)))

    def _turn(self) -> Dict[int, Table]:
        """Sends and receives what can be sent and received. Returns hits by the places of their arrays."""
        if self._process != os.getpid():  # two processes with one connection would get each other's hits
            raise usage("found a client of another process, expected one that this process has made")
        self._open()
        try:
            hits = self._exchange()
        except (_Lost, OSError) as error:
            self._forget()
            self._be_patient(error)
            time.sleep(0.1)
            return {}
        if self._silence is not None and time.monotonic() >= self._exchanged + self._silence:
            raise UnfinishedError("%s: no answer and less than %d bytes of steps or hits came or went for %g s, though the run is connected"
                                  % (self.to, _LEAST, self.patience))
        return hits

    def _wait(self, connection: socket.socket, sends: bool) -> Tuple[bool, bool]:
        """Waits until the connection can be read or written, or until the patience ends."""
        left = None if self._silence is None else max(0.0, self._exchanged + self._silence - time.monotonic())
        readable, writable, _ = select.select([connection], [connection] if sends else [], [], left)
        return bool(readable), bool(writable)

    def _move(self, count: int) -> None:
        """Bytes of steps or hits went or came."""
        self._moved += count
        if self._moved >= _LEAST:
            self._moved, self._exchanged = 0, time.monotonic()

    def _exchange(self) -> Dict[int, Table]:
        connection = self._socket
        assert connection is not None
        begun = [message for message in self._under_way if message.number >= 0 and message.sent < len(message.bytes)]
        waiting = begun or [message for message in self._under_way if message.number < 0]
        readable, writable = self._wait(connection, bool(waiting))
        if readable:
            data = connection.recv(_BLOCK)
            if not data:
                raise _Lost("the run closed it")
            self._received += data
            if self._answer is not None:
                self._move(len(data))
            return self._take()
        if writable:
            message = waiting[0]
            if message.number < 0:
                message.number = self._next
                self._next += 1
            try:
                count = connection.send(message.bytes[message.sent:message.sent + _BLOCK])
                message.sent += count
                self._move(count)
            except (BrokenPipeError, ConnectionResetError):
                # The run closed the connection. What it said before may still be there, such as the reason.
                data = connection.recv(_BLOCK)
                if not data:
                    raise
                self._received += data
                return self._take()
        return {}

    def _take(self) -> Dict[int, Table]:
        hits: Dict[int, Table] = {}
        while True:
            if self._answer is not None:
                size = int(self._answer["bytes"])
                if len(self._received) < size:
                    return hits
                self._finish(bytes(self._received[:size]), hits)
                del self._received[:size]
            else:
                end = self._received.find(b"\n")
                if end < 0 and len(self._received) < _LINE:
                    return hits
                if end < 0:
                    raise Error("%s: found a line of more than %d bytes, expected an answer of icestream" % (self.to, _LINE))
                line = bytes(self._received[:end])
                del self._received[:end + 1]
                self._follow(line)

    def _finish(self, data: bytes, hits: Dict[int, Table]) -> None:
        answer, self._answer = self._answer, None
        assert answer is not None
        if hashlib.sha256(data).hexdigest() != answer.get("sha256"):
            self._damaged += 1
            if self._damaged >= _DAMAGED:
                raise Error("%s: hits came damaged %d times" % (self.to, self._damaged))
            raise _Lost("the hits came damaged: their SHA-256 is another one")
        message = self._find(answer)
        hits[message.place] = _hits_of(data, self.to)
        self._under_way.remove(message)
        self._last = self._exchanged = time.monotonic()

    def _find(self, answer: Dict[str, Any]) -> _Message:
        for message in self._under_way:
            if message.number >= 0 and message.number == answer.get("message"):
                return message
        raise Error("%s: found an answer about no message of this client: %s" % (self.to, _shown(answer)))

    def _follow(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise Error("%s: found an answer that is no JSON object, expected a listener of icestream" % self.to)
        state = answer.get("state")
        if state == "refused":
            reason = _shown(answer.get("reason"))
            if answer.get("again") is True:
                raise _Lost(reason)
            if "message" in answer:
                self._find(answer)
                raise InputError("%s: the run refuses the steps: %s" % (self.to, reason))
            raise ConfigError("%s: the run refuses this client: %s" % (self.to, reason))
        if state == "done":
            self._find(answer)
            size = answer.get("bytes")
            if not isinstance(size, int) or not 0 < size <= _memory():
                raise Error("%s: found an answer `done` with %s bytes of hits, expected from 1 to half of the memory of this machine"
                            % (self.to, _shown(size)))
            self._answer = answer
        elif state == "received":
            message = self._find(answer)
            if not message.is_received:
                message.is_received, self._exchanged = True, time.monotonic()
        else:
            raise Error("%s: found an answer of the state %s, expected received, done or refused" % (self.to, _shown(state)))


def send(steps: Steps, to: str, token: Union[str, "os.PathLike[str]", None] = None, patience: Optional[float] = None) -> Iterator[Table]:
    """Sends one array of steps, or several, to a run that listens, and yields the hits of each, in their order."""
    with Client(to, token, patience) as client:
        yield from client.send(steps)
