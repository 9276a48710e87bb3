#!/usr/bin/env bash
# Measures and writes bench/results/DATE-NAME.md: machine, commit, commands, tables.
#
#   bench/run.sh NAME [CONFIG [key=value ...]] [-- OPTIONS OF icestream bench]
#
# NAME says what was measured (small letters, digits, dashes). ICESTREAM names the program.
set -euo pipefail

program=${ICESTREAM:-icestream}
here=$(cd "$(dirname "$0")" && pwd)

name=${1:-}
if [[ ! $name =~ ^[a-z0-9][a-z0-9-]*$ ]]; then
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
shift
command -v "$program" >/dev/null || {
    echo "run.sh: no program '$program'; set ICESTREAM to where it was built" >&2
    exit 1
}
arguments=(bench)
settings=()
while (($# > 0)) && [[ $1 != -- ]]; do
    if ((${#settings[@]} == 0)); then arguments+=("$1"); else arguments+=(--set "$1"); fi
    settings+=("$1")
    shift
done
if (($# > 0)); then shift; fi
options=("$@")
arguments+=("${options[@]}")

commit=$(git -C "$here" rev-parse --short=12 HEAD)
git -C "$here" diff --quiet HEAD -- base stages physics tables kernels graphs pipeline || commit="$commit, with changes"
mkdir -p "$here/results"
results=$here/results/$(date +%F)-$name.md
part=$results.part
trap 'rm -f "$part"' EXIT

{
    echo "# $name"
    echo
    lscpu | sed -n 's/^Model name: */Machine: /p'
    lscpu | sed -n 's/^CPU(s): */CPUs: /p'
    if command -v nvidia-smi >/dev/null; then
        nvidia-smi --query-gpu=name,driver_version,clocks.max.sm --format=csv,noheader |
            sed 's/^/GPU: /'
    fi
    echo "Load before: $(cut -d' ' -f1-3 /proc/loadavg)"
    echo "Commit: $commit"
    echo
    # Absolute paths are this machine's business: their last part is enough.
    echo "    icestream ${arguments[*]}" | sed -E 's#(^|[ =])/[^ ]*/#\1#g'
    echo
    "$program" "${arguments[@]}" | sed 's/^./    &/'
    # Of the CPU's schedules, and of what a configuration can say.
    if ((${#options[@]} == 0)) && command -v valgrind >/dev/null; then
        echo
        echo "Instructions, from \`bench/instructions.sh\`:"
        echo
        "$here/instructions.sh" "${settings[@]}" | sed 's/^./    &/'
    fi
} >"$part"
mv "$part" "$results"
echo "${results#"$PWD/"}"
