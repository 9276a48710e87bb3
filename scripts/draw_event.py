#!/usr/bin/env python3
"""Draws an event: the modules that were hit, coloured by the time of their first hit, sized by charge.

    scripts/draw_event.py HITS.npy MODULES.csv PICTURE.png

HITS.npy: a hit file with one event. MODULES.csv: what `icestream geometry` writes. Needs NumPy and matplotlib.
Made docs/event.png from the run in docs/event.yaml.
"""
import sys

import matplotlib
matplotlib.use("Agg")
import numpy  # noqa: E402 (matplotlib must choose its backend first)
from matplotlib import pyplot  # noqa: E402


def main(hits_file, modules_file, picture):
    hits = numpy.load(hits_file)
    modules = numpy.genfromtxt(modules_file, delimiter=",", names=True)
    keys = hits["string"].astype(int) * 65536 + hits["module"]
    found, index = numpy.unique(keys, return_inverse=True)
    charge = numpy.bincount(index, weights=hits["weight"])
    first = numpy.full(len(found), numpy.inf)
    numpy.minimum.at(first, index, hits["t"])
    rows = {int(m["string"]) * 65536 + int(m["module"]): i for i, m in enumerate(modules)}
    place = modules[[rows[key] for key in found]]

    figure = pyplot.figure(figsize=(9, 5.2), dpi=100)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    for string in numpy.unique(modules["string"]):
        line = modules[modules["string"] == string]
        axes.plot(line["x"], line["y"], line["z"], color="0.85", linewidth=0.5, zorder=0)
    dots = axes.scatter(place["x"], place["y"], place["z"], c=first, s=4 + 5 * charge ** 0.5, cmap="turbo_r",
                        edgecolors="none", alpha=0.85, zorder=1,
                        vmax=numpy.percentile(first, 97))
    axes.set(xlabel="x (m)", ylabel="y (m)", zlabel="z (m)")
    axes.set_box_aspect((1.15, 1.05, 0.9), zoom=1.12)
    axes.grid(False)
    axes.view_init(elev=14, azim=-68)
    figure.colorbar(dots, shrink=0.7, pad=0.1).ax.set_ylabel("first hit (ns)")
    figure.subplots_adjust(left=0, right=0.97, bottom=0.02, top=1.0)
    figure.savefig(picture, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
