#!/usr/bin/env python3
"""Counts what each kernel does per bounce, and what bounds it.

    bench/roofline.py [OPTIONS OF icestream bench] [CONFIG]

Runs `icestream bench --once` under NVIDIA's profiler ncu (Nsight Compute), once for each schedule, and prints what
follows from the counters: docs/performance.md explains the tables. Needs a GPU. --workload has 40960 steps here: ncu
repeats every kernel, and 8.2e6 photons fill a GPU.

The instruction roofline is that of N. Ding, S. Williams, "An Instruction Roofline Model for GPUs", PMBS 2019, and
doi:10.1002/cpe.6591. For the levels L1, L2 and HBM of the memory, whose transactions have 32 bytes,

    intensity of a level = instructions of warps / transactions of the level
    GIPS <= min(peak GIPS, peak transactions per ns of a level * intensity of the level)

GIPS are instructions of warps per ns. Peaks are those that the profiler reports for the GPU, at the clocks at which the
kernel ran. The largest of the shares of the four limits is the part of the roof that the kernel reaches. Bytes of L1 are
those of global and local memory; shared memory is not in them.
"""
import csv
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import benchmarks
from benchmarks import Fault

STEPS_OF_WORKLOAD = "40960"
HIGH = 0.6  # a share from which a limit counts as reached: the rule of ncu's section "Speed Of Light"
TRANSACTION = 32  # bytes
LEVELS = {"l1": "L1", "l2": "L2", "hbm": "HBM"}

# The counters: names as in Nsight Compute, "Metrics Reference". smsp is one of the four partitions of a multiprocessor (sm),
# each with one scheduler; l1tex is the first level cache, lts the second one, and dram the memory of the GPU.
NUMBER = {}
BYTES = {"byte": 1, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "tbyte": 1e12}
TIME = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1, "sec": 1, "s": 1}
CLOCK = {"hz": 1, "khz": 1e3, "mhz": 1e6, "ghz": 1e9, "cycle/second": 1, "cycle/s": 1, "cycle/msecond": 1e3, "cycle/ms": 1e3,
         "cycle/usecond": 1e6, "cycle/us": 1e6, "cycle/nsecond": 1e9, "cycle/ns": 1e9}
COUNTERS = {
    "thread_instructions": ("smsp__thread_inst_executed.sum", NUMBER),  # each counted once per active thread
    "instructions": ("smsp__inst_executed.sum", NUMBER),  # of warps
    "issue": ("smsp__issue_active.avg.pct_of_peak_sustained_active", NUMBER),  # % of the active cycles
    "l1": ("l1tex__t_bytes.sum", BYTES),
    "l2": ("lts__t_bytes.sum", BYTES),
    "hbm": ("dram__bytes.sum", BYTES),
    "seconds": ("gpu__time_duration.sum", TIME),
    "sm_cycles": ("sm__cycles_active.avg", NUMBER),  # cycles in which a multiprocessor has a warp, mean of all
    "partition_cycles": ("smsp__cycles_active.avg", NUMBER),
    "sm_clock": ("sm__cycles_elapsed.avg.per_second", CLOCK),
    "l1_clock": ("l1tex__cycles_elapsed.avg.per_second", CLOCK),
    "l2_clock": ("lts__cycles_elapsed.avg.per_second", CLOCK),
    "hbm_clock": ("dram__cycles_elapsed.avg.per_second", CLOCK),
    "instructions_peak": ("smsp__inst_executed.sum.peak_sustained", NUMBER),  # per cycle, of all multiprocessors
    "l1_peak": ("l1tex__t_bytes.sum.peak_sustained", NUMBER),
    "l2_peak": ("lts__t_bytes.sum.peak_sustained", NUMBER),
    "hbm_peak": ("dram__bytes.sum.peak_sustained", NUMBER),
}

COUNTER_HEADINGS = ["kernel", "launches", "ms", "instructions/%s", "threads of 32", "issue %%", "busy %%", "L1 B/%s", "L2 B/%s",
                    "HBM B/%s"]
ROOF_HEADINGS = ["kernel", "GIPS", "roof", "peak", "instructions/L1", "instructions/L2", "instructions/HBM", "issue %", "L1 %",
                 "L2 %", "HBM %", "bound by"]


# ---- ncu -----------------------------------------------------------------------------------------

def find_ncu():
    """Finds ncu in PATH, then in the folder bin of $CUDA_HOME, of $CUDA_PATH and of /usr/local/cuda."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [os.environ.get("PATH", "")] + [os.path.join(root, "bin") for root in roots if root]
    found = shutil.which("ncu", path=os.pathsep.join(folders))
    if found is None:
        raise Fault("the program ncu is missing: found it neither in PATH nor in the folder bin of $CUDA_HOME, $CUDA_PATH or "
                    "/usr/local/cuda; it is part of the CUDA toolkit (NVIDIA Nsight Compute) and counts what kernels do on a GPU", 1)
    return found


def visible(text):
    """A text of another program without what could disturb a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def count(ncu, command):
    """Runs a command under ncu. Returns the table of ncu and the output of the command. The host drives the loop of the
    command, because kernels in the body of a conditional node cannot be counted."""
    with tempfile.TemporaryDirectory(prefix="icestream-counters-") as folder:
        table = os.path.join(folder, "counters.csv")
        words = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", table,
                 "--metrics", ",".join(metric for metric, _ in COUNTERS.values()), "--target-processes", "application-only",
                 "--clock-control", "none", "--cache-control", "none", *command]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              env={**os.environ, "ICESTREAM_GPU_HOST_LOOP": "1", "LC_ALL": "C"})
        counters = ""
        if os.path.exists(table):
            with open(table, encoding="utf-8", errors="replace") as file:
                counters = file.read()
    if "ERR_NVGPUCTRPERM" in counters + done.stderr + done.stdout:
        raise Fault("ncu may not read the counters of the GPU (ERR_NVGPUCTRPERM): run as root, or let the administrator load the "
                    "driver with NVreg_RestrictProfilingToAdminUsers=0; a container needs the capability SYS_ADMIN", 1)
    if done.returncode != 0:
        how = f"exit status {done.returncode}" if done.returncode > 0 else f"signal {signal.Signals(-done.returncode).name}"
        faults = [line for line in counters.splitlines() if "==ERROR==" in line][-1:]
        last = done.stderr.splitlines()[-1:]
        raise Fault(f"ncu ended with {how}, expected 0" + "".join("; ncu wrote: " + visible(line) for line in faults)
                    + "".join("; icestream wrote: " + visible(line) for line in last), 1)
    return counters, done.stdout


def value_of(text, unit, factors):
    """A number as ncu writes it in the locale C, such as "1,234.5", in bytes, s or Hz; None: it is none. Numbers, shares and
    cycles have no units but those with a prefix of thousands ("Kinst"), which --print-units base forbids."""
    factor = factors.get(unit.lower()) if factors else None if unit[:1] and unit[0] in "KMGT" else 1
    if factor is None or not re.fullmatch(r"(\d{1,3}(,\d{3})*|\d+)(\.\d*)?([eE][-+]?\d+)?", text):
        return None
    value = float(text.replace(",", "")) * factor
    return value if math.isfinite(value) else None


def read_launches(text):
    """Reads the table of `ncu --csv --page raw`: a row of names, a row of units, and a row for each launch of a kernel,
    between messages that begin with "==". Yields the name of the function and its counters."""
    names, units = None, {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("==") or (names is None and not line.startswith('"ID",')):
            continue
        try:
            cells, = csv.reader([line], strict=True)
        except csv.Error as error:
            raise Fault(f"ncu: line {number}: found a cell whose quotes do not end, expected a row of ncu's table", 3) from error
        if names is None:
            names = cells
            for metric, _ in COUNTERS.values():
                if metric not in names:
                    raise Fault(f"ncu: line {number}: found no column of the metric '{metric}', which this version of ncu or this GPU "
                                "does not have; expected all metrics that were asked for", 3)
            continue
        if len(cells) != len(names):
            raise Fault(f"ncu: line {number}: found {len(cells)} cells, expected {len(names)} as in the row of names", 3)
        row = dict(zip(names, cells))
        if not row.get("Kernel Name"):
            units = row
            continue
        # "void cub::sort<int>(int *)" becomes "sort".
        kernel = re.sub(r"[^\w$.~-]", "?", re.split(r"[ :]", re.split(r"[<(]", row["Kernel Name"])[0])[-1], flags=re.ASCII)
        values = {}
        for counter, (metric, factors) in COUNTERS.items():
            values[counter] = value_of(row[metric], units.get(metric, ""), factors)
            if values[counter] is None:
                raise Fault(f"ncu: line {number}: kernel {kernel}: metric {metric}: found '{visible(row[metric])}' "
                            f"({visible(units.get(metric, ''))}), expected a number of at least 0; ncu writes 'n/a' where the GPU "
                            "does not have the metric", 3)
        yield kernel, values
    if names is None:
        raise Fault("ncu: found no table in what ncu wrote, expected one row for each launch of a kernel: ncu saw no kernel", 3)


# ---- the roofline --------------------------------------------------------------------------------

def ratio(value, divisor):
    return value / divisor if divisor > 0 else 0.0


def figures(launches, divisor, word):
    """What follows from the launches of a kernel or of a run. A capacity is what the GPU could have done in their time."""
    def total(work):
        return math.fsum(map(work, launches))
    seconds, instructions = total(lambda v: v["seconds"]), total(lambda v: v["instructions"])
    threads = total(lambda v: v["thread_instructions"])
    capacity = total(lambda v: v["seconds"] * v["sm_clock"] * v["instructions_peak"])
    moved = {level: total(lambda v: v[level]) for level in LEVELS}
    shares = {level: ratio(moved[level], total(lambda v: v["seconds"] * v[level + "_clock"] * v[level + "_peak"]))
              for level in LEVELS}
    busy = ratio(total(lambda v: v["sm_cycles"]), total(lambda v: v["seconds"] * v["sm_clock"]))
    share, gips = ratio(instructions, capacity), ratio(instructions, 1e9 * seconds)
    limits = {"instructions": share, **{LEVELS[level]: shares[level] for level in LEVELS}}
    bound = max(limits, key=limits.get)
    return {
        "launches": len(launches), "seconds": seconds, "thread_instructions": threads, "instructions": instructions,
        "bytes": moved, "instructions_per_" + word: ratio(threads, divisor), "active_threads": ratio(threads, instructions),
        "issue": ratio(total(lambda v: 0.01 * v["issue"] * v["partition_cycles"]), total(lambda v: v["partition_cycles"])),
        "busy": busy, "bytes_per_" + word: {level: ratio(moved[level], divisor) for level in LEVELS},
        "gips": gips, "roof_gips": ratio(gips, limits[bound]), "peak_gips": ratio(capacity, 1e9 * seconds),
        "instruction_share": share,
        "intensity": {level: ratio(instructions, moved[level] / TRANSACTION) for level in LEVELS}, "level_shares": shares,
        "bound": bound if limits[bound] >= HIGH else "idle" if busy < HIGH else "latency"}


def describe(name, launches, row):
    """The counters of a schedule: of all launches, and of each kernel in the order of their first launches."""
    samples = row.get("samples", 0)
    divisor, word = (samples, "sample") if samples else (row["bounces"], "bounce")
    kernels = {}
    for kernel, values in launches:
        kernels.setdefault(kernel, []).append(values)
    report = {"schedule": name, "bounces": row["bounces"],
              "all": {"kernel": None, **figures([values for _, values in launches], divisor, word)},
              "kernels": [{"kernel": kernel, **figures(some, divisor, word)} for kernel, some in kernels.items()]}
    return {**report, "samples": samples} if samples else report


def count_schedule(given, ncu, name, command):
    """The report of the run, and the counters of one schedule."""
    if sys.stderr.isatty():
        print(f"{name} under ncu", file=sys.stderr)
    counters, output = count(ncu, command)
    launches = list(read_launches(counters))
    begin = re.search(r"^\{", output, re.M)  # ncu or the driver may have written lines in front of the report
    try:
        report = json.loads(output[begin.start():output.rindex("}") + 1])
        row = report["rows"][0]
        if not row["bounces"] > 0:
            raise ValueError
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise Fault(f"{name}: found no bounces in what icestream wrote under ncu, expected the report of `icestream bench --json`",
                    1) from error
    return report, describe(name, launches, row)


def choose(given, values):
    """The names of what is counted. A table has one kernel for all schedules."""
    if values["stages.tabulate"] != "none":
        if given.schedules is not None:
            raise Fault(f"--schedules: found {given.schedules}, and stages.tabulate, whose table has one kernel for all schedules; "
                        "expected no --schedules")
        return ["table"]
    names = [name for name in benchmarks.schedules_of(given, values) if name != "auto"]
    if not names:
        raise Fault("--schedules: found only auto, which chooses one of the schedules; expected schedules whose kernels can be "
                    "counted")
    return names


def rows_of(schedules, cells):
    for one in schedules:
        entries = [(one["schedule"], one["all"])] if len(one["kernels"]) != 1 else []
        entries += [(f"{one['schedule']} {kernel['kernel']}", kernel) for kernel in one["kernels"]]
        for name, found in entries:
            yield [name, *cells(found)]


def print_text(report, markdown):
    samples = report["schedules"][0].get("samples", 0)
    word = "sample" if samples else "bounce"

    def counters(found):
        return [str(found["launches"]), f"{1e3 * found['seconds']:.3f}", f"{found['instructions_per_' + word]:.1f}",
                f"{found['active_threads']:.1f}", f"{100 * found['issue']:.1f}", f"{100 * found['busy']:.1f}",
                *(f"{value:.2f}" for value in found["bytes_per_" + word].values())]

    def roofs(found):
        return [f"{found[key]:.1f}" for key in ("gips", "roof_gips", "peak_gips")] \
            + [f"{value:.2f}" if value > 0 else "-" for value in found["intensity"].values()] \
            + [f"{100 * share:.1f}" for share in (found["instruction_share"], *found["level_shares"].values())] + [found["bound"]]
    print(f"counters of ncu on {report['device'] or 'a GPU'}, {report['photons']} photons in {report['steps']} steps of "
          f"{report['steps_from']}, {samples or report['schedules'][0]['bounces']} {word}s\n")
    headings = [heading.replace("%s", word).replace("%%", "%") for heading in COUNTER_HEADINGS]
    benchmarks.print_table(headings, list(rows_of(report["schedules"], counters)), markdown)
    print()
    benchmarks.print_table(ROOF_HEADINGS, list(rows_of(report["schedules"], roofs)), markdown)


def work(given):
    if given.workload and not given.steps:
        given.steps = STEPS_OF_WORKLOAD
    values = benchmarks.effective(given)
    if values["device.backend"] not in ("auto", "cuda"):
        raise Fault(f"device.backend: found {values['device.backend']}, but counters are those of a GPU; expected auto or cuda")
    names, ncu, schedules = choose(given, values), find_ncu(), []
    program = shutil.which(given.program) or given.program
    for name in names:
        command = [program, "bench", *benchmarks.settings(given), "--set", "device.backend=cuda", "--set", "device.fallback=none",
                   "--set", "device.watchdog=3600", *([] if name == "table" else ["--schedules", name]), "--once", "--json",
                   *benchmarks.ending(given)]
        run, counted = count_schedule(given, ncu, name, command)
        schedules.append(counted)
    gpu = run["rows"][0].get("gpu") or {}
    report = {"device": gpu.get("device", ""), "steps_from": run["steps_from"], "steps": run["steps"], "photons": run["photons"],
              "schedules": schedules}
    if given.json:
        print(json.dumps(report, indent=2))
    else:
        print_text(report, given.table)


if __name__ == "__main__":
    benchmarks.main(work, benchmarks.options(__doc__).parse_args())
