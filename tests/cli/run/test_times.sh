#!/usr/bin/env bash
# Promises: hits keep the time that a list gives to light to within 0.001 ns, however late it is, on every way that
# steps take to a run (files.md 3.1). Events and seeds of 64 bits are exact, and two of them never mean the same
# light (files.md 5). What prints a sum of weights prints its error (files.md 4.5).
# To join: a new way of steps or hits is a line of `late`; a new late source is a row of `lists`.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "there is no Python with NumPy"

cat >compare.py <<'PYTHON'
import sys, numpy
early, late, t0 = numpy.load(sys.argv[1]), numpy.load(sys.argv[2]), float(sys.argv[3])
assert len(early) == len(late) > 20, (len(early), len(late))
worst = abs(late["t"] - t0 - early["t"]).max()
assert worst <= 1e-3, "%s: times differ by %g ns" % (sys.argv[2], worst)
for name in early.dtype.names:
    assert name == "t" or (early[name] == late[name]).all(), name
PYTHON
world=(-s ice.model=uniform -s detector.layout=hex86 -s detector.oversize=5)
common=("${world[@]}" -s particles.losses=none)

# one list for each kind of source that can be late; TIME stands for the time
declare -A lists=(
    [cascade]='{type: e-, x: 0, y: 0, z: -300, zenith: 70, azimuth: 20, energy: 500, time: TIME}'
    [track]='{type: mu, x: -200, y: 10, z: -300, zenith: 70, azimuth: 20, energy: 1e5, length: 800, time: TIME}'
    [flasher]='{type: flasher, string: 63, module: 20, led: 7, photons: 2e7, pulse: rectangle, duration: 40, time: TIME}'
)
for source in "${!lists[@]}"; do
    for form in steps profile; do
        sets=("${common[@]}" -s particles.cascades="$form")
        expect 0 "$ICESTREAM" run -q --force "${sets[@]}" -s "particles.list=[${lists[$source]/TIME/0}]" -s sink.directory=early
        for t0 in 1e6 -1e9 123456789012.25 1e12; do
            expect 0 "$ICESTREAM" run -q --force "${sets[@]}" -s "particles.list=[${lists[$source]/TIME/$t0}]" \
                -s sink.directory=late
            expect 0 "$python" compare.py early/generated.hits.npy late/generated.hits.npy "$t0"
        done
    done
done

# Ways of steps and hits: a file and a pipe.
t0=123456789012.25
sets=("${common[@]}" -s particles.cascades=steps)
early=(-s "particles.list=[${lists[cascade]/TIME/0}]")
late=(-s "particles.list=[${lists[cascade]/TIME/$t0}]")
expect 0 "$ICESTREAM" run -q --force "${sets[@]}" "${early[@]}" -s sink.directory=early
expect 0 "$ICESTREAM" generate "${sets[@]}" "${late[@]}" -o a.steps.npy
expect 0 "$ICESTREAM" run -q "${world[@]}" -s source.files=a.steps.npy -s sink.directory=filed
expect 0 "$python" compare.py early/generated.hits.npy filed/a.hits.npy $t0
"$ICESTREAM" generate "${sets[@]}" "${late[@]}" -o - 2>made |
    "$ICESTREAM" run -q "${world[@]}" -s source.files=- -s sink.directory=piped || fail "the pipe broke"
expect 0 "$python" compare.py early/generated.hits.npy piped/stdin-000000.hits.npy $t0
expect 0 "$ICESTREAM" convert filed/a.hits.npy a.csv
expect 0 "$python" -c '
import numpy
hits = numpy.load("filed/a.hits.npy")
text = numpy.genfromtxt("a.csv", delimiter=",", names=True)
assert (text["t_ns"] == hits["t"]).all()'
expect 0 "$ICESTREAM" convert --waveforms 10 --range 123456789012:123456799012 filed/a.hits.npy w.npy
expect 0 "$python" -c '
import numpy
early, bins = numpy.load("early/generated.hits.npy"), numpy.load("w.npy")
counts = numpy.bincount(numpy.floor((early["t"] + 0.25) / 10).astype(int))
assert counts.sum() == bins["hits"].sum() and (numpy.bincount(bins["bin"], bins["hits"])[:len(counts)] == counts).all()'
expect 0 "$python" -c '
import numpy
hits = numpy.load("filed/a.hits.npy")
numpy.save("early.npy", hits[hits["t"] < 123456789200])'
expect 0 "$ICESTREAM" trace "${world[@]}" --hits early.npy --steps a.steps.npy -o paths.npy

# Step files with the records of 64 bytes from before have the same hits.
expect 0 "$python" -c '
import numpy
steps = numpy.load("a.steps.npy")
old = [(name, "<f4") for name in "x y z t dx dy dz length beta weight".split()] + [
    ("photons", "<u4"), ("source_id", "<u4"), ("event_id", "<u8"), ("step_id", "<u4"),
    ("kind", "u1"), ("spectrum", "u1"), ("flags", "<u2")]
for name, t0 in (("old", 0.0), ("large", 1e7)):
    rows = numpy.zeros(len(steps), old)
    assert rows.dtype.itemsize == 64
    for field in rows.dtype.names:
        rows[field] = steps[field] if field != "t" else steps["t"] - 123456789012.25 + t0
    numpy.save(name + ".steps.npy", rows)'
expect 0 "$ICESTREAM" run "${world[@]}" -s source.files=old.steps.npy -s sink.directory=old
grep -q "in single precision" err && fail "a warning about early times"
expect 0 "$python" compare.py early/generated.hits.npy old/old.hits.npy 0
expect 0 "$ICESTREAM" run "${world[@]}" -s source.files=large.steps.npy -s sink.directory=old
says err "large.steps.npy: t: found 1e+07 ns in single precision, which rounds such times to within 0.5 ns"

# ---- events and seeds ----

hits_of() { # SEED EVENT: writes the hits without their event into SEED-EVENT
    expect 0 "$ICESTREAM" run -q --force "${sets[@]}" -s run.seed="$1" -s sink.directory=seeds \
        -s "particles.list=[{event: $2, type: e-, x: 0, y: 0, z: -300, zenith: 70, azimuth: 20, energy: 500}]"
    expect 0 "$python" -c '
import sys, numpy
hits = numpy.load("seeds/generated.hits.npy")
assert set(hits["event_id"]) == {int(sys.argv[2])}, hits["event_id"][0]
hits["event_id"] = 0
open("%s-%s" % (sys.argv[1], sys.argv[2]), "wb").write(hits.tobytes())' "$1" "$2"
}
hits_of 0 7
for seed in 1 2 5 9; do # seed 5 2^32 with event 5 2^32 + 7 was seed 0 with event 7
    hits_of $((seed << 32)) $(((seed << 32) + 7))
    cmp -s 0-7 $((seed << 32))-$(((seed << 32) + 7)) && fail "seeds 0 and $seed 2^32 share their light"
done
hits_of 1 9007199254740993 # it has the event 9007199254740993, or the Python above fails
printf 'event,type,x,y,z,zenith,azimuth,energy\n9007199254740993,e-,0,0,-300,70,20,500\n' >exact.csv
expect 0 "$ICESTREAM" generate "${sets[@]}" -s particles.file=exact.csv -s particles.first_event=9007199254740992 -o e.steps.npy
expect 0 "$python" -c '
import numpy
assert set(numpy.load("e.steps.npy")["event_id"]) == {18014398509481985}'

# ---- sums of weights ----

expect 0 "$python" -c '
import numpy
hits = numpy.load("filed/a.hits.npy")
photons = {}
for hit in hits:
    key = tuple(int(hit[name]) for name in ("event_id", "step_id", "photon_id"))
    photons[key] = photons.get(key, 0.0) + float(hit["weight"])
total, squares = sum(photons.values()), sum(w * w for w in photons.values())
print("%.17g %.17g %.17g" % (total, squares**0.5, total * total / squares))'
read -r total error effective <out
expect 0 "$ICESTREAM" info filed/a.hits.npy
says out "$(printf '  weights        %.6g +- %.2g (effective number %.4g)' "$total" "$error" "$effective")"
expect 0 "$ICESTREAM" info --json filed/a.hits.npy
cp out info.json
expect 0 "$ICESTREAM" run --force "${world[@]}" -s source.files=a.steps.npy -s sink.directory=filed
says err "$(printf 'sum of weights: %.6g +- %.2g (effective number %.4g)' "$total" "$error" "$effective")"
expect 0 "$python" -c '
import json, sys
for name in ("info.json", "filed/summary.json"):
    found = json.load(open(name))["weights"]
    for key, value in zip(("sum", "error", "effective"), map(float, sys.argv[1:])):
        assert abs(found[key] / value - 1) < 1e-8, (name, key, found, value)' "$total" "$error" "$effective"
finish
