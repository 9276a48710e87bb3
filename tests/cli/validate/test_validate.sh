#!/usr/bin/env bash
# Promises: `validate` looks at the source as `run` does, writes JSON on request, and checks one configuration
# for machines with and without a GPU.
# To join: a wrong source gets a line with the exit status that `run` has for it.
source "$(dirname "$0")/../common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=10 -o steps/a.steps.npy
echo text >text.npy
mkdir spool
cp steps/a.steps.npy spool/b.steps.npy

# What `run` refuses, `validate` refuses with the same exit status.
for set in 'source.files=[none.npy]' 'source.files=[none*.npy]' source.directory=none 'source.files=[text.npy]'; do
    status=0
    "$ICESTREAM" run -s "$set" 2>run.err || status=$?
    [ "$status" -ne 0 ] || fail "run accepts $set"
    expect "$status" "$ICESTREAM" validate -s "$set"
done
expect 2 "$ICESTREAM" validate -s 'source.files=[none.npy,x*.npy]'
says err "none.npy: No such file or directory" "x*.npy: found no file of that pattern"
cp text.npy spool/c.steps.npy
expect 3 "$ICESTREAM" validate -s source.directory=spool
says err "spool/c.steps.npy: " "expected"
rm spool/c.steps.npy

# What it finds is in the report.
prints "source     1 step file, 10 steps, " validate
prints "source     1 step file in spool, 10 steps, " validate -s source.directory=spool
prints "1 stream, which validate does not read" validate -s source.files=[-]
expect 0 "$ICESTREAM" run --quiet
prints "hit files of 1 of them" validate
mv steps elsewhere
prints "source     steps/*.steps.npy: no step file yet" validate
mv elsewhere steps

# JSON, also of errors.
field() {
    python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    value = value[int(key)] if isinstance(value, list) else value[key]
print(value)' out "$1"
}
expect 0 "$ICESTREAM" validate --json
for pair in valid=True source.files=1 source.steps=10 detector.modules=5160 device.schedule=wavefront; do
    [ "$(field "${pair%%=*}")" = "${pair#*=}" ] || fail "$pair: $(cat out)"
done
# Its warnings are those of the text, also those about tracks without losses.
expect 0 "$ICESTREAM" validate --json -s particles.losses=none -s 'particles.list=[{type: mu, x: 0, y: 0, z: 0, zenith: 80, azimuth: 80, energy: 1e5, length: 500}]'
[[ $(field warnings.0) == *": 1 track, the first one of 100000 GeV and 500 m, has no energy losses in the list"* ]] ||
    fail "no warning about the track: $(cat out)"
expect 2 "$ICESTREAM" validate --json -s 'source.files=[none.npy]' -s run.seed=1
[ "$(field valid)" = False ] || fail "valid: $(cat out)"
[ "$(field errors.0)" = "$(cat err)" ] || fail "another error: $(cat out)"

# A configuration for a GPU runs on the CPU with backend auto, and a line says which keys are not used.
cat >gpu.yaml <<'YAML'
device: {memory_limit: 4 GB, math: fast, watchdog: 20, index: [1]}
graph: {lanes: 4, schedule: event-wavefront, pool: 1048576}
YAML
expect 0 "$ICESTREAM" run gpu.yaml -s sink.directory=other
says err "the CPU does not use keys for a GPU: graph.schedule (gpu.yaml:2:29), device.index (gpu.yaml:1:63)" \
    "device.math (gpu.yaml:1:36)" "graph.pool (gpu.yaml:2:52)"
same other/a.hits.npy hits/a.hits.npy
prints "the CPU does not use keys for a GPU: graph.schedule (gpu.yaml:2:29)" validate gpu.yaml
refuses 2 "gpu.yaml:2:16: error: graph.lanes: this value is for a GPU, and device.backend is cpu" run gpu.yaml -s device.backend=cpu
expect 0 "$ICESTREAM" validate gpu.yaml --for cuda
says out "device:    a GPU, which is not here" "schedule:  event-wavefront"
! grep -q "does not use" out || fail "the CPU is described: $(cat out)"
expect 0 "$ICESTREAM" validate gpu.yaml --for cpu
says out "a machine without a GPU" "the CPU does not use keys for a GPU: "
expect 0 "$ICESTREAM" validate --for cuda -s device.backend=cuda
refuses 1 "device.backend: found cuda, but the check is for a machine without a GPU" validate --for cpu -s device.backend=cuda
refuses 2 "--for: found 'rocm', expected cuda or cpu" validate --for rocm
finish
