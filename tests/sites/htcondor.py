#!/usr/bin/env python3
"""The submit file of configs/sites, as far as it goes without HTCondor.

    htcondor.py ICESTREAM SUBMIT_FILE

Does what HTCondor would: the job's command in a folder with the files that are transferred, taken
home after each 85, and started again in a fresh folder as on another machine. Where condor_submit
is installed, it reads the file (-dry-run).
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
FILE_SECONDS = 0.25  # of one thread
LIMIT = 3  # s; at full speed enough for a third of the files, at a twelfth of it still for one
STARTS = 40
PATIENCE = 120  # s


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def submit_commands(path, **given):
    """The commands of a submit file, with macros replaced; `given` values take precedence."""
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
    """Of a thread's own time: whatever else the machine does, it will not do more."""
    photons = 1000000
    subprocess.run([icestream, "generate", "-s", f"workload.steps={photons // 200}", "-o",
                    "trial.steps.npy"], check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([icestream, "run", "-q", "-s", "source.files=trial.steps.npy", "-s",
                    "device.threads=1", "-s", "graph.batch=2000", "-s", "sink.directory=trial"],
                   check=True)
    return photons / (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)


def make_steps(icestream):
    """run.yaml and steps/some."""
    os.makedirs("steps/some")
    steps = int(FILE_SECONDS * photons_per_second(icestream) / 200)
    for i in range(FILES):
        subprocess.run([icestream, "generate", "-s", f"workload.steps={steps}", "-s",
                        f"run.seed={i}", "-o", f"steps/some/{i:02}.steps.npy"], check=True)
    with open("run.yaml", "w", encoding="utf-8") as configuration:
        configuration.write("graph: { batch: 2000 }\ndevice: { backend: cpu }\n")


def transfer_in(commands, home, sandbox):
    """As HTCondor: a folder that ends with a slash is its contents."""
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
    # HTCondor's new syntax: all of it between double quotes, single ones as in a shell.
    check(arguments[0] == arguments[-1] == '"', "arguments are not quoted")
    with open(f"{sandbox}/job.err", "w", encoding="utf-8") as log:
        return subprocess.Popen([icestream, *shlex.split(arguments[1:-1])], cwd=sandbox,
                                stdout=subprocess.DEVNULL, stderr=log)


def run_job(icestream, commands, home, during=None):
    """One start on a machine of its own; the folder comes home. Returns the exit status."""
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
    check(not parts, f"{parts} came home")
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
    """SIGTERM, as when another job takes the machine."""
    def evict(job, sandbox):
        until = time.monotonic() + PATIENCE
        while not hit_files(f"{sandbox}/{commands['transfer_output_files']}"):
            check(time.monotonic() < until and job.poll() is None, "no hits to be evicted with")
            time.sleep(0.02)
        job.send_signal(getattr(signal, commands["kill_sig"]))

    status = run_job(icestream, commands, home, evict)
    check(status == int(commands["checkpoint_exit_code"]), f"evicted: exit status {status}")
    done = len(hit_files(commands["transfer_output_files"]))
    check(0 < done < FILES, f"evicted with {done} files")


def dry_run(submit_file):
    if shutil.which("condor_submit") is None:
        print("condor_submit is missing: no dry run")
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
    print("evicted and checkpointed jobs go on elsewhere, to the same bytes")


if __name__ == "__main__":
    main()
