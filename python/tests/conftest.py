"""What the tests share: a small configuration, its steps, and the program.

Promise: the package gives what `icestream run` gives, and what is wrong becomes an exception and never a crash. To
join: write a file test_NAME.py here. ICESTREAM_PROGRAM: the program to compare with, if the package carries none.
"""
import os
import subprocess

import icestream
import pytest

CONFIG = {"run": {"seed": 3}, "detector": {"oversize": 5}, "device": {"backend": "cpu", "threads": 2}, "workload": {"steps": 200, "photons_per_step": 200}}
CASCADE = {"type": "e-", "event": 7, "energy": 60, "x": 5, "y": 5, "z": -300, "zenith": 50, "azimuth": 20}
ENDLESS = {"workload.steps": 100000, "workload.photons_per_step": 100000}

LONG = bool(os.environ.get("ICESTREAM_TEST_LONG"))
long = pytest.mark.skipif(not LONG, reason="takes seconds; set ICESTREAM_TEST_LONG=1")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Compiled stages go into a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def steps():
    """Steps of two events with 20,000 photons."""
    return icestream.steps(100, photons=200, z=-300, x=5, event_id=[1] * 50 + [2] * 50)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Runs the program in an empty folder, which is the working directory of the test."""
    path = os.environ.get("ICESTREAM_PROGRAM") or os.path.join(os.path.dirname(icestream.__file__), "bin", "icestream")
    if not os.path.exists(path):
        pytest.skip("there is no program: neither ICESTREAM_PROGRAM nor %s" % path)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    return call
