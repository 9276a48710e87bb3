"""The page of a run: its numbers are those of the run, texts of files never become HTML, and faults are said and counted.

To join: a part of the page that can be wrong in another way gets lines here. How the page looks in a browser is no test.
"""
import html
import json
import os
import re
import subprocess
import sys

import icestream
import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the page needs jinja2 (Debian: python3-jinja2)")
from icestream import report  # noqa: E402 (after the test for jinja2)
from icestream.__main__ import main  # noqa: E402

EVIL = "<img src=x onerror=alert(1)>&\"'"
RUN = {"detector": {"layout": "hex86", "oversize": 5}, "source": {"directory": "steps"}, "device": {"threads": 1}}


@pytest.fixture(name="hits")
def make_hits(program, tmp_path):
    """A run with two good step files and a bad one, whose names and reasons are HTML. Returns the hits of one of them."""
    (tmp_path / "run.yaml").write_text(json.dumps(RUN))
    (tmp_path / "steps").mkdir()
    for event, name in enumerate(("a", EVIL)):
        steps = icestream.steps(40, photons=500, x=5, y=5, z=-300, event_id=event, flags=1)
        steps.save(tmp_path / "steps" / (name + ".steps.npy"))
    (tmp_path / "steps" / ("bad%s.steps.npy" % EVIL)).write_text("no steps")
    for path in (tmp_path / "steps").iterdir():
        os.utime(path, (1, 1))  # a new file with a fault is read again after a second
    assert program("run", "run.yaml", "--quiet", "-s", "source.worker=<b>w").returncode == 3
    return icestream.load("hits/a.hits.npy")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def page(folder="hits", expected=0):
    """The page, and its text without elements."""
    assert main(["report", folder, "-o", "page.html", "--force"]) == expected
    whole = read("page.html")
    return whole, html.unescape(re.sub(r"<[^>]*>", "|", re.sub(r"<style>.*?</style>|<svg.*?</svg>|\n", "", whole, flags=re.S)))


def test_numbers_are_those_of_the_run(hits):
    whole, text = page()
    tables = [hits, icestream.load("hits/%s.hits.npy" % EVIL)]
    both = np.concatenate(tables)
    journal = [json.loads(line) for line in read("hits/run.journal").splitlines()]
    speed = json.loads(read("hits/summary.json"))["speed"]["photons_per_second"]
    latencies = sorted(line["seconds"] for line in journal if line["event"] == "done")
    found, counts = np.unique(np.asarray(both)[["string", "module"]], return_counts=True)
    string, module = found[counts.argmax()]
    assert 100 < len(both) < 10000
    for part in (
            "%d hits of 2 events; the sum of their weights is %.6g ±" % (len(both), both["weight"].sum(dtype=float)),
            "|created||40\u202f000||100 %|", "the account closes", "|computed||2|", "|quarantined||1|", "|stopped (3)|",
            "|%s||photons/s in the newest run|" % report._about(speed), "|in quarantine|", "found no .npy magic string",
            "|shortest||%.4g|" % latencies[0], "|longest||%.4g|" % latencies[-1], "|%d modules have hits.|" % len(found),
            "||%d||%d||%d||%.3g %%|" % (string, module, counts.max(), 100 * counts.max() / len(both)),
            "south-pole-like: 171 layers of 10 m.", "|-300||-275||40\u202f000|", "  oversize: 5", "|detector.oversize||5|",
            hits.metadata["digests"]["detector"],
            "Nothing that icestream records is missing." if "<svg" in whole else "Pictures are missing"):
        assert part in text, part
    for key in ("absorbed", "detected", "left", "stopped"):
        assert "%s||%s|" % (key, report._count(sum(table.metadata["account"][key] for table in tables))) in text
    median = float(re.search(r"\|50 %\|\|([\d.]+)\|", text).group(1))
    assert median == pytest.approx(np.quantile(both["t"], 0.5, method="inverted_cdf"), rel=1e-3)
    levels = re.search(r"Hits by height(.*)modules have hits", text).group(1)
    assert sum(int(row) for row in re.findall(r"\|\|86\|\|(\d+)\|", levels)) == len(both)


def test_texts_of_files_do_not_become_html(hits):
    whole, _ = page()
    assert len(whole.encode()) < report.PAGE_MOST and "&lt;img src=x onerror=alert(1)&gt;&amp;&#34;&#39;.steps.npy" in whole
    assert "&lt;b&gt;w<" in whole and "Quarantined step files" in whole
    for wrong in (r"<img|<b>w|<script|<\?xml|<!DOCTYPE svg", r"(src|href)=[\"']?(https?:|//)|@import|url\((?!#)"):
        assert not re.search(wrong, whole)
    assert report._finalize(9)("a\x1b\udcff\u2028") == "a\\x1b\\xff\u2028" and report._finalize(3)("abcd") == "abc [cut]"


def test_pictures_have_the_colours_of_the_page(hits):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib (Debian: python3-matplotlib)")
    whole, _ = page()
    for name in ("Rate", "Queues", "Arrival times", "Scatters", "From above", "By depth", "Ice", "Light"):
        assert "<figcaption><b>%s</b>" % name in whole
    assert whole.count("<svg") == 8 and "var(--one)" in whole and "#00000" not in whole
    ids = re.findall(r" id=\"([^\"]+)", whole)
    assert len(ids) == len(set(ids)) and {name[1:] for name in re.findall(r"href=\"(#[^\"]+)", whole)} <= set(ids)


def test_tables_stay_without_matplotlib(hits, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    whole, text = page()
    assert "Pictures are missing: icestream report needs the package matplotlib" in text and "<svg" not in whole
    assert "<details open><summary>Hits by height" in whole


def test_exit_statuses_and_existing_files(hits, capfd, tmp_path):
    called = subprocess.run([sys.executable, "-m", "icestream", "report", "hits"], capture_output=True, text=True, check=False)
    assert called.returncode == 0 and called.stderr == "" and os.path.getsize("report.html") > 10000
    assert main(["report", "hits"]) == 74 and "report.html: found an existing file" in capfd.readouterr().err
    assert main(["report", "hits", "-o", "-"]) == 0
    made = re.compile("Made at .*")
    assert made.sub("", capfd.readouterr().out) == made.sub("", (tmp_path / "report.html").read_text("utf-8"))
    assert main(["report", "hits", "-o", "none/page.html"]) == 74 and main(["report", "hits", "-o", "page.npy"]) == 2
    with pytest.raises(SystemExit) as ended:
        main(["report"])
    assert ended.value.code == 2
    (tmp_path / "empty").mkdir()
    for folder, words in (("none", "none: No such file"), ("empty", "empty: found no run.journal, no summary.json and no hit")):
        assert main(["report", folder, "-o", "none.html"]) == 3 and words in capfd.readouterr().err
    assert not [name for name in os.listdir() if "none" in name or name.endswith(".part")]


def test_what_is_damaged_is_named_and_counted(hits, capfd):
    good = len(icestream.load("hits/%s.hits.npy" % EVIL))
    with open("hits/run.journal", "ab") as file:
        file.write(b'{"time":"2026-\n\xff\n{"time":"2026-11-21T22:48:53.123Z","event":"new","worker":"w"}\n')
        file.write(b"[" * 40000 + b"\n")
    with open("hits/a.hits.npy", "r+b") as file:
        file.seek(1300)
        file.write(b"XXXX")
    with open("hits/summary.json", "w", encoding="utf-8") as file:
        file.write('{"schema": ')
    os.unlink("run.yaml")
    _, text = page(expected=3)
    errors = capfd.readouterr().err
    assert "hits/a.hits.npy: rows 0 to" in errors and "page.html: the report is complete but for the hits of these" in errors
    for part in ("3 lines of the journal are damaged and 1 are unknown to this version", "the summary is damaged",
                 "Hits by height", "1 damaged hit file", "Hit files that cannot be used", "%d hits of 1 events" % good):
        assert part in text, part
    os.unlink("hits/run.journal")
    os.unlink("hits/summary.json")
    _, text = page(expected=3)
    for part in ("There is no run.journal in this folder", "There is no summary.json", "account closes", "There is no journal"):
        assert part in text, part


def test_models_of_other_hits_are_refused(hits):
    history, notes, metadata = report.History(0, 1), [], hits.metadata
    metadata["digests"]["detector"] = "0" * 64
    assert report._find_models(history.start, None, metadata, notes) is None
    assert "describes other ice or another detector than those of the hits: found the digests" in notes[0]


def test_hits_are_counted_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "BLOCK", 1000)
    random = np.random.default_rng(1)
    hits = np.zeros(2500, icestream.HIT)
    hits["t"], hits["weight"], hits["photon_id"] = random.normal(2e6, 500, 2500), 2, np.arange(2500)
    hits["string"], hits["module"] = random.integers(0, 9, 2500), random.integers(0, 65536, 2500)
    hits["scatters"] = random.poisson(3, 2500)
    np.save(tmp_path / "x.hits.npy", hits)
    counts = report.HitCounts()
    for _ in range(2):
        counts.add(str(tmp_path / "x.hits.npy"))
    assert (counts.hits, counts.files, counts.weight, sum(counts.modules.values())) == (5000, 2, 10000, 5000)
    assert counts.modules[int(hits["string"][5]) << 16 | int(hits["module"][5])] >= 2
    assert counts.scatters.tolist() == (2 * np.bincount(hits["scatters"], minlength=65536)).tolist()
    for share in (0.01, 0.5, 0.99):
        expected = np.quantile(hits["t"], share, method="inverted_cdf") - counts.origin
        assert counts.time_quantile(share) == pytest.approx(expected, rel=1e-3, abs=1e-3)
    hits["t"][:3] = np.nan, np.inf, -np.inf
    np.save(tmp_path / "x.hits.npy", hits)
    counts.add(str(tmp_path / "x.hits.npy"))
    assert counts.hits == 7500


def test_waveforms_are_counted(program):
    assert program("run", "--quiet", "-s", "workload.steps=100", "-s", "sink.hits=waveforms").returncode == 0
    _, text = page()
    bins = icestream.load("hits/generated.hits.npy")
    weight = bins["weight"].sum(dtype=float)
    assert "%d hits of 1 events; the sum of their weights is %.6g." % (bins["hits"].sum(), weight) in text
    assert "hits are in waveforms, which have no number of scatters" in text


def test_history_spreads_what_grew():
    history = report.History(100.0, 220.0)
    for when, kind, photons in ((100, "start", 0), (160, "sample", 600), (220, "sample", 1800), (220, "stop", 1800)):
        for worker, device in (("a", "cpu"), ("b", "cuda:0")):
            history.add(when, {"event": kind, "worker": worker, "photons": photons, "hits": 1, "devices": {device: photons},
                               "queues": {"batches": [2, 8], "units": [1, 10]}})
    assert history.photons[:60] == pytest.approx(np.full(60, 20)) and history.photons[60:] == pytest.approx(np.full(60, 40))
    assert {name: round(photons.sum()) for name, photons in history.devices.items()} == {"cpu": 1800, "cuda:0": 1800}
    assert history.queue_most.max() == 2 and history.room == 8 and history.samples.sum() == 4
    for wrong in ({"photons": "many", "devices": [], "queues": [None], "light": {"photons": [1, None]}}, {"light": 3}):
        history.add(200, {"event": "sample", "worker": "a", **wrong})  # by another program; nothing is raised


def test_values_of_other_types_are_left_out(hits, tmp_path):
    wrong = {"schema": "icestream.summary", "device": {"members": [3, {"photons": "x", "alive": []}], "warnings": 1}, "speed": [],
             "warnings": [None, {"<i>": 1}], "account": 5, "digests": "x", "error": ["<i>"]}
    (tmp_path / "hits" / "summary.json").write_text(json.dumps(wrong))
    with open("hits/run.journal", "ab") as file:
        file.write(b'{"time":"2026-11-21T22:48:53.123Z","event":"done","worker":"w","file":{"<i>":1},"seconds":"x","hits":[]}\n')
    whole, _ = page()
    assert "<i>" not in whole and "the account closes" in whole
