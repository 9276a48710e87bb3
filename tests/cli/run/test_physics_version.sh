#!/usr/bin/env bash
# Promises: runs of this version compute the rows of the version ICS_PHYSICS_VERSION (pipeline/photons/files/metadata.h). If a
# change of rows is wanted, give ICS_PHYSICS_VERSION the next version of icestream, and write the new digests here. Where
# the C library computes other tables, the rows are not compared.
# To join: a configuration that no line has gets one: NAME DIGEST-OF-TABLES DIGEST-OF-ROWS OPTIONS.
source "$(dirname "$0")/../common.bash"

python3 -c 'import sys' 2>/dev/null || skip "there is no Python"
cat >digests.py <<'PYTHON'
"""Prints a digest of the digests of ice, detector and light, and one of the rows of a hit file."""
import hashlib, json, subprocess, sys

about = json.loads(subprocess.run([sys.argv[1], "info", "--json", sys.argv[2]], capture_output=True, check=True).stdout)
lines = [about["metadata"]["digests"][name] for name in ("ice", "detector")] + [about["metadata"]["settings"]["values"]["light"]]
with open(sys.argv[2], "rb") as file:
    rows = file.read()[1024:1024 + 64 * about["rows"]]
assert about["rows"] > 100
print(hashlib.sha256("".join(lines).encode()).hexdigest()[:16], hashlib.sha256(rows).hexdigest()[:16])
PYTHON

expect 0 "$ICESTREAM" generate -s workload.steps=300 -s workload.photons_per_step=300 -o a.steps.npy
while read -r name tables rows options; do
    # shellcheck disable=SC2086 # the options are words
    expect 0 "$ICESTREAM" run -q $options -s source.files=a.steps.npy -s device.math=portable -s sink.directory="$name"
    expect 0 python3 digests.py "$ICESTREAM" "$name/a.hits.npy"
    if [[ $(cut -d' ' -f1 out) != "$tables" ]]; then
        echo "skipped: $name: this machine computes other tables: $(cat out)"
    elif [[ $(cat out) != "$tables $rows" ]]; then
        fail "$name: other rows with the same tables: $(cat out) instead of $tables $rows"
    fi
done <<'END'
full 33d21e1fcc2ac4d7 a653e5b428752c88 -s detector.oversize=5
walk 33d21e1fcc2ac4d7 ace34bb8e55d0013 -s detector.oversize=5 -s stages.propagate=layer-walk -s stages.scatter=hg
END
finish
