#!/usr/bin/env bash
# Promises: `icestream info` describes several files, each with its name, then their sums; its exit status is that of
# the worst file; with --json every file is one line. HDF5 files are described as the .npy files that they came from.
# To join: a new kind of file gets a line among the sums.
source "$(dirname "$0")/common.bash"

"$ICESTREAM" generate -s workload.steps=20 -o a.steps.npy 2>/dev/null
"$ICESTREAM" generate -s workload.steps=30 -o b.steps.npy 2>/dev/null
"$ICESTREAM" run -q -s 'source.files=[a.steps.npy, b.steps.npy]' -s sink.directory=.
expect 0 "$ICESTREAM" info a.steps.npy b.steps.npy ./*.hits.npy
is_empty err
says out "a.steps.npy: steps" "b.steps.npy: steps" "./a.hits.npy: hits" "total: 4 files"
[[ $(sed -n '/^total/,$p' out) == *"steps          2 files, 50 rows, 10000 photons"*"hits           2 files, "* ]] ||
    fail "the sums are $(sed -n '/^total/,$p' out)"
expect 0 "$ICESTREAM" info a.steps.npy
! grep -q "^total" out || fail "sums of one file"

# Bad files do not hide the others.
echo text >c.npy
expect 3 "$ICESTREAM" info none.npy a.steps.npy c.npy
says out "a.steps.npy: steps" "total: 3 files, 2 of them cannot be used"
says err "none.npy: cannot open: No such file or directory" "c.npy: byte 0: found no .npy magic string"
mapfile -t many < <(seq -f none%g.npy 30)
expect 3 "$ICESTREAM" info "${many[@]}"
[ "$(wc -l <err)" -eq 11 ] || fail "not ten errors and their number: $(cat err)"
says err "info: error: and 20 more"

expect 0 "$ICESTREAM" info --verify --json a.steps.npy a.hits.npy
[ "$(wc -l <out)" -eq 2 ] || fail "not one line for each file"
python3 -c '
import json
rows = [json.loads(line) for line in open("out")]
assert [row["file"] for row in rows] == ["a.steps.npy", "a.hits.npy"], rows
assert rows[0]["rows"] == 20 and rows[0]["verified"] and rows[0]["format"] == "npy", rows
' || fail "other JSON"
expect 74 bash -c "$ICESTREAM info a.steps.npy b.steps.npy >/dev/full"

# HDF5.
if "$ICESTREAM" convert a.hits.npy a.h5 2>err; then
    expect 0 "$ICESTREAM" info a.hits.npy
    sed -e 1d -e 's/^\(  SHA-256 .*\)/\1 (of the .npy file that convert makes)/' out >expected
    expect 0 "$ICESTREAM" info a.h5
    sed 1d out | cmp - expected || fail "another description of HDF5"
    expect 0 "$ICESTREAM" info --verify a.h5 a.steps.npy
    says out "a.h5: hits" "verified: checksums, every field" "hits           1 file"
    expect 0 "$ICESTREAM" info --json a.h5
    says out '"format": "hdf5"' '"file": "a.h5"'
    head -c 20000 a.h5 >cut.h5
    expect 3 "$ICESTREAM" info cut.h5
    says err "cut.h5: cannot open: HDF5 says: "
    mkdir temporary
    expect 0 env TMPDIR=temporary "$ICESTREAM" info a.h5
    rmdir temporary || fail "a temporary file is left"
else
    says err "built without HDF5"
    cp a.hits.npy a.h5
    expect 1 "$ICESTREAM" info a.h5
    says err "a.h5: found an icestream built without HDF5"
fi
finish
