#!/usr/bin/env python3
"""Promise: the systemd unit of configs/sites starts a service that notifies systemd, reloads, and
continues after a kill.

    service.py ICESTREAM UNIT

systemd is not needed: this script runs the command of the unit, and a datagram socket receives the
notifications. A program that was built without libsystemd sends none, so the test is skipped then. If
systemd-analyze is installed, it checks the unit. To join: a new key of the unit that changes how icestream
behaves gets a check in check_life().
"""
import atexit
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time

from site_parts import check, unit_settings, verify_unit

PATIENCE = 120  # (s)

CONFIGURATION = """
source: {{ directory: {0}/in, watch: true, scan: 0.2 }}
sink: {{ directory: {0}/hits }}
graph: {{ batch: 20000 }}
device: {{ backend: cpu }}
"""


class Service:
    """A process that runs the command of the unit, and the socket for its notifications."""

    def __init__(self, command, folder):
        self.folder = folder
        path = f"{folder}/notify"
        if os.path.exists(path):
            os.unlink(path)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(path)
        self.manager.settimeout(PATIENCE)
        environment = dict(os.environ, NOTIFY_SOCKET=path, WATCHDOG_USEC="400000")
        environment.pop("WATCHDOG_PID", None)
        self.log = open(f"{folder}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, env=environment, cwd=folder, stderr=self.log)
        # A service that outlives a failed test would keep the output of ctest open, and ctest would wait for it.
        atexit.register(self.process.kill)

    def expect_message(self, wanted):
        """Waits for a message that begins with this text. Heartbeats may come before it."""
        while True:
            try:
                message = self.manager.recv(65536).decode()
            except socket.timeout:
                sys.exit(f"FAILED: {wanted} was not sent: {self.log_text()}")
            if message.startswith(wanted):
                return message
            check(message.startswith(("WATCHDOG=1", "STATUS=")), f"{message} instead of {wanted}")

    def log_text(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def ends(self, number, statuses):
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        check(status in statuses, f"exit status {status}, not in {statuses}: {self.log_text()}")


def wait_for(condition, what):
    until = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < until, f"{what} in {PATIENCE} s")
        time.sleep(0.05)


def put_file(icestream, folder, name):
    part = f"{folder}/{name}.part"
    subprocess.run([icestream, "generate", "-s", "workload.steps=100", "-o", part], check=True)
    os.rename(part, f"{folder}/in/{name}.steps.npy")


def expand(text, folder):
    for specifier, value in (("%l", "host"), ("%i", "test"), ("/etc/icestream", folder)):
        text = text.replace(specifier, value)
    return text


def check_life(icestream, settings, folder):
    command = shlex.split(expand(settings["ExecStart"][0], folder))
    check(command[0].endswith("/bin/icestream"), command[0])
    command[0] = icestream
    good = {int(word) for word in settings["SuccessExitStatus"][0].split()}
    journal = f"{folder}/hits/run.journal"

    service = Service(command, folder)
    service.expect_message("READY=1")
    service.expect_message("WATCHDOG=1")
    put_file(icestream, folder, "first")
    wait_for(lambda: os.path.exists(f"{folder}/hits/first.hits.npy"), "no hits of first")
    service.process.send_signal(signal.SIGUSR1)
    status = service.expect_message("STATUS=")
    check(" photons" in status and " hits" in status, f"no progress in the status: {status}")
    # ExecReload sends SIGHUP: after a rotation a new journal is begun.
    check(settings["ExecReload"][0].endswith("kill -HUP $MAINPID"), settings["ExecReload"])
    os.rename(journal, journal + ".1")
    service.process.send_signal(signal.SIGHUP)
    wait_for(lambda: os.path.exists(journal), "no new journal")
    service.ends(signal.SIGKILL, {-signal.SIGKILL})

    # A service that starts again with the same name continues at once.
    service = Service(command, folder)
    service.expect_message("READY=1")
    put_file(icestream, folder, "second")
    wait_for(lambda: os.path.exists(f"{folder}/hits/second.hits.npy"), "no hits of second")
    service.expect_message("WATCHDOG=1")
    check(settings["KillSignal"] == ["SIGTERM"], settings["KillSignal"])
    service.ends(signal.SIGTERM, good)
    service.expect_message("STOPPING=1")

    # An error in the configuration ends with a status for which systemd does not start again.
    with open(f"{folder}/test.yaml", "a", encoding="utf-8") as configuration:
        configuration.write("sorce: {}\n")
    status = subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL, check=False).returncode
    check(str(status) in settings["RestartPreventExitStatus"][0].split(), f"exit status {status}")


def sends_notifications(icestream):
    facts = subprocess.run([icestream, "version", "--verbose"], capture_output=True, text=True, check=True).stdout
    return "libsystemd: none" not in facts


def main():
    icestream, unit = os.path.realpath(sys.argv[1]), sys.argv[2]
    if not sends_notifications(icestream):
        print("skipped: this icestream was built without libsystemd, so it cannot notify a service manager")
        sys.exit(77)
    settings = unit_settings(unit)
    check(settings["Type"] == ["notify"], settings["Type"])
    verify_unit(unit)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/in")
        with open(f"{folder}/test.yaml", "w", encoding="utf-8") as configuration:
            configuration.write(CONFIGURATION.format(folder))
        check_life(icestream, settings, folder)
    print("the command of the unit: ready, alive, reloaded, killed and started again, terminated")


if __name__ == "__main__":
    main()
