#!/usr/bin/env bash
# A disk that fills up during a run: exit status 74, a message, no half file.
source "$(dirname "$0")/common.bash"

mkdir steps small
expect 0 "$ICESTREAM" generate -s workload.steps=3000 -o steps/a.steps.npy
mount -t tmpfs -o size=128k icestream-test small 2>/dev/null ||
    skip "a small file system cannot be mounted here"
trap 'umount "$FOLDER/small"; rm -rf "$FOLDER"' EXIT

expect 74 "$ICESTREAM" run --fail-fast -s sink.directory=small/hits
says err "a.hits.npy" "No space left on device"
is_missing small/hits/a.hits.npy
is_missing small/hits/a.hits.npy.part
expect 74 "$ICESTREAM" generate -s workload.steps=10000 -o small/b.steps.npy
says err "No space left on device"
is_missing small/b.steps.npy
is_missing small/b.steps.npy.part
finish
