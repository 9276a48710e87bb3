"""Pictures: axes with units, what is drawn is what was given, and wrong arguments are errors."""
import os

import icestream
import numpy as np
import pytest
from conftest import CASCADE, CONFIG

if not os.environ.get("ICESTREAM_TEST_LONG"):
    pytest.skip("takes seconds; set ICESTREAM_TEST_LONG=1", allow_module_level=True)
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from icestream import plot  # noqa: E402 (matplotlib must choose its backend first)

MODULES = np.array([(s, m, 100 * s, 0, -17 * m, 1) for s in (1, 2) for m in (1, 2, 3)], icestream.MODULE)


@pytest.fixture(name="hits")
def make_hits():
    """12 hits of two events on three modules; the weights of module 3 of string 2 are the largest."""
    hits = np.zeros(12, icestream.HIT)
    hits["event_id"] = [1] * 8 + [2] * 4
    hits["string"] = [1, 2] * 6
    hits["module"] = [1, 3] * 5 + [2, 3]
    hits["t"] = 100 + 10 * np.arange(12)
    hits["weight"] = np.where(hits["module"] == 3, 4, 1)
    hits["pmt"] = -1
    hits["photon_id"] = np.arange(12)
    return hits


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def area(axes):
    """The light below each line of a time plot."""
    return [float((patch.get_data().values * np.diff(patch.get_data().edges)).sum()) for patch in axes.patches]


def test_arrival_times_have_the_light_of_each_module(hits):
    edges = np.linspace(0, 1000, 11)
    assert area(plot.arrival_times(hits, [(1, 2), (1, 3)], event=2, bins=edges)) == pytest.approx([1, 0])
    with pytest.raises(icestream.UsageError, match=r"found those of 2 events \(1, 2\), expected those of one: give event=1"):
        plot.arrival_times(hits)
    with pytest.raises(icestream.UsageError, match="event: found 99, expected one of the 2 events with hits: 1, 2"):
        plot.arrival_times(hits, event=99)
    hits["event_id"] = 1
    axes = plot.arrival_times(hits, bins=edges)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (ns)", "photons per ns")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["1-1: 5 ± 2.24", "2-3: 24 ± 9.8", "1-2: 1 ± 1"]
    assert area(axes) == pytest.approx([5, 24, 1])
    hits["pmt"] = 0
    assert plot.arrival_times(hits, 1).get_ylabel() == "photo-electrons per ns"
    assert len(plot.arrival_times(hits[:0]).patches) == 0


def test_light_curves_have_the_light_of_each_event_or_string(hits):
    edges = np.linspace(0, 1000, 11)
    axes = plot.light_curves(hits, bins=edges)
    assert axes.get_xlabel() == "time (ns)" and area(axes) == pytest.approx([20, 10])
    same = plot.light_curves(hits, by="string", bins=edges, axes=axes)
    assert same is axes and area(axes)[2:] == pytest.approx([6, 24])
    assert "1 more" in plot.light_curves(hits, most=1).get_legend().get_title().get_text()
    with pytest.raises(icestream.UsageError, match="by: found 'x'"):
        plot.light_curves(hits, by="x")


def test_event_display_shows_each_module_that_was_hit(hits):
    axes = plot.event_display(hits, MODULES, event=1)
    assert [axes.get_xlabel(), axes.get_ylabel(), axes.get_zlabel()] == ["x (m)", "y (m)", "z (m)"]
    dots = axes.collections[0]
    assert sorted(dots.get_array()) == [100, 110]
    x, _, z = dots._offsets3d
    assert sorted(zip(x, z)) == [(100, -17), (200, -51)]
    assert axes.figure.axes[1].get_ylabel() == "time of the first hit (ns)"
    plot.event_display(hits[:0], MODULES)
    for event in (None, 99):
        with pytest.raises(icestream.UsageError, match="found"):
            plot.event_display(hits, MODULES, event=event)
    hits["event_id"] = 1
    hits["string"][0] = 9
    with pytest.raises(icestream.UsageError, match="found no module 1 of string 9"):
        plot.event_display(hits, MODULES)
    for wrong in (lambda: plot.event_display(MODULES, MODULES), lambda: plot.event_display(hits, hits),
                  lambda: plot.paths(hits), lambda: plot.event_display(hits, MODULES, axes=plot.light_curves(hits))):
        with pytest.raises(icestream.UsageError, match="found"):
            wrong()


def test_layer_profiles_are_those_of_the_ice():
    axes = plot.layer_profiles()
    assert axes.get_xlabel() == "length at 400 nm (m)" and axes.get_ylabel() == "z (m)"
    table = icestream.layers()
    assert len(table) == 171 and axes.patches[0].get_data().values.tolist() == table["scattering"].tolist()


def test_paths_are_drawn_from_start_to_hit(steps):
    ends = {**CONFIG, "detector": {"oversize": 5, "keep_hit_photons": False}}  # at their first hit
    hits = icestream.run(ends, steps)
    points = icestream.trace(ends, hits[:4], steps=steps)
    axes = plot.paths(points)
    assert axes.get_zlabel() == "z (m)"
    assert len(axes.collections[0]._segments3d) == len(points) - 4
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["start (4)", "hit (4)"]
    assert len(plot.paths(points, most=1).collections[0]._segments3d) == np.nonzero(points["point"] == 0)[0][1] - 1
    plot.event_display(icestream.run(CONFIG, particles=[CASCADE]), CONFIG)
