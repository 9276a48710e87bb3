"""What roofline.py and impact.py share: both run `icestream bench`, take its options, and print a table or JSON."""
import argparse
import json
import os
import re
import subprocess
import sys


class Fault(Exception):
    """Ends the script with a message and an exit status, which are those of icestream."""

    def __init__(self, text, status=2):
        super().__init__(text)
        self.status = status


def options(description, parts=()):
    """A parser with the options of `icestream bench` that say what is measured, and with PART if there are parts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False, epilog="`icestream bench --help` explains the other options.")
    if parts:
        parser.add_argument("part", metavar="PART", choices=parts, help=", ".join(parts))
    parser.add_argument("config", nargs="?", metavar="CONFIG", help="the run file; without it every key has its default")
    parser.add_argument("--set", "-s", action="append", default=[], metavar="KEY=VALUE")
    for name in ("workload", "counts", "steps", "photons", "oversize", "threads"):
        parser.add_argument("--" + name)
    parser.add_argument("--schedules", metavar="A,B", help="measure these; without it graph.schedule, or all if that is auto")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--table", choices=["md"], help="write tables as Markdown")
    parser.add_argument("--json", "-j", action="store_true", help="write JSON instead of text")
    parser.add_argument("--program", default=os.environ.get("ICESTREAM", "icestream"), help="icestream, or where it was built")
    return parser


def settings(given):
    """The words of a command line that make the configuration, without CONFIG."""
    words = [word for text in given.set for word in ("--set", text)]
    for name in ("workload", "counts", "steps", "photons", "oversize", "threads"):
        if getattr(given, name) is not None:
            words += ["--" + name, getattr(given, name)]
    return words


def ending(given):
    """The last words of a command line of bench."""
    return ["--files"] * given.files + (["--", given.config] if given.config else [])


def answer(words):
    """What a command prints. Ends the script with the message and the status of a command that fails."""
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Fault(f"{words[0]}: cannot be started: {error.strerror}", 1) from error
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def measure(words, given):
    """The report of a benchmark: of the command `words` with the files that are given."""
    return json.loads(answer([*words, "--json", *ending(given)]))


def effective(given):
    """The values of the configuration as texts: {"graph.schedule": "auto", ...}."""
    values, section = {}, ""
    for line in answer([given.program, "bench", *settings(given), "--print-effective", *ending(given)]).splitlines():
        key, _, value = line.strip().partition(": ")
        if re.fullmatch(r"\w+:", line):
            section = line[:-1]
        elif re.match(r"  \w", line):
            values[f"{section}.{key.rstrip(':')}"] = value.split(" #")[0].strip()
    return values


def schedules_of(given, values):
    """The names of the schedules that are measured on a GPU. auto, which chooses one of the others, is only there if
    --schedules names it."""
    if given.schedules is not None:
        return given.schedules.split(",")
    if values["graph.schedule"] != "auto":
        return [values["graph.schedule"]]
    return re.search(r"one of auto, ([^;]*);", answer([given.program, "keys", "graph.schedule"]))[1].split(", ")


def print_table(headings, rows, markdown):
    """Prints a table without the columns that are empty in all rows."""
    used = [i for i in range(len(headings)) if not rows or any(row[i] not in ("", "-") for row in rows)]
    lines = [[row[i] for i in used] for row in [headings, *rows]]
    if markdown:
        for number, line in enumerate(lines):
            print("".join(f"| {cell} " for cell in line) + "|")
            if number == 0:
                print("|---" + "|---:" * (len(used) - 1) + "|")
        return
    widths = [max(len(line[i]) for line in lines) for i in range(len(used))]
    for first, *others in lines:
        print("  ".join([first.ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(others, widths[1:])]))


def main(work, given):
    """Runs work(given) and ends the script with its status."""
    try:
        work(given)
    except Fault as fault:
        print(fault, file=sys.stderr)
        sys.exit(fault.status)
