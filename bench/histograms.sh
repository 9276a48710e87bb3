#!/usr/bin/env bash
# What histograms of photons cost on a GPU, and whether they are those of the CPU.
#
#   bench/histograms.sh [ICESTREAM [PHOTONS [REPEATS]]]
#
# PHOTONS: of each run, a multiple of 10000; 1e8 by default. REPEATS: rounds of runs without histograms, with that of
# bounces, with those of bounces, path and delay, with that of layers, with that of candidates, with those of 64 and of 65536
# bins of path, and with that of 1000 bins of bounces in turn; 5 by default. First compares the hit files of a CPU and
# of every schedule of the GPU in portable maths, with 1e5 photons; the exit status is 1 if two differ. Then prints a
# table in Markdown: the median of the time of the kernels in fast maths without histograms, and how much longer they
# take with them, in per cent.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
photons=${2:-1e8}
repeats=${3:-5}
steps=$(awk -v photons="$photons" 'BEGIN { printf "%d", photons / 10000 }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
schedules="wavefront event-wavefront monolithic job-queue thread-per-step warp-wavefront"
bounces="{name: bounces, from: 1, to: 1000, bins: 24, scale: log}"
ways="{name: path, from: 1, to: 1000, bins: 24, scale: log}, {name: delay, from: 0, to: 4000, bins: 64}"
layers="{name: layers, from: 1, to: 17, bins: 16}"
candidates="{name: candidates, from: 0, to: 16, bins: 16}"
many="{name: path, from: 0, to: 640, bins: 65536}"
thousand="{name: bounces, from: 0, to: 1000, bins: 1000}"
few="{name: path, from: 0, to: 640, bins: 64}"
echo "sink: {checkpoint: off, name: hits.npy}" >without.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$layers]}" >layers.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$candidates]}" >candidates.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$bounces, $ways, $layers]}" >all.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$layers, $candidates]}" >segments.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$bounces]}" >bounces.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$few]}" >few.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$many]}" >many.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$thousand]}" >thousand.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$bounces, $many, $layers, {name: delay, from: 1, to: 4000, bins: 9000, scale: log}]}" >both.yaml
echo "sink: {checkpoint: off, name: hits.npy, histograms: [$bounces, $ways]}" >ways.yaml

# compute CONFIGURATION FOLDER SETTING...: makes FOLDER/hits.npy and FOLDER/summary.json.
compute() {
    "$icestream" run -f "$1.yaml" -s workload.photons_per_step=10000 -s sink.directory="$2" "${@:3}" 2>log || {
        cat log >&2
        exit 1
    }
}

for which in all segments many both; do
    compute "$which" cpu -s workload.steps=10 -s device.backend=cpu -s device.math=portable
    for schedule in $schedules; do
        compute "$which" "$schedule" -s workload.steps=10 -s device.backend=cuda -s device.math=portable \
            -s graph.schedule="$schedule"
        cmp cpu/hits.npy "$schedule/hits.npy" || exit 1
    done
done
echo "The hit files of the CPU and of all schedules of the GPU are the same, with their histograms."
echo

# kernel_seconds FOLDER: the time of the kernels of the run.
kernel_seconds() {
    grep -o '"kernel_seconds": *[0-9.e+-]*' "$1/summary.json" | head -1 | sed 's/.*: *//'
}

median() {
    sort -g "$1.times" | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

echo "| schedule | without (s) | bounces (%) | bounces, path and delay (%) | layers (%) | candidates (%) | path, 64 bins (%) | path, 65536 bins (%) | bounces, 1000 bins (%) |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for schedule in $schedules; do
    rm -f ./*.times
    for ((i = 0; i <= repeats; ++i)); do
        for which in without bounces ways layers candidates few many thousand; do
            compute "$which" "$which" -s workload.steps="$steps" -s device.backend=cuda \
                -s device.math=fast -s graph.schedule="$schedule"
            if [ "$i" -gt 0 ]; then # the first round compiles the kernels
                kernel_seconds "$which" >>"$which.times"
            fi
        done
    done
    awk -v name="$schedule" -v without="$(median without)" -v bounces="$(median bounces)" -v ways="$(median ways)" \
        -v layers="$(median layers)" -v candidates="$(median candidates)" -v few="$(median few)" \
        -v many="$(median many)" -v thousand="$(median thousand)" \
        'function more(time) { return 100 * (time / without - 1) }
         BEGIN { printf "| %s | %.4f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", name, without, more(bounces), more(ways), more(layers), more(candidates), more(few), more(many), more(thousand) }'
done
