#!/usr/bin/env bash
# Promises: columns of hole ice take the light that they should from modules of true size (physics.md 8.7); wider modules,
# which stick out of their columns, are an error that names both ways out; ice.hole_ice: unscaled computes them as ppc
# does, with a warning; `import ppc` says so. To join: another column gets a call of `vertical`.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "Python with NumPy is missing"

cat >ice.yaml <<'YAML'
mean_cosine: 0.9
liu_fraction: 0
layers: { effective_scattering_length: 10000, absorption_length: 2000 }
hole: { radius: 0.3, effective_scattering: 0.2, absorption: 10000 }
YAML
printf 'string,module,x,y,z\n1,1,0,0,0\n' >module.csv
cat >run.yaml <<'YAML'
run: { seed: 3 }
ice: { file: ice.yaml }
detector: { file: module.csv, oversize: 1, keep_hit_photons: false }
light: { acceptance: none, spectra: [{ line: 400 }] }
workload: { kind: point, position: [0, 0, 6], direction: [0, 0, -1], spectrum: 7, steps: 20000, photons_per_step: 2 }
YAML
expect 0 "$ICESTREAM" generate run.yaml -o ray.steps.npy

# vertical OVERSIZE LOW HIGH [SETTING...]: parallel light from above on a disc a little wider than the module; the hits
# relative to those of clear ice, which are photons * (R F / radius of the disc)^2.
vertical() {
    "$python" - "$1" <<'PYTHON' || fail "no steps"
import sys
import numpy
steps, radius = numpy.load("ray.steps.npy"), 1.2 * 0.1651 * float(sys.argv[1])
random = numpy.random.default_rng(7)
distance, azimuth = radius * numpy.sqrt(random.random(len(steps))), 2 * numpy.pi * random.random(len(steps))
steps["x"], steps["y"] = distance * numpy.cos(azimuth), distance * numpy.sin(azimuth)
numpy.save("vertical.npy", steps)
PYTHON
    expect 0 "$ICESTREAM" run run.yaml --force -s source.files=vertical.npy -s detector.oversize="$1" "${@:4}"
    "$python" - "$2" "$3" <<'PYTHON' || fail "oversize $1: another share of the light"
import sys
import numpy
share = len(numpy.load("hits/vertical.hits.npy")) / 40000 * 1.2 ** 2
print("share %.4f" % share)
sys.exit(not float(sys.argv[1]) <= share <= float(sys.argv[2]))
PYTHON
}

# Without columns all light arrives; 5 standard deviations of 27,800 hits are 2 %.
vertical 1 0.98 1.02 -s ice.hole_ice=false
vertical 5 0.98 1.02 -s ice.hole_ice=false
vertical 1 0 0.02
# Outside the column: 1 - (0.3 / 0.8255)^2 = 0.868; the review measured 0.875.
vertical 5 0.85 0.9 -s ice.hole_ice=unscaled
says err "warning: --set detector.oversize: detector.oversize: found 5, with which modules are 1.65 m wide" \
    "columns of 0.6 m: most light misses the columns"

# The error has a place, both values and the ways out.
sed 's/oversize: 1/oversize: 2/' run.yaml >wide.yaml
for command in validate "run --force -s source.files=vertical.npy"; do
    # shellcheck disable=SC2086 # the words of a command
    expect 2 "$ICESTREAM" $command wide.yaml
    says err "wide.yaml:3:41: error: detector.oversize: found 2 in ice with columns of hole ice, which are 0.6 m wide" \
        "expected detector.oversize: 1, or ice.hole_ice: unscaled"
done
expect 0 "$ICESTREAM" validate wide.yaml -s ice.hole_ice=false
expect 0 "$ICESTREAM" validate wide.yaml -s detector.oversize=1
is_empty err
finish
