"""A run that listens computes steps of Python, and gives the hits that a session gives."""
import os
import subprocess
import threading
import socket

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
        yield "unix:socket"
        process.kill()


def test_hits_of_a_client_are_those_of_a_session(service, steps):
    expected = icestream.run(CONFIG, steps=steps)
    with icestream.Client(service, patience=30) as client:
        first, second = client.send([steps, steps[:50]])
        assert len(next(client.send(steps[:10]))) <= len(first)
    assert first.tobytes() == np.asarray(expected).tobytes()
    assert 0 < len(second) < len(first)


def test_the_record_of_light_is_sent(service):
    with pytest.raises(icestream.InputError, match="detector.oversize: found steps that were made for 7"):
        list(icestream.send(icestream.generate(CONFIG, particles=[CASCADE], settings={"detector.oversize": 7}), to=service,
                            patience=30))


def test_refused_steps_are_an_error(service):
    with pytest.raises(icestream.InputError, match="refuses the steps"):
        list(icestream.send(icestream.steps(1, photons=0), to=service, patience=30))


def answer_with(lines, path):
    """A server that answers any client with these bytes."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def serve():
        connection, _ = server.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(lines)
        server.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return "unix:%s" % path


@pytest.mark.parametrize("lines", [b"x" * 100000, b"nonsense\n", b"[1]\n", b'{"state":"done","message":7}\n',
                                   b'{"state":"done","message":0,"bytes":-5}\n', b'{"state":"what"}\n'])
def test_a_wrong_server_is_an_error(lines, tmp_path, steps):
    with pytest.raises(icestream.Error, match="found"):
        list(icestream.send(steps, to=answer_with(lines, tmp_path / "wrong"), patience=0))


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
