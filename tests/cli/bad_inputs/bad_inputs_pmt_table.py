"""Cases for bad_inputs.py: tables of effective areas (detect: pmt-table). To join: one more area(name, data, message)
for the file, or kind(name, type, message) for the type in YAML."""

import math
import struct

from bad_inputs_files import case

HEAD = b"pmt,zenith,azimuth,area\n"


def kind(name, yaml, says, data=HEAD, variant="pmt-table"):
    case("tables of effective areas", name,
        "validate -s light.acceptance=standard -s stages.detect=%s -s 'detector.types={m: {%s}}'" % (variant, yaml), 2, says,
        {"a.csv": data})


def area(name, data, says, pmts="[[180, 0]]"):
    kind(name, "shape: sphere, radius: 0.2, pmts: %s, table: a.csv" % pmts, says, data)


def rows(pmts=(0,), zeniths=range(0, 181, 30), azimuths=(0,), value="0.01"):
    lines = [f"{p},{z},{a},{value}" for z in zeniths for a in azimuths for p in pmts]
    return HEAD + "\n".join(lines).encode() + b"\n"


def npy(kind, shape, count=None):
    """An array of NumPy in which every number is 0.01 as <f8."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n" % (kind, shape)
    count = math.prod(shape) if count is None else count
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<d", 0.01) * count


def array(body, name, data, says):
    case("tables of effective areas", name,
        "validate -s light.acceptance=standard -s stages.detect=pmt-table -s 'detector.types={m: {%spmts: [[0, 0]], table: a.npy}}'" % body,
        2, says, {"a.npy": data})


def pmt_table_cases():
    good = rows()
    area("empty", b"", "a.csv: error: found no rows of numbers, expected columns pmt,zenith,azimuth,area or pmt,x,y,z,area")
    area("a head alone", HEAD, "a.csv: error: found no rows of numbers")
    area("zeros of binary", bytes(300), "a.csv: error: found ")
    area("no head", b"0,0,0,0.01\n", "a.csv:1:1: error: found column '0', expected columns pmt,zenith")
    area("a file of OMSim", b"# Phi(deg)\tTheta(deg)\n0\t30\t12.5\n", "a.csv:2:1: error: found column '0', expected columns pmt,zenith,azimuth,area")
    area("no areas", b"pmt,zenith,azimuth\n0,0,0\n", "a.csv:1: error: found no column 'area'")
    area("no PMTs in the table", b"zenith,azimuth,area\n0,0,0\n", "a.csv:1: error: found no column 'pmt'")
    area("no direction", b"pmt,area\n0,0.01\n", "found 0 of the columns zenith and azimuth and 0 of x, y and z, expected the two angles, or the three numbers")
    area("zenith without azimuth", b"pmt,zenith,area\n0,0,0.01\n", "found 1 of the columns zenith and azimuth and 0 of x, y and z")
    area("angles and a vector", b"pmt,zenith,azimuth,x,y,z,area\n0,0,0,0,0,1,0.01\n", "found 2 of the columns zenith and azimuth and 3 of x, y and z")
    area("half a vector", b"pmt,x,y,area\n0,0,1,0.01\n", "found 0 of the columns zenith and azimuth and 2 of x, y and z")
    area("a short vector", b"pmt,x,y,z,area\n0,0,0,0.5,0.01\n", "a.csv:2: error: found a direction of length 0.5, expected a unit vector")
    area("a vector of zeros", b"pmt,x,y,z,area\n0,0,0,0,0.01\n", "a.csv:2: error: found a direction of length 0, expected a unit vector")
    area("a zenith of 181", good + b"0,181,0,0.01\n", "a.csv:9: error: found zenith 181, azimuth 0, expected 0 .. 180 and -360 .. 360 degrees")
    area("an azimuth of 400", good + b"0,90,400,0.01\n", "a.csv:9: error: found zenith 90, azimuth 400, expected 0 .. 180")
    area("an area below 0", good.replace(b"90,0,0.01", b"90,0,-0.01"), "a.csv:5: error: area: found -0.01, expected 0 .. 100 m2")
    area("an area of nan", good.replace(b"90,0,0.01", b"90,0,nan"), "a.csv:5:8: error: area: found 'nan', expected a finite number")
    area("an area of 1e999", good.replace(b"90,0,0.01", b"90,0,1e999"), "a.csv:5:8: error: area: found '1e999', expected a")
    area("an area in cm2", rows(value="100"),
         "a.csv:2: error: area: found 100 m2 as the sum of all PMTs at zenith 0, azimuth 0, expected at most 1.257 m2, 10 times the area")
    area("areas of 0", rows(value="0"), "a.csv: error: found no area above 1e-12 m2, expected those of the PMTs")
    area("a PMT that the type lacks", rows((0, 1)), "a.csv:3: error: pmt: found 1, expected a whole number from 0 to 0, one of the PMTs of the type")
    area("PMTs that count from 1", rows((1,)), "a.csv:2: error: pmt: found 1, expected a whole number from 0 to 0")
    area("half a PMT", good.replace(b"0,90,", b"0.5,90,"), "a.csv:5: error: pmt: found 0.5, expected a whole number")
    area("a PMT below 0", good.replace(b"0,90,", b"-1,90,"), "a.csv:5: error: pmt: found -1, expected a whole number")
    area("a PMT without rows", good, "a.csv:2: error: found no row of PMT 1 at zenith 0, azimuth 0, expected a row for each of the 2 PMTs", "[[180, 0], [0, 0]]")
    area("a direction that a PMT lacks", rows((0, 1)).replace(b"1,90,0,0.01\n", b""),
         "found no row of PMT 1 at zenith 90, azimuth 0", "[[180, 0], [0, 0]]")
    area("a direction twice", good + b"0,90,0,0.01\n", "a.csv:9: error: found PMT 0 at zenith 90, azimuth 0 again, expected every direction of a PMT once")
    area("0 and 360 degrees", rows(azimuths=(0, 90, 180, 270, 360)), "again, expected every direction of a PMT once; 0 and 360 degrees of azimuth are the same")
    area("half a sphere", rows(zeniths=range(90, 181, 30)), "a.csv: error: found no direction between zenith 0 and 90, expected steps of at most 30 degrees")
    area("a cut table", rows(zeniths=range(0, 121, 30)), "a.csv: error: found no direction between zenith 120 and 180")
    area("one direction", b"pmt,x,y,z,area\n0,1,0,0,0.01\n", "found no direction between zenith 0 and 90")
    area("few azimuths", rows(azimuths=(0, 90)), "a.csv: error: zenith 30: found no direction between azimuth 90 and 360, expected steps of at most 90 degrees, or one direction on every ring")
    area("a row cut short", good + b"0,90\n", "a.csv:9: error: found 2 columns, expected 4 as in the first line")
    ball = "shape: sphere, radius: 0.2, "
    array(ball, "an empty array", b"", "a.npy: error: found no whole header, expected an array of NumPy")
    array(ball, "CSV with the name of an array", good, "a.npy: error: found no whole header, expected an array of NumPy")
    array(ball, "an array of whole numbers", npy("<i8", (1, 48)), "a.npy: error: found another type of numbers, expected '<f8' or '<f4'")
    array(ball, "an array of three axes", npy("<f8", (1, 48, 1)), "a.npy: error: found another shape, expected two numbers: PMTs and pixels")
    array(ball, "pixels before PMTs", npy("<f8", (48, 1)), "a.npy: error: found the shape (48, 1), expected 1 rows, one for each PMT of the type")
    array(ball, "50 pixels", npy("<f8", (1, 50)), "a.npy: error: found 50 pixels, expected 12 n^2 with a whole number n")
    array(ball, "1e12 pixels", npy("<f8", (1, 12 * 10**12), 8), "expected 12 n^2 with a whole number n, as HEALPix has, and at most 4000000")
    array(ball, "a cut array", npy("<f8", (1, 48))[:-100], "a.npy: error: found 284 bytes of numbers, expected 384")
    array(ball, "12 pixels", npy("<f8", (1, 12)), "a.npy: error: found no direction between zenith 0 and 48.1897, expected steps of at most 30 degrees")
    array(ball, "pixels of nan", npy("<f8", (1, 48)).replace(b"\x7b\x14\xae\x47\xe1\x7a\x84\x3f", b"\0\0\0\0\0\0\xf8\x7f", 1),
          "a.npy: error: PMT 0, pixel 0: found nan, expected 0 .. 100 m2")
    kind("no file", ball + "pmts: [[0, 0]], table: none.csv", "none.csv: error: No such file or directory")
    kind("a list as table", ball + "pmts: [[0, 0]], table: [a.csv]", "table: found a list of 1, expected the name of a file that is CSV or .npy")
    kind("a table without PMTs", ball + "table: a.csv", "table: found no pmts, expected the PMTs of the type, which the rows of the table name by their numbers")
    kind("light along an open cylinder", "shape: cylinder, radius: 0.1, half_height: 0.5, open_ends: true, pmts: [[90, 0]], table: a.csv",
         "a.csv:2: error: area: found 0.01 m2 as the sum of all PMTs at zenith 0, azimuth 0, expected at most 0 m2", good)
    kind("pmt-table without a table", ball + "pmts: [[0, 0]]", "pmt-table needs the effective areas of the PMTs, and the type m has none; expected table in detector.types")
    case("tables of effective areas", "pmt-table without types", "validate -s stages.detect=pmt-table", 2,
         "stages.detect: pmt-table needs types of modules with PMTs, and there are none")
    kind("a table and PMTs of efficiency 0", ball + "pmts: [{zenith: 0, azimuth: 0, efficiency: 0}], table: a.csv",
         "pmt-table: found no type with a PMT whose efficiency is above 0", good)
