#!/usr/bin/env bash
# Promises: detectors of several types run end to end, and their hits say which PMT saw the light: a detector like
# IceCube-Gen2 with 10,000 modules of three types, one of 300,000 modules whose grids agree, and a block of KM3NeT from
# a DETX file. `icestream geometry`
# writes types and orientations that detector.file reads back to the same detector.
types=$(realpath "$(dirname "$0")/../../../configs/detectors/types")
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "no Python with NumPy"

# 100 strings with 100 modules: D-Eggs, mDOMs and LOM16s in turn, each turned around its axis.
awk 'BEGIN {
    split("degg mdom lom16", names, " ")
    print "string,module,x,y,z,type,roll"
    for (s = 0; s < 100; ++s)
        for (m = 0; m < 100; ++m)
            print s + 1 "," m + 1 "," 240 * (s % 10) "," 240 * int(s / 10) "," 16 * (50 - m) "," \
                  names[(s + m) % 3 + 1] "," (37 * m) % 360
}' >gen2.csv
cat >gen2.yaml <<END
detector:
  file: gen2.csv
  oversize: 5
  types: { degg: $types/degg.yaml, mdom: $types/mdom.yaml, lom16: $types/lom16.yaml }
workload: { kind: point, position: [962, 960, 8], steps: 500, photons_per_step: 200 }
stages: { detect: pmt-plane }
END
expect 0 "$ICESTREAM" validate gen2.yaml
says out "type     degg: 3334 modules, spheroid" "type     mdom: 333" "type     lom16: 333" \
    "PMTs     pmt-plane"
expect 0 "$ICESTREAM" run gen2.yaml -s sink.directory=gen2 --quiet

expect 0 "$ICESTREAM" geometry gen2.yaml -o back.csv
says back.csv "string,module,x,y,z,efficiency,type,qw,qx,qy,qz"
expect 0 "$ICESTREAM" validate gen2.yaml
grep -A 2 "^digests" out >first
expect 0 "$ICESTREAM" validate gen2.yaml -s detector.file=back.csv
grep -A 2 "^digests" out >second
same first second

# 3,000 strings with 100 modules of three types: both grids give the same hits.
awk 'BEGIN {
    split("degg mdom lom16", names, " ")
    print "string,module,x,y,z,type,roll"
    for (s = 0; s < 3000; ++s)
        for (m = 0; m < 100; ++m)
            print s + 1 "," m + 1 "," 100 * (s % 60) - 3000 "," 100 * int(s / 60) - 2500 "," 10 * (50 - m) "," \
                  names[(s + m) % 3 + 1] "," (37 * m) % 360
}' >many.csv
for grid in string-grid cell-grid; do
    expect 0 "$ICESTREAM" run gen2.yaml -s detector.file=many.csv -s 'workload.position=[2, 0, 8]' \
        -s workload.steps=50 -s stages.collide=$grid -s sink.directory=$grid --quiet
    expect 0 "$ICESTREAM" convert $grid/*.hits.npy $grid.csv
done
same string-grid.csv cell-grid.csv
[ "$(wc -l <string-grid.csv)" -gt 10 ] || fail "$(wc -l <string-grid.csv) lines of hits of 300,000 modules"

# A block of KM3NeT: 115 lines with 18 modules of 31 PMTs, turned by 30 degrees from floor to floor.
awk 'BEGIN {
    pi = atan2(0, -1)
    print "49 v5\n0 9999999999\nUTM WGS84 32N 256500 4743000 -2440\n" 115 * 18
    for (l = 0; l < 115; ++l)
        for (f = 0; f < 18; ++f) {
            x = 23 * (l % 11); y = 23 * int(l / 11); z = 30 + 9 * f; turn = pi / 6 * f
            printf "%d %d %d %.3f %.3f %.3f 1 0 0 0 0 0 31\n", ++id, l + 1, f + 1, x, y, z
            for (p = 0; p < 31; ++p) {
                ring = p ? 1 + int((p - 1) / 6) : 0
                c = ring == 0 ? -1 : ring == 1 ? -0.847 : ring == 2 ? -0.556 : ring == 3 ? -0.296 : \
                    ring == 4 ? 0.296 : 0.558
                a = turn + pi / 3 * (p - 1) + (ring % 2 ? pi / 6 : 0)
                dx = sqrt(1 - c * c) * cos(a); dy = sqrt(1 - c * c) * sin(a)
                printf "%d %.3f %.3f %.3f %.4f %.4f %.4f 0 0\n", 31 * id + p, x + 0.2 * dx, y + 0.2 * dy, \
                       z + 0.2 * c, dx, dy, c
            }
        }
}' >block.detx
printf '300 0.9\n600 1.1\n' >ratio
cat >block.yaml <<END
detector:
  file: block.detx
  oversize: 5
  types:
    km3: { shape: sphere, radius: 0.2159, beta: 0.5, pmt_radius: 0.0381, angular_polynomial: [1, 0.4, 0.6], acceptance_ratio: ratio }
workload: { kind: point, position: [113, 115, 100], steps: 300, photons_per_step: 100 }
light: { acceptance: standard }
stages: { detect: pmt-place }
END
expect 0 "$ICESTREAM" validate block.yaml
says out "type     km3: 2070 modules, sphere, radius 0.2159 m" "31 PMTs" \
    "acceptance by the cosine to a PMT: maximum 1, mean 0.416667" "acceptance by wavelength: 0.9 .. 1.1 of that of the light"
expect 0 "$ICESTREAM" run block.yaml -s sink.directory=block --quiet

# Single PMTs have their own acceptance: the upper one detects only a little blue light, and none that comes from its side.
printf '300 0.02\n600 0.01\n' >weak
cat >own.yaml <<END
detector:
  layout: hex86
  oversize: 16
  types:
    degg: { shape: spheroid, radius: 0.150, half_height: 0.267, pmt_radius: 0.1, acceptance_ratio: ratio,
            pmts: [[180, 0], { zenith: 0, azimuth: 0, acceptance_ratio: weak, angular_polynomial: [1, 0, 0, 1] }] }
workload: { kind: point, position: [5, 5, 0], steps: 300, photons_per_step: 3000 }
light: { acceptance: standard }
stages: { detect: pmt-place }
END
expect 0 "$ICESTREAM" validate own.yaml
says out "1 PMTs give their own acceptance" "acceptance by wavelength: 0.9 .. 1.1 of that of the light"
prints "\"acceptance_ratio\": \"$PWD/weak\", \"angular_polynomial\": [1, 0, 0, 1]" validate own.yaml --print-effective
expect 0 "$ICESTREAM" run own.yaml -s sink.directory=own --quiet

# Transit times from a table: the same hits, later or earlier by times of the table, with all schedules alike.
printf 'time,counts\n-20,1\n-18,0\n-2,40\n0,50\n3,0\n30,9\n35,0\n' >transit.csv
sed 's/acceptance_ratio: ratio,/transit_times: transit.csv, &/' own.yaml >late.yaml
prints "transit times from a table: -20 .. 35 ns, mean 3.085 ns" validate late.yaml
expect 0 "$ICESTREAM" run late.yaml -s sink.directory=late --quiet
expect 0 "$ICESTREAM" run late.yaml -s sink.directory=later -s graph.schedule=thread-per-step -s device.threads=3 --quiet
cmp late/*.hits.npy later/*.hits.npy || fail "transit times depend on the schedule"

# Many different PMTs of every type saw light, and none that does not exist.
"$python" - <<'END' || fail "hits of PMTs"
import csv, glob, numpy
types = {(int(r["string"]), int(r["module"])): r["type"] for r in csv.DictReader(open("gen2.csv"))}
hits = numpy.load(glob.glob("gen2/*.hits.npy")[0])
seen = {}
for hit in hits:
    seen.setdefault(types[int(hit["string"]), int(hit["module"])], set()).add(int(hit["pmt"]))
assert len(hits) > 300, len(hits)
assert {name: max(pmts) for name, pmts in seen.items()} == {"degg": 1, "mdom": 23, "lom16": 15}, seen
assert all(min(pmts) == 0 for pmts in seen.values()), seen
pmts = numpy.load(glob.glob("block/*.hits.npy")[0])["pmt"]
assert len(pmts) > 300 and set(pmts.tolist()) == set(range(31)), (len(pmts), sorted(set(pmts.tolist())))
counts = numpy.bincount(numpy.load(glob.glob("own/*.hits.npy")[0])["pmt"], minlength=2)
early, late = (numpy.load(glob.glob(name + "/*.hits.npy")[0]) for name in ("own", "late"))
names = ["event_id", "step_id", "photon_id", "string", "module"]
early, late = (numpy.sort(hits, order=names) for hits in (early, late))
assert (early[names] == late[names]).all() and (early["pmt"] == late["pmt"]).all()
shift = late["t"] - early["t"]
found = numpy.array([((shift >= low - 0.01) & (shift <= high + 0.01)).sum() for low, high in ((-20, -18), (-2, 0), (0, 3), (30, 35))])
expected = len(shift) * numpy.array([1, 40, 50, 9]) / 100
assert len(shift) <= found.sum() <= 1.02 * len(shift), (found, len(shift))  # 0.01 ns around the edges
# Chi-square of 3 degrees of freedom; it exceeds 30 with a probability of 1.4e-6.
assert ((found - expected) ** 2 / expected).sum() < 30, (found, expected)
assert counts[0] > 300 and counts[1] < 0.05 * counts[0], counts
END
finish
