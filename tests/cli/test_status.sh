#!/usr/bin/env bash
# icestream status: what it says of a folder that a run wrote into, and how it ends.
source "$(dirname "$0")/common.bash"

expect 2 "$ICESTREAM" status
says err "icestream status: expected DIR"
is_empty out
expect 2 "$ICESTREAM" status one two
says err "unexpected argument two"
expect 3 "$ICESTREAM" status none
says err "none: No such file or directory"
is_empty out
echo "no folder" >file
expect 3 "$ICESTREAM" status file
says err "file: Not a directory"

mkdir steps
for name in a b; do
    expect 0 "$ICESTREAM" generate --set workload.steps=10 -o steps/$name.steps.npy
done
expect 0 "$ICESTREAM" run --quiet
touch hits/c.hits.npy.part
expect 0 "$ICESTREAM" status hits
says out "here: 2 hit files" "1 unfinished (.part)"
is_empty err
expect 0 "$ICESTREAM" status hits --json
says out '"schema": "icestream.status"' '"hit_files": 2' '"parts": 1'
is_empty err
"$ICESTREAM" status hits >/dev/full 2>err
[ $? -eq 74 ] || fail "a full standard output is no error"
finish
