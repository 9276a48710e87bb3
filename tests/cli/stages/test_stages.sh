#!/usr/bin/env bash
# Promises: the example of each stage in configs/stages runs with checks and changes what it says it
# changes; a header that returns NaN ends `run --verify` and `compare` with its name; a propagate header
# decides about every segment. Warnings: a scatter header whose mean cosine is not that of the ice; a
# propagate header in hole ice.
# To join: a new example gets a line in the list of stages, and a test of what it changes.
examples=$(realpath "$(dirname "$0")/../../../configs/stages")
source "$(dirname "$0")/../common.bash"
command -v cc >/dev/null || skip "no C compiler"

cat >light.yaml <<'YAML'
ice: { model: uniform }
run: { bounce_limit: 200 }
device: { instruction_set: baseline, backend: cpu, threads: 1 }
light: { spectra: [{ line: 400 }] }
workload: { kind: point, steps: 10, photons_per_step: 50 }
source: { files: [light.steps.npy] }
YAML
expect 0 "$ICESTREAM" generate light.yaml -o light.steps.npy

# account NAME: the photon account of the hits in the folder NAME.
account() {
    "$ICESTREAM" info --json "$1/light.hits.npy" | tr -d ' \n' | grep -o '"account":{[^}]*}'
}

# All four examples in one run, with checks.
stages=()
for example in create=lambertian propagate=clear collide=upward scatter=rayleigh; do
    stages+=(-s "stages.${example%=*}={source: $examples/${example#*=}.h}")
done
expect 0 "$ICESTREAM" run --verify light.yaml -s sink.directory=all/ "${stages[@]}"
[[ $(account all) == *'"absorbed":0,'* ]] || fail "photons are absorbed with clear.h: $(account all)"
[[ $(account all) == *'"left":0,'* ]] || fail "photons are dropped with clear.h: $(account all)"

says err 'rayleigh.h has the mean cosine ' 'and the ice has 0.9: effective scattering lengths are multiplied by 0.1;'

# The same without checks, by `compare`: all schedules give the same hits.
prints identical compare light.yaml "${stages[@]}" -s detector.oversize=50

# A header that returns NaN: its name, the value, what was expected.
cat >nan.h <<'HEADER'
#include "stages/maths.h"
#include "stages/tables.h"
ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)
{
    return ice_div(constants->g - constants->g, u - u);
}
HEADER
expect 2 "$ICESTREAM" run --verify light.yaml -s sink.directory=nan/ -s 'stages.scatter={source: nan.h}'
says err 'nan.h: error: stages.scatter: device.check: found nan as 1 - cos' 'a number from 0 to 2'
[[ ! -e nan/light.hits.npy ]] || fail "a run with a fault wrote hits"
# The error is the end: no count, and no warning of a mean cosine, which is none.
[[ $(tail -n 1 err) == *nan.h:* ]] || fail "the error is not the last line: $(cat err)"
grep -E 'files? done|mean cosine|[1-9][0-9]* photons,' err && fail "these lines come with the error"
refuses 2 'nan.h: error: stages.scatter: device.check: found nan' compare light.yaml -s 'stages.scatter={source: nan.h}'

# The same without checks: the run does not begin. Nor with a number that is no 1 - cos.
sed 's/return.*/return u + 5.0f;/' nan.h >five.h
for header in nan:nan five:-4.5; do
    expect 2 "$ICESTREAM" run -q light.yaml -s sink.directory=nan/ -s "stages.scatter={source: ${header%:*}.h}"
    says err "${header%:*}.h: error: stages.scatter: found a mean cosine of ${header#*:}, expected a number from -1 to 1"
done
[[ ! -e nan/light.hits.npy ]] || fail "a run with a wrong mean cosine wrote hits"

# Hole ice and a header for propagate: a warning.
expect 0 "$ICESTREAM" validate -s ice.file="$examples/../ice/tilted.yaml" \
    -s "stages.propagate={source: $examples/clear.h}"
says out 'hole ice: what a segment uses up before it enters a column comes from the tables'
finish
