#!/usr/bin/env bash
# Promise: nothing that was computed is replaced without --force: neither finished hits of messages nor a checkpoint of
# other settings. What a run could not read or keep is said, and reports have the exit status of the process.
# To join: make work of an earlier run, run again in another way, and compare what is there.
source "$(dirname "$0")/common.bash"

# resume FILE [ARGUMENT...]: a run with --resume that reads the file from standard input.
# shellcheck disable=SC2317 # `expect` calls it
resume() {
    local file=$1
    shift
    "$ICESTREAM" run --resume -s 'source.files=[-]' -s sink.directory=q "$@" <"$file"
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

# The same through a named pipe.
mkfifo pipe
for seed in 1 7; do
    timeout 10 cat 1.steps.npy >pipe &
    expect $((seed == 1 ? 0 : 74)) "$ICESTREAM" run -q --resume -s 'source.files=[pipe]' -s sink.directory=p \
        -s run.seed=$seed
    kill $! 2>/dev/null
done
says err "p/pipe-000000.hits.npy: run.seed: found 1, expected 7"
finish
