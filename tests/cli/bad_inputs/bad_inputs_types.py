"""Cases for bad_inputs.py: types of modules, cables between them, om.conf, om.map and DETX. To join: one more
types(name, yaml, message), cables(...), conf(...), or detx(...)."""

from bad_inputs_files import case

ROWS = b"string,module,x,y,z\n1,1,0,0,0\n1,2,0,0,-17\n"


def types(name, yaml, says, files=None, more="", exit_status=2):
    run = "detector:\n  file: d.csv\n  types: " + yaml + "\n"
    case("types of modules", name, "validate r.yaml" + more, exit_status, says, {"d.csv": ROWS, "r.yaml": run.encode(), **(files or {})})


def rows(name, data, says):
    """A list of modules with one type, `a`."""
    run = b"detector:\n  file: d.csv\n  types: {a: {shape: sphere, radius: 0.2}, b: {shape: sphere, radius: 0.1}}\n"
    case("types of modules", name, "validate r.yaml", 2, says, {"d.csv": data, "r.yaml": run})


def cables(name, kind, says, more=""):
    wide = b"string,module,x,y,z\n1,1,0,0,0\n1,2,300,0,-17\n"
    case("cables between modules", name, "validate -s detector.file=d.csv -s detector.string_cables=" + kind + more, 2, says,
        {"d.csv": ROWS, "wide.csv": wide, "dx.dat": b"1 1 90 0\n"})


def conf(name, data, says, omap=b"1 1 1\n1 2 1\n"):
    case("om.conf", name, "validate -s detector.file=d.csv -s detector.om_conf=om.conf -s detector.om_map=om.map", 2, says,
        {"d.csv": ROWS, "om.conf": data, "om.map": omap})


def detx(name, data, says, more=""):
    case("DETX", name, "validate -s detector.file=d.detx" + more, 2, says, {"d.detx": data})


def type_cases():
    types("windows that pmt-place counts in another way", "{a: {shape: sphere, radius: 0.2, beta: 0.5, pmt_radius: 0.04, pmts: [[180, 0]], acceptance: standard}}",
        "type a: beta: found 0.5, with which pmt-plane detects 1.33 times as much light as pmt-place",
        more=" --print-effective -s stages.detect=pmt-plane", exit_status=0)
    types("a type in centimetres", "{a: {shape: sphere, radius: 3}}", "type a: found 3 m from its centre to its farthest point; usual: 0.1 to 0.7 m",
        more=" --print-effective", exit_status=0)
    types("a list", "[1]", "r.yaml:3:10: error: detector.types: found a list of 1, expected a mapping of names")
    types("no shape", "{a: {radius: 0.2}}", "shape")
    types("an unknown shape", "{a: {shape: box, radius: 1}}", "shape: found 'box', expected one of sphere, spheroid")
    types("a sphere with a height", "{a: {shape: sphere, radius: 1, half_height: 1}}",
          "half_height: is not for a sphere, whose size is its radius")
    types("a spheroid without a height", "{a: {shape: spheroid, radius: 0.2}}", "found no half_height, which a spheroid needs")
    types("a flat capsule", "{a: {shape: capsule, radius: 0.2, half_height: 0.1}}",
          "half_height: found 0.1 m, expected at least the radius of the capsule, 0.2 m")
    types("open ends of a sphere", "{a: {shape: sphere, radius: 0.2, open_ends: true}}", "open_ends: is for cylinders")
    types("an unknown key", "{a: {shape: sphere, radius: 0.2, radious: 1}}", "unknown key 'radious', did you mean 'radius'?")
    types("a radius below 0", "{a: {shape: sphere, radius: -1}}", "radius: found '-1', expected a number from 0.001 to 10")
    types("a radius that is not finite", "{a: {shape: sphere, radius: .nan}}", "radius: found '.nan'")
    types("a type twice", "{a: {shape: sphere, radius: 0.2}, a: {shape: sphere, radius: 0.2}}", "the type 'a' is given twice")
    types("17 types", "{" + ", ".join(f"t{i}: {{shape: sphere, radius: 0.2}}" for i in range(17)) + "}",
          "detector.types: found 17 types, expected at most 16")
    types("a type that is a list", "{a: [1]}", "type a: found a list of 1, expected a mapping")
    types("a missing file of a type", "{a: none.yaml}", "none.yaml: error: cannot open the file")
    types("a file of a type that is no mapping", "{a: t.yaml}", "t.yaml:1:1: error: type a: found a list of 2", {"t.yaml": b"[1, 2]\n"})
    types("beta above 1", "{a: {shape: sphere, radius: 0.2, beta: 1.5}}", "beta: found '1.5', expected a number from 0 to 1")
    types("two numbers of an orientation", "{a: {shape: sphere, radius: 0.2, orientation: [1, 2]}}", "orientation: found a list of 2")
    pmts = "{a: {shape: sphere, radius: 0.2, pmts: %s}}"
    types("a PMT of three numbers", pmts % "[[1, 2, 3]]", "pmts: found a list of 3, expected [zenith, azimuth]")
    types("a PMT that is a word", pmts % "[up]", "pmts: found 'up', expected [zenith, azimuth]")
    types("a zenith of 200 degrees", pmts % "[[200, 0]]", "pmts: zenith: found '200', expected a number from 0 to 180")
    types("a PMT with one angle", pmts % "[{zenith: 1}]", "pmts: found one of zenith and azimuth, expected both, or none")
    types("a PMT with two coordinates", pmts % "[{x: 0.1, y: 0}]", "pmts: found some of x, y and z, expected all of them")
    types("a PMT outside its module", pmts % "[{x: 1, y: 0, z: 0}]", "pmts: found a position outside the module")
    types("a PMT in the centre", pmts % "[{x: 0, y: 0, z: 0}]", "pmts: found a position in the centre")
    types("an empty PMT", pmts % "[{}]", "pmts: found neither a direction nor a position")
    types("an unknown key of a PMT", pmts % "[{zenit: 1}]", "pmts: unknown key 'zenit', expected some of zenith")
    types("a key of a PMT twice", pmts % "[{zenith: 1, zenith: 2, azimuth: 0}]", "pmts: the key 'zenith' is given twice")
    types("a file of PMTs out of range", pmts % "p.csv", "p.csv:2: error: zenith: found 999, expected 0 .. 180", {"p.csv": b"zenith,azimuth\n999,0\n"})
    types("a file of PMTs with an unknown column", pmts % "p.csv", "p.csv:1:1: error: found column 'tube'", {"p.csv": b"tube\n1\n"})
    types("detect without PMTs", "{a: {shape: sphere, radius: 0.2}}", "found no type with a PMT whose efficiency is above 0",
          more=" -s stages.detect=pmt-plane -s light.acceptance=standard")
    types("pmt-place without a radius", pmts % "[[0, 0]]", "pmt-place needs the radius of every PMT's window",
          more=" -s stages.detect=pmt-place -s light.acceptance=standard")
    qe = "[[0, 0]], acceptance: qe.csv"
    types("pmt-plane and an efficiency without a radius", pmts % qe, "pmt-plane needs the radius of every PMT's window",
          {"qe.csv": b"300,0.1\n400,0.25\n"}, more=" -s stages.detect=pmt-plane")
    types("an efficiency with another factor", pmts % qe, "qe.csv:1:15: error: found column 'ce', expected columns of wavelengths",
          {"qe.csv": b"wavelength,qe,ce\n300,0.1,0.9\n400,0.25,0.9\n"})
    types("a window deep inside its module", pmts % "[{x: 0, y: 0, z: 0.17, radius: 0.04}], acceptance: standard",
          "found the middle of PMT 0 of the type a 0.03 m from the surface", more=" --print-effective -s stages.detect=pmt-place", exit_status=0)
    for variant in "pmt-plane", "pmt-place":
        types("%s and a type without an acceptance" % variant, pmts % "[[0, 0], [180, 0]], pmt_radius: 0.04",
              variant + " makes photo-electrons, and the type a does not say which share of the light its PMTs detect; expected acceptance in the type",
              more=" -s stages.detect=" + variant)
    types("pe and a type with two PMTs", pmts % "[[0, 0], [180, 0]]", "found pe, which takes a module for one PMT that looks down, and the type a has 2 PMTs; expected pmt-place",
          more=" -s stages.detect=pe")
    types("pe and a PMT that looks up", pmts % "[[0, 0]]", "the type a has 1 PMT that looks elsewhere; expected pmt-place", more=" -s stages.detect=pe")
    types("an acceptance that is a list", pmts % "[[0, 0]], acceptance: [0.2]", "acceptance: found a list of 1, expected the name of a file")
    types("an acceptance of PMTs like wv.dat", pmts % "[[0, 0]], acceptance: wv.dat", "wv.dat: error: acceptance: found ppc's cumulative form",
          {"wv.dat": b"0 300\n0.5 400\n1 500\n"})
    types("an acceptance of PMTs with swapped columns", pmts % "[[0, 0]], acceptance: q.csv", "q.csv:1: error: found 0.2 in the column of wavelengths",
          {"q.csv": b"0.2,400\n0.1,500\n"})
    accepts = "{a: {shape: sphere, radius: 0.2, pmts: [{zenith: 0, azimuth: 0, radius: 0.05}], %s}}"
    types("one number as angular polynomial of PMTs", accepts % "angular_polynomial: [1]",
          "angular_polynomial: found a list of 1, expected a list of the maximum and 1 to 16 coefficients")
    types("an edge as angular polynomial of PMTs", accepts % "angular_polynomial: [0, 0.5]", "angular_polynomial: found the maximum 0, expected more than 0")
    types("an angular polynomial of PMTs above its maximum", accepts % "angular_polynomial: [0.5, 0, 1]",
          "r.yaml:3:110: error: angular acceptance: found 1 at a cosine of 1, expected at most its maximum, 0.5")
    types("an angular polynomial of PMTs of nan", accepts % "angular_polynomial: [1, .nan]", "angular_polynomial: found '.nan', expected a number from -1e+06")
    types("ratios of PMTs that are a list", accepts % "acceptance_ratio: [1]", "acceptance_ratio: found a list of 1, expected the name of a file")
    types("ratios of PMTs without a file", accepts % "acceptance_ratio: none.dat", "none.dat: error: No such file or directory")
    types("a ratio of PMTs of 0", accepts % "acceptance_ratio: q.dat", "q.dat:1: error: ratio: found 0, expected more than 0, at most 100", {"q.dat": b"400 0\n"})
    types("ratios of PMTs at 200 nm", accepts % "acceptance_ratio: q.dat", "q.dat:1: error: wavelength: found 200, expected 250 .. 700 nm", {"q.dat": b"200 1\n"})
    single = "{a: {shape: sphere, radius: 0.2, pmts: [{zenith: 0, azimuth: 0, radius: 0.05, %s}]}}"
    types("one number as angular polynomial of one PMT", single % "angular_polynomial: 1",
          "angular_polynomial: found '1', expected a list of the maximum and 1 to 16 coefficients")
    types("an angular polynomial of one PMT above its maximum", single % "angular_polynomial: [0.5, 0, 1]",
          "error: angular acceptance: found 1 at a cosine of 1, expected at most its maximum, 0.5")
    types("an acceptance of one PMT given twice", single % "acceptance_ratio: q.dat, acceptance_ratio: q.dat",
          "pmts: the key 'acceptance_ratio' is given twice", {"q.dat": b"400 1\n"})
    types("ratios of one PMT without a file", single % "acceptance_ratio: none.dat", "none.dat: error: No such file or directory")
    types("ratios of one PMT that fall in wavelength", single % "acceptance_ratio: q.dat", "q.dat:2: error: wavelength: found 400 after 500",
          {"q.dat": b"500 1\n400 1\n"})
    times = "{a: {shape: sphere, radius: 0.2, pmts: [[0, 0]], transit_times: t.csv}}"
    for name, data, says in (
        ("no rows", b"time,density\n", "t.csv: error: found no rows of numbers, expected columns time,density or time,counts"),
        ("an empty file", b"", "t.csv: error: found no rows of numbers, expected columns time,density or time,counts"),
        ("one row", b"time,density\n0,1\n", "t.csv: error: found one row, expected at least two"),
        ("a density below 0", b"time,density\n0,1\n1,-1\n", "t.csv:3: error: density: found -1, expected 0 .. 1e+30"),
        ("counts below 0", b"time,counts\n0,-2\n1,0\n", "t.csv:2: error: counts: found -2, expected 0 .. 1e+30"),
        ("a density of nan", b"time,density\n0,nan\n1,0\n", "t.csv:2:3: error: density: found 'nan', expected a finite number"),
        ("a time that is not finite", b"time,density\n0,1\n1e999,0\n", "t.csv:3:1: error: time: found '1e999', expected a finite number"),
        ("a time of a second", b"time,density\n0,1\n1e9,0\n", "t.csv:3: error: time: found 1000000000, expected -1e+06 .. 1e+06 ns"),
        ("times that fall", b"time,density\n1,1\n0,1\n", "t.csv:3: error: time: found 0 after 1, expected ascending times"),
        ("a time twice", b"time,density\n1,1\n1,2\n2,0\n", "t.csv:3: error: time: found 1 after 1, expected ascending times"),
        ("zeros alone", b"time,density\n0,0\n1,0\n", "t.csv: error: density: found at most 0 in all rows, expected at least 1e-30 in some"),
        ("counts without an end", b"time,counts\n0,1\n1,1\n", "t.csv:3: error: counts: found 1 in the last row, which only ends the bin before, expected 0"),
        ("density and counts", b"time,density,counts\n0,1,1\n1,0,0\n", "t.csv: error: found both columns density and counts, expected one"),
        ("times alone", b"time\n0\n1\n", "t.csv: error: found none of the columns density and counts, expected one"),
        ("an unknown column", b"time,share\n0,1\n", "t.csv:1:6: error: found column 'share', expected columns time,density or time,counts"),
        ("no header", b"0,1\n1,0\n", "t.csv:1:1: error: found column '0', expected columns time,density or time,counts"),
    ):
        types("transit times with " + name, times, says, {"t.csv": data})
    types("transit times without a file", times, "t.csv: error: No such file or directory")
    types("transit times that are a list", "{a: {shape: sphere, radius: 0.2, pmts: [[0, 0]], transit_times: [1, 2]}}",
          "transit_times: found a list of 2, expected the name of a file")
    types("transit times and a spread of a PMT", single % "spread: 1, transit_times: t.csv",
          "transit_times: found a spread of 1 ns, too, expected one of both", {"t.csv": b"time,density\n0,1\n1,0\n"})
    types("transit times of a type and a spread of a PMT",
          "{a: {shape: sphere, radius: 0.2, pmts: [[0, 0], {zenith: 9, azimuth: 0, spread: 2}], transit_times: t.csv}}",
          "transit_times: found PMT 1 with a spread of 2 ns, too, expected one of both", {"t.csv": b"time,density\n0,1\n1,0\n"})
    types("types that overlap", "{a: {shape: cylinder, radius: 0.1, half_height: 8.6}}", "twice the reach of the largest type")
    cables("an unknown kind of cables", "slack", "detector.string_cables: found 'slack', expected one of none, straight, side")
    cables("a cable at 400 degrees", "side", "string_cable_azimuth: found '400'", " -s detector.string_cable_azimuth=400")
    cables("an azimuth of straight cables", "straight", "string_cable_azimuth: is for detector.string_cables: side, which is not given",
           " -s detector.string_cable_azimuth=90")
    cables("cables of no width", "straight", "detector.cable_radius: found 0 m, expected more than 0", " -s detector.cable_radius=0")
    cables("cables without room", "straight", "string 1: found modules 2 and 1 so close to each other that no cable fits",
           " -s detector.radius=8.5")
    cables("cables and their shadows", "side", "detector.cables gives 1 module the shadow of a cable", " -s detector.cables=dx.dat")
    cables("neighbours of a string far apart", "side",
           "found modules 2 and 1 more than 80 m apart as seen from above, expected at most 80 m", " -s detector.file=wide.csv")
    case("types of modules", "detect without types", "validate -s stages.detect=pmt-plane", 2,
         "stages.detect: pmt-plane needs types of modules with PMTs, and there are none")

    rows("a list without types", ROWS, "string 1, module 1: found no type, expected one of a, b in the column type")
    header = b"string,module,x,y,z,type"
    rows("an unknown type", header + b"\n1,1,0,0,0,c\n", "d.csv:2:11: error: type: found 'c', expected a type of the configuration: a, b")
    rows("a short quaternion", header + b",qw,qx,qy,qz\n1,1,0,0,0,a,0.5,0,0,0\n", "found the quaternion 0.5, 0, 0, 0, expected one of length 1")
    rows("two orientations", header + b",qw,roll\n1,1,0,0,0,a,1,30\n", "found a quaternion and angles")
    rows("a roll of 400 degrees", header + b",roll\n1,1,0,0,0,a,400\n", "roll: found 400, expected -360 .. 360 degrees")
    case("types of modules", "orientations without types", "validate -s detector.file=d.csv", 2,
        "d.csv:2: error: found an orientation, and there are no types of modules", {"d.csv": b"string,module,x,y,z,roll\n1,1,0,0,0,30\n"})

    good = b"DOM 1 1 0.5 0.1651 0.1651 1 180 0\n"
    conf("empty", b"# nothing\n", "om.conf: error: found no type, expected rows of name, module")
    conf("a row of five fields", b"DOM 1 1 0.5 0.1651\n", "om.conf:1: error: found 5 fields, expected 9 or 10")
    conf("beta between both kinds of windows", b"WOM 1 1 -0.5 0.1 -0.5 1 180 0\n", "beta: found -0.5, expected 0 .. 1")
    conf("too few directions", b"D 1 1 0.5 0.15 0.267 3 180 0\n 0 0\n", "om.conf:1: error: found 2 directions of PMTs, expected 3")
    conf("a flat body", b"D 1 1 0.5 0.15 0 1 180 0\n", "Rz: found 0, expected 0.001 .. 10 m, or less than 0")
    conf("half a PMT", b"D 1 1 0.5 0.15 0.2 0.5 180 0\n", "num: found 0.5, expected a whole number from 1 to 1023")
    conf("a type twice", good + good, "om.conf:2:1: error: found the type 'DOM' again")
    conf("a number twice", good + good.replace(b"DOM", b"D2"), "module: found 1 again, expected every number once")
    conf("a zenith of -1", good.replace(b"180", b"-1"), "found zenith -1, azimuth 0, expected 0 .. 180")
    conf("an unknown number in om.map", good, "om.map:1: error: type: found 3, expected the number of a type in om.conf", b"1 1 3\n1 2 1\n")
    conf("modules that om.map lacks", good, "found no row of 1 modules (first: string 1, module 2)", b"1 1 1\n")

    case("om.conf", "om.map without om.conf", "validate -s detector.file=d.csv -s detector.om_map=om.map", 2,
         "detector.om_map: has the numbers of types of om.conf, which is not given", {"d.csv": ROWS, "om.map": b"1 1 1\n"})
    tables = "validate -s detector.file=d.csv -s detector.om_conf=om.conf -s detector.om_map=om.map -s 'detector.om_tables=%s'"
    files = {"d.csv": ROWS, "om.conf": good, "om.map": b"1 1 1\n1 2 1\n", "a.csv": b"x"}
    for name, value, says in (
        ("tables that are a list", "[a.csv]", "detector.om_tables: found a list of 1, expected a mapping of names of types to files"),
        ("a table of an unknown type", "{WOM: a.csv}", "detector.om_tables: found 'WOM', expected a type of om.conf: DOM"),
        ("two tables of a type", "{DOM: a.csv, DOM: a.csv}", "detector.om_tables: the type 'DOM' is given twice"),
        ("a table that is a list", "{DOM: [1]}", "table: found a list of 1, expected the name of a file that is CSV or .npy"),
        ("a table that is none", "{DOM: a.csv}", "a.csv:1: error: found no column 'pmt', expected columns pmt,zenith,azimuth,area"),
    ):
        case("om.conf", name, tables % value, 2, says, files)
    case("om.conf", "tables without om.conf", "validate -s detector.file=d.csv -s 'detector.om_tables={DOM: a.csv}'", 2,
         "detector.om_tables: is about types of om.conf, which is not used; expected detector.om_conf, too", files)
    for name, data, says in (
        ("no om.wv file", None, "./om.wv_1.0: error: found no such file, expected rows of wavelength (nm) and effective area (cm2)"),
        ("wavelengths of om.wv that fall", b"400 20\n350 30\n", "om.wv_1.0:2:1: error: wavelength: found 350, expected ascending numbers"),
        ("an area of om.wv below 0", b"350 20\n400 -1\n", "om.wv_1.0:2: error: effective area: found -1, expected 0 .. 1e+06 cm2"),
        ("one row of om.wv", b"350 20\n", "om.wv_1.0: error: found one row, expected at least two"),
        ("om.wv without light", b"350 0\n400 0\n", "om.wv_1.0: error: found no area above 0 from 250 to 700 nm"),
        ("three columns of om.wv", b"350 20 1\n400 20 1\n", "expected 2: wavelength (nm) and effective area (cm2)"),
    ):
        case("om.conf", name, "validate -s detector.file=d.csv -s detector.om_conf=om.conf -s detector.om_map=om.map -s stages.detect=pmt-plane", 2,
             says, {k: v for k, v in {**files, "om.wv_1.0": data}.items() if v is not None})
    types("om.conf and types", "{a: {shape: sphere, radius: 0.2}}", "detector.om_conf: is given, and so are detector.types",
          {"om.conf": good}, more=" -s detector.om_conf=om.conf")

    pmt = b"1 0 0 0.2 0 0 1 0\n2 0.2 0 0 1 0 0 0\n"
    detx("empty", b"", "found the end of the file, expected the number of the detector and the version")
    detx("version 9", b"1 v9\n", "d.detx:1:3: error: found version 'v9', expected v1 to v5")
    detx("no modules", b"1 0\n", "modules: found 0, expected a whole number from 1")
    detx("cut after the header", b"1 v2\n0 1\nUTM WGS84 32N 1 2 3\n1\n", "found the end of the file, expected a row of a module")
    detx("cut within PMTs", b"1 1\n1 1 1 2\n1 0 0 0.2 0 0 1 0\n", "found the end of the file, expected a row of a PMT")
    detx("a module of three fields", b"1 1\n1 1 1\n", "found 3 fields, expected 4 of a module in version 1")
    detx("a PMT of three fields", b"1 1\n1 1 1 1\n1 2 3\n", "found 3 fields, expected 8 of a PMT: id, x, y, z, dx, dy, dz, t0")
    detx("a direction of length 2", b"1 1\n1 1 1 1\n1 0 0 0.2 0 0 2 0\n", "a direction of length 2, expected a position within 1e7 m and a unit vector")
    detx("parallel axes", b"1 1\n1 1 1 1\n1 0 0 0.2 0 0 1 0\n", "found PMTs with parallel axes")
    detx("more PMTs than fit", b"1 1\n1 1 1 99999\n", "PMTs: found 99999, expected a whole number from 0 to 1023")
    detx("a sphere that is too small", b"1 1\n1 1 1 2\n" + pmt, "found a PMT 0.2 m away from the centre of its module")
    detx("rows after the last module", b"1 1\n1 1 1 2\n" + pmt + b"9 9\n", "found more rows, expected the end after 1 modules", " -s detector.radius=0.21")
    detx("two types", b"1 1\n1 1 1 2\n" + pmt, "found 2 types, expected one sphere",
         " -s 'detector.types={a: {shape: sphere, radius: 0.2}, b: {shape: sphere, radius: 0.3}}'")
