#!/usr/bin/env python3
"""Measures what a session costs more than the program: the same steps, once as files and once as submissions.

    bench/session.py [--photons 1e9] [--submissions 200] [--repeat 3] [--program icestream] [--set KEY=VALUE]...

Each submission is one event, a short line of 400 steps somewhere in the detector. `icestream run` reads a step file for
each submission and writes a hit file; the session gets the same arrays and gives arrays. Both open their models and their
device within the measured time. Each measurement is a new process, and both kinds run in turns. The table in Markdown has
the CPU time of all threads, the wall time, and with a GPU the share of the wall time in which its kernels run. The time of
the kernels is that of the run, because the session has the same photons. Needs the Python package icestream
(docs/python.md). A busy machine changes wall times but hardly CPU times.
"""
import argparse
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import icestream
import numpy as np


def make_steps(submissions, photons):
    """Arrays of steps, one for each submission."""
    steps_each, random = 400, np.random.default_rng(1)
    tables = []
    for event in range(submissions):
        x, y, z = random.uniform(-400, 400, (3, 1))
        tables.append(icestream.steps(steps_each, x=x + np.arange(steps_each) * 0.01, y=y, z=z, event_id=event,
                                      photons=max(1, round(photons / submissions / steps_each))))
    return tables


def run_session(folder, settings):
    """Submits all step files of the folder and takes the hits. Prints the times and the number of hits as JSON."""
    tables = [np.load(path) for path in sorted(glob.glob(os.path.join(folder, "steps", "*.npy")))]
    cpu, wall = time.process_time(), time.monotonic()
    with icestream.Session({"run": {"seed": 1}}, settings=settings) as session:
        for table in tables:
            session.submit(table, lend=True)
        hits = sum(len(some) for some in session)
    print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall, "hits": hits}))


def run_program(program, folder, settings):
    """The same by `icestream run`: the times, the number of hits, and the seconds of the kernels of a GPU."""
    with open(os.path.join(folder, "run.yaml"), "w", encoding="utf-8") as file:
        file.write("run: {seed: 1}\nsource: {directory: steps}\n")
    sets = [text for pair in settings.items() for text in ("--set", "%s=%s" % pair)]
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([program, "run", "--quiet", "--force", "run.yaml", *sets], cwd=folder, check=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - wall
    with open(os.path.join(folder, "hits", "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": wall, "hits": summary["account"]["hits"],
            "kernels": (summary["device"]["gpu"] or {}).get("kernel_seconds")}


def measure(arguments, folder):
    """The measurements of both, in turns."""
    settings = dict(text.split("=", 1) for text in arguments.set)
    os.mkdir(os.path.join(folder, "steps"))
    for number, table in enumerate(make_steps(arguments.submissions, arguments.photons)):
        np.save(os.path.join(folder, "steps", "%06d.steps.npy" % number), table)
    found = {"run": [], "session": []}
    for _ in range(arguments.repeat):
        found["run"].append(run_program(arguments.program, folder, settings))
        again = [sys.executable, __file__, "--folder", folder, *("--set=" + text for text in arguments.set)]
        found["session"].append(json.loads(subprocess.run(again, stdout=subprocess.PIPE, check=True).stdout))
    return found


def report(found):
    """Prints the fastest of each, and how much more the session needs."""
    kernels = min((row["kernels"] for row in found["run"] if row["kernels"]), default=None)
    print("| by | CPU (s) | wall (s) | kernels of the wall time | hits |\n| --- | --- | --- | --- | --- |")
    best = {name: {key: min(row[key] for row in rows) for key in ("cpu", "wall")} for name, rows in found.items()}
    for name, rows in found.items():
        share = "%.1f %%" % (100 * kernels / best[name]["wall"]) if kernels else "-"
        print("| %s | %.3f | %.3f | %s | %d |" % (name, best[name]["cpu"], best[name]["wall"], share, rows[0]["hits"]))
    if len({row["hits"] for rows in found.values() for row in rows}) != 1:
        sys.exit("found other numbers of hits, expected the same")
    for key in ("cpu", "wall"):
        print("session / run, %s time: %.4f" % (key, best["session"][key] / best["run"][key]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photons", type=float, default=1e9)
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--program", default="icestream")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        run_session(arguments.folder, dict(text.split("=", 1) for text in arguments.set))
        return
    arguments.program = os.path.abspath(arguments.program) if os.sep in arguments.program else arguments.program
    with tempfile.TemporaryDirectory() as folder:
        report(measure(arguments, folder))


if __name__ == "__main__":
    main()
