#!/usr/bin/env python3
"""Promise: a job of the submit file in configs/sites that is evicted or ends at its time limit
continues on another machine, and its hits are the same.

    htcondor.py ICESTREAM SUBMIT_FILE

HTCondor is not needed: this script does its part. It runs the command of the job in a folder with
the files that are transferred, copies the results back after each exit status 85, and starts the
job again in a new folder, as on another machine. If condor_submit is installed, it reads the
submit file (-dry-run). To join: another way in which a job ends gets a function like
check_eviction().
"""
import filecmp
import glob
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FILES = 36
FILE_SECONDS = 0.25  # (s) CPU time of one thread for one file
LIMIT = 3  # (s) enough for a third of the files, and at a twelfth of the speed for one file
STARTS = 40
PATIENCE = 120  # (s)


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def submit_commands(path, **given):
    """Returns the commands of a submit file with macros replaced. Values of `given` come first."""
    commands = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            match = re.match(r"(\w+)\s*=\s*(.*\S)", line)
            if match:
                commands[match[1]] = match[2]
    commands.update(given)
    for key in commands:
        while "$(" in commands[key]:
            commands[key] = re.sub(r"\$\((\w+)\)", lambda name: commands[name[1]], commands[key])
    return commands


def photons_per_second(icestream):
    """Returns the photons per second of CPU time (1/s) of one thread."""
    photons = 1000000
    subprocess.run([icestream, "generate", "-s", f"workload.steps={photons // 200}", "-o",
                    "trial.steps.npy"], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([icestream, "run", "-q", "-s", "source.files=trial.steps.npy", "-s",
                    "device.threads=1", "-s", "graph.batch=2000", "-s", "sink.directory=trial"],
                   check=True)
    return photons / (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def make_steps(icestream):
    """Makes run.yaml and the step files in steps/some."""
    os.makedirs("steps/some")
    steps = int(FILE_SECONDS * photons_per_second(icestream) / 200)
    for i in range(FILES):
        subprocess.run([icestream, "generate", "-s", f"workload.steps={steps}", "-s",
                        f"run.seed={i}", "-o", f"steps/some/{i:02}.steps.npy"], check=True)
    with open("run.yaml", "w", encoding="utf-8") as configuration:
        configuration.write("graph: { batch: 2000 }\ndevice: { backend: cpu }\n")


def transfer_in(commands, home, sandbox):
    """Copies files as HTCondor does: a slash at the end of a name means the files in the folder."""
    for name in (word.strip() for word in commands["transfer_input_files"].split(",")):
        if name.endswith("/"):
            shutil.copytree(f"{home}/{name}", sandbox, dirs_exist_ok=True)
        else:
            shutil.copy(f"{home}/{name}", sandbox)
    checkpoint = commands["transfer_checkpoint_files"]
    if os.path.exists(f"{home}/{checkpoint}"):
        shutil.copytree(f"{home}/{checkpoint}", f"{sandbox}/{checkpoint}")


def start_job(icestream, commands, sandbox):
    arguments = commands["arguments"]
    # HTCondor's new syntax: double quotes around all arguments, single quotes as in a shell.
    check(arguments[0] == arguments[-1] == '"', "arguments are not quoted")
    with open(f"{sandbox}/job.err", "w", encoding="utf-8") as log:
        return subprocess.Popen([icestream, *shlex.split(arguments[1:-1])], cwd=sandbox,
                                stdout=subprocess.DEVNULL, stderr=log)


def run_job(icestream, commands, home, during=None):
    """Runs the job once in a new folder and copies the results back. Returns the exit status."""
    output = commands["transfer_output_files"]
    with tempfile.TemporaryDirectory() as sandbox:
        transfer_in(commands, home, sandbox)
        job = start_job(icestream, commands, sandbox)
        if during is not None:
            during(job, sandbox)
        status = job.wait()
        with open(f"{sandbox}/job.err", encoding="utf-8") as log:
            check(os.path.isdir(f"{sandbox}/{output}"), f"no {output}: {log.read()}")
        shutil.rmtree(f"{home}/{output}", ignore_errors=True)
        shutil.copytree(f"{sandbox}/{output}", f"{home}/{output}")
    parts = glob.glob(f"{home}/{output}/*.part")
    check(not parts, f"{parts} were copied back")
    return status


def hit_files(folder):
    return sorted(os.path.basename(path) for path in glob.glob(f"{folder}/*.hits.npy"))


def check_checkpoints(icestream, commands, home):
    checkpoint = int(commands["checkpoint_exit_code"])
    output = commands["transfer_output_files"]
    counts = []
    while len(counts) < STARTS:
        status = run_job(icestream, commands, home)
        counts.append(len(hit_files(output)))
        check(status in (checkpoint, 0), f"exit status {status}")
        if status == 0:
            break
        check(counts[-1] < FILES, f"all is done, and the exit status is {status}")
    check(status == 0, f"not done after {STARTS} starts: {counts}")
    check(len(counts) > 1, "the time limit left no work")
    check(counts == sorted(counts) and counts[-1] == FILES, f"files after each start: {counts}")
    print("files after each start:", *counts)


def check_eviction(icestream, commands, home):
    """Sends SIGTERM, as HTCondor does when another job gets the machine."""
    def evict(job, sandbox):
        until = time.monotonic() + PATIENCE
        while not hit_files(f"{sandbox}/{commands['transfer_output_files']}"):
            check(time.monotonic() < until and job.poll() is None, "no hits before the eviction")
            time.sleep(0.02)
        job.send_signal(getattr(signal, commands["kill_sig"]))

    status = run_job(icestream, commands, home, evict)
    check(status == int(commands["checkpoint_exit_code"]), f"evicted: exit status {status}")
    done = len(hit_files(commands["transfer_output_files"]))
    check(0 < done < FILES, f"evicted with {done} files")


def dry_run(submit_file):
    if shutil.which("condor_submit") is None:
        print("skipped: condor_submit is missing: no dry run")
        return
    shutil.copy(submit_file, ".")
    with open("names.txt", "w", encoding="utf-8") as names:
        names.write("some\n")
    subprocess.run(["condor_submit", "-dry-run", "job.ads", os.path.basename(submit_file)],
                   check=True)


def main():
    icestream, submit_file = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    given = {"name": "some", "request_cpus": "1"}
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        dry_run(submit_file)
        make_steps(icestream)
        subprocess.run([icestream, "run", "-q", "-s", "source.files=steps/some/*.npy", "-s",
                        "sink.directory=reference", "run.yaml"], check=True)
        check_eviction(icestream, submit_commands(submit_file, **given), home)
        shutil.rmtree("hits-some")
        commands = submit_commands(submit_file, checkpoint=str(LIMIT), **given)
        check_checkpoints(icestream, commands, home)
        names = hit_files("reference")
        check(len(names) == FILES, f"reference: {names}")
        same, different, missing = filecmp.cmpfiles("reference", "hits-some", names, shallow=False)
        check(same == names, f"different: {different}, missing: {missing}")
        os.chdir("/")
    print("evicted and checkpointed jobs continue in another folder, and the hits are the same")


if __name__ == "__main__":
    main()
