#!/usr/bin/env bash
# How much of a task of about SECONDS is lost to the start of the program, the fetch of its step file and the
# shipping of its hits, on one worker with one thread.
#
#   bench/tasks.sh [ICESTREAM [TASKS [SECONDS]]]
#
# Each task is one process: `icestream run` with source.fetch and sink.ship, both cp. It is compared with one process
# that computes all step files from the disk and ships nothing. CPU times are compared, because other programs on the
# machine change wall times. The wall time of a task without photons, the shortest of five, bounds what is lost while
# the processor waits.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
tasks=${2:-6}
seconds=${3:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# cpu COMMAND...: prints the user and system time (s) of a command and its children.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >>log 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
once() {
    "$icestream" run -q -s source.files="[$1]" -s sink.directory="$2" -s device.threads=1 -s device.backend=cpu
}
task() {
    "$icestream" run -q "$1.yaml" -s device.threads=1 -s device.backend=cpu
}

"$icestream" generate -s workload.steps=10000 -o trial.npy 2>>log
rate=$(cpu once trial.npy trial)
steps=$(awk -v rate="$rate" -v seconds="$seconds" 'BEGIN { print int(10000 * seconds / rate) }')
mkdir steps store
files=()
for ((i = 0; i < tasks; ++i)); do
    "$icestream" generate -s workload.steps="$steps" -s workload.event="$i" -o "steps/$i.steps.npy" 2>>log
    files+=("steps/$i.steps.npy")
    cat >"$i.yaml" <<END
source: { files: ["file://$folder/steps/$i.steps.npy"], fetch: [./fetch.sh, "{url}", "{path}"] }
sink: { directory: hits-$i, url: "file://$folder/store/{name}", ship: [./ship.sh, "{path}", "{url}"] }
END
done
# shellcheck disable=SC2016 # the script expands its arguments
printf '#!/bin/sh\nexec cp "${1#file://}" "$2"\n' >fetch.sh
# shellcheck disable=SC2016 # the script expands its arguments
printf '#!/bin/sh\nexec cp "$1" "${2#file://}"\n' >ship.sh
chmod +x fetch.sh ship.sh
"$icestream" generate -s workload.steps=1 -s workload.photons_per_step=1 -o steps/empty.steps.npy 2>>log
sed 's|/0.steps|/empty.steps|; s/hits-0/hits-empty/' 0.yaml >empty.yaml

list=$(IFS=,; echo "${files[*]}")
one=$(cpu once "$list" one)
all=0
for ((i = 0; i < tasks; ++i)); do
    each=$(cpu task "$i")
    all=$(awk -v all="$all" -v each="$each" 'BEGIN { print all + each }')
    cmp -s <(head -c -100000 "one/$i.hits.npy") <(head -c -100000 "store/$i.hits.npy") || { echo "other hits of task $i" >&2; exit 1; }
done
empty=$(cpu task empty)
wall=99
for ((i = 0; i < 5; ++i)); do
    rm -rf hits-empty store/empty.hits.npy
    start=$(date +%s.%N)
    task empty 2>>log
    wall=$(awk -v wall="$wall" -v start="$start" -v end="$(date +%s.%N)" \
        'BEGIN { print wall < end - start ? wall : end - start }')
done
awk -v tasks="$tasks" -v one="$one" -v all="$all" -v empty="$empty" -v wall="$wall" 'BEGIN {
    printf "%d tasks: %.2f s of CPU time each; all in one process without fetch and ship: %.2f s each\n", tasks, all / tasks, one / tasks
    printf "an empty task with fetch and ship: %.3f s of CPU time, %.3f s of wall time\n", empty, wall
    printf "lost: %.2f %% of the CPU time (difference), %.2f %% (empty task), %.2f %% with the wall time of the empty task\n",
        100 * (all - one) / all, 100 * empty * tasks / all, 100 * wall * tasks / all
}'
