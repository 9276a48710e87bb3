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

cat <<END

The hits are in $PWD/demo/hits/run.hits.npy, a NumPy array.
Next, a muon of your own, described before it is computed:

    build/release/icestream validate -s 'particles.list=[{type: mu, zenith: 80, azimuth: 170, x: -300, y: 20, z: -200, energy: 5e3, length: 700}]'
END
