#!/usr/bin/env bash
# Builds icestream and carries the light of one cascade (2 million photons) through the ice.
#
#   scripts/demo.sh
#
# Installs what is missing, builds build/release/icestream, and runs demo/run.yaml, a copy of
# configs/runs/demo.yaml that is yours to edit: run this again and it runs what you wrote.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

(($# == 0)) || wrong_usage
scripts/setup.sh build
configure release -DICESTREAM_TESTS=OFF
build release --target icestream

mkdir -p demo
[[ -e demo/run.yaml ]] || cp configs/runs/demo.yaml demo/run.yaml
icestream=build/release/icestream
set -x
"$icestream" run demo/run.yaml --force
"$icestream" info demo/hits/run.hits.npy --verify
{ set +x; } 2>/dev/null

cat <<'END'

The hits are in demo/hits/run.hits.npy, how it went in demo/hits/summary.json. In Python:

    import numpy
    hits = numpy.load("demo/hits/run.hits.npy")
    print(len(hits), hits.dtype.names)
    strings, counts = numpy.unique(hits["string"], return_counts=True)
    print("brightest string:", strings[counts.argmax()], "with", counts.max(), "hits")
    print("first and median time: %.1f, %.1f ns" % (hits["t"].min(), numpy.median(hits["t"])))

To see more of what it can do: build/release/icestream --help
END
