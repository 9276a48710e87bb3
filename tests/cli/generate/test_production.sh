#!/usr/bin/env bash
# Promises: lists of GENIE, PROPOSAL and SIREN become steps as docs/particles.md says; validate and generate print
# the light of each type and warn of muons without losses; a run warns of two inputs with the same events and of
# steps below the Cherenkov threshold, whose photons all end where they start.
# To join: a new program gets an example and a reader in configs/particles/to_csv.py and a line in `forms`.
root=$(realpath "$(dirname "$0")/../../..")
source "$(dirname "$0")/../common.bash"
command -v python3 >/dev/null || skip "no Python"

# ---- texts of other programs: the program, its text, and lines of what generate prints ----
forms() {
    local program=$1 text=$2
    shift 2
    expect 0 python3 "$root/configs/particles/to_csv.py" "$program" "$root/configs/particles/$text"
    mv out "$program.csv"
    expect 0 "$ICESTREAM" generate -s particles.file="$program.csv" -s particles.stopping=true \
        -s particles.photons_per_step=2000 -o "$program.steps.npy"
    says err "$@"
    expect 0 "$ICESTREAM" info --verify "$program.steps.npy"
}
forms genie genie.txt "particles  8 in 2 events" "  mu       1, 15.2 GeV, " "  hadr     2, 1.50006 GeV" \
    "  pi+      1, 6.3 GeV" "  nu       1" "  nucleus  1, "
forms proposal proposal.csv "particles  6 in 2 events" "  brems    1, 40 GeV" "  munu     1, 12 GeV" \
    "  mu       1, 500 GeV, 300 m" "  mu+      1, 200 GeV, 300 m" "  dark     1" "proposal.csv:7: 1 track" "get simple ones, while others"
forms siren siren.jsonl "particles  4 in 2 events" "  e-       1, 400 GeV" "  hadr     2, 1100 GeV"
# Muons of GENIE and SIREN are bare, and the first muon of PROPOSAL is not.
expect 0 "$ICESTREAM" generate -s particles.file=proposal.csv -s particles.losses=none -o a.steps.npy
says err "1 track, the first one of 200 GeV and 300 m, has no energy losses in the list"

# ---- 100 TeV without losses ----
muon='particles.list=[{type: 13, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0, energy: 1e5, length: 300}]'
expect 0 "$ICESTREAM" validate -s "$muon" -s particles.losses=none
says out "  mu       1, 100000 GeV, 300 m: " "warning    --set particles.list: particle 1: 1 track, the first one of"
expect 0 "$ICESTREAM" validate -s "$muon"
grep -q "no energy losses" out && fail "a warning although losses are made"
grep -qE "^  mu .*: [0-9.]+e\+0[78] photons" out || fail "losses make 1e7 photons or more: $(grep '^  mu' out)"

# ---- the same events in two files ----
shower='particles.list=[{type: e-, event: 1, x: 0, y: 0, z: -350, zenith: 0, azimuth: 0, energy: 5}]'
for first in 0 100; do
    for seed in 1 2; do
        expect 0 "$ICESTREAM" generate "${WIDE[@]}" -s "$shower" -s particles.cascades=steps -s run.seed=$seed -s particles.first_event=$first \
            -o $first-$seed.steps.npy
    done
done
expect 0 "$ICESTREAM" run "${WIDE[@]}" -s source.files="[0-1.steps.npy, 0-2.steps.npy, 100-1.steps.npy, 100-2.steps.npy]" \
    -s sink.directory=hits
# Files are checked in parallel, so either of them can be the first one.
grep -qE "warning: 0-([12]).steps.npy and 0-[12].steps.npy both have steps 0 to 8 of event 1: " err ||
    fail "no warning of equal events: $(cat err)"
[ "$(grep -c 'both have' err)" -eq 1 ] || fail "the warning is given once in a run"
says hits/summary.json "both have steps 0 to 8 of event 1"
expect 0 "$ICESTREAM" run "${WIDE[@]}" -s source.files="[0-1.steps.npy, 100-2.steps.npy]" -s sink.directory=other
grep -q "both have" err && fail "a warning of different events"
cat 0-1.steps.npy 0-2.steps.npy | "$ICESTREAM" run "${WIDE[@]}" -s source.files=- -s sink.directory=streamed 2>err ||
    fail "the stream"
says err "standard input, message 0 and standard input, message 1 both have steps"

# ---- below the threshold: beta is at byte 32 of a step of 72 bytes ----
cat >slow.py <<'PYTHON' || fail "no script"
import struct, sys
data = bytearray(open("0-1.steps.npy", "rb").read())
rows = int(sys.argv[1])
for row in range(int(sys.argv[2]), rows):
    struct.pack_into("<f", data, 1024 + 72 * row + 32, 0.5)
open("slow.npy", "wb").write(data[:1024 + 72 * rows])
PYTHON
rows=$(row_count 0-1.steps.npy)
expect 0 python3 slow.py "$rows" 2
for schedule in wavefront monolithic; do
    expect 0 "$ICESTREAM" run -s source.files=slow.npy -s sink.directory=$schedule -s graph.schedule=$schedule
    says err "warning: slow.npy: $((rows - 2)) of $rows steps, the first one in row 2, are below the Cherenkov threshold"
    says $schedule/summary.json "are below the Cherenkov threshold"
    expect 0 "$ICESTREAM" info --verify $schedule/slow.hits.npy
done
same_rows wavefront/slow.hits.npy monolithic/slow.hits.npy

# Checked stages and a user's propagate header, which flies 1 m and never absorbs, make no light of it either.
expect 0 "$ICESTREAM" run -s source.files=slow.npy -s sink.directory=checked -s device.check=true
same_rows wavefront/slow.hits.npy checked/slow.hits.npy
cat >far.h <<'HEADER'
#include "stages/segment.h"
ICE_FN ice_segment ice_propagate_custom(const ice_tables *tables, ice_segment_start start)
{
    (void)tables;
    const ice_segment segment = {1.0f, start.absorption};
    return segment;
}
HEADER
expect 0 python3 slow.py "$rows" 0
expect 0 "$ICESTREAM" run -s source.files=slow.npy -s sink.directory=far -s "stages.propagate={source: far.h}"
prints '"detected": 0, "left": 0, "stopped": 0, "hits": 0' info far/slow.hits.npy
finish
