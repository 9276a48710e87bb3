#!/usr/bin/env bash
# Promises: detect: pmt-table runs end to end. With a table made from the formula of pmt-plane nearly all photo-electrons
# are those of pmt-plane; validate and geometry describe the table; the same areas in another order are the same detector;
# and a printed configuration has the path of the table.
source "$(dirname "$0")/../common.bash"

# Half-spheres (beta 0): a PMT turns (1 + x) / 2 of its area to light, x = the cosine to its axis. Without a radius two PMTs
# have 0.34 pi (0.1651 m)^2 each.
cat >run.yaml <<'END'
detector:
  file: modules.csv
  oversize: 5
  types:
    degg: { shape: spheroid, radius: 0.150, half_height: 0.267, beta: 0, pmts: [[180, 0], [0, 0]], table: tables/areas.csv }
workload: { kind: point, position: [3, 0, 1], steps: 300, photons_per_step: 200 }
light: { acceptance: standard }
END
printf 'string,module,x,y,z,type,zenith\n1,1,0,0,0,degg,0\n1,2,0,0,-17,degg,0\n2,1,20,0,0,degg,40\n' >modules.csv
mkdir tables
awk 'BEGIN {
    pi = atan2(0, -1)
    area = 0.34 * pi * 0.1651 * 0.1651
    print "pmt,zenith,azimuth,area"
    for (z = 0; z <= 180; ++z)
        for (p = 0; p < 2; ++p)
            printf "%d,%d,0,%.9g\n", p, z, area * (1 + (p ? 1 : -1) * cos(z * pi / 180)) / 2
}' >tables/areas.csv

expect 0 "$ICESTREAM" validate run.yaml -s stages.detect=pmt-table
says out "PMTs     pmt-table, largest value 0.41" \
    "effective areas in 181 directions on 181 rings; the largest of a PMT is 0.0291154 m2"
is_empty err
grep -A 2 "^digests" out >first
expect 0 "$ICESTREAM" geometry run.yaml --pmts -o pmts.csv
says pmts.csv "dx,dy,dz,radius,area" "1,1,-1,degg,0,0,0,0,0,0,0,0,1,0.267" ",0,-1,0,0.0291154"

# What is printed has the path of the table, and may be read in another folder.
expect 0 "$ICESTREAM" validate run.yaml --print-effective
says out '"table": "'"$PWD/tables/areas.csv"

# The order of rows does not matter, and one area does.
{ head -n 1 tables/areas.csv; tail -n +2 tables/areas.csv | sort -r; } >tables/turned.csv
expect 0 "$ICESTREAM" validate run.yaml -s stages.detect=pmt-table \
    -s 'detector.types={degg: {shape: spheroid, radius: 0.150, half_height: 0.267, beta: 0, pmts: [[180, 0], [0, 0]], table: tables/turned.csv}}'
grep -A 2 "^digests" out >second
same first second
cp tables/areas.csv kept.csv
sed -i 's/^1,90,0,.*/1,90,0,0.02/' tables/areas.csv
expect 0 "$ICESTREAM" validate run.yaml -s stages.detect=pmt-table
grep -A 2 "^digests" out >third
cmp -s first third && fail "another area has the same digest"
cp kept.csv tables/areas.csv

for variant in pmt-plane pmt-table; do
    expect 0 "$ICESTREAM" run -q run.yaml -s stages.detect=$variant -s sink.directory=$variant
    expect 0 "$ICESTREAM" convert $variant/*.hits.npy $variant.csv
done
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { key = $column["step_id"] "," $column["photon_id"] "," $column["module"] "," $column["pmt"] }
    NR == FNR { first[key] = 1; ++count; next }
    FNR > 1 { ++total; both += key in first; ++pmts[$column["pmt"]] }
    END {
        print count " photo-electrons by pmt-plane, " total " by pmt-table, " both " the same"
        exit !(count > 300 && both > 0.99 * count && both > 0.99 * total && length(pmts) == 2)
    }' pmt-plane.csv pmt-table.csv || fail "photo-electrons differ"

# The same type and table by om.conf and detector.om_tables.
printf 'degg 7 1 0 0.150 0.267 2 180 0\n 0 0\n' >om.conf
printf '1 1 7\n1 2 7\n2 1 7\n' >om.map
printf 'string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n2,1,20,0,0\n' >upright.csv
ppc=("${WIDE[@]}" -s stages.detect=pmt-table -s light.acceptance=standard -s detector.file=upright.csv -s detector.om_conf=om.conf -s detector.om_map=om.map
    -s 'detector.om_tables={degg: tables/areas.csv}' -s workload.kind=point -s 'workload.position=[3, 0, 1]'
    -s workload.steps=300)
prints "effective areas in 181 directions on 181 rings" validate "${ppc[@]}"
expect 0 "$ICESTREAM" validate "${ppc[@]}" --print-effective
says out 'om_tables: {"degg": "'"$PWD/tables/areas.csv"
expect 0 "$ICESTREAM" run -q "${ppc[@]}" -s sink.directory=ppc
expect 0 "$ICESTREAM" run -q run.yaml -s stages.detect=pmt-table -s detector.file=upright.csv -s sink.directory=own
for name in ppc own; do expect 0 "$ICESTREAM" convert $name/*.hits.npy $name.csv; done
same ppc.csv own.csv
expect 2 "$ICESTREAM" validate "${ppc[@]}" -s 'detector.om_tables={}'
says err "the type degg has none; expected table in detector.types, or a row of detector.om_tables"
finish
