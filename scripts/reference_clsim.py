#!/usr/bin/env python3
"""Runs the workloads of clsim's CUDA port in its own tilted, anisotropic ice, and tests the hits against its hits.

    reference_clsim.py PHOTONS [cascade_f1 cascade_f5 uniform_f1 uniform_f5 ...]
    reference_clsim.py --files FOLDER

The second form writes clsim's ice, light and modules to FOLDER, and FOLDER/run.yaml, with which `icestream bench` and
icestream-lab measure the workloads of clsim's published benchmark (--workload and --counts).

PHOTONS in each run, e.g. 2e7, shared out over clsim's 4194304 steps (sources that are as many and at the same positions,
else modules next to one would count them). Runs whatever of shared/reference/clsim/hits_corrected_*.csv is named, all
if none is. Photons end on their first hit. Per run, p-values: of the total; chi-square over modules (bins below 10 hits
together), over arrival times in 10 ns, over cosines of the zenith and over wavelengths, each with the totals' ratio free.
Exit status 0: all p-values are above 1e-3 divided by their number; 1: not; 2: usage.

Of cascade_f1 and uniform_f1 there are hits of the code's first port, too: first_port_cascade_f1, first_port_uniform_f1.
That interpolates tilt and wavelengths, as this script has it. The corrected code looks both up in tables instead: the tilt
in cells of 17.68 by 6.25 m, each with the shift at its lower corner, the wavelength in 1024 lower edges of equal shares.
TILT=cells gives the run those cells.

ICESTREAM         the program (icestream)
ICESTREAM_SHARED  the folder with the reference (shared, next to the repository)
THREADS           CPU threads (auto)
TILT              cells: as above
OPTIONS           further arguments of `icestream run`
"""

import csv
import math
import os
import sys
import tempfile

import numpy

from reference_parts import SHARED, call, chi_square_p

TABLES = os.path.join(SHARED, "reference", "clsim")
DEPTH = 1948.07  # of the detector's centre, m
LEVEL = 1e-3
STEPS = 4194304

BENCHMARK = """\
# The ice, light and modules of clsim's published benchmark, from %s.
ice:      { file: ice.yaml }
detector: { file: %s/doms.csv, keep_hit_photons: false }
light:    { acceptance: acceptance.dat }
workload: { kind: cascade }
"""

ICE = """\
name: clsim reference
mean_cosine: 0.9
liu_fraction: 0.35
alpha: 0.89860850573
kappa: 1.0841068029
absorption_a: 6954.090332
absorption_b: 6617.7543945
flow_azimuth: 130
anisotropy: [-0.0764, 0.0382]
absorption_exponent: 1
tilt: { file: tilt.csv, azimuth: 225 }
layers:
"""

RUN = """\
run:      { seed: 20 }
source:   { files: [steps.npy] }
sink:     { directory: hits/ }
ice:      { file: ice.yaml }
detector: { file: %s/doms.csv, oversize: %s, crossing: disc, keep_hit_photons: false }
light:    { acceptance: acceptance.dat }
workload: { kind: %s, steps: %d, photons_per_step: %d, counts: balanced }
"""


def table(name):
    with open(os.path.join(TABLES, name), encoding="ascii") as file:
        return list(csv.reader(file))


def write(path, lines):
    with open(path, "w", encoding="ascii") as file:
        file.writelines(lines)


def write_world(folder):
    """clsim's tables as an ice file, a tilt and an acceptance."""
    layers = table("ice_layers.csv")[1:]
    write(
        os.path.join(folder, "ice.yaml"),
        [ICE]
        + [
            "  - [%.10g, %.10g, %s, %s]\n"
            % (DEPTH - 0.5 * (float(row[1]) + float(row[2])), 0.1 * float(row[3]), row[4], row[5])
            for row in reversed(layers)
        ],
    )
    head, *rows = table("tilt.csv")
    positions = [float(name.rsplit("_", 1)[1]) for name in head[1:]]
    if os.environ.get("TILT") == "cells":
        write_cells(folder, positions, rows)
        write_light(folder)
        return
    write(
        os.path.join(folder, "tilt.csv"),
        ["depth_m,position_m,shift_m\n"]
        + [
            "%.10g,%.10g,%s\n" % (DEPTH - float(row[0]), position, shift)
            for row in reversed(rows)
            for position, shift in zip(positions, row[1:])
        ],
    )
    write_light(folder)


def write_cells(folder, positions, rows):
    """The corrected code's 128 by 256 cells: stairs, with a tenth of a cell from one to the next."""
    width, height, columns, lines, parts = 12.5 * math.sqrt(2), 6.25, 128, 256, 10
    left, low = -0.5 * columns * width, -0.5 * lines * height
    tops = numpy.array([float(row[0]) for row in rows])
    shifts = numpy.array([[float(shift) for shift in row[1:]] for row in rows])

    def along(axis, at, values):
        """Linear along the first index, also beyond the ends."""
        i = numpy.clip(numpy.searchsorted(axis, at, side="right") - 1, 0, len(axis) - 2)
        t = ((at - axis[i]) / (axis[i + 1] - axis[i])).reshape(-1, 1)
        return values[i] * (1 - t) + values[i + 1] * t

    corners = along(tops, low + height * numpy.arange(lines), shifts)
    corners = along(numpy.array(positions), left + width * numpy.arange(columns), corners.T).T
    stairs = [(left + width * i + part, i) for i in range(columns) for part in (0, 0.999 * width)]
    with open(os.path.join(folder, "tilt.csv"), "w", encoding="ascii") as file:
        file.write("depth_m,position_m,shift_m\n")
        for row in reversed(range(lines * parts)):
            line = corners[row // parts]
            for position, column in stairs:
                file.write("%.10g,%.10g,%.8g\n" % (DEPTH - low - height * row / parts, position, line[column]))


def write_light(folder):
    # Densities are linear between their points; as a cumulative table with a bin around every whole
    # nanometre they come out the same.
    light = [(float(row[0]), float(row[2])) for row in table("wavelength.csv")[1:]]
    grid = numpy.arange(light[0][0], light[-1][0] + 0.5)
    density = numpy.interp(grid, *zip(*light))
    total = numpy.cumsum(density)
    total /= total[-1]
    write(
        os.path.join(folder, "acceptance.dat"),
        ["0 %.1f\n" % (grid[0] - 0.5)]
        + ["%.17g %.1f\n" % (value, at + 0.5) for value, at in zip(total, grid)],
    )


def compute(folder, workload, oversize, per_step):
    """The hits of a run."""
    with open(os.path.join(folder, "run.yaml"), "w", encoding="ascii") as file:
        file.write(RUN % (TABLES, oversize, workload, STEPS, per_step))
    call("generate", "run.yaml", "--force", "-o", "steps.npy", cwd=folder)
    call("run", "run.yaml", "--force", "-q", "--set", "device.threads=" + os.environ.get("THREADS", "auto"), cwd=folder)
    names = os.listdir(os.path.join(folder, "hits"))
    (name,) = [name for name in names if name.endswith(".npy")]
    return numpy.load(os.path.join(folder, "hits", name))


def two_sample(ours, theirs):
    """p of counts by key being of one shape; keys with fewer than 10 in all go together."""
    keys = set(ours) | set(theirs)
    pairs = [(ours.get(key, 0), theirs.get(key, 0)) for key in keys]
    few = [pair for pair in pairs if sum(pair) < 10]
    pairs = [pair for pair in pairs if sum(pair) >= 10]
    pairs.append(tuple(map(sum, zip(*few))) if few else (0, 0))
    a, b = numpy.array([pair for pair in pairs if sum(pair) >= 10], float).T
    ratio = math.sqrt(b.sum() / a.sum())
    chi = ((a * ratio - b / ratio) ** 2 / (a + b)).sum()
    return chi_square_p(chi, len(a) - 1)


def counted(values):
    return dict(zip(*(part.tolist() for part in numpy.unique(values, return_counts=True))))


def reference(run):
    """Counts by kind and bin, and the photons behind them."""
    kinds, photons = {}, 0
    for row in table("hits_%s.csv" % run)[1:]:
        kind, a, b, count = row[0], int(row[1]), row[2], int(row[3])
        if kind == "total":
            photons = int(b)
        else:
            kinds.setdefault(kind, {})[(a, int(b)) if kind == "dom" else a] = count
    return kinds, photons


def judge(run, hits, photons):
    kinds, reference_photons = reference(run if run.startswith("first_port") else "corrected_" + run)
    theirs = sum(kinds["dom"].values())
    ratio = len(hits) / photons / (theirs / reference_photons)
    error = ratio * math.sqrt(1 / len(hits) + 1 / theirs)
    ours = {
        "dom": counted((hits["string"].astype(int) - 1) * 1000 + hits["module"] - 1),
        "time_10ns": counted(numpy.minimum(hits["t"] // 10, 499).astype(int)),
        "costheta_0.05_from_-1": counted(
            numpy.clip(((hits["dz"] + 1.0) / 0.05).astype(int), 0, 39)
        ),
        "wlen_10nm_from_260": counted(((hits["wavelength"] - 260) // 10).astype(int)),
    }
    # The mended code looks wavelengths up in 1024 entries, which moves those below 330 nm to others;
    # the first port of the code interpolates.
    kinds["wlen_10nm_from_260"] = reference("first_port_%s_f1" % run.split("_")[-2])[0]["wlen_10nm_from_260"]
    kinds["dom"] = {a * 1000 + b: count for (a, b), count in kinds["dom"].items()}
    p = [math.erfc(abs(ratio - 1) / error / math.sqrt(2))]
    p += [two_sample(ours[kind], kinds[kind]) for kind in ours]
    good = min(p) > LEVEL / len(p)
    print(
        "| %s | %.3g | %d | %.4f +- %.4f | %s | %s |"
        % (run, photons, len(hits), ratio, error, " | ".join("%.3g" % x for x in p), "yes" if good else "NO"),
        flush=True,
    )
    return good


def write_benchmark(folder):
    os.makedirs(folder, exist_ok=True)
    write_world(folder)
    tables = os.path.abspath(TABLES)
    write(os.path.join(folder, "run.yaml"), [BENCHMARK % (tables, tables)])
    return 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--files":
        return write_benchmark(sys.argv[2])
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    per_step = max(1, round(float(sys.argv[1]) / STEPS))
    runs = sys.argv[2:] or ["cascade_f1", "cascade_f5", "uniform_f1", "uniform_f5"]
    if not os.path.isdir(TABLES):
        print("reference_clsim.py: no folder %s; set ICESTREAM_SHARED" % TABLES, file=sys.stderr)
        return 2
    print("| run | photons | hits | hits/clsim | p total | p modules | p times | p zenith | p wavelengths | agrees |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        write_world(folder)
        for run in runs:
            workload, oversize = run.replace("first_port_", "").split("_f")
            good &= judge(run, compute(folder, workload, oversize, per_step), STEPS * per_step)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
