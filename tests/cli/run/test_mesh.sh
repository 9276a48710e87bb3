#!/usr/bin/env bash
# Promises: a run reads the mesh of a module (a capsule with 24 windows and a harness), photons meet windows, glass
# and harness, and all schedules and searches give the same hits.
here=$(realpath "$(dirname "$0")")
source "$here/../common.bash"
"$ICESTREAM" --version --verbose | grep -q "^Assimp: none" && skip "built without Assimp"
command -v python3 >/dev/null || skip "python3 is missing"

python3 "$here/capsule_obj.py" capsule.obj type.yaml
printf 'string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n2,1,20,0,0\n' >modules.csv
run() {
    expect 0 "$ICESTREAM" run -q -s detector.file=modules.csv -s "detector.types={m: $1}" \
        -s workload.kind=point -s 'workload.position=[3, 0, 1]' -s workload.steps=1500 \
        -s detector.oversize=4 "${@:2}"
}

expect 0 "$ICESTREAM" validate -s detector.file=modules.csv -s 'detector.types={m: type.yaml}'
says out "m: 3 modules, mesh" "9072 triangles" "24 PMTs"
is_empty err
# A PMT without a window is a warning, and a mesh without any is an error.
sed 's/eye_23: 23/eye_23: glass/' type.yaml >blind.yaml
expect 0 "$ICESTREAM" validate -s detector.file=modules.csv -s 'detector.types={m: blind.yaml}' -s stages.detect=pmt-place -s light.acceptance=standard
says out "warning    type m: found no part of the mesh for 1 of 24 PMTs (first: 23), which therefore detect nothing"
sed 's/\(eye_[0-9]*\): .*/\1: glass/' type.yaml >blind.yaml
expect 2 "$ICESTREAM" validate -s detector.file=modules.csv -s 'detector.types={m: blind.yaml}' -s stages.detect=pmt-place -s light.acceptance=standard
says err "no part of the type m is the number of a PMT; expected names of objects or materials of the mesh in parts"

run type.yaml -s sink.directory=mesh
run type.yaml -s sink.directory=brute -s stages.collide=brute-force
run type.yaml -s sink.directory=cells -s stages.collide=cell-grid
run type.yaml -s sink.directory=place -s stages.detect=pmt-place -s light.acceptance=standard
run '{shape: capsule, radius: 0.178, half_height: 0.205}' -s sink.directory=capsule
for name in mesh brute cells place capsule; do
    expect 0 "$ICESTREAM" convert $name/*.hits.npy $name.csv
done
same mesh.csv brute.csv
same mesh.csv cells.csv
python3 - <<'END' || fail "hits of the mesh"
import csv, math

rows = {name: list(csv.DictReader(open(name + ".csv"))) for name in ("mesh", "place", "capsule")}
pmts = [int(row["pmt"]) for row in rows["place"]]
ratio = len(rows["mesh"]) / len(rows["capsule"])
print(len(rows["mesh"]), "hits,", ratio, "of those of the capsule;", len(pmts), "by PMTs", sorted(set(pmts)))
# 1500 x 200 photons, some thousand hits. The harness hangs in front of the module as seen from the light, so that it
# takes some hits: 0.024 m x 0.3 m of some 0.12 m2, and less of scattered light.
assert len(rows["mesh"]) > 1000 and 0.9 < ratio < 0.99
assert set(pmts) <= set(range(24)) and len(set(pmts)) > 12

# Each photo-electron is on the window of its PMT: within 13 degrees as seen from the centre, and a triangle more.
axes = [(zenith if upper else 180 - zenith, 360 / count * i)
        for upper in (True, False) for zenith, count in ((33, 4), (72, 8)) for i in range(count)]
for row in rows["place"]:
    zenith, azimuth = (math.radians(angle) for angle in axes[int(row["pmt"])])
    axis = (math.sin(zenith) * math.cos(azimuth), math.sin(zenith) * math.sin(azimuth), math.cos(zenith))
    impact = [float(row[name]) for name in ("x_m", "y_m", "z_m")]
    cosine = sum(a * b for a, b in zip(axis, impact)) / math.hypot(*impact)
    assert cosine > math.cos(math.radians(18)), (row, cosine)
END

# A table of effective areas: what a mesh detects is the light times these areas, whatever the area is that its body
# turns to the light. So a capsule with the same table detects as much.
awk 'BEGIN {
    print "pmt,zenith,azimuth,area"
    for (z = 0; z <= 180; z += 30)
        for (p = 0; p < 24; ++p)
            printf "%d,%d,0,%g\n", p, z, 0.001 + 0.002 * (p % 2)
}' >areas.csv
sed '$a table: areas.csv' type.yaml >table.yaml
{
    printf 'shape: capsule\nradius: 0.178\nhalf_height: 0.205\ntable: areas.csv\n'
    sed -n '/^pmts:/,$p' type.yaml
} >plain.yaml
run table.yaml -s sink.directory=table -s stages.detect=pmt-table -s light.acceptance=standard
run plain.yaml -s sink.directory=plain -s stages.detect=pmt-table -s light.acceptance=standard
for name in table plain; do expect 0 "$ICESTREAM" convert $name/*.hits.npy $name.csv; done
python3 - <<'END' || fail "photo-electrons of the table"
import csv

rows = {name: list(csv.DictReader(open(name + ".csv"))) for name in ("table", "plain")}
mesh, plain = (sum(float(row["weight"]) for row in rows[name]) for name in ("table", "plain"))
odd = sum(int(row["pmt"]) % 2 for row in rows["table"]) / len(rows["table"])
print(len(rows["table"]), "photo-electrons,", mesh / plain, "of those of the capsule;", odd, "of odd PMTs")
# Some hundred each, from the same photons: the ratio varies by less than 0.06, and PMTs with three times the area
# have three quarters.
assert len(rows["table"]) > 500 and 0.8 < mesh / plain < 1.2 and 0.67 < odd < 0.83
END
finish
