#!/usr/bin/env python3
"""Promise: workers of a queue that share no folder lose no step file, whatever is disturbed: workers (kill -9), workers
that are stopped for longer than their lease, the broker (kill -9, a full disk), clocks (steps of an hour), passwords that
are wrong, and connections, which a proxy cuts, delays and swallows. All hit files equal those of an undisturbed run,
exactly the damaged step files are dead letters, and few step files are computed twice.

    queue_chaos.py ICESTREAM [--store none|http|s3] [--workers 3] [--files 24] [--damaged 2] [--kills 4] [--stops 1]
                             [--broker-kills 2] [--clocks 0] [--passwords 0] [--full-disks 0] [--steps 2000]
                             [--lease 2] [--twice PERCENT] [--seeds 1] [--limit 300]

--store http and s3: step files are fetched from a server, and hit files are shipped there, through such a proxy too.
The disturbances are spread over the work: each one happens when its share of the tickets is done. --twice fails if a
larger share of the step files was computed twice; it is for large runs. It starts a real redis-server. Exit status 77: there
is none. The last line for each seed has the numbers. To join: one more kind of disturbance in disturb().
"""
import argparse
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
from chaos_parts import Clock, Disk, Proxy, causes, free_port  # noqa: E402

CONFIGURATION = """
source: {{ queue: "redis://127.0.0.1:{port}/chaos", watch: true, scan: 0.2, lease: {lease}, attempts: 100, worker: {name}{fetch} }}
sink: {{ directory: hits-{name}{ship} }}
device: {{ backend: cpu, threads: 1 }}
"""
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "transfer_server.py")
RECIPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "configs", "sites", "transfer", "curl.sh")
KEYS = ("key", "known-secret-of-the-store")
DISK = 64 << 20  # bytes, in addition to four times those of the step files: the broker writes its file again now and then


class Production:
    def __init__(self, given, seed):
        self.given, self.seed, self.random = given, seed, random.Random(seed)
        self.port, self.workers, self.started = free_port(), {}, 0
        self.faults, self.broker, self.server, self.history = [], None, None, []
        self.clocks = {"workers": Clock("clock-workers"), "broker": Clock("clock-broker")}
        steps = sum(os.path.getsize(path) for path in glob.glob("../steps/*.npy"))
        self.disk = Disk("broker", DISK + 4 * steps, given.full_disks > 0)
        self.secrets = {"ICESTREAM_QUEUE_PASSWORD": "known-secret-%d" % seed}
        self.secrets |= {"AWS_ACCESS_KEY_ID": KEYS[0], "AWS_SECRET_ACCESS_KEY": KEYS[1]}
        self.proxy = Proxy(self.port, seed, cut=0.01, late=0.005, drop=0.002)
        self.proxy.start()

    # ---- what runs -------------------------------------------------------------------------------

    def environment(self, clock=None):
        steps = self.clocks[clock].environment() if clock and self.given.clocks else {}
        return {**os.environ, **self.secrets, **steps}

    def start_broker(self):
        secret = self.secrets["ICESTREAM_QUEUE_PASSWORD"]
        self.broker = subprocess.Popen(
            ["redis-server", "-"], stdin=subprocess.PIPE, text=True, env=self.environment("broker"),
            stdout=subprocess.DEVNULL)
        self.broker.stdin.write('port %d\nbind 127.0.0.1\nsave ""\nappendonly yes\nappendfsync everysec\ndir "%s"\n'
                                'logfile "%s"\nrequirepass "%s"\n' % (
                                    self.port, self.disk.folder, os.path.abspath("broker.log"), secret))
        self.broker.stdin.close()
        while True:
            assert self.broker.poll() is None, "the broker ended"
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    def start_server(self):
        """The store of step files and hit files, with a proxy in front of it."""
        words = [sys.executable, SERVER, "store"] + (["--s3", *KEYS] if self.given.store == "s3" else [])
        self.server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.store_proxy = Proxy(int(self.server.stdout.readline()), self.seed + 1, cut=0.005, late=0.005, drop=0.0)
        self.store_proxy.start()
        self.secrets["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:%d" % self.store_proxy.port

    def store_url(self, name):
        if self.given.store == "s3":
            return "s3://bucket/" + name
        return "http://127.0.0.1:%d/%s" % (self.store_proxy.port, name)

    def icestream(self, *words):
        return subprocess.run([self.given.icestream, *words], capture_output=True, text=True, check=False,
                              env=self.environment())

    def start_worker(self):
        self.started += 1
        name = "w%d" % self.started
        fetch = ship = ""
        if self.given.store != "none":
            fetch = ', fetch: ["%s", fetch, "{path}"]' % RECIPE
            ship = ', url: "%s", ship: ["%s", ship, "{path}"]' % (self.store_url("hits/{name}"), RECIPE)
        with open(name + ".yaml", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.proxy.port, name=name, lease=self.given.lease, fetch=fetch, ship=ship))
        with open(name + ".log", "w", encoding="utf-8") as log:
            self.workers[name] = subprocess.Popen([self.given.icestream, "run", "-q", name + ".yaml"], stderr=log,
                                                  stdout=log, env=self.environment("workers"))

    def put(self):
        words = ["--queue", "redis://127.0.0.1:%d/chaos" % self.proxy.port]
        if self.given.store != "none":
            self.start_server()
            shutil.copytree("../steps", "store/bucket/steps" if self.given.store == "s3" else "store/steps")
            words += ["--url", self.store_url("steps/{name}")]
        put = self.icestream("put", *sorted(glob.glob("../steps/*.npy")), *words)
        assert put.returncode == 0, put.stderr

    def status(self):
        report = self.icestream("status", "--json", "redis://127.0.0.1:%d/chaos" % self.port)
        return json.loads(report.stdout) if report.returncode == 0 else None

    def ended(self):
        """Returns the numbers of tickets that are done, and that are dead; None: the broker does not answer."""
        words = ("AUTH " + self.secrets["ICESTREAM_QUEUE_PASSWORD"], "HLEN chaos:done", "XLEN chaos:dead")
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
        name, begun = self.random.choice(sorted(self.workers)), time.time()
        self.harm(what, self.workers[name])
        self.history.append((what, name, begun, time.time()))

    def harm(self, what, worker):
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
        elif what == "password":
            self.try_wrong_password()
        elif what == "disk":
            self.disk.fill()
            time.sleep(4)
            self.disk.free()
        else:
            self.broker.kill()
            self.broker.wait()
            time.sleep(0.3)
            self.start_broker()

    def try_wrong_password(self):
        wrong = {**self.environment(), "ICESTREAM_QUEUE_PASSWORD": "another-secret"}
        tried = subprocess.run([self.given.icestream, "run", "-q", "-s", "sink.directory=wrong", "-s",
                                "source.queue=redis://127.0.0.1:%d/chaos" % self.port], env=wrong,
                               capture_output=True, text=True, check=False)
        if tried.returncode == 0 or "password" not in tried.stderr or "another-secret" in tried.stderr:
            self.faults.append("a wrong password: exit status %d, %s" % (tried.returncode, tried.stderr))

    def plan(self):
        given = self.given
        if given.clocks and Clock.fault:
            print("skipped: steps of clocks, because clock_steps.c cannot be built: " + Clock.fault)
        if given.full_disks and self.disk.fault is not None:
            print("skipped: full disks, because no small disk can be mounted: " + self.disk.fault)
        plan = ["kill"] * given.kills + ["stop"] * given.stops + ["broker"] * given.broker_kills
        plan += ["password"] * given.passwords
        plan += ["clock"] * given.clocks if not Clock.fault else []
        plan += ["disk"] * given.full_disks if self.disk.fault is None else []
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
        """Compares all hit files with those of the undisturbed run. Returns how many were made twice, by causes."""
        found = {}
        pattern = {"none": "", "http": "store/hits/*.npy", "s3": "store/bucket/hits/*.npy"}[self.given.store]
        shipped = {os.path.basename(path): path for path in glob.glob(pattern)}
        for path in glob.glob("hits-*/*.hits.npy"):
            found.setdefault(os.path.basename(path), []).append(path)
        for path in glob.glob("../expected/*.hits.npy"):
            name = os.path.basename(path)
            with open(path, "rb") as file:
                expected = file.read()
            copies = found.get(name, []) + ([shipped[name]] if name in shipped else [])
            for other in copies:
                with open(other, "rb") as file:
                    if file.read() != expected:
                        self.faults.append(other + " differs from the undisturbed run")
            if name not in (found if self.given.store == "none" else shipped):
                self.faults.append(name + " is missing")
        return causes(found, self.history)

    def look_for_secrets(self):
        values = [self.secrets["ICESTREAM_QUEUE_PASSWORD"].encode(), KEYS[1].encode()]
        for path in glob.glob("w*.log") + glob.glob("hits-*/*"):
            with open(path, "rb") as file:
                text = file.read()
            if any(value in text for value in values):
                self.faults.append(path + " has a secret")

    def judge(self, seconds, plan):
        report, given = self.status(), self.given
        why = self.compare()
        twice = sum(why.values())
        self.look_for_secrets()
        for what, value in (("done", given.files), ("dead", given.damaged), ("waiting", 0), ("in_work", 0)):
            if report[what] != value:
                self.faults.append("found %d tickets %s, expected %d" % (report[what], what, value))
        for failure in report["failures"]:
            if not failure["name"].startswith("bad"):
                self.faults.append("%s is a dead letter: %s" % (failure["name"], failure["reason"]))
        share = 100.0 * twice / given.files
        if given.twice is not None and share > given.twice:
            self.faults.append("%.2f %% were computed twice, expected %g %% at most" % (share, given.twice))
        harm = dict(self.proxy.counts)
        for what, count in (self.store_proxy.counts if self.server else {}).items():
            harm[what] += count
        print("seed %d, store %s: %.0f s; %d done, %d dead, %d made twice (%.2f %%%s); %s; %d workers started; connections: %s: %s"
              % (self.seed, given.store, seconds, report["done"], report["dead"], twice, share,
                 "".join(", %d after %s" % (count, cause) for cause, count in sorted(why.items())),
                 ", ".join("%d %s" % (plan.count(what), what) for what in sorted(set(plan))), self.started,
                 ", ".join("%d %s" % (count, what) for what, count in harm.items()),
                 "FAILED: " + "; ".join(self.faults[:20]) if self.faults else "good"), flush=True)
        return 1 if self.faults else 0

    def end(self):
        for process in [*self.workers.values(), self.broker, self.server]:
            if process is not None:
                process.kill()
                process.wait()
        self.disk.end()


def make_files(given):
    def icestream(*words):
        made = subprocess.run([given.icestream, *words], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr

    if os.path.isdir("expected"):  # of an earlier call with --keep and as many files
        return
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
    parser.add_argument("--store", choices=("none", "http", "s3"), default="none")
    parser.add_argument("--twice", type=float)
    parser.add_argument("--seeds", default="1", help="numbers with commas between them")
    for name, value in (("workers", 3), ("files", 24), ("damaged", 2), ("kills", 4), ("stops", 1), ("broker-kills", 2),
                        ("clocks", 0), ("passwords", 0), ("full-disks", 0), ("steps", 2000), ("lease", 2), ("limit", 300)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--keep", help="a folder for all files, which stays; its step files are used again")
    given = parser.parse_args()
    if shutil.which("redis-server") is None:
        print("skipped: there is no redis-server")
        return 77
    if given.store != "none" and shutil.which("curl") is None:
        print("skipped: there is no curl")
        return 77
    folder = given.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    status = 0
    try:
        make_files(given)
        Clock.build()
        for seed in [int(text) for text in given.seeds.split(",")]:
            os.mkdir("seed-%d" % seed)
            os.chdir("seed-%d" % seed)
            production = Production(given, seed)
            try:
                status |= production.run()
            finally:
                production.end()
                os.chdir("..")
    finally:
        if not given.keep:
            shutil.rmtree(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
