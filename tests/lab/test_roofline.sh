#!/usr/bin/env bash
# Promises: `bench/roofline.py` runs the program under ncu once for each schedule, and prints
# what follows from the counters: per bounce, on the roofline, and what bounds a kernel; each fault of ncu has its
# message. ncu_stand_in.py stands for ncu, so that the test needs no GPU; the numbers below are worked out by hand
# from those in it. To join: a new figure gets a cell in the rows, a new fault a line at the end.
source "$(dirname "$0")/../cli/common.bash"
stand_in=$(realpath "$(dirname "$0")/ncu_stand_in.py")
python=$("$(python_with json)" -c "import sys; print(sys.executable)") || skip "no Python"
ROOFLINE=("$python" "$REPOSITORY/bench/roofline.py" --program "$ICESTREAM")
mkdir bin
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$python" "$stand_in" >bin/ncu
chmod +x bin/ncu
export PATH="$PWD/bin:$PATH" STAND_IN_WORDS="$PWD/words"
cat >run.yaml <<'YAML'
workload: { steps: 5, photons_per_step: 100 }
YAML

# row FILE NAME CELL...: checks that a row of a table has these cells.
row() {
    local file=$1 name=$2 line
    shift 2
    line=$(grep "^$name  " "$file" | tr -s ' ')
    [[ "$line"$'\n' == *"$name $*"$'\n'* ]] || fail "row '$name $*' in $file, found: $line"
}

# 1e7 bounces. monolithic: 3.18e9 thread and 1.325e8 warp instructions in 0.2 ms at 1.5 GHz, where 528 per cycle are
# possible: 1.584e8. Bytes: 16, 4 and 1 per bounce; the levels could have moved 5.07e9, 1.64e9 and 9.83e8.
expect 0 "${ROOFLINE[@]}" run.yaml --schedules monolithic,wavefront -s run.seed=9 --oversize 2
says out "counters of ncu on NVIDIA H200, 500000 photons in 5 steps of workload cascade"
row out "monolithic gpu_monolithic" 1 0.200 318.0 24.0 87.2 95.0 16.00 4.00 1.00
row out "monolithic gpu_monolithic" 662.5 792.0 792.0 26.50 106.00 424.00 83.6 3.2 2.4 1.0 instructions
# propagate: two launches; the second level cache could have moved 3.28e8 bytes and moved 2.4e8. (10 % of 10000 cycles
# and 20 % of 30000) are 17.5 %.
row out "wavefront gpu_propagate" 2 0.040 3.2 32.0 17.5 85.0 24.00 24.00 0.80
row out "wavefront gpu_propagate" 25.0 34.1 792.0 0.13 0.13 4.00 3.2 23.7 73.2 4.1 L2
row out "wavefront gpu_scatter" 1 0.010 0.2 16.0 5.0 20.0 0.10 0.00 0.00
row out "wavefront gpu_scatter" 10.0 792.0 792.0 3.20 - - 1.3 0.4 0.0 0.0 idle
row out "wavefront" 3 0.050 3.4 30.5 16.6 72.0 24.10 24.00 0.80
row out "wavefront" 22.0 37.5 792.0 0.15 0.15 4.40 2.8 19.0 58.6 3.3 latency
# Nothing stays of the temporary files, and the command is that of the user, on a GPU and with the loop on the host.
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'icestream-counters-*' -user "$(id -u)" -newer run.yaml)" ] ||
    fail "a temporary folder remains"
[ "$(wc -l <words)" -eq 2 ] || fail "two schedules are two runs: $(cat words)"
says words "--csv --page raw --print-units base" "smsp__inst_executed.sum," "loop=1 locale=C" \
    "--set run.seed=9 --oversize 2 --set device.backend=cuda --set device.fallback=none" \
    "--schedules monolithic --once --json -- run.yaml"

# The same as Markdown and as JSON, with what the tables leave out.
expect 0 "${ROOFLINE[@]}" run.yaml --schedules monolithic --table md
says out "| monolithic gpu_monolithic | 1 | 0.200 | 318.0 | 24.0 |"
expect 0 "${ROOFLINE[@]}" run.yaml --schedules wavefront --json
mv out report.json
cat >check.py <<'PYTHON'
import json, math
report = json.load(open("report.json"))
one, = report["schedules"]
assert one["schedule"] == "wavefront" and one["bounces"] == 10000000 and report["photons"] == 500000
assert [kernel["kernel"] for kernel in one["kernels"]] == ["gpu_propagate", "gpu_scatter"]
propagate = one["kernels"][0]
assert propagate["bytes"] == {"l1": 2.4e8, "l2": 2.4e8, "hbm": 8e6} and propagate["bound"] == "L2"
for found, expected in ((propagate["seconds"], 4e-5), (propagate["level_shares"]["l2"], 2.4e8 / 3.2768e8),
                        (propagate["roof_gips"], 25 * 3.2768e8 / 2.4e8), (one["all"]["active_threads"], 33.6 / 1.1)):
    assert math.isclose(found, expected, rel_tol=1e-9), (found, expected)
PYTHON
expect 0 "$python" check.py

# Without --schedules: graph.schedule, or all of a GPU but auto. A published workload gets fewer steps.
: >words
expect 0 "${ROOFLINE[@]}" run.yaml -s graph.schedule=wavefront --workload cascade
[ "$(wc -l <words)" -eq 1 ] || fail "graph.schedule is one run: $(cat words)"
says words "--workload cascade --steps 40960"
# The stand-in knows two schedules. With --files the steps are those of a run.
: >words
expect 0 "${ROOFLINE[@]}" run.yaml --files --schedules wavefront,monolithic -s workload.steps=300
says out "counters of ncu on NVIDIA H200"
row out "monolithic gpu_monolithic" 662.5 792.0 792.0 26.50 106.00 424.00 83.6 3.2 2.4 1.0 instructions
says words "--once --json --files -- run.yaml"
expect 2 "${ROOFLINE[@]}" run.yaml --schedules auto
says err "found only auto"

# A table has one kernel for all schedules, and counts are divided by its samples: 3.32e9 / 2e7 = 166.
cat >table.yaml <<'YAML'
stages: { tabulate: spherical }
ice: { model: uniform }
workload: { kind: point, steps: 5, photons_per_step: 100 }
table: { axes: [{ name: r, from: 0, to: 50, bins: 10 }] }
YAML
: >words
expect 0 "${ROOFLINE[@]}" table.yaml
says out "20000000 samples" "instructions/sample" "HBM B/sample"
row out "table gpu_table" 1 0.200 166.0 18.4 50.0 99.0 70.00 30.50 11.00
[ "$(wc -l <words)" -eq 1 ] || fail "a table is one run: $(cat words)"
says words "--set device.watchdog=3600 --once --json -- table.yaml"
expect 0 "${ROOFLINE[@]}" table.yaml --json
says out '"schedule": "table"' '"samples": 20000000' '"instructions_per_sample": 166.0' '"bytes_per_sample": {'
expect 2 "${ROOFLINE[@]}" table.yaml --schedules event-wavefront
says err "--schedules: found event-wavefront, and stages.tabulate"
# What the stand-in stands for: bench fills a table, and says how many samples it has.
expect 0 "$ICESTREAM" bench table.yaml -s device.backend=cpu --once --json
says out '"name": "table"' '"best_of": 1,' '"samples": '
expect 0 "$ICESTREAM" bench table.yaml -s device.backend=cpu --repeats 2
says out "500 photons in 5 steps of workload point, into 12 cells, on cpu" "best of 2" "ns/sample" "spherical"

# What ncu runs: one run of the schedule, with the steps of the run.
expect 0 "$ICESTREAM" generate run.yaml -o three.steps.npy -s workload.steps=3
expect 0 "$ICESTREAM" bench run.yaml -s 'source.files=[three.steps.npy]' --files --once --json --schedules monolithic
says out '"steps": 3,' '"photons": 300,' '"best_of": 1,'
[ "$(grep -c '"name": "monolithic"' out)" -eq 1 ] || fail "--once is one run: $(cat out)"

# What goes wrong.
# shellcheck disable=SC2317 # `expect` calls it
roofline() { STAND_IN=$1 "${ROOFLINE[@]}" run.yaml --schedules monolithic; }
expect 1 roofline permission
says err "ERR_NVGPUCTRPERM" "NVreg_RestrictProfilingToAdminUsers=0"
expect 1 roofline failed
says err "ncu ended with exit status 1, expected 0; ncu wrote: ==ERROR== The application returned" \
    'icestream wrote: icestream: error: no GPU \x1b[31m was found'
expect 3 roofline "no kernel"
says err "ncu saw no kernel"
expect 3 roofline missing
says err "line 2: found no column of the metric 'lts__t_bytes.sum'"
expect 3 roofline n/a
says err "line 4: kernel gpu_monolithic: metric dram__bytes.sum: found 'n/a' (byte), expected a number"
expect 3 roofline cut
says err "line 4: found a cell whose quotes do not end"
expect 1 roofline "no report"
says err "monolithic: found no bounces in what icestream wrote under ncu"
expect 2 "${ROOFLINE[@]}" run.yaml -s device.backend=cpu
says err "device.backend: found cpu, but counters are those of a GPU; expected auto or cuda"
expect 1 env PATH=/nowhere CUDA_HOME= CUDA_PATH= "${ROOFLINE[@]}" run.yaml
says err "the program ncu is missing"
# A program that only calls itself ncu, and runs the command: here there is no GPU.
# shellcheck disable=SC2016 # the script expands it
printf '#!/bin/sh\nwhile [ "$1" != "%s" ]; do shift; done\nexec "$@"\n' "$ICESTREAM" >bin/ncu
expect 1 roofline ""
says err "icestream wrote: " "device.backend"
finish
