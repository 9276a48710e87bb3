#!/usr/bin/env bash
# Promises: `bench/impact.py PART` measures a configuration with a part of the physics and without it, and refuses a
# part that the configuration or the device does not have. Times are not checked, only that the ratio is theirs. To join: a new part
# gets its name in the loop, if configs/ice/tilted.yaml has it.
LAB=$(realpath "$2")
source "$(dirname "$0")/../cli/common.bash"
python=$(python_with json) || skip "no Python"
IMPACT=("$python" "$REPOSITORY/bench/impact.py" --program "$ICESTREAM" --lab "$LAB")
configs=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs")
# shellcheck disable=SC2317 # `expect` calls it
impact() {
    "${IMPACT[@]}" -s device.backend=cpu -s device.threads=1 -s workload.steps=20 --repeats 1 \
        --schedules monolithic "$@"
}
cat >check.py <<'PYTHON'
import json, math, sys
report = json.load(open("report"))
row, = report["rows"]
assert report["impact"] == sys.argv[1] and report["photons"] == 4000 and row["name"] == "monolithic"
times = row["nanoseconds_per_bounce"], row["nanoseconds_per_bounce_without"]
assert report["change"]
assert min(times) > 0 and math.isclose(row["ratio"], times[0] / times[1], rel_tol=1e-9)
assert row["bounces_per_photon"] != row["bounces_per_photon_without"]
PYTHON
for part in tilt anisotropy birefringence hole-ice; do
    expect 0 impact "$part" -s ice.file="$configs/ice/tilted.yaml" --json
    mv out report
    expect 0 "$python" check.py "$part"
done
expect 0 impact collide -s detector.oversize=16 --json
mv out report
expect 0 "$python" check.py collide
expect 0 impact collide -s detector.oversize=16
says out "schedule" "ratio" "without collide" "monolithic" "without collide: detector.radius is 1 mm."

expect 2 impact tilt -s ice.model=uniform
says err "impact tilt: found the same bounces and hits with it and without it, expected a configuration that has it"
expect 2 impact speed
says err "argument PART: invalid choice: 'speed'" "divergence"

# Parts that are left out by other kernels need a GPU; tests/gpu/test_gpu_without.c has their kernels.
for part in random divergence; do
    expect 2 impact "$part"
    says err "device.backend: found cpu, but speed --without changes the kernels of a GPU; expected auto or cuda"
    expect 2 "${IMPACT[@]}" "$part" -s device.backend=cuda --schedules monolithic,auto
    says err "impact $part: found --schedules with auto, which chooses one of the others; expected their names"
    expect 2 "${IMPACT[@]}" "$part" -s device.backend=cuda -s stages.tabulate=spherical
    says err "impact: found stages.tabulate, whose table has one kernel and no hits"
done
finish
