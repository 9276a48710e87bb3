"""A small job for the tests of this folder: step files, a run, and its right hit files.

Every test works on copies of one template. The template has a run file, the ice model and the
detector that it reads, so that faults can hit these files too, and step files whose light makes
hits. The reference has the hit files of a run without faults. The command line of the run is a
parameter: the same tests work with a list of files, with a watched folder and with several
processes.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(HERE, "..", "..", "configs")
RUN = "run run.yaml -s device.threads=1"
DOCUMENTED = {0, 1, 2, 3, 74, 75, 85, 130, 143}
SANITIZER = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")

RUN_YAML = """\
run:      { seed: 1 }
source:   { %s }
sink:     { directory: hits/ }
ice:      { file: three-layers.yaml }
detector: { file: cluster.csv }
light:    { spectra: [{ file: light.txt }] }
workload: { kind: point, photons_per_step: 100 }
device:   { backend: cpu }
"""
FILES = "files: [steps/*.steps.npy]"
FOLDER = "directory: in/, watch: true"
LIGHT = "380 1\n400 2\n420 1\n"


class Outcome:
    """How a process ended: `status` is None if it had to be killed after the limit."""

    def __init__(self, status, text, log=""):
        self.status, self.text, self.log = status, text, log

    def faults(self):
        """Returns (number, family, call, path) of every fault that was injected."""
        lines = [line.split(" ", 4) for line in self.log.splitlines() if line.startswith("fault ")]
        return [(int(line[1]), line[2], line[3], line[4]) for line in lines]

    def counted(self):
        """Returns the number of counted calls; None if the process did not reach its end."""
        found = re.search(r"^counted (\d+)$", self.log, re.MULTILINE)
        return int(found.group(1)) if found else None


def environment(**more):
    """Returns the environment of a test: without GPUs, and with these variables."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": "", "LC_ALL": "C", **more}


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Job:
    """The template, in a new folder. `sizes` are the numbers of steps of the step files."""

    def __init__(self, program, sizes, run=RUN, seconds=60):
        self.program, self.run, self.seconds = os.path.realpath(program), run, seconds
        self.folder = tempfile.mkdtemp(prefix="icestream-faults-")
        self.template = os.path.join(self.folder, "template")
        self.make(sizes)
        self.reference = self.make_reference()

    def make(self, sizes):
        os.makedirs(os.path.join(self.template, "steps"))
        for name in ("ice/three-layers.yaml", "ice/three-layers.csv", "detectors/cluster.csv"):
            shutil.copy(os.path.join(CONFIGS, name), self.template)
        for name, text in (
            ("run.yaml", RUN_YAML % FILES),
            ("watch.yaml", RUN_YAML % FOLDER),
            ("light.txt", LIGHT),
        ):
            with open(os.path.join(self.template, name), "w", encoding="ascii") as file:
                file.write(text)
        for index, steps in enumerate(sizes):
            made = self.start(
                self.template,
                "generate run.yaml -s run.seed=%d -s workload.steps=%d -o steps/%04d.steps.npy"
                % (index + 1, steps, index),
            )
            if made.status != 0:
                raise SystemExit("the job cannot be made: " + made.text)

    def make_reference(self):
        where = self.fresh()
        done = self.start(where, RUN)
        found = self.hits(where)
        count = len(os.listdir(os.path.join(where, "steps")))
        if done.status != 0 or len(found) != count:
            raise SystemExit("the reference cannot be made: " + done.text)
        if min(len(data) for data in found.values()) < 1024 + 64 * 5:
            raise SystemExit("the reference has too few hits for a test")
        shutil.rmtree(where)
        return found

    def fresh(self):
        """Returns the folder of a new copy of the template, without hits."""
        where = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(self.template, where, dirs_exist_ok=True)
        return where

    def popen(self, where, command, **options):
        """Starts the program. The plan of faults, if any, is in `env`."""
        return subprocess.Popen(
            [self.program] + shlex.split(command),
            cwd=where,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            **{"env": environment(), **options}
        )

    def start(self, where, command, inject=None):
        """Runs the program to its end."""
        log = os.path.join(where, "fault.log")
        if os.path.exists(log):
            os.unlink(log)
        env = environment(FAULT_LOG=log, **(inject or {}))
        process = self.popen(where, command, env=env, stderr=subprocess.PIPE)
        try:
            text = process.communicate(timeout=self.seconds)[1]
            status = process.returncode
        except subprocess.TimeoutExpired:
            process.kill()
            text, status = process.communicate()[1], None
        text = text.decode("utf-8", "replace")
        return Outcome(status, text, read(log).decode() if os.path.exists(log) else "")

    @staticmethod
    def hits(where, folder="hits"):
        """Returns the contents of the hit files with final names."""
        path = os.path.join(where, folder)
        names = os.listdir(path) if os.path.isdir(path) else []
        return {
            name: read(os.path.join(path, name)) for name in names if name.endswith(".hits.npy")
        }

    def wrong_files(self, where):
        """Reports files with final names that are not equal to the reference."""
        return [
            "%s has its final name and is wrong" % name
            for name, data in sorted(self.hits(where).items())
            if data != self.reference.get(name)
        ]

    def missing_files(self, where):
        found = self.hits(where)
        return ["%s is missing" % name for name in sorted(self.reference) if name not in found]

    @staticmethod
    def left_over(where):
        """Reports files that may exist only during a run."""
        return [
            "%s is left" % name
            for _, _, names in os.walk(os.path.join(where, "hits"))
            for name in sorted(names)
            if name.endswith(".part") or name.startswith(".hits-")
        ]

    def complete(self, where):
        """Reports what is wrong after a run that ended with success."""
        return self.wrong_files(where) + self.missing_files(where) + self.left_over(where)

    def close(self):
        shutil.rmtree(self.folder)

    def end(self, found):
        """Prints what was found and removes the folder. Returns the exit status of the test."""
        for text in found:
            print("FAILED: " + text)
        self.close()
        return 1 if found else 0


def judge_end(outcome, killed=False):
    """Reports what is wrong with the end of a process, whatever its work was."""
    if outcome.status is None:
        return ["not finished after the limit"]
    found = []
    if SANITIZER.search(outcome.text):
        found.append("a sanitizer's report")
    if outcome.status < 0 and not (killed and outcome.status == -signal.SIGKILL):
        found.append("ended by signal %d" % -outcome.status)
    elif outcome.status >= 0 and outcome.status not in DOCUMENTED:
        found.append("exit status %d is not documented" % outcome.status)
    return found
