#!/usr/bin/env bash
# Promise: if the file system of the output becomes full during a run, the run pauses and reports it. It
# continues when there is room again, and no hit file is wrong.
#
#   full_disk.sh PROGRAM
#
# Exit status 77: this test cannot mount file systems here. To join: put another output of a run on the small
# file system.
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"
seconds=${FULL_DISK_SECONDS:-120} # a limit for each wait, not a time that must pass

# wait_until COMMAND...: repeats the command until it succeeds; fails after the limit.
wait_until() {
    local end=$((SECONDS + seconds))
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.05
    done
}

has_ended() {
    ! kill -0 "$process" 2>/dev/null
}

says_paused() {
    grep -q "paused" err
}

paused_or_ended() {
    # shellcheck disable=SC2317 # called by name
    says_paused || has_ended
}

# Checks that existing hit files equal those of the reference.
no_wrong_file() {
    local name
    for name in small/hits/*.hits.npy; do
        [ ! -e "$name" ] || same "$name" "reference/${name##*/}"
    done
}

mkdir steps small
for seed in 1 2 3 4; do
    expect 0 "$ICESTREAM" generate -s workload.kind=point -s workload.steps=200 \
        -s workload.photons_per_step=1000 -s run.seed=$seed -o steps/$seed.steps.npy
done
settings=(-s device.threads=1 -s device.backend=cpu -s detector.oversize=30 -s detector.crossing=disc -s detector.keep_hit_photons=false)
expect 0 "$ICESTREAM" run -q "${settings[@]}" -s sink.directory=reference
size=$(du -cb reference/*.hits.npy | tail -n 1 | cut -f 1)
mount -t tmpfs -o size=20m icestream-test small 2>/dev/null ||
    skip "a small file system cannot be mounted here"
process=
trap '[ -z "$process" ] || kill -9 "$process" 2>/dev/null; umount -l "$FOLDER/small"
    rm -rf "$FOLDER"' EXIT

# There is room for half of the hits, so one of the hit files does not fit.
mkdir small/hits
head -c $((20 * 1024 * 1024 - size / 2)) /dev/zero >small/filler
"$ICESTREAM" run "${settings[@]}" -s sink.directory=small/hits >out 2>err &
process=$!
wait_until paused_or_ended || fail "neither paused nor ended on a full disk"
says err "No space left on device" "small/hits"
no_wrong_file
says_paused || fail "did not pause on a full disk"
has_ended && fail "ended although it reported a pause"
rm small/filler
wait_until has_ended || fail "did not continue when there was room"
status=0
wait $process || status=$?
[ $status -eq 0 ] || fail "exit status $status instead of 0 after a pause"
says err "4 files done"
process=
for seed in 1 2 3 4; do
    same small/hits/$seed.hits.npy reference/$seed.hits.npy
done
[ -z "$(find small -name '*.part')" ] || fail "a .part is left"
finish
