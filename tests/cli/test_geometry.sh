#!/usr/bin/env bash
# Promises: `icestream geometry` writes the modules of a run as a table that detector.file reads, and the
# detector that is read back has the same digest. With --pmts and as .npy the table has the true places of all PMTs, in
# the detector and in its file. OBJ and VTP hold modules, PMTs and cables as closed triangles of the right size:
# icestream reads the OBJ as a mesh again, and the arrays of the VTP agree with each other.
source "$(dirname "$0")/common.bash"

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
expect 2 "$ICESTREAM" geometry types.yaml --pmts -o pmts.obj
says err "--pmts: is for .csv and .npy; found pmts.obj"
expect 2 "$ICESTREAM" geometry types.yaml -o pmts.h5
# geo-f2k counts z from the surface.
printf 'AA 0x1 1.5 2.5 -1950.07 7 1\n' >geo-f2k
expect 0 "$ICESTREAM" geometry -s detector.file=geo-f2k --pmts
says out "7,1,-1,,1.5,2.5,-2,1.5,2.5,-1950.07,0,0,1,0.165"

# ---- triangles -----------------------------------------------------------------------------------
command -v python3 >/dev/null || skip "python3 is missing"
expect 0 "$ICESTREAM" geometry types.yaml -o types.obj
expect 0 "$ICESTREAM" geometry types.yaml -o types.vtp
python3 - <<'END' || fail "tables or triangles"
import base64, csv, math, struct, xml.etree.ElementTree as xml

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


def volumes(points, triangles):
    """Six times the volume of each group, about the first point of the group."""
    sums = {}
    for key, corners in triangles:
        total, origin = sums.setdefault(key, [0, points[corners[0]]])
        a, b, c = ([points[i][n] - origin[n] for n in range(3)] for i in corners)
        sums[key][0] = total + (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
                                + a[2] * (b[0] * c[1] - b[1] * c[0]))
    return {key: total / 6 for key, (total, origin) in sums.items()}


def check(volume, ball, egg, pill, tube, cable):
    """A polyhedron within a body is a little smaller: at most 4 % with 24 sides and 12 steps."""
    for key, true in ((ball, 4 / 3 * math.pi * 0.2**3), (egg, 4 / 3 * math.pi * 0.15**2 * 0.27),
                      (pill, math.pi * 0.18**2 * (4 / 3 * 0.18 + 0.24)), (tube, math.pi * 0.1**2 * 0.8),
                      (cable, 0.9003 * math.pi * 0.02**2 * (17 - 0.2 - 0.27))):
        assert 0.95 < volume[key] / true < 1.0001, (key, volume[key], true)


points, triangles, name, material = [None], [], "", ""
for line in open("types.obj"):
    word, *rest = line.split()
    if word == "v":
        points.append([float(x) for x in rest])
    elif word == "o":
        name = rest[0]
    elif word == "usemtl":
        material = rest[0]
    elif word == "f":
        triangles.append(((name, material), [int(x) for x in rest]))
assert {m for (_, m), _ in triangles} == {"glass", "cable", "pmt_0", "pmt_1", "pmt_2"}
check(volumes(points, triangles), ("string_1_module_1", "glass"), ("string_1_module_2", "glass"),
      ("string_2_module_1", "glass"), ("string_3_module_1", "glass"), ("string_1_cable_0", "cable"))
# The middle of PMT 1 of the pill is one millimetre before the glass.
middle = [float(rows[5][k]) + 0.001 * float(rows[5]["d" + k]) for k in "xyz"]
assert min(math.dist(p, middle) for p in points[1:]) < 1e-6

(piece,) = xml.parse("types.vtp").getroot().iter("Piece")
arrays = {}
for array in piece.iter("DataArray"):
    raw = base64.b64decode(array.text)
    (size,) = struct.unpack_from("<Q", raw)
    assert size == len(raw) - 8, (array.get("Name"), size, len(raw))
    letter = {"Float64": "d", "Int32": "i", "UInt16": "H", "Int16": "h"}[array.get("type")]
    arrays[array.get("Name")] = struct.unpack("<%d%s" % (size // struct.calcsize(letter), letter), raw[8:])
count = int(piece.get("NumberOfPolys"))
assert count == len(triangles) and piece.get("NumberOfVerts") == piece.get("NumberOfLines") == "0"
assert len(arrays["points (m)"]) == 3 * int(piece.get("NumberOfPoints")) == 3 * (len(points) - 1)
assert arrays["offsets"] == tuple(range(3, 3 * count + 1, 3))
points = [arrays["points (m)"][3 * i : 3 * i + 3] for i in range(len(points) - 1)]
corners = arrays["connectivity"]
triangles = [(arrays["string"][i] + arrays["module"][i] * 100 + arrays["part"][i] * 10000, corners[3 * i : 3 * i + 3])
             for i in range(count)]
check(volumes(points, triangles), 1 + 100 - 10000, 1 + 200 - 10000, 2 + 100 - 10000, 3 + 100 - 10000, 1 - 30000)
END

# Photons may fly through what was written: the program reads the OBJ of one module by Assimp as a type.
"$ICESTREAM" --version --verbose | grep -q "^Assimp: none" && finish
printf 'string,module,x,y,z,type\n2,1,0,0,0,pill\n' >one.csv
expect 0 "$ICESTREAM" geometry types.yaml -s detector.file=one.csv -s detector.string_cables=none -o one.obj
triangles=$(grep -c "^f " one.obj)
again='m: {shape: mesh, radius: 0.31, mesh: one.obj, parts: {pmt_0: 0, pmt_1: 1, pmt_2: 2, "*": glass}, pmts: [[180, 0], [60, 30], [90, 120]]}'
expect 0 "$ICESTREAM" validate -s detector.file=one.csv -s "detector.types={pill: ${again#m: }}"
says out "pill: 1 modules, mesh" "$triangles triangles, at most 0.301 m" "3 PMTs"
finish
