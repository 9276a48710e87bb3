#!/usr/bin/env bash
# Promises: `icestream geometry` writes the modules of a run as a table that detector.file reads, and the
# detector that is read back has the same digest.
source "$(dirname "$0")/common.bash"

expect 0 "$ICESTREAM" geometry
says out "string,module,x,y,z,efficiency" "43,1,0,0,501.5,1"
is_empty err
[ "$(wc -l <out)" -eq 5161 ] || fail "$(wc -l <out) lines instead of 5161"

printf 'detector: {dense: true, jitter: true}\n' >dense.yaml
expect 0 "$ICESTREAM" geometry dense.yaml -o modules.csv
is_empty out
expect 0 "$ICESTREAM" validate dense.yaml
grep -i "digest" -A 4 out | grep detector >first
expect 0 "$ICESTREAM" validate -s detector.file=modules.csv
grep -i "digest" -A 4 out | grep detector >second
[ -s first ] || fail "validate prints no digest of the detector"
same first second

expect 74 "$ICESTREAM" geometry dense.yaml -o modules.csv
expect 0 "$ICESTREAM" geometry dense.yaml -o modules.csv --force
expect 2 "$ICESTREAM" geometry -s detector.file=none.csv
finish
