#!/usr/bin/env bash
# Promises: memory does not grow with the input: a million steps, and more hits than a run keeps in memory.
# To join: make an input that would need more than the limit if it were kept in memory.
source "$(dirname "$0")/../common.bash"

grep -qaE '__(asan|tsan)_init' "$ICESTREAM" && skip "sanitizers need more memory than the program"
limit_kib=150000
peak_bytes() {
    grep -oE '"peak_memory_bytes": [0-9]+' "$1" | grep -oE '[0-9]+$'
}

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=1000000 -s workload.photons_per_step=1 \
    -o steps/many.steps.npy
# The light starts at the surface of a module, and nearly all of it reaches a module: many hits at once.
expect 0 "$ICESTREAM" generate -s workload.kind=point -s 'workload.position=[0, 0, 8]' \
    -s workload.steps=30 -s workload.photons_per_step=300000 -s workload.direction=isotropic \
    -o steps/one.steps.npy
expect 0 "$ICESTREAM" run -q -s ice.model=uniform -s detector.oversize=20 -s detector.crossing=disc -s detector.keep_hit_photons=false
rows steps/many.steps.npy 1000000
count=$(row_count hits/one.hits.npy)
echo "$count hits, peak $(peak_bytes hits/summary.json) bytes"
[ $((count * 64)) -gt $((48 * 1024 * 1024)) ] || fail "$count hits do not fill the collector"
[ "$(peak_bytes hits/summary.json)" -lt $((limit_kib * 1024)) ] || fail "too much memory"
expect 0 "$ICESTREAM" info --verify hits/one.hits.npy
finish
