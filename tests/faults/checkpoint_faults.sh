#!/usr/bin/env bash
# Promise: no fault of a checkpoint changes a result or ends a run, and hits get the room of a checkpoint on a
# full disk.
#
#   checkpoint_faults.sh PROGRAM INJECT.SO
#
# To join: call `faulty` with the plan of another fault (inject.c), and check the log in ./err.
inject=$(realpath "$2")
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=600 -o steps/a.steps.npy
settings=(-s device.backend=cpu -s device.threads=1 -s graph.batch=1000 -s sink.checkpoint=0.001)
expect 0 "$ICESTREAM" run -q "${settings[@]}" -s sink.directory=reference

# faulty STATUS PLAN... -- OPTION...: a run with this plan of faults in the environment.
faulty() {
    local expected=$1 plan=()
    shift
    while [ "$1" != -- ]; do
        plan+=("$1")
        shift
    done
    shift
    expect "$expected" env LD_PRELOAD="$inject" "${plan[@]}" \
        "$ICESTREAM" run "${settings[@]}" -s sink.directory=hits "$@"
}

complete() {
    same hits/a.hits.npy reference/a.hits.npy
    is_missing hits/a.hits.npy.checkpoint
    rm -rf hits
}

# The disk has no room for more records.
faulty 0 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=20- FAULT_HOW=ENOSPC --
says err "warning: " "a.hits.npy.checkpoint: cannot be written: No space left on device; the run goes on"
complete

# It cannot be made at all, or the disk fails.
faulty 0 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=1- FAULT_HOW=EIO --
says err "a.hits.npy.checkpoint: cannot be written: Input/output error; the run goes on"
complete
faulty 0 FAULT_CALLS=sync FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW=EIO --
says err "a.hits.npy.checkpoint: cannot be written to the disk: Input/output error; the run goes on"
complete

# The hit file has no room at first: the checkpoint is removed, and the next attempt succeeds.
faulty 0 FAULT_CALLS=write FAULT_PATH=hits.npy.part FAULT_AT=1 FAULT_HOW=ENOSPC --
says err "a.hits.npy.checkpoint: removed, because the disk is full and the hits need the room"
complete

# A checkpoint that cannot be read is not used.
faulty 137 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=200 FAULT_HOW=kill --
is_there hits/a.hits.npy.checkpoint
faulty 0 FAULT_CALLS=read FAULT_PATH=.checkpoint FAULT_AT=1- FAULT_HOW=EIO --
says err "a.hits.npy.checkpoint: cannot be read: Input/output error; this checkpoint is not used"
# It stays, because nobody knows whether icestream made it.
same hits/a.hits.npy reference/a.hits.npy
is_there hits/a.hits.npy.checkpoint
rm -rf hits
# A fault that passes is named, and the checkpoint is used.
faulty 137 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=200 FAULT_HOW=kill --
faulty 0 FAULT_CALLS=read FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW=EIO --
says err "a.hits.npy.checkpoint: cannot be read: Input/output error; this checkpoint is looked at again later"
says err "a.steps.npy: continues from "
complete
faulty 137 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=200 FAULT_HOW=kill-half --
faulty 0 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=0 FAULT_HOW=EIO --
says err "incomplete record at its end and cut them off" "a.steps.npy: continues from "
complete

# A file of somebody else with this name stays as it is.
mkdir hits
echo "precious" >hits/a.hits.npy.checkpoint
expect 0 "$ICESTREAM" run "${settings[@]}" -s sink.directory=hits
says err "this checkpoint is not used" "found a file that icestream did not make"
same hits/a.hits.npy reference/a.hits.npy
says hits/a.hits.npy.checkpoint "precious"
finish
