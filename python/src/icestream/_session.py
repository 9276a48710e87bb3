"""Sessions: arrays of steps go in, arrays of hits come out, and no file is written."""
from __future__ import annotations

import asyncio
import functools
import logging
import os
import time
import warnings
from typing import Any, AsyncIterator, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

import numpy as np

from ._abi import VERSION
from ._arrays import STEP, UNITS, Account, Hits, Table, account_of, check_steps, hits_of
from ._config import Config, Particles, Settings, Stages, encode, listed, open_config, particle_settings, settings_of
from ._library import Error, IcestreamWarning, TextStream, call, exception_of, ffi, lib, strings, text_of, usage

LOG = logging.getLogger("icestream")
SLICE = 0.05  # after which a call that waits looks for Ctrl-C (s)
_STATES = ("waiting", "running", "finished")


class Progress(NamedTuple):
    """How far a ticket is. state: waiting, running or finished. steps: given, or made so far. account: of the photons
    that have ended so far. thread_seconds: for how long threads of this machine worked on it (s)."""

    ticket: int
    state: str
    steps: int
    account: Account
    thread_seconds: float


def _metadata_of(configuration: str) -> Dict[str, Any]:
    """What hits of a session say about themselves. configuration: YAML with all keys."""
    def value(section: str, key: str) -> str:
        part = configuration.split("\n%s:\n" % section, 1)[-1] if section != "run" else configuration
        return next((line.split(": ", 1)[1] for line in part.splitlines() if line.startswith("  %s: " % key)), "")
    content = value("sink", "hits")
    if content == "auto":
        content = "photons" if value("stages", "detect") == "none" else "pe"
    return {"producer": "icestream %s" % VERSION, "seed": value("run", "seed"), "content": content, "units": UNITS,
            "configuration": configuration}


class _Given:
    """What Python keeps of a submission until its ticket is taken. ticket: a uint64_t * that the library fills. lent: the array
    that the session reads. events: for the hits."""

    def __init__(self, lent: Optional[Table], events: Any) -> None:
        self.ticket = ffi.new("uint64_t *")
        self.lent = lent
        self.events = events
        self.is_taken = False


class _Submissions:
    """The submissions whose tickets were not taken.

    There is no lock: a handler of a signal may call the session in the middle of its methods, and a thread that holds a lock
    does not exist in a child of fork. Each operation on a list or a dict is whole.
    """

    def __init__(self) -> None:
        self._entering: List[_Given] = []  # their call of the library has not returned, or was interrupted by Ctrl-C
        self._known: Dict[int, _Given] = {}  # by ticket
        self.is_over = False  # the session was destroyed

    def enter(self, given: _Given) -> None:
        """Before the library is called, because it may have the steps when Ctrl-C is raised."""
        self._entering.append(given)

    def know(self, given: _Given) -> None:
        """After the call. Another thread, or a handler, may have taken the ticket already."""
        number = given.ticket[0]
        if number:
            self._known[number] = given
            if given.is_taken:
                self._known.pop(number, None)
        self._entering.remove(given)

    def take(self, number: int) -> Optional[_Given]:
        """Forgets a submission whose ticket was taken."""
        entering = next((given for given in list(self._entering) if given.ticket[0] == number), None)
        if entering is not None:
            entering.is_taken = True
        return self._known.pop(number, entering)

    def give_back(self) -> None:
        """Lets go of the arrays, which the session does not read any more."""
        for given in list(self._entering) + list(self._known.values()):
            given.lent = None

    def __bool__(self) -> bool:
        return bool(self._known) or any(given.ticket[0] and not given.is_taken for given in list(self._entering))


def _destroy(given: _Submissions, session: Any) -> None:
    """Ends a session. Its submissions are an argument, so that the arrays that it reads stay until then."""
    given.is_over = True
    lib.icestream_session_destroy(session)


def _integer(value: Any, what: str, limit: int = 2**64) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() < limit:
        raise usage("%s: found %r, expected a whole number from 0 to %d" % (what, value, limit - 1))
    return int(value.__index__())


def _seconds(timeout: Any) -> float:
    """A time to wait; negative: for ever."""
    if timeout is None:
        return -1.0
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise usage("timeout: found %r, expected a number of seconds from 0, or None" % (timeout,))
    return float(timeout)


class Session:
    """Ice, detector, light and a device, ready to follow photons.

    config: a path, YAML text, a dict, or None for the defaults. settings: keys that replace those of the configuration,
    like `--set`: {"detector.oversize": 1}. stages: stages of your own: {"scatter": TEXT} with the C text of a header,
    or the path of one. particles: what a submission without steps simulates, as for submit(). tickets: submissions that
    may be unfinished, at most; 0: any number. kept_memory: memory of finished results that were not taken (bytes), at which
    submit() raises UnfinishedError; 0: half of the memory of the machine.

    Any thread may use a session. A session is a context manager, and an iterable of the hits of all submissions, in the
    order in which they finish; `async for` works, too.
    """

    def __init__(self, config: Config = None, *, settings: Settings = None, stages: Optional[Mapping[str, str]] = None,
                 particles: Particles = None, tickets: int = 0, kept_memory: int = 0) -> None:
        self._given = _Submissions()
        self._process = os.getpid()
        self._stages = Stages(stages)
        options = ffi.new("icestream_session_options *")
        options.size = ffi.sizeof("icestream_session_options")
        options.tickets = _integer(tickets, "tickets")
        options.kept_memory = _integer(kept_memory, "kept_memory")
        # Ctrl-C during the call is raised before the session has another owner.
        pointer = ffi.gc(ffi.new("icestream_session **"), lambda given: lib.icestream_session_destroy(given[0]))
        chosen = open_config(config, settings_of(settings) + particle_settings(particles) + self._stages.settings)
        call(lib.icestream_session_open, chosen, options, pointer)
        with TextStream() as out:
            call(lib.icestream_config_print, chosen, out.stream)
            self._metadata = _metadata_of(out.text())
        self._particles = listed(particles)
        opened, pointer[0] = pointer[0], ffi.NULL
        self._handle = ffi.gc(opened, functools.partial(_destroy, self._given))
        self._hand_on_notes()

    # ---- submitting

    def submit(self, steps: Optional[Table] = None, *, particles: Particles = None, settings: Settings = None,
               name: Optional[str] = None, lend: bool = False) -> int:
        """Submits work and returns its ticket at once.

        steps: an array of the dtype STEP. None: the session makes the steps, of `particles`, or of the particles or the
        workload of its configuration. settings: keys of the sections particles and workload for this submission. name:
        what messages call the steps. lend: the session reads `steps` where they are, unless they are mapped from a file or
        check_steps() must copy them; leave the array as it is until the ticket is finished.
        """
        work, particles = ffi.new("icestream_submission *"), listed(particles)
        work.size = ffi.sizeof("icestream_submission")
        kept: List[Any] = []
        array: Optional[Table] = None
        if steps is not None:
            if particles is not None:
                raise usage("submit: found steps and particles, expected one of them")
            array = check_steps(steps)
            work.step_size = STEP.itemsize
            # An array without elements may have any address; the library wants one that is not NULL.
            kept.append(array if len(array) else ffi.new("icestream_step *"))
            work.steps = ffi.from_buffer("icestream_step[]", array) if len(array) else kept[0]
            work.step_count = len(array)
            work.flags = lib.ICESTREAM_SUBMIT_LENT if lend else 0
            record = getattr(array, "light", None)
            if record is not None:
                kept.append(ffi.new("char[]", encode(record, "light")))
                work.light = kept[-1]
        rows, work.set_count, texts = strings(particle_settings(particles) + settings_of(settings))
        work.sets = rows
        if name is not None:
            kept.append(ffi.new("char[]", encode(name, "name")))
            work.name = kept[-1]
        given = _Given(array if lend else None, self._events_of(array, particles or self._particles, settings))
        self._given.enter(given)
        try:
            call(lib.icestream_session_submit, self._session, work, given.ticket)
        finally:
            self._given.know(given)
        del kept, rows, texts
        return int(given.ticket[0])

    def cancel(self, ticket: int) -> None:
        """Gives a ticket up. Its result is InterruptedTicketError, if it is not finished already."""
        call(lib.icestream_session_cancel, self._session, _integer(ticket, "ticket"))

    # ---- waiting and results

    def poll(self, ticket: int) -> Progress:
        """How far a ticket is."""
        about = self._about()
        call(lib.icestream_session_poll, self._session, _integer(ticket, "ticket"), about)
        return Progress(int(about.ticket), _STATES[about.state], int(about.steps), account_of(about.account),
                        float(about.thread_seconds))

    def wait(self, ticket: int = 0, timeout: Optional[float] = None) -> Optional[int]:
        """Waits until a ticket is finished; 0: any ticket. Returns the ticket, or None if the time is over first or if
        there is no ticket. timeout (s); None: for ever."""
        number, seconds = _integer(ticket, "ticket"), _seconds(timeout)
        finished = ffi.new("uint64_t *")
        end = time.monotonic() + seconds
        while True:
            part = SLICE if seconds < 0 else max(0.0, min(SLICE, end - time.monotonic()))
            call(lib.icestream_session_wait, self._session, number, part, finished)
            over = 0 <= seconds and end <= time.monotonic()
            if finished[0] or over or (number == 0 and not self._given):
                return int(finished[0]) or None

    def take(self, ticket: int = 0) -> Hits:
        """The hits of a finished ticket; 0: of the ticket that finished first. Does not wait. Raises the error of the
        ticket if it has one, and UnfinishedError if it is not finished."""
        return self._result_of(_integer(ticket, "ticket"))

    def result(self, ticket: int, timeout: Optional[float] = None) -> Hits:
        """Waits for a ticket, and takes its hits. Raises UnfinishedError if the time is over first."""
        self.wait(ticket, timeout)
        return self._result_of(_integer(ticket, "ticket"))

    def __iter__(self) -> Iterator[Hits]:
        return _Results(self)

    def __aiter__(self) -> AsyncIterator[Hits]:
        return _AsyncResults(self)

    def fileno(self) -> int:
        """A file descriptor for select and event loops: readable while a finished ticket has not been taken. Do not read
        it."""
        number = int(lib.icestream_session_descriptor(self._session))
        if number < 0:
            raise usage("the session belongs to another process")
        return number

    # ---- facts and the end

    def describe(self) -> str:
        """What computes: "cpu, 2 threads, avx512, wavefront schedule"."""
        text = ffi.new("char[]", 1024)
        if not lib.icestream_session_describe(self._session, text, len(text)):
            raise usage("the session belongs to another process")
        return text_of(text)

    def close(self) -> None:
        """Ends all work. Finished tickets can still be taken. A second call does nothing."""
        if self._given.is_over:
            return
        call(lib.icestream_session_close, self._session)
        self._given.give_back()
        self._stages.close()
        self._hand_on_notes()  # some are only known at the end: no hits, photons that were stopped

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process == os.getpid():  # a child of fork leaves the block, too, for example by sys.exit
            self.close()

    def __reduce__(self) -> Any:
        raise usage("a session cannot be copied to another process; open one there")

    # ---- for this module

    @property
    def _session(self) -> Any:
        """The icestream_session. If objects refer to each other in a circle, Python destroys it before it calls a `__del__` of
        these objects."""
        if self._given.is_over:
            raise usage("the session was destroyed")
        return self._handle

    @staticmethod
    def _about() -> Any:
        about = ffi.new("icestream_ticket *")
        about.size = ffi.sizeof("icestream_ticket")
        return about

    def _events_of(self, array: Optional[Table], particles: Particles, settings: Settings) -> Any:
        """The events of a submission, ascending, as far as Python knows them."""
        if array is not None:
            # np.unique() of NumPy 2 may abort the process if the interpreter ends meanwhile, in a thread that submits.
            sorted_ids = np.sort(array["event_id"])
            return sorted_ids[np.concatenate([[True], sorted_ids[1:] != sorted_ids[:-1]])[:len(sorted_ids)]]
        numbers = [particle.get("event") for particle in particles] if isinstance(particles, (list, tuple)) else []
        text = self._metadata["configuration"]
        keys = {"particles", "particles.events", "particles.first_event", "particles.list", "particles.file"}
        counts = "\n  events: count\n" in text or "\n  first_event: 0\n" not in text or not keys.isdisjoint(settings or {})
        if counts or not numbers or not all(isinstance(number, (int, np.integer)) for number in numbers):
            return None
        return np.unique(np.array(numbers, np.uint64))

    def _result_of(self, ticket: int) -> Hits:
        about, error = self._about(), ffi.new("icestream_error *")
        pointer, count = ffi.new("icestream_hit **"), ffi.new("uint64_t *")
        self._hand_on_notes()  # before: a warning that is an error must not cost the hits
        status = lib.icestream_session_take(self._session, ticket, pointer, count, about, error)
        given = self._given.take(about.ticket) if about.ticket else None
        if status != lib.ICESTREAM_OK:
            fault = exception_of(status, error)
            fault.ticket = int(about.ticket) or None
            raise fault
        hits = hits_of(pointer[0], count[0])
        hits.ticket, hits.steps = int(about.ticket), int(about.steps)
        hits.account = account_of(about.account)
        hits.seconds = float(about.finished - about.started) if about.started >= 0 else 0.0
        hits.thread_seconds = float(about.thread_seconds)
        hits.events, hits.metadata = given.events if given else None, dict(self._metadata)
        return hits

    def _next(self) -> Optional[Hits]:
        """The hits of the ticket that finished first; None: no ticket is finished. Raises LookupError if there is no
        ticket."""
        try:
            return self._result_of(0)
        except Error as error:
            if error.ticket is not None:
                raise
            if error.status == lib.ICESTREAM_E_UNFINISHED:
                return None
            # A session that cannot be used is an error here, too.
            call(lib.icestream_session_wait, self._session, 0, 0.0, ffi.new("uint64_t *"))
            raise LookupError from None

    def _hand_on_notes(self) -> None:
        """Hands on what a run would log: warnings as IcestreamWarning, other lines to the log `icestream`."""
        line = ffi.new("char[]", 8192)
        while lib.icestream_session_next_note(self._session, line, len(line)):
            text = text_of(line)
            if text.startswith("warning: "):
                warnings.warn(text[len("warning: "):], IcestreamWarning, stacklevel=4)
            else:
                LOG.info("%s", text)


class _Results(Iterator[Hits]):
    """The results of a session. After the error of one ticket the next call gives the result of the next one."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __next__(self) -> Hits:
        while True:
            try:
                hits = self._session._next()
            except LookupError:
                raise StopIteration from None
            if hits is not None:
                return hits
            self._session.wait(0, SLICE)


class _AsyncResults(AsyncIterator[Hits]):
    """The same for `async for`: the event loop goes on while photons are computed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def __anext__(self) -> Hits:
        while True:
            try:
                hits = self._session._next()
            except LookupError:
                raise StopAsyncIteration from None
            if hits is not None:
                return hits
            await self._readable()

    async def _readable(self) -> None:
        """Returns when a ticket may be finished. A copy of the descriptor lets several tasks wait."""
        loop = asyncio.get_running_loop()
        ready = loop.create_future()
        number = os.dup(self._session.fileno())
        loop.add_reader(number, lambda: None if ready.done() else ready.set_result(None))
        try:
            # Another task or thread may take the last ticket first; then nothing becomes readable.
            await asyncio.wait([ready], timeout=SLICE)
        finally:
            loop.remove_reader(number)
            os.close(number)


def run(config: Config = None, steps: Optional[Table] = None, particles: Particles = None, *, settings: Settings = None,
        stages: Optional[Mapping[str, str]] = None, progress: Optional[Callable[[Progress], object]] = None) -> Hits:
    """Simulates photons and returns their hits, byte for byte those of `icestream run`.

    config, settings, stages: as for Session. steps: an array of the dtype STEP. particles: a list of dicts, or the path
    of a list. Without both, the particles or the workload of the configuration are simulated. progress: is called about
    every 0.05 s with how far the work is; an error that it raises, like Ctrl-C, ends the work.
    """
    if steps is not None and particles is not None:
        raise usage("run: found steps and particles, expected one of them")
    if progress is not None and not callable(progress):
        raise usage("progress: found %s, expected a function" % type(progress).__name__)
    with Session(config, settings=settings, stages=stages, particles=particles) as session:
        ticket = session.submit(steps, lend=True)
        while session.wait(ticket, None if progress is None else SLICE) is None:
            if progress is not None:
                progress(session.poll(ticket))
        return session.take(ticket)
