#!/usr/bin/env python3
"""Promise: with many small files over a long time, memory and file descriptors of a service do not
grow, and a service without work uses almost no CPU time.

    soak.py PROGRAM [--files 20000] [--minutes 30] [--idle 30] [--slope 1]

The files are dropped into a watched folder over the whole time; afterwards the service has no work
for --idle seconds, in which it may use 1 % of a core, and is then ended by SIGTERM. Resident memory
and open descriptors are sampled all the time. After a warm-up (the first fifth) memory must not
grow by more than --slope MB/h, and descriptors not at all (medians of the second and the last
fifth). In less than ten minutes a slope is noise: then it is only printed, and memory must stay
within 8 MB. To join: a new limit goes into Samples.judge.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True
from jobs import Job  # noqa: E402
from service import Plan, Service, feed, wait_until  # noqa: E402

SIZES = (1, 2, 4, 8, 16)
LIMIT = 600  # s, for things that take seconds
NOISE = 8 << 20


class Samples:
    """Times, resident bytes and descriptors of a process."""

    def __init__(self):
        self.rows = []

    def take(self, service):
        try:
            row = (time.monotonic(), service.resident_bytes(), service.descriptors())
        except (OSError, IndexError):
            return  # the process has ended
        if row[1] > 0:
            self.rows.append(row)

    def fifth(self, which, column):
        """Median of a column over a fifth of the samples."""
        size = len(self.rows) // 5
        rows = self.rows[which * size : (which + 1) * size]
        return statistics.median(row[column] for row in rows)

    def slope(self):
        """Growth of resident memory after the warm-up, bytes per second, by least squares."""
        rows = self.rows[len(self.rows) // 5 :]
        return statistics.linear_regression([r[0] for r in rows], [r[1] for r in rows]).slope

    def judge(self, limit, held):
        """Reports what is wrong. `limit` is a slope (MB/h), which counts from `held` seconds on."""
        if len(self.rows) < 25:
            return ["only %d samples: more files or more time are needed" % len(self.rows)]
        seconds = self.rows[-1][0] - self.rows[0][0]
        slope = self.slope() * 3600 / 1e6
        growth = self.fifth(4, 1) - self.fifth(1, 1)
        descriptors = [self.fifth(which, 2) for which in (1, 4)]
        print(
            "%d samples in %.0f s: %.1f MB resident, slope %+.2f MB/h, %d descriptors"
            % (len(self.rows), seconds, self.rows[-1][1] / 1e6, slope, descriptors[1])
        )
        found = []
        if seconds >= held and slope > limit:
            found.append("memory grows by %.2f MB/h, expected %.2f at most" % (slope, limit))
        if seconds < held and growth > NOISE:
            found.append("memory has grown by %.1f MB" % (growth / 1e6))
        if abs(descriptors[1] - descriptors[0]) > 1:
            found.append("%d descriptors have become %d" % tuple(descriptors))
        return found


def sample_until(service, samples, condition, seconds, period):
    """Samples until the condition holds, the service ends, or the time is over."""
    end = time.monotonic() + seconds
    while service.is_running() and time.monotonic() < end and not condition():
        samples.take(service)
        time.sleep(period)


def end_checked(service, seconds=10):
    """Ends the service by SIGTERM. Reports what is wrong with its end."""
    status, took = service.end()
    print("SIGTERM to end: %.2f s, exit status %s" % (took, status))
    found = []
    if status != 143:
        found.append("exit status %s after SIGTERM, expected 143" % status)
    if took > seconds:
        found.append("%.1f s from SIGTERM to the end, expected %d at most" % (took, seconds))
    return found


def soak(job, where, plan, options):
    os.makedirs(os.path.join(where, "in"))
    os.makedirs(os.path.join(where, "hits"))
    seconds = options.minutes * 60
    samples = Samples()
    service = Service(job, where)
    feeder = multiprocessing.Process(target=feed, args=(where, plan.files, seconds, 1))
    feeder.start()
    period = min(1.0, seconds / 300)
    sample_until(service, samples, lambda: not feeder.is_alive(), seconds + LIMIT, period)
    feeder.join(LIMIT)
    found = samples.judge(options.slope, 600)
    if not wait_until(lambda: not plan.missing(where), LIMIT):
        found.append("%d hit files are missing" % len(plan.missing(where)))
    found += plan.wrong(where)
    if not service.is_running():
        return found + ["the service has ended: " + service.log_text()[-2000:]]
    before = service.cpu_seconds()
    time.sleep(options.idle)
    share = (service.cpu_seconds() - before) / options.idle
    print("idle: %.2f %% of a core over %.0f s" % (100 * share, options.idle))
    if share > 0.01:
        found.append("an idle service uses %.1f %% of a core" % (100 * share))
    return found + end_checked(service) + job.left_over(where)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=0.5)
    parser.add_argument("--idle", type=float, default=30.0)
    parser.add_argument("--slope", type=float, default=1.0)
    options = parser.parse_args()
    job = Job(options.program, SIZES)
    where = job.fresh()
    plan = Plan(job, options.files, 1, bad_share=0)
    return job.end(soak(job, where, plan, options))


if __name__ == "__main__":
    sys.exit(main())
