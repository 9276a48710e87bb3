#!/usr/bin/env bash
# Promises: `icestream keys` lists every key of a run file with default, unit, range and meaning, one in a line.
# Its JSON Schema says about run files what icestream says about them (check_schema.py).
here=$(dirname "$(realpath "$0")")
source "$here/../common.bash"

expect 0 "$ICESTREAM" keys
is_empty err
says out "detector.oversize " "a number from 1 to 100; factor by which modules are wider" \
    "one of hg-sl, hg, sl, isotropic" "[steps/*.steps.npy]"
[ "$(wc -l <out)" -eq "$(($(grep -cE '^ICS_KEY\(' "$here/../../../pipeline/photons/config/keys.def") + 1))" ] ||
    fail "another number of keys than in keys.def"
refuses 2 "unexpected argument device" keys run device
expect 0 "$ICESTREAM" keys --json-schema
is_empty err
says out '"http://json-schema.org/draft-07/schema#"' '"description": "radius of a module (m)"'

python=$(python_with "jsonschema, yaml") || skip "no Python with jsonschema and PyYAML"
expect 0 "$python" "$here/check_schema.py" "$ICESTREAM" "$here/../../.."
cat out
finish
