#!/usr/bin/env bash
# Prints a digest of the hits of every shipped configuration, for every schedule.
#
#   scripts/hit_digests.sh [--gpu] [PROGRAM [CONFIG ...]]
#
# PROGRAM is the icestream to run; the default is build/release/icestream. CONFIG: only these
# configurations, instead of all in configs/runs and configs/reference. Two commits make the same
# hits if this script prints the same lines for both. Each configuration runs with a small workload.
# The digest covers the rows of the hit file and not its trailer, because the trailer names the
# program and the digests of the inputs. Configurations that need the real ice models in ../shared
# are left out, with a line that says so, where these models are missing.
# --gpu: runs the schedules of a GPU, with portable and with fast arithmetic, instead of the CPU's.
set -euo pipefail
cd "$(dirname "$0")/.."

backend=cpu
schedules=(wavefront monolithic)
maths=(auto)
if [[ ${1:-} == --gpu ]]; then
    backend=cuda
    mapfile -t schedules < <(sed -n 's/^    X([A-Z_]*, "\([a-z-]*\)", .*/\1/p' graphs/options.h)
    maths=(portable fast)
    shift
fi
program=$(realpath "${1:-build/release/icestream}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# rows FILE: the SHA-256 of the rows of a hit file, and how many rows there are.
rows() {
    python3 - "$1" <<'PYTHON'
import ast, hashlib, struct, sys
data = open(sys.argv[1], 'rb').read()
length, start = (struct.unpack('<H', data[8:10])[0], 10) if data[6] == 1 else \
    (struct.unpack('<I', data[8:12])[0], 12)
count = ast.literal_eval(data[start:start + length].decode())['shape'][0]
body = data[start + length:start + length + 64 * count]
assert len(body) == 64 * count, sys.argv[1]
print(hashlib.sha256(body).hexdigest()[:32], count)
PYTHON
}

configs=("${@:2}")
((${#configs[@]} > 0)) || configs=(configs/runs/[a-r]*.yaml configs/reference/*.yaml configs/runs/[s-z]*.yaml)
for config in "${configs[@]}"; do
    name=$(basename "$config" .yaml)
    [[ $config != */reference/* ]] || name=reference-$name
    if grep -q '\.\./shared/' "$config" && [[ ! -d ../shared/ice ]]; then
        echo "$name: left out, because ../shared/ice is missing"
        continue
    fi
    if grep -q '^particles:' "$config"; then
        workload=(-s 'particles.list=[{type: mu, x: 10, y: 20, z: 30, zenith: 60, azimuth: 170,
                                       energy: 2, length: 8}, {type: e-, x: 60, y: 20, z: -350,
                                       zenith: 60, azimuth: 170, energy: 5}]')
    else
        workload=(-s workload.steps=400 -s workload.photons_per_step=500)
    fi
    "$program" generate "$config" "${workload[@]}" -o "$folder/a.steps.npy" >/dev/null
    for math in "${maths[@]}"; do
        for schedule in "${schedules[@]}"; do
            "$program" run "$config" -q --force -s "source.files=[$folder/a.steps.npy]" \
                -s "sink.directory=$folder/hits" -s "device.backend=$backend" \
                -s "device.math=$math" -s "graph.schedule=$schedule" 2>"$folder/log" ||
                { cat "$folder/log" >&2; exit 1; }
            echo "$name $math $schedule $(rows "$folder/hits/a.hits.npy")"
        done
    done
    rm -f "$folder/a.steps.npy"
done
