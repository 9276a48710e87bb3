#!/usr/bin/env python3
"""Promises: damaged and hostile inputs end with the message and the exit status of docs/bad-inputs.md,
and never break the program.

    bad_inputs.py PROGRAM            runs all cases and compares the messages with docs/bad-inputs.md
    bad_inputs.py PROGRAM --only X   runs only cases whose group or name contains X; compares nothing
    bad_inputs.py PROGRAM --write    runs all cases and writes docs/bad-inputs.md again

The exit status is 1 if a case fails or the document differs. To join: add a case to the file bad_inputs_*.py
of its subject, then use --write and look at the new row of the document. A case has a command, its input
files, the exit status and texts that standard error must contain (bad_inputs_files.py, Case).

Every case runs in its own folder. In addition, no case may end by a signal or a sanitizer's report, take
longer than 20 s (200 s with a sanitizer), leave a .part file or an incomplete hit file, or fail without a message.
"""

import difflib
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
from bad_inputs_commands import command_cases, sink_cases  # noqa: E402
from bad_inputs_configuration import configuration_cases  # noqa: E402
from bad_inputs_detection import detection_cases  # noqa: E402
from bad_inputs_detector import geometry_cases  # noqa: E402
from bad_inputs_doubtful import doubtful_cases  # noqa: E402
from bad_inputs_exchange import exchange_cases  # noqa: E402
from bad_inputs_files import CASES, Special, good  # noqa: E402
from bad_inputs_ice import ice_cases  # noqa: E402
from bad_inputs_ice_features import ice_feature_cases  # noqa: E402
from bad_inputs_mesh import mesh_cases  # noqa: E402
from bad_inputs_onefile import one_file_cases  # noqa: E402
from bad_inputs_outputs import output_cases  # noqa: E402
from bad_inputs_particles import particle_cases  # noqa: E402
from bad_inputs_plausible import plausible_cases  # noqa: E402
from bad_inputs_pmt_table import pmt_table_cases  # noqa: E402
from bad_inputs_queue import queue_cases  # noqa: E402
from bad_inputs_steps import step_cases  # noqa: E402
from bad_inputs_tables import table_cases  # noqa: E402
from bad_inputs_types import type_cases  # noqa: E402
from bad_inputs_water import water_cases  # noqa: E402

# A sanitizer makes the program ten times slower, so its build gives a factor.
SECONDS = 20 * int(os.environ.get("ICESTREAM_TEST_SLOWER", "1"))
NOBODY = 65534
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/bad-inputs.md")
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
    return (
        rows is not None
        and offset == 1024 + 64 * int(rows.group(1))
        and offset + length + 32 == len(data)
    )


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
        done = subprocess.run(
            [os.fsencode(program)] + arguments,
            cwd=where,
            stdout=out,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            env=environment(),
            preexec_fn=limit,
            check=False,
            **identity,
            **({"stdin": source} if source is not None else {"input": data})
        )
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
    """Runs a case in a new folder. Returns the exit status, standard error and the faults."""
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
        return status, text, judge(it, status, text, found)
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
        return (
            subprocess.run(
                [program, "--version"],
                user=NOBODY,
                group=NOBODY,
                cwd="/",
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ).returncode
            == 0
        )
    except OSError:
        return False


def make_good_files(program):
    """Lets the program write good files. Returns the bytes of a step file, its hit file, and the step file as HDF5
    (b"" without HDF5)."""
    with tempfile.TemporaryDirectory() as where:

        def run(*arguments):
            return subprocess.run(
                [program, *arguments], cwd=where, stderr=subprocess.PIPE, check=False
            )

        os.mkdir(os.path.join(where, "steps"))
        for arguments in (
            [
                "generate",
                "-s",
                "workload.steps=40",
                "-s",
                "workload.photons_per_step=500",
                "-o",
                "steps/a.steps.npy",
            ],
            ["run", "-q", "-s", "ice.model=uniform", "-s", "detector.oversize=5"],
        ):
            done = run(*arguments)
            if done.returncode != 0:
                sys.exit("cannot make good files: %s" % done.stderr.decode())
        run("convert", "steps/a.steps.npy", "a.h5")
        contents = []
        for name in ("steps/a.steps.npy", "hits/a.hits.npy", "a.h5"):
            path = os.path.join(where, name)
            contents.append(open(path, "rb").read() if os.path.exists(path) else b"")
        return contents


# ---- the document --------------------------------------------------------------------------------


def row_of(it, status, text):
    """Returns the row of a case. Of the message it has the first line that is neither a warning nor about a changed default,
    without what depends on the machine. If the program goes on, the message is the first warning."""
    lines = [line for line in text.splitlines() if " is not given: it is " not in line] or [""]
    if status == 0:
        lines = [line for line in lines if line.startswith("warning")] or [""]
    else:
        lines = [line for line in lines if not line.startswith("warning: ")] or lines
    message = re.sub(it.varies, "...", lines[0]) if it.varies else lines[0]
    cells = [it.name, "icestream " + it.command, str(status), message]
    for i, cell in enumerate(cells):
        cell = "".join(c if c.isprintable() else "?" for c in cell).replace("|", "\\|")
        cells[i] = cell if len(cell) <= 200 else cell[:200].rsplit(" ", 1)[0] + " ..."
    message = "`%s`" % cells[3].replace("`", "'") if cells[3] else ""
    return "| %s | `%s` | %s | %s |" % (cells[0], cells[1].strip(), cells[2], message)


def document_of(results):
    """Returns the whole document."""
    lines = [
        "# Bad inputs",
        "",
        "The messages and exit statuses of icestream for damaged and hostile inputs. If a message has",
        "several lines, the first one is shown; if the program goes on, its first warning. The test `cli/bad_inputs` compares this document with the",
        "program; `tests/cli/bad_inputs.py PROGRAM --write` writes it.",
    ]
    group = None
    for it, status, text in results:
        if it.group != group:
            group = it.group
            lines += [
                "",
                "## %s" % (group[0].upper() + group[1:]),
                "",
                "| input | command | exit status | message |",
                "| --- | --- | --- | --- |",
            ]
        lines.append(row_of(it, status, text))
    return "\n".join(lines) + "\n"


def compare_document(results, all_ran):
    """Prints how the document differs from the results. Returns whether it does. If cases were skipped,
    only the rows of the others are compared."""
    with open(DOCUMENT, encoding="utf-8") as file:
        found = file.read()
    expected = document_of(results)
    if all_ran:
        differences = list(
            difflib.unified_diff(
                found.splitlines(), expected.splitlines(), "docs/bad-inputs.md", "now", lineterm="", n=0
            )
        )
    else:
        rows = set(found.splitlines())
        differences = [row for row in (row_of(*result) for result in results) if row not in rows]
    if differences:
        print(
            "FAILED: docs/bad-inputs.md is not what the program says now; "
            "tests/cli/bad_inputs.py PROGRAM --write writes it again\n" + "\n".join(differences),
            file=sys.stderr,
        )
    return bool(differences)


# ---- all cases -----------------------------------------------------------------------------------


def collect_cases(program):
    """Fills CASES; some cases are made from files that the program writes."""
    good.program = program
    good.steps, good.hits, good.hdf5 = make_good_files(program)
    good.hit_count = int(re.search(rb"'shape': \( *(\d+),", good.hits[:1024]).group(1))
    for collect in (
        configuration_cases,
        ice_cases,
        ice_feature_cases,
        water_cases,
        geometry_cases,
        table_cases,
        type_cases,
        mesh_cases,
        pmt_table_cases,
        detection_cases,
        particle_cases,
        output_cases,
        step_cases,
        sink_cases,
        command_cases,
        one_file_cases,
        queue_cases,
        exchange_cases,
        plausible_cases,
        doubtful_cases,
    ):
        collect()


def report_failure(it, text, faults):
    print(
        "FAILED: %s: %s: %s\n  icestream %s\n  %s"
        % (
            it.group,
            it.name,
            "; ".join(faults),
            it.command[:200],
            text[:3000].replace("\n", "\n  "),
        ),
        file=sys.stderr,
    )


def run_cases(program, only):
    """Runs the cases whose group or name contains `only`. Returns the results, the number of failed cases
    and the number of cases that cannot run on this machine or with this build."""
    nobody = may_run_as_nobody(program)
    with open(program, "rb") as file:
        sanitized = re.search(rb"__[at]san_init", file.read()) is not None
    results, failures, skipped = [], 0, 0
    for it in CASES:
        if only not in it.group + " " + it.name:
            continue
        if (it.unprivileged and not nobody) or (it.unsanitized and sanitized):
            skipped += 1
            continue
        status, text, faults = run_case(program, it)
        if "built without Assimp" in text or (not good.hdf5 and "built without HDF5" in text):
            skipped += 1
            continue
        results.append((it, status, text))
        if faults:
            failures += 1
            report_failure(it, text, faults)
    return results, failures, skipped


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    program = os.path.abspath(arguments[0])
    write = "--write" in arguments
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    collect_cases(program)
    results, failures, skipped = run_cases(program, only)
    print("%d cases, %d failures, %d skipped" % (len(results), failures, skipped))
    if only:
        return 1 if failures else 0
    all_ran = skipped == 0 and bool(good.hdf5)
    if not write:
        return 1 if compare_document(results, all_ran) or failures else 0
    if failures or not all_ran:
        sys.exit("docs/bad-inputs.md is not written: cases failed or were skipped")
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(document_of(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
