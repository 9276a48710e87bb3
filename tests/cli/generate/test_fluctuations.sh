#!/usr/bin/env bash
# Promise: counts of photons from cascades of equal energy fluctuate as the light does. With particles.cascades: profile, the
# default, their variance is that of Poisson numbers, ahead of a cascade as at its side; with steps of 200 photons it is
# larger, the means are the same, and validate and run say so.
#
# Seeds are fixed. With N events the ratio variance / mean of Poisson numbers has an error of sqrt(2 / N): 0.07 for 400. The limit
# of 1.35 is 5 of them away (one false alarm in 3e6 for each of 2 modules), and 0.65 as well; the Poisson number of the photons of
# a cascade and those that share a module make it a little smaller than 1. Steps of 200 have 4.1 +- 0.4 ahead. Means differ by
# less than 5 errors, in which the error of the steps is 2 times as large.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "no Python with NumPy"

cat >modules.csv <<'CSV'
string,module,x,y,z
1,1,0,0,-10
2,1,6.4279,0,-7.6604
CSV
{
    echo event,type,x,y,z,zenith,azimuth,energy
    for ((event = 0; event < 400; ++event)); do echo "$event,e-,0,0,0,0,0,10"; done
} >events.csv
cat >run.yaml <<'YAML'
ice: {model: uniform}
detector: {file: modules.csv, oversize: 5, keep_hit_photons: false}
light: {acceptance: standard}
particles: {file: events.csv}
YAML
expect 0 "$ICESTREAM" run run.yaml -o profile.hits.npy
grep -q "particles.cascades: found" err && fail "a warning of steps, and there are none"
expect 0 "$ICESTREAM" run run.yaml -s particles.cascades=steps -o steps.hits.npy
says err "particles.cascades: found steps, and up to 200 photons of a cascade share a depth and a direction"
expect 0 "$ICESTREAM" validate run.yaml -s particles.cascades=steps
says out "warning    particles.cascades: found steps, and up to 200 photons" "about 1.5, 4 and 6 times their mean"
expect 0 "$python" - <<'PYTHON'
import numpy

def counts(name, string):
    hits = numpy.load(name + ".hits.npy")
    return numpy.bincount(hits["event_id"][hits["string"] == string].astype(int), minlength=400)

for string, where in ((1, "ahead"), (2, "at 40 degrees")):
    smooth, coarse = counts("profile", string), counts("steps", string)
    ratio, of_steps = (n.var(ddof=1) / n.mean() for n in (smooth, coarse))
    print(where, "mean", smooth.mean(), coarse.mean(), "variance / mean", ratio, of_steps)
    assert 0.65 < ratio < 1.35, (where, ratio)
    assert of_steps > (2 if string == 1 else 1.2), (where, of_steps)
    error = (smooth.var() + coarse.var()) ** 0.5 / 20
    assert abs(smooth.mean() - coarse.mean()) < 5 * error, (where, smooth.mean(), coarse.mean())
PYTHON
finish
