"""A run that listens computes steps of Python, and gives the hits that a session gives."""
import hashlib
import io
import os
import socket
import subprocess
import threading
import time

import icestream
import numpy as np
import pytest

from conftest import CASCADE, CONFIG


@pytest.fixture
def service(program, tmp_path):
    """Starts a run that listens, and ends it."""
    assert program("version").returncode == 0
    path = os.environ.get("ICESTREAM_PROGRAM") or os.path.join(os.path.dirname(icestream.__file__), "bin", "icestream")
    with open(tmp_path / "log", "wb") as log, subprocess.Popen(
            [path, "run", "-s", "run.seed=3", "-s", "detector.oversize=5", "-s", "device.backend=cpu", "-s", "device.threads=1", "-s",
             "source.listen=unix:socket"], stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        while not os.path.exists("socket"):
            assert process.poll() is None
            time.sleep(0.05)
        yield "unix:socket"
        process.kill()


def test_hits_of_a_client_are_those_of_a_session(service, steps):
    expected = icestream.run(CONFIG, steps=steps)
    with icestream.Client(service, patience=30) as client:
        first, second = client.send([steps, steps[:50]])
        assert len(next(client.send(steps[:10]))) <= len(first)
    assert first.tobytes() == np.asarray(expected).tobytes()
    assert 0 < len(second) < len(first)


def test_a_child_cannot_use_the_connection_of_its_parent(service, steps):
    with icestream.Client(service, patience=30) as client:
        expected = next(client.send(steps)).tobytes()
        hits = client.send([steps, steps])
        next(hits)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                list(hits)
            except icestream.UsageError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert next(hits).tobytes() == expected


def test_the_record_of_light_is_sent(service):
    with pytest.raises(icestream.InputError, match="detector.oversize: found steps that were made for 7"):
        list(icestream.send(icestream.generate(CONFIG, particles=[CASCADE], settings={"detector.oversize": 7}), to=service,
                            patience=30))


def test_refused_steps_are_an_error(service):
    with pytest.raises(icestream.InputError, match="refuses the steps"):
        list(icestream.send(icestream.steps(1, photons=0), to=service, patience=30))


def answer_with(lines, path, end=None):
    """A server that answers any client with these bytes. end: an event until which it stays connected."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def serve():
        connection, _ = server.accept()
        with connection:
            got = b""
            while b"NUMPY" not in got:
                got += connection.recv(1 << 16)
            connection.sendall(lines)
            if end is not None:
                end.wait()
        server.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return "unix:%s" % path


def with_hits(array):
    """The answer `done` with bytes, or with an array as a file."""
    file = io.BytesIO()
    if isinstance(array, bytes):
        file.write(array)
    else:
        np.save(file, array)
    data = file.getvalue()
    return b'{"state":"done","message":0,"bytes":%d,"sha256":"%s"}\n' % (len(data), hashlib.sha256(data).hexdigest().encode()) + data


HEADER = b"\x93NUMPY\x01\x00"
WRONG = {
    "long": b"x" * 100000, "text": b"nonsense\n", "list": b"[1]\n", "number": b'{"state":"done","message":7}\n',
    "size": b'{"state":"done","message":0,"bytes":-5}\n', "state": b'{"state":"what"}\n', "deep": b"[" * 60000 + b"\n",
    "deep state": b'{"state":' + b"[" * 900 + b"]" * 900 + b"}\n", "digits": b'{"state":' + b"9" * 6000 + b"}\n",
    "not utf-8": b'{"state":"\xff"}\n', "surrogate": b'{"state":"\\ud800"}\n', "no file": with_hits(b"x"),
    "floats": with_hits(np.zeros(3)), "steps": with_hits(np.zeros(3, icestream.STEP)), "objects": with_hits(np.array([{}])),
    "table": with_hits(np.zeros((2, 2), icestream.HIT)), "header": with_hits(HEADER + b"\x04\x00{{{\n"),
    "deep header": with_hits(HEADER + b"\x10\x27" + b"(" * 9999 + b"\n"), "cut": with_hits(HEADER + b"\xff\xff{}"),
    "huge": with_hits(HEADER + b"\x76\x00" + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,)}".ljust(117) + b"\n"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_server_is_an_error(kind, tmp_path, steps):
    with pytest.raises(icestream.Error, match="hit file" if b'"sha256"' in WRONG[kind] else "found") as error:
        list(icestream.send(steps, to=answer_with(WRONG[kind], tmp_path / "wrong"), patience=30))
    assert str(error.value).isprintable() and not isinstance(error.value, icestream.UnfinishedError)


@pytest.mark.parametrize("lines", [b"", b'{"state":"received","message":0}\n', b"{", with_hits(np.zeros(9))[:-1]])
def test_a_silent_server_is_given_up(lines, tmp_path, steps):
    end = threading.Event()
    with pytest.raises(icestream.UnfinishedError, match="no answer and less than 1024 bytes of steps or hits came or went for 0.2 s, though"):
        list(icestream.send(steps, to=answer_with(lines, tmp_path / "silent", end), patience=0.2))
    end.set()


def test_a_server_that_accepts_nobody_is_given_up(tmp_path, steps):
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as first:
        server.bind(str(tmp_path / "full"))
        server.listen(0)
        first.connect(str(tmp_path / "full"))
        with pytest.raises(icestream.UnfinishedError, match="connection was lost"):
            list(icestream.send(steps, to="unix:%s" % (tmp_path / "full"), patience=0.2))


def test_the_time_of_the_caller_is_no_silence(service, steps):
    with icestream.Client(service, patience=2) as client:
        for _ in client.send([steps, steps, steps, steps, steps, steps]):
            time.sleep(0.6)


@pytest.mark.parametrize("patience", [-1, "5", float("nan"), True])
def test_a_wrong_patience_is_an_error(patience):
    with pytest.raises(icestream.UsageError, match="patience: found"):
        icestream.Client("unix:x", patience=patience)


def test_nobody_and_wrong_arguments(tmp_path, steps):
    with pytest.raises(icestream.UnfinishedError, match="connection was lost"):
        list(icestream.send(steps, to="unix:%s" % (tmp_path / "nobody"), patience=0))
    with pytest.raises(icestream.ConfigError, match="HOST:PORT"):
        list(icestream.send(steps, to="nonsense", patience=0))
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    token.chmod(0o644)
    with pytest.raises(icestream.ConfigError, match="0600"):
        icestream.Client("unix:x", token=token)
