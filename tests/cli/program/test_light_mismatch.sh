#!/usr/bin/env bash
# Promises (files.md 2.5): steps carry what their light was made with. Every command that reads steps refuses
# those of other light and names each key with both values and the remedies; source.light_mismatch: accept uses
# them and writes the differences into the hit file. Streams carry the record as well. Steps of other programs
# run, with one line that says what was assumed.
# To join: a setting on which light depends gets a line in the loop over settings.
source "$(dirname "$0")/../common.bash"
particles='particles.list=[{type: e-, x: 30, y: 0, z: -300, zenith: 60, azimuth: 30, energy: 20}]'
printf '400 1\n410 2\n420 1\n' >one.txt
printf '400 1\n410 3\n420 1\n' >two.txt
cat >run.yaml <<YAML
${particles%%.*}: { list: ${particles#*=} }
light: { spectra: [{ file: one.txt }] }
detector: { oversize: 5 }
YAML

expect 0 "$ICESTREAM" generate run.yaml -o a.steps.npy
run=("$ICESTREAM" run run.yaml --force -s source.files=a.steps.npy -s sink.directory=hits)
expect 0 "${run[@]}"
grep -q 'no record' err && fail "a file with a record counts as one without"

# Every setting: its key, the value of the run, the value of the steps.
while read -r key run_value steps_value; do
    expect 3 "${run[@]}" -s "$key=$run_value"
    says err "a.steps.npy: light: $key: found steps that were made for $steps_value" ", expected $run_value" \
        "icestream generate" "--set $key=$steps_value" "source.light_mismatch=accept"
done <<'SETTINGS'
detector.oversize 1 5
detector.radius 0.2 0.1651
light.acceptance none standard
particles.conventions ppc standard
particles.stopping true false
SETTINGS
expect 3 "${run[@]}" -s 'light.spectra=[{file: two.txt}]'
says err "light: light.spectra[0]: found steps that were made for one.txt (digest" "expected two.txt (digest"
expect 3 "${run[@]}" -s 'light.spectra=[]'
says err "light.spectra[0]" "expected nothing"
printf '1 1 1.35\n' >efficiencies
expect 3 "${run[@]}" -s detector.efficiencies=efficiencies -s detector.oversize=2
says err "light: detector.efficiencies: found" "light: detector.oversize: found"
expect 0 "${run[@]}" -s run.seed=7 -s 'light.spectra=[{file: one.txt}, {line: 450}]'

# The remedies work.
expect 0 "${run[@]}" -s detector.oversize=1 -s source.light_mismatch=accept
says err "warning: a.steps.npy: the light of these steps was made for other settings"
expect 0 "$ICESTREAM" info --json hits/a.hits.npy
says out '"light_mismatch"' '"key": "detector.oversize"' '"steps": "5"' '"run": "1"'
expect 0 "${run[@]}"
expect 0 "$ICESTREAM" info --json hits/a.hits.npy
grep -q light_mismatch out && fail "light_mismatch without a mismatch"

# Other commands.
refuses 3 "light: detector.oversize" validate run.yaml -s source.files=a.steps.npy -s detector.oversize=1
expect 0 "$ICESTREAM" validate run.yaml -s source.files=a.steps.npy
refuses 3 "light: detector.oversize" compare run.yaml -s source.files=a.steps.npy -s detector.oversize=1
refuses 3 "light: detector.oversize" trace run.yaml -s source.files=a.steps.npy -s detector.oversize=1 --photon 0:0:3 -o p.npy

# Streams: a stream of `generate` is refused before it is computed, a copied file when its trailer comes.
"$ICESTREAM" generate run.yaml -o - >stream
expect 0 "$ICESTREAM" run run.yaml -q -s source.files=- -s sink.directory=piped <stream
expect 3 "$ICESTREAM" run run.yaml -q -s source.files=- -s sink.directory=refused -s detector.oversize=1 <stream
says err "standard input, message 0: light: detector.oversize: found"
is_missing refused/stdin-000000.hits.npy
expect 0 "$ICESTREAM" generate -s workload.steps=10 -o w.steps.npy
for first in stream a.steps.npy; do # the message behind it is computed
    cat $first w.steps.npy >two
    expect 3 "$ICESTREAM" run run.yaml -q -s source.files=- -s sink.directory=copied-$first -s detector.oversize=1 <two
    says err "standard input, message 0: light: detector.oversize: found" "1 of 2 files quarantined"
    is_missing copied-$first/stdin-000000.hits.npy
    is_there copied-$first/stdin-000001.hits.npy
    expect 0 "$ICESTREAM" run run.yaml -q -s source.files=- -s sink.directory=accepted-$first -s detector.oversize=1 \
        -s source.light_mismatch=accept <two
    expect 0 "$ICESTREAM" info --json accepted-$first/stdin-000000.hits.npy
    says out '"light_mismatch"' '"key": "detector.oversize"'
done
expect 0 "$ICESTREAM" run run.yaml -s source.files=- -s sink.directory=whole <a.steps.npy
grep -q 'no record' err && fail "a copied file with a record counts as one without"
if python=$(python_with numpy); then
    expect 0 "$python" -c 'import numpy; print(len(numpy.load("stream")))'
else
    echo "skipped: no Python with NumPy: the stream is not read with it"
fi

# Steps of other programs, and a workload, whose light is not thinned.
untrailed a.steps.npy 72 >other.npy
expect 0 "$ICESTREAM" run run.yaml --force -s source.files=other.npy -s sink.directory=hits -s detector.oversize=1
says err "1 of the inputs has no record of its light" "light.acceptance standard, detector.oversize 1"
[ "$(grep -c 'no record' err)" -eq 1 ] || fail "not one line about the record"
for oversize in 1 5; do
    expect 0 "$ICESTREAM" run --force -s source.files=w.steps.npy -s sink.directory=hits -s detector.oversize=$oversize
    grep -q 'no record' err && fail "a workload counts as a file without a record"
done

# A record that is no record.
"$ICESTREAM" generate -s workload.steps=10 -o - | sed 's/# light: {"thin/# light: ["thin/' >bad.npy
expect 3 "$ICESTREAM" run -q -s source.files=bad.npy -s sink.directory=hits
says err "header: byte" "record of light"
finish
