#!/usr/bin/env bash
# Promise: of two runs with --force or --resume that write the same hit file at the same time, the one that ends later
# fails and keeps the file of the other one; neither result is lost without a word. To join: another option that replaces
# files is a turn of the loop.
set -eu
icestream=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > run.yaml <<END
device: {backend: cpu, threads: 1}
workload: {steps: 20000, photons_per_step: 200}
END

wait_for() {
    for _ in $(seq 600); do
        grep -q "$1" "$2" 2> /dev/null && return
        sleep 0.05
    done
    echo "FAILED: $2 has no $1 after 30 s"
    exit 1
}

for option in --force --resume; do
    rm -rf hits
    "$icestream" run run.yaml $option --set run.seed=2 2> long.log &
    long=$!
    wait_for '"event": *"start"' hits/run.journal
    kill -STOP $long
    "$icestream" run run.yaml $option --set run.seed=1 --set workload.steps=10 2> short.log
    sum=$(sha256sum hits/run.hits.npy)
    kill -CONT $long
    status=0
    wait $long || status=$?
    # With --resume the run may also find the file before its first photon; then it is refused.
    said="run.hits.npy: found a file that another process has made since this one began"
    if [[ $status == 0 ]] || { [[ $option == --force ]] && { [[ $status != 74 ]] || ! grep -q "$said" long.log; }; }; then
        echo "FAILED: $option: exit status $status, expected 74 with the name of the file"
        cat long.log
        exit 1
    fi
    if [[ $(sha256sum hits/run.hits.npy) != "$sum" ]]; then
        echo "FAILED: $option: the finished file of the other run was replaced"
        exit 1
    fi
    # Later the file is replaced as before.
    "$icestream" run run.yaml --force --set run.seed=2 --set workload.steps=10 2> later.log
    if [[ $(sha256sum hits/run.hits.npy) == "$sum" ]]; then
        echo "FAILED: $option: --force did not replace the file of an earlier run"
        exit 1
    fi
done
echo "ok: two runs with --force or --resume"
