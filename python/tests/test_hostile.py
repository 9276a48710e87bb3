"""Wrong arguments, wrong arrays, callbacks that raise, closed sessions, fork and Ctrl-C: an error, never a crash."""
import os
import pickle
import signal
import subprocess
import sys
import time

import icestream
import numpy as np
import pytest
from conftest import CASCADE, CONFIG, ENDLESS, long

# The same steps are submitted several times on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*equal random numbers:icestream.IcestreamWarning")
WRONG_ARRAYS = [
    [1, 2, 3], "steps", 5, np.zeros(3), np.zeros(3, icestream.HIT), np.zeros((2, 2), icestream.STEP),
    np.zeros((), icestream.STEP), np.zeros(3, icestream.STEP.newbyteorder()), np.array([None, {}]),
    np.zeros(3, [(name, icestream.STEP[name]) for name in icestream.STEP.names[:-1]]),
    np.zeros(3, [(name, "<f8") for name in icestream.STEP.names]),
]


@pytest.mark.parametrize("array", WRONG_ARRAYS, ids=str)
def test_wrong_arrays_are_errors(array):
    with pytest.raises(icestream.UsageError, match="steps: found .*expected"):
        icestream.run(CONFIG, array)


@pytest.mark.parametrize("field, value, text", [
    ("x", np.nan, "row 1, field x"), ("beta", 2, "row 1, field beta"), ("dz", 7, "row 1"), ("kind", 99, "row 1, field kind"),
    ("step_id", 0, "step_id"), ("flags", 65535, "row 1"),
])
def test_wrong_fields_are_errors(steps, session, field, value, text):
    steps[field][1] = value
    with pytest.raises(icestream.InputError, match=text) as error:
        session.submit(steps)
    assert error.value.exit_status == 3 and isinstance(error.value, ValueError)


def test_no_steps_and_no_photons(steps):
    for some in (steps[:0], icestream.steps(3)):
        with pytest.raises(icestream.InputError, match="at least one photon"):
            icestream.run(CONFIG, some)
        hits = icestream.run({**CONFIG, "source": {"empty": "accept"}}, some)
        assert len(hits) == 0 and hits.dtype == icestream.HIT and hits.account.created == 0


@pytest.mark.parametrize("config, kind, text", [
    ("missing.yaml", icestream.ConfigError, "missing.yaml: error: cannot open"),
    ({"detectr": {}}, icestream.ConfigError, "did you mean 'detector'"),
    ("detector: {oversise: 3}", icestream.ConfigError, "configuration:1:12: error: unknown key"),
    ("a\n\tb", icestream.ConfigError, "configuration:"), ({"run": {"seed": float("nan")}}, icestream.ConfigError, "seed"),
    (5, icestream.UsageError, "config: found int"), (b"run.yaml", icestream.UsageError, "config: found bytes"),
    ({"run": {"seed": object()}}, icestream.UsageError, "object"), ("a\0b", icestream.UsageError, "byte 0"),
    ({"a": "\ud800"}, icestream.ConfigError, "configuration"),
])
def test_wrong_configurations_are_errors(config, kind, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=text) as error:
        icestream.run(config)
    assert error.value.exit_status == 2 and type(error.value).__module__ == "icestream"


def test_errors_are_those_of_the_program(program):
    for setting in ("device.backend=cuda", "detector.oversize=x", "ice.directory=nowhere", "stages.scatter=hh"):
        key, value = setting.split("=")
        printed = program("run", "--set", "workload.steps=9", "--set", setting)
        try:
            icestream.run(settings={"workload.steps": 9, key: value})
        except icestream.Error as error:
            assert str(error) + "\n" == printed.stderr and error.exit_status == printed.returncode
        else:
            assert setting == "device.backend=cuda" and printed.returncode == 0  # there is a GPU


@pytest.mark.parametrize("call", [
    lambda s: s.submit(particles={"type": "e-"}), lambda s: s.submit(particles=[5]), lambda s: s.submit(particles=7),
    lambda s: s.submit(np.zeros(1, icestream.STEP), particles=[CASCADE]), lambda s: s.submit(settings="a=b"),
    lambda s: s.submit(settings={"a\0": 1}), lambda s: s.take(-1), lambda s: s.take(2**64), lambda s: s.take("1"),
    lambda s: s.take(True), lambda s: s.take(77), lambda s: s.take(), lambda s: s.poll(77), lambda s: s.cancel(77),
    lambda s: s.wait(77), lambda s: s.wait(timeout=-1), lambda s: s.wait(timeout=float("nan")), pickle.dumps,
    lambda s: s.wait(timeout="x"), lambda s: s.result(77), lambda s: icestream.Session(tickets=-1),
    lambda s: icestream.Session(CONFIG, stages={"scatter": 5}), lambda s: icestream.Session(CONFIG, stages=5),
    lambda s: icestream.run(CONFIG, stages="scatter"), lambda s: icestream.run(CONFIG, progress=5),
    lambda s: icestream.steps(3, photon=1), lambda s: icestream.steps(-1), lambda s: icestream.steps("3"),
    lambda s: icestream.load(5), lambda s: icestream.compare(CONFIG, schedules=5), lambda s: s.submit(name=5),
    lambda s: icestream.trace(CONFIG, photons=5), lambda s: icestream.trace(CONFIG, photons=[(1, 2)]),
    lambda s: icestream.trace(CONFIG, photons=[("a", 1, 1)]),
])
def test_wrong_calls_are_errors(call, session):
    with pytest.raises(icestream.UsageError) as error:
        call(session)
    assert "found" in str(error.value) or "no ticket" in str(error.value) or "cannot be copied" in str(error.value)


@pytest.fixture(scope="module", name="session")
def make_session():
    with icestream.Session(CONFIG) as session:
        yield session


@pytest.mark.parametrize("field, value", [("x", [1, 2]), ("photons", -1), ("x", "far"), ("kind", 256), ("kind", 10**30),
                                          ("photons", float("nan"))])
def test_wrong_values_of_steps_are_errors(field, value):
    with pytest.raises(icestream.UsageError, match="steps: field %s: " % field):
        icestream.steps(3, **{field: value})


def test_too_many_tickets_and_unfinished_tickets_are_errors(steps):
    with icestream.Session(CONFIG, settings=ENDLESS, tickets=1) as session:
        ticket = session.submit()
        with pytest.raises(icestream.UnfinishedError):
            session.submit(steps)
        with pytest.raises(icestream.UnfinishedError):
            session.result(ticket, timeout=0)
        assert session.wait(ticket, timeout=0.01) is None


def test_results_that_nobody_takes_end_submitting(steps):
    with icestream.Session(CONFIG, kept_memory=64) as session:
        session.wait(session.submit(steps))
        with pytest.raises(icestream.UnfinishedError):
            session.submit(steps)
        assert len(session.take()) > 20 and len(session.result(session.submit(steps))) > 20


def test_an_error_of_progress_ends_the_run():
    def progress(about):
        raise KeyError(about.state)
    with pytest.raises(KeyError, match="running|waiting"):
        icestream.run(CONFIG, settings=ENDLESS, progress=progress)


def test_a_closed_session_accepts_nothing_but_gives_what_is_finished(steps):
    session = icestream.Session(CONFIG)
    done = session.submit(steps)
    session.wait(done)
    left = session.submit(settings=ENDLESS)
    lent = session.submit(steps.copy(), lend=True)
    session.close()
    session.close()
    with pytest.raises(icestream.UsageError, match="closed"):
        session.submit(steps)
    assert len(session.take(done)) > 20
    for ticket in (left, lent):
        with pytest.raises(icestream.InterruptedTicketError):
            session.take(ticket)


def test_a_session_that_is_dropped_ends_before_its_lent_steps(steps):
    for _ in range(5):
        icestream.Session(CONFIG).submit(steps.copy(), lend=True)


def test_a_child_cannot_use_the_session_of_its_parent(steps):
    with icestream.Session(CONFIG) as session:
        hits = session.result(session.submit(steps))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                for call in (lambda: session.submit(steps), session.take, session.fileno, session.close, session.wait,
                             lambda: next(iter(session))):
                    try:
                        call()
                        break
                    except icestream.UsageError:
                        pass
                else:
                    kept = hits.tobytes()
                    del hits, session
                    status = 0 if kept else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert session.result(session.submit(steps)).tobytes() == hits.tobytes()


INTERRUPTED = """
import icestream, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets processes in the background ignore it
try:
    print("ready", flush=True)
    icestream.%s(%r, settings=%r)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("function", ["run", pytest.param("compare", marks=long)])
def test_ctrl_c_ends_a_call(function):
    program = [sys.executable, "-c", INTERRUPTED % (function, CONFIG, ENDLESS)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait(60) == 0
