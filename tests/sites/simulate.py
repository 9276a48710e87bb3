#!/usr/bin/env python3
"""A simulation of a production on many workers, for the numbers of docs/production.md.

    simulate.py [--workers N] [--files N] [--hours H] [--mtbf H] [--slow SHARE] [--slowness F] [--spread S]
                [--lease S] [--checkpoint S] [--kill-share P] [--seed N] [--json]

Workers take the next file, compute it, and ship its hits. Events are processed in the order of their times. What is
random: the cost of a file (log-normal around its mean), which workers are slow, when a worker fails (exponential),
whether it was killed in the middle of its file without a checkpoint being shipped, and how long a new worker takes to
come. A file of a lost worker is taken up again after the lease. Equal seeds give equal results.

What is printed: the time of the production; the ideal time, in which all workers compute without a pause; the work
that was done twice; the longest time that a file waited; and the time from the moment when 99 % of the files were done
to the end (the tail). tests/sites/test_simulate.py checks it against results that are known exactly.
"""
import argparse
import heapq
import json
import math
import random


def read_arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add = parser.add_argument
    add("--workers", type=int, default=500, help="workers at a time")
    add("--files", type=int, default=100000, help="step files")
    add("--seconds", type=float, default=300, help="mean time of a file on a worker (s)")
    add("--spread", type=float, default=0.05, help="standard deviation of the logarithm of the cost of a file")
    add("--overhead", type=float, default=1, help="start, fetch and ship of a file (s)")
    add("--slow", type=float, default=0.05, help="share of slow workers")
    add("--slowness", type=float, default=3, help="how many times as long slow workers take")
    add("--mtbf", type=float, default=48, help="mean time between failures of a worker (h); 0: none")
    add("--return-after", type=float, default=600, help="mean time until a new worker replaces a lost one (s)")
    add("--lease", type=float, default=60, help="time until a file of a lost worker is taken up again (s)")
    add("--checkpoint", type=float, default=0, help="time between shipped checkpoints (s); 0: none")
    add("--bad", type=float, default=0.0005, help="share of files that cannot be used")
    add("--attempts", type=int, default=3, help="attempts until a bad file is quarantined")
    add("--seed", type=int, default=1)
    add("--json", action="store_true")
    return parser.parse_args(words)


class Production:
    """The state: files that wait, workers, and events (time, number, function, arguments)."""

    def __init__(self, given):
        self.given, self.random = given, random.Random(given.seed)
        sigma = given.spread
        mean = given.seconds * math.exp(-sigma * sigma / 2)
        self.cost = [mean * math.exp(self.random.gauss(0, sigma)) for _ in range(given.files)]
        self.bad = {i for i in range(given.files) if self.random.random() < given.bad}
        self.waiting = list(range(given.files - 1, -1, -1))  # the next one is the last
        self.done_share = [0.0] * given.files
        self.attempts = [0] * given.files
        self.events, self.number = [], 0
        self.idle = []  # speeds of workers without a file
        self.ended, self.refused = [], 0  # times at which files ended, and how many were quarantined
        self.wasted = self.useful = 0.0  # worker seconds
        self.failures = 0

    def at(self, time, function, *arguments):
        self.number += 1
        heapq.heappush(self.events, (time, self.number, function, arguments))

    def slowness(self):
        return self.given.slowness if self.random.random() < self.given.slow else 1.0

    def take(self, time, slow):
        """A worker asks for a file."""
        if not self.waiting:
            self.idle.append(slow)
            return
        file = self.waiting.pop()
        self.attempts[file] += 1
        given = self.given
        if file in self.bad:  # it is refused when it is read
            self.at(time + given.overhead, self.refuse, file, slow)
            return
        length = given.overhead + self.cost[file] * (1 - self.done_share[file]) * slow
        lifetime = self.random.expovariate(1 / (3600 * given.mtbf)) if given.mtbf > 0 else math.inf
        if lifetime < length:
            self.at(time + lifetime, self.fail, file, slow, lifetime)
        else:
            self.at(time + length, self.finish, file, slow, length)

    def refuse(self, time, file, slow):
        self.wasted += self.given.overhead
        if self.attempts[file] < self.given.attempts:
            self.waiting.insert(0, file)
        else:
            self.refused += 1
            self.ended.append(time)
        self.take(time, slow)

    def finish(self, time, file, slow, length):
        self.useful += length
        self.ended.append(time)
        self.take(time, slow)

    def fail(self, time, file, slow, lifetime):
        """A worker is lost: what it did since its last shipped checkpoint is lost with it."""
        given = self.given
        self.failures += 1
        work = max(lifetime - given.overhead, 0.0)
        kept = work - work % given.checkpoint if given.checkpoint > 0 else 0.0
        self.wasted += lifetime - kept
        self.useful += kept
        self.done_share[file] += kept / (self.cost[file] * slow)
        self.at(time + given.lease, self.give_back, file)
        self.at(time + self.random.expovariate(1 / given.return_after), self.take, self.slowness())

    def give_back(self, time, file):
        self.waiting.append(file)
        if self.idle:
            self.take(time, self.idle.pop())

    def run(self):
        for _ in range(self.given.workers):
            self.at(0.0, self.take, self.slowness())
        while len(self.ended) < self.given.files:
            time, _, function, arguments = heapq.heappop(self.events)
            function(time, *arguments)
        return self.result()

    def result(self):
        given = self.given
        share = 1 - given.slow + given.slow / given.slowness  # speed of an average worker
        ideal = sum(cost for i, cost in enumerate(self.cost) if i not in self.bad) / given.workers / share
        almost = self.ended[math.ceil(0.99 * given.files) - 1]
        end = self.ended[-1]
        return {
            "hours": end / 3600,
            "ideal_hours": ideal / 3600,
            "efficiency": ideal / end,
            "tail_minutes": (end - almost) / 60,
            "done_twice": self.wasted / (self.wasted + self.useful),
            "failures": self.failures,
            "quarantined": self.refused,
            "files_per_second": given.files / end,
        }


def main():
    given = read_arguments()
    result = Production(given).run()
    if given.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name:17s} {value:.5g}")


if __name__ == "__main__":
    main()
