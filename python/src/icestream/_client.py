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
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union

import numpy as np

from ._arrays import Table, write_steps
from ._library import ConfigError, Error, InputError, UnfinishedError

_WINDOW = 4  # messages under way: a listener reads no more of one client
_BLOCK = 1 << 16
_LINE = 1 << 16
_DAMAGED = 5

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


def _connect(to: str) -> socket.socket:
    if to.startswith("unix:"):
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(to[5:])
        except OSError:
            connection.close()
            raise
        return connection
    host, colon, port = to.rpartition(":")
    if not colon or not port.isdigit() or not host:
        raise ConfigError("to: found %r, expected unix:PATH or HOST:PORT" % to)
    return socket.create_connection((host.strip("[]"), int(port)))


def _hits_of(data: bytes) -> Table:
    hits: Table = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return hits


class Client:
    """A connection to a run that listens. `send` may be called again and again; it is no thread's own, so use one thread.

    to: "unix:PATH" or "HOST:PORT". token: the path of a file whose first line is the token. patience: seconds without any
    result after which a run that has gone is given up.
    """

    def __init__(self, to: str, token: Union[str, "os.PathLike[str]", None] = None, patience: float = 300) -> None:
        self.to, self.patience = to, patience
        self.repeated = 0
        self._token = _read_token(token) if token is not None else None
        self._socket: Optional[socket.socket] = None
        self._received = bytearray()
        self._answer: Optional[Dict[str, Any]] = None  # `done`, whose hits are coming
        self._damaged = 0
        self._next = 0
        self._under_way: List[_Message] = []
        self._last = time.monotonic()

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
                if taken in ready:
                    yield ready.pop(taken)
                    taken += 1
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
            message.number, message.sent = -1, 0

    def _open(self) -> None:
        pause = 0.1
        while self._socket is None:
            try:
                self._socket = _connect(self.to)
                greeting = (b"TOKEN " + self._token + b"\n" if self._token else b"") + b"HITS\n"
                self._socket.sendall(greeting)
                self._socket.setblocking(False)
            except OSError as error:
                self.close()
                self._be_patient(error)
                time.sleep(pause)
                pause = min(2 * pause, 5)

    def _be_patient(self, cause: BaseException) -> None:
        if time.monotonic() - self._last >= self.patience:
            raise UnfinishedError("%s: no result for %g s, and the connection was lost: %s" % (self.to, self.patience, cause))

    def _turn(self) -> Dict[int, Table]:
        """Sends and receives what can be sent and received. Returns hits by the places of their arrays."""
        self._open()
        try:
            return self._exchange()
        except (_Lost, OSError) as error:
            self._forget()
            self._be_patient(error)
            time.sleep(0.1)
            return {}

    def _exchange(self) -> Dict[int, Table]:
        connection = self._socket
        assert connection is not None
        begun = [message for message in self._under_way if message.number >= 0 and message.sent < len(message.bytes)]
        waiting = begun or [message for message in self._under_way if message.number < 0]
        readable, writable, _ = select.select([connection], [connection] if waiting else [], [])
        if readable:
            data = connection.recv(_BLOCK)
            if not data:
                raise _Lost("the run closed it")
            self._received += data
            return self._take()
        if writable:
            message = waiting[0]
            if message.number < 0:
                message.number = self._next
                self._next += 1
            try:
                message.sent += connection.send(message.bytes[message.sent:message.sent + _BLOCK])
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
        hits[message.place] = _hits_of(data)
        self._under_way.remove(message)
        self._last = time.monotonic()

    def _find(self, answer: Dict[str, Any]) -> _Message:
        for message in self._under_way:
            if message.number >= 0 and message.number == answer.get("message"):
                return message
        raise Error("%s: found an answer about no message of this client: %s" % (self.to, str(answer)[:200]))

    def _follow(self, line: bytes) -> None:
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise Error("%s: found an answer that is no JSON object, expected a listener of icestream" % self.to)
        state = answer.get("state")
        if state == "refused":
            reason = str(answer.get("reason"))
            if answer.get("again") is True:
                raise _Lost(reason)
            if "message" in answer:
                self._find(answer)
                raise InputError("%s: the run refuses the steps: %s" % (self.to, reason))
            raise ConfigError("%s: the run refuses this client: %s" % (self.to, reason))
        if state == "done":
            self._find(answer)
            size = answer.get("bytes")
            if not isinstance(size, int) or size <= 0:
                raise Error("%s: found an answer `done` without hits, expected their size in \"bytes\"" % self.to)
            self._answer = answer
        elif state != "received":
            raise Error("%s: found an answer of the state %r, expected received, done or refused" % (self.to, state))


def send(steps: Steps, to: str, token: Union[str, "os.PathLike[str]", None] = None, patience: float = 300) -> Iterator[Table]:
    """Sends one array of steps, or several, to a run that listens, and yields the hits of each, in their order."""
    with Client(to, token, patience) as client:
        yield from client.send(steps)
