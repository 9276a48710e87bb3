#!/usr/bin/env bash
# Promises: the hit rows of all parts of a split, one behind the other, are those of the whole, byte for byte, for
# step files of this and of other programs and for particles; parts have equal expected costs; the expected bounces
# are those that runs count, to 9 % in the ice between the modules; no part of another split is left among the new
# ones. To join: another kind of light gets a line in `whole_and_parts`, another wrong use a line at the end.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "no NumPy"

# Compares the rows, and the costs with the bounces in the metadata of the hit files.
cat >compare.py <<'PYTHON' || fail "no script"
import glob, json, struct, sys
import numpy

name, tolerance = sys.argv[1], float(sys.argv[2])
split = json.load(open(f"{name}/split.json"))
parts, total = split["parts"], split["bounces"]
hits = sorted(glob.glob(f"{name}/hits/*.hits.npy"))
assert len(hits) == len(parts) == int(sys.argv[3]), (len(hits), len(parts))
rows = numpy.concatenate([numpy.load(path) for path in hits])
whole = numpy.load(f"{name}/whole.hits.npy")
assert rows.tobytes() == whole.tobytes(), f"{name}: the rows differ: {len(rows)} and {len(whole)}"
assert len(whole) > 0, f"{name}: no hits"
for part in parts:
    apart = abs(part["bounces"] - total / len(parts))
    assert apart <= split["costliest_step"], (name, part)
def bounces(path):
    data = open(path, "rb").read()
    offset, length = struct.unpack("<QQ", data[-32:-16])
    return json.loads(data[offset:offset + length])["account"]["bounces"]
counted = [bounces(path) for path in hits]
assert sum(counted) == bounces(f"{name}/whole.hits.npy"), name
assert abs(total / sum(counted) - 1) < tolerance, f"{name}: expected {total:.4g}, counted {sum(counted)}"
spread = max(counted) / min(counted)
assert spread < 1.25, f"{name}: the costliest part has {spread:.3f} times the bounces of the cheapest"
PYTHON

# whole_and_parts NAME PARTS TOLERANCE [SETTING...]: makes NAME/all.steps.npy unless it is there, runs it and its parts.
whole_and_parts() {
    local name=$1 parts=$2 tolerance=$3 setting settings=()
    shift 3
    for setting in "$@"; do settings+=(-s "$setting"); done
    mkdir -p "$name/parts"
    [ -e "$name/all.steps.npy" ] || expect 0 "$ICESTREAM" generate "${settings[@]}" -o "$name/all.steps.npy"
    echo '{}' >"$name/run.yaml"
    expect 0 "$ICESTREAM" split "$name/run.yaml" "$name/all.steps.npy" "${settings[@]}" --parts "$parts" --json \
        -o "$name/parts/{part}.steps.npy"
    cp out "$name/split.json"
    expect 0 "$ICESTREAM" run -q "$name/run.yaml" "$name/all.steps.npy" "${settings[@]}" -o "$name/whole.hits.npy"
    expect 0 "$ICESTREAM" run -q "$name/run.yaml" "$name/parts/*.steps.npy" "${settings[@]}" -o "$name/hits/{stem}.hits.npy"
    expect 0 "$python" compare.py "$name" "$tolerance" "$parts"
}
# Steps of 200 photons, because a step is never divided.
# Half of the light is in the dust, where a photon makes other numbers of bounces.
light='{type: e-, event: 1, x: 0, y: 0, z: -350, zenith: 60, azimuth: 30, energy: 150},
    {type: e-, event: 2, x: 20, y: 20, z: -100, zenith: 90, azimuth: 0, energy: 150}'
whole_and_parts cascades 7 0.09 "particles.list=[$light]" particles.cascades=steps
whole_and_parts uniform 3 0.09 ice.model=uniform workload.steps=500
whole_and_parts no-bound 2 0.03 workload.steps=300 graph.reach_cull=false

# The same parts without a step file, and with the size of a part.
mkdir again
expect 0 "$ICESTREAM" split -s "particles.list=[$light]" -s particles.cascades=steps --parts 7 -o 'again/{part}.steps.npy'
says out "7 parts, again/000000.steps.npy to again/000006.steps.npy" "expected bounces"
for ((i = 0; i < 7; ++i)); do
    same "again/00000$i.steps.npy" "cascades/parts/00000$i.steps.npy"
done
mkdir sized
expect 0 "$ICESTREAM" split -s "particles.list=[$light]" -s particles.cascades=steps --bounces 1e5 --json -o 'sized/{part}.steps.npy'
"$python" -c 'import json, math, sys
split = json.load(sys.stdin)
assert len(split["parts"]) == math.ceil(split["bounces"] / 1e5) > 7' <out || fail "parts of a size"

# A file of another program: other order and directions that are not quite of length 1.
mkdir other
"$python" - <<'PYTHON' || fail "no file of another program"
import numpy
steps = numpy.load("uniform/all.steps.npy")[::-1].copy()
for field in ("dx", "dy", "dz"):
    steps[field] *= numpy.float32(1.0001)
numpy.save("other/all.steps.npy", steps)
PYTHON
expect 0 "$ICESTREAM" split uniform/run.yaml other/all.steps.npy -s ice.model=uniform --parts 3 -o 'other/{part}.steps.npy'
"$python" - <<'PYTHON' || fail "the parts have other rows than the whole"
import glob, numpy
parts = numpy.concatenate([numpy.load(path) for path in sorted(glob.glob("other/0*.steps.npy"))])
assert parts.tobytes() == numpy.load("other/all.steps.npy").tobytes()
PYTHON

# One step that costs more than a part is one part.
mkdir large
"$python" - <<'PYTHON' || fail "no costly step"
import numpy
steps = numpy.load("uniform/all.steps.npy")[:5].copy()
steps["photons"][2] = 100000
numpy.save("large/all.steps.npy", steps)
PYTHON
mkdir large/parts
expect 0 "$ICESTREAM" split uniform/run.yaml large/all.steps.npy --parts 5 -o 'large/parts/{part}.steps.npy'
says out "3 parts, " "5 parts were asked for: a step is never divided"

# Parts of another split, and wrong uses.
expect 2 "$ICESTREAM" split -s "particles.list=[$light]" -s particles.cascades=steps --parts 3 -o 'again/{part}.steps.npy'
says err "again/00000" "of another split, expected no part (--force replaces parts)"
expect 2 "$ICESTREAM" split -s "particles.list=[$light]" -s particles.cascades=steps --parts 3 --force -o 'again/{part}.steps.npy'
says err "of another split, expected no part that the new ones do not replace: remove it"
expect 0 "$ICESTREAM" split -s "particles.list=[$light]" -s particles.cascades=steps --parts 9 --force -o 'again/{part}.steps.npy'
cp cascades/all.steps.npy again/000003.steps.npy
expect 2 "$ICESTREAM" split cascades/run.yaml again/000003.steps.npy --parts 9 --force -o 'again/{part}.steps.npy'
says err "part 3 would replace the input again/000003.steps.npy"
same cascades/all.steps.npy again/000003.steps.npy
refuses 2 '--output: found "parts.npy", expected a name of files with {part} once' split --parts 2 -s workload.steps=5 -o 'parts.npy'
refuses 74 "nowhere cannot be opened: No such file or directory" split --parts 2 -s workload.steps=5 -o 'nowhere/{part}.npy'
expect 2 "$ICESTREAM" split --parts 6 -s workload.steps=5 -o '{part}.npy'
says err "found 6 parts for 5 steps" "expected at most 5 parts"
refuses 2 "found neither of them, expected --parts N or --bounces B" split -s workload.steps=5 -o '{part}.npy'
refuses 2 '--bounces: found "-3", expected a number above 0' split --bounces -3 -s workload.steps=5 -o '{part}.npy'
head -c 1500 uniform/all.steps.npy >cut.steps.npy
expect 3 "$ICESTREAM" split uniform/run.yaml cut.steps.npy --parts 2 -o '{part}.npy'
says err "cut.steps.npy" "cut short"
[ -z "$(find . -maxdepth 1 -name '0*')" ] || fail "a wrong use made parts"
finish
