#!/usr/bin/env python3
"""Measures a configuration with a part of the work and without it, and prints the ratio of the times per bounce.

    bench/impact.py PART [--repeats N] [OPTIONS OF icestream bench] [CONFIG]

PART is tilt, anisotropy, birefringence, hole-ice or collide; on a GPU also random or divergence, which other kernels leave
out (icestream-lab speed --without). docs/performance.md explains what the ratios say.
"""
import json
import os

import benchmarks
from benchmarks import Fault

# How the second run does without a part, and in words. Modules with a radius of 1 mm are near no segment: the kernel looks for
# candidates and finds none.
CHANGES = {
    "tilt": ("ice.tilt=false", "ice.tilt is false"),
    "anisotropy": ("ice.anisotropy=false", "ice.anisotropy is false"),
    "birefringence": ("ice.birefringence=false", "ice.birefringence is false"),
    "hole-ice": ("ice.hole_ice=false", "ice.hole_ice is false"),
    "collide": ("detector.radius=0.001", "detector.radius is 1 mm"),
}
KERNELS = {
    "random": "the kernels multiply a number by a constant for each random word of a bounce; these photons are for timing only",
    "divergence": "the threads of a warp have copies of one photon; these photons are for timing only",
}


def cost(row):
    """The time per bounce (ns) of a row of bench: of kernels on a GPU, of a thread on a CPU."""
    return row["gpu"]["nanoseconds_per_bounce"] if "gpu" in row else row["nanoseconds_per_bounce_and_thread"]


def pair(one, other):
    return {"name": one["name"], "threads": one["threads"], "nanoseconds_per_bounce": cost(one),
            "nanoseconds_per_bounce_without": cost(other), "ratio": cost(one) / cost(other) if cost(other) > 0 else 0.0,
            "bounces_per_photon": one["bounces_per_photon"], "bounces_per_photon_without": other["bounces_per_photon"]}


def schedules(given, values):
    """The schedules, and not auto, which would remember the times of kernels that leave something out."""
    names = benchmarks.schedules_of(given, values)
    if "auto" in names:
        raise Fault(f"impact {given.part}: found --schedules with auto, which chooses one of the others; expected their names")
    return ",".join(names)


def work(given):
    values = benchmarks.effective(given)
    if values["stages.tabulate"] != "none":
        raise Fault("impact: found stages.tabulate, whose table has one kernel and no hits; expected --set stages.tabulate=none")
    words = [*benchmarks.settings(given), *(["--repeats", given.repeats] if given.repeats else [])]
    if given.part in KERNELS:
        words += ["--schedules", schedules(given, values)]
        other, change = [given.lab, "speed", *words, "--without", given.part], KERNELS[given.part]
    else:
        words += ["--schedules", given.schedules] if given.schedules else []
        setting, change = CHANGES[given.part]
        other = [given.program, "bench", *words, "--set", setting]
    without = benchmarks.measure(other, given)
    full = benchmarks.measure([given.program, "bench", *words], given)
    pairs = list(zip(full["rows"], without["rows"]))
    if given.part in CHANGES and all(one[key] == two[key] for one, two in pairs for key in ("bounces", "hits")):
        raise Fault(f"impact {given.part}: found the same bounces and hits with it and without it, expected a configuration that "
                    "has it")
    rows = [pair(one, two) for one, two in pairs]
    if given.json:
        print(json.dumps({"impact": given.part, "change": change, "steps": full["steps"], "photons": full["photons"], "rows": rows},
                         indent=2))
        return
    name = "without " + given.part
    benchmarks.print_table(["schedule", "threads", "ns/bounce", name, "ratio", "bounces/photon", name],
                           [[row["name"], str(row["threads"]), f"{row['nanoseconds_per_bounce']:.4g}",
                             f"{row['nanoseconds_per_bounce_without']:.4g}", f"{row['ratio']:.3f}", f"{row['bounces_per_photon']:.2f}",
                             f"{row['bounces_per_photon_without']:.2f}"] for row in rows], given.table)
    print(f"\n{name}: {change}.")


def parse():
    parser = benchmarks.options(__doc__, [*CHANGES, *KERNELS])
    parser.add_argument("--repeats", metavar="N", help="how often each schedule is measured; the best counts")
    parser.add_argument("--lab", default=os.environ.get("ICESTREAM_LAB", "icestream-lab"), help="icestream-lab, or where it was built")
    return parser.parse_args()


if __name__ == "__main__":
    benchmarks.main(work, parse())
