"""A stand-in for NVIDIA's ncu, for test_roofline.sh: writes the table that ncu writes for the schedule of its command
line, with numbers that are easy to work out by hand, and the report that icestream writes. It does not run the
command. The environment variable STAND_IN chooses what goes wrong. To join: a new fault is a line in `main`.
"""
import json
import os
import sys

# Per cycle of the GPU, and Hz: 132 multiprocessors with four schedulers each.
PEAKS = {"smsp__inst_executed.sum.peak_sustained": 528, "l1tex__t_bytes.sum.peak_sustained": 16896,
         "lts__t_bytes.sum.peak_sustained": 5120, "dram__bytes.sum.peak_sustained": 2048,
         "sm__cycles_elapsed.avg.per_second": 1.5e9, "l1tex__cycles_elapsed.avg.per_second": 1.5e9,
         "lts__cycles_elapsed.avg.per_second": 1.6e9, "dram__cycles_elapsed.avg.per_second": 2.4e9}
COUNTED = ("gpu__time_duration.sum", "smsp__thread_inst_executed.sum", "smsp__inst_executed.sum",
           "smsp__issue_active.avg.pct_of_peak_sustained_active", "l1tex__t_bytes.sum", "lts__t_bytes.sum",
           "dram__bytes.sum", "sm__cycles_active.avg", "smsp__cycles_active.avg")
LAUNCHES = {
    "table": [("gpu_table", 200000, 3320000000, 180000000, 50, 1400e6, 610e6, 220e6, 297000, 297000),
              ("gpu_table_check", 10000, 1e6, 50000, 10, 1e6, 1e6, 0, 3000, 3000)],
    "monolithic": [("gpu_monolithic", 200000, 3180000000, 132500000, 87.2, 160e6, 40e6, 10e6, 285000, 280000)],
    "wavefront": [("void ice::gpu_propagate<int>(ice_tables, int)", 10000, 8e6, 250000, 10, 60e6, 60e6, 2e6, 12000, 10000),
                  ("gpu_scatter", 10000, 1.6e6, 100000, 5, 1e6, 0, 0, 3000, 3000),
                  ("void ice::gpu_propagate<int>(ice_tables, int)", 30000, 24e6, 750000, 20, 180e6, 180e6, 6e6, 39000, 30000)]}


def cell(value):
    text = f"{value:,.2f}" if isinstance(value, float) and not value.is_integer() else f"{int(value):,}"
    return f'"{text}"'


def unit(metric):
    return {"gpu__time_duration.sum": "ns"}.get(
        metric, "hz" if "per_second" in metric else "byte" if metric.endswith("bytes.sum") else "inst")


def table(schedule, without, replaced):
    metrics = [metric for metric in sorted(PEAKS | dict.fromkeys(COUNTED)) if metric != without]
    first = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context"]
    yield ",".join(f'"{name}"' for name in first + metrics)
    yield ",".join(f'"{name}"' for name in [""] * len(first) + [unit(metric) for metric in metrics])
    for number, (kernel, *counts) in enumerate(LAUNCHES[schedule]):
        values = PEAKS | dict(zip(COUNTED, counts))
        cells = [replaced.get(metric) or cell(values[metric]) for metric in metrics]
        yield ",".join([f'"{number}","7","icestream","127.0.0.1","{kernel}","1"'] + cells)


def main(words, fault):
    with open(os.environ["STAND_IN_WORDS"], "a") as record:
        print(*words, f"loop={os.environ.get('ICESTREAM_GPU_HOST_LOOP')}", f"locale={os.environ.get('LC_ALL')}",
              file=record)
    schedule = words[words.index("--schedules") + 1] if "--schedules" in words else "table"
    lines = ["==PROF== Connected to process 7 (icestream)"]
    if fault == "permission":
        lines.append("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access the counters")
    elif fault == "failed":
        lines.append("==ERROR== The application returned an error code (69)")
        print("icestream: error: no GPU \x1b[31m was found", file=sys.stderr)
    elif fault == "no kernel":
        lines.append("==WARNING== No kernels were profiled.")
    else:
        lines += table(schedule, "lts__t_bytes.sum" if fault == "missing" else None,
                       {"dram__bytes.sum": '"n/a"'} if fault == "n/a" else {})
        if fault == "cut":
            lines[-1] = lines[-1][:-3]
    lines.append("==PROF== Disconnected from process 7")
    with open(words[words.index("--log-file") + 1], "w") as log:
        print(*lines, sep="\n", file=log)
    if fault != "no report":
        print(json.dumps({"steps_from": "workload cascade", "steps": 5, "photons": 500000, "rows": [
            {"name": schedule, "bounces": 10000000, "gpu": {"device": "NVIDIA H200"},
             **({"samples": 20000000} if schedule == "table" else {})}]}, indent=2))
    return 1 if fault in ("failed", "permission") else 0


sys.exit(main(sys.argv[1:], os.environ.get("STAND_IN")))
