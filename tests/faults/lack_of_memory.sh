#!/usr/bin/env bash
# Promise: memory that the system lacks for a moment (ENOMEM) is no fault of a step file: the folder is searched and the
# file read again, whatever becomes of it afterwards, and nothing is quarantined.
#
#   lack_of_memory.sh PROGRAM INJECT.SO
#
# To join: call `lacks` with another family of calls (inject.c).
inject=$(realpath "$2")
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=20 -o steps/a.steps.npy
settings=(-s device.backend=cpu -s device.threads=1)
expect 0 "$ICESTREAM" run -q "${settings[@]}" -s sink.directory=reference

# lacks AFTER FAMILY PATH: a run whose first call of this family on files whose path has PATH fails.
lacks() {
    rm -rf in hits
    mkdir in
    cp steps/a.steps.npy in
    touch -d '1 hour ago' in/a.steps.npy # a younger file is read again for another reason
    expect 0 env LD_PRELOAD="$inject" FAULT_CALLS="$2" FAULT_PATH="$3" FAULT_AT=1 FAULT_HOW=ENOMEM \
        "$ICESTREAM" run "${settings[@]}" -s source.directory=in -s source.after="$1" -s sink.directory=hits
    says err ": Cannot allocate memory" "(attempt 1; the next one in" "1 file done, 0 skipped, 0 quarantined"
    same hits/a.hits.npy reference/a.hits.npy
    is_missing hits/quarantine
}
lacks keep open marks/a.steps.npy
lacks keep open 1~a.steps.npy
lacks move read 1~a.steps.npy
lacks delete read 1~a.steps.npy

# --resume reads the hits that are there before anything else: each of the first reads.
for at in 1 2 3 4 5 6; do
    expect 0 env LD_PRELOAD="$inject" FAULT_CALLS=read FAULT_PATH=reference/a.hits.npy FAULT_AT=$at FAULT_HOW=ENOMEM FAULT_LOG="$PWD/faults" \
        "$ICESTREAM" run "${settings[@]}" --resume -s source.files=steps/a.steps.npy -s sink.directory=reference
    says err "0 files done, 1 skipped, 0 quarantined"
done
says faults "fault 6 read"
finish
