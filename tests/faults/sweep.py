#!/usr/bin/env python3
"""Promise: whichever call fails, exit status, message and files are right, and a later run
continues.

    sweep.py PROGRAM INJECT.SO            a subset: N = 1 .. 60, then every 17th up to 500, then
                                          every 97th up to the last call
    sweep.py PROGRAM INJECT.SO --full     N = 1 .. 500, then every 17th up to the last call
    ... --only TEXT                       cases whose name (scene/family/how) contains it
    ... --at N                            only this call

The N-th call of a family is counted over the whole run (inject.c), so a sweep ends where a run
makes no more such calls. For each case, in its own folder:

- the run ends with a documented exit status that fits: 0 only if every hit file exists and is
  right; calls that are interrupted or short are repeated
- standard error names the file and the cause
- no hit file with its final name differs from the reference in a byte, and no .part is left
- afterwards a run with --resume and without faults exits with 0, and all files equal the reference

To join: a new kind of call gets a wrapper in inject.c and a line in HOWS and in expected().
"""

import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
from jobs import RUN, Job, judge_end  # noqa: E402

SIZES = (30, 50, 20)  # steps of the step files
WORKERS = 8  # most of them wait for a retry

# Errors that each family can meet. "short" is a transfer of half the bytes.
HOWS = {
    "open": ("EIO", "ENOSPC", "EINTR", "ENOMEM", "EMFILE", "EAGAIN", "ESTALE"),
    "read": ("EIO", "EINTR", "ENOMEM", "ESTALE", "EAGAIN", "short"),
    "write": ("ENOSPC", "EIO", "EINTR", "EAGAIN", "ESTALE", "short"),
    "sync": ("EIO", "ENOSPC", "EINTR", "ESTALE"),
    "rename": ("EIO", "ENOSPC", "ESTALE", "ENOMEM"),
    "truncate": ("EIO", "EINTR", "ESTALE"),
    "folder": ("EIO", "ENOSPC"),
    "thread": ("EAGAIN",),
}
TEXTS = {
    "EIO": "Input/output error",
    "ENOSPC": "No space left on device",
    "ENOMEM": "Cannot allocate memory",
    "EMFILE": "Too many open files",
    "EAGAIN": "Resource temporarily unavailable",
    "ESTALE": "Stale file handle",
}
REPEATED = ("EINTR", "short")
# A lack of these is an error of the process, not of a step file.
OURS = ("ENOMEM", "EMFILE")
# Files of libraries and of the system, which have defaults.
OPTIONAL = ("openssl.cnf",)


# ---- scenes --------------------------------------------------------------------------------------


class Scene:
    """A command on a prepared folder."""

    def __init__(self, name, command, prepare=lambda job, where: None):
        self.name, self.command, self.prepare = name, command, prepare


def half_done(job, where):
    """Prepares the files of a killed run: one is complete, one is cut, one has only a .part."""
    folder = os.path.join(where, "hits")
    os.mkdir(folder)
    names = sorted(job.reference)
    for name, size in ((names[0], None), (names[1], 1500), (names[2] + ".part", 700)):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(job.reference[name.replace(".part", "")][:size])


SCENES = (Scene("run", RUN), Scene("resume", RUN + " --resume", half_done))


# ---- cases ---------------------------------------------------------------------------------------


def numbers(last, full):
    """Returns the numbers of the calls that fail, from 1 to `last`."""
    whole, middle, step = (500, last, 17) if full else (60, 500, 17)
    chosen = set(range(1, min(last, whole) + 1))
    chosen |= set(range(whole, min(last, middle) + 1, step))
    chosen |= set(range(middle, last + 1, 97))
    return sorted(number for number in chosen if number >= 1)


def file_of(path):
    """Returns the name without .part and without the digits of the writer."""
    name = os.path.basename(path.rstrip("/"))
    return re.sub(r"(\.[0-9a-f]{8}|\.[0-9]+)?\.part$", "", name)


def expected(family, how, path):
    """Returns the exit statuses that fit; 0 is for a fault that was reported and tried again."""
    if how in REPEATED:
        return {0}
    if family == "thread":
        return {1}
    if path.endswith(OPTIONAL):
        return {0, 1}
    if path.endswith(".steps.npy") and family in ("open", "read"):
        return {0, 1} if how in OURS else {0, 3}
    if "hits" in path or "steps" in path:
        # Outputs, and claims in a shared folder.
        return {0, 1, 74} if how in OURS else {0, 74}
    return {1, 2}


def must_say(family, how, path, status):
    """Returns lists of texts; standard error must contain one text of each list."""
    if how in REPEATED or path.endswith(OPTIONAL):
        return []
    if family == "thread":
        return [(TEXTS[how],)]
    if "/.icestream/" in path:
        # The next heartbeat or scan repeats the work on leases, marks and claims.
        return [(TEXTS[how],)] if status != 0 else []
    return [(file_of(path),), (TEXTS[how],)]


def is_old_output(scene, family, call, path):
    """Whether the fault hit an old output. The run then makes it again without a message."""
    reads = family == "read" or (family == "open" and ".part" not in path)
    return scene.name == "resume" and reads and path.endswith(".hits.npy")


def is_second_name(family, path):
    """Whether the fault hit the second name of the hits of a file. The checkpoint then has the hits itself, and the run
    needs no message."""
    return family == "open" and path.endswith(".checkpoint.rows")


def judge_files(job, where, before, outcome):
    """Reports what is wrong with the files. If the run failed, faults of `before` may stay."""
    found = job.wrong_files(where) + job.left_over(where)
    if outcome.status == 0:
        return found + job.missing_files(where)
    return [text for text in found if text not in before]


def judge_case(job, scene, where, before, how, outcome):
    found = judge_end(outcome)
    faults = outcome.faults()
    # If an unlink fails, a .part may stay.
    if not faults or faults[0][1] != "folder":
        found += judge_files(job, where, before, outcome)
    if not faults:
        ended = outcome.status == 0
        return found + ([] if ended else ["exit status %s without a fault" % outcome.status])
    _, family, call, path = faults[0]
    fits = expected(family, how, path)
    if outcome.status not in fits and outcome.status is not None:
        found.append("exit status %d, expected %s" % (outcome.status, sorted(fits)))
    if not is_old_output(scene, family, call, path) and not is_second_name(family, path):
        for texts in must_say(family, how, path, outcome.status):
            if not any(text in outcome.text for text in texts):
                found.append("standard error lacks '%s'" % "' or '".join(texts))
    return found


def fault_of(inject, family, how, number):
    """Returns the environment in which the N-th call fails; 0: only count."""
    return {
        "LD_PRELOAD": inject,
        "FAULT_CALLS": family,
        "FAULT_HOW": how,
        "FAULT_AT": str(number),
    }


def run_case(job, scene, options, family, how, number):
    """Injects one fault and continues with --resume. Returns the outcome and what is wrong."""
    where = job.fresh()
    try:
        scene.prepare(job, where)
        before = job.wrong_files(where) + job.left_over(where)
        fault = fault_of(options.inject, family, how, number)
        outcome = job.start(where, scene.command, fault)
        found = judge_case(job, scene, where, before, how, outcome)
        again = job.start(where, job.run + " --resume")
        if again.status != 0:
            found.append("--resume: exit status %s: %s" % (again.status, again.text.strip()))
        found += ["after --resume, " + text for text in job.complete(where)]
        return outcome, found
    finally:
        shutil.rmtree(where)


# ---- the sweep -----------------------------------------------------------------------------------


def count_calls(job, scene, inject, family):
    where = job.fresh()
    scene.prepare(job, where)
    outcome = job.start(where, scene.command, fault_of(inject, family, "EIO", 0))
    shutil.rmtree(where)
    if outcome.status != 0 or outcome.counted() is None:
        raise SystemExit("calls cannot be counted: exit status %s" % outcome.status)
    return outcome.counted()


def list_cases(job, options):
    for scene in SCENES:
        for family, hows in HOWS.items():
            chosen = [how for how in hows if options.only in f"{scene.name}/{family}/{how}"]
            if not chosen:
                continue
            last = count_calls(job, scene, options.inject, family)
            if last == 0:
                continue
            # One call more than was counted, because threads may make a call more or less.
            which = [options.at] if options.at else numbers(last + 1, options.full)
            for how in chosen:
                for number in which:
                    yield scene, family, how, number


def report(name, outcome, found):
    print("FAILED: %s: %s" % (name, "; ".join(found)))
    faults = outcome.faults()
    if faults:
        number, family, call, path = faults[0]
        print("    fault %d: %s of %s (%s)" % (number, call, path, family))
    for line in outcome.text.splitlines()[-6:]:
        print("    | " + line, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("inject")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--at", type=int)
    options = parser.parse_args()
    options.inject = os.path.realpath(options.inject)
    job = Job(options.program, SIZES)
    tally = collections.defaultdict(collections.Counter)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        running = {}
        for case in list_cases(job, options):
            scene, family, how, number = case
            running[
                pool.submit(run_case, job, scene, options, family, how, number)
            ] = case
        for done in concurrent.futures.as_completed(running):
            scene, family, how, number = running[done]
            outcome, found = done.result()
            counts = tally["%s/%s/%s" % (scene.name, family, how)]
            counts["runs"] += 1
            counts["reached"] += bool(outcome.faults())
            counts["exit %s" % outcome.status] += 1
            if found:
                failures += 1
                report("%s/%s/%s at %d" % (scene.name, family, how, number), outcome, found)
    job.close()
    for name, counts in tally.items():
        print("%-24s %s" % (name, ", ".join("%s: %d" % item for item in sorted(counts.items()))))
    total = sum(counts["runs"] for counts in tally.values())
    reached = sum(counts["reached"] for counts in tally.values())
    print("%d faults, %d reached, %d failures" % (total, reached, failures))
    if reached == 0:
        print("no fault was reached: nothing was tested")
    return 1 if failures or reached == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
