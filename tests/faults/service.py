"""A watching icestream, the step files for its folder, and the hit files that it must write.

The step files are copies of the files of a job's template with other names. The hit file of each
copy is known, because hits depend on the content of a step file and not on its name.
"""

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import time

from jobs import environment, read

WATCH = "run watch.yaml -s device.threads=1"


def wait_until(condition, seconds, pause=0.05):
    """Returns whether the condition became true within the limit."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


class Service:
    """One running process. Its log goes to a file."""

    def __init__(self, job, where, command=WATCH, name="service"):
        self.log = os.path.join(where, name + ".err")
        self.stopped = False
        with open(self.log, "ab") as file:
            self.process = job.popen(where, command, env=environment(), stderr=file)

    def is_running(self):
        return self.process.poll() is None

    def log_text(self):
        return read(self.log).decode("utf-8", "replace")

    def send(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def wait(self, seconds=30):
        """Waits for the end. Returns the exit status; None if the process had to be killed."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def end(self, number=signal.SIGTERM, seconds=30):
        """Sends one signal and waits. Returns wait()'s status and the seconds until the end.

        A test of an orderly end sends one signal only: a second one abandons the work, or, after
        the program has closed its signal handlers, ends the process before it has an exit status.
        """
        begun = time.monotonic()
        self.send(number)
        return self.wait(seconds), time.monotonic() - begun

    # What the kernel reports about the process.

    def resident_bytes(self):
        with open("/proc/%d/statm" % self.process.pid, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def cpu_seconds(self):
        with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# ---- step files ----------------------------------------------------------------------------------


def damages(data, numbers):
    """Returns a step file that no run may accept, damaged in one of several ways."""
    data = bytearray(data)
    kind = numbers.randrange(5)
    if kind == 0:
        del data[numbers.randrange(1100, len(data) - 40) :]
    elif kind == 1:
        data[numbers.randrange(1024, 1080)] ^= 0x40  # the checksum is wrong
    elif kind == 2:
        data[:6] = b"\x93NUMPZ"
    elif kind == 3:
        data = data[: 1024 + 64]
        data[21:41] = b"%20d" % 1
        data[1024:1028] = struct.pack("<f", float("nan"))  # x of the first row, without a trailer
    else:
        del data[:]
    return bytes(data)


class Plan:
    """The step files to drop. `good`: contents of their hit files by name; `bad`: names."""

    def __init__(self, job, count, seed, bad_share=0.01):
        numbers = random.Random(seed)
        steps = os.path.join(job.template, "steps")
        self.templates = sorted(os.listdir(steps))
        contents = [read(os.path.join(steps, name)) for name in self.templates]
        references = [
            job.reference[name.replace(".steps.npy", ".hits.npy")] for name in self.templates
        ]
        bad_count = max(1, round(bad_share * count)) if bad_share > 0 else 0
        bad = set(numbers.sample(range(count), bad_count))
        self.good, self.bad, self.files = {}, [], []
        for index in range(count):
            which = numbers.randrange(len(contents))
            name = "f%05d.steps.npy" % index
            if index in bad:
                self.bad.append(name)
                self.files.append((name, damages(contents[which], numbers)))
            else:
                self.good[name.replace(".steps.npy", ".hits.npy")] = references[which]
                self.files.append((name, contents[which]))

    def missing(self, where, folder="hits"):
        there = set(os.listdir(os.path.join(where, folder)))
        return [name for name in self.good if name not in there]

    def wrong(self, where, folder="hits"):
        """Reports hit files with final names that are not equal to the reference."""
        found = []
        for name in sorted(os.listdir(os.path.join(where, folder))):
            path = os.path.join(where, folder, name)
            if name.endswith(".hits.npy") and read(path) != self.good.get(name):
                found.append("%s has its final name and is wrong" % name)
        return found

    def without_reason(self, where, folder="hits/quarantine"):
        path = os.path.join(where, folder)
        names = os.listdir(path) if os.path.isdir(path) else []
        reasons = [name for name in names if name.endswith(".reason")]
        return [name for name in self.bad if not any(it.startswith(name) for it in reasons)]


def drop(where, name, data, numbers, outside):
    """Moves a file into the watched folder, or writes it there in pieces and renames it."""
    path = os.path.join(where, "in", name)
    if numbers.random() < 0.5:
        prepared = os.path.join(outside, name)
        with open(prepared, "wb") as file:
            file.write(data)
        os.rename(prepared, path)
        return
    temporary = numbers.choice((".%s.tmp", "%s.part", "tmp-%s.writing")) % name
    growing = os.path.join(where, "in", temporary)
    with open(growing, "wb") as file:
        pieces = numbers.randrange(1, 5)
        for piece in range(pieces):
            file.write(data[len(data) * piece // pieces : len(data) * (piece + 1) // pieces])
            file.flush()
            time.sleep(numbers.expovariate(1 / 0.01))
    os.rename(growing, path)


def feed(where, files, seconds, seed):
    """Drops files at random times, over about `seconds` in all. Run it in another process."""
    numbers = random.Random(seed)
    outside = os.path.join(where, "outside")
    os.makedirs(outside, exist_ok=True)
    mean = seconds / max(1, len(files))
    for name, data in files:
        time.sleep(numbers.expovariate(1 / mean))
        drop(where, name, data, numbers, outside)
    shutil.rmtree(outside)


# ---- what a run reports --------------------------------------------------------------------------


def journal_events(where, folder="hits"):
    """Returns the complete lines of run.journal."""
    path = os.path.join(where, folder, "run.journal")
    events = []
    for line in read(path).split(b"\n") if os.path.exists(path) else ():
        try:
            events.append(json.loads(line))
        except ValueError:
            pass  # cut by a kill, or the empty text after the last newline
    return events
