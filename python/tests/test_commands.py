"""load, generate, trace, compare, stages, geometry and the conversions: what the program gives, as arrays and dicts."""
import json

import icestream
import numpy as np
import pytest
from conftest import CASCADE, CONFIG


def test_load_reads_what_the_program_writes(program):
    assert program("generate", "--set", "workload.steps=90", "-o", "a.steps.npy").returncode == 0
    assert program("run", "--set", "source.files=a.steps.npy").returncode == 0
    steps, hits = icestream.load("a.steps.npy"), icestream.load("hits/a.hits.npy", verify=True)
    assert steps.dtype == icestream.STEP and len(steps) == 90 and not isinstance(steps, icestream.Hits)
    assert isinstance(hits, icestream.Hits) and hits.tobytes() == np.load("hits/a.hits.npy").tobytes()
    if program("convert", "hits/a.hits.npy", "a.h5").returncode == 0:  # there is HDF5
        assert icestream.load("a.h5").tobytes() == hits.tobytes()
    assert program("convert", "--waveforms", "100", "hits/a.hits.npy", "a.waveforms.npy").returncode == 0
    assert icestream.load("a.waveforms.npy")["hits"].sum() == len(hits)


def test_load_reads_photon_tables(program):
    assert program("tabulate", "--set", "stages.tabulate=spherical", "--set", "workload.steps=2", "--set",
                   "table.axes=[{name: r, from: 0, to: 99, bins: 9}]", "-o", "a.npy").returncode == 0
    sums = icestream.load("a.npy", verify=True)
    assert sums.dtype == np.dtype("<i8") and sums.shape == (11,) and sums.sum() > 0


def test_load_of_a_bad_file_has_the_message_of_the_program(program):
    program("generate", "--set", "workload.steps=90", "-o", "a.steps.npy")
    with open("a.steps.npy", "r+b") as file:
        file.truncate(3000)
    with open("b.npy", "wb") as file:
        file.write(b"\x89PNG")
    for name in ("a.steps.npy", "b.npy", "missing.npy"):
        with pytest.raises(icestream.InputError) as error:
            icestream.load(name)
        printed = program("info", name)
        assert str(error.value) + "\n" == printed.stderr and error.value.exit_status == printed.returncode


def test_generate_makes_the_steps_that_the_program_makes(program):
    with open("run.yaml", "w", encoding="utf-8") as file:
        json.dump({**CONFIG, "particles": {"list": [CASCADE]}}, file)
    assert program("generate", "run.yaml", "-o", "a.steps.npy").returncode == 0
    steps = icestream.generate(CONFIG, [CASCADE])
    assert len(steps) and steps.tobytes() == np.load("a.steps.npy").tobytes()
    assert icestream.run(CONFIG, steps).tobytes() == icestream.run(CONFIG, particles=[CASCADE]).tobytes()
    with pytest.raises(icestream.ConfigError, match="nonsense"):
        icestream.generate(CONFIG, [{"type": "nonsense"}])


def test_trace_gives_the_paths_of_hits(steps):
    hits = icestream.run(CONFIG, steps)
    paths = icestream.trace(CONFIG, hits[:3], steps=steps)
    assert paths.dtype == icestream.PATH_POINT
    ends = paths[paths["kind"] == 2]
    assert sorted(ends["t"]) == pytest.approx(sorted(hits["t"][:3])) and (ends["string"] > 0).all()
    photon = hits[["event_id", "step_id", "photon_id"]][0]
    alone = icestream.trace(CONFIG, photons=[photon], steps=steps)
    assert alone.tobytes() == paths[paths["photon_id"] == photon["photon_id"]].tobytes()
    made = icestream.run(CONFIG)
    assert len(icestream.trace(CONFIG, made[0]))
    wrong = hits[:1].copy()
    wrong["t"] += 1
    for call, kind in ((lambda: icestream.trace(CONFIG, wrong, steps=steps), icestream.DifferentError),
                       (lambda: icestream.trace(CONFIG), icestream.UsageError),
                       (lambda: icestream.trace(CONFIG, steps, steps=steps), icestream.UsageError),
                       (lambda: icestream.trace(CONFIG, photons=[(1, 9999, 1)], steps=steps), icestream.InputError)):
        with pytest.raises(kind):
            call()


def test_compare_holds_for_schedules_and_differences_are_errors():
    report = icestream.compare(CONFIG, schedules="wavefront,monolithic")
    assert report["holds"] and len(report["participants"]) == 2
    with pytest.raises(icestream.DifferentError) as error:
        icestream.compare(CONFIG, {**CONFIG, "stages": {"scatter": "isotropic"}})
    assert error.value.report["holds"] is False and error.value.exit_status == 1


def test_stages_and_geometry_are_those_of_the_program(program):
    assert icestream.stages() == json.loads(program("stages", "--json").stdout)
    modules = icestream.geometry()
    rows = program("geometry").stdout.splitlines()
    assert rows[0].split(",") == list(icestream.MODULE.names) and len(modules) == len(rows) - 1
    assert [float(text) for text in rows[7].split(",")] == list(modules[6].tolist())
    with pytest.raises(icestream.ConfigError, match="missing.csv"):
        icestream.geometry({"detector": {"file": "missing.csv"}})


def test_conversions_keep_all_fields_or_name_what_is_missing(steps, tmp_path):
    hits = icestream.run(CONFIG, steps)
    try:
        import pandas
    except ImportError:
        with pytest.raises(ImportError, match="to_pandas needs the package pandas.*pip install pandas"):
            hits.to_pandas()
    else:
        frame = hits.to_pandas()
        assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(hits.dtype.names)
        assert (frame["t"].to_numpy() == hits["t"]).all()
    try:
        import awkward
    except ImportError:
        with pytest.raises(ImportError, match="to_awkward needs the package awkward"):
            hits.to_awkward()
    else:
        assert awkward.to_numpy(hits.to_awkward()["module"]).tolist() == hits["module"].tolist()
        events = hits[::-1].to_awkward(by_event=True)
        assert awkward.num(events).tolist() == [(hits["event_id"] == number).sum() for number in (1, 2)]
        numbers = [2, 9, 1]
        events = hits.to_awkward(by_event=True, events=numbers)
        assert awkward.num(events).tolist() == [(hits["event_id"] == number).sum() for number in numbers]
        with pytest.raises(icestream.UsageError, match="events: found no 2, which has hits"):
            hits.to_awkward(by_event=True, events=[1])
    try:
        from pyarrow import parquet
    except ImportError:
        with pytest.raises(ImportError, match="to_parquet needs the package pyarrow"):
            hits.to_parquet(tmp_path / "a.parquet")
    else:
        hits.to_parquet(tmp_path / "a.parquet")
        table = parquet.read_table(tmp_path / "a.parquet")
        assert table.column_names == list(hits.dtype.names) and table["t"].to_pylist() == hits["t"].tolist()
        assert json.loads(table.schema.metadata[b"icestream"]) == hits.metadata


def test_layers_are_those_of_the_ice_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = icestream.layers({"ice": {"model": "uniform"}})
    assert len(table) == 1 and table["top"][0] > table["bottom"][0]
    built_in = icestream.layers(wavelength=350)
    assert len(built_in) == 171 and (built_in["bottom"][1:] == pytest.approx(built_in["top"][:-1]))
    assert (built_in["scattering"] < icestream.layers(wavelength=500)["scattering"]).all()
    for call, text in ((lambda: icestream.layers(wavelength=0), "wavelength: found 0, expected a number from 250 to 700 nm"),
                       (lambda: icestream.layers(wavelength=float("nan")), "wavelength: found nan"),
                       (lambda: icestream.layers(wavelength="x"), "wavelength: found 'x'"),
                       (lambda: icestream.layers({"ice": {"file": "missing.yaml"}}), "missing.yaml")):
        with pytest.raises(ValueError, match=text):
            call()
