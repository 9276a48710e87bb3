#!/usr/bin/env bash
# Promises: -q hides progress and never a warning; an input that carries nothing, a name of another format, an option
# that is a key and a comparison of a configuration with itself are named, each with what was expected.
# To join: what users mistyped gets a line here, with the words that help.
source "$(dirname "$0")/../common.bash"
I=$ICESTREAM
"$I" generate -s workload.steps=30 -o s.steps.npy 2>/dev/null

# -q hides progress and messages, and shows warnings.
expect 0 "$I" run -q "${WIDE[@]}" -s source.files=s.steps.npy -s ice.model=uniform
is_empty err
far='particles.list=[{type: e-, x: 5000, y: 0, z: 0, zenith: 90, azimuth: 0, energy: 1}]'
expect 0 "$I" run -q -s "$far" -s sink.directory=far
says err "warning: no hits: "
if grep -v "^warning: " err; then
    fail "-q shows more than warnings"
fi
expect 0 "$I" run -q --log json -s "$far" -s sink.directory=far --force
if grep -v '"event":"warning"' err; then
    fail "-q shows more than warnings as JSON"
fi
mkdir in
echo none >in/bad.steps.npy
expect 3 "$I" run -q -s source.directory=in -s sink.directory=claimed
says err "bad.steps.npy: " "(quarantined)"

# An input without a message is not one without hits.
refuses 3 "standard input: found the end of the input, expected a file or a message of hits" convert - empty.txt </dev/null
is_missing empty.txt
expect 3 "$I" convert --waveforms 10 - empty.csv </dev/null
is_missing empty.csv
"$I" run -q -s "$far" -s sink.directory=- >nothing.message 2>/dev/null
expect 0 "$I" convert - nothing.txt <nothing.message

# Standard input.
expect 2 "$I" validate -s particles.file=- -s particles.format=yaml <nothing.message
says err "is yaml for particles.file: '-'" "a YAML list is no stream; expected f2k or csv, or the name of a file"
expect 0 "$I" info - <s.steps.npy
says out "standard input: steps" "rows           30"
prints "standard input: hits" info - <nothing.message
refuses 3 "standard input: found an empty file" info - </dev/null
refuses 3 "hits.h5: " convert --waveforms 10 hits.h5 w.csv

# Endings of other formats.
refuses 2 "--output: found st.csv, the ending of another format, expected a name that ends in .npy" generate -s workload.steps=1 -o st.csv
expect 2 "$I" geometry -o m.h5
says err "--output: found m.h5" "ends in .csv or .npy"
expect 2 "$I" trace --photon 0:0:0 --steps s.steps.npy -o t.h5
says err "--output: found t.h5" "ends in .npy"
for file in st.csv m.h5 t.h5; do
    is_missing $file
done

# Keys and names.
refuses 2 "--set detector.oversize: expected KEY=VALUE without a blank, as in --set detector.oversize=3" run --set detector.oversize 3
expect 2 "$I" run --oversize 3
says err "this command has no option --oversize; a key of the configuration is given by --set KEY=VALUE: detector.oversize"
prints "detector.oversize" keys detector
if grep -E '^(ice|run)\.' out; then
    fail "another section"
fi
refuses 2 "found 'detectr', expected a section or a key" keys detectr
for pair in muon:mu electron:e- cascade:hadr; do
    refuses 2 "did you mean '${pair#*:}'?" validate -s "particles.list=[{type: ${pair%:*}, x: 0, y: 0, z: 0, energy: 1}]"
done

# A comparison of nothing.
printf 'workload: {steps: 3}\ndetector: {oversize: 5}\n' >run.yaml
expect 0 "$I" compare run.yaml -s run.seed=3 --against run.yaml
says err "warning: --against: found the same configuration twice" "--set applies to both"

# A list that cannot be read ends a run as it ends validate, and leaves nothing that says otherwise later.
printf 'type,x,y,z,zenith,azimuth,energy\nq,0,0,0,90,0,10\n' >list.csv
refuses 2 "list.csv:2:" run -s particles.file=list.csv -s sink.directory=listed
! grep quarantined err || fail "nothing was quarantined"
is_missing listed/quarantine/list.csv.reason
expect 2 "$I" run -s particles.file=none.csv -s sink.directory=listed
finish
