#!/usr/bin/env python3
"""Promises: damaged and hostile inputs end with their message and exit status, and never break the program.

    bad_inputs.py PROGRAM            runs all cases
    bad_inputs.py PROGRAM --only X   runs only cases whose group or name contains X

The exit status is 1 if a case fails. To join: add a case to a function *_cases() in the file bad_inputs_*.py of its subject. A
case has a command, its input files, the exit status and texts that standard error must contain (bad_inputs_files.py, Case).

Every case runs in its own folder. In addition, no case may end by a signal or a sanitizer's report, take
longer than 20 s (200 s with a sanitizer), leave a .part file or an incomplete hit file, or fail without a message.
"""

import glob
import importlib
import os
import re
import resource
import shlex
import shutil
import stat
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from bad_inputs_files import CASES, Special, good  # noqa: E402

# A sanitizer makes the program ten times slower, so its build gives a factor.
SECONDS = 20 * int(os.environ.get("ICESTREAM_TEST_SLOWER", "1"))
NOBODY = 65534
SANITIZER = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")


# ---- running -------------------------------------------------------------------------------------


def prepare(path, content):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if isinstance(content, Special):
        content.make(path)
    else:
        with open(path, "wb") as file:
            file.write(content)


def hit_file_is_complete(path):
    """Compares the trailer (offset, number of rows, magic string) with the length of the file."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 1024 + 32 or data[-8:] != b"ISTRAIL1":
        return False
    rows = re.match(rb"\x93NUMPY....{'shape': \( *(\d+),", data, re.DOTALL)
    offset, length = struct.unpack("<QQ", data[-32:-16])
    return rows is not None and offset == 1024 + 64 * int(rows.group(1)) and offset + length + 32 == len(data)


def leftovers(where, before):
    """Lists the files that must not exist after a run."""
    found = []
    for root, _, names in os.walk(where):
        for name in names:
            path = os.path.join(root, name)
            if path in before or not stat.S_ISREG(os.lstat(path).st_mode):
                continue
            if ".part" in name:
                found.append("%s was not removed" % name)
            elif name.endswith(".hits.npy") and not hit_file_is_complete(path):
                found.append("%s is not complete" % name)
    return found


def environment():
    options = "exitcode=99:abort_on_error=0:allocator_may_return_null=1"
    return {
        **os.environ,
        "CUDA_VISIBLE_DEVICES": "",  # machines with a GPU behave as those without
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "LSAN_OPTIONS": "exitcode=99",
    }


def start(program, it, where):
    """Runs the command of a case. Returns the exit status and standard error, or None and a fault."""

    def limit():
        for name, value in it.limits:
            resource.setrlimit(name, (value, value))
        for descriptor in it.closed:
            os.close(descriptor)

    arguments = [os.fsencode(text) for text in shlex.split(it.command)]
    identity = {"user": NOBODY, "group": NOBODY} if it.unprivileged and os.getuid() == 0 else {}
    data, source = it.stdin, None
    if isinstance(data, str):
        data, source = None, os.open(os.path.join(where, it.stdin), os.O_RDONLY)
    out = open(it.stdout, "wb") if it.stdout else subprocess.DEVNULL
    try:
        streams = {"stdin": source} if source is not None else {"input": data}
        done = subprocess.run([os.fsencode(program)] + arguments, cwd=where, stdout=out, stderr=subprocess.PIPE, timeout=SECONDS,
                              env=environment(), preexec_fn=limit, check=False, **identity, **streams)
        return done.returncode, done.stderr.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None, "not finished after %d s" % SECONDS
    finally:
        if source is not None:
            os.close(source)
        if out is not subprocess.DEVNULL:
            out.close()


def judge(it, status, text, found):
    """Lists what is wrong with the outcome of a case."""
    faults = list(found)
    if status is None:
        return [text]
    if SANITIZER.search(text):
        faults.append("a sanitizer's report")
    if status < 0:
        faults.append("ended by signal %d" % -status)
    elif status != it.exit:
        faults.append("exit status %d instead of %d" % (status, it.exit))
    faults += ["'%s' is not in the message" % part for part in it.says if part not in text]
    if not text and it.exit != 0 and 2 not in it.closed:
        faults.append("there is no message")
    return faults


def run_case(program, it):
    """Runs a case in a new folder. Returns standard error and the faults."""
    where = tempfile.mkdtemp(prefix="icestream-bad-")
    try:
        for name, content in it.files.items():
            prepare(os.path.join(where, name), content)
        if it.unprivileged and os.getuid() == 0:
            for root, folders, names in os.walk(where):
                for name in [root] + [os.path.join(root, n) for n in folders + names]:
                    os.chown(name, NOBODY, NOBODY, follow_symlinks=False)
        before = {os.path.join(root, name) for root, _, names in os.walk(where) for name in names}
        status, text = start(program, it, where)
        found = leftovers(where, before)
        if it.check:
            found += it.check(where)
        return text, judge(it, status, text, found)
    finally:
        for root, folders, _ in os.walk(where):
            for name in folders:
                if not os.path.islink(os.path.join(root, name)):
                    os.chmod(os.path.join(root, name), 0o700)
        shutil.rmtree(where)


def may_run_as_nobody(program):
    """Returns whether the user `nobody` can execute the program. Only root changes the user."""
    if os.getuid() != 0:
        return True
    try:
        return subprocess.run([program, "--version"], user=NOBODY, group=NOBODY, cwd="/", check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def make_good_files(program):
    """Lets the program write good files. Returns the bytes of a step file and of its hit file."""
    with tempfile.TemporaryDirectory() as where:
        os.mkdir(os.path.join(where, "steps"))
        for line in ("generate -s workload.steps=40 -s workload.photons_per_step=500 -o steps/a.steps.npy",
                     "run -q -s ice.model=uniform -s detector.oversize=5"):
            done = subprocess.run([program, *line.split()], cwd=where, stderr=subprocess.PIPE, check=False)
            if done.returncode != 0:
                sys.exit("cannot make good files: %s" % done.stderr.decode())
        contents = []
        for name in ("steps/a.steps.npy", "hits/a.hits.npy"):
            with open(os.path.join(where, name), "rb") as file:
                contents.append(file.read())
        return contents


# ---- all cases -----------------------------------------------------------------------------------


def collect_cases(program):
    """Fills CASES; some cases are made from files that the program writes."""
    good.program = program
    good.steps, good.hits = make_good_files(program)
    good.hit_count = int(re.search(rb"'shape': \( *(\d+),", good.hits[:1024]).group(1))
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "bad_inputs_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, collect in vars(module).items():
            if name.endswith("_cases") and collect.__module__ == module.__name__:
                collect()


def report_failure(it, text, faults):
    print("FAILED: %s: %s: %s\n  icestream %s\n  %s" % (it.group, it.name, "; ".join(faults), it.command[:200], text[:3000].replace("\n", "\n  ")),
        file=sys.stderr)


def run_cases(program, only):
    """Runs the cases whose group or name contains `only`. Returns the numbers of cases that ran, that failed, and that
    cannot run on this machine or with this build."""
    nobody = may_run_as_nobody(program)
    with open(program, "rb") as file:
        sanitized = re.search(rb"__[at]san_init", file.read()) is not None
    ran, failures, skipped = 0, 0, 0
    for it in CASES:
        if only not in it.group + " " + it.name:
            continue
        if (it.unprivileged and not nobody) or (it.unsanitized and sanitized):
            skipped += 1
            continue
        text, faults = run_case(program, it)
        if "built without Assimp" in text:
            skipped += 1
            continue
        ran += 1
        if faults:
            failures += 1
            report_failure(it, text, faults)
    return ran, failures, skipped


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    program = os.path.abspath(arguments[0])
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    collect_cases(program)
    ran, failures, skipped = run_cases(program, only)
    print("%d cases, %d failures, %d skipped" % (ran, failures, skipped))
    return 1 if failures or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
