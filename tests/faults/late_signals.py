#!/usr/bin/env python3
"""Promise: signals that arrive while a run ends, up to the end of the process, do not replace its
exit status.

    late_signals.py PROGRAM [--runs 10]

Each run gets SIGTERM again and again from its first lines in the log until the process is gone. To
join: add a command that handles signals to COMMANDS.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from jobs import environment  # noqa: E402

COMMANDS = (["run", "--force"], ["run", "--force", "--unfinished-exit", "75"])
ENDS = ({0, 143}, {0, 75})


def end_of(program, where, command):
    """Runs the command under signals. Returns its exit status; below 0 if a signal ended it."""
    process = subprocess.Popen(
        [program, *command], cwd=where, env=environment(), stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if "device: " in line:
            break
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.stderr.close()
    return process.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=10)
    options = parser.parse_args()
    program = os.path.realpath(options.program)
    where = tempfile.mkdtemp(prefix="icestream-signals-")
    made = "generate -s workload.steps=50000 -o steps/a.steps.npy".split()
    os.mkdir(os.path.join(where, "steps"))
    subprocess.run([program, *made], cwd=where, env=environment(), check=True)
    found = []
    for index in range(options.runs):
        which = index % len(COMMANDS)
        status = end_of(program, where, COMMANDS[which])
        if status not in ENDS[which]:
            found.append("%s ended with %d" % (" ".join(COMMANDS[which]), status))
    shutil.rmtree(where)
    for text in found:
        print("FAILED: " + text)
    print("%d runs, %d failures" % (options.runs, len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
