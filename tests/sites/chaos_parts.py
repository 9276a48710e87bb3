"""Parts of queue_chaos.py: a proxy that harms connections, clocks that make steps, and a client of the broker."""
import os
import random
import select
import socket
import struct
import subprocess
import threading
import time


def free_port():
    with socket.socket() as plug:
        plug.bind(("127.0.0.1", 0))
        return plug.getsockname()[1]


def ask_broker(port, password, *commands):
    """Returns the answers of the broker to commands, each a tuple of words: numbers, bytes, lists, or an OSError."""
    def read(answers):
        line = answers.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"*":
            return [read(answers) for _ in range(int(rest))]
        if kind == b"$":
            return answers.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind in (b"", b"-"):
            raise OSError(rest.decode() or "the broker has closed the connection")
        return int(rest) if kind == b":" else rest

    with socket.create_connection(("127.0.0.1", port), timeout=5) as broker, broker.makefile("rb") as answers:
        for words in (("AUTH", password), *commands):
            words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            broker.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return [read(answers) for _ in range(len(commands) + 1)][1:]


class Proxy(threading.Thread):
    """Passes bytes on to a server. Now and then it ends a connection in the middle of what it passes on (cut), waits
    before it passes something on (late), or swallows something and keeps the connection (drop; while it is mute:
    everything)."""

    def __init__(self, server, seed, cut=0.02, late=0.0, drop=0.0):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.shares = {"cut": cut, "late": late, "drop": drop}
        self.counts = dict.fromkeys(self.shares, 0)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.calm = self.mute = False

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def choose(self):
        """Returns what happens to the next bytes; None: they are passed on."""
        if self.mute:
            return "drop"
        number = self.random.random()
        for what, share in self.shares.items():
            number -= share
            if number < 0 and not self.calm:
                self.counts[what] += 1
                return what
        return None

    def carry(self, client):
        try:
            with client, socket.create_connection(("127.0.0.1", self.server)) as server:
                while True:
                    for ready in select.select([client, server], [], [])[0]:
                        data = ready.recv(65536)
                        if not data:
                            return
                        other, what = server if ready is client else client, self.choose()
                        if what == "cut":
                            other.sendall(data[: len(data) // 2])
                            return
                        if what == "late":
                            time.sleep(self.random.uniform(0.1, 1.5))
                        if what != "drop":
                            other.sendall(data)
        except OSError:
            return


class Clock:
    """The wall clock of some processes, which clock_steps.c moves. `fault` says why it cannot; None: it can."""

    library = "../clock_steps.so"
    fault = None

    def __init__(self, name):
        self.path = os.path.abspath(name)
        with open(self.path, "wb") as file:
            file.write(struct.pack("=q", 0))

    @classmethod
    def build(cls):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock_steps.c")
        cls.library = os.path.abspath("clock_steps.so")
        try:
            made = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", cls.library, source], capture_output=True,
                                  text=True, check=False)
            cls.fault = made.stderr if made.returncode else None
        except FileNotFoundError:
            cls.fault = "there is no C compiler"

    def set(self, offset):
        with open(self.path, "r+b", buffering=0) as file:
            file.write(struct.pack("=q", offset))

    def environment(self):
        return {} if Clock.fault else {"LD_PRELOAD": Clock.library, "CLOCK_STEPS": self.path}
