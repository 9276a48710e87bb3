"""to_prometheus() and to_parquet(): the schema that GraphNeT's PrometheusReader reads, and hits with their truth.

Promise: each hit has the position of its module and the particle that made its light, and wrong input is an error. To join: a
field of the reader gets an entry in docs/learning.md and a check here.
"""
import json

import icestream
import numpy as np
import pytest
from icestream import io

pytest.importorskip("pyarrow", reason="needs pyarrow, which reads and writes Parquet")
pandas = pytest.importorskip("pandas", reason="needs pandas, with which GraphNeT reads Parquet")

CONFIG = {"run": {"seed": 5}, "detector": {"oversize": 5}, "stages": {"detect": "pe"}, "device": {"backend": "cpu", "threads": 2}}
# GraphNeT 368927d7: extractors/prometheus/prometheus_extractor.py
TRUTH = ["interaction", "initial_state_energy", "initial_state_type", "initial_state_zenith", "initial_state_azimuth",
         "initial_state_x", "initial_state_y", "initial_state_z"]
PHOTONS = ["sensor_pos_x", "sensor_pos_y", "sensor_pos_z", "string_id", "sensor_id", "t"]


def record(lepton, energy, z):
    return {"vertex": [[25.0, -60.0, z]], "primary_type": [12], "primary_momentum": [[energy, energy, 0, 0]],
            "secondary_types": [[lepton, -2000001006]], "secondary_momenta": [[[0.5 * energy, 0.5 * energy, 0, 0]] * 2]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three events: a charged current, one without light nearby, and a neutral current."""
    path = tmp_path_factory.mktemp("made") / "events.jsonl"
    path.write_text("\n".join(json.dumps(record(*event)) for event in ((11, 900.0, -350.0), (11, 0.5, 1500.0), (12, 900.0, -350.0))))
    particles = io.read(path, "siren")
    steps = icestream.generate(CONFIG, particles=particles)
    hits = icestream.run(CONFIG, particles=particles)
    assert len(hits) > 20 and set(hits["event_id"]) == {0, 2}
    return hits, particles, steps


def test_prometheus_has_the_fields_of_graphnet(made, tmp_path):
    hits, particles, steps = made
    io.to_prometheus(hits, particles, tmp_path / "a.parquet", steps=steps)
    table = pandas.read_parquet(tmp_path / "a.parquet")
    assert list(table.columns) == ["mc_truth", "photons"] and len(table) == 3
    modules = {(row["string"], row["module"]): row for row in icestream.geometry(CONFIG)}
    for event in range(3):
        truth, photons = table["mc_truth"][event], table["photons"][event]
        assert set(TRUTH) <= set(truth) and set(PHOTONS) <= set(photons)
        own = hits[hits["event_id"] == event]
        assert photons["t"].tolist() == own["t"].tolist() and photons["sensor_id"].tolist() == own["module"].tolist()
        for at, hit in enumerate(own):
            module = modules[hit["string"], hit["module"]]
            assert [photons["sensor_pos_" + axis][at] for axis in "xyz"] == [module[axis] for axis in "xyz"]
        rows = particles[particles["event"] == event]
        assert truth["initial_state_type"] == 12 and truth["initial_state_energy"] == rows["energy"][0]
        assert truth["initial_state_zenith"] == pytest.approx(np.pi / 2) and truth["initial_state_azimuth"] == pytest.approx(0)
        assert truth["interaction"] == (2 if event == 2 else 1)
        assert truth["final_state_type"].tolist() == rows["type"][1:].tolist() and truth["final_state_parent"].tolist() == [0, 0]
        assert set(photons["id_idx"].tolist()) <= ({2} if event == 2 else {1, 2})
    assert {1, 2} == set(table["photons"][0]["id_idx"].tolist())


def test_what_was_written_is_read_as_the_same_particles(made, tmp_path):
    hits, particles, _ = made
    io.to_prometheus(hits, particles, tmp_path / "a.parquet")
    again = io.read(tmp_path / "a.parquet", "prometheus")
    for name in ("event", "type", "parent", "listed", "x", "y", "z", "energy"):
        assert again[name].tolist() == particles[name].tolist()
    for name in ("dx", "dy", "dz"):
        assert again[name].tolist() == pytest.approx(particles[name].tolist(), abs=1e-12)


def test_parquet_by_event_has_the_truth(made, tmp_path):
    hits, particles, steps = made
    io.to_parquet(hits, tmp_path / "set", particles=particles, steps=steps)
    table = pandas.read_parquet(tmp_path / "set" / "hits").sort_values(["event_id", "step_id", "photon_id"])
    assert sorted(path.name for path in (tmp_path / "set" / "hits").iterdir()) == ["event_id=0", "event_id=2"]
    assert table["t"].tolist() == hits["t"].tolist() and table["scatters"].tolist() == hits["scatters"].tolist()
    source = {(step["event_id"], step["step_id"]): step for step in np.asarray(steps)}
    for row, hit in zip(table.to_dict("records"), hits):
        step = source[hit["event_id"], hit["step_id"]]
        particle = particles[particles["event"] == hit["event_id"]][row["particle"]]
        assert [row["emission_" + axis] for axis in ("x", "y", "z", "dx", "t")] == [step[axis] for axis in ("x", "y", "z", "dx", "t")]
        assert row["source_type"] == particle["type"] and row["source_energy"] == particle["energy"]
    truth = pandas.read_parquet(tmp_path / "set" / "particles")
    assert len(truth) == len(particles)
    with pytest.raises(icestream.OutputError, match="found an existing folder"):
        io.to_parquet(hits, tmp_path / "set")


def test_wrong_input_is_an_error(made, tmp_path):
    hits, particles, steps = made
    path = tmp_path / "a.parquet"
    with pytest.raises(icestream.UsageError, match="found the weight .*, expected photo-electrons of weight 1"):
        io.to_prometheus(icestream.run({**CONFIG, "stages": {"detect": "none"}}, particles=particles), particles, path)
    with pytest.raises(icestream.UsageError, match="found no event 2, which has hits"):
        io.to_prometheus(hits, particles[particles["event"] < 2], path)
    with pytest.raises(icestream.UsageError, match="found hits without metadata"):
        io.to_prometheus(hits[:3], particles, path)
    with pytest.raises(icestream.UsageError, match="found no module"):
        io.to_prometheus(hits, particles, path, modules=icestream.geometry(CONFIG)[:3])
    with pytest.raises(icestream.UsageError, match="steps: found no step"):
        io.to_prometheus(hits, particles, path, steps=steps[:0])
    with pytest.raises(icestream.UsageError, match="particles: found no particle 1 of event 0"):
        io.to_parquet(hits, tmp_path / "set", particles=particles[[0, 1]], steps=steps)
    with pytest.raises(icestream.UsageError, match="only one of particles and steps"):
        io.to_parquet(hits, tmp_path / "set", particles=particles)
    strange = particles.copy()
    strange["type"][1] = 13
    with pytest.raises(icestream.InputError, match="event 0: found a neutrino 12 with the products"):
        io.to_prometheus(hits, strange, path)
    assert not path.exists()
