#!/usr/bin/env bash
# What sink.hits: waveforms costs and saves: the rate of runs that write hits or waveforms, and the sizes of their
# files. The workload has about 1e-2 hits per photon. The rows of the waveforms must be those of `convert --waveforms`.
#
#   bench/waveforms.sh [ICESTREAM [PHOTONS]] [KEY=VALUE ...]
#
# PHOTONS: of each run, a multiple of 200; 1e9 by default, which suits a GPU; 1e6 suits a CPU. KEY=VALUE are settings of
# all runs, for example device.backend=cuda. Prints a table in Markdown. Each rate is the median of three runs; runs with hits
# and with waveforms alternate. A GPU sends the host 48 bytes per hit in both kinds of runs.
set -euo pipefail
icestream=$(realpath "${1:-icestream}")
photons=${2:-1e9}
shift $(($# < 2 ? $# : 2))
settings=(-s detector.oversize=7)
for setting in "$@"; do
    settings+=(-s "$setting")
done
steps=$(awk -v photons="$photons" 'BEGIN { printf "%d", photons / 200 }')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# run_with KIND: writes KIND/generated.hits.npy and adds the rate (photons/s) to KIND.rates.
run_with() {
    "$icestream" run -s workload.steps="$steps" "${settings[@]}" -s sink.hits="$1" -s sink.directory="$1" --force \
        >log 2>&1 || {
        cat log >&2
        exit 1
    }
    sed -n 's/.* photons, .* hits in .* s, \([0-9.]* *[a-z]*\) photons\/s.*/\1/p' log |
        awk '{ print $1 * ($2 == "million" ? 1e6 : $2 == "billion" ? 1e9 : 1) }' >>"$1.rates"
}

for _ in 1 2 3; do
    run_with auto
    run_with waveforms
done
"$icestream" convert --waveforms 10 auto/generated.hits.npy converted.npy >log

echo "| output | rows | bytes of the file | photons/s |"
echo "| --- | ---: | ---: | ---: |"
for kind in auto waveforms; do
    file=$kind/generated.hits.npy
    rows=$("$icestream" info "$file" | awk '$1 == "rows" { print $2 }')
    echo "| $kind | $rows | $(stat -c %s "$file") | $(sort -g "$kind.rates" | sed -n 2p) |"
done
bytes=$(("$("$icestream" info converted.npy | awk '$1 == "rows" { print $2 }')" * 40))
if cmp -s <(tail -c +1025 waveforms/generated.hits.npy | head -c "$bytes") <(tail -c +1025 converted.npy | head -c "$bytes"); then
    echo "The waveforms are those of convert --waveforms, byte for byte."
else
    echo "The waveforms differ from those of convert --waveforms." >&2
    exit 1
fi
