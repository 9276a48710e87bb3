#!/usr/bin/env python3
"""Promise: after kill -9 at any moment a run can continue, and the result is that of a run without
kills.

    kill_loop.py PROGRAM INJECT.SO [--kills 40] [--kills-of-one-run 8] [--seed 1]
                 [--run "ARGUMENTS"]

A run of some step files is killed and started again, with --resume, until it ends without a kill;
after a few kills it is not killed any more. Then the next run begins, until --kills is reached.
Half of the kills come after a random time (exponential: a Poisson process), the other half exactly
at the N-th call that changes a file or folder: before it, after it, or with half of its bytes
written (inject.c); half of those on a file system that cannot rename without replacing.

After every kill: a hit file with its final name equals that of the reference in every byte, a file
that was complete before has not been touched, summaries are complete, and journals have at most
one incomplete line per kill. At the end all files exist and nothing else is left. The number of
files that kills left without their final names is printed.

Files that are claimed from a folder (source.directory) are quarantined when several workers died
while they held them, so there a run must not be killed too often. To join: a new way to kill goes
into start_and_kill().
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from jobs import RUN, Job, environment, judge_end, read  # noqa: E402

SIZES = (20, 5, 60, 10, 150, 1, 30, 80, 3, 40)
CALLS = "open write sync rename truncate folder"


class Tally:
    def __init__(self):
        self.kills = self.by_call = self.starts = self.runs = self.files = self.parts = 0


def stamps(where):
    """Returns what changes when a hit file is written again: inode and time of each file."""
    folder = os.path.join(where, "hits")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    about = {name: os.stat(os.path.join(folder, name)) for name in names if name.endswith(".npy")}
    return {name: (it.st_ino, it.st_mtime_ns) for name, it in about.items()}


def broken_texts(where, kills):
    """Reports summaries that are no JSON, and more incomplete journal lines than kills."""
    found, cut = [], 0
    for root, _, names in os.walk(os.path.join(where, "hits")):
        for name in names:
            path = os.path.join(root, name)
            if name.endswith(".json") and not is_json(read(path)):
                found.append("%s is not JSON" % name)
            if name.endswith(".journal"):
                cut += sum(not is_json(line) for line in read(path).split(b"\n") if line)
    return found + (["%d lines of journals are cut" % cut] if cut > kills else [])


def is_json(data):
    try:
        json.loads(data)
        return True
    except ValueError:
        return False


def check(job, where, before, kills):
    """Reports what is wrong now; `before` are the stamps before the run."""
    found = job.wrong_files(where) + broken_texts(where, kills)
    now = stamps(where)
    again = [name for name in before if before[name] != now.get(name)]
    return found + ["%s was complete and is written again" % name for name in sorted(again)]


def run_once(job, where, env, seconds):
    """Runs until the end, or kills the run after `seconds`. Returns the exit status and the log."""
    resume = " --resume" if os.path.isdir(os.path.join(where, "hits")) else ""
    process = job.popen(where, job.run + resume, env=env, stderr=subprocess.PIPE)
    try:
        text = process.communicate(timeout=seconds)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[1]
    return process.returncode, text.decode("utf-8", "replace")


def start_and_kill(job, where, options, chance, mean, tally):
    """Starts a run that is meant to be killed. Returns whether it was, and what is wrong."""
    before = stamps(where)
    env, seconds = environment(), job.seconds
    if chance.random() < 0.5:
        seconds = chance.expovariate(1 / mean)
        what = "after %.3f s" % seconds
    else:
        env["LD_PRELOAD"] = options.inject
        env["FAULT_CALLS"] = CALLS
        env["FAULT_AT"] = str(chance.randrange(1, 12 * len(SIZES)))
        env["FAULT_WITHOUT"] = chance.choice(("", "renameat2"))
        env["FAULT_HOW"] = chance.choice(("kill", "kill-half", "kill-after"))
        what = "%(FAULT_HOW)s at call %(FAULT_AT)s" % env
    status, text = run_once(job, where, env, seconds)
    killed = status == -signal.SIGKILL
    tally.starts += 1
    tally.files += len(stamps(where)) - len(before)
    tally.kills += killed
    tally.by_call += killed and "FAULT_AT" in env
    tally.parts += len(job.left_over(where)) if killed else 0
    found = check(job, where, before, tally.kills)
    if not killed and status != 0:
        found.append("exit status %s: %s" % (status, text.strip()))
    return killed, ["%s: %s" % (what, fault) for fault in found]


def finish(job, where, tally):
    """The last start, which is not killed. Reports what is wrong."""
    before = stamps(where)
    outcome = job.start(where, job.run + " --resume")
    tally.files += len(stamps(where)) - len(before)
    found = judge_end(outcome) + check(job, where, before, tally.kills) + job.complete(where)
    if outcome.status != 0:
        found.append("exit status %s: %s" % (outcome.status, outcome.text.strip()))
    tally.runs += 1
    return ["at the end: " + text for text in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("inject")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--kills-of-one-run", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", default=RUN)
    options = parser.parse_args()
    options.inject = os.path.realpath(options.inject)
    chance = random.Random(options.seed)
    job = Job(options.program, SIZES, options.run)
    began = time.monotonic()
    where = job.fresh()
    job.start(where, job.run)
    mean = (time.monotonic() - began) / 2
    tally, failures = Tally(), 0
    while tally.kills < options.kills:
        where = job.fresh()
        killed, kills = True, tally.kills
        found = []
        while killed and not found and tally.kills - kills < options.kills_of_one_run:
            killed, found = start_and_kill(job, where, options, chance, mean, tally)
        found += finish(job, where, tally) if not found else []
        shutil.rmtree(where)
        failures += bool(found)
        for text in found:
            print("FAILED: run %d, %s" % (tally.runs, text), flush=True)
    job.close()
    print(
        "%d kills (%d at a call) of %d runs in %d starts: %d files completed once, "
        "%d begun and lost; %d failures"
        % (tally.kills, tally.by_call, tally.runs, tally.starts, tally.files, tally.parts, failures)
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
