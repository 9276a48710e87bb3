#!/usr/bin/env bash
# How fast step files are written, checked and converted: a table on standard output.
#
#   bench/files.sh [STEPS]
#
# STEPS: 5000000 by default (320 MB). ICESTREAM names the program, TMPDIR the folder of the files.
# "info" reads a file once (checksums, digest, ranges), "info --verify" twice (also every field and
# the keys). Times are the best of three; disks differ, a TMPDIR in memory shows the program alone.
set -euo pipefail

program=${ICESTREAM:-icestream}
steps=${1:-5000000}
command -v "$program" >/dev/null || {
    echo "files.sh: no program '$program'; set ICESTREAM to where it was built" >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
megabytes=$((steps * 64 / 1000000))

measure() {
    local name=$1 best=
    shift
    for _ in 1 2 3; do
        local start end elapsed
        start=$(date +%s%N)
        "$@" >/dev/null
        end=$(date +%s%N)
        elapsed=$(((end - start) / 1000000))
        if [[ -z $best ]] || ((elapsed < best)); then best=$elapsed; fi
    done
    ((best > 0)) || best=1
    printf '| %s | %d.%03d | %d |\n' "$name" $((best / 1000)) $((best % 1000)) \
        $((megabytes * 1000 / best))
}

cd "$folder"
printf '| %s steps, %s MB | s | MB/s |\n|---|---|---|\n' "$steps" "$megabytes"
measure 'generate' "$program" generate --set workload.steps="$steps" --force -o a.steps.npy
measure 'info' "$program" info a.steps.npy
measure 'info --verify' "$program" info --verify a.steps.npy
