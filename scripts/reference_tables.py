#!/usr/bin/python3
"""Compares photon tables with direct hits: the table of a source predicts the photons on test modules around it.

    scripts/reference_tables.py [--photons N] [options] [point] [cascade]

Every source has 100 test regions, which are blocks of bins of its table, and modules at random points in and around them.
For each of the independent batches the script makes one table (`icestream tabulate`) and one hit file (`icestream run`)
with other seeds and other positions of the modules. The table predicts the hits of a region by the normalisation of
docs/tabulate.md 1:

    hits per photon = modules / volume * pi R^2 F^2 * (sum over bins) * (length of a sample) / photons

R is the radius of a module and F its oversize. The volume is that in which the centres of the modules are uniform: the region
and a margin of F R. A hit counts if the light crosses the surface of its module, F times as wide across the light, within the
region. These points are uniform in the region for every direction of light, so the prediction has no error from the size
of bins or of modules. (Counting by centres would have small ones: light meets the front of a module, 2/3 R before the
centre on average, where less of it is absorbed; and the light varies over F R.)

The scatter of the batches gives the variance of hits minus prediction: it contains the positions
of the modules, the samples of one photon, which are not independent, and photons with several hits. The mean of a region
over B batches, divided by its error, has the distribution of Student's t with B - 1 degrees of freedom. Such a value is
turned into a standard normal one, and the sum of the squares over all regions is a chi-square. The same is done with
times: hits in 4 classes of distance and 8 groups of delay. The third test is the ratio of all hits to the prediction.

A correct program fails a test (p <= 1e-3) in 1 of 1000 runs: a source has three tests, so in 0.3 % of all runs.
Exit status 0: all p-values are above 1e-3; 1: one is not; 2: wrong arguments, or a program failed; 77: the ice is missing.

ICESTREAM         the program (icestream)
ICESTREAM_SHARED  the folder with ice (shared, next to the repository)
OPTIONS           further settings of all runs, such as "-s device.backend=cuda"
"""
import argparse
import json
import math
import os
import sys
import tempfile

from reference_parts import SHARED, call, chi_square_p

LEVEL = 1e-3
RADIUS = 0.16510  # of a module (m), detector.radius
C = 0.299792458  # m/ns
REGIONS = 100
NEAREST, FARTHEST = 20.0, 80.0  # distances of regions (m)
CLASSES = 4  # of distance
# Edges of groups of delay, as shares of the bins of that axis: 0, 10, 41, 91, 203, 411, 816, 1655 and 7000 ns.
GROUPS = [round(x * 105) / 105 for x in (0, 0.038, 0.076, 0.114, 0.171, 0.242, 0.341, 0.486, 1)]
# The shape of a table: bins of distance, azimuth, cosine and delay. All axes but the middle ones have power 2.
AXES = {"clsim": (580.0, (200, 36, 100, 105)), "coarse": (200.0, (40, 6, 20, 105))}
BLOCKS = {"clsim": (3, 4, 8), "coarse": (1, 1, 2)}
CASCADE = {"zenith": 60.0, "azimuth": 40.0}


def arguments():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--photons", type=float, default=3e6, help="photons of all hit files, and of all tables (3e6)")
    parser.add_argument("--batches", type=int, default=32, help="independent batches, at least 8 (32)")
    parser.add_argument("--modules", type=int, default=40, help="modules of each region (40)")
    parser.add_argument("--block", help="bins of a region along distance, azimuth and cosine (clsim 3,4,8; coarse 1,1,2)")
    parser.add_argument("--oversize", type=float, default=5)
    parser.add_argument("--axes", choices=AXES, default="clsim", help="clsim: 75.6 million bins, 0.7 GB (clsim)")
    parser.add_argument("--ice", default="spice_bfr-v2", help="a folder of ICESTREAM_SHARED/ice, or a built-in model")
    parser.add_argument("--full-ice", action="store_true", help="with tilt, anisotropy and birefringence, and whole azimuth")
    parser.add_argument("--electrons", action="store_true", help="photo-electrons, and tables with table.acceptance: detector")
    parser.add_argument("--energy", type=float, default=10, help="of each cascade (GeV); their number follows (10)")
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--scale", type=float, default=1, help="a factor on the prediction, to see the tests fail")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("sources", nargs="*", metavar="point|cascade")
    a = parser.parse_args()
    block = a.block.split(",") if a.block else BLOCKS[a.axes]
    a.sources = a.sources or ["point", "cascade"]
    if not set(a.sources) <= {"point", "cascade"} or a.batches < 8 or a.modules < 1 or len(block) != 3:
        parser.error("expected point or cascade, at least 8 batches, at least 1 module and 3 numbers of bins")
    a.block = [int(n) for n in block]
    a.directory = os.path.join(SHARED, "ice", a.ice)
    a.is_folder = os.path.isdir(a.directory)
    if a.ice.startswith("spice") and not a.is_folder:
        print(f"skipped: there is no folder {a.directory} (ICESTREAM_SHARED)")
        sys.exit(77)
    return a


# ---- statistics ------------------------------------------------------------------------------------------------------


def normal_of(t, degrees):
    """Turns values of Student's t into standard normal ones (D. L. Wallace, Ann. Math. Statist. 30 (1959) 1124)."""
    size = numpy.sqrt(degrees * numpy.log1p(t**2 / degrees)) * (8 * degrees + 1) / (8 * degrees + 3)
    return numpy.copysign(size, t)


def deviations(hits, predicted):
    """The standard normal deviations of the columns of two arrays (batch, column)."""
    difference = hits - predicted
    batches = len(difference)
    error = difference.std(axis=0, ddof=1) / math.sqrt(batches)
    return normal_of(difference.mean(axis=0) / error, batches - 1)


def joined(hits, predicted, fewest):
    """Joins all columns with fewer predicted hits than `fewest` to one column."""
    many = predicted.sum(axis=0) >= fewest
    pairs = []
    for x in (hits, predicted):
        rest = x[:, ~many].sum(axis=1, keepdims=True)
        pairs.append(numpy.hstack([x[:, many], rest]))
    keep = pairs[1].sum(axis=0) >= fewest
    return pairs[0][:, keep], pairs[1][:, keep]


# ---- sources and regions ---------------------------------------------------------------------------------------------


class Source:
    """Position, axes and settings of one source. A cascade has the vertex as its position."""

    def __init__(self, name, a, folder):
        self.name, self.a, self.folder = name, a, folder
        self.position = numpy.array([0.0, 0.0, -60.0])
        self.w = numpy.array([0.0, 0.0, 1.0])
        if name == "cascade":
            zenith, azimuth = math.radians(CASCADE["zenith"]), math.radians(CASCADE["azimuth"])
            horizontal = numpy.array([math.cos(azimuth), math.sin(azimuth), 0])
            self.w = -math.sin(zenith) * horizontal - math.cos(zenith) * numpy.array([0, 0, 1])
            self.u = numpy.array([0, 0, 1]) - self.w[2] * self.w
            self.u /= numpy.linalg.norm(self.u)
        else:
            self.u = numpy.array([1.0, 0.0, 0.0])
        self.v = numpy.cross(self.w, self.u)
        self.far, bins = AXES[a.axes]
        self.turn = 360.0 if a.full_ice else 180.0
        self.bins = (bins[0], bins[1] * (2 if a.full_ice else 1), bins[2], bins[3])

    def axes(self):
        r, azimuth, cosine, delay = self.bins
        return (f"[{{name: r, from: 0, to: {self.far}, bins: {r}, power: 2}}, "
                f"{{name: azimuth, from: 0, to: {self.turn}, bins: {azimuth}}}, "
                f"{{name: cosine, from: -1, to: 1, bins: {cosine}}}, "
                f"{{name: delay, from: 0, to: 7000, bins: {delay}, power: 2}}]")  # fmt: skip

    def list_of_cascades(self, count):
        path = f"{self.folder}/cascades.csv"
        with open(path, "w") as file:
            print("event,type,x,y,z,zenith,azimuth,energy,time", file=file)
            for event in range(count):
                print(event, "e", *self.position, *CASCADE.values(), self.a.energy, 0, sep=",", file=file)
        return path

    def light(self, photons):
        """The settings of about this number of photons."""
        if self.name == "point":
            steps = max(round(photons / 100), 1)
            return ["-s", "workload.kind=point", "-s", f"workload.position={self.position.tolist()}",
                    "-s", f"workload.steps={steps}", "-s", "workload.photons_per_step=100"]  # fmt: skip
        settings = ["-s", "particles.cascades=profile", "-s"]
        steps = f"{self.folder}/cascade.steps.npy"
        ten = self.list_of_cascades(10)
        call("generate", self.run_file(), *settings, f"particles.file={ten}", "-f", "-o", steps)
        each = numpy.load(steps)["photons"].sum() / 10
        return [*settings, f"particles.file={self.list_of_cascades(max(round(photons / each), 1))}"]

    def run_file(self):
        """Writes what the runs of a source have in common."""
        a, path = self.a, f"{self.folder}/run.yaml"
        if a.is_folder:
            ice = f"directory: {a.directory}"
            ice += ", tilt_origin: 3.0052, birefringence_subtraction: constant" if a.full_ice else (
                ", tilt: false, anisotropy: false, birefringence: false")  # fmt: skip
            ice += ", hole_ice: false"
        else:
            ice = f"model: {a.ice}"
        with open(path, "w") as file:
            print(f"device: {{ threads: {a.threads} }}\nice: {{ {ice} }}", file=file)
            print(f"detector: {{ file: modules.csv, oversize: {a.oversize}, crossing: disc, keep_hit_photons: true, efficiencies: none,\n"
                  "    axes: none, cables: none, voltages: none, om_conf: none, om_map: none }\n"
                  "light: { high_efficiency: none }\n"
                  "stages: { collide: cell-grid }", file=file)  # fmt: skip
        return path

    def choose_regions(self, random):
        """Blocks of bins: the first bin of distance, azimuth and cosine of each. No two blocks have a bin in common."""
        block = self.a.block
        regions = set()
        while len(regions) < REGIONS:
            r = NEAREST * (FARTHEST / NEAREST) ** random.random()
            first = [int(self.bins[0] * math.sqrt(r / self.far)), *(int(n * random.random()) for n in self.bins[1:3])]
            first = tuple(f // b * b for f, b in zip(first, block))
            if all(f + b <= n for f, b, n in zip(first, block, self.bins)) and self.has_margin(first):
                regions.add(first)
        return sorted(regions)

    def edges(self, region):
        """The edges of a region: distance (m), azimuth (rad), cosine."""
        ends = [numpy.array([f, f + b]) for f, b in zip(region, self.a.block)]
        return (self.far * (ends[0] / self.bins[0]) ** 2, math.radians(self.turn) / self.bins[1] * ends[1],
                2 * ends[2] / self.bins[2] - 1)  # fmt: skip

    def outer_edges(self, region):
        """The edges of a region with a margin of F R, or None if the margin contains the line of the source."""
        r, azimuth, cosine = self.edges(region)
        margin = RADIUS * self.a.oversize
        angle = math.asin(margin / r[0])
        polar = numpy.arccos(cosine)  # descending
        if polar[1] <= angle or polar[0] >= math.pi - angle:
            return None
        turn = math.asin(math.sin(angle) / numpy.sin(polar).min())
        out = numpy.array([-1, 1])
        return r + margin * out, azimuth + turn * out, numpy.cos(polar - angle * out)

    def has_margin(self, region):
        """Whether the margin stays on one side of the plane of the source, if both sides are in one bin."""
        edges = self.outer_edges(region)
        return edges is not None and (self.turn == 360 or 0 <= edges[1][0] and edges[1][1] <= math.pi)

    def volume(self, region):
        """The volume (m3) of a region with its margin, on both sides if they are in one bin."""
        r, azimuth, cosine = self.outer_edges(region)
        return (r[1] ** 3 - r[0] ** 3) / 3 * (azimuth[1] - azimuth[0]) * (cosine[1] - cosine[0]) * 360 / self.turn

    def points(self, region, count, random):
        """Points (count, 3) that are uniform in a region with its margin; their distances are stratified."""
        r, azimuth, cosine = self.outer_edges(region)
        share = (numpy.arange(count) + random.random(count)) / count
        distance = (r[0] ** 3 + (r[1] ** 3 - r[0] ** 3) * share) ** (1 / 3)
        phi = azimuth[0] + (azimuth[1] - azimuth[0]) * random.random(count)
        if self.turn == 180:
            phi *= random.choice([-1.0, 1.0], count)
        x = cosine[0] + (cosine[1] - cosine[0]) * random.random(count)
        across = numpy.sqrt(1 - x**2)
        unit = [(across * f(phi))[:, None] * axis for f, axis in ((numpy.cos, self.u), (numpy.sin, self.v))]
        return self.position + distance[:, None] * (unit[0] + unit[1] + x[:, None] * self.w)

    def are_inside(self, regions, index, points):
        """Whether each point (n, 3) is in the region of its index (n), without margin."""
        edges = numpy.array([self.edges(region) for region in regions])[index]
        p = points - self.position
        distance = numpy.linalg.norm(p, axis=1)
        phi = numpy.arctan2(p @ self.v, p @ self.u)
        phi = numpy.abs(phi) if self.turn == 180 else phi % (2 * math.pi)
        at = numpy.stack([distance, phi, p @ self.w / distance], axis=1)
        return numpy.all((at >= edges[:, :, 0]) & (at < edges[:, :, 1]), axis=1)


# ---- tables and hits -------------------------------------------------------------------------------------------------


def predict(source, regions, light, seed):
    """Hits per photon (region, group of delay) by a new table; the smallest group index; photons."""
    a, path = source.a, f"{source.folder}/table.npy"
    call("tabulate", source.run_file(), *light, "-s", f"run.seed={seed}", "-s", "stages.tabulate=spherical",
         "-s", f"table.axes={source.axes()}", "-s", f"table.azimuth={'full' if a.full_ice else 'half'}",
         "-s", "table.source=fixed", "-s", f"table.position={source.position.tolist()}",
         "-s", f"table.direction={source.w.tolist()}",
         "-s", f"table.acceptance={'detector' if a.electrons else 'none'}", "-f", "-o", path)  # fmt: skip
    facts = json.loads(call("table", "info", "--json", path))
    sums = numpy.load(path, mmap_mode="r")
    edges = [round(x * source.bins[3]) for x in GROUPS]
    edges[0], edges[-1] = -1, source.bins[3] + 1  # under- and overflow
    area = math.pi * (RADIUS * a.oversize) ** 2
    result = numpy.empty((len(regions), len(edges) - 1))
    for i, region in enumerate(regions):
        cut = tuple(slice(f + 1, f + b + 1) for f, b in zip(region, a.block))
        times = sums[cut].sum(axis=(0, 1, 2)) * 2.0**-32
        groups = [times[first + 1 : last + 1].sum() for first, last in zip(edges[:-1], edges[1:])]
        result[i] = numpy.array(groups) * (a.modules * area * facts["step_length"] / source.volume(region))
    del sums
    os.remove(path)
    weight = int(facts["weight"]["whole"]) + facts["weight"]["fraction"] * 2.0**-32
    return result * (a.scale / weight), facts["n_group"], int(facts["photons"])


def simulate(source, regions, light, seed, n_group):
    """Hits per photon (region, group of delay) by modules at random points of the regions; hits; photons."""
    a = source.a
    random = numpy.random.default_rng([a.seed, seed])
    places = place(source, regions, random)
    write_modules(source, places)
    hits_path, summary = f"{source.folder}/a.hits.npy", f"{source.folder}/summary.json"
    call("run", source.run_file(), *light, "-q", "-f", "-s", f"run.seed={seed}", "--summary", summary,
         "-s", f"stages.detect={'pe' if a.electrons else 'none'}", "-o", hits_path)  # fmt: skip
    hits = numpy.load(hits_path)
    with open(summary) as file:
        photons = json.load(file)["account"]["created"]
    region = hits["string"].astype(int) - 1
    points = crossings(hits, a.oversize) + places[region, hits["module"].astype(int) - 1]
    delay = hits["t"] - numpy.linalg.norm(points - source.position, axis=1) * n_group / C
    edges = [7000 * x**2 for x in GROUPS]
    group = numpy.clip(numpy.searchsorted(edges, delay, side="right") - 1, 0, len(edges) - 2)
    inside = source.are_inside(regions, region, points)
    counts = numpy.zeros((len(regions), len(edges) - 1))
    numpy.add.at(counts, (region[inside], group[inside]), 1)
    return counts / photons, numpy.count_nonzero(inside), photons


def crossings(hits, oversize):
    """Where light crosses the surface of its module, from the centre. Hits have it at true size: physics.md 8.3."""
    impact, n = (numpy.stack([hits[k].astype(float) for k in names], axis=1) for names in ("xyz", ("dx", "dy", "dz")))
    along = numpy.sum(impact * n, axis=1, keepdims=True) * n
    return along + oversize * (impact - along)


def place(source, regions, random):
    """Positions of modules (region, module, 3). Modules that touch are an error, so a region with one is drawn again."""
    places = []
    others = numpy.empty((0, 3))
    for region in regions:
        while True:
            points = source.points(region, source.a.modules, random)
            everything = numpy.vstack([others, points])
            distance = numpy.linalg.norm(points[:, None] - everything, axis=2)
            if numpy.count_nonzero(distance < 2.02 * RADIUS) == len(points):  # each is at distance 0 from itself
                break
        places.append(points)
        others = everything
    return numpy.array(places)


def write_modules(source, places):
    with open(f"{source.folder}/modules.csv", "w") as file:
        print("string,module,x,y,z", file=file)
        for i, row in enumerate(places):
            for k, (x, y, z) in enumerate(row):
                print(i + 1, k + 1, f"{x:.4f}", f"{y:.4f}", f"{z:.4f}", sep=",", file=file)


def judge(a, name, hits, predicted, photons, counted):
    """Prints the row of a source; returns whether it agrees. Arrays: (batch, region, group), regions by distance."""
    total = deviations(hits.sum(axis=(1, 2))[:, None], predicted.sum(axis=(1, 2))[:, None])[0]
    difference = hits.sum(axis=(1, 2)) - predicted.sum(axis=(1, 2))
    mean = predicted.sum() / len(predicted)
    ratio, error = 1 + difference.mean() / mean, difference.std(ddof=1) / math.sqrt(len(difference)) / mean
    p = [math.erfc(abs(total) / math.sqrt(2))]
    text = []
    classes = [numpy.array(c) for c in numpy.array_split(numpy.arange(REGIONS), CLASSES)]
    of_times = [numpy.stack([x[:, c].sum(axis=1) for c in classes], axis=1).reshape(len(x), -1) for x in (hits, predicted)]
    for pair in ((hits.sum(axis=2), predicted.sum(axis=2)), of_times):
        z = deviations(*joined(*pair, 25 * len(hits) / photons[1]))
        p.append(chi_square_p(float(numpy.sum(z**2)), len(z)))
        text.append(f"{numpy.sum(z**2):.1f} / {len(z)} | {p[-1]:.3g}")
    agrees = min(p) > LEVEL
    light = "photo-electrons" if a.electrons else "photons"
    print(f"| {name} | {light} | {photons[0]:.4g} | {photons[1]:.4g} | {counted} | {ratio:.4f} +- {error:.4f} | {p[0]:.3g} | "
          f"{text[0]} | {text[1]} | {'yes' if agrees else 'NO'} |", flush=True)  # fmt: skip
    return agrees


def compare(name, a, folder):
    source = Source(name, a, folder)
    regions = source.choose_regions(numpy.random.default_rng(a.seed))
    write_modules(source, source.position + numpy.array([[[20.0, 0, 0]]]))
    light = source.light(a.photons / a.batches)
    hits, predicted, photons, counted = [], [], [0, 0], 0
    for batch in range(a.batches):
        seed = 2000 * a.seed + batch
        table, n_group, of_table = predict(source, regions, light, seed + 1000)
        counts, rows, of_hits = simulate(source, regions, light, seed, n_group)
        hits.append(counts)
        predicted.append(table)
        photons = [photons[0] + of_table, photons[1] + of_hits]
        counted += rows
    return judge(a, name, numpy.array(hits), numpy.array(predicted), photons, counted)


def main():
    a = arguments()
    print("| source | hits are | photons of tables | of hits | hits | hits / table | p | chi-square of regions | p | "
          "chi-square of times | p | agrees |")  # fmt: skip
    print("|---" * 12 + "|", flush=True)
    agree = True
    for name in a.sources:
        with tempfile.TemporaryDirectory() as folder:
            agree &= compare(name, a, folder)
    sys.exit(0 if agree else 1)


try:
    import numpy
except ImportError:
    print("skipped: Python has no numpy")
    sys.exit(77)
if __name__ == "__main__":
    main()
