"""Fits the ice to LED flashers, 2 x 20 layers, from a wrong start; docs/reweighting.md describes it.

    python3 examples/fit_ice.py [--photons 1e6] [--folder FOLDER]

Ten flashers on a string shine into a ring of six strings, in an ice that the fit does not know. Their hits are the data. The
fit begins in an ice without layers, weights the hits of a simulation there with twice the light, and simulates again only where
the weights wear out. Modules are spheres of 0.8 m, so that few photons are enough.
"""
import argparse
import csv
import math
import os
import subprocess
import time

import icestream
import numpy
import yaml
from icestream import ice, ice_plot

LAYERS, THICKNESS, ORIGIN = 20, 10.0, 1948.07  # thickness (m) and depth of z = 0 (m)
CENTRES = THICKNESS * (numpy.arange(LAYERS) - (LAYERS - 1) / 2)  # z (m), the deepest first
START = numpy.repeat([[0.045], [0.012]], LAYERS, axis=1)  # be400 and adust400 (1/m)
KEYS = ("layers.scattering", "layers.adust400_per_m")
PROGRAM = os.environ.get("ICESTREAM_PROGRAM", "icestream")


def hidden():
    """The ice of the data: a layer of dust, clearer ice below, and steps between neighbours."""
    dust = numpy.exp(-0.5 * ((CENTRES - 25) / 18)**2)
    wave = 0.08 * numpy.sin(1.9 * numpy.arange(LAYERS))
    return numpy.array([0.040 * (1 + dust + wave - 0.2 * (CENTRES < -40)), 0.010 * (1 + 1.1 * dust + wave)])


def simulate(folder, name, table, seed, photons):
    """Runs the flashers in the ice of a table [be400, adust400], and returns the names of the run file and of the hits."""
    layers = [[float(ORIGIN - z), float(be), float(dust), 0.0] for z, be, dust in zip(CENTRES, *table)][::-1]
    medium = {"name": name, "mean_cosine": 0.9, "liu_fraction": 0.35, "alpha": 0.8986, "kappa": 1.0841, "absorption_a": 6954.1,
              "absorption_b": 6617.75, "layers": layers}
    flashers = [{"type": "point", "event": event, "x": 0, "y": 0, "z": float(z), "photons": photons, "spectrum": 3}
                for event, z in enumerate(numpy.linspace(-90, 90, 10), start=1)]
    run = {"run": {"seed": seed}, "ice": {"file": name + ".ice.yaml"}, "detector": {"file": "detector.csv", "radius": 0.8},
           "light": {"acceptance": "none"}, "device": {"math": "portable"}, "particles": {"list": flashers},
           "sink": {"directory": "."}}
    paths = [os.path.join(folder, name + ending) for ending in (".ice.yaml", ".yaml", ".hits.npy")]
    for path, content in zip(paths, (medium, run)):
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(content, file)
    for path in (paths[2], os.path.join(folder, "run.journal"), os.path.join(folder, "summary.json")):
        if os.path.exists(path):
            os.remove(path)
    done = subprocess.run([PROGRAM, "run", paths[1]], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return paths[1], paths[2]


def make_detector(folder):
    """Six strings at 25 m around the flashers, with a module every 5 m."""
    with open(os.path.join(folder, "detector.csv"), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["string", "module", "x", "y", "z"])
        for string in range(1, 7):
            angle = math.radians(60 * string)
            for module in range(1, 42):
                writer.writerow([string, module, round(25 * math.cos(angle), 4), round(25 * math.sin(angle), 4),
                                 5.0 * (21 - module)])


def fit(folder, photons):
    """The fit, and the logarithms of the factors that it should find."""
    made = []

    def fresh(x):
        began = time.time()
        config, path = simulate(folder, "simulated%d" % len(made),
                                START * numpy.exp(x).reshape(2, LAYERS), 100 + len(made), 2 * photons)
        flown = time.time()
        hits, gradient = icestream.load(path), ice.gradient(path, KEYS, config)
        made.append(hits.metadata["account"]["created"])
        print("simulation %d: %.3g photons, %d hits, %.0f s; derivatives %.0f s" %
              (len(made), made[-1], len(hits), flown - began, time.time() - flown),
              flush=True)
        return hits, gradient

    _, measured = simulate(folder, "hidden", hidden(), 1, photons)
    hits, gradient = fresh(numpy.zeros(2 * LAYERS))
    # Modules of all strings at the same height see the same, so they share a bin.
    bins = ice.Bins(hits, times=[0, 140, 180, 240, 340, 2000], by=("event_id", "module"), least=50)
    priors = [ice.gaussian(gradient.parameters, 0.7)] + [ice.smooth(gradient.parameters, 0.3, key) for key in KEYS]
    began = time.time()
    result = ice.fit(icestream.load(measured), hits, gradient, priors, bins=bins, scale=0.5, simulate=fresh, least_share=0.5)
    truth = numpy.log(hidden() / START).ravel()
    pulls = result.pulls(truth)
    for parameter, x, error, true, pull in zip(result.parameters, result.x, result.errors, truth, pulls):
        print("%-26s %.3f +- %.3f, true %.3f, pull %5.2f" %
              (parameter.name, math.exp(x), error * math.exp(x), math.exp(true), pull))
    print("fit: %.0f s with its simulations, %d steps; data: chi2 %.1f in %d bins; effective share %.2f" %
          (time.time() - began, result.iterations, numpy.sum(result.bin_pulls()**2), len(bins), result.share))
    print("pulls: chi2 %.1f of %d parameters, largest %.2f" % (result.pulls_chi2(truth), len(truth), abs(pulls).max()))
    # A fit without weights would compute the same light at each step once for the ice and once for each slope; this is counted,
    # not run.
    repeated = (1 + len(truth)) * sum(made)
    print("photons: %.3g; with a simulation for every slope of every step %.3g, %.0f times as many" %
          (sum(made), repeated, repeated / sum(made)))
    return result, truth, bins, hits, gradient


def main():
    """Fits, prints and draws."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photons", type=float, default=1e6, help="mean number of photons of a flasher in the data")
    parser.add_argument("--folder", default="fit_ice", help="for ice, hits and pictures")
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    make_detector(given.folder)
    result, truth, bins, hits, gradient = fit(given.folder, given.photons)
    pictures = {"profile": ice_plot.profile(result, truth), "pulls": ice_plot.pulls(result),
                "sensitivity": ice_plot.sensitivity(hits, gradient),
                "effective": ice_plot.effective(hits, bins, gradient, result.x)}
    for name, axes in pictures.items():
        axes.figure.savefig(os.path.join(given.folder, name + ".png"), dpi=130)


if __name__ == "__main__":
    main()
