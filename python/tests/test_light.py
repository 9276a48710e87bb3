"""Promise: steps keep the record of what their light was made with, and run only where it suits; steps without one run with a
warning that says what was assumed. To join: a way to copy arrays is a row of COPIES or of LOST."""
import copy
import json
import pickle
import warnings

import icestream
import numpy as np
import pytest
from conftest import CASCADE, CONFIG

OTHER = {"detector.oversize": 7}, {"light.acceptance": "none"}, {"detector.radius": 0.2}
COPIES = {
    "slice": lambda s: s[2:7], "mask": lambda s: s[s["photons"] > 0], "backwards": lambda s: s[::-1], "view": lambda s: s.view(),
    "copy": lambda s: s.copy(), "numpy.copy": np.copy, "pickle": lambda s: pickle.loads(pickle.dumps(s)), "deep": copy.deepcopy,
    "sort": lambda s: np.sort(s, order="step_id"), "take": lambda s: s.take([1, 2]),
    "concatenate": lambda s: np.concatenate([s[:3], s[3:]]), "append": lambda s: np.append(s[:3], s[3:]),
}
LOST = {"asarray": np.asarray, "filled": lambda s: np.array(s.tolist(), icestream.STEP), "steps": lambda s: icestream.steps(3, photons=5)}


@pytest.fixture(name="made", scope="module")
def _made():
    return icestream.generate(CONFIG, particles=[CASCADE], settings={"particles.cascades": "steps"})


def test_light_of_other_settings_is_refused(made):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hits = icestream.run(CONFIG, made)
    assert len(hits) > 20 and hits.tobytes() == icestream.run(
        CONFIG, particles=[CASCADE], settings={"particles.cascades": "steps"}).tobytes()
    for settings in OTHER:
        key, value = next(iter(settings.items()))
        with pytest.raises(icestream.InputError, match=r"steps: light: %s: .*expected %s, the value of this run" % (key, value)):
            icestream.run(CONFIG, made, settings=settings)
    with pytest.warns(icestream.IcestreamWarning, match="which source.light_mismatch accepts"):
        icestream.run(CONFIG, made, settings={**OTHER[0], "source.light_mismatch": "accept"})
    with icestream.Session(CONFIG, settings=OTHER[0]) as session:
        with pytest.raises(icestream.InputError, match="detector.oversize"):
            session.submit(made)
        assert session.wait() is None


@pytest.mark.parametrize("how", COPIES)
def test_the_record_survives(made, how):
    some = COPIES[how](made)
    assert isinstance(some, icestream.Steps) and some.light == made.light is not None
    with pytest.raises(icestream.InputError, match="detector.oversize"):
        icestream.run(CONFIG, some, settings=OTHER[0])


@pytest.mark.parametrize("how", LOST)
def test_steps_without_a_record_run_with_a_warning(made, how):
    with pytest.warns(icestream.IcestreamWarning, match="no record of their light: .*after thinning for light.acceptance standard, "
                      "detector.oversize 7"):
        icestream.run(CONFIG, LOST[how](made), settings=OTHER[0])


def test_light_that_is_not_thinned_needs_no_record():
    steps = icestream.steps(3, photons=500, x=5, y=5, z=-300, flags=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*no record")
        icestream.run(CONFIG, steps)
        icestream.run(CONFIG, icestream.generate(CONFIG), settings=OTHER[0])


def test_steps_of_two_kinds_have_no_record(made):
    other = icestream.generate(CONFIG, particles=[{**CASCADE, "event": 8}], settings=OTHER[0])
    for parts in ([made, other], [made, icestream.steps(1, event_id=9)]):
        with pytest.warns(icestream.IcestreamWarning, match="concatenate: .*different settings"):
            assert np.concatenate(parts).light is None
    assert type(made["x"]) is np.ndarray and type(made[["x", "y"]]) is np.ndarray


def test_files_keep_the_record(made, program):
    made.save("a.steps.npy")
    again = icestream.load("a.steps.npy")
    assert again.light == made.light and again.tobytes() == made.tobytes() == np.load("a.steps.npy").tobytes()
    with open("run.yaml", "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    refused = program("run", "run.yaml", "a.steps.npy", "--set", "detector.oversize=7")
    assert refused.returncode == 3 and "light: detector.oversize: found steps that were made for" in refused.stderr
    assert program("run", "run.yaml", "a.steps.npy").returncode == 0
    icestream.steps(0).save("b.steps.npy")
    assert icestream.load("b.steps.npy").light is None
    photon = (7, int(made["step_id"][0]), 0)
    with pytest.raises(icestream.InputError, match="detector.oversize"):
        icestream.trace(CONFIG, photons=[photon], steps=made, settings=OTHER[0])
    assert len(icestream.trace(CONFIG, photons=[photon], steps=made)) > 1


def test_a_wrong_record_is_an_error(made):
    some = made.copy()
    for record in ("", "[]", "x" * 5000, '{"settings": 3}'):
        some.light = record
        with pytest.raises(icestream.InputError, match="light: "):
            icestream.run(CONFIG, some)
    some.light = "x" * 10000
    with pytest.raises(icestream.UsageError, match="found a record of light of 10000 bytes"):
        icestream.trace(CONFIG, photons=[(7, 0, 0)], steps=some)


@pytest.mark.parametrize("field, value, found", [
    ("photons", 100.7, "100.7"), ("photons", [1, 2.5, 3], "2.5"), ("photons", float("nan"), "nan"), ("photons", -1, "-1"),
    ("event_id", 2.0 ** 54, "1.8014398509481984e.16, .* integers from 9007199254740992 on"), ("z", 1e39, "1e.39"),
])
def test_numbers_that_a_field_would_change_are_errors(field, value, found):
    with pytest.raises(icestream.UsageError, match="steps: field %s: found %s" % (field, found)):
        icestream.steps(3, **{field: value})
    assert icestream.steps(3, photons=100.0)["photons"][0] == 100
