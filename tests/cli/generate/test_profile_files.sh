#!/usr/bin/env bash
# Promise: `generate` writes a pulse of an LED, or a cascade, as one step with a profile (files.md 3.4). Its hits are
# the same for every schedule, batch and way to the steps, and agree with those of many steps without profiles. A pulse
# of 1e10 photons works in every command that reads steps. To join: a new command that reads steps gets a line below.
source "$(dirname "$0")/../common.bash"

cat >lights.yaml <<'YAML' || fail "no configuration"
ice: { model: south-pole-like }
detector: { layout: hex86, oversize: 5, excluded: [[43, 30]] }
particles:
  list:
    - {type: flasher, event: 1, string: 43, module: 30, led: 2, photons: 5e6, width: 60, beam: lab}
    - {type: e-, event: 2, x: 20, y: 30, z: -350, zenith: 60, azimuth: 40, energy: 60}
YAML
cpu=(-s device.backend=cpu -s device.threads=1)

expect 0 "$ICESTREAM" generate lights.yaml -o lights.steps.npy
expect 0 "$ICESTREAM" info --verify lights.steps.npy
says out "rows           2" verified

# The same hits from the list, from the file, with another schedule and with small batches.
expect 0 "$ICESTREAM" run lights.yaml "${cpu[@]}" -s sink.directory=direct
expect 0 "$ICESTREAM" run lights.yaml "${cpu[@]}" -s 'source.files=[lights.steps.npy]' -s sink.directory=file
expect 0 "$ICESTREAM" run lights.yaml "${cpu[@]}" -s 'source.files=[lights.steps.npy]' -s sink.directory=batches \
    -s graph.schedule=monolithic -s graph.batch=1000
rows=$(row_count direct/lights.hits.npy)
((rows > 10)) || fail "found $rows hits, expected more than 10"
for way in direct file batches; do
    head -c $((1024 + 64 * rows)) "$way/lights.hits.npy" | tail -c +1025 >"$way.rows"
done
same direct.rows file.rows
same direct.rows batches.rows

# `trace` finds the hits again.
prints "$rows hits" trace lights.yaml --steps lights.steps.npy --hits direct/lights.hits.npy -o paths.npy

# Against one step for every photon, and steps of 200 for the cascade: level 1e-3 of all tests together (compare).
sed 's/^  list:/  photons_per_direction: 1\n  cascades: steps\n&/' lights.yaml >steps.yaml || fail "no configuration"
expect 0 "$ICESTREAM" compare lights.yaml "${cpu[@]}" --against steps.yaml -s run.seed=5
says out "compatible" "particles.cascades"

# A pulse of 1e10 photons: three steps, and photons with numbers above 2^31.
cat >huge.yaml <<'YAML' || fail "no configuration"
ice: { model: south-pole-like }
detector: { layout: hex86, oversize: 1, angular_acceptance: none }
light: { acceptance: none }
particles:
  list:
    - {type: flasher, event: 7, string: 43, module: 30, led: 8, photons: 1e10, width: 20}
YAML
expect 0 "$ICESTREAM" generate huge.yaml -o huge.steps.npy
says err "3 steps"
expect 0 "$ICESTREAM" info --verify huge.steps.npy
says out "rows           3" verified
prints "photons" validate huge.yaml -s 'source.files=[huge.steps.npy]' "${cpu[@]}"
expect 0 "$ICESTREAM" trace huge.yaml --steps huge.steps.npy --photon 7:0:4294967294 --photon 7:1:2147483648 -o far.npy
expect 3 "$ICESTREAM" trace huge.yaml --steps huge.steps.npy --photon 7:0:4294967295 -o beyond.npy
