#!/usr/bin/env bash
# Promises: `icestream geometry` writes the modules of a run as a table that detector.file reads, and the
# detector that is read back has the same digest. With --pmts and as .npy the table has the true places of all PMTs, in
# the detector and in its file.
source "$(dirname "$0")/../common.bash"

expect 0 "$ICESTREAM" geometry
says out "string,module,x,y,z,efficiency" "43,1,0,0,501.5,1"
is_empty err
[ "$(wc -l <out)" -eq 5161 ] || fail "$(wc -l <out) lines instead of 5161"

printf 'detector: {dense: true, jitter: true}\n' >dense.yaml
expect 0 "$ICESTREAM" geometry dense.yaml -o modules.csv
is_empty out
expect 0 "$ICESTREAM" validate dense.yaml
grep -i "digest" -A 4 out | grep "^ *detector " >first
expect 0 "$ICESTREAM" validate -s detector.file=modules.csv
grep -i "digest" -A 4 out | grep "^ *detector " >second
[ -s first ] || fail "validate prints no digest of the detector"
same first second

expect 74 "$ICESTREAM" geometry dense.yaml -o modules.csv
expect 0 "$ICESTREAM" geometry dense.yaml -o modules.csv --force
expect 2 "$ICESTREAM" geometry -s detector.file=none.csv

# ---- PMTs ----------------------------------------------------------------------------------------
cat >types.yaml <<'END'
detector:
  file: types.csv
  string_cables: straight
  cable_radius: 0.02
  types:
    ball: { shape: sphere, radius: 0.2, pmts: [{ zenith: 90, azimuth: 0, radius: 0.05 }] }
    egg: { shape: spheroid, radius: 0.15, half_height: 0.27 }
    pill: { shape: capsule, radius: 0.18, half_height: 0.3, pmts: [[180, 0], [60, 30], [90, 120]], pmt_radius: 0.04 }
    tube: { shape: cylinder, radius: 0.1, half_height: 0.4 }
    open: { shape: cylinder, radius: 0.1, half_height: 0.4, open_ends: true }
END
printf 'string,module,x,y,z,type,roll\n1,1,0,0,0,ball,90\n1,2,0,0,-17,egg,0\n2,1,3,0,5,pill,0\n' >types.csv
printf '3,1,6,0,0,tube,0\n4,1,9,0,0,open,0\n' >>types.csv
expect 0 "$ICESTREAM" geometry types.yaml --pmts -o pmts.csv
says pmts.csv "string,module,pmt,type,x,y,z,file_x,file_y,file_z,dx,dy,dz,radius,area" "1,2,-1,egg,0,0,-17,0,0,-17,0,0,1,0.27"
expect 0 "$ICESTREAM" geometry types.yaml -o pmts.npy
expect 2 "$ICESTREAM" geometry types.yaml -o types.obj
says err "types.obj: the ending .obj of geometry left in version 0.3.0; use icestream.scene.surfaces() in Python"
expect 2 "$ICESTREAM" geometry types.yaml -o pmts.h5
# geo-f2k counts z from the surface.
printf 'AA 0x1 1.5 2.5 -1950.07 7 1\n' >geo-f2k
prints "7,1,-1,,1.5,2.5,-2,1.5,2.5,-1950.07,0,0,1,0.165" geometry -s detector.file=geo-f2k --pmts

command -v python3 >/dev/null || skip "python3 is missing"
python3 - <<'END' || fail "the tables"
import csv, struct

rows = list(csv.DictReader(open("pmts.csv")))
assert [(r["string"], r["pmt"]) for r in rows] == [("1", "-1"), ("1", "0"), ("1", "-1")] + [
    ("2", str(p)) for p in range(-1, 3)] + [("3", "-1"), ("4", "-1")]
place = [float(rows[1][k]) for k in ("x", "y", "z", "dx", "dy", "dz", "radius")]  # +x, rolled by 90 degrees: +y
assert all(abs(a - b) < 1e-6 for a, b in zip(place, (0, 0.2, 0, 0, 1, 0, 0.05))), place

data = open("pmts.npy", "rb").read()
for k, row in enumerate(rows):
    r = struct.unpack_from("<7d4f3Hh", data, 1024 + 80 * k)
    listed = [float(row[n]) for n in ("x", "y", "z", "file_x", "file_y", "file_z", "area", "dx", "dy", "dz", "radius")]
    assert all(abs(a - b) <= 1e-6 for a, b in zip(r, listed)), (r, listed)
    assert r[11:13] + r[14:] == (int(row["string"]), int(row["module"]), int(row["pmt"])), (r, row)
assert int(data[21:41]) == len(rows)

END
finish
