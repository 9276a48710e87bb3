#!/usr/bin/env bash
# Promises: a run reads the mesh of a module (a capsule with 24 windows and a harness), photons meet windows, glass
# and harness, and all schedules and searches give the same hits.
here=$(realpath "$(dirname "$0")")
source "$here/common.bash"
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
run type.yaml -s sink.directory=mesh
run type.yaml -s sink.directory=brute -s stages.collide=brute-force
run type.yaml -s sink.directory=cells -s stages.collide=cell-grid
run type.yaml -s sink.directory=place -s stages.detect=pmt-place
run '{shape: capsule, radius: 0.178, half_height: 0.205}' -s sink.directory=capsule
for name in mesh brute cells place capsule; do
    expect 0 "$ICESTREAM" convert $name/*.hits.npy $name.csv
done
same mesh.csv brute.csv
same mesh.csv cells.csv
python3 - <<'END' || fail "hits of the mesh"
import csv

rows = {name: list(csv.DictReader(open(name + ".csv"))) for name in ("mesh", "place", "capsule")}
pmts = [int(row["pmt"]) for row in rows["place"]]
ratio = len(rows["mesh"]) / len(rows["capsule"])
print(len(rows["mesh"]), "hits,", ratio, "of those of the capsule;", len(pmts), "by PMTs", sorted(set(pmts)))
# 1500 x 200 photons, some thousand hits. The harness hangs in front of the module as seen from the light, so that it
# takes some hits: 0.024 m x 0.3 m of some 0.12 m2, and less of scattered light.
assert len(rows["mesh"]) > 1000 and 0.9 < ratio < 0.99
assert set(pmts) <= set(range(24)) and len(set(pmts)) > 12
END
finish
