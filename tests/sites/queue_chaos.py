#!/usr/bin/env python3
"""Promise: workers of a queue that share no folder lose no step file, whatever is disturbed: workers (killed, stopped
for longer than their lease, deleted at the broker), the broker (kill -9), rights of its user, clocks (steps of an
hour), and connections, which a proxy cuts, delays, swallows and keeps mute. All hit files equal those of an
undisturbed run, and every ticket of POISON is a dead letter with its reason and stops no worker.

    queue_chaos.py ICESTREAM [--all] [--seed 1] [--files 12] [--kill 3] ... (NUMBERS, and one for each disturbance)

The disturbances are spread over the work: each one happens when its share of the tickets is done. With --all there are
as many as the acceptance of a release asks for. It starts a real redis-server. Exit status 77: there is none.
To join: a method of Disturbances with its numbers, or a row of POISON.
"""
import argparse
import collections
import filecmp
import glob
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from chaos_parts import Clock, Proxy, ask_broker, free_port  # noqa: E402

# Name: in the usual test, with --all. The attempts allow for what all disturbances do to one good ticket.
NUMBERS = {"workers": (3, 3), "files": (12, 2000), "steps": (500, 40), "lease": (2, 2), "attempts": (6, 10),
           "limit": (300, 2400), "seed": (1, 1), "kill": (3, 40), "stop": (1, 3), "broker": (1, 10), "clock": (1, 3),
           "denial": (2, 16), "mute": (1, 3), "deletion": (1, 5)}
CONFIGURATION = """
source: {{ queue: "redis://worker@127.0.0.1:{port}/chaos", watch: true, scan: 0.2, lease: {lease}, worker: {name},
           attempts: {attempts}, fetch: [sh, ../fetch.sh, "{{path}}", "{{url}}"] }}
sink: {{ directory: hits-{name} }}
device: {{ backend: cpu, threads: 1 }}
"""
FETCH = 'case "$2" in *crash) kill -KILL $PPID ;; *endless) cat /dev/zero >"$1.part" ;; *) exit 66 ;; esac\n'
PASSWORD = "known-secret-of-the-queue"
DENIED = ("xadd", "xdel", "xack", "xclaim", "xpending", "xlen", "xrange", "xreadgroup", "xgroup", "hget", "hset", "hdel",
          "hmget", "hgetall", "time", "eval")
NO_DIGEST = "a" * 64
# The fields of a ticket, and the reason for which it is a dead letter. GOOD, DAMAGED and LIGHT are step files.
POISON = (
    ("name damaged steps DAMAGED", "CRC-32C"),
    ("name light steps LIGHT", "light: detector.oversize: found"),
    ("name digest steps GOOD sha256 " + NO_DIGEST, "found steps with the SHA-256"),
    ("name missing url https://host/missing", "there is no such file"),
    ("name endless bytes 1000 url https://host/endless", "the file became too large"),
    ("name crash url https://host/crash", "times and never finished"),
    ("name other steps GOOD configuration " + NO_DIGEST, "for the configuration with the digest"),
    ("name share url file:///nowhere/share", "in source.queue_files"),
    ("name secret url https://user:secret@host/secret", "may have a secret"),
    ("steps GOOD", "found no name"),
    ("name neither", "found neither url nor steps"),
    ("name both steps GOOD url https://host/both", "found url and steps"),
    ("name bytes steps GOOD bytes -1", "expected a whole number"),
    ("name ../out steps GOOD", "expected no slash"),
    ("name schemeless url /etc/passwd", "expected a URL"),
)


class Disturbances:
    """Each method disturbs the production once."""

    def kill(self, worker):
        self.workers[worker].kill()
        self.workers[worker].wait()

    def stop(self, worker):
        self.workers[worker].send_signal(signal.SIGSTOP)
        time.sleep(self.given.lease + 0.7)
        self.workers[worker].send_signal(signal.SIGCONT)

    def deletion(self, worker):
        self.ask("XGROUP DELCONSUMER chaos icestream " + worker)

    def denial(self, _):
        command = next(self.denied)
        self.ask("ACL SETUSER worker -" + command)
        time.sleep(self.random.uniform(0.2, 0.6))
        self.ask("ACL SETUSER worker +" + command)

    def mute(self, _):
        self.proxy.mute = True
        time.sleep(self.given.lease + 1)
        self.proxy.mute = False

    def clock(self, _):
        self.clocks[self.random.choice(sorted(self.clocks))].set(self.random.choice((3600, -3600)))

    def broker(self, _):
        self.server.kill()
        self.server.wait()
        time.sleep(0.3)
        self.start_broker()


class Production(Disturbances):
    def __init__(self, given):
        self.given, self.random = given, random.Random(given.seed)
        self.port, self.workers, self.started = free_port(), {}, 0
        self.faults, self.server, self.poison, self.denied = [], None, {}, itertools.cycle(DENIED)
        self.clocks = {"workers": Clock("clock-workers"), "broker": Clock("clock-broker")}
        self.proxy = Proxy(self.port, given.seed, cut=0.01, late=0.005, drop=0.002)
        self.proxy.start()

    # ---- what runs -------------------------------------------------------------------------------

    def environment(self, clock=None):
        steps = self.clocks[clock].environment() if clock and self.given.clock else {}
        return {**os.environ, "ICESTREAM_QUEUE_PASSWORD": PASSWORD, **steps}

    def start_broker(self):
        self.server = subprocess.Popen(
            ["redis-server", "-"], stdin=subprocess.PIPE, text=True, env=self.environment("broker"),
            stdout=subprocess.DEVNULL)
        self.server.stdin.write('port %d\nbind 127.0.0.1\nsave ""\nappendonly yes\nappendfsync everysec\ndir "%s"\n'
                                'logfile "%s"\nrequirepass %s\nuser worker on >%s ~chaos* +@stream +@hash +eval +time\n' % (
                                    self.port, os.path.abspath("broker"), os.path.abspath("broker.log"), PASSWORD, PASSWORD))
        self.server.stdin.close()
        while self.ended() is None:
            assert self.server.poll() is None, "the broker ended"
            time.sleep(0.05)

    def ask(self, *commands):
        return ask_broker(self.port, PASSWORD, *[words.split() if isinstance(words, str) else words for words in commands])

    def ended(self):
        """Returns how many tickets are done, and dead; None: the broker does not answer."""
        try:
            return self.ask("HLEN chaos:done", "XLEN chaos:dead")
        except OSError:
            return None

    def start_worker(self):
        self.started += 1
        name = "w%d" % self.started
        with open(name + ".yaml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.proxy.port, name=name, **vars(self.given)))
        with open(name + ".log", "w", encoding="utf-8") as log:
            self.workers[name] = subprocess.Popen([self.given.icestream, "run", "-q", name + ".yaml"], stderr=log,
                                                  stdout=log, env=self.environment("workers"))

    def put(self, files):
        """Puts step files as a producer does, through the proxy; what the proxy spoils is put again."""
        for i in range(0, len(files), 200):
            words = [self.given.icestream, "put", *files[i:i + 200], "--queue", "redis://127.0.0.1:%d/chaos" % self.proxy.port]
            put = subprocess.run(words, capture_output=True, text=True, check=False, env=self.environment())
            assert put.returncode == 0, put.stderr

    def put_poison(self):
        for words, reason in POISON:
            fields = [self.given.contents.get(word, word) for word in words.split()]
            self.poison[self.ask(("XADD", "chaos", "*", *fields))[0]] = words[:20], reason

    def look_at_end(self, name, worker):
        """A worker may end if it was killed or asked to end (also by SIGTERM before it handles signals), and if its
        start, or a right, is denied by the broker."""
        with open(name + ".log", encoding="utf-8") as log:
            refused = worker.returncode in (2, 74) and "refuses the user worker" in log.read()
        if worker.returncode not in (-signal.SIGKILL, -signal.SIGTERM, 143, 74, 1) and not refused:
            self.faults.append("%s ended with %d" % (name, worker.returncode))

    def replace_dead(self):
        for name in [name for name, worker in self.workers.items() if worker.poll() is not None]:
            self.look_at_end(name, self.workers.pop(name))
        while len(self.workers) < self.given.workers:
            self.start_worker()

    def plan(self):
        if self.given.clock and Clock.fault:
            print("skipped: steps of clocks, because clock_steps.c cannot be built: " + Clock.fault)
            self.given.clock = 0
        plan = [what for what in vars(Disturbances) if what in NUMBERS for _ in range(getattr(self.given, what))]
        self.random.shuffle(plan)
        return plan

    def run(self):
        self.start_broker()
        files = sorted(glob.glob("../steps/*.npy"))
        self.put(files[::2])
        self.put_poison()
        self.put(files[1::2])
        plan, at = self.plan(), 0
        begun = restarted = time.monotonic()
        while time.monotonic() < begun + self.given.limit:
            self.replace_dead()
            time.sleep(self.random.uniform(0.05, 0.2))
            self.proxy.calm = at == len(plan)
            now = self.ended()
            if at < len(plan) and now[0] * (len(plan) + 1) >= at * self.given.files:
                getattr(self, plan[at])(self.random.choice(sorted(self.workers)))
                at += 1
            elif at == len(plan) and sum(now) >= self.given.files + len(POISON):
                break
            elif at == len(plan) and time.monotonic() > restarted + 2 * self.given.lease:
                # Only other workers make dead letters of tickets that the first ones could not use.
                restarted = time.monotonic()
                self.workers[self.random.choice(sorted(self.workers))].terminate()
        for worker in self.workers.values():
            worker.terminate()
        for name, worker in self.workers.items():
            worker.wait(timeout=60)
            self.look_at_end(name, worker)
        return self.judge(time.monotonic() - begun, plan[:at])

    # ---- whether all is well ---------------------------------------------------------------------

    def compare(self):
        """Compares all hit files with those of the undisturbed run. Returns how many were made more than once."""
        copies = collections.defaultdict(list)
        for path in glob.glob("hits-*/*.hits.npy"):
            copies[os.path.basename(path)].append(path)
        for path in glob.glob("../expected/*.hits.npy"):
            found = copies.pop(os.path.basename(path), [])
            self.faults += [other + " differs" for other in found if not filecmp.cmp(path, other, shallow=False)]
            self.faults += [path + " is missing"] if not found else []
            copies[None] += found[1:2]
        twice = len(copies.pop(None, []))
        self.faults += ["found hits of a dead letter: %s" % paths for paths in copies.values()]
        return twice

    def look_for_secrets(self):
        for path in glob.glob("w*.log") + glob.glob("hits-*/*"):
            with open(path, "rb") as file:
                text = file.read()
            self.faults += [path + " has a secret" for word in (PASSWORD, "user:secret") if word.encode() in text]

    def look_at_dead(self, entries):
        for _, fields in entries:
            letter = {key.decode(): value.decode(errors="replace") for key, value in zip(fields[::2], fields[1::2])
                      if key != b"steps"}
            what, reason = self.poison.pop(letter["ticket"].encode(), (letter.get("name"), None))
            if reason is None or reason not in letter["reason"]:
                self.faults.append("the dead letter %s has the reason %s" % (what, letter["reason"]))
        self.faults += ["%s is no dead letter" % what for what, _ in self.poison.values()]

    def judge(self, seconds, plan):
        done, dead, left, pending = self.ask("HLEN chaos:done", "XRANGE chaos:dead - +", "XLEN chaos", "XPENDING chaos icestream")
        twice = self.compare()
        self.look_for_secrets()
        self.look_at_dead(dead)
        for what, value, expected in (("done", done, self.given.files), ("left", left, 0), ("pending", pending[0], 0)):
            if value != expected:
                self.faults.append("found %d tickets %s, expected %d" % (value, what, expected))
        print("seed %d: %.0f s; %d done, %d dead, %d made twice; %s; %d workers started; connections: %s: %s"
              % (self.given.seed, seconds, done, len(dead), twice,
                 ", ".join("%d %s" % (plan.count(what), what) for what in sorted(set(plan))), self.started,
                 ", ".join("%d %s" % (count, what) for what, count in self.proxy.counts.items()),
                 "FAILED: " + "; ".join(self.faults[:20]) if self.faults else "good"), flush=True)
        return 1 if self.faults else 0

    def end(self):
        for process in [*self.workers.values(), self.server]:
            if process is not None:
                process.kill()
                process.wait()


def make_files(given):
    def icestream(*words):
        made = subprocess.run([given.icestream, *words], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr

    os.mkdir("steps")
    with open("fetch.sh", "w", encoding="utf-8") as file:
        file.write(FETCH)
    icestream("split", "-s", "workload.steps=%d" % (given.steps * given.files), "--parts", str(given.files), "-o",
              "steps/s{part}.steps.npy")
    icestream("run", "-q", "-s", "source.files=steps/*.steps.npy", "-s", "sink.directory=expected", "-s",
              "device.backend=cpu")
    icestream("generate", "-s", "particles.list=[{type: e-, x: 30, y: 0, z: -300, zenith: 60, azimuth: 30, energy: 1}]",
              "-s", "detector.oversize=5", "-o", "light.steps.npy")
    given.contents = {}
    for name, path in (("GOOD", min(glob.glob("steps/*"))), ("LIGHT", "light.steps.npy")):
        with open(path, "rb") as file:
            given.contents[name] = file.read()
    damaged = bytearray(given.contents["GOOD"])
    damaged[-500] ^= 0xFF
    given.contents["DAMAGED"] = bytes(damaged)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("icestream", type=os.path.abspath)
    parser.add_argument("--all", action="store_true")
    for name in NUMBERS:
        parser.add_argument("--" + name, type=int)
    given = parser.parse_args()
    for name, values in NUMBERS.items():
        if getattr(given, name) is None:
            setattr(given, name, values[given.all])
    if shutil.which("redis-server") is None:
        print("skipped: there is no redis-server")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files(given)
        Clock.build()
        os.makedirs("production/broker")
        os.chdir("production")
        production = Production(given)
        try:
            return production.run()
        finally:
            production.end()
            os.chdir("/")


if __name__ == "__main__":
    sys.exit(main())
