#!/usr/bin/env python3
"""Promise: a run that is ended in the middle of a step file continues there. The hit file has the
bytes of a run that was never ended, and at most 5 % of the photons are computed twice.

    interrupted.py PROGRAM [--interruptions 50] [--photons 60000000] [--seed 1]
                   [--checkpoint 0.02]

One step file is computed, and the run is ended at random moments, in turn by SIGKILL, SIGINT and
--time-limit, until the hit file is complete. If it is complete too early, it is compared and
removed, and a new round begins. `--checkpoint off` shows what would be lost without checkpoints. The photons that were computed are counted: a run that ends in order
writes them into its summary. A run that is killed reports its progress just before (SIGUSR1); all
photons that can have been computed since then count as well, so the number is an upper limit. To
join: a new way to end a run goes into interrupt().
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from jobs import environment, read  # noqa: E402

THREADS, BATCH = 2, 5000
SETTINGS = ["-s", "device.backend=cpu", "-s", "device.threads=%d" % THREADS]
SETTINGS += ["-s", "graph.batch=%d" % BATCH]
PHOTONS_PER_STEP = 200
STATUS = {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130, None: 75}


class Run:
    """A run whose log is read by a thread."""

    def __init__(self, program, where, *options):
        self.where, self.events = where, []
        self.begun, self.reported = threading.Event(), threading.Event()
        command = [program, "run", "--log", "json", *SETTINGS, "-s", "sink.directory=hits", *options]
        self.process = subprocess.Popen(
            command, cwd=where, env=environment(), stderr=subprocess.PIPE, text=True
        )
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            if not line.startswith("{"):
                continue  # the last words of the program
            event = json.loads(line)
            self.events.append(event)
            if "device: " in event.get("reason", ""):
                self.begun.set()
            if event["event"] == "progress":
                self.reported.set()
        self.begun.set()
        self.reported.set()

    def end(self):
        """Waits for the end. Returns the exit status."""
        status = self.process.wait()
        self.reader.join()
        return status

    def progress(self):
        """Returns the photons of the last report."""
        found = [event["photons"] for event in self.events if event["event"] == "progress"]
        return found[-1] if found else 0

    def summary(self):
        return json.loads(read(os.path.join(self.where, "hits", "summary.json")))


def interrupt(program, where, way, moment):
    """Starts a run and ends it. Returns the photons that it computed, and its exit status."""
    limit = ["--time-limit", "1"] if way is None else []
    run = Run(program, where, *limit)
    run.begun.wait()
    if way is not None:
        time.sleep(moment)
    if way == signal.SIGKILL:
        run.process.send_signal(signal.SIGUSR1)
        run.reported.wait()
    if way is not None and run.process.poll() is None:
        run.process.send_signal(way)
    status = run.end()
    if status != -signal.SIGKILL:
        return run.summary()["account"]["created"], status
    # Batches that came back since the report, and those that were being computed.
    return run.progress() + 2 * THREADS * BATCH, status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--interruptions", type=int, default=50)
    parser.add_argument("--photons", type=int, default=60000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", default="0.02", help="sink.checkpoint")
    options = parser.parse_args()
    SETTINGS.extend(["-s", "sink.checkpoint=" + options.checkpoint])
    program, numbers = os.path.realpath(options.program), random.Random(options.seed)
    where = tempfile.mkdtemp(prefix="icestream-interrupted-")
    steps = options.photons // PHOTONS_PER_STEP
    made = ["generate", "-s", "workload.steps=%d" % steps, "-o", "steps/a.steps.npy"]
    os.mkdir(os.path.join(where, "steps"))
    subprocess.run([program, *made], cwd=where, env=environment(), check=True)
    hits = os.path.join(where, "hits")
    began = time.monotonic()
    reference = Run(program, where)
    status = reference.end()
    seconds = time.monotonic() - began
    photons = reference.summary()["account"]["created"]
    expected = read(os.path.join(hits, "a.hits.npy"))
    shutil.rmtree(hits)
    failures = ["the reference ended with %d" % status] if status != 0 else []
    computed, rounds, counts = 0, 0, {}
    ways = [signal.SIGKILL, signal.SIGINT, None]
    while sum(counts.values()) < options.interruptions or os.path.exists(hits):
        done = sum(counts.values()) >= options.interruptions
        way = ways[sum(counts.values()) % 3]
        moment = numbers.uniform(0.0, min(1.5, 0.5 * seconds))
        if done:
            run = Run(program, where)
            status = run.end()
            created = run.summary()["account"]["created"]
        else:
            created, status = interrupt(program, where, way, moment)
        computed += created
        left = os.listdir(hits)
        if status == 0:
            rounds += 1
            if read(os.path.join(hits, "a.hits.npy")) != expected:
                failures.append("round %d: other hits than those of the undisturbed run" % rounds)
            if "a.hits.npy.checkpoint" in left:
                failures.append("round %d: the checkpoint is left" % rounds)
            shutil.rmtree(hits)
        elif done or status != STATUS[way]:
            failures.append("exit status %d after %s" % (status, way))
            break
        else:
            name = way.name if way is not None else "time limit"
            counts[name] = counts.get(name, 0) + 1
    shutil.rmtree(where)
    repeated = 100.0 * (computed - rounds * photons) / (rounds * photons) if rounds > 0 else 100.0
    if repeated > 5.0:
        failures.append("%.2f %% of the photons are computed twice, expected at most 5" % repeated)
    for text in failures:
        print("FAILED: " + text)
    print(
        "%s: %d rounds of %d photons, %d hits each; at most %d photons computed: %.2f %% twice"
        % (
            ", ".join("%d by %s" % (count, name) for name, count in counts.items()),
            rounds,
            photons,
            (len(expected) - 1024) // 64,
            computed,
            repeated,
        )
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
