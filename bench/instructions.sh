#!/usr/bin/env bash
# Instructions per bounce of every CPU schedule: what the machine's other load does not disturb.
#
#   bench/instructions.sh [CONFIG [key=value ...]]
#
# Runs `icestream bench` under callgrind with two numbers of steps and divides the difference of
# instructions by the difference of bounces, so that start-up and tables drop out; making and sorting
# the hits stays in. Valgrind knows no AVX-512: there the program chooses avx2. Counts
# are of instructions, of whatever width. ICESTREAM names the program, SCHEDULES the schedules.
set -euo pipefail

program=${ICESTREAM:-icestream}
schedules=${SCHEDULES:-wavefront monolithic}
few=${FEW_STEPS:-10}
many=${MANY_STEPS:-60}

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
}
[[ ${1:-} != -* ]] || usage
command -v valgrind >/dev/null || { echo "instructions.sh: needs valgrind" >&2; exit 1; }
command -v "$program" >/dev/null || {
    echo "instructions.sh: no program '$program'; set ICESTREAM to where it was built" >&2
    exit 1
}
arguments=(bench)
if (($# > 0)); then
    arguments+=("$1")
    shift
fi
for setting in "$@"; do
    arguments+=(--set "$setting")
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# measure SCHEDULE STEPS: prints instructions, bounces (of all repeats) and the instruction set.
measure() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "${arguments[@]}" --json \
        --set "graph.schedule=$1" --set "workload.steps=$2" --set device.threads=1 --set device.backend=cpu \
        >"$folder/report" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
    local instructions bounces repeats set
    instructions=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$folder/log")
    bounces=$(sed -n 's/.*"bounces": \([0-9]*\).*/\1/p' "$folder/report")
    repeats=$(sed -n 's/.*"best_of": \([0-9]*\).*/\1/p' "$folder/report")
    set=$(sed -n 's/.*"instruction_set": "\([^"]*\)".*/\1/p' "$folder/report")
    echo "$instructions $((bounces * repeats)) $set"
}

printf '%-16s %-10s %16s %12s %24s\n' schedule code instructions bounces 'instructions per bounce'
for schedule in $schedules; do
    few_result=$(measure "$schedule" "$few")
    many_result=$(measure "$schedule" "$many")
    read -r low low_bounces set <<<"$few_result"
    read -r high high_bounces set <<<"$many_result"
    awk -v schedule="$schedule" -v set="$set" -v instructions="$((high - low))" \
        -v bounces="$((high_bounces - low_bounces))" 'BEGIN {
            printf "%-16s %-10s %16.0f %12.0f %24.1f\n", schedule, set, instructions, bounces,
                   (bounces > 0 ? instructions / bounces : 0)
        }'
done
