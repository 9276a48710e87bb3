#!/usr/bin/env bash
# Prints the C files that one step file crosses from its claim to its hit file, with the threads that enter each and the
# functions that they enter.
#
#   bench/files_crossed.sh [BUILD FOLDER]
#
# Builds a program with -finstrument-functions, and runs it on a folder with one step file and on an empty folder. What both
# runs enter belongs to the start and the end of a run and is left out, and so is the propagation of photons (stages, tables,
# physics, kernels).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/crossed}
mkdir -p "$build"
cc -O1 -c bench/files_crossed.c -o "$build/files_crossed.o"
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g1 -finstrument-functions" \
    -DCMAKE_EXE_LINKER_FLAGS="-no-pie $PWD/$build/files_crossed.o" -DICESTREAM_CUDA=OFF -DICESTREAM_TESTS=OFF \
    -DICESTREAM_SHARED_LIBRARY=OFF >"$build/configure.log"
cmake --build "$build" --target icestream >"$build/build.log"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work"/{one,none}
icestream() { "$build/icestream" "$@" >"$work/log" 2>&1 || { cat "$work/log" && exit 1; }; }
icestream generate -s workload.steps=10 -s workload.photons_per_step=1000 -o "$work/one/a.steps.npy"
for folder in one none; do
    echo "source: {directory: $work/$folder}" >"$work/$folder.yaml"
    FILES_CROSSED=$work/$folder.txt icestream run "$work/$folder.yaml" -s sink.directory="$work/hits" -s device.backend=cpu
done
awk 'NR == FNR { seen[$2] = 1; next } !seen[$2]' "$work/none.txt" "$work/one.txt" >"$work/entered.txt"
cut -d' ' -f2 "$work/entered.txt" | addr2line -f -e "$build/icestream" | paste -d' ' - - |
    paste -d' ' <(cut -d' ' -f1 "$work/entered.txt") - | sed -E "s|$PWD/||; s|:[0-9?]+( .*)?$||" |
    awk '$3 ~ /^(base|graphs|pipeline)\/.*\.c$/ {
        if (!($3 in functions)) { files[++count] = $3 }
        functions[$3] = functions[$3] " " $2
        if (!seen[$3, $1]++) { threads[$3] = threads[$3] " " $1 }
    }
    END {
        for (i = 1; i <= count; ++i) { print files[i] " (threads" threads[files[i]] "):" functions[files[i]] }
        print count " C files"
    }'
