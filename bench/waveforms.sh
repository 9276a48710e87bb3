#!/usr/bin/env bash
# What sink.hits: waveforms costs and saves: the rate of runs that write hits or waveforms, the sizes of their
# files, and the bytes of hits and sums that a GPU sends the host. The workload has about 1e-2 hits per photon. On a GPU
# a third kind of runs has waveforms whose sums the host makes (ICESTREAM_GPU_HOST_SUMS). The rows of both kinds of waveforms must be
# those of `convert --waveforms`.
#
#   bench/waveforms.sh [ICESTREAM [PHOTONS]] [KEY=VALUE ...]
#
# PHOTONS: of each run, a multiple of 200; 1e9 by default, which suits a GPU; 1e6 suits a CPU. KEY=VALUE are settings of
# all runs, for example device.backend=cuda; sink.waveform_bin is 10 without one. Prints a table in Markdown. Each rate is
# the median of three runs; runs of all kinds alternate.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
photons=${2:-1e9}
shift $(($# < 2 ? $# : 2))
settings=(-s detector.oversize=7)
bins=()
width=10
for setting in "$@"; do
    case $setting in
    sink.waveform_bin=*)
        width=${setting#*=}
        bins+=(-s "$setting")
        ;;
    *) settings+=(-s "$setting") ;;
    esac
done
steps=$(awk -v photons="$photons" 'BEGIN { printf "%d", photons / 200 }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# run_with KIND CONTENT [SETTING ...]: writes KIND/generated.hits.npy and adds the rate (photons/s) to KIND.rates.
run_with() {
    local kind=$1 content=$2
    shift 2
    "$icestream" run -s workload.steps="$steps" "${settings[@]}" "$@" -s sink.hits="$content" -s sink.directory="$kind" --force \
        >log 2>&1 || {
        cat log >&2
        exit 1
    }
    sed -n 's/.* photons, .* hits in .* s, \([0-9.]* *[a-z]*\) photons\/s.*/\1/p' log |
        awk '{ print $1 * ($2 == "million" ? 1e6 : $2 == "billion" ? 1e9 : 1) }' >>"$kind.rates"
}

kinds=(hits waveforms)
for _ in 1 2 3; do
    run_with hits auto
    run_with waveforms waveforms "${bins[@]}"
    if grep -q 'the GPU makes the sums of hits' log; then
        ICESTREAM_GPU_HOST_SUMS=1 run_with host-sums waveforms "${bins[@]}"
        kinds=(hits host-sums waveforms)
    fi
done
"$icestream" convert --waveforms "$width" hits/generated.hits.npy converted.npy >log

echo "| output | rows | bytes of the file | bytes from the GPU | photons/s |"
echo "| --- | ---: | ---: | ---: | ---: |"
for kind in "${kinds[@]}"; do
    file=$kind/generated.hits.npy
    rows=$("$icestream" info "$file" | awk '$1 == "rows" { print $2 }')
    sent=$(sed -n 's/.*"downloaded_bytes": \([0-9]*\).*/\1/p' "$kind/summary.json")
    echo "| $kind | $rows | $(stat -c %s "$file") | ${sent:--} | $(sort -g "$kind.rates" | sed -n 2p) |"
done
bytes=$(("$("$icestream" info converted.npy | awk '$1 == "rows" { print $2 }')" * 40))
for kind in "${kinds[@]:1}"; do
    if ! cmp -s <(tail -c +1025 "$kind/generated.hits.npy" | head -c "$bytes") <(tail -c +1025 converted.npy | head -c "$bytes"); then
        echo "The waveforms of $kind differ from those of convert --waveforms." >&2
        exit 1
    fi
done
echo "The waveforms are those of convert --waveforms, byte for byte."
