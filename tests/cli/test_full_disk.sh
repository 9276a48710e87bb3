#!/usr/bin/env bash
# Promises: if the disk becomes full during a run with --fail-fast, the exit status is 74 with a message,
# and no incomplete file is left. Without --fail-fast the run waits: tests/run tests that.
# To join: another output of a run is put on the small file system.
source "$(dirname "$0")/common.bash"

mkdir steps small
expect 0 "$ICESTREAM" generate -s workload.steps=3000 -o steps/a.steps.npy
mount -t tmpfs -o size=128k icestream-test small 2>/dev/null ||
    skip "a small file system cannot be mounted here"
trap 'umount "$FOLDER/small"; rm -rf "$FOLDER"' EXIT

expect 74 "$ICESTREAM" run --fail-fast "${WIDE[@]}" -s sink.directory=small/hits
says err "a.hits.npy" "No space left on device"
is_missing small/hits/a.hits.npy
is_missing small/hits/a.hits.npy.part
expect 74 "$ICESTREAM" generate -s workload.steps=10000 -s particles.file_limit=1GB -o small/b.steps.npy
says err "No space left on device"
is_missing small/b.steps.npy
is_missing small/b.steps.npy.part

# HDF5 writes its last rows when it closes the file. Both kinds of files are tested, because each has a writer.
expect 0 "$ICESTREAM" tabulate -s device.backend=cpu -s stages.tabulate=spherical -s workload.kind=point \
    -s workload.steps=1 -s workload.photons_per_step=10 \
    -s "table.axes=[{name: r, from: 0, to: 100, bins: 100}, {name: azimuth, from: 0, to: 180, bins: 4}, {name: cosine, from: -1, to: 1, bins: 100}]" -o t.npy
"$ICESTREAM" --version --verbose >facts
if ! grep -q '^HDF5: none' facts; then
    expect 74 "$ICESTREAM" table convert t.npy small/t.h5
    says err "t.h5" "No space left on device"
    expect 74 "$ICESTREAM" convert steps/a.steps.npy small/a.h5
    says err "a.h5" "No space left on device"
fi
if ! grep -q '^cfitsio: none' facts; then
    expect 74 "$ICESTREAM" table convert t.npy small/t.fits
    says err "t.fits" "No space left on device"
fi
[[ -z $(ls small/*.h5* small/*.fits* 2>/dev/null) ]] || fail "an incomplete file is left on the small file system"
finish
