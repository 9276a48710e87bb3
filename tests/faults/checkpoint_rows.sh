#!/usr/bin/env bash
# Promise: hits that are rows of the hit file already are not written again into the checkpoint, and a run that is
# killed at any write still continues and makes the same bytes, also if the rows are lost or damaged.
#
#   checkpoint_rows.sh PROGRAM INJECT.SO
#
# To join: one more call of `continues` with another way to end the first run or to harm its files.
inject=$(realpath "$2")
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"

# Nearly every other photon hits at once: 400,000 hits (26 MB) are cheap. Rows are written early from 4 MiB on.
cat >many.yaml <<'END_OF_RUN'
detector: {oversize: 30, crossing: disc, keep_hit_photons: false}
workload: {kind: point, position: [0, 0, 5], steps: 5000, photons_per_step: 200}
run: {bounce_limit: 1}
graph: {batch: 20000}
device: {backend: cpu}
END_OF_RUN
expect 0 "$ICESTREAM" run -q many.yaml --set sink.directory=reference

# killed SECONDS N HOW: a run with this time between checkpoints, which is killed at its N-th write.
killed() {
    expect 137 env LD_PRELOAD="$inject" FAULT_CALLS="write" FAULT_PATH=hits/ FAULT_AT="$2" FAULT_HOW="$3" \
        "$ICESTREAM" run -q many.yaml --threads "${threads:-1}" --set sink.directory=hits --set sink.checkpoint="$1"
}
continues() {
    expect 0 "$ICESTREAM" run many.yaml --threads 2 --set sink.directory=hits
    same hits/many.hits.npy reference/many.hits.npy
    is_missing hits/many.hits.npy.checkpoint
    is_missing hits/many.hits.npy.checkpoint.rows
}

# With 0.001 s the checkpoint is begun before there are rows, otherwise with rows or after the last one.
for seconds in 0.001 0.03; do
    for at in 20 60 90 120 150; do
        for how in kill kill-half; do
            killed "$seconds" "$at" "$how"
            is_missing hits/many.hits.npy
            continues
            rm -rf hits
        done
    done
done

# The checkpoint does not have the hits again: 4 MiB of them are not rows yet when it is begun.
killed 0.001 150 kill
is_there hits/many.hits.npy.checkpoint.rows
rows=$(stat -c %s hits/many.hits.npy.checkpoint.rows) records=$(stat -c %s hits/many.hits.npy.checkpoint)
[ "$rows" -gt 8000000 ] || fail "rows of $rows bytes are too few for this test"
[ "$records" -lt $((rows / 2)) ] || fail "a checkpoint of $records bytes with rows of $rows bytes"
expect 0 "$ICESTREAM" info hits/many.hits.npy.checkpoint
cp -r hits kept
continues
says err "many.yaml: continues from "
rm -rf hits

# Rows that are lost or damaged are computed again.
cp -r kept hits
rm hits/many.hits.npy.checkpoint.rows
continues
says err "incomplete record at its end and cut them off"
rm -rf hits
cp -r kept hits
printf 'harm' | dd of=hits/many.hits.npy.checkpoint.rows bs=1 seek=7000000 conv=notrunc status=none
continues
says err "incomplete record at its end and cut them off" "many.yaml: continues from "
rm -rf hits

# A run that continued is killed again: the rows of the first run are still needed.
cp -r kept hits
killed 0.001 60 kill
continues
rm -rf hits

# A checkpoint that is not used is replaced with its rows.
cp -r kept hits
expect 0 "$ICESTREAM" run many.yaml --threads 2 --force --set sink.directory=hits --set sink.checkpoint=0.001
same hits/many.hits.npy reference/many.hits.npy
is_missing hits/many.hits.npy.checkpoint.rows
rm -rf hits

# A disk that is full for a moment, while rows are written or when the hit file is completed.
full() {
    expect 0 env LD_PRELOAD="$inject" FAULT_CALLS=write FAULT_PATH="$1" FAULT_AT="$2" FAULT_HOW=ENOSPC \
        "$ICESTREAM" run many.yaml --threads 1 --set sink.directory=hits --set sink.checkpoint=0.001
    same hits/many.hits.npy reference/many.hits.npy
    is_missing hits/many.hits.npy.checkpoint
    is_missing hits/many.hits.npy.checkpoint.rows
    rm -rf hits
}
full .checkpoint 100
says err "hits.npy.checkpoint: cannot be written: No space left on device; the run goes on"
full 'hits/#' 30 # the file of the rows keeps the name that it had when it was opened
says err "hits.npy.checkpoint: removed, because the disk is full and the hits need the room"
full hits.npy.part 1
says err "hits.npy.checkpoint: removed, because the disk is full and the hits need the room"

# A file of somebody else with the name of the rows stays as it is, and the checkpoint has the hits.
mkdir hits
echo "precious" >hits/many.hits.npy.checkpoint.rows
killed 0.001 150 kill
says hits/many.hits.npy.checkpoint.rows "precious"
expect 0 "$ICESTREAM" run many.yaml --threads 2 --set sink.directory=hits
says err "many.yaml: continues from "
same hits/many.hits.npy reference/many.hits.npy
says hits/many.hits.npy.checkpoint.rows "precious"
finish
