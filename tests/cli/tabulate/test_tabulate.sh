#!/usr/bin/env bash
# Promises: `icestream tabulate` writes the same table in every schedule, on any number of threads and in batches
# of any size; parts of a production add up to the sums of one run; it refuses wrong axes with line and column, keys
# of a table without effect, ice that it cannot tabulate, and a table that exists; commands that record hits refuse a
# table; a header of the user may compute the coordinates, and tables of different headers do not add up.
ROOT=$(cd "$(dirname "$0")/../../.." && pwd)
source "$(dirname "$0")/../common.bash"

cat >table.yaml <<'YAML'
ice: {model: uniform}
device: {backend: cpu}
stages: {tabulate: spherical}
workload: {kind: point, steps: 20, photons_per_step: 20}
table:
  axes:
    - {name: r, from: 0, to: 200, bins: 20, power: 2}
    - {name: cosine, from: -1, to: 1, bins: 10}
    - {name: delay, from: 0, to: 3000, bins: 30, power: 2}
  squares: true
  source: fixed
YAML
expect 0 "$ICESTREAM" tabulate table.yaml -o first.npy -s graph.schedule=wavefront --threads 1
for options in "graph.schedule=monolithic" "graph.batch=37" "device.threads=2" "graph.pool=33" \
    "device.instruction_set=baseline"; do
    expect 0 "$ICESTREAM" tabulate table.yaml -o other.npy --force -s "$options"
    same first.npy other.npy
done
expect 74 "$ICESTREAM" tabulate table.yaml -o first.npy

# Parts add up if they were made in the same way, and no part counts twice.
expect 0 "$ICESTREAM" tabulate table.yaml -o second.npy -s workload.event=1
expect 0 "$ICESTREAM" table merge first.npy second.npy -o sum.npy
expect 3 "$ICESTREAM" table merge first.npy first.npy -o twice.npy
expect 0 "$ICESTREAM" tabulate table.yaml -o deep.npy -s workload.event=2 -s table.absorption_lengths=20
expect 3 "$ICESTREAM" table merge first.npy deep.npy -o mixed.npy

# A production in 7 parts: the same bytes in any order of merging, the sums of one run, and no part twice.
expect 0 "$ICESTREAM" generate table.yaml -s stages.tabulate=none -o whole.steps.npy
expect 0 "$ICESTREAM" split table.yaml whole.steps.npy --parts 7 -o 'part-{part}.steps.npy' -s stages.tabulate=none
parts=(part-*.steps.npy)
[ ${#parts[@]} -eq 7 ] || fail "${#parts[@]} parts instead of 7"
for steps in whole.steps.npy "${parts[@]}"; do
    expect 0 "$ICESTREAM" tabulate table.yaml -s "source.files=$steps" -o "${steps%.steps.npy}.npy"
done
pieces=("${parts[@]/%.steps.npy/.npy}")
expect 0 "$ICESTREAM" table merge "${pieces[@]}" -o merged.npy
expect 0 "$ICESTREAM" table merge "${pieces[@]:4}" -o late.npy
expect 0 "$ICESTREAM" table merge late.npy "${pieces[3]}" "${pieces[0]}" "${pieces[2]}" "${pieces[1]}" -o again.npy
same merged.npy again.npy
# The metadata of both name other parts; header, sums and squared sums have the same bytes.
size=$((1024 + 2 * 22 * 12 * 32 * 8))
cmp -n $size merged.npy whole.npy || fail "the sums of 7 parts are not those of one run"
cmp -n $size whole.npy first.npy || fail "the sums of a step file are not those of its workload"
expect 0 "$ICESTREAM" info --verify merged.npy
says out "photons         400, weight " "parts           7"
expect 3 "$ICESTREAM" table merge merged.npy "${pieces[6]}" -o twice.npy
says err "${pieces[6]}: found the part " ", which merged.npy holds already"
is_missing twice.npy

# Several sources in one run: each one is the origin of its photons. The table of both is the sum of two tables whose
# fixed source is given by position, direction and time.
cat >sources.csv <<'CSV'
event,type,x,y,z,zenith,azimuth,energy,time
0,e,100,-50,30,0,0,0.1,0
1,e,-20,70,-200,180,0,0.1,500
CSV
sed 's/workload:.*/particles: {file: sources.csv}/; s/source: fixed/source: auto/' table.yaml >sources.yaml
expect 0 "$ICESTREAM" tabulate sources.yaml -o both.npy
expect 0 "$ICESTREAM" generate sources.yaml -o both.steps.npy
expect 0 "$ICESTREAM" split sources.yaml both.steps.npy --parts 2 -o 'source-{part}.steps.npy'
pieces=(source-*.steps.npy)
[ ${#pieces[@]} -eq 2 ] || fail "${#pieces[@]} parts instead of 2"
for i in 0 1; do
    expect 0 "$ICESTREAM" tabulate sources.yaml -s "source.files=${pieces[i]}" -o "moving-$i.npy"
done
expect 0 "$ICESTREAM" tabulate sources.yaml -s "source.files=${pieces[0]}" -s table.source=fixed \
    -s "table.position=[100, -50, 30]" -s "table.direction=[0, 0, -1]" -o fixed-0.npy
expect 0 "$ICESTREAM" tabulate sources.yaml -s "source.files=${pieces[1]}" -s table.source=fixed \
    -s "table.position=[-20, 70, -200]" -s "table.direction=[0, 0, 1]" -s table.time=500 -o fixed-1.npy
expect 0 "$ICESTREAM" table merge moving-0.npy moving-1.npy -o alone.npy
for pair in "moving-0 fixed-0" "moving-1 fixed-1" "alone both"; do
    read -r one other <<<"$pair"
    cmp -n $size "$one.npy" "$other.npy" || fail "the sums of $one.npy and $other.npy differ"
done
cmp -s -n $size moving-0.npy moving-1.npy && fail "both sources have the same sums"

# A late particle has the table of an early one.
sed 's/,0.1,0$/,0.1,1000000000.3/; s/,0.1,500$/,0.1,1000000500/' sources.csv >late.csv
expect 0 "$ICESTREAM" tabulate sources.yaml -s particles.file=late.csv -o of-late.npy
cmp -n $size of-late.npy both.npy || fail "the sums depend on the time of the particles"

# A table depends on no module: not on its oversize, of which a line is said, not on its efficiency, and not on what it absorbs.
for setting in oversize=2 oversize=5 dense=true keep_hit_photons=true 'excluded=[[36, 30]]'; do
    expect 0 "$ICESTREAM" tabulate sources.yaml -s "detector.$setting" -o "of-$setting.npy"
    cmp -n $size "of-$setting.npy" both.npy || fail "sums depend on detector.$setting"
done
same of-oversize=2.npy both.npy
same of-oversize=5.npy both.npy
expect 0 "$ICESTREAM" validate sources.yaml -s detector.oversize=5
says out "oversize 1" "warning    --set detector.oversize: detector.oversize: found 5, which has no effect on a table"
expect 0 "$ICESTREAM" generate sources.yaml -s stages.tabulate=none -s detector.oversize=2 -o wide.steps.npy
refuses 3 "detector.oversize: found steps that were made for 2, expected 1" tabulate sources.yaml -o none.npy -s source.files=wide.steps.npy

# The source of light is its particle, whatever its steps are. Steps that are parts of a source are no sources.
expect 0 "$ICESTREAM" tabulate sources.yaml -s table.source=step -o whole-steps.npy
cmp -n $size whole-steps.npy both.npy || fail "a step that is a whole cascade is another source than its particle"
expect 3 "$ICESTREAM" tabulate sources.yaml -s table.source=step -s particles.cascades=steps -o none.npy
says err "sources.csv: table.source: found steps 0 and 1 of source 0 in event 0 with different starts or directions"
expect 0 "$ICESTREAM" generate sources.yaml -s particles.cascades=steps -o pieces.steps.npy
expect 3 "$ICESTREAM" tabulate sources.yaml -s source.files=pieces.steps.npy -o none.npy
says err "pieces.steps.npy: table.source: found steps 0 and 1 of source 0 in event 0"
expect 3 "$ICESTREAM" tabulate table.yaml -s workload.kind=cascade -s table.source=step -o none.npy
says err "workload cascade: table.source: found steps 0 and 1 of source 0"
expect 2 "$ICESTREAM" tabulate sources.yaml -s particles.file=- -s particles.format=csv -o none.npy <sources.csv
says err "particles.file: found '-', which can be read only once"
muon='particles.list=[{type: mu, x: 10, y: 20, z: 30, zenith: 30, azimuth: 40, energy: 100, length: 20, time: 70}]'
ends=(-s ice.model=uniform -s stages.tabulate=cylindrical -s table.absorption_lengths=0.2 -s light.acceptance=standard -s particles.losses=simple
    -s 'table.axes=[{name: rho, from: 0, to: 10, bins: 20}, {name: z, from: -20, to: 40, bins: 12}, {name: delay, from: -1, to: 9, bins: 5}]')
expect 3 "$ICESTREAM" tabulate -s "$muon" "${ends[@]}" -s table.source=step -o none.npy
expect 0 "$ICESTREAM" tabulate -s "$muon" "${ends[@]}" -o muon.npy
expect 0 "$ICESTREAM" tabulate -s "$muon" "${ends[@]}" -s table.source=fixed -s 'table.position=[10, 20, 30]' -s table.time=70 \
    -s 'table.direction=[-0.383022221559489, -0.321393804843270, -0.866025403784439]' -o at.npy

# The light of a cascade of 100 GeV within 10 m: its shares at cosines of 0.9 to 1 and of 0.7 to 0.8 (../shared/reviews/physics-3.md 5b,
# from independent code: 0.486 and 0.089; around emitters they would be 0.059 and 0.512). Light that
# flies more than an absorption length has 0.004 of it.
cascade='particles.list=[{type: e-, x: 0, y: 0, z: 0, zenith: 30, azimuth: 40, energy: 100}]'
narrow=(-s ice.model=uniform -s stages.tabulate=spherical -s table.absorption_lengths=1 -s light.acceptance=standard
    -s 'table.axes=[{name: r, from: 0, to: 10, bins: 1}, {name: cosine, from: -1, to: 1, bins: 20}]')
for form in profile steps; do
    expect 0 "$ICESTREAM" tabulate -s "$cascade" "${narrow[@]}" -s particles.cascades=$form -o form-$form.npy
done
if python=$(python_with numpy); then
    cat >shares.py <<'PYTHON' || fail "no script"
import numpy
for form in ("profile", "steps"):
    light = numpy.load("form-" + form + ".npy")[1, 1:-1].astype(float)
    shares = light / light.sum()
    # Shares of 9e5 photons, or of 4400 directions of emitters, which light a ring each: 5 errors of these numbers, and 0.006.
    limits = [5 * (share * (1 - share) / (9e5 if form == "profile" else 4400)) ** 0.5 + 0.006 for share in (0.486, 0.089)]
    assert abs(shares[19] - 0.486) < limits[0] and abs(shares[17] - 0.089) < limits[1], (form, shares[19], shares[17], limits)
one, two = (numpy.load(name).astype(float) for name in ("muon.npy", "at.npy"))
# Both begin at the start of the muon; directions differ in their last bits.
assert one.sum() > 0 and abs(one - two).sum() < 1e-3 * one.sum(), abs(one - two).sum() / one.sum()
assert one[:, 5:9].sum() > 0.5 * one.sum(), "most light is along the 20 m of the track"
PYTHON
    expect 0 "$python" shares.py
else
    echo "skipped: no Python with NumPy: the files are not compared"
fi

# Keys without effect are errors; where --set switches off what they belong to, the table does not depend on them.
sed 's/source: fixed/&\n  position: [1, 2, 3]/' table.yaml >fixed.yaml
expect 2 "$ICESTREAM" tabulate table.yaml -o none.npy -s table.source=step -s table.time=5
says err "--set table.time=5: error: table.time: is for table.source: fixed, and the source is step"
expect 0 "$ICESTREAM" tabulate table.yaml -o steps.npy -s table.source=step
expect 0 "$ICESTREAM" tabulate fixed.yaml -o same.npy -s table.source=step
same steps.npy same.npy
expect 0 "$ICESTREAM" tabulate fixed.yaml -o fixed.npy -s workload.event=3
refuses 3 "fixed.npy: the digest of the configuration" table merge first.npy fixed.npy -o mixed.npy
expect 2 "$ICESTREAM" validate fixed.yaml -s table.azimuth=full
says err "--set table.azimuth=full: error: table.azimuth: found full, and table.axes has no azimuth"
expect 0 "$ICESTREAM" validate fixed.yaml -s stages.tabulate=none
sed '/^stages/d' fixed.yaml >none.yaml
refuses 2 "none.yaml:10:11: error: table.source: is for stages.tabulate: spherical or cylindrical, and it is none" run none.yaml

# wrong TEXT AXES: a file with these axes is refused with this text.
wrong() {
    sed "s/{name: cosine.*/$2/" table.yaml >wrong.yaml
    refuses 2 "$1" tabulate wrong.yaml -o none.npy
    [ ! -e none.npy ] || fail "a table was written"
}
wrong "wrong.yaml:8:" "{name: cosine, from: -1, to: 1, bins: 0}"
wrong "wrong.yaml:8:" "{name: cosine, from: -1, to: 1, bins: 1099511627776}"
wrong "wrong.yaml:8:" "{name: cosine, from: -1, to: .nan, bins: 10}"
wrong "wrong.yaml:8:" "{name: cosine, from: -.inf, to: 1, bins: 10}"
wrong "expected from below to" "{name: cosine, from: 1, to: 1, bins: 10}"
wrong "expected from 0 or above" "{name: cosine, from: -1, to: 1, bins: 10, power: 2}"
wrong "axis cosine: found from -2 and to 1, expected a range within -1 to 1" "{name: cosine, from: -2, to: 1, bins: 10}"
wrong "axis cosine: found 10 bins from 0 to 1e-300, expected wider bins" "{name: cosine, from: 0, to: 1e-300, bins: 10}"
wrong "axis cosine: found 16777215 bins from 0.5 to 1, expected wider bins" "{name: cosine, from: 0.5, to: 1, bins: 16777215}"
wrong "wrong.yaml:8:7: error: table.axes: axis cosine: found 1 bins from 0.999999999999" "{name: cosine, from: 0.999999999999, to: 1, bins: 1}"
wrong "found axis colour as number 2" "{name: colour, from: -1, to: 1, bins: 10}"
wrong "wrong.yaml:8:" "{name: cosine, from: -1, to: 1}"
wrong "in this order" "{name: r, from: 0, to: 1, bins: 10}"
wrong "in this order" "{name: rho, from: 0, to: 1, bins: 10}"
wrong "in this order" "{name: impact, from: -1, to: 1, bins: 10}"
wrong "expected a whole number from 1 to 16777215" "{name: cosine, from: -1, to: 1, bins: 16777216}"
wrong "expected at most 3221225472" "{name: cosine, from: -1, to: 1, bins: 16777215}"

# The most bins: light above the axis is in its overflow, and not in the last bin.
for bins in 1 16777215; do
    expect 0 "$ICESTREAM" tabulate table.yaml -o most.npy -f -s table.squares=false -s "table.axes=[{name: impact, from: -1, to: 0, bins: $bins}]"
    expect 0 "$ICESTREAM" info most.npy
    sed -n 's/^ *sums *\(.* outside of them\),.*/\1/p' out >sums.$bins
done
same sums.1 sums.16777215
says sums.1 "in the bins, "
! grep -q " 0 outside" sums.1 || fail "no light is outside"

refuses 2 "expected spherical or cylindrical" tabulate table.yaml -o none.npy -s stages.tabulate=none
refuses 2 "expected a direction" tabulate table.yaml -o none.npy -s "table.direction=[0, 0, 0]"
refuses 2 "hole" tabulate table.yaml -o none.npy -s "ice.file=$ROOT/configs/ice/tilted.yaml"
# The acceptance of modules.
expect 0 "$ICESTREAM" tabulate table.yaml -o accepted.npy -s table.acceptance=detector -s workload.event=4
refuses 3 "accepted.npy: the efficiency differs from that of first.npy" table merge first.npy accepted.npy -o mixed.npy
expect 2 "$ICESTREAM" tabulate table.yaml -o none.npy -s table.acceptance=detector -s "detector.angular_polynomial=[0, 0.5]"
says err "table.acceptance: found detector, and the angular acceptance of the modules is an edge"
refuses 2 "expected icestream tabulate" run table.yaml
refuses 2 "expected icestream tabulate" compare table.yaml

# Coordinates of a header: the axes have its names, and tables of different headers do not add up.
if command -v cc >/dev/null; then
    sed '/axes:/,$d' table.yaml >header.yaml
    sed -i "s|spherical}|{source: $ROOT/configs/stages/nearest_string.h}}|" header.yaml
    cat >>header.yaml <<'YAML'
  axes:
    - {name: distance, unit: m, from: 0, to: 70, bins: 35}
    - {name: cos_zenith, from: -1, to: 1, bins: 20}
YAML
    expect 0 "$ICESTREAM" tabulate header.yaml -o header.npy -s device.instruction_set=baseline
    expect 0 "$ICESTREAM" table info header.npy
    says out "photon table, custom, 700 bins" "axis distance   0 to 70 m, 35 bins" "axis cos_zenith -1 to 1, 20 bins"
    expect 0 "$ICESTREAM" tabulate header.yaml -o wave.npy -s device.instruction_set=baseline -s graph.schedule=monolithic
    same header.npy wave.npy
    sed 's/-view->dz/view->dz/' "$ROOT/configs/stages/nearest_string.h" >other.h
    expect 0 "$ICESTREAM" tabulate header.yaml -o other-header.npy -s device.instruction_set=baseline -s workload.event=5 \
        -s 'stages.tabulate={source: other.h}'
    refuses 3 "the digest of the configuration differs" table merge header.npy other-header.npy -o mixed.npy
    refuses 2 "expected icestream tabulate" run header.yaml
else
    echo "skipped: no C compiler: coordinates of a header"
fi
finish
