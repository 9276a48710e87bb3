#!/usr/bin/env bash
# Promises: `icestream info` describes several files, each with its name, then their sums; its exit status is that of
# the worst file; with --json every file is one line.
# Photon tables are described as `table info` does.
# To join: a new kind of file gets a line among the sums.
ROOT=$(cd "$(dirname "$0")/../../.." && pwd)
source "$(dirname "$0")/../common.bash"

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

# Digests of files of any kind: what sha256sum prints, and of a large one the digest in parts, from its lines of parts.
head -c 20000000 /dev/zero >large.npy
expect 0 "$ICESTREAM" info --digest a.steps.npy large.npy
says out "SHA-256        $(sha256sum <a.steps.npy | cut -c -64)" "SHA-256        $(sha256sum <large.npy | cut -c -64)" \
    "in parts       $(split -b 16M --filter=sha256sum large.npy | sha256sum | cut -c -64)-2"
expect 0 "$ICESTREAM" info --digest --json a.steps.npy
says out "{\"file\":\"a.steps.npy\",\"sha256\":\"$(sha256sum <a.steps.npy | cut -c -64)\",\"digest\":\"$(sha256sum <a.steps.npy | cut -c -64)\"}"
expect 3 "$ICESTREAM" info --digest none.npy a.steps.npy
says out "a.steps.npy:"
says err "none.npy: cannot be read for its digest"
expect 2 "$ICESTREAM" info --digest --verify a.steps.npy

# Photon tables: described like `table info`, with a digest; a damaged table is no file of another kind.
python3 "$ROOT/tests/cli/table/check_tables.py" .
expect 0 "$ICESTREAM" table info squares.npy
cp out described
expect 0 "$ICESTREAM" info squares.npy
says out "squares.npy: photon table, spherical, 48 bins, with squared weights" "  SHA-256         $(sha256sum <squares.npy | cut -c 1-64)"
grep -v "SHA-256" out | cmp - described || fail "info and table info differ"
expect 0 "$ICESTREAM" info --verify a.npy squares.npy a.steps.npy
says out "verified: checksums, axes, metadata, every sum" "total: 3 files" "steps          1 file, 20 rows" "table          2 files, 1440 sums"
prints "standard input: photon table" info - <a.npy
expect 0 "$ICESTREAM" info --verify --json squares.npy
python3 -c '
import json
row = json.load(open("out"))
assert row["kind"] == "table" and row["format"] == "npy" and row["rows"] == 960 and row["verified"], row
assert row["bins"] == 48 and row["metadata"]["photons"] == "100" and len(row["sha256"]) == 64, row
assert [axis["name"] for axis in row["metadata"]["axes"]] == ["r", "azimuth", "cosine", "t"], row
' || fail "other JSON of a table"
head -c 3000 a.npy >cut.npy
printf 'x' | dd of=b.npy bs=1 seek=2000 conv=notrunc 2>/dev/null
expect 3 "$ICESTREAM" info cut.npy b.npy c.npy
says err "cut.npy: found no trailer at the end, expected a photon table" "b.npy: rows 0 to 131071: found CRC-32C"
says out "c.npy: photon table" "total: 3 files, 2 of them cannot be used"

finish
