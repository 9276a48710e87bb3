#!/usr/bin/env python3
"""Measures whether speed has cliffs: photons per step, steps, modules, oversize and hits per photon.

    bench/scaling.py [--program icestream] [--set KEY=VALUE]... [--photons 1e9] [--points steps,modules]

Each point is a whole `icestream run`, from its start to its end, with steps that the run makes. The table in Markdown
has the wall time, the time per photon and per step without that of a run of one photon, and the time of the kernels of a
GPU. At the end the slowest point of each group is compared with the fastest one, and so is the slowest of all points that
have at least 100 photons per step. Every point runs --repeat times and its fastest run counts: the first one may
compile kernels. --photons: the number of photons of a point, 1e9 suits a GPU and 1e6 a CPU; a point has at most 2e7 steps
and at least one photon per step, so points with few photons per step have fewer photons. The files of a run are in the
folder of temporary files (TMPDIR), which should be in memory.

Before the table are two times of the run of one photon, from the start of the process, by the journal of the run: the
run begins, and the hits of its only batch are in their file. The second one is an upper limit of the time to the first
photon, because it has the end of the hit file in it. `--points ""` prints these times alone.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

STRINGS = {60: 1, 600: 10, 5160: 86, 100000: 1000, 1000000: 10000}


def write_modules(path, count):
    """Writes a list of upright strings, 100 m apart at the most, in a square of at most 4 km."""
    strings = STRINGS[count]
    per_string, side = count // strings, int(strings**0.5 + 0.9999)
    spacing, vertical = min(100.0, 4000.0 / side), min(17.0, 1000.0 / per_string)
    with open(path, "w") as file:
        file.write("string,module,x,y,z\n")
        for string in range(strings):
            x = (string % side - side / 2 + 0.5) * spacing
            y = (string // side - side / 2 + 0.5) * spacing
            for module in range(per_string):
                z = (per_string / 2 - module - 0.5) * vertical
                file.write("%d,%d,%.3f,%.3f,%.3f\n" % (string + 1, module + 1, x, y, z))


def points(photons, folder):
    """Yields the group, the name and the settings of each point."""
    for per_step in (1, 10, 100, 1000, 100000):
        steps = max(1, min(int(photons / per_step), 20000000))
        yield "steps", "%d photons per step" % per_step, steps, per_step, []
    for steps in (1000, 100000, 10000000, 20000000):
        steps = min(steps, int(photons))
        yield "counts", "%d steps" % steps, steps, max(1, int(photons / steps)), []
    for count in STRINGS:
        path = os.path.join(folder, "modules-%d.csv" % count)
        write_modules(path, count)
        yield "modules", "%d modules" % count, int(photons / 200), 200, ["detector.file=" + path]
    for oversize in (1, 2, 5, 10):
        settings = ["detector.oversize=%d" % oversize]
        yield "oversize", "oversize %d" % oversize, int(photons / 200), 200, settings
    # Light in a module gives many hits, light far below the detector few.
    for name, z, oversize in (("1e-6", -750, 1), ("2e-4", 0, 1), ("1e-2", 0, 7), ("0.1", 178, 2)):
        settings = ["workload.kind=point", "workload.position=[0, 0, %d]" % z]
        settings += ["detector.oversize=%d" % oversize]
        yield "hits", "%s hits per photon" % name, int(photons / 200), 200, settings


def fastest(options, steps, per_step, settings):
    """Runs one point some times. Returns the figures of the run that took the least time."""
    runs = [run(options, steps, per_step, settings) for _ in range(options.repeat)]
    return min(runs, key=lambda figures: figures["wall"])


def journal_times(folder, began):
    """Returns {event: time (s) after `began` (s since 1970)} of the events of a run of one step file."""
    times = {}
    with open(os.path.join(folder, "run.journal")) as file:
        for line in file:
            event = json.loads(line)
            moment = datetime.datetime.strptime(event["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
            times[event["event"]] = moment.replace(tzinfo=datetime.timezone.utc).timestamp() - began
    return times


def run(options, steps, per_step, settings):
    """Runs one point once. Returns its figures."""
    folder = tempfile.mkdtemp(prefix="icestream-scaling-")
    command = [options.program, "run", "-q", "--set", "sink.directory=" + folder]
    command += ["--set", "workload.steps=%d" % steps, "--set", "workload.photons_per_step=%d" % per_step]
    if not any(text.startswith("workload.kind=") for text in settings):
        settings = ["workload.kind=cascade", *settings]
    for text in settings + options.set:
        command += ["--set", text]
    began, began_at = time.monotonic(), time.time()
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    wall = time.monotonic() - began
    if done.returncode != 0:
        shutil.rmtree(folder)
        sys.exit("%s\nended with status %d:\n%s" % (" ".join(command), done.returncode, done.stderr))
    with open(os.path.join(folder, "summary.json")) as file:
        summary = json.load(file)
    times = journal_times(folder, began_at)
    shutil.rmtree(folder)
    account, device = summary["account"], summary["device"]
    gpu = device.get("gpu") or {}
    return {
        "wall": wall,
        "begins": times["start"],
        "committed": times["done"],
        "photons": account["created"],
        "hits": account["hits"],
        "bounces": account["bounces"],
        "kernels": gpu.get("kernel_seconds"),
        "schedule": device["schedule"],
    }


def compare(what, rows):
    """Prints the ratio of the slowest point to the fastest one."""
    best, worst = min(rows), max(rows)
    ratio = worst[0] / best[0] if best[0] > 0 else float("inf")
    print("%s: the slowest point is `%s`, %.2f times the fastest, `%s`" % (what, worst[1], ratio, best[1]))


def measure(options, folder):
    """Runs all points and prints their rows. Returns {group: [(time per photon, name, photons per step)]}."""
    one = fastest(options, 1, 1, [])
    common = one["wall"]
    print("The column `start` is the wall time of a run of one photon, which is subtracted in the columns `each`.")
    print("This run begins after %.3f s, has its hits in their file" % one["begins"], end=" ")
    print("after %.3f s, and ends after %.3f s.\n" % (one["committed"], common))
    columns = ("point", "photons", "hits per photon", "bounces", "start (s)", "wall (s)", "each photon (ns)")
    columns += ("each step (ns)", "kernels (ns)", "schedule")
    print("| %s |\n|%s" % (" | ".join(columns), " --- |" * len(columns)))
    groups = {}
    for group, name, steps, per_step, settings in points(options.photons, folder):
        if group not in options.points.split(","):
            continue
        # Set-up grows with the list of modules.
        start = fastest(options, 1, 1, settings)["wall"] if group == "modules" else common
        found = fastest(options, steps, per_step, settings)
        photons = found["photons"]
        seconds = max(found["wall"] - start, 0)
        each = 1e9 * seconds / photons
        kernels = "-" if found["kernels"] is None else "%.3f" % (1e9 * found["kernels"] / photons)
        row = (name, photons, found["hits"] / photons, found["bounces"] / photons, start, found["wall"])
        row += (each, 1e9 * seconds / steps, kernels, found["schedule"])
        print("| %s | %.3g | %.2g | %.3g | %.2f | %.2f | %.3f | %.3g | %s | %s |" % row, flush=True)
        groups.setdefault(group, []).append((each, name, per_step))
    return groups


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="icestream")
    parser.add_argument("--photons", type=float, default=1e9)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--points", default="steps,counts,modules,oversize,hits", metavar="A,B")
    parser.add_argument("--repeat", type=int, default=2, metavar="N")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="icestream-scaling-")
    groups = measure(options, folder)
    print()
    for group, rows in groups.items():
        compare(group, rows)
    large = [row for rows in groups.values() for row in rows if row[2] >= 100]
    if large:
        compare("all points with at least 100 photons per step", large)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
