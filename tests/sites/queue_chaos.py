#!/usr/bin/env python3
"""Promise: workers of a queue that share no folder lose no step file, whatever is disturbed: workers (kill -9), workers
that are stopped for longer than their lease, the broker (kill -9), clocks (steps of an hour), and connections, which a
proxy cuts, delays and swallows. All hit files equal those of an undisturbed run, and exactly the damaged step files are
dead letters.

    queue_chaos.py ICESTREAM [--workers 3] [--files 24] [--damaged 2] [--kills 4] [--stops 1] [--broker-kills 2]
                             [--clocks 2] [--steps 2000] [--lease 2] [--seed 1] [--limit 300]

The disturbances are spread over the work: each one happens when its share of the tickets is done. It starts a real
redis-server. Exit status 77: there is none. To join: one more kind of disturbance in disturb().
"""
import argparse
import filecmp
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from chaos_parts import Clock, Proxy, free_port  # noqa: E402

CONFIGURATION = """
source: {{ queue: "redis://127.0.0.1:{port}/chaos", watch: true, scan: 0.2, lease: {lease}, attempts: 100, worker: {name} }}
sink: {{ directory: hits-{name} }}
device: {{ backend: cpu, threads: 1 }}
"""
PASSWORD = "known-secret-of-the-queue"


class Production:
    def __init__(self, given, seed):
        self.given, self.seed, self.random = given, seed, random.Random(seed)
        self.port, self.workers, self.started = free_port(), {}, 0
        self.faults, self.broker = [], None
        self.clocks = {"workers": Clock("clock-workers"), "broker": Clock("clock-broker")}
        self.proxy = Proxy(self.port, seed, cut=0.01, late=0.005, drop=0.002)
        self.proxy.start()

    # ---- what runs -------------------------------------------------------------------------------

    def environment(self, clock=None):
        steps = self.clocks[clock].environment() if clock and self.given.clocks else {}
        return {**os.environ, "ICESTREAM_QUEUE_PASSWORD": PASSWORD, **steps}

    def start_broker(self):
        self.broker = subprocess.Popen(
            ["redis-server", "-"], stdin=subprocess.PIPE, text=True, env=self.environment("broker"),
            stdout=subprocess.DEVNULL)
        self.broker.stdin.write('port %d\nbind 127.0.0.1\nsave ""\nappendonly yes\nappendfsync everysec\ndir "%s"\n'
                                'logfile "%s"\nrequirepass "%s"\n' % (
                                    self.port, os.path.abspath("broker"), os.path.abspath("broker.log"), PASSWORD))
        self.broker.stdin.close()
        while True:
            assert self.broker.poll() is None, "the broker ended"
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    def icestream(self, *words):
        return subprocess.run([self.given.icestream, *words], capture_output=True, text=True, check=False,
                              env=self.environment())

    def start_worker(self):
        self.started += 1
        name = "w%d" % self.started
        with open(name + ".yaml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.proxy.port, name=name, lease=self.given.lease))
        with open(name + ".log", "w", encoding="utf-8") as log:
            self.workers[name] = subprocess.Popen([self.given.icestream, "run", "-q", name + ".yaml"], stderr=log,
                                                  stdout=log, env=self.environment("workers"))

    def put(self):
        put = self.icestream("put", *sorted(glob.glob("../steps/*.npy")), "--queue", "redis://127.0.0.1:%d/chaos" % self.proxy.port)
        assert put.returncode == 0, put.stderr

    def status(self):
        report = self.icestream("status", "--json", "redis://127.0.0.1:%d/chaos" % self.port)
        return json.loads(report.stdout) if report.returncode == 0 else None

    def ended(self):
        """Returns the numbers of tickets that are done, and that are dead; None: the broker does not answer."""
        words = ("AUTH " + PASSWORD, "HLEN chaos:done", "XLEN chaos:dead")
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as broker, broker.makefile("r") as answers:
                broker.sendall(("\r\n".join(words) + "\r\n").encode())
                lines = [answers.readline() for _ in words]
            return int(lines[1][1:]), int(lines[2][1:])
        except (OSError, ValueError):
            return None

    def replace_dead(self):
        for name in [name for name, worker in self.workers.items() if worker.poll() is not None]:
            worker = self.workers.pop(name)
            # A worker that starts while the broker is away ends with an error.
            if worker.returncode not in (-signal.SIGKILL, 74, 1):
                self.faults.append("%s ended with %d" % (name, worker.returncode))
        while len(self.workers) < self.given.workers:
            self.start_worker()

    # ---- what disturbs it ------------------------------------------------------------------------

    def disturb(self, what):
        worker = self.workers[self.random.choice(sorted(self.workers))]
        if what == "kill":
            worker.kill()
            worker.wait()
        elif what == "stop":
            worker.send_signal(signal.SIGSTOP)
            time.sleep(self.given.lease + 0.7)
            worker.send_signal(signal.SIGCONT)
        elif what == "clock":
            clock = self.clocks[self.random.choice(sorted(self.clocks))]
            clock.set(self.random.choice((3600, -3600)))
        else:
            self.broker.kill()
            self.broker.wait()
            time.sleep(0.3)
            self.start_broker()

    def plan(self):
        given = self.given
        if given.clocks and Clock.fault:
            print("skipped: steps of clocks, because clock_steps.c cannot be built: " + Clock.fault)
        plan = ["kill"] * given.kills + ["stop"] * given.stops + ["broker"] * given.broker_kills
        plan += ["clock"] * given.clocks if not Clock.fault else []
        self.random.shuffle(plan)
        return plan

    def run(self):
        self.start_broker()
        self.put()
        plan, at = self.plan(), 0
        begun = time.monotonic()
        while time.monotonic() < begun + self.given.limit:
            self.replace_dead()
            time.sleep(self.random.uniform(0.05, 0.2))
            self.proxy.calm = at == len(plan)
            now = self.ended()
            if now is None:
                continue
            if at < len(plan) and now[0] * (len(plan) + 1) >= at * self.given.files:
                self.disturb(plan[at])
                at += 1
            elif at == len(plan) and sum(now) >= self.given.files + self.given.damaged:
                break
        for worker in self.workers.values():
            worker.terminate()
        for worker in self.workers.values():
            worker.wait()
        return self.judge(time.monotonic() - begun, plan[:at])

    # ---- whether all is well ---------------------------------------------------------------------

    def compare(self):
        """Compares all hit files with those of the undisturbed run. Returns how many were made more than once."""
        twice = 0
        for path in glob.glob("../expected/*.hits.npy"):
            copies = glob.glob("hits-*/" + os.path.basename(path))
            self.faults += [other + " differs" for other in copies if not filecmp.cmp(path, other, shallow=False)]
            self.faults += [path + " is missing"] if not copies else []
            twice += len(copies) > 1
        return twice

    def look_for_secrets(self):
        for path in glob.glob("w*.log") + glob.glob("hits-*/*"):
            with open(path, "rb") as file:
                if PASSWORD.encode() in file.read():
                    self.faults.append(path + " has the password")

    def judge(self, seconds, plan):
        report, given = self.status(), self.given
        twice = self.compare()
        self.look_for_secrets()
        for what, value in (("done", given.files), ("dead", given.damaged), ("waiting", 0), ("in_work", 0)):
            if report[what] != value:
                self.faults.append("found %d tickets %s, expected %d" % (report[what], what, value))
        for failure in report["failures"]:
            if not failure["name"].startswith("bad"):
                self.faults.append("%s is a dead letter: %s" % (failure["name"], failure["reason"]))
        print("%.0f s; %d done, %d dead, %d made twice; %s; %d workers started; connections: %s: %s"
              % (seconds, report["done"], report["dead"], twice,
                 ", ".join("%d %s" % (plan.count(what), what) for what in sorted(set(plan))), self.started,
                 ", ".join("%d %s" % (count, what) for what, count in self.proxy.counts.items()),
                 "FAILED: " + "; ".join(self.faults[:20]) if self.faults else "good"), flush=True)
        return 1 if self.faults else 0

    def end(self):
        for process in [*self.workers.values(), self.broker]:
            if process is not None:
                process.kill()
                process.wait()


def make_files(given):
    def icestream(*words):
        made = subprocess.run([given.icestream, *words], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr

    os.mkdir("steps")
    for i in range(given.files):
        icestream("generate", "-s", "workload.steps=%d" % given.steps, "-s", "workload.event=%d" % i, "-o",
                  "steps/s%d.steps.npy" % i)
    icestream("run", "-q", "-s", "source.files=steps/*.steps.npy", "-s", "sink.directory=expected", "-s",
              "device.backend=cpu")
    for i in range(given.damaged):
        with open("steps/s%d.steps.npy" % i, "rb") as file:
            data = bytearray(file.read())
        data[-500] ^= 0xFF
        with open("steps/bad%d.steps.npy" % i, "wb") as file:
            file.write(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("icestream", type=os.path.abspath)
    for name, value in (("workers", 3), ("files", 24), ("damaged", 2), ("kills", 4), ("stops", 1), ("broker-kills", 2),
                        ("clocks", 2), ("steps", 2000), ("lease", 2), ("seed", 1), ("limit", 300)):
        parser.add_argument("--" + name, type=int, default=value)
    given = parser.parse_args()
    if shutil.which("redis-server") is None:
        print("skipped: there is no redis-server")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files(given)
        Clock.build()
        os.makedirs("production/broker")
        os.chdir("production")
        production = Production(given, given.seed)
        try:
            return production.run()
        finally:
            production.end()
            os.chdir("/")


if __name__ == "__main__":
    sys.exit(main())
