#!/usr/bin/python3
"""Runs modules that are no spheres as the public program ppc has run them, and judges the counts.

    scripts/reference_shapes.py PHOTONS [RUN ...]

PHOTONS: about as many photons as each run propagates, e.g. 1e7. Fewer than the list of cascades makes are
drawn from its steps; for more the list is repeated. RUN: degg, mdom, cylinder (configs/reference/shapes); all
if none is named. Prints a table in Markdown: photons, arrivals and photo-electrons, their ratios to ppc, and the
p-values of chi-square tests of the counts of modules and of PMTs. Exit status 0: all p-values are above 1e-3,
and the ratios of totals are within 0.5 % or four standard deviations; 1: one is not; 2: something failed.

The largest sensitivity m, by which probabilities are divided, does not exist for cylinders without ends, because
their area vanishes along their axis. There ppc's m depends on its list of directions, so the ratio of
photo-electrons to arrivals is printed and not judged.

Known faults of ppc are put right, as shared/reference/shapes/README.md describes them: its wavelengths are 1 nm
low, and it accepts a hit with acceptance(w - 1 nm) / acceptance(w), at most 1.

ICESTREAM         the program (icestream)
ICESTREAM_SHARED  the folder with ice and reference (shared, next to the repository)
OPTIONS           further options of `icestream run`, such as "-s device.backend=cuda"
KEEP              a folder for steps and hits; else they are removed
"""
import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.realpath(os.environ.get("ICESTREAM_SHARED", os.path.join(ROOT, "../shared")))
PROGRAM = os.environ.get("ICESTREAM", "icestream")
RUNS = ("degg", "mdom", "cylinder")
# ppc's totals (README of the reference): photons propagated, arrivals, photo-electrons.
TOTALS = {
    "degg": (497763139, 694215, 232369),
    "mdom": (230241541, 320424, 232438),
    "cylinder": (9172900429, 18279738, 231594),
}
LIST = "cas_10TeV_100.f2k"


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


def call(arguments):
    result = subprocess.run([PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        sys.exit(f"reference_shapes.py: {shlex.join([PROGRAM, *arguments])}\n{result.stderr}")


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


def compute(name, photons, folder):
    """Returns the hits and the account of a run."""
    config = f"{ROOT}/configs/reference/shapes/{name}.yaml"
    acceptance, steps = f"{folder}/acceptance.dat", f"{folder}/{name}.steps.npy"
    particles, summary = f"{folder}/{name}.f2k", f"{folder}/{name}.summary.json"
    ice = f"{SHARED}/ice/spice_bfr-v2"
    write_acceptance(acceptance)
    with open(f"{SHARED}/reference/ppc/bench/{LIST}") as file:
        cascades = file.read()
    settings = [config, "-s", f"light.acceptance={acceptance}", "-s", f"particles.file={particles}"]
    settings += ["-s", f"ice.directory={ice}", "-s", f"detector.file={ice}/geo-f2k", "--force"]
    repeats = 1
    while True:
        with open(particles, "w") as file:
            file.write(repeated(cascades, repeats))
        call(["generate", *settings, "-o", steps])
        all_steps = numpy.load(steps)
        made = int(all_steps["photons"].sum())
        if made >= photons:
            break
        repeats = math.ceil(1.01 * photons * repeats / made)
    numpy.save(steps, thin(all_steps, photons, 15))
    call(["run", *settings, "-s", f"source.files={steps}", "-s", "source.light_mismatch=accept", "-s",
          "sink.hits=both", "-s", f"sink.directory={folder}", "--summary", summary,
          *shlex.split(os.environ.get("OPTIONS", ""))])  # fmt: skip
    with open(summary) as file:
        account = json.load(file)["account"]
    return numpy.load(f"{folder}/{name}.hits.npy"), account


def chi_square_p(chi_square, degrees):
    """The upper tail of chi-square, by the cube root of Wilson and Hilferty."""
    if degrees < 1:
        return 1.0
    z = ((chi_square / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / math.sqrt(2 / (9 * degrees))
    return 0.5 * math.erfc(z / math.sqrt(2))


def inflation(hits, names):
    """The variance of counts by which a photon with several hits makes them wider than Poisson's."""
    keys = [hits[n].astype(numpy.int64) for n in ("event_id", "step_id", "photon_id", *names)]
    order = numpy.lexsort(keys)
    new = numpy.ones(len(hits), bool)
    if len(hits) > 1:
        new[1:] = numpy.any([k[order][1:] != k[order][:-1] for k in keys], axis=0)
    sizes = numpy.diff(numpy.append(numpy.flatnonzero(new), len(hits)))
    return float(numpy.sum(sizes**2.0) / numpy.sum(sizes)) if len(hits) else 1.0


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


def judge(name, hits, account):
    """Prints the row of a run; returns whether it agrees."""
    electrons = hits[hits["pmt"] >= 0]
    photons, arrivals, detected = account["created"], len(hits), len(electrons)
    their_photons, their_arrivals, their_detected = TOTALS[name]
    ratios = [
        (arrivals / photons) / (their_arrivals / their_photons),
        (detected / arrivals) / (their_detected / their_arrivals) * share_kept(),
    ]
    several = inflation(hits, ())
    errors = [
        ratios[0] * math.sqrt(several * (1 / arrivals + 1 / their_arrivals)),
        ratios[1] * math.sqrt(1 / max(detected, 1) + 1 / their_detected),
    ]
    factor = inflation(electrons, ("string", "module"))
    p = [
        compare(counts_of(electrons, names), counts, factor)
        for names, counts in zip((("string", "module"), ("string", "module", "pmt"), ("pmt",)), reference_counts(name))
    ]
    judged = ratios if name != "cylinder" else ratios[:1]
    agrees = all(x > 1e-3 for x in p) and all(
        abs(r - 1) < max(0.005, 4 * e) for r, e in zip(judged, errors))  # fmt: skip
    print(f"| {name} | {photons:.4g} | {arrivals} | {detected} | {ratios[0]:.4f} +- {errors[0]:.4f} | "
          f"{ratios[1]:.4f} +- {errors[1]:.4f} | {p[0]:.3g} | {p[1]:.3g} | {p[2]:.3g} | "
          f"{'yes' if agrees else 'NO'} |")  # fmt: skip
    return agrees


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-") or not set(sys.argv[2:]) <= set(RUNS):
        sys.exit(__doc__)
    photons = float(sys.argv[1])
    print("| run | photons | arrivals | photo-electrons | arrivals per photon / ppc | photo-electrons per arrival / "
          "ppc | p modules | p modules and PMTs | p PMTs | agrees |")  # fmt: skip
    print("|---" * 10 + "|", flush=True)
    agree = True
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.environ.get("KEEP", scratch)
        os.makedirs(folder, exist_ok=True)
        for name in sys.argv[2:] or RUNS:
            hits, account = compute(name, photons, folder)
            agree &= judge(name, hits, account)
            sys.stdout.flush()
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
