#!/bin/bash
# Promise: `icestream run CONFIG IN -o OUT` makes OUT and nothing else, whole or not at all, and its exit status
# says which; --resume keeps an OUT that matches; whatever else has the name OUT stays.
# shellcheck source=tests/cli/common.bash
. "$(dirname "$0")/../common.bash"

steps() {
    "$ICESTREAM" generate -s workload.steps=20 -s workload.photons_per_step=100 -s workload.event="$2" -o "$1" 2>log ||
        fail "generate: $(cat log)"
}
# shellcheck disable=SC2012 # the names are those of this test
# left NAME...: checks that the folder has these files and no other.
left() {
    [ "$(ls -A | LC_ALL=C sort)" = "$(printf '%s\n' "$@" | LC_ALL=C sort)" ] || fail "found $(ls -Am), expected $*"
}

mkdir work && cd work || exit 1
printf 'run: { seed: 3 }\nsource: { directory: nowhere/ }\n' >run.yaml
steps a.steps.npy 1
steps b.steps.npy 2
files=(run.yaml a.steps.npy b.steps.npy err log out)
# shellcheck disable=SC2317 # `expect` calls it
run() { "$ICESTREAM" run -q run.yaml "$@"; }

# --- one file
expect 0 run a.steps.npy -o a.npy
left "${files[@]}" a.npy
expect 0 run -s source.files=a.steps.npy -s sink.directory=../long
same a.npy ../long/a.hits.npy
is_there ../long/run.journal
expect 74 run a.steps.npy -o a.npy
says err "a.npy: already exists" "--resume keeps outputs that match"
before=$(stat -c %i a.npy)
expect 0 run a.steps.npy -o a.npy --resume
expect 74 run b.steps.npy -o a.npy --resume
says err "b.steps.npy: found hits of another input" "--force overwrites"
expect 74 run a.steps.npy -o a.npy --resume -s run.seed=4
says err "a.npy: run.seed: found 3, expected 4"
[ "$(stat -c %i a.npy)" = "$before" ] || fail "a.npy was replaced"
same a.npy ../long/a.hits.npy
left "${files[@]}" a.npy
expect 0 run b.steps.npy -o a.npy --force
expect 0 run a.steps.npy -o a.npy --force --summary ../s.json
says ../s.json '"output": "./a.npy"' '"status": "done"'
same a.npy ../long/a.hits.npy

# --- a damaged OUT is kept in a quarantine, because it may be somebody's file
printf x | dd of=a.npy bs=1 seek=1100 conv=notrunc status=none
expect 0 run a.steps.npy -o a.npy --resume
same a.npy ../long/a.hits.npy
is_there quarantine/a.npy
rm -r quarantine

# --- a bad step file leaves no OUT
rm a.npy

head -c 2000 a.steps.npy >bad.steps.npy
expect 3 run bad.steps.npy -o a.npy
says err "bad.steps.npy" "cut short"
rm bad.steps.npy
left "${files[@]}"

# --- streams
expect 0 run - -o a.npy <a.steps.npy
same a.npy ../long/a.hits.npy
expect 74 run - -o a.npy <a.steps.npy
says err "already exists"
expect 0 run - -o a.npy --resume <a.steps.npy
expect 74 run - -o a.npy --resume <b.steps.npy
same a.npy ../long/a.hits.npy
expect 0 run - -o - <a.steps.npy
rows out "$(row_count a.npy)"
expect 0 run - -o 'm/{stem}.npy' < <(cat a.steps.npy b.steps.npy)
same m/stdin-000000.npy a.npy
is_there m/stdin-000001.npy
rm -r m
cat a.steps.npy b.steps.npy >../two
expect 74 run - -o z.npy <../two
says err "message 1: found a second message, expected one" "has no {stem}"

# --- several files
rm -f z.npy a.npy
expect 0 run a.steps.npy b.steps.npy -o 'o/x-{stem}.npy'
same o/x-a.npy ../long/a.hits.npy
[ "$(ls -A o)" = "$(printf 'x-a.npy\nx-b.npy')" ] || fail "o has $(ls -Am o)"
expect 0 run '*.steps.npy' -o 'o/x-{stem}.npy' --resume
expect 0 run a.steps.npy 'b.steps.npy' -s sink.directory=../long --resume
is_there ../long/b.hits.npy
expect 2 run '*.steps.npy' -o o/x.npy
says err "a.steps.npy and b.steps.npy would both be written to o/x.npy"

# --- names are names
weird=$'q"\\ [x] {} \t.steps.npy'
cp a.steps.npy "$weird"
expect 0 run "$weird" -o $'o/w"\\ [y] \t.npy'
same $'o/w"\\ [y] \t.npy' o/x-a.npy
expect 0 run ./"$weird" -o 'o/{stem}.npy'
same "o/${weird%.steps.npy}.npy" o/x-a.npy

# --- OUT is no input (tests/cli/bad_inputs/bad_inputs_onefile.py has the other errors)
cp a.steps.npy c.npy
expect 2 run c.npy -o c.npy --force
says err "c.npy would be overwritten by the output ./c.npy"
expect 74 run a.steps.npy -o a.steps.npy/x.npy
says err "Not a directory"
is_missing x.npy
cd .. || exit 1

# --- one of everything: no text says "1 hits"
printf 'string,module,x,y,z\n1,1,0,0,0\n' >one.csv
cat >one.yaml <<'YAML'
ice: { model: uniform }
detector: { file: one.csv, oversize: 1 }
run: { seed: 8 } # one whose photon hits the module
workload: { kind: point, steps: 1, photons_per_step: 1, position: [0.25, 0, 0] }
YAML
{
    for words in "generate one.yaml -o one.steps.npy" "validate one.yaml" "run one.yaml -o run.npy" \
        "info one.steps.npy run.npy" "merge run.npy -o merged.npy" "split one.yaml one.steps.npy --parts 1 -o part{part}.npy" \
        "compare one.yaml" "plan one.yaml"; do
        # shellcheck disable=SC2086 # these are words
        "$ICESTREAM" $words || fail "icestream $words: exit status $?"
    done
} >texts 2>&1
says texts "1 file done" "1 photon, 1 hit in" "1 file, 1 row, 1 photon" "1 part, " "1 step, 1 photon," "1 on 1 string," \
    "1 photon in 1 step of" "1 hit of 1 step file, from 1 hit file"
grep -nE '(^|[^0-9.,])1 [a-z]+s\b' texts && fail "the plural for one"
finish
