"""Promise: handlers of signals, fork in any state, spawn, the exit of the interpreter while photons fly, files of mapped steps
that become shorter, and servers that lie or say nothing give an exception or a clean end: no call waits for ever and none ends Python. Each attack runs twice, with
ICESTREAM_TEST_LONG=1 20 times. To join: a text of Python in a table below; whatever it prints is a fault."""
import os
import signal
import subprocess
import sys

import pytest
from conftest import CASCADE, CONFIG, ENDLESS, LONG

TIMES = 20 if LONG else 2
TSAN = "libtsan" in os.environ.get("LD_PRELOAD", "")  # which allows a child of fork no threads
WATCHDOG = 300  # s, after which a call that waits is killed; no test measures a time
BEGIN = """
import multiprocessing, os, signal, sys, threading, time, warnings
import icestream, numpy as np
CONFIG, ENDLESS, CASCADE, TIMES, TSAN = %r, %r, %r, %d, %r
warnings.simplefilter("ignore", icestream.IcestreamWarning)
few = icestream.steps(10, photons=10, z=-300, x=5)
many = icestream.steps(50000, photons=1, z=-300, x=5000)
""" % (CONFIG, ENDLESS, CASCADE, TIMES, TSAN)


def python(tmp_path, text, status=0):
    """Runs a text. It must print nothing and end with the status."""
    path = tmp_path / "attack.py"
    path.write_text(BEGIN + text)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=WATCHDOG, check=False,
                          stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert done.stdout == "" and done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stderr


HANDLER = """
ACTION = %r
for _ in range(TIMES):
    session, tickets, taken, called, inside = icestream.Session(CONFIG), [], [], [], []

    def handler(*_):
        if inside:  # a slow machine: the handler of an earlier signal has not returned
            return
        inside.append(1)
        called.append(1)
        if ACTION == "close":
            session.close()
        elif ACTION == "submit":
            tickets.append(session.submit(few))
        elif ACTION == "take" and session.wait(timeout=0):
            taken.append(session.take())
        elif ACTION == "cancel" and tickets:
            session.cancel(tickets[-1])
        elif ACTION == "raise":
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyError("handler")
        inside.clear()
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.002)
    try:
        while len(called) < 30:
            tickets.append(session.submit(many, lend=ACTION == "raise"))
    except icestream.UsageError as error:
        if ACTION != "close" or "closed" not in str(error):
            print(error)
    except KeyError:
        pass
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if not called:
        print("the handler was not called")
    if ACTION in ("submit", "take"):
        taken += list(session)
        if sorted(hits.ticket for hits in taken) != sorted(tickets) or [hits for hits in taken if hits.events is None]:
            print("tickets:", len(tickets), "taken:", len(taken))
    if ACTION in ("submit", "take") and session.wait() is not None:
        print("a ticket is left")
    session.close()
"""


@pytest.mark.parametrize("action", ["close", "submit", "take", "cancel", "raise"])
def test_a_handler_may_call_a_session_that_submits(action, tmp_path):
    python(tmp_path, HANDLER % action)


FORK = """
import gc, itertools
STATE = %r


def child(session, header):
    methods = (lambda: session.submit(few), session.take, session.fileno, session.close, session.wait, session.describe,
               lambda: session.poll(1), lambda: session.cancel(1), lambda: session.result(1), lambda: next(iter(session)))
    for method in methods:
        try:
            method()
            print("a method did not raise", flush=True)
        except icestream.UsageError:
            pass
    if TSAN:
        return
    with icestream.Session(CONFIG) as own:
        if own.result(own.submit(few)).ticket != 1:
            print("a session of the child is wrong", flush=True)


stages = {"propagate": "layer-walk"}
for number in range(TIMES):
    session = icestream.Session(CONFIG, stages=stages)
    with icestream._folder.Folder() as path:
        stop = threading.Event()

        def work():
            while not stop.is_set():
                if STATE == "submit":
                    session.submit(many)
                elif STATE == "wait":
                    session.wait(timeout=0.001)
                elif STATE == "take":
                    session.submit(few)
                    for _ in session:
                        pass
                elif STATE == "generate":
                    icestream.generate(CONFIG, particles=[CASCADE])
        if STATE == "closed":
            session.close()
        elif STATE in ("running", "wait"):
            session.submit(settings=ENDLESS)
        threads = [threading.Thread(target=work) for _ in range(2 if STATE in ("submit", "wait", "take", "generate") else 0)]
        for thread in threads:
            thread.start()
        time.sleep(0.01 * (number + 1))
        status = None

        def fork(*_):
            global session, status
            pid = os.fork()
            if pid == 0:
                signal.alarm(40)  # ends a child that waits
                child(session, path)
                del session
                gc.collect()
                sys.exit(0)
            status = os.waitpid(pid, 0)[1]
            raise StopIteration
        try:
            if STATE == "progress":
                icestream.run(CONFIG, settings=ENDLESS, progress=fork)
            elif STATE == "handler":
                signal.signal(signal.SIGALRM, fork)
                signal.setitimer(signal.ITIMER_REAL, 0.01)
                session.wait(session.submit(settings=ENDLESS))
            else:
                fork()
        except StopIteration:
            pass
        stop.set()
        for thread in threads:
            thread.join()
        if status or not os.path.isdir(path):
            print("status", status, "folder", os.path.isdir(path))
        session.close()
"""


@pytest.mark.parametrize("state", ["idle", "submit", "wait", "take", "generate", "running", "closed", "progress", "handler"])
def test_a_child_of_fork_cannot_use_a_session_and_removes_nothing(state, tmp_path):
    python(tmp_path, FORK % state)


STAGE_FOLDER = """
from icestream._config import Stages
for _ in range(TIMES):
    stages = Stages({"scatter": "a header\\n"})
    folder = stages._folder.path
    pid = os.fork()
    if pid == 0:
        del stages
        sys.exit(0)
    os.waitpid(pid, 0)
    if os.listdir(folder) != ["scatter.h"]:
        print("the child removed the header")
    stages.close()
    if os.path.exists(folder):
        print("the header is left")
"""


def test_a_child_keeps_the_headers_of_its_parent(tmp_path):
    python(tmp_path, STAGE_FOLDER)


SPAWN = """
def work(steps):
    return icestream.run(CONFIG, steps)


if __name__ == "__main__":
    for _ in range(TIMES):
        with multiprocessing.get_context(%r).Pool(1) as pool:
            expected, hits = work(few), pool.apply(work, (few,))
            if hits.tobytes() != expected.tobytes() or hits.account != expected.account:
                print("other hits", hits.account, expected.account)
            try:
                with icestream.Session(CONFIG) as session:
                    pool.apply(work, (session,))
                print("a session was sent")
            except icestream.UsageError:
                pass
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", pytest.param("fork", marks=pytest.mark.skipif(TSAN, reason="a child of fork has threads"))])
def test_a_pool_gives_whole_hits_and_refuses_sessions(method, tmp_path):
    python(tmp_path, SPAWN % method)


ENDS = {
    "the end": ("", 0), "sys.exit": ("sys.exit(3)", 3), "an error": ("1 / 0", 1), "os._exit": ("os._exit(4)", 4),
    "a thread that waits": ("threading.Thread(target=session.wait, daemon=True).start(); time.sleep(0.05)", 0),
    "a thread that submits": ("""
def work():
    while True:
        session.submit(many)
threading.Thread(target=work, daemon=True).start(); time.sleep(0.05)""", 0),
    "a thread that generates": (
        "threading.Thread(target=lambda: icestream.generate(CONFIG, settings=ENDLESS), daemon=True).start(); time.sleep(0.05)", 0),
    "sys.exit in a thread": ("threading.Thread(target=sys.exit, args=[5]).start()", 0),
    "os._exit in a thread": ("threading.Thread(target=os._exit, args=[6]).start(); session.wait(2)", 6),
    "sys.exit in progress": ("icestream.run(CONFIG, settings=ENDLESS, progress=sys.exit)", 1),
    "an error in a handler": ("""
signal.signal(signal.SIGALRM, lambda *_: sys.exit(7)); signal.setitimer(signal.ITIMER_REAL, 0.05); session.wait(2)""", 7),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "a use at exit": ("import atexit; atexit.register(lambda: session.submit(few)); atexit.register(session.close)", 0),
    "an error at exit": ("import atexit; atexit.register(lambda: 1 / 0); atexit.register(session.take, 1)", 0),
    "a use in __del__": ("""
class Last:
    def __del__(self, session=session):
        try:
            session.describe()
        except icestream.UsageError as error:
            if "destroyed" not in str(error):
                print(error)
        session.close()
last = Last(); last.me = last""", 0),
    "a client": ("""
import socket
server = socket.create_server(("localhost", 0))
threading.Thread(target=lambda: list(icestream.send(few, "localhost:%d" % server.getsockname()[1])), daemon=True).start()
time.sleep(0.05)""", 0),
    "a generator": ("hits = icestream.send(few, 'unix:nobody', patience=0); session.hits = hits", 0),
    "an iterator": ("iterator = iter(session); session.submit(few); next(iterator)", 0),
    "a cycle": ("session.me = session", 0),
}


@pytest.mark.parametrize("how", ENDS)
def test_the_interpreter_ends_while_photons_fly(how, tmp_path):
    text, status = ENDS[how]
    for _ in range(TIMES):
        said = python(tmp_path, "session = icestream.Session(CONFIG)\nsession.submit(few)\nsession.submit(settings=ENDLESS)\n" + text,
                      status)
        # The folder of a thread that generates may be removed before the thread is stopped; then its error is shown.
        assert "Fatal" not in said and (how == "a thread that generates" or
                                        ("Traceback" in said) == (how in ("an error", "a use at exit", "an error at exit"))), said


MAPPED = """
def use(rows):
    try:
        %s
    except icestream.InputError as error:
        return str(error)
    return ""


for number in range(TIMES):
    many.save("a.steps.npy")
    rows = icestream.load("a.steps.npy") if number %% 2 else np.load("a.steps.npy", mmap_mode="r")
    rows = (rows, rows[::2], rows[::-1], rows[7:])[number %% 4]
    if use(rows):
        print("a whole file:", use(rows))
    timer = threading.Timer(0.0005 * number, os.truncate, ["a.steps.npy", 3000])
    timer.start()
    use(rows)
    timer.join()
    said = use(rows)
    if "mapped from a file" not in said and "lost 3" not in said:
        print("a short file:", said)
"""


@pytest.mark.parametrize("call", ["icestream.run(CONFIG, rows)", "icestream._arrays.check_steps(rows)",
                                  "icestream.Session(CONFIG).submit(rows)", "icestream.Session(CONFIG).submit(rows, lend=True)",
                                  "icestream.Steps.save(rows.view(icestream.Steps), 'b.npy')"])
def test_a_file_of_mapped_steps_that_becomes_shorter_is_an_error(call, tmp_path):
    python(tmp_path, MAPPED % call)


def test_memory_that_is_no_file_is_used_where_it_is(tmp_path):
    python(tmp_path, """
import mmap
steps = icestream.generate(CONFIG)
shared = np.frombuffer(mmap.mmap(-1, steps.nbytes), icestream.STEP)
for array in (steps, shared, steps[5:]):
    if icestream._arrays.check_steps(array) is not array:
        print("a copy was made")
""")


SERVER = r"""
import random, socket, struct
KIND = %r


def drip(connection, data, pause):
    for byte in data:
        connection.sendall(bytes([byte]))
        time.sleep(pause)


def answer(connection, number):
    chance = random.Random(number)
    got = b""
    while KIND != "mute" and b"NUMPY" not in got:
        got += connection.recv(1 << 16)
    done = b'{"state":"done","message":0,"bytes":%%d,"sha256":"00"}\n'
    if KIND == "half a line":
        connection.sendall(b'{"state":"do')
    elif KIND == "half of the hits":
        connection.sendall(done %% 64000 + bytes(chance.randrange(64000)))
    elif KIND == "garbage":
        connection.sendall(chance.randbytes(1 + chance.randrange(100000)))
    elif KIND == "a lie about the length":
        connection.sendall(done %% 10 ** chance.randrange(9, 30) + bytes(100))
    elif KIND == "hits without an end":
        connection.sendall(done %% 10 ** 17)
        while True:
            connection.sendall(bytes(1 << 16))
    elif KIND == "answers without an end":
        while True:
            connection.sendall(b'{"state":"received","message":0}\n')
    elif KIND == "a line that drips":
        drip(connection, b" " * 1000, 0.01)
    elif KIND == "hits that drip":
        drip(connection, done %% 64000 + bytes(64000), 0.01)
    elif KIND == "a wrong digest":
        connection.sendall(done %% 10 + bytes(10))
        return
    elif KIND == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return
    elif KIND == "the end at once":
        return
    end.wait()


def serve(number):
    while not end.is_set():
        try:
            connection = server.accept()[0]
            threading.Thread(target=lambda: attend(connection, number), daemon=True).start()
        except OSError:
            return


def attend(connection, number):
    with connection:
        try:
            answer(connection, number)
        except OSError:
            pass


for number in range(TIMES):
    end = threading.Event()
    server = socket.create_server(("localhost", 0))
    threading.Thread(target=serve, args=[number], daemon=True).start()
    try:
        print("hits:", list(icestream.send(few, "localhost:%%d" %% server.getsockname()[1], patience=0.5)))
    except icestream.Error:
        pass
    end.set()
    server.close()
"""


@pytest.mark.parametrize("kind", ["mute", "half a line", "half of the hits", "garbage", "a lie about the length", "hits without an end",
                                  "answers without an end", "a line that drips", "hits that drip", "a wrong digest", "reset",
                                  "the end at once"])
def test_a_hostile_server_is_an_error(kind, tmp_path):
    python(tmp_path, SERVER % kind)
