"""run() and Session: the same hits as the program, without copies, for steps, particles and workloads."""
import asyncio
import copy
import gc
import importlib.util
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading

import icestream
import numpy as np
import pytest
from conftest import CASCADE, CONFIG, ENDLESS, long
from icestream import _library

# The same steps are submitted several times on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.*equal random numbers:icestream.IcestreamWarning")
EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples")

def rows_of(path):
    return np.load(path).tobytes()


def test_hits_of_steps_are_those_of_the_program(program, steps):
    np.save("a.steps.npy", steps)
    with open("run.yaml", "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    assert program("run", "run.yaml", "--set", "source.files=a.steps.npy").returncode == 0
    expected = rows_of("hits/a.hits.npy")
    for config in ("run.yaml", open("run.yaml", encoding="utf-8").read() + "\n", CONFIG):
        hits = icestream.run(config, steps)
        assert len(hits) > 20 and hits.tobytes() == expected
    assert hits.account.created == 20000 and hits.account.hits == len(hits) and hits.steps == 100
    assert np.load("hits/a.hits.npy").dtype == icestream.HIT


def test_hits_of_particles_and_of_a_workload_are_those_of_the_program(program):
    with open("run.yaml", "w", encoding="utf-8") as file:
        json.dump({**CONFIG, "particles": {"list": [CASCADE]}}, file)
    assert program("run", "run.yaml").returncode == 0
    assert icestream.run(CONFIG, particles=[CASCADE]).tobytes() == rows_of("hits/run.hits.npy")
    assert icestream.run("run.yaml").tobytes() == rows_of("hits/run.hits.npy")
    with open("list.csv", "w", encoding="utf-8") as file:
        file.write("event,type,x,y,z,zenith,azimuth,energy\n7,e-,5,5,-300,50,20,60\n")
    assert icestream.run(CONFIG, particles="list.csv").tobytes() == rows_of("hits/run.hits.npy")
    with open("work.yaml", "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    assert program("run", "work.yaml").returncode == 0
    assert icestream.run(CONFIG).tobytes() == rows_of("hits/work.hits.npy")


def test_hits_are_not_copied_and_live_as_long_as_an_array_uses_them(steps, monkeypatch):
    class Counting:
        """The library, with the addresses of hits that it gave and got back."""
        given, freed = [], []

        def __getattr__(self, name):
            return getattr(library, name)

        def icestream_session_take(self, session, ticket, hits, *more):
            status = library.icestream_session_take(session, ticket, hits, *more)
            self.given.append(int(_library.ffi.cast("uintptr_t", hits[0])))
            return status

        def icestream_hits_free(self, hits):
            self.freed.append(int(_library.ffi.cast("uintptr_t", hits)))
            library.icestream_hits_free(hits)

    library, counting = _library.lib, Counting()
    monkeypatch.setattr("icestream._session.lib", counting)
    monkeypatch.setattr("icestream._arrays.lib", counting)
    hits = icestream.run(CONFIG, steps)
    assert counting.given == [hits.ctypes.data] and hits.flags.writeable and not hits.flags.owndata
    part = hits["t"][3:]
    assert np.shares_memory(part, hits)
    first = float(part[0])
    del hits
    gc.collect()
    assert counting.freed == [] and part[0] == first
    del part
    gc.collect()
    assert counting.freed == counting.given


def test_lent_steps_are_read_where_they_are_and_others_are_copied(steps):
    with icestream.Session(CONFIG) as session:
        expected = session.result(session.submit(steps)).tobytes()
        lent = steps.copy()
        ticket = session.submit(lent, lend=True)
        copied = steps.copy()
        other = session.submit(copied)
        copied["photons"] = 0
        del lent, copied
        gc.collect()
        assert session.result(ticket).tobytes() == expected == session.result(other).tobytes()
        scattered = np.repeat(steps, 2)[::2]
        odd = np.frombuffer(b"\0" + steps.tobytes(), icestream.STEP, offset=1)
        assert not scattered.flags.c_contiguous and odd.ctypes.data % 8
        assert session.result(session.submit(scattered)).tobytes() == expected
        assert session.result(session.submit(odd, lend=True)).tobytes() == expected


def test_results_come_for_all_tickets_also_after_an_error(steps):
    with icestream.Session(CONFIG) as session:
        tickets = [session.submit(steps), session.submit(settings=ENDLESS), session.submit(steps)]
        session.cancel(tickets[1])
        results, faults, iterator = [], [], iter(session)
        while True:
            try:
                results.append(next(iterator).ticket)
            except icestream.InterruptedTicketError as error:
                faults.append(error.ticket)
            except StopIteration:
                break
        assert sorted(results) == [tickets[0], tickets[2]] and faults == [tickets[1]]
        assert not list(session) and session.wait(timeout=0) is None and session.wait() is None


def test_async_for_lets_other_tasks_work(steps):
    async def collect(session):
        return [hits.ticket async for hits in session]

    async def main():
        with icestream.Session(CONFIG) as first, icestream.Session(CONFIG) as second:
            tickets = [first.submit(steps) for _ in range(3)]
            second.submit(steps)
            found = await asyncio.gather(collect(first), collect(second))
            assert [sorted(found[0]), found[1]] == [tickets, [1]]
    asyncio.run(main())


def test_threads_may_share_a_session(steps):
    expected = icestream.run(CONFIG, steps).tobytes()
    found = []

    def work(session):
        found.append(session.result(session.submit(steps)).tobytes())
    with icestream.Session(CONFIG) as session:
        threads = [threading.Thread(target=work, args=(session,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [expected] * 8


def test_the_interpreter_is_free_while_a_call_waits(steps):
    with icestream.Session(CONFIG, settings=ENDLESS) as session:
        ticket, ended = session.submit(), []
        thread = threading.Thread(target=lambda: ended.append(session.wait(ticket)))
        thread.start()
        assert session.poll(ticket).state in ("waiting", "running") and not ended
        session.cancel(ticket)
        thread.join()
        assert ended == [ticket]
        with pytest.raises(icestream.InterruptedTicketError) as error:
            session.take(ticket)
        assert error.value.ticket == ticket and error.value.exit_status == 130


CONE = """#include "stages/maths.h"
#include "stages/tables.h"
ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)
{
    (void)constants;
    return 0.2f * u; /* the mean cosine is 0.9 */
}
"""


@long
def test_a_stage_of_ones_own_is_used(steps):
    plain = icestream.run(CONFIG, steps)
    mine = icestream.run(CONFIG, steps, stages={"scatter": CONE})
    assert len(mine) > 20 and mine.tobytes() != plain.tobytes()


@pytest.mark.skipif(not (os.environ.get("CC") or shutil.which("cc")), reason="there is no C compiler")
def test_a_stage_that_does_not_compile_is_an_error_with_its_line():
    with pytest.raises(icestream.ConfigError, match="scatter.h:2"):
        icestream.Session(CONFIG, stages={"scatter": "#include \"stages/maths.h\"\n{\n"})


def test_notes_of_a_run_become_warnings_and_lines_of_the_log(caplog):
    with caplog.at_level("INFO", "icestream"):
        with pytest.warns(icestream.IcestreamWarning, match="detector.radius: found 1 m"):
            session = icestream.Session({**CONFIG, "detector": {"radius": 1}})
    assert session.describe().startswith("cpu, 2 threads")


def test_what_is_known_at_the_end_becomes_a_warning():
    far = icestream.steps(5, photons=10, z=-300, x=5000)
    with pytest.warns(icestream.IcestreamWarning, match="no hits"):
        assert len(icestream.run(CONFIG, far)) == 0


def test_the_example_prints_what_a_session_gives(program):
    path = os.path.join(EXAMPLES, "brightest_string.py")
    if not os.path.exists(path):
        pytest.skip("examples/brightest_string.py is not next to the tests")
    with open(path, encoding="utf-8") as file:
        assert len(file.readlines()) <= 8
    with open("run.yaml", "w", encoding="utf-8") as file:
        json.dump({**CONFIG, "particles": {"list": [CASCADE]}}, file)
    assert program("run", "run.yaml").returncode == 0
    hits, light = np.load("hits/run.hits.npy"), {}
    for hit in hits:
        light[hit["string"]] = light.get(hit["string"], 0.0) + float(hit["weight"])
    best = max(light, key=light.get)
    printed = subprocess.run([sys.executable, path, "run.yaml"], capture_output=True, text=True, check=True).stdout
    assert printed == "string %d: %.6g photons of %d hits\n" % (best, light[best], len(hits))


@long
def test_the_python_of_the_document_runs(tmp_path, monkeypatch):
    path = os.path.join(EXAMPLES, "..", "docs", "python.md")
    if not os.path.exists(path):
        pytest.skip("docs/python.md is not next to the tests")
    monkeypatch.chdir(tmp_path)
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"^<!-- needs: ([\w, ]+) -->\n```python\n(.*?)^```", file.read(), flags=re.S | re.M)
    assert len(blocks) > 5
    names = {}
    for needed, block in blocks:
        if all(importlib.util.find_spec(name) for name in needed.split(", ")):
            exec(compile(block, path, "exec"), names)


def test_hits_name_their_events_and_the_settings_that_made_them():
    far = {**CASCADE, "event": 9, "x": 5000}
    with icestream.Session(CONFIG) as session:
        hits = session.result(session.submit(particles=[CASCADE, far]))
    assert set(hits["event_id"]) == {7} and hits.events.tolist() == [7, 9]
    about = hits.metadata
    assert (about["seed"], about["content"], about["units"]["t"]) == ("3", "photons", "ns")
    assert about["producer"] == "icestream " + icestream.__version__ and "  oversize: 5\n" in about["configuration"]
    assert hits[1:].events is None and hits[1:].metadata is None


def test_copies_and_pickles_of_hits_are_whole(steps):
    hits = icestream.run(CONFIG, steps)
    pickles = [pickle.loads(pickle.dumps(hits, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in pickles + [hits.copy(), copy.copy(hits), copy.deepcopy(hits)]:
        assert type(again) is icestream.Hits and again.tobytes() == hits.tobytes() and again.account == hits.account is not None
        assert (again.ticket, again.steps, again.metadata) == (hits.ticket, hits.steps, hits.metadata)
        assert again.events.tolist() == [1, 2] and again.seconds == hits.seconds and again.thread_seconds == hits.thread_seconds
        again["t"][0] += 1
        assert again["t"][0] != hits["t"][0]
    deep = copy.deepcopy(hits)
    deep.events[0] = 8
    assert hits.events[0] == 1
    for part in pickle.loads(pickle.dumps(hits[1:])), copy.deepcopy(hits[1:]), hits[1:].copy():
        assert part.account is None


def test_a_sum_of_weights_counts_each_photon_once():
    hits = np.zeros(4, icestream.HIT)
    hits["weight"], hits["photon_id"], hits["event_id"] = [1, 2, 3, 4], [5, 5, 6, 5], [1, 1, 1, 2]
    # Photons of 1 + 2, 3 and 4.
    assert icestream.weight_sum(hits) == pytest.approx((10, 34 ** 0.5, 100 / 34))
    assert icestream.weight_sum(hits[:0]) == (0, 0, 0)
    with pytest.raises(icestream.UsageError, match="expected an array of hits"):
        icestream.weight_sum(hits["weight"])


def test_fields_are_those_of_the_headers():
    assert icestream.HIT.itemsize == 64 and icestream.STEP.itemsize == icestream.PATH_POINT.itemsize == 72
    assert icestream.WAVEFORM_BIN.itemsize == 40
    assert icestream.build()["icestream"] == icestream.__version__
