#!/usr/bin/env bash
# Promises: a run that has particles or a workload and names no source makes its steps itself, with the hits of
# the way through a step file, byte for byte; --keep-steps writes what generate writes; a given source wins;
# light that is nothing is an error with its place. To join: one more way to give light, in the first loop.
source "$(dirname "$0")/../common.bash"

LIST='[{type: e-, energy: 300, x: 10, y: 20, z: 30, zenith: 60, azimuth: 170},
        {type: mu, event: 1, energy: 20, length: 60, x: 10, y: 20, z: -300, zenith: 60, azimuth: 170}]'
HEAD=$'run: {seed: 7}\ndetector: {oversize: 5}\ndevice: {backend: cpu, threads: 2}\n'
printf '%sparticles: {list: %s}\n' "$HEAD" "$LIST" >list.yaml
printf '%sworkload: {kind: cascade, steps: 300, photons_per_step: 100}\n' "$HEAD" >work.yaml
printf '%sparticles: {file: events.csv}\n' "$HEAD" >csv.yaml
cat >events.csv <<'CSV'
event,type,x,y,z,zenith,azimuth,energy
3,e-,10,20,30,60,170,300
9,pi+,10,20,-300,60,170,90
CSV

for run in list work csv; do
    name=$run
    [ $run = csv ] && name=events
    expect 0 "$ICESTREAM" run $run.yaml --keep-steps
    says err "makes steps: " "1 file done"
    expect 0 "$ICESTREAM" generate $run.yaml -o $run.steps.npy
    same hits/$name.steps.npy $run.steps.npy
    expect 0 "$ICESTREAM" run -q $run.yaml -s "source.files=[$run.steps.npy]" -s sink.directory=filed
    same_rows hits/$name.hits.npy filed/$run.hits.npy
    [ "$(row_count hits/$name.hits.npy)" -gt 10 ] || fail "too few hits of $run to compare"
    expect 0 "$ICESTREAM" info --verify hits/$name.hits.npy

    # The hits exist now: a run refuses, --resume keeps them, and makes them again for another seed.
    expect 74 "$ICESTREAM" run -q $run.yaml
    expect 0 "$ICESTREAM" run $run.yaml --resume
    says err "0 files done, 1 skipped"
    expect 0 "$ICESTREAM" run $run.yaml --force -s sink.directory=forced
    # A printed configuration means the same.
    "$ICESTREAM" run $run.yaml --print-effective >printed.yaml
    prints "the run makes the steps of the" validate printed.yaml
    # trace makes the steps again, and refuses those of another seed.
    prints "identical to the last bit" trace $run.yaml --hits hits/$name.hits.npy -o $run.paths.npy
    expect 3 "$ICESTREAM" trace $run.yaml -s run.seed=8 --hits hits/$name.hits.npy -o other.paths.npy
    says err "found digests.input of other steps" "run.seed (7, 8)"
done

# Another list has another digest, and another name of the same list has the same.
cp events.csv again.csv
expect 0 "$ICESTREAM" run -q csv.yaml -s particles.file=again.csv -s sink.directory=again
digest() { "$ICESTREAM" info --json "$1" | grep '"input"'; }
[ "$(digest hits/events.hits.npy)" = "$(digest again/again.hits.npy)" ] || fail "the name changes the digest"
sed -i 's/,90$/,91/' events.csv
expect 74 "$ICESTREAM" run -q csv.yaml
# --resume does not replace finished hits of other particles, and names the key; --force does it.
replaced() { sha256sum <hits/events.hits.npy; }
before=$(replaced)
expect 74 "$ICESTREAM" run csv.yaml --resume
says err "--resume does not replace finished hits" "events.hits.npy: particles.file: found events.csv (digest"
[ "$(replaced)" = "$before" ] || fail "--resume has replaced hits of other particles"
refuses 3 "particles.file (events.csv (digest" trace csv.yaml --hits hits/events.hits.npy -o changed.paths.npy
expect 0 "$ICESTREAM" run csv.yaml --resume --force
[ "$(replaced)" != "$before" ] || fail "--force has not replaced hits of other particles"
cp again.csv events.csv
expect 0 "$ICESTREAM" run csv.yaml --force
[ "$(replaced)" = "$before" ] || fail "the same list gives other hits"

# Particles from a pipe: the same hits; a pipe cannot be compared.
expect 0 "$ICESTREAM" run -q csv.yaml -s particles.file=- -s particles.format=csv -s sink.directory=piped <events.csv
same_rows hits/events.hits.npy piped/stdin.hits.npy
expect 2 "$ICESTREAM" run csv.yaml -s particles.file=- -s particles.format=csv --resume <events.csv
says err "--set particles.file: error: particles.file: found a pipe"
# While the run waits for the pipe, a signal ends it.
mkfifo list.pipe
sleep 60 >list.pipe &
sleeper=$!
"$ICESTREAM" run csv.yaml -s particles.file=list.pipe -s particles.format=csv -s sink.directory=waits 2>err &
process=$!
await grep -q "makes steps" err
kill -TERM $process
status=0
wait $process || status=$?
kill $sleeper
[ $status -eq 143 ] || fail "exit status $status of a run that was terminated while it waited"

# To standard output.
"$ICESTREAM" run -q work.yaml -s sink.directory=- >message || fail "no message"
cmp <(untrailed hits/work.hits.npy) message || fail "another message"

# compare and bench use the same light, whatever the default pattern of source.files matches.
mkdir steps
cp list.steps.npy steps/
prints "steps of workload cascade" compare work.yaml
prints "steps of particles.list" compare list.yaml
prints "steps of particles.list" bench list.yaml --repeats 1 --schedules wavefront
prints "10 steps of workload cascade" bench list.yaml --repeats 1 --schedules wavefront --workload cascade --steps 10
rm -r steps

# Both are given: the source wins, and the run says so.
expect 0 "$ICESTREAM" run list.yaml -s 'source.files=[work.steps.npy]' -s sink.directory=both
says err "the run reads the steps of its source, because one is given"
refuses 2 "--keep-steps: found a run of step files" run list.yaml --keep-steps -s 'source.files=[work.steps.npy]' -s sink.directory=none

# Nothing makes nothing.
printf 'particles: {list: []}\n' >empty.yaml
for command in run validate "generate -o x.npy"; do
    # shellcheck disable=SC2086 # words
    refuses 2 "empty.yaml:1:19: error: particles.list: found an empty list, expected at least one particle" $command empty.yaml
done
refuses 2 "generate: found neither particles nor a workload" generate -o x.npy
refuses 2 "neither a source nor light is given" run
head -1 events.csv >none.csv
refuses 2 "none.csv:1: error: found no particle, expected at least one" run -s particles.file=none.csv -s sink.directory=nothing
is_missing nothing/quarantine/none.csv.reason
refuses 2 "workload.steps: found 0, expected 1 or more" run -s workload.steps=0
refuses 2 "workload.photons_per_step: found 0" run -s workload.photons_per_step=0
dim='particles.list=[{type: flasher, string: 63, module: 20, led: 7, photons: 0}]'
refuses 2 "found particles without light, expected at least one photon" generate -s "$dim" -o x.npy
[ -e x.npy ] && fail "a file was made of nothing"

# An error in the middle of a list names its line, and the run has no hits.
printf '3,e-,10,20,30,60,170\n' >>events.csv
refuses 2 "events.csv:4" run csv.yaml -s sink.directory=bad
[ -e bad/events.hits.npy ] && fail "hits of a bad list"

# A step file without light is a bad file, unless it is accepted; a message may be empty.
head -c 1024 work.steps.npy | sed "s/ 300,)/   0,)/" >nothing.steps.npy
expect 3 "$ICESTREAM" run -s 'source.files=[nothing.steps.npy]' -s sink.directory=refused
says err "nothing.steps.npy: found 0 steps, expected at least one photon (source.empty: accept"
expect 0 "$ICESTREAM" run -q -s 'source.files=[nothing.steps.npy]' -s source.empty=accept -s sink.directory=accepted
[ "$(row_count accepted/nothing.hits.npy)" -eq 0 ] || fail "hits of nothing"
expect 0 "$ICESTREAM" run -q -s 'source.files=-' -s sink.directory=empty <nothing.steps.npy
[ -e empty/stdin-000000.hits.npy ] || fail "an empty message has no answer"

# Sizes are known before they are taken.
expect 2 "$ICESTREAM" run list.yaml --keep-steps -s particles.file_limit=1000 -s sink.directory=large
says err "list.steps.npy: found a step file of" "expected at most 1 kB, particles.file_limit"
[ -e large/list.steps.npy ] && fail "a file above its limit"
expect 2 "$ICESTREAM" validate -s device.backend=cpu -s device.threads=1024 -s graph.pool=100000000
says err "graph.pool: found too much: 1024 threads with 100000000 photon slots each need"

finish
