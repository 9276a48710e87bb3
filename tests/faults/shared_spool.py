#!/usr/bin/env python3
"""Promise: several processes share one spool; although they are killed and stopped at random, every
step file is done, and hit files are right.

    shared_spool.py PROGRAM [--files 200] [--processes 4] [--seconds 20] [--seed 1]
                    [--lease 0.5] [--run "ARGUMENTS"]

While files are dropped into the shared folder, a process is killed (kill -9) and started again, or
stopped for longer than its lease (SIGSTOP, SIGCONT), at random times. In the end every good file
has one hit file that equals the reference in every byte, every bad file has a .reason, and fewer
than 5 % of the files were finished twice (by run.journal). Hit files are compared with the
reference after every disturbance. To join: a new kind of disturbance goes into Crew.disturb.
"""

import argparse
import collections
import multiprocessing
import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
from jobs import Job  # noqa: E402
from service import WATCH, Plan, Service, feed, journal_events, wait_until  # noqa: E402

SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560, 5120)
LIMIT = 300  # s, for things that take seconds
ENDS = (143, 3, 75)


class Crew:
    """The processes. Each has a worker's name, which it keeps when it is started again."""

    def __init__(self, job, where, options):
        self.job, self.where, self.options = job, where, options
        self.kills = self.stops = 0
        self.members = [self.start(index) for index in range(options.processes)]

    def start(self, index):
        command = "%s -s source.lease=%g -s source.worker=w%d --summary summary-%d.json" % (
            self.options.run,
            self.options.lease,
            index,
            index,
        )
        return Service(self.job, self.where, command, "worker-%d" % index)

    def disturb(self, chance):
        """Kills a process and starts it again, or stops one for longer than its lease."""
        index = chance.randrange(len(self.members))
        member = self.members[index]
        if chance.random() < 0.5:
            member.end(signal.SIGKILL)
            self.kills += 1
            self.members[index] = self.start(index)
        else:
            member.send(signal.SIGSTOP)
            time.sleep(self.options.lease * chance.uniform(1.5, 3))
            member.send(signal.SIGCONT)
            self.stops += 1

    def end(self):
        """Ends the processes by SIGTERM. Reports what is wrong with their ends."""
        found = ["a process has ended before" for it in self.members if not it.is_running()]
        for member in self.members:
            member.send(signal.SIGTERM)
        for member in self.members:
            status = member.wait()
            if status not in ENDS:
                last = member.log_text().strip().splitlines()[-3:]
                found.append("exit status %s after SIGTERM: %s" % (status, " | ".join(last)))
        return found


def count_repeated(where):
    """Returns how often files were finished again, how often they were claimed again, and how many
    files were finished."""
    events = journal_events(where)
    finished = collections.Counter(
        os.path.basename(event.get("file", "")) for event in events if event["event"] == "done"
    )
    again = sum(event["event"] == "claimed" and event.get("attempt", 1) > 1 for event in events)
    return sum(count - 1 for count in finished.values()), again, len(finished)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lease", type=float, default=0.5)
    parser.add_argument("--run", default=WATCH)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    job = Job(options.program, SIZES)
    where = job.fresh()
    os.makedirs(os.path.join(where, "in"))
    os.makedirs(os.path.join(where, "hits"))
    plan = Plan(job, options.files, options.seed)
    crew = Crew(job, where, options)
    feeder = multiprocessing.Process(
        target=feed, args=(where, plan.files, options.seconds, options.seed)
    )
    feeder.start()
    found = []
    end = time.monotonic() + options.seconds
    while time.monotonic() < end and not found:
        time.sleep(chance.expovariate(1 / 0.5))
        crew.disturb(chance)
        found += plan.wrong(where)
    feeder.join(LIMIT)
    wait_until(lambda: not plan.missing(where) and not plan.without_reason(where), LIMIT)
    found += crew.end()
    found += ["%s is missing" % name for name in plan.missing(where)]
    found += ["%s has no .reason" % name for name in plan.without_reason(where)]
    found += plan.wrong(where) + job.left_over(where)
    twice, again, finished = count_repeated(where)
    if finished == 0:
        found.append("run.journal has no file that was done")
    if twice >= 0.05 * len(plan.good):
        found.append("%d files were finished twice, expected fewer than 5 %%" % twice)
    if crew.kills == 0 or crew.stops == 0:
        found.append("too short: %d kills, %d stops" % (crew.kills, crew.stops))
    print(
        "%d good, %d bad, %d processes: %d kills, %d stops; %d files finished twice, %d begun again"
        % (len(plan.good), len(plan.bad), options.processes, crew.kills, crew.stops, twice, again)
    )
    return job.end(found)


if __name__ == "__main__":
    sys.exit(main())
