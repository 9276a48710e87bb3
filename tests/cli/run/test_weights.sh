#!/usr/bin/env bash
# Promise (files.md 4.1): the sum of weights over hits estimates the photons, or with content pe the
# photo-electrons, that modules of true size would get. The sum does not depend on oversize, thinning and bias,
# and neither on whether the steps are thinned.
# To join: give a kind of light to `light`, and compare its sums with `agree`.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "there is no Python with NumPy"

# Clear ice and a cube of modules around a hole with the light, so that wide modules see the same light as true
# ones. Photons continue after a hit: a module casts no shadow, however wide it is.
cat >ice.yaml <<'YAML'
name: clear
mean_cosine: 0.9
layers: [[1948.07, 0.002, 0.008, 0]]
YAML
"$python" >modules.csv <<'PYTHON'
from itertools import product
print('string,module,x,y,z')
for i, j, k in product(range(15), repeat=3):
    if (i - 7) ** 2 + (j - 7) ** 2 + (k - 7) ** 2 >= 4:
        print(f'{15 * i + j + 1},{k + 1},{12 * (i - 7) + 3},{12 * (j - 7) + 2},{12 * (k - 7) + 1}')
PYTHON

# The sum of the weights, the root of the sum of their squares, and the number of rows; only of wavelengths at
# which every kind of light of this test has photons of moderate weight.
cat >sums.py <<'PYTHON'
import numpy, sys
hits = numpy.load(sys.argv[1])
kept = hits['weight'][(320 <= hits['wavelength']) & (hits['wavelength'] <= 600)].astype(float)
print(kept.sum(), (kept ** 2).sum() ** 0.5, len(kept))
PYTHON

# light NAME SETTING...: appends the sums of a run with these settings to the file NAME.
light() {
    local name=$1 sets=(-s ice.file=ice.yaml -s detector.file=modules.csv -s detector.keep_hit_photons=true)
    shift
    for set in "$@"; do
        sets+=(-s "$set")
    done
    expect 0 "$ICESTREAM" generate "${sets[@]}" -o a.steps.npy --force
    expect 0 "$ICESTREAM" run -q --force "${sets[@]}" -s source.files=a.steps.npy -s sink.directory=hits
    echo "$("$python" sums.py hits/a.hits.npy) $*" >>"$name"
}

# cascades COUNT: the value of particles.list for COUNT equal cascades.
cascades() {
    local one='{type: e-, x: 0, y: 0, z: 0, zenith: 60, azimuth: 30, energy: 2}' all='' i
    for ((i = 0; i < $1; ++i)); do
        all+="$one,"
    done
    echo "particles.list=[$all]"
}

# agree NAME: all sums of the file agree with their weighted mean within 4.5 standard deviations, and 2 % that
# differences between wide and true modules are allowed. A fixed seed makes the outcome certain; with a random
# seed each of the 20 comparisons would fail with a probability below 7e-6.
cat >agree.py <<'PYTHON'
import sys
name, scales = sys.argv[1], {}
rows = []
for line in open(name):
    total, sigma, count, what = line.split(None, 3)
    number = what.count('type: e-') or 1
    rows.append((float(total) / number, float(sigma) / number, int(count), what.split('particles.list')[0].strip()))
mean = sum(t / s ** 2 for t, s, c, w in rows) / sum(1 / s ** 2 for t, s, c, w in rows)
failed = False
for total, sigma, count, what in rows:
    bad = count < 100 or abs(total - mean) > 4.5 * sigma + 0.02 * mean
    failed |= bad
    print(f'{name}: {what}: {total:.5g} +- {sigma:.2g} from {count} rows, mean {mean:.5g}', 'WRONG' if bad else '')
sys.exit(failed)
PYTHON
agree() {
    "$python" agree.py "$1" || fail "the sums of weights in $1 differ"
}

for oversize in 1 2 5 10; do
    light cascade detector.oversize=$oversize light.acceptance=standard "$(cascades 20)"
    light cascade detector.oversize=$oversize light.acceptance=none "$(cascades 1)"
    light cascade-pe detector.oversize=$oversize light.acceptance=standard stages.detect=pe "$(cascades 20)"
done
agree cascade
agree cascade-pe

# Steps that are not thinned: a workload, and photons along a direction, whose number is given.
workload=(workload.kind=point workload.direction=isotropic workload.spectrum=4 workload.steps=800)
ray='particles.list=[{type: ph, x: 0, y: 0, z: 0, dx: 0.6, dy: 0.64, dz: 0.48, photons: 150000, spectrum: 4}]'
for oversize in 1 5; do
    for acceptance in standard none; do
        light workload detector.oversize=$oversize light.acceptance=$acceptance "${workload[@]}"
    done
    light workload-pe detector.oversize=$oversize stages.detect=pe "${workload[@]}"
done
light ray detector.oversize=2 light.acceptance=standard "$ray"
light ray detector.oversize=2 light.acceptance=none "$ray"
agree workload
agree workload-pe
agree ray
finish
