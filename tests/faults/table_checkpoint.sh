#!/usr/bin/env bash
# Promise: `icestream tabulate` that is killed at any call of its checkpoint continues, and makes the bytes of one that
# was not; a checkpoint that cannot be written is a warning, and the older one stays.
#
#   table_checkpoint.sh PROGRAM INJECT.SO
#
# To join: call `faulty` with the plan of another fault (inject.c), then `continues`.
inject=$(realpath "$2")
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"

cat >table.yaml <<'YAML'
ice: {model: uniform}
device: {backend: cpu}
stages: {tabulate: cylindrical}
workload: {kind: cascade, steps: 370, photons_per_step: 60}
table:
  axes:
    - {name: rho, from: 0, to: 200, bins: 10, power: 2}
    - {name: z, from: -100, to: 100, bins: 10}
    - {name: delay, from: 0, to: 3000, bins: 10, power: 2}
YAML
wavefront=(-s graph.schedule=wavefront -s device.threads=2)
monolithic=(-s graph.schedule=monolithic -s device.threads=1)
often=(-s table.checkpoint=0.001 -s graph.batch=100)

# table SQUARES: makes the reference of what follows.
table() {
    squares=(-s "table.squares=$1")
    expect 0 "$ICESTREAM" tabulate table.yaml "${squares[@]}" -s table.checkpoint=off -o whole.npy --force
    photons=$("$ICESTREAM" info whole.npy | sed -n 's/^ *photons *\([0-9]*\),.*/\1/p')
}

# faulty STATUS PLAN... -- OPTION...: makes the table with this plan of faults in the environment.
faulty() {
    local expected=$1 plan=()
    shift
    while [ "$1" != -- ]; do
        plan+=("$1")
        shift
    done
    shift
    expect "$expected" env LD_PRELOAD="$inject" "${plan[@]}" \
        "$ICESTREAM" tabulate table.yaml "${squares[@]}" "${often[@]}" -o part.npy "$@"
}

# complete: the table is made, and nothing else is left.
complete() {
    same part.npy whole.npy
    [ "$(echo part.npy*)" = part.npy ] || fail "left: $(echo part.npy*)"
    rm -f part.npy older
}

# killed N: killed after N checkpoints; keeps a copy of the last one.
killed() {
    local number=$1
    shift
    faulty 137 FAULT_CALLS=rename FAULT_PATH=.checkpoint FAULT_AT="$number" FAULT_HOW=kill-after -- "$@"
    cp part.npy.checkpoint older
}

# continues OPTION...: the next call begins after the photons of the last checkpoint.
continues() {
    local after
    same part.npy.checkpoint older
    after=$("$ICESTREAM" info older | sed -n 's/^ *photons *\([0-9]*\),.*/\1/p')
    expect 0 "$ICESTREAM" tabulate table.yaml "${squares[@]}" -o part.npy "$@"
    says err "continues  after $after of $photons photons, which part.npy.checkpoint has" \
        " of $((photons - after)) photons in "
    complete
}

for squares in false true; do
    table $squares
    faulty 0 FAULT_CALLS=rename FAULT_AT=0 FAULT_HOW=kill -- "${monolithic[@]}"
    complete

    # Between two checkpoints, and while one is written: its bytes, its way to the disk, its name.
    killed 3 "${monolithic[@]}"
    continues "${wavefront[@]}"
    for plan in "write kill-half" "write kill-after" "sync kill" "rename kill"; do
        read -r call how <<<"$plan"
        killed 2 "${monolithic[@]}"
        faulty 137 FAULT_CALLS="$call" FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW="$how" -- "${wavefront[@]}"
        continues "${wavefront[@]}" -s graph.batch=37
    done

    # Before the first one is complete.
    faulty 137 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW=kill-half -- "${monolithic[@]}"
    is_missing part.npy.checkpoint
    is_there part.npy.checkpoint.part
    expect 0 "$ICESTREAM" tabulate table.yaml "${squares[@]}" -o part.npy
    ! grep continues err || fail "there was nothing to continue from"
    complete

    # Killed again and again, on several threads, which have more batches in flight.
    for number in 2 1 3 1 2; do
        killed "$number" "${wavefront[@]}"
    done
    continues "${monolithic[@]}"

    # Killed when the table had its name already.
    faulty 137 FAULT_CALLS=rename FAULT_PATH=part.npy FAULT_AT=1 FAULT_HOW=kill-after -- "${monolithic[@]}" \
        -s table.checkpoint=600
    complete
done

# A full disk: the command goes on, and the next checkpoints may have room again.
faulty 0 FAULT_CALLS=write FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW=ENOSPC -- "${monolithic[@]}"
says err "warning: part.npy.checkpoint: " "No space left on device" \
    "; the command goes on without a newer checkpoint" "checkpoint " " written in "
complete
faulty 0 FAULT_CALLS=sync FAULT_PATH=.checkpoint FAULT_AT=1- FAULT_HOW=EIO -- "${monolithic[@]}"
says err "warning: part.npy.checkpoint: cannot write to the disk: Input/output error"
complete

# The older checkpoint stays: the table itself has no room either, and the next call needs only the rest.
killed 4 "${monolithic[@]}"
faulty 74 FAULT_CALLS=write FAULT_PATH=part.npy FAULT_AT=1- FAULT_HOW=ENOSPC -- "${monolithic[@]}"
says err "warning: part.npy.checkpoint: " "part.npy: cannot write: No space left on device" \
    "part.npy.checkpoint has " " of $photons photons: the same command continues after these"
is_missing part.npy
is_missing part.npy.part
continues "${wavefront[@]}"

# A checkpoint that the system cannot read may be good: it stays.
killed 4 "${monolithic[@]}"
faulty 74 FAULT_CALLS=read FAULT_PATH=.checkpoint FAULT_AT=3 FAULT_HOW=EIO -- "${monolithic[@]}"
says err "part.npy.checkpoint: cannot read byte " "Input/output error"
continues "${wavefront[@]}"
for plan in "read EIO Input/output error" "open EMFILE Too many open files"; do
    read -r call how text <<<"$plan"
    for force in "" --force; do
        killed 4 "${monolithic[@]}"
        faulty 74 FAULT_CALLS="$call" FAULT_PATH=.checkpoint FAULT_AT=1 FAULT_HOW="$how" -- "${monolithic[@]}" $force
        says err "part.npy.checkpoint: cannot read the checkpoint: $text"
        continues "${wavefront[@]}"
    done
done
finish
