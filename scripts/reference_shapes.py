#!/usr/bin/python3
"""Runs modules that are no spheres as the public program ppc has run them, and judges the counts.

    scripts/reference_shapes.py [--part PHOTONS] PHOTONS [RUN ...]

PHOTONS: about as many photons as each run propagates, e.g. 1e7; or how many times ppc's photons, e.g. 5x, which are
2.5e9 for degg, 1.2e9 for mdom and 46e9 for cylinder. Fewer than the list of cascades makes are drawn from its
steps; for more the list is repeated. RUN: degg, mdom, cylinder (configs/reference/shapes); all if none is named.
Runs of more photons than --part (2e9) are divided into equal parts with different seeds, whose hits are counted and
removed one after the other: 46e9 photons of cylinder have 91 million arrivals.

Prints a table in Markdown: photons, arrivals and photo-electrons, their ratios to ppc, and the p-values of
chi-square tests of the counts of modules and of PMTs. Exit status 0: all p-values are above 1e-3, and the ratios of
totals are within 0.5 % or four standard deviations; 1: one is not; 2: something failed.

The largest sensitivity m, by which probabilities are divided, does not exist for cylinders without ends, because
their area vanishes along their axis. There ppc's m depends on its list of directions, so the ratio of
photo-electrons to arrivals is printed and not judged.

Known faults of ppc are put right, as shared/reference/shapes/README.md describes them: its wavelengths are 1 nm
low, and it accepts a hit with acceptance(w - 1 nm) / acceptance(w), at most 1.

ICESTREAM         the program (icestream)
ICESTREAM_SHARED  the folder with ice and reference (shared, next to the repository)
OPTIONS           further options of `icestream run`, such as "-s device.backend=cuda"
KEEP              a folder for the steps and hits of the last part; else they are removed
"""
import argparse
import collections
import csv
import json
import math
import os
import sys
import tempfile

import numpy

from reference_parts import ROOT, SHARED, call, chi_square_p

RUNS = ("degg", "mdom", "cylinder")
# ppc's totals (README of the reference): photons propagated, arrivals, photo-electrons.
TOTALS = {
    "degg": (497763139, 694215, 232369),
    "mdom": (230241541, 320424, 232438),
    "cylinder": (9172900429, 18279738, 231594),
}
LIST = "cas_10TeV_100.f2k"
SEED = 1515
# The columns by which photo-electrons are counted: modules, modules and PMTs, PMTs.
COUNTED = (("string", "module"), ("string", "module", "pmt"), ("pmt",))


def cherenkov(wavelength):
    """The number of Cherenkov photons per nm, up to a factor, with the index of refraction of ice."""
    um = wavelength * 1e-3
    n = 1.55749 - um * (1.57988 - um * (3.99993 - um * (4.68271 - 2.09354 * um)))
    return (1 - 1 / n**2) / um**2


def spectrum(wavelength):
    """The density of detected light: linear between points at 270, 280, ..., 680 nm."""
    points = numpy.arange(270.0, 681.0, 10.0)
    values = numpy.exp(-(((points - 400) / 90) ** 2)) * cherenkov(points)
    return numpy.interp(wavelength, points, values, left=0, right=0)


def write_acceptance(path):
    """Writes the spectrum, 1 nm lower, in the form of wv.dat: cumulative shares at the ends of bins of 1 nm."""
    centres = numpy.arange(270.5, 680.0, 1.0)
    shares = numpy.cumsum(spectrum(centres))
    with open(path, "w") as file:
        print("0 269", file=file)
        for centre, share in zip(centres, shares / shares[-1]):
            print(f"{share:.9f} {centre - 0.5:.1f}", file=file)


def share_kept():
    """The mean of acceptance(w - 1 nm) / acceptance(w), at most 1, over the spectrum."""
    w = numpy.arange(271.5, 680.0, 1.0)
    density = spectrum(w)
    return float(numpy.sum(density * numpy.minimum(1, spectrum(w - 1) / density)) / numpy.sum(density))


def thin(steps, photons, seed):
    """Draws about as many photons from steps. The draws of steps are independent."""
    share = photons / float(steps["photons"].sum())
    chosen = steps.copy()
    chosen["photons"] = numpy.random.default_rng(seed).binomial(steps["photons"], share)
    return chosen[chosen["photons"] > 0]


def repeated(events, repeats):
    """Returns a list of particles (f2k) with all of its events several times."""
    lines = [line for line in events.splitlines(keepends=True) if line.strip()]
    of_events = [line for line in lines if line.split()[0] in ("EM", "TR", "EE")]
    first, last = lines.index(of_events[0]), len(lines) - lines[::-1].index(of_events[-1])
    return "".join(lines[:first] + of_events * repeats + lines[last:])


def compute(name, photons, seed, folder):
    """Returns the hits and the account of a run, or of a part of it."""
    config = f"{ROOT}/configs/reference/shapes/{name}.yaml"
    acceptance, steps = f"{folder}/acceptance.dat", f"{folder}/{name}.steps.npy"
    particles, summary = f"{folder}/{name}.f2k", f"{folder}/{name}.summary.json"
    ice = f"{SHARED}/ice/spice_bfr-v2"
    write_acceptance(acceptance)
    with open(f"{SHARED}/reference/ppc/bench/{LIST}") as file:
        cascades = file.read()
    settings = [config, "-s", f"light.acceptance={acceptance}", "-s", f"particles.file={particles}"]
    settings += ["-s", f"ice.directory={ice}", "-s", f"detector.file={ice}/geo-f2k", "-s", f"run.seed={seed}", "--force"]
    repeats = 1
    while True:
        with open(particles, "w") as file:
            file.write(repeated(cascades, repeats))
        call("generate", *settings, "-o", steps)
        all_steps = numpy.load(steps)
        made = int(all_steps["photons"].sum())
        if made >= photons:
            break
        repeats = math.ceil(1.01 * photons * repeats / made)
    numpy.save(steps, thin(all_steps, photons, seed))
    call("run", *settings, "-s", f"source.files={steps}", "-s", "source.light_mismatch=accept", "-s", "sink.hits=both", "-s",
         f"sink.directory={folder}", "--summary", summary)
    with open(summary) as file:
        account = json.load(file)["account"]
    return numpy.load(f"{folder}/{name}.hits.npy"), account


class Counts:
    """What all parts of a run together have: photons, arrivals, photo-electrons and their counts."""

    def __init__(self):
        self.photons = self.arrivals = self.detected = 0
        self.counts = [collections.Counter() for _ in COUNTED]
        self.arrived_squares = self.detected_squares = 0.0

    def add(self, hits, account):
        electrons = hits[hits["pmt"] >= 0]
        self.photons += account["created"]
        self.arrivals += len(hits)
        self.detected += len(electrons)
        self.arrived_squares += squares(hits, ())
        self.detected_squares += squares(electrons, ("string", "module"))
        for counter, names in zip(self.counts, COUNTED):
            counter.update(counts_of(electrons, names))


def compute_parts(name, photons, part, folder):
    """Runs the parts and returns their counts. The photons of different parts have different random numbers."""
    counts, parts = Counts(), max(1, math.ceil(photons / part))
    for i in range(parts):
        hits, account = compute(name, photons / parts, SEED + i, folder)
        counts.add(hits, account)
        if parts > 1:
            print(f"{name}: part {i + 1} of {parts}, {counts.photons:.4g} photons, {counts.arrivals} arrivals",
                  file=sys.stderr, flush=True)  # fmt: skip
    return counts


def squares(hits, names):
    """The sum of the squares of how many hits each photon has, on each module if names say so. Divided by the number of
    hits it is the variance of counts in units of Poisson's."""
    keys = [hits[n].astype(numpy.int64) for n in ("event_id", "step_id", "photon_id", *names)]
    order = numpy.lexsort(keys)
    new = numpy.ones(len(hits), bool)
    if len(hits) > 1:
        new[1:] = numpy.any([k[order][1:] != k[order][:-1] for k in keys], axis=0)
    return float(numpy.sum(numpy.diff(numpy.append(numpy.flatnonzero(new), len(hits))) ** 2.0))


def compare(ours, theirs, factor):
    """The p-value of the shapes of two sets of counts; those with few counts are one."""
    keys = sorted(set(ours) | set(theirs))
    a = numpy.array([ours.get(k, 0) for k in keys], float)
    b = numpy.array([theirs.get(k, 0) for k in keys], float)
    ratio = a.sum() / b.sum()
    expected = (a + b) * ratio / (1 + ratio)
    many = (expected >= 10) & ((a + b) / (1 + ratio) >= 10)
    a, b = (numpy.append(x[many], x[~many].sum()) for x in (a, b))
    a, b = a[a + b > 0], b[a + b > 0]
    chi_square = numpy.sum((a / math.sqrt(ratio) - b * math.sqrt(ratio)) ** 2 / (a + b)) / factor
    return chi_square_p(chi_square, len(a) - 1)


def counts_of(hits, names):
    keys, count = numpy.unique(numpy.stack([hits[n].astype(numpy.int64) for n in names]), axis=1, return_counts=True)
    return {tuple(key): int(n) for key, n in zip(keys.T.tolist(), count)}


def reference_counts(name):
    modules, pmts, by_pmt = {}, {}, {}
    with open(f"{SHARED}/reference/shapes/pmt_cascades_{name}.csv") as file:
        for row in csv.DictReader(file):
            key = (int(row["string"]), int(row["module"]))
            count, pmt = int(row["pe"]), int(row["pmt"])
            modules[key] = modules.get(key, 0) + count
            pmts[(*key, pmt)] = count
            by_pmt[(pmt,)] = by_pmt.get((pmt,), 0) + count
    return modules, pmts, by_pmt


def judge(name, ours):
    """Prints the row of a run; returns whether it agrees."""
    photons, arrivals, detected = ours.photons, ours.arrivals, ours.detected
    their_photons, their_arrivals, their_detected = TOTALS[name]
    ratios = [
        (arrivals / photons) / (their_arrivals / their_photons),
        (detected / max(arrivals, 1)) / (their_detected / their_arrivals) * share_kept(),
    ]
    several = ours.arrived_squares / max(arrivals, 1)
    errors = [
        ratios[0] * math.sqrt(several * (1 / max(arrivals, 1) + 1 / their_arrivals)),
        ratios[1] * math.sqrt(1 / max(detected, 1) + 1 / their_detected),
    ]
    factor = ours.detected_squares / max(detected, 1)
    p = [compare(counts, theirs, factor) for counts, theirs in zip(ours.counts, reference_counts(name))]
    judged = ratios if name != "cylinder" else ratios[:1]
    agrees = all(x > 1e-3 for x in p) and all(
        abs(r - 1) < max(0.005, 4 * e) for r, e in zip(judged, errors))  # fmt: skip
    print(f"| {name} | {photons:.4g} | {arrivals} | {detected} | {ratios[0]:.4f} +- {errors[0]:.4f} | "
          f"{ratios[1]:.4f} +- {errors[1]:.4f} | {p[0]:.3g} | {p[1]:.3g} | {p[2]:.3g} | "
          f"{'yes' if agrees else 'NO'} |")  # fmt: skip
    return agrees


def photons_of(text):
    """Returns what the argument asks for: a function of the name of a run."""
    try:
        number = float(text.removesuffix("x"))
    except ValueError:
        number = 0.0
    if not 0 < number < 1e15:
        raise argparse.ArgumentTypeError(f"found '{text}', expected a number above 0, or times ppc's photons, as in 5x")
    return (lambda name: number * TOTALS[name][0]) if text.endswith("x") else lambda name: number


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"), add_help=False)
    parser.add_argument("--part", type=float, default=2e9)
    parser.add_argument("photons", type=photons_of)
    parser.add_argument("runs", nargs="*")
    given = parser.parse_args()
    if not set(given.runs) <= set(RUNS) or not given.part >= 1:
        parser.error("found " + " ".join(sys.argv[1:]))
    print("| run | photons | arrivals | photo-electrons | arrivals per photon / ppc | photo-electrons per arrival / "
          "ppc | p modules | p modules and PMTs | p PMTs | agrees |")  # fmt: skip
    print("|---" * 10 + "|", flush=True)
    agree = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.environ.get("KEEP", scratch)
        os.makedirs(folder, exist_ok=True)
        for name in given.runs or RUNS:
            agree &= judge(name, compute_parts(name, given.photons(name), given.part, folder))
            sys.stdout.flush()
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
