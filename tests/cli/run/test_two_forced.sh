#!/usr/bin/env bash
# Promise: of two runs with --force or --resume that write the same hit file at the same time, the one that ends later
# fails and keeps the file of the other one; neither result is lost without a word. To join: another option that replaces
# files is a turn of the loop.
source "$(dirname "$0")/../common.bash"
cat >run.yaml <<END
device: {backend: cpu, threads: 1}
workload: {steps: 20000, photons_per_step: 200}
END

for option in --force --resume; do
    rm -rf hits
    "$ICESTREAM" run run.yaml $option -s run.seed=2 2>long.log &
    long=$!
    await grep -qs '"event": *"start"' hits/run.journal
    kill -STOP $long
    expect 0 "$ICESTREAM" run run.yaml $option -s run.seed=1 -s workload.steps=10
    cp hits/run.hits.npy short.hits.npy
    kill -CONT $long
    status=0
    wait $long || status=$?
    if [ $option = --force ]; then
        [ $status = 74 ] || fail "exit status $status, expected 74"
        says long.log "run.hits.npy: found a file that another process has made since this one began"
    else # the run may also find the file before its first photon; then it is refused
        [ $status != 0 ] || fail "--resume: exit status 0"
    fi
    same hits/run.hits.npy short.hits.npy
    # Later the file is replaced as before.
    expect 0 "$ICESTREAM" run run.yaml --force -s run.seed=2 -s workload.steps=10
    cmp -s hits/run.hits.npy short.hits.npy && fail "--force did not replace the file of an earlier run"
done
finish
