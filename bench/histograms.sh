#!/usr/bin/env bash
# What a histogram of bounces costs on a GPU, and whether it is that of the CPU.
#
#   bench/histograms.sh [ICESTREAM [PHOTONS [REPEATS]]]
#
# PHOTONS: of each run, a multiple of 10000; 1e8 by default. REPEATS: pairs of runs, with and without the histogram in
# turn; 5 by default. First compares the hit files of a CPU and of every schedule of the GPU in portable maths, with
# 1e5 photons; the exit status is 1 if two differ. Then prints a table in Markdown: the median of the time of the
# kernels in fast maths without and with the histogram, and the difference in per cent.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
photons=${2:-1e8}
repeats=${3:-5}
steps=$(awk -v photons="$photons" 'BEGIN { printf "%d", photons / 10000 }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
schedules="wavefront fused monolithic job-queue thread-per-step warp-wavefront"
cat >with.yaml <<'END'
sink: {checkpoint: off, name: hits.npy, histograms: [{name: bounces, from: 1, to: 1000, bins: 24, scale: log}]}
END
echo "sink: {checkpoint: off, name: hits.npy}" >without.yaml

# compute CONFIGURATION FOLDER SETTING...: makes FOLDER/hits.npy and FOLDER/summary.json.
compute() {
    "$icestream" run -f "$1.yaml" -s workload.photons_per_step=10000 -s sink.directory="$2" "${@:3}" 2>log || {
        cat log >&2
        exit 1
    }
}

compute with cpu -s workload.steps=10 -s device.backend=cpu -s device.math=portable
for schedule in $schedules; do
    compute with "$schedule" -s workload.steps=10 -s device.backend=cuda -s device.math=portable \
        -s graph.schedule="$schedule"
    cmp cpu/hits.npy "$schedule/hits.npy" || exit 1
done
echo "The hit files of the CPU and of all schedules of the GPU are the same, with their histograms."
echo

# kernel_seconds FOLDER: the time of the kernels of the run.
kernel_seconds() {
    grep -o '"kernel_seconds": *[0-9.e+-]*' "$1/summary.json" | head -1 | sed 's/.*: *//'
}

median() {
    sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

echo "| schedule | without (s) | with (s) | difference (%) |"
echo "| --- | ---: | ---: | ---: |"
for schedule in $schedules; do
    rm -f without.times with.times
    for ((i = 0; i <= repeats; ++i)); do
        for which in without with; do
            compute "$which" "$which" -s workload.steps="$steps" -s device.backend=cuda \
                -s device.math=fast -s graph.schedule="$schedule"
            if [ "$i" -gt 0 ]; then # the first pair compiles the kernels
                kernel_seconds "$which" >>"$which.times"
            fi
        done
    done
    awk -v name="$schedule" -v without="$(median <without.times)" -v with="$(median <with.times)" \
        'BEGIN { printf "| %s | %.4f | %.4f | %.2f |\n", name, without, with, 100 * (with / without - 1) }'
done
