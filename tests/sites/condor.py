#!/usr/bin/env python3
"""Promises: a job of configs/sites/icestream.sub that is evicted, or reaches its time limit, ends with the status for which
HTCondor starts it again, continues on another machine, and its hits are the same. A job of icestream-osdf.sub makes the file
that HTCondor transfers, and none of a step file that cannot be used, whose status holds the job.

    condor.py ICESTREAM RECIPES

HTCondor is not needed: this script does its part. It runs the command of the job in a folder with the files that are
transferred, copies the results back, and starts the job again in a new folder, as on another machine. If condor_submit is
installed, it reads the submit files (-dry-run). To join: one more way in which a job ends is a call of run_job().
"""
import filecmp
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from site_parts import check, submit_commands

FILES = 24
PATIENCE = 120  # (s)


def words_of(commands):
    """HTCondor's new syntax: double quotes around all arguments, single quotes as in a shell."""
    arguments = commands["arguments"]
    check(arguments[0] == arguments[-1] == '"', "arguments are not quoted")
    return shlex.split(arguments[1:-1])


def dry_run(submit_file):
    if shutil.which("condor_submit") is None:
        print("skipped: condor_submit is missing: no dry run")
        return
    with open("names.txt", "w", encoding="utf-8") as names:
        names.write("some\n")
    subprocess.run(["condor_submit", "-dry-run", "job.ads", submit_file], check=True)


def generate(icestream, path, steps, seed):
    subprocess.run([icestream, "generate", "-s", f"workload.steps={steps}", "-s", f"run.seed={seed}", "-o", path], check=True,
                   stderr=subprocess.DEVNULL)


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


def run_job(icestream, commands, home, evict=False):
    """Runs the job once in a new folder and copies the results back. Returns the exit status and the number of hit files."""
    output = commands["transfer_output_files"]
    with tempfile.TemporaryDirectory() as sandbox:
        transfer_in(commands, home, sandbox)
        with open(f"{home}/job.err", "w", encoding="utf-8") as log:
            job = subprocess.Popen([icestream, *words_of(commands)], cwd=sandbox, stdout=subprocess.DEVNULL, stderr=log)
        until = time.monotonic() + PATIENCE
        while evict and not glob.glob(f"{sandbox}/{output}/*.hits.npy"):
            check(time.monotonic() < until and job.poll() is None, "no hits before the eviction")
            time.sleep(0.02)
        if evict:  # as HTCondor does when another job gets the machine
            job.send_signal(getattr(signal, commands["kill_sig"]))
        status = job.wait()
        check(os.path.isdir(f"{sandbox}/{output}"), f"no {output}; see {home}/job.err")
        shutil.rmtree(f"{home}/{output}", ignore_errors=True)
        shutil.copytree(f"{sandbox}/{output}", f"{home}/{output}")
    parts = glob.glob(f"{home}/{output}/*.part")
    check(not parts, f"{parts} were copied back")
    return status, len(glob.glob(f"{home}/{output}/*.hits.npy"))


def check_checkpoints(icestream, submit_file, home):
    """The folder of steps of a job that is evicted, reaches its time limit, and ends."""
    dry_run(submit_file)
    os.makedirs("steps/some")
    for i in range(FILES):
        generate(icestream, f"steps/some/{i:02}.steps.npy", 3000, i)
    with open("run.yaml", "w", encoding="utf-8") as configuration:
        configuration.write("graph: { batch: 2000 }\ndevice: { backend: cpu }\n")
    subprocess.run([icestream, "run", "-q", "-s", "source.files=steps/some/*.npy", "-s", "sink.directory=reference", "run.yaml"],
                   check=True)
    given = {"name": "some", "request_cpus": "1"}
    commands = submit_commands(submit_file, **given)
    again = int(commands["checkpoint_exit_code"])
    status, evicted = run_job(icestream, commands, home, evict=True)
    check(status == again and 0 < evicted < FILES, f"evicted: exit status {status}, {evicted} files")
    status, count = run_job(icestream, submit_commands(submit_file, checkpoint="1", **given), home)
    check(status == again and evicted <= count < FILES, f"at the time limit: exit status {status}, {count} files")
    status, count = run_job(icestream, commands, home)
    check(status == 0 and count == FILES, f"at the end: exit status {status}, {count} files")
    names = sorted(os.path.basename(path) for path in glob.glob("reference/*.hits.npy"))
    same, different, missing = filecmp.cmpfiles("reference", "hits-some", names, shallow=False)
    check(len(same) == FILES, f"different: {different}, missing: {missing}")
    print(f"evicted with {evicted} files; the hits are the same")


def check_osdf(icestream, submit_file):
    dry_run(submit_file)
    commands = submit_commands(submit_file, name="a", request_cpus="1")
    config, steps = (os.path.basename(word) for word in commands["transfer_input_files"].split(", "))
    hits = commands["transfer_output_files"]
    check(commands["transfer_output_remaps"].strip('"').split(" = ")[0] == hits, "the remap names another file")
    with open(config, "w", encoding="utf-8") as text:
        text.write("device: { backend: cpu }\n")
    generate(icestream, steps, 20, 1)
    command = [icestream, *words_of(commands)]
    there = set(os.listdir())
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    check(set(os.listdir()) == there | {hits}, f"found {os.listdir()}")
    subprocess.run([icestream, "info", "--verify", hits], stdout=subprocess.DEVNULL, check=True)
    os.remove(hits)
    os.truncate(steps, 1500)
    status = subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
    held = re.findall(r"ExitCode == (\d+)", commands["on_exit_hold"])
    check(not os.path.exists(hits), "hits of a step file that was cut")
    check(status != 0 and str(status) in held, f"exit status {status} does not hold the job")


def main():
    icestream, recipes = (os.path.realpath(path) for path in sys.argv[1:3])
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    with tempfile.TemporaryDirectory() as home:
        os.chdir(home)
        check_checkpoints(icestream, f"{recipes}/icestream.sub", home)
        os.mkdir("osdf")
        os.chdir("osdf")
        check_osdf(icestream, f"{recipes}/icestream-osdf.sub")
        os.chdir("/")


if __name__ == "__main__":
    main()
