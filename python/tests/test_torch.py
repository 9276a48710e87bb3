"""icestream.torch: the same events for any number of workers, those that run() gives, and memory that stays.

Promise: a batch depends on its events alone. To join: a new key of a batch gets a check in test_batches_are_those_of_run().
"""
import importlib.util
import os
import resource

import icestream
import numpy as np
import pytest
from conftest import long

torch = pytest.importorskip("torch", reason="needs PyTorch: apt install python3-torch, or pip install torch")

CONFIG = {"run": {"seed": 5}, "detector": {"oversize": 5}, "device": {"backend": "cpu", "threads": 1}}


def draw(event, random):
    x, y = random.uniform(-50, 50, 2)
    return [{"type": "e-", "energy": 0.001 if event == 3 else 40.0, "x": x, "y": y, "z": -300.0, "zenith": 60, "azimuth": 20}]


def batches(workers, **options):
    from icestream.torch import Events
    data = Events(draw, CONFIG, **{"events": 10, "batch": 3, **options})
    return list(torch.utils.data.DataLoader(data, batch_size=None, num_workers=workers))


def same(first, second):
    return len(first) == len(second) and all(
        one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one) for one, other in zip(first, second))


def test_events_are_the_same_for_0_1_and_4_workers():
    alone = batches(0)
    assert same(alone, batches(1)) and same(alone, batches(4)) and same(alone, batches(0, ahead=1))
    assert not same(alone, batches(0, seed=1)) and not same(alone, batches(0, first=1))
    assert [batch["event"].tolist() for batch in alone] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


def test_batches_are_those_of_run():
    from icestream.torch import TRUTH, Events
    data = Events(draw, CONFIG, events=10, batch=3)
    modules = {(row["string"], row["module"]): row for row in icestream.geometry(CONFIG)}
    padded, ragged = list(data), batches(0, ragged=True, dtype=torch.float64, fields=("t", "string", "sensor_z"))
    assert len(data) == 4 == len(padded)
    total = 0
    for batch, flat in zip(padded, ragged):
        assert batch["hits"].shape == (len(batch["event"]), max(batch["counts"].tolist()), 5)
        assert flat["hits"].shape == (int(flat["counts"].sum()), 3)
        begin = 0
        for row, event in enumerate(batch["event"].tolist()):
            particles = data.particles_of(event)
            hits = icestream.run(CONFIG, particles=particles) if event != 3 else np.zeros(0, icestream.HIT)
            count = int(batch["counts"][row])
            assert count == len(hits) == int(flat["counts"][row])
            own, wide = batch["hits"][row].numpy(), flat["hits"][begin:begin + count].numpy()
            assert not own[count:].any()
            assert own[:count, 0].tolist() == hits["t"].astype(np.float32).tolist() and wide[:, 0].tolist() == hits["t"].tolist()
            assert own[:count, 4].tolist() == hits["weight"].tolist() and wide[:, 1].tolist() == hits["string"].tolist()
            for one, other, hit in zip(own, wide, hits):
                module = modules[hit["string"], hit["module"]]
                assert one[1:4].tolist() == [np.float32(module[axis]) for axis in "xyz"] and other[2] == module["z"]
            truth = dict(zip(TRUTH, batch["truth"][row].tolist()))
            assert truth["energy"] == np.float32(particles[0]["energy"]) and truth["dz"] == pytest.approx(-0.5)
            assert truth["x"] == np.float32(particles[0]["x"])
            begin, total = begin + count, total + count
    assert total > 50


def test_wrong_arguments_are_errors():
    from icestream.torch import Events
    for options, message in (({"events": 0}, "events: found 0, expected a whole number from 1"), ({"events": 1, "ahead": 0}, "ahead: found 0"),
                             ({"events": 1, "fields": ("tt",)}, "fields: found .'tt'., expected some of event_id")):
        with pytest.raises(icestream.UsageError, match=message):
            Events(draw, CONFIG, **options)
    with pytest.raises(icestream.UsageError, match="draw: event 0: found no particle"):
        list(Events(lambda *_: [], CONFIG, events=1))
    with pytest.raises(icestream.ConfigError, match="unknown key"):
        list(Events(draw, {"detector": {"oversise": 1}}, events=1))


def test_the_flow_of_the_example_has_the_density_of_its_cumulative_probability():
    path = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "learn_times.py")
    if not os.path.exists(path):
        pytest.skip("examples/learn_times.py is not next to the tests")
    spec = importlib.util.spec_from_file_location("learn_times", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    torch.manual_seed(3)
    flow = example.Flow().double()
    delay = torch.cat([torch.linspace(-0.8, 50, 40), torch.logspace(2, 3.5, 20)]).double().requires_grad_()
    log_density, below = flow(torch.full_like(delay, 30.0), delay)
    slope, = torch.autograd.grad(below.sum(), delay)
    assert torch.allclose(slope.log(), log_density, atol=1e-6) and bool((below.diff() > 0).all())
    assert float(flow(torch.tensor([30.0]).double(), torch.tensor([1e30], dtype=torch.float64))[1]) > 0.999


@long
def test_memory_stays():
    """The largest resident memory after 4000 further events is at most 16 MiB above that after the first 1000."""
    from icestream.torch import Events
    peaks = []
    for at, _ in enumerate(Events(draw, CONFIG, events=5000, batch=20)):
        if at in (49, 249):
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    assert len(peaks) == 2 and peaks[1] < peaks[0] + 16 * 1024
