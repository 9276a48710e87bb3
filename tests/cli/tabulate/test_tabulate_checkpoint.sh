#!/usr/bin/env bash
# Promises: a table that a signal ends keeps all that is computed in a checkpoint, and the next call makes the same
# bytes as one that was never ended, also on another schedule; a checkpoint of another table is refused with the
# names and both values of its settings, one that is damaged is not used, and a file of somebody else stays; without
# checkpoints a signal ends the command at once; two processes never make the same table.
source "$(dirname "$0")/../common.bash"

cat >table.yaml <<'YAML'
ice: {model: uniform}
device: {backend: cpu}
stages: {tabulate: spherical}
workload: {kind: point, steps: 100, photons_per_step: 200}
table:
  axes:
    - {name: r, from: 0, to: 200, bins: 10, power: 2}
    - {name: delay, from: 0, to: 3000, bins: 10, power: 2}
  squares: true
  step: 4
YAML
expect 0 "$ICESTREAM" tabulate table.yaml -o whole.npy
is_missing whole.npy.checkpoint

# catches NAME: whether the process is the program, and no longer this shell, and has a handler of the signal.
# shellcheck disable=SC2317 # `await` calls it
catches() {
    local mask
    mask=$(awk '/^Name:\ticestream$/ {is = 1} is && /^SigCgt/ {print $2}' "/proc/$process/status")
    (((16#${mask:-0} >> ($(kill -l "$1") - 1)) & 1))
}

# begin TABLE OPTION...: starts making a table of very many photons, and waits until signals are caught.
begin() {
    local table=$1
    shift
    "$ICESTREAM" tabulate table.yaml -o "$table" -s workload.photons_per_step=1000000000 "$@" >out 2>err &
    process=$!
    await catches INT
}

# ended STATUS: waits for the end of the process. STATUS is an extended regular expression.
ended() {
    local expected=$1 status=0
    wait "$process" || status=$?
    [[ "$status" =~ ^($expected)$ ]] || fail "exit status $status instead of $expected"
    cat err
}

# ---- signals

# interrupt: ends a call by SIGTERM when it has written a checkpoint.
interrupt() {
    rm -f part.npy*
    "$ICESTREAM" tabulate table.yaml -o part.npy -s table.checkpoint=0.001 -s graph.batch=20 >out 2>err &
    process=$!
    await test -e part.npy.checkpoint
    kill -TERM "$process"
    ended 143
    is_there part.npy.checkpoint
    is_missing part.npy
    is_missing part.npy.part
}
interrupt
says err "part.npy: ended by SIGTERM: all that was computed is kept" \
    "part.npy.checkpoint has " " of 20000 photons: the same command continues after these"
done=$(sed -n 's/^part.npy.checkpoint has \([0-9]*\) of .*/\1/p' err)
expect 0 "$ICESTREAM" info part.npy.checkpoint
says out "photons         $done, weight " "checkpoint      of a table of 20000 photons" "parts           0"
expect 3 "$ICESTREAM" table merge part.npy.checkpoint whole.npy -o sum.npy
says err "part.npy.checkpoint: found a checkpoint of a table that lacks photons, expected a complete table"
expect 0 "$ICESTREAM" tabulate table.yaml -o part.npy -s graph.schedule=monolithic --threads 1
says err "continues  after $done of 20000 photons, which part.npy.checkpoint has" " of $((20000 - done)) photons in "
same part.npy whole.npy
is_missing part.npy.checkpoint

# The first signal waits for the batches, a second one does not. Threads may handle them in either order.
begin none.npy -s graph.batch=1000000000
kill -INT "$process"
kill -TERM "$process"
ended "130|143"
says err "none.npy: ended by SIG" ": what was computed after the last checkpoint is lost"
for ending in "" .part .checkpoint; do
    is_missing none.npy$ending
done

# Without checkpoints the first signal is enough.
begin none.npy -s table.checkpoint=off -s graph.batch=1000000000
kill -INT "$process"
ended 130
says err "none.npy: ended by SIGINT: nothing is kept, because there are no checkpoints"
is_missing none.npy.part

# ---- other tables

interrupt
cp part.npy.checkpoint kept
# refused TEXT OPTION...: the checkpoint of another table stays, and the text names the difference.
refused() {
    local text=$1
    shift
    expect 74 "$ICESTREAM" tabulate table.yaml -o part.npy "$@"
    says err "$text" "nothing was computed; a checkpoint of another table is not replaced"
    same part.npy.checkpoint kept
    is_missing part.npy
}
refused "part.npy.checkpoint: run.seed: found 1, expected 2" -s run.seed=2
refused "part.npy.checkpoint: table.step: found 4, expected 2" -s table.step=2
refused "part.npy.checkpoint: table.squares: found true, expected false" -s table.squares=false
refused "part.npy.checkpoint: workload.steps: found 100, expected 101" -s workload.steps=101
refused "part.npy.checkpoint: table.axes: found [{name: r, from: 0, to: 200, bins: 10, power: 2}" \
    -s "table.axes=[{name: r, from: 0, to: 200, bins: 10}]"
refused "part.npy.checkpoint: stages.tabulate: found spherical, expected cylindrical" -s stages.tabulate=cylindrical \
    -s "table.axes=[{name: rho, from: 0, to: 200, bins: 10}]"
refused "part.npy.checkpoint: ice.model: found uniform, expected south-pole-like" -s ice.model=south-pole-like -s ice.hole_ice=false
expect 0 "$ICESTREAM" generate table.yaml -s stages.tabulate=none -s workload.steps=3 -o a.steps.npy
refused "part.npy.checkpoint: steps: found those with the digest " -s "source.files=[a.steps.npy]"
# --force begins from the beginning, and `off` reads none; both remove it at the end.
expect 0 "$ICESTREAM" tabulate table.yaml -o part.npy --force -s run.seed=2
is_missing part.npy.checkpoint
grep -q continues err && fail "--force continues"
cp kept part.npy.checkpoint
expect 0 "$ICESTREAM" tabulate table.yaml -o part.npy --force -s table.checkpoint=off
same part.npy whole.npy
is_missing part.npy.checkpoint

# A table that exists is refused before anything is computed, and its checkpoint stays.
cp kept part.npy.checkpoint
refuses 74 "part.npy: found an existing file, expected none (--force overwrites)" tabulate table.yaml -o part.npy
same part.npy.checkpoint kept

# It is not what `status` looks for.
mkdir hits
cp kept hits/part.npy.checkpoint
expect 0 "$ICESTREAM" run -q -s device.backend=cpu -s workload.steps=1 -s sink.directory=hits
expect 0 "$ICESTREAM" status hits
! grep -F checkpoint out err || fail "the checkpoint of a table is shown"

# ---- damage

# unusable TEXT: the checkpoint is not used.
unusable() {
    rm -f part.npy
    expect 0 "$ICESTREAM" tabulate table.yaml -o part.npy
    says err "warning: part.npy.checkpoint: $1" "; this checkpoint is not used: the table is made from its beginning"
    same part.npy whole.npy
    is_missing part.npy.checkpoint
}
head -c 2000 kept >part.npy.checkpoint
unusable "found no trailer at the end"
{
    head -c 1500 kept
    printf '\001'
    tail -c +1502 kept
} >part.npy.checkpoint
cmp -s kept part.npy.checkpoint && fail "the checkpoint is not damaged"
unusable "rows 0 to "

# A file of somebody else, and a complete table, stay.
for file in table.yaml whole.npy; do
    rm -f part.npy
    cp "$file" part.npy.checkpoint
    expect 74 "$ICESTREAM" tabulate table.yaml -o part.npy
    same "$file" part.npy.checkpoint
done
says err "part.npy.checkpoint: found a table that is complete, expected a checkpoint or no file"
rm part.npy.checkpoint

# A name that has no room for that of a checkpoint is no reason to warn.
long=$(printf 'a%.0s' {1..240}).npy
expect 0 "$ICESTREAM" tabulate table.yaml -o "$long"
same "$long" whole.npy
! grep warning err || fail "a warning of a file that cannot exist"

# ---- two processes

begin part.npy
refuses 74 "part.npy: found another process writing it (process $process) after a wait of 2 s" tabulate table.yaml -o part.npy
kill -KILL "$process"
ended 137
expect 0 "$ICESTREAM" tabulate table.yaml -o part.npy
same part.npy whole.npy
is_missing part.npy.part

# Standard output has no checkpoint.
expect 0 "$ICESTREAM" tabulate table.yaml -o - -s table.checkpoint=0.001 -s graph.batch=1000
same out whole.npy
finish
