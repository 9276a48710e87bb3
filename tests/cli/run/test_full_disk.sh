#!/usr/bin/env bash
# Promises: if the disk becomes full during a run with --fail-fast, the exit status is 74 with a message,
# and no incomplete file is left. Without --fail-fast the run waits: tests/run tests that.
# To join: another output of a run is put on the small file system.
source "$(dirname "$0")/../common.bash"

mkdir steps small
expect 0 "$ICESTREAM" generate -s workload.steps=3000 -o steps/a.steps.npy
mount -t tmpfs -o size=128k icestream-test small 2>/dev/null ||
    skip "a small file system cannot be mounted here"
trap 'umount "$FOLDER/small"; rm -rf "$FOLDER"' EXIT

expect 74 "$ICESTREAM" run --fail-fast "${WIDE[@]}" -s sink.directory=small/hits
says err "a.hits.npy" "No space left on device"
is_missing small/hits/a.hits.npy
is_missing small/hits/a.hits.npy.part
refuses 74 "No space left on device" generate -s workload.steps=10000 -s particles.file_limit=1GB -o small/b.steps.npy
is_missing small/b.steps.npy
is_missing small/b.steps.npy.part

finish
