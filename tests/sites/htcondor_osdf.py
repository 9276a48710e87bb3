#!/usr/bin/env python3
"""Promise: the command of a job of the submit file with OSDF makes the file that HTCondor transfers, from the files
that HTCondor brings, and makes none of a step file that cannot be used, whose status holds the job.

    htcondor_osdf.py ICESTREAM SUBMIT_FILE

HTCondor is not needed: this script copies what it would transfer. With the Python package htcondor, HTCondor's own
library also reads the submit file, and must find the same arguments and files. To join: another way in which a job ends
gets a line in main().
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

from htcondor import check, submit_commands

# This folder has a file htcondor.py, so the package of the same name is looked for elsewhere.
sys.path = [path for path in sys.path if path != os.path.dirname(os.path.realpath(__file__))]
del sys.modules["htcondor"]
try:
    import htcondor
except ImportError:
    htcondor = None


def read_by_htcondor(submit_file, commands):
    if not hasattr(htcondor, "Submit"):
        print("skipped: the package htcondor is missing: only this script has read the submit file")
        return
    with open(submit_file, encoding="utf-8") as text:
        submit = htcondor.Submit(text.read())
    check(submit.getQArgs() == "name from names.txt", f"queue {submit.getQArgs()}")
    job = next(iter(submit.jobs(count=1, itemdata=iter([{"name": "a"}]), clusterid=1, owner="me")))
    for key, mine in (("Arguments", "arguments"), ("TransferInput", "transfer_input_files"),
                      ("TransferOutput", "transfer_output_files"),
                      ("TransferOutputRemaps", "transfer_output_remaps")):
        found, expected = (text.strip('"').replace(", ", ",") for text in (str(job[key]), commands[mine]))
        check(found == expected, f"{key}: HTCondor reads {found}, expected {expected}")
    print(f"HTCondor's library {htcondor.version()} reads the submit file in the same way")


def run(icestream, commands):
    words = shlex.split(commands["arguments"].strip('"'))
    return subprocess.run([icestream, *words], stderr=subprocess.DEVNULL, check=False).returncode


def main():
    icestream, submit_file = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    commands = submit_commands(submit_file, name="a", request_cpus="1")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        read_by_htcondor(submit_file, submit_commands(submit_file, name="a"))
        config, steps = commands["transfer_input_files"].split(", ")
        steps = os.path.basename(steps)
        hits = commands["transfer_output_files"]
        check(commands["transfer_output_remaps"].strip('"').split(" = ")[0] == hits, "the remap names another file")
        with open(config, "w", encoding="utf-8") as text:
            text.write("device: { backend: cpu }\n")
        subprocess.run([icestream, "generate", "-s", "workload.steps=20", "-o", steps], stderr=subprocess.DEVNULL,
                       check=True)
        check(run(icestream, commands) == 0 and sorted(os.listdir()) == sorted([config, steps, hits]),
              f"found {os.listdir()}")
        subprocess.run([icestream, "info", "--verify", hits], stdout=subprocess.DEVNULL, check=True)
        os.remove(hits)
        os.truncate(steps, 1500)
        status = run(icestream, commands)
        check(not os.path.exists(hits), "hits of a step file that was cut")
        held = re.findall(r"ExitCode == (\d+)", commands["on_exit_hold"])
        check(status != 0 and str(status) in held, f"exit status {status} does not hold the job")
        os.chdir("/")


if __name__ == "__main__":
    main()
