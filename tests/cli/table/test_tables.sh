#!/usr/bin/env bash
# Promises: `icestream table` adds up parts exactly in any order, refuses a part that is there twice, and describes tables.
# python/tests/test_tables.py has what icestream.tables does with them.
checks=$(dirname "$(realpath "$0")")/check_tables.py # before common.bash goes to another folder
source "$(dirname "$0")/../common.bash"

python3 "$checks" . >found || fail "check_tables.py: $(tail -n 3 found)"
expect 0 "$ICESTREAM" table merge a.npy b.npy c.npy -o merged.npy
expect 0 "$ICESTREAM" table merge c.npy b.npy -o cb.npy
expect 0 "$ICESTREAM" table merge cb.npy a.npy -o again.npy
same merged.npy again.npy
refuses 3 "b.npy: found the part bbbbbbbbbbbbbbbb..., which merged.npy holds already" table merge merged.npy b.npy -o twice.npy
expect 74 "$ICESTREAM" table merge c.npy b.npy -o cb.npy
expect 0 "$ICESTREAM" table merge c.npy b.npy -o cb.npy --force

expect 0 "$ICESTREAM" table info merged.npy
says out "photon table, spherical, 48 bins" "photons         300, weight 151.5" "parts           3"
expect 0 "$ICESTREAM" table info --json merged.npy
python3 -c 'import json; assert json.load(open("out"))["photons"] == "300"' || fail "info --json is wrong"

# A full disk leaves no file.
(
    ulimit -f 1
    trap '' XFSZ
    "$ICESTREAM" table merge c.npy b.npy -o full.npy 2>err
) && fail "a full disk is no error"
says err "full.npy: " "File too large"
if [ -e full.npy ] || [ -e full.npy.part ]; then fail "a full disk left a file"; fi
finish
