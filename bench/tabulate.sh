#!/usr/bin/env bash
# How fast tables are filled: samples per second, with the axes of clsim's tabulator (75.6 million bins in spherical
# and 30.2 million in cylindrical coordinates).
#
#   bench/tabulate.sh [ICESTREAM [PHOTONS]] [KEY=VALUE ...]
#
# PHOTONS: of each table, a multiple of 10000; 1e8 by default, which suits a GPU; 1e5 suits a CPU. KEY=VALUE are
# settings of all tables, for example device.backend=cuda or ice.model=FILE. Prints a table in Markdown. The time is
# that of the photons and of adding the sums, without the start of the program and without writing the file.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
photons=${2:-1e8}
shift $(($# < 2 ? $# : 2))
settings=()
for setting in "$@"; do
    settings+=(-s "$setting")
done
steps=$(awk -v photons="$photons" 'BEGIN { printf "%d", photons / 10000 }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "| coordinates | light | maths | samples | photons | time (s) | samples per second |"
echo "| --- | --- | --- | ---: | ---: | ---: | ---: |"
for coordinates in spherical cylindrical; do
    for light in point cascade; do
        for maths in portable fast; do
            "$icestream" tabulate -s stages.tabulate="$coordinates" -s workload.kind="$light" \
                -s workload.steps="$steps" -s workload.photons_per_step=10000 -s device.math="$maths" \
                "${settings[@]}" -f -o "$folder/table.npy" >"$folder/log" 2>&1 || {
                cat "$folder/log" >&2
                exit 1
            }
            awk -v what="$coordinates | $light | $maths" '
                /^samples / { sub(/:$/, "", $8); printf "| %s | %s | %s | %s | %s |\n", what, $2, $4, $7, $9 }' \
                "$folder/log"
        done
    done
done
