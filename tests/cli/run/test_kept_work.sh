#!/usr/bin/env bash
# Promise: nothing that was computed is replaced without --force: neither finished hits of messages nor a checkpoint of
# other settings. What a run could not read or keep is said, and reports have the exit status of the process.
# To join: make work of an earlier run, run again in another way, and compare what is there.
source "$(dirname "$0")/../common.bash"

# resume FILE [ARGUMENT...]: a run with --resume that reads the file from standard input.
# shellcheck disable=SC2317 # `expect` calls it
resume() {
    local file=$1
    shift
    "$ICESTREAM" run --resume "${WIDE[@]}" -s 'source.files=[-]' -s sink.directory=q "$@" <"$file"
}

for event in 1 2; do
    expect 0 "$ICESTREAM" generate -s workload.steps=50 -s workload.event=$event -o $event.steps.npy
done

# Hits of messages: of other settings (refused before anything is computed), of another message, equal, damaged.
expect 0 resume 1.steps.npy
cp q/stdin-000000.hits.npy first
expect 74 resume 1.steps.npy -s run.seed=7
says err "nothing was computed; --resume does not replace finished hits" \
    "q/stdin-000000.hits.npy: run.seed: found 1, expected 7"
expect 74 resume 2.steps.npy
says err "standard input, message 0: --resume does not replace finished hits of another message" \
    "q/stdin-000000.hits.npy: found hits of another step file"
same q/stdin-000000.hits.npy first
expect 0 resume 1.steps.npy
same q/stdin-000000.hits.npy first
printf '\x55' | dd of=q/stdin-000000.hits.npy bs=1 seek=1500 conv=notrunc status=none
expect 0 resume 1.steps.npy
says err "this hit file is now q/quarantine/stdin-000000.hits.npy"
same q/stdin-000000.hits.npy first
expect 0 resume 1.steps.npy --force -s run.seed=7
cmp -s q/stdin-000000.hits.npy first && fail "--force did not replace the hits"

# Merged hits, here under the name that runs before version 0.3.0 gave them, count with and without --resume. A damaged
# file does not stay together with those that have its hits again.
volume="run-0123abcd-000000.hits.npy"
for option in --fail-fast --resume; do
    rm -rf v
    volumes=("${WIDE[@]}" -s 'source.files=[1.steps.npy, 2.steps.npy]' -s sink.directory=v)
    expect 0 "$ICESTREAM" run -q "${volumes[@]}"
    expect 0 "$ICESTREAM" merge v -o v/$volume
    rm v/[12].hits.npy
    expect "$([ $option = --resume ] && echo 0 || echo 3)" "$ICESTREAM" run "${volumes[@]}" $option
    if [ $option = --resume ]; then
        says err "2 skipped"
    else
        says err "found its hits in v/$volume already, expected none (--resume skips such files)"
    fi
    is_missing v/1.hits.npy
    rm -rf claimed && mkdir claimed && cp [12].steps.npy claimed
    expect 0 "$ICESTREAM" run "${WIDE[@]}" -s source.directory=claimed -s sink.directory=v
    says err "2 skipped"
    printf '\x55' | dd of=v/$volume bs=1 seek=1500 conv=notrunc status=none
    expect 0 "$ICESTREAM" run $option "${volumes[@]}"
    says err "warning: v/$volume: rows 0 to" "this hit file is now v/quarantine/$volume"
    says v/run.journal '"event":"hits_quarantined"' "\"output\":\"v/quarantine/$volume\""
    says v/quarantine/$volume.reason "the rows were damaged"
    [ "$(echo v/*.hits.npy)" = "v/1.hits.npy v/2.hits.npy" ] || fail "not two hit files: $(ls v)"
done

# Messages through a named pipe.
mkfifo pipe
for seed in 1 7; do
    timeout 10 cat 1.steps.npy >pipe &
    expect $((seed == 1 ? 0 : 74)) "$ICESTREAM" run -q --resume -s 'source.files=[pipe]' -s sink.directory=p \
        -s run.seed=$seed
    kill $! 2>/dev/null
done
says err "p/pipe-000000.hits.npy: run.seed: found 1, expected 7"

# begin ARGUMENT...: a run of the large step file that is ended by a signal when it has a checkpoint. Its status is 85.
begin() {
    rm -rf part
    "$ICESTREAM" run -q --unfinished-exit 85 -s sink.directory=part -s sink.checkpoint=0.01 -s device.threads=1 "$@" \
        2>/dev/null &
    local run=$! status=0
    await test -s part/large.hits.npy.checkpoint
    kill -TERM $run
    wait $run || status=$?
    [ $status = 85 ] || fail "exit status $status instead of 85"
}

# A checkpoint of other settings: of a named step file the run is refused, with and without --resume.
mkdir in
expect 0 "$ICESTREAM" generate -s workload.steps=40000 -o in/large.steps.npy
named=(-s 'source.files=[in/large.steps.npy]')
begin "${named[@]}"
cp part/large.hits.npy.checkpoint kept
for option in --resume --quiet; do
    expect 74 "$ICESTREAM" run $option "${named[@]}" -s sink.directory=part -s run.seed=2 -s run.bounce_limit=9
    says err "nothing was computed; a checkpoint of other settings is not replaced" \
        "part/large.hits.npy.checkpoint: run.seed: found 1, expected 2" "run.bounce_limit: found 10000, expected 9"
    same part/large.hits.npy.checkpoint kept
done

# Journal, summary and status have the exit status that the process returned.
begin "${named[@]}"
says part/run.journal '"exit_status":85'
says part/summary.json '"exit_status": 85'

# Of a claimed step file the checkpoint goes to the quarantine.
begin -s source.directory=in
cp part/large.hits.npy.checkpoint kept
"$ICESTREAM" run -s source.directory=in -s sink.directory=part -s run.seed=2 --time-limit 1 >out 2>err
says err "run.seed: found 1, expected 2; this checkpoint is now part/quarantine/large.hits.npy.checkpoint"
same part/quarantine/large.hits.npy.checkpoint kept

# A worker that was killed and whose parent has not asked for its status is not running.
cat >zombie.py <<'PYTHON'
"""Kills a run as soon as it has a journal, and lets `status` look at it before the run is awaited."""
import os, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "run", "-q", "-s", "source.directory=in", "-s", "sink.directory=dead"])
while not os.path.exists("dead/run.journal") or os.path.getsize("dead/run.journal") == 0:
    time.sleep(0.02)
run.kill()
while ") Z " not in open(f"/proc/{run.pid}/stat").read():
    time.sleep(0.02)
sys.exit(subprocess.call([sys.argv[1], "status", "dead"]))
PYTHON
expect 0 python3 zombie.py "$ICESTREAM"
says out "gone"
finish
