#!/usr/bin/env python3
"""How wide modules (detector.oversize) change the light of modules: sums, fluctuations and times against true modules.

  bench/oversize.py matrix [-o FOLDER] [--share S] [--cells 5,25/20] [--program PROGRAM] [--set KEY=VALUE ...]
      An isotropic point source in homogeneous ice, modules on a sphere around it: three effective scattering lengths,
      distances up to six of them, F = 1, 2 and 5. Prints a table, and writes it as FOLDER/oversize.csv.
      --share 0.1 takes a tenth of the photons. --cells 5,25/20 does only lambda_e 5 m, and 25 m at 20 m.
  bench/oversize.py case RUN.yaml [-F 1,2,5] [-o FOLDER] [--program PROGRAM] [--set KEY=VALUE ...]
      The particles of a run file, once with each F; F = 1 is the truth. Prints the same numbers for all modules together.
  bench/oversize.py plot TABLE.csv -o PICTURE.png
      Draws sums and times of the table of a matrix. Needs matplotlib.

--set: settings of icestream for all runs, for example device.backend=cuda or detector.crossing=disc.

Columns: sum of weights relative to F = 1 with its error (photons are the same for all F, so that most of their
fluctuations cancel); bunching, which is the sum of m^2 over the sum of m, m being the hits of one photon on one module
(1: independent hits); and how much later (ns) the 1 %, 10 % and 50 % quantiles of the times are than with F = 1.
Needs NumPy."""
import argparse
import csv
import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit("bench/oversize.py: there is no NumPy: pip install numpy")

BLOCKS = 32  # of photons, for errors
QUANTILES = (0.01, 0.1, 0.5)
# Effective scattering and absorption length (m), and the distances (m) of at most six effective scattering lengths.
ICE = {(5, 25): (1, 2, 5, 10, 20, 30), (25, 100): (1, 2, 5, 10, 20, 50), (50, 200): (1, 2, 5, 10, 20, 50)}
RADIUS = 0.1651
MOST = 20000  # modules


def run(program, folder, settings):
    """Runs icestream and returns the rows of its hit files."""
    hits = tempfile.mkdtemp(prefix="hits.", dir=folder)
    words = [word for setting in settings + [f"sink.directory={hits}"] for word in ("--set", setting)]
    subprocess.run([program[0], "run", "--quiet", *program[1:], *words], check=True, stderr=subprocess.DEVNULL)
    files = [os.path.join(hits, name) for name in sorted(os.listdir(hits)) if name.endswith(".hits.npy")]
    rows = np.concatenate([np.load(name) for name in files])
    for name in files:
        os.remove(name)
    return rows


def numbers(hits):
    """What one F is judged by. Blocks are shares of the photons, the same for all F."""
    block = (hits["photon_id"] + 7 * hits["step_id"]) % BLOCKS
    sums = np.bincount(block, hits["weight"].astype(float), BLOCKS)
    key = np.stack([hits[name].astype(np.uint64) for name in ("event_id", "step_id", "photon_id", "string", "module")])
    order = np.lexsort(key)
    new = np.any(np.diff(key[:, order], axis=1, prepend=np.uint64(2**63)) != 0, axis=0)
    per = np.diff(np.append(np.flatnonzero(new), len(order))).astype(float)
    bunching = (per**2).sum() / max(per.sum(), 1)
    times = quantiles(hits["t"], hits["weight"])
    in_blocks = [quantiles(hits["t"][block == b], hits["weight"][block == b]) for b in range(8)]
    return {"sums": sums, "bunching": bunching, "times": times, "times_error": np.std(in_blocks, axis=0) / math.sqrt(BLOCKS),
            "hits": len(hits)}


def quantiles(times, weights):
    """Of hits with weights."""
    if len(times) == 0:
        return np.full(len(QUANTILES), np.nan)
    order = np.argsort(times)
    shares = np.cumsum(weights[order].astype(float))
    return times[order][np.searchsorted(shares, np.array(QUANTILES) * shares[-1])]


def ratio(sums, truth):
    """The ratio of two sums and its error, by leaving out one block after the other."""
    whole = sums.sum() / truth.sum()
    others = (sums.sum() - sums) / (truth.sum() - truth)
    return whole, math.sqrt((BLOCKS - 1) * np.mean((others - others.mean())**2))


def row_of(found, truth):
    value, error = ratio(found["sums"], truth["sums"])
    late = found["times"] - truth["times"]
    return {"sum": value, "error": error, "bunching": found["bunching"], "t01": late[0], "t10": late[1], "t50": late[2],
            "t10_error": math.hypot(found["times_error"][1], truth["times_error"][1]),
            "t10_ratio": found["times"][1] / truth["times"][1], "hits": found["hits"]}


def write(rows, path):
    with open(path, "w", newline="", encoding="ascii") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
                        for row in rows)


def say(name, row):
    print(f"{name}  {row['sum']:.4f} +- {row['error']:.4f}  {row['bunching']:8.4f}  {row['t01']:+7.3f} {row['t10']:+7.3f} "
          f"{row['t50']:+7.3f}  {row['hits']:>9}", flush=True)


HEADING = "sum             bunching  later: 1 %    10 %    50 % (ns)  hits"


# ---- matrix --------------------------------------------------------------------------------------

def make_world(folder, lengths, distance):
    """Writes homogeneous ice (coefficients at 400 nm) and modules on a sphere, evenly spread."""
    with open(os.path.join(folder, "ice.yaml"), "w", encoding="ascii") as out:
        out.write(f"name: homogeneous\nmean_cosine: 0.9\nlayers: [[1948.07, {1 / lengths[0]}, {1 / lengths[1]}, 0]]\n")
    # Modules may not overlap at true size: each has a square of 1.3 diameters, and one photon should not hit too many.
    count = int(min(MOST, 4 * math.pi * (distance / (2.6 * RADIUS))**2, 2 * (distance / RADIUS)**2))
    with open(os.path.join(folder, "modules.csv"), "w", encoding="ascii") as out:
        out.write("string,module,x,y,z\n")
        for i in range(count):
            z = 1 - (2 * i + 1) / count
            across, turn = math.sqrt(1 - z * z), i * math.pi * (3 - math.sqrt(5))
            out.write(f"{i + 1},1,{distance * across * math.cos(turn):.5f},{distance * across * math.sin(turn):.5f},"
                      f"{distance * z:.5f}\n")
    return count


def photons_for(lengths, distance, count, hits):
    """How many photons make about this number of hits with F = 1, by diffusion and direct light."""
    scatter, absorb = lengths
    decay = math.sqrt(3 / absorb * (1 / absorb + 1 / scatter))
    fluence = 1 / (4 * math.pi * distance**2) * math.exp(-distance / absorb) if distance < scatter else \
        3 * (1 / scatter + 1 / absorb) / (4 * math.pi * distance) * math.exp(-decay * distance)
    return max(2e5, hits / (fluence * math.pi * RADIUS**2 * count))


def matrix(options):
    rows = []
    print(f"lambda_e    r  F  {HEADING}")
    for lengths, distances in ICE.items():
        for distance in distances:
            if options.cells and not {f"{lengths[0]}", f"{lengths[0]}/{distance}"} & set(options.cells.split(",")):
                continue
            count = make_world(options.folder, lengths, distance)
            photons = photons_for(lengths, distance, count, 1.2e5) * options.share
            truth = None
            for oversize in (1, 2, 5):
                found = numbers(run([options.program], options.folder, [
                    f"ice.file={options.folder}/ice.yaml", f"detector.file={options.folder}/modules.csv",
                    "light.acceptance=none", f"detector.radius={RADIUS}", "detector.keep_hit_photons=true",
                    f"detector.oversize={oversize}", "light.spectra=[{line: 400}]",
                    f"particles.list=[{{type: point, event: 1, x: 0, y: 0, z: 0, photons: {photons:.0f}, spectrum: 7}}]",
                    *options.set]))
                truth = truth or found
                rows.append({"lambda_e": lengths[0], "lambda_a": lengths[1], "r": distance, "F": oversize,
                             **row_of(found, truth), "photons": f"{photons:.0f}", "modules": count})
                say(f"{lengths[0]:8} {distance:4} {oversize:2}", rows[-1])
                write(rows, os.path.join(options.out, "oversize.csv"))


# ---- one's own case ------------------------------------------------------------------------------

def case(options):
    rows, truth = [], None
    settings = ["stages.detect=none", *options.set]
    print(f"F  {HEADING}")
    for oversize in options.F.split(","):
        found = numbers(run([options.program, options.case], options.folder, settings + [f"detector.oversize={oversize}"]))
        truth = truth or found
        rows.append({"F": oversize, **row_of(found, truth)})
        say(oversize, rows[-1])
    write(rows, os.path.join(options.out, "oversize.csv"))


# ---- picture -------------------------------------------------------------------------------------

def plot(options):
    from matplotlib import pyplot
    with open(options.case, encoding="ascii") as table:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(table)]
    lines = {}
    figure, (sums, times) = pyplot.subplots(1, 2, figsize=(9, 3.4))
    for color, lengths in zip(("tab:red", "tab:blue", "tab:green"), sorted({row["lambda_e"] for row in rows})):
        for style, oversize in (("--", 2), ("-", 5)):
            some = [row for row in rows if (row["lambda_e"], row["F"]) == (lengths, oversize)]
            r = [row["r"] for row in some]
            look = {"color": color, "linestyle": style, "marker": ".", "linewidth": 1}
            lines[f"{lengths:g} m, F = {oversize}"] = sums.errorbar(
                r, [100 * row["sum"] - 100 for row in some], [100 * row["error"] for row in some], **look)
            times.errorbar(r, [row["t10"] for row in some], [row["t10_error"] for row in some], **look)
    sums.set_yscale("symlog", linthresh=1)
    sums.set_yticks([-1, 0, 1, 3, 10, 30], ["-1", "0", "1", "3", "10", "30"])
    sums.set_ylabel("sum against F = 1 (%)")
    sums.legend(lines.values(), lines, title="scattering length", fontsize=7, title_fontsize=7)
    times.set_ylabel("10 % quantile later by (ns)")
    for axes in (sums, times):
        axes.set_xscale("log")
        axes.set_xlabel("distance (m)")
        axes.axhline(0, color="black", linewidth=0.5)
    figure.tight_layout()
    figure.savefig(options.out, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["matrix", "case", "plot"])
    parser.add_argument("case", nargs="?", help="a run file, or a table to plot")
    parser.add_argument("-F", default="1,2,5", help="values of detector.oversize, 1 first")
    parser.add_argument("-o", dest="out", default=".", help="folder of oversize.csv, or the picture")
    parser.add_argument("--share", type=float, default=1)
    parser.add_argument("--cells", default="", help="lambda_e or lambda_e/r, with commas")
    parser.add_argument("--program", default="build/release/icestream")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    if (options.what == "matrix") != (options.case is None):
        parser.error("case needs a run file, plot a table, and matrix takes none")
    if options.what == "plot":
        plot(options)
        return
    os.makedirs(options.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as options.folder:
        (matrix if options.what == "matrix" else case)(options)


if __name__ == "__main__":
    main()
