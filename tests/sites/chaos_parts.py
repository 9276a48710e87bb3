"""Parts of queue_chaos.py: a proxy that harms connections, and clocks that make steps."""
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


class Proxy(threading.Thread):
    """Passes bytes on to a server. Now and then it ends a connection in the middle of what it passes on (cut), waits
    before it passes something on (late), or swallows something and keeps the connection (drop)."""

    def __init__(self, server, seed, cut=0.02, late=0.0, drop=0.0):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.shares = {"cut": cut, "late": late, "drop": drop}
        self.counts = dict.fromkeys(self.shares, 0)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.calm = False

    def run(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def choose(self):
        """Returns what happens to the next bytes; None: they are passed on."""
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
