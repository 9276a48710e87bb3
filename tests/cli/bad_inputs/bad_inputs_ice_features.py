"""Cases for bad_inputs.py: tilt, anisotropy, birefringence and hole ice. To join: one more line() for a tilt along
a line, tilt_map() for a tilt map, or ppc() for another file of a ppc folder."""

from bad_inputs_files import case, folder, named, pipe
from bad_inputs_ice import PPC

GROUP = "ice (tilt, crystals, holes)"

STATIONS = b"7 -100\n86 0\n9 50\n"
SHIFTS = b"1000 1 0 -2\n1020 2 0 -3\n"
AXES = b"10 -100 100 3 2\n130 -100 110 3 2\n"
MAP = b"1000 1 2 3 4 5 6 7\n1010 -1 -2 -3 -4 -5 -6 -7\n"
BASICS = b"1\n1\n0.35\n0.9\n"
FLOW = BASICS + b"130\n0\n0\n"
HOLE = FLOW + b"0.5\n0.03\n100\n0.35\n0.9\n"
CRYSTALS = (
    HOLE
    + b"0.6\n-0.3\n-0.3\n0\n0.076795\n544284.545166\n2.229494\n0.002624\n"
    + b"0.077381\n1547618.883526\n2.449589\n0.002505\n0.000995\n0.248264\n2.354436\n1.680717\n"
)


def ppc(name, says, settings="", **files):
    """A good ppc folder with files added: tilt_par=b"..."."""
    content = {**PPC, **named(files, "ice/")}
    case(GROUP, name, "validate -s ice.directory=ice" + settings, 2, says, content)


def line(name, says, tilt_par=STATIONS, tilt_dat=SHIFTS):
    ppc(name, says, tilt_par=tilt_par, tilt_dat=tilt_dat)


def tilt_map(name, says, tilt_set=AXES, tilt_map=MAP):
    ppc(name, says, tilt_set=tilt_set, tilt_map=tilt_map)


def tilt_cases():
    ppc("columns and wide modules", "--set detector.oversize: error: detector.oversize: found 5 in ice with columns of hole ice",
        " -s detector.oversize=5", cfg_txt=HOLE)
    ppc("tilt.par alone", "ice/tilt.dat: error: No such file", tilt_par=STATIONS)
    ppc("tilt.map alone", "ice/tilt.set: error: No such file", tilt_map=MAP)
    line("tilt.par is empty", "ice/tilt.par: error: found no rows", tilt_par=b"")
    line("tilt.dat is a folder", "tilt.dat: error: found a folder", tilt_dat=folder())
    line("tilt.dat is a pipe", "tilt.dat: error: found a device or pipe", tilt_dat=pipe())
    line("stations that fall", "tilt.par:2: error: position: found -7", b"1 -5\n2 -7\n86 0\n")
    line("one station", "tilt.par:1: error: found one station", b"86 0\n")
    line("a column too few", ["tilt.dat:1: error: found 3 columns, expected 4", "3 stations of tilt.par"], tilt_dat=b"1000 1 0\n1020 2 0\n")
    line("a row cut short", "tilt.dat:2: error: found 2 columns", tilt_dat=b"1000 1 0 2\n1020 1\n")
    line("NaN in a tilt", "tilt.dat:1:8: error: column 3: found 'nan'", tilt_dat=b"1000 1 nan 2\n")
    line("depths of a tilt at unequal distances", "tilt.dat:3: error: depth: found 1040, expected 1020: equal steps of 10 m",
        tilt_dat=b"1000 1 0 2\n1010 2 0 2\n1040 1 0 2\n")
    line("one depth", "tilt.dat:1: error: found one depth", tilt_dat=b"1000 1 0 2\n")
    line("a tilt of 2 km", "tilt.dat:2: error: column 2: found a shift of 2000 m", tilt_dat=b"1000 1 0 2\n1010 2000 0 2\n")
    line("5000 depths", "tilt.dat:4097: error: found more than 4096 rows",
        tilt_dat=b"".join(b"%d 1 0 2\n" % depth for depth in range(1, 5001)))
    line("10000 stations", "found more than 511 rows", b"".join(b"1 %d\n" % i for i in range(10000)))
    line("binary junk as a tilt", "ice/tilt.dat:", tilt_dat=bytes(range(256)) * 16)
    tilt_map("one axis", "tilt.set: error: found one row, expected two axes", b"10 -100 100 3 2\n")
    tilt_map("axes in one direction", "tilt.set: error: azimuths: found 10 and 190", b"10 -100 100 3 2\n190 -100 110 3 2\n")
    tilt_map("a step of 0", "tilt.set:1: error: step: found 0", b"10 -100 0 3 2\n130 -100 110 3 2\n")
    tilt_map("a billion nodes", "tilt.set:1: error: number of nodes: found 1000000000", b"10 -100 100 1e9 2\n130 -100 110 1e9 2\n")
    tilt_map("a map that is no hexagon", "tilt.set: error: nodes and cuts: found 9, 2 and 3, 2", b"10 -100 100 9 2\n130 -100 110 3 2\n")
    tilt_map("a node without a column", ["tilt.map:1: error: found 7 columns, expected 8", "7 nodes of tilt.set"],
        tilt_map=b"1000 1 2 3 4 5 6\n1010 1 2 3 4 5 6\n")
    tilt_map("100000 columns", "tilt.map:1: error: found 100000 columns", tilt_map=b" ".join([b"1"] * 100000) + b"\n")
    ppc("an origin for a map", "ice.tilt_origin: found 3 m, but the tilt of this ice is a map", " -s ice.tilt_origin=3", tilt_set=AXES,
        tilt_map=MAP)


def settings_cases():
    def settings(name, says, text, **files):
        ppc(name, says, cfg_txt=text, **files)

    settings("a flow from nowhere", "cfg.txt:5: error: azimuth of the flow", BASICS + b"999\n0\n0\n")
    settings("an anisotropy of e^9", "cfg.txt:6: error: logarithm", BASICS + b"130\n9\n0\n")
    settings("a hole of -1", "cfg.txt:8: error: hole ice radius: found -1", FLOW + b"-1\n1\n1\n")
    settings("a hole that does not scatter", "cfg.txt:9: error: hole ice scattering length: found 0, expected more than 0 m",
        FLOW + b"1\n0\n1\n")
    settings("birefringence out of bounds", "cfg.txt:17: error: birefringence: found a deflection 'along' of 99 rad/sqrt(m)",
        HOLE + b"0\n0\n0\n0\n99\n0\n1\n1\n" + b"0\n" * 8)
    settings("less scattering than crystals do", ["icemodel.dat:1: error: scattering: found -", "at 700 nm"], CRYSTALS,
        icemodel_dat=b"1000 0.003 0.01 0\n")
    settings("a negative strength of birefringence", "icemodel.dat:1: error: birefringence: found -1", CRYSTALS,
        icemodel_dat=b"1000 0.03 0.01 0 0 0 -1\n")
    ppc("an unknown version", "version:1: error: version: found 15, expected 0", version=b"15\n")
    ppc("an empty version", "ice/version: error: found no number", version=b"\n")


def file_cases():
    layers = "layers: [[1000, 0.04, 0.01, 0]]\n"

    def file(name, text, says, **files):
        content = {key.replace("_", "."): value for key, value in files.items()}
        content["ice.yaml"] = (layers + text).encode()
        case(GROUP, name, "validate -s ice.file=ice.yaml", 2, says, content)

    file("stations without shifts", "tilt: {stations: a.par}", "ice.yaml:2:18: error: tilt.stations: needs tilt.shifts, too")
    file("two kinds of tilt", "tilt: {file: a.csv, axes: a.set, shifts: a.map}",
        "ice.yaml:2:27: error: only one of 'tilt.axes' and 'tilt.file' can be given")
    file("a tilt that is not there", "tilt: {file: tilt.csv}", "tilt.csv: error: No such file")
    file("a tilt with a hole", "tilt: {file: tilt.csv}", "tilt.csv:5: error: found depth 1010, position 9, expected depth 1010, position 5",
        tilt_csv=b"depth_m,position_m,shift_m\n1000,0,1\n1000,5,1\n1010,0,1\n1010,9,1\n")
    file("three numbers for four", "birefringence: {along: [1, 2, 3]}", "ice.yaml:2:24: error: birefringence.along: found a list of 3")
    file("a word for a logarithm", "anisotropy: [0.04, much]", "ice.yaml:2:20: error: anisotropy")


def switch_cases():
    def switches(name, settings, says):
        case(GROUP, name, "validate " + settings, 2, says)

    switches("an origin of a tilt that is off", "-s ice.tilt=false -s ice.tilt_origin=3",
        "ice.tilt_origin: is for a tilt, and ice.tilt is false")
    switches("an origin without a tilt", "-s ice.tilt_origin=3", "but this ice has no tilt")
    switches("subtraction for nothing", "-s ice.birefringence=false -s ice.birefringence_subtraction=scaled",
        "found scaled, and ice.birefringence is false: nothing is subtracted")
    switches("a misspelt switch", "-s ice.birefringance=false", "did you mean 'ice.birefringence'?")
    switches("a number for a switch", "-s ice.tilt=7", "ice.tilt: found '7', expected true or false")
