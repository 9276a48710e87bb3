#!/usr/bin/env bash
# Promises: cables between modules take the light that they hide, and no other: the hits of a run with cables are
# hits of the same run without them, and as many are missing as a cable hides by its geometry. All searches give
# the same hits. Cables of no width change no hit.
source "$(dirname "$0")/../common.bash"
command -v python3 >/dev/null || skip "python3 is missing"

printf 'string,module,x,y,z\n1,1,0,0,17\n1,2,0,0,0\n1,3,0,0,-17\n2,1,9,9,0\n2,2,9,9,-17\n' >modules.csv
run() {
    expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s detector.keep_hit_photons=false -s detector.file=modules.csv -s ice.model=uniform -s workload.kind=point \
        -s 'workload.position=[3, 0, 0]' -s workload.steps=1500 -s workload.photons_per_step=400 \
        -s "sink.directory=$1" "${@:2}"
    expect 0 "$ICESTREAM" convert "$1"/*.hits.npy "$1.csv"
}

run none
run thin -s detector.string_cables=side -s detector.cable_radius=1e-9
same none.csv thin.csv
# The cables hang between the light and the modules.
run front -s detector.string_cables=side
run behind -s detector.string_cables=side -s detector.string_cable_azimuth=180
# As wide as can be, so that the searches find many.
thick=(-s detector.string_cables=straight -s detector.cable_radius=1)
run thick "${thick[@]}"
run brute "${thick[@]}" -s stages.collide=brute-force
run cells "${thick[@]}" -s stages.collide=cell-grid
same thick.csv brute.csv
same thick.csv cells.csv
prints "cables   3 between modules of strings, radius 1 m" validate -s detector.file=modules.csv "${thick[@]}"

python3 - <<'END' || fail "hits with cables"
import csv
from math import cos, hypot, pi, sin, sqrt

rows = {name: {tuple(row.items()) for row in csv.DictReader(open(name + ".csv"))}
        for name in ("none", "front", "behind", "thick")}
assert all(hits < rows["none"] for name, hits in rows.items() if name != "none"), "a hit that is none without cables"

def direct(name):
    """How many photons reached the module next to the light without a scatter."""
    hits = map(dict, rows[name])
    return sum((row["string"], row["module"], row["scatters"]) == ("1", "2", "0") for row in hits)

# The share that a cable at (radius + cable, 0) hides from light at (distance, 0). A photon that meets the wider
# module stands for the line in its direction whose impact vector is shorter by the oversize.
distance, radius, cable, oversize, n = 3, 0.1651, 0.023, 5, 300
lowest = sqrt(1 - (oversize * radius / distance) ** 2)
hidden = 0
for i in range(n):
    c = 1 - (1 - lowest) * (i + 0.5) / n
    s = sqrt(1 - c * c)
    for k in range(n):
        nx, ny = -c, s * cos(2 * pi * (k + 0.5) / n)
        x, y = distance * s * s / oversize - radius - cable, distance * c * ny / oversize
        hidden += abs(x * ny - y * nx) < cable * hypot(nx, ny)
expected, all_hits = hidden / n**2, direct("none")
found = 1 - direct("front") / all_hits
sigma = sqrt(expected * (1 - expected) / all_hits)
print(f"{all_hits} direct hits; the cable takes {found:.4f}, expected {expected:.4f} +- {sigma:.4f}")
# 4.4 sigma: false alarms 1e-5, and the seed is fixed. The grid of directions is exact within 0.002.
assert abs(found - expected) < 4.4 * sigma + 0.002 and all_hits > 2000
assert direct("behind") == all_hits, "a cable behind the module takes direct light"
END
finish
