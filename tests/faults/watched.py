#!/usr/bin/env python3
"""Promise: every good step file that is dropped into a watched folder has exactly one hit file.

    watched.py PROGRAM [--files 150] [--seconds 10] [--seed 1] [--run "ARGUMENTS"]

Another process drops files of several sizes at random times. Some are written in pieces with a
temporary name and then renamed, others are moved into the folder; 1 % are damaged; one file comes
a second time with another name, and one with the same name after it was done. In the end each good
file has one hit file, equal to the reference in every byte, and each bad file has a .reason in the
quarantine; nothing else is left; SIGTERM ends the service within 10 s with a documented exit
status. The 99th percentile of the latency from arrival to commit is printed. To join: a new way in
which files come goes into drop() of service.py.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time

sys.dont_write_bytecode = True
from jobs import Job, read  # noqa: E402
from service import WATCH, Plan, Service, feed, find_key, wait_until  # noqa: E402

SIZES = (5, 10, 20, 40, 80, 160, 320, 640)
LIMIT = 300  # s, for things that take seconds
ENDS = (143, 3)  # terminated; finished with files quarantined


def duplicate(plan):
    """Adds the first good file again, with another name."""
    name, data = next(file for file in plan.files if file[0] not in plan.bad)
    hits = name.replace(".steps.npy", ".hits.npy")
    plan.good["twin.hits.npy"] = plan.good[hits]
    plan.files.insert(len(plan.files) // 2, ("twin.steps.npy", data))
    return name, data, hits


def is_complete(plan, where):
    return not plan.missing(where) and not plan.without_reason(where)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--files", type=int, default=150)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", default=WATCH)
    options = parser.parse_args()
    job = Job(options.program, SIZES)
    where = job.fresh()
    os.makedirs(os.path.join(where, "in"))
    os.makedirs(os.path.join(where, "hits"))
    plan = Plan(job, options.files, options.seed)
    name, data, hits = duplicate(plan)
    found = []
    service = Service(job, where, options.run)
    feeder = multiprocessing.Process(
        target=feed, args=(where, plan.files, options.seconds, options.seed)
    )
    feeder.start()
    begun = time.monotonic()
    limit = LIMIT + options.seconds
    wait_until(lambda: is_complete(plan, where) or not service.is_running(), limit)
    feeder.join(LIMIT)
    took = time.monotonic() - begun
    # The same file again: whatever the service does with it, its hit file stays right.
    before = read(os.path.join(where, "hits", hits)) if not plan.missing(where) else b""
    feed(where, [(name, data)], 0.01, options.seed)
    last = [("last.steps.npy", data)]
    plan.good["last.hits.npy"] = plan.good[hits]
    feed(where, last, 0.01, options.seed)
    wait_until(lambda: is_complete(plan, where) or not service.is_running(), LIMIT)
    if before != plan.good[hits]:
        found.append("%s is missing or wrong after the limit" % hits)
    if not service.is_running():
        found.append("the service has ended: " + service.log_text()[-2000:])
    status, seconds = service.end()
    found += ["%s is missing" % it for it in plan.missing(where)]
    found += ["%s has no .reason" % it for it in plan.without_reason(where)]
    found += plan.wrong(where) + job.left_over(where)
    if status not in ENDS:
        found.append("exit status %s after SIGTERM, expected one of %s" % (status, ENDS))
    if seconds > 10:
        found.append("%.1f s from SIGTERM to the end, expected 10 at most" % seconds)
    summary = os.path.join(where, "hits", "summary.json")
    latency = find_key(json.loads(read(summary)), "p99") if os.path.exists(summary) else []
    if not latency:
        found.append("summary.json has no p99")
    print(
        "%d good, %d bad in %.1f s; %s; SIGTERM to end %.2f s, exit status %s"
        % (len(plan.good), len(plan.bad), took, latency, seconds, status)
    )
    return job.end(found)


if __name__ == "__main__":
    sys.exit(main())
