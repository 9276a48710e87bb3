"""Cases for bad_inputs.py: configuration, ice, detector, light."""

from bad_inputs_files import case, folder, link, locked, npy, pipe, sparse, step

# ---- configuration -------------------------------------------------------------------------------


def configuration(name, text, says, exit_status=2):
    data = text.encode() if isinstance(text, str) else text
    case("configuration", name, "validate run.yaml", exit_status, says, {"run.yaml": data})


def configuration_cases():
    configuration(
        "a mapping that does not end",
        "run: {seed: 1",
        ["run.yaml:2:1: error: did not find expected ',' or '}'"],
    )
    configuration(
        "a list at the top", "[1, 2]", ["run.yaml:1:1: error:", "found a list", "mapping"]
    )
    configuration("a word at the top", "hello", ["run.yaml:1:1: error:", "'hello'"])
    configuration("tabs as indentation", "run:\n\tseed: 1\n", ["run.yaml:2:1: error:", "tabs"])
    configuration(
        "a tag", "run: {seed: !!int 1}", ["run.yaml:1:13: error:", "tags are not supported"]
    )
    configuration(
        "two documents",
        "run: {seed: 1}\n---\nrun: {seed: 2}\n",
        ["run.yaml:2:1: error:", "second document"],
    )
    configuration(
        "an unknown key",
        "graph: {scedule: auto}",
        ["run.yaml:1:9: error:", "graph.scedule", "did you mean 'graph.schedule'?"],
    )
    configuration(
        "a key twice",
        "run: {seed: 1, seed: 2}",
        ["run.yaml:1:16: error:", "'seed' is given twice, first at run.yaml:1:7"],
    )
    configuration(
        "a section twice",
        "run: {seed: 1}\nrun: {seed: 2}\n",
        ["run.yaml:2:1: error:", "'run' is given twice"],
    )
    configuration(
        "a key with a dot", "graph.schedule: auto", ["run.yaml:1:1: error:", "graph: {schedule"]
    )
    configuration(
        "a list as a key", "? [a, b]\n: 1\n", ["run.yaml:1:3: error:", "a key must be a word"]
    )
    configuration(
        "a merge key",
        "run: &a {seed: 1}\ngraph: {<<: *a}\n",
        ["run.yaml:2:9: error:", "merge keys"],
    )
    configuration(
        "text for a number",
        "run: {seed: one}",
        ["run.yaml:1:13: error:", "run.seed: found 'one', expected a whole number"],
    )
    configuration("a negative seed", "run: {seed: -1}", ["run.seed: found '-1', expected"])
    configuration(
        "a seed beyond 64 bits",
        "run: {seed: 18446744073709551616}",
        ["run.seed: found '18446744073709551616', expected"],
    )
    configuration(
        "an exponent without end",
        "run: {seed: 1e999999999999999999999}",
        ["run.seed: found '1e999999999999999999999'"],
    )
    configuration(
        "a fraction for a whole number", "graph: {pool: 1000.5}", ["graph.pool: found '1000.5'"]
    )
    configuration(
        "a quoted number", "run: {seed: '1'}", ["run.seed: found", "expected a whole number"]
    )
    configuration(
        "a pool of 2^29",
        "graph: {pool: 536870912}",
        ["graph.pool: found '536870912', expected a whole number from 16 to 268435456"],
    )
    configuration("no threads", "device: {threads: 0}", ["device.threads: found '0', expected"])
    configuration("oversize NaN", "detector: {oversize: .nan}", ["detector.oversize: found '.nan'"])
    configuration(
        "oversize infinite", "detector: {oversize: 1e400}", ["detector.oversize: found '1e400'"]
    )
    configuration(
        "a radius of zero", "detector: {radius: 0}", ["detector.radius: found '0', expected"]
    )
    configuration(
        "a scalar for a section", "graph: fast", ["run.yaml:1:8: error:", "graph: found 'fast'"]
    )
    configuration("a mapping for a scalar", "run: {seed: {a: 1}}", ["run.seed: found a mapping"])
    configuration(
        "two kinds of ice",
        "ice: {model: uniform, file: a.yaml}",
        ["only one of", "ice.file", "ice.model"],
    )
    configuration(
        "absorbing planes upside down",
        "ice: {absorb_above: -10, absorb_below: 10}",
        ["ice.absorb_above", "expected it above ice.absorb_below"],
    )
    configuration(
        "an excluded module that is not there",
        "detector: {excluded: [[87, 1]]}",
        ["detector.excluded: found [87, 1], expected a module of hex86"],
    )
    configuration(
        "an excluded module of three numbers",
        "detector: {excluded: [[1, 2, 3]]}",
        ["detector.excluded: found", "expected [string, module]"],
    )
    configuration(
        "a spectrum without light",
        "light: {spectra: [{}]}",
        ["run.yaml:1:19: error: the key 'line' is missing"],
    )
    configuration(
        "a line outside the band", "light: {spectra: [{line: 800}]}", ["line: found '800'"]
    )
    configuration(
        "250 spectra",
        "light: {spectra: [%s]}" % ", ".join(["{line: 400}"] * 250),
        ["light.spectra", "at most 249"],
    )
    configuration(
        "standard input twice", 'source: {files: ["-", "-"]}', ["source.files", "only once"]
    )
    configuration(
        "no source", "source: {files: []}", ["source.files: found", "expected a list of paths"]
    )
    configuration(
        "a GPU schedule on the CPU",
        "device: {backend: cpu}\ngraph: {schedule: fused}\n",
        ["graph.schedule: 'fused' needs a GPU"],
    )
    configuration(
        "an unknown anchor", "run: {seed: *a}", ["run.yaml:1:13: error:", "unknown anchor '*a'"]
    )
    configuration("an anchor in itself", "source: &a {files: [*a]}", ["contains itself"])
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 12):
        bomb += "a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 10))
    configuration("an alias bomb", bomb, ["run.yaml:", "too many values"])
    configuration(
        "2000 anchors", "".join("k%d: &k%d 1\n" % (i, i) for i in range(2000)), ["anchors"]
    )
    configuration(
        "brackets without end", "[" * 1000000, ["run.yaml:1:33: error:", "nested deeper than 32"]
    )
    configuration("mappings inside each other", "{a: " * 100000, ["nested deeper than 32 levels"])
    configuration("a word of 8 MiB", "x" * (8 << 20), ["run.yaml:1:1: error:"])
    configuration("a key of 100 000 letters", "k" * 100000 + ": 1\n", ["run.yaml:1"])
    configuration("1 000 001 values", "[" + "1," * 1000001 + "]", ["run.yaml:", "too many values"])
    configuration(
        "300 000 %TAG directives",
        "".join("%%TAG !%x! x\n" % i for i in range(300000)) + "--- {}\n",
        ["run.yaml:1:1: error:", "%TAG"],
    )
    configuration(
        "200 000 unknown keys",
        "".join("%040d: 1\n" % i for i in range(200000)),
        ["run.yaml:1:1: error: unknown key", "more errors"],
    )
    configuration("a NUL", b"run: {seed: 1}\n\0", ["run.yaml:2:1: error:", "0x00"])
    configuration("an escaped NUL", 'ice: {file: "a\\0b"}', ["run.yaml:1:13: error:", "NUL"])
    configuration(
        "not UTF-8",
        b"run: {seed: \xff\xfe}\n",
        ["run.yaml:1:13: error:", "not valid UTF-8", "0xFF"],
    )
    configuration(
        "UTF-16", "run: {seed: 1}".encode("utf-16"), ["run.yaml:1:1: error:", "not valid UTF-8"]
    )
    configuration("binary junk", bytes(range(256)) * 16, ["run.yaml:1:1: error:"])
    case(
        "configuration",
        "a word that is a .npy file",
        "validate run.yaml",
        2,
        ["run.yaml:1:1: error:"],
        {"run.yaml": npy(step())},
    )
    case(
        "configuration",
        "not there",
        "run run.yaml",
        2,
        "run.yaml: error: cannot open the file: No such file",
    )
    case(
        "configuration",
        "a folder",
        "run run.yaml",
        2,
        "run.yaml: error: found a folder",
        {"run.yaml": folder()},
    )
    case(
        "configuration",
        "a pipe",
        "run run.yaml",
        2,
        "run.yaml: error: found a pipe",
        {"run.yaml": pipe()},
    )
    case(
        "configuration",
        "a device without end",
        "run run.yaml",
        2,
        "run.yaml: error: found a pipe",
        {"run.yaml": link("/dev/zero")},
    )
    case(
        "configuration",
        "a link to itself",
        "run run.yaml",
        2,
        "run.yaml: error: cannot open the file: Too many levels",
        {"run.yaml": link("run.yaml")},
    )
    case(
        "configuration",
        "unreadable",
        "run run.yaml",
        2,
        "run.yaml: error: cannot open the file: Permission denied",
        {"run.yaml": locked(b"run: {seed: 1}")},
        unprivileged=True,
    )
    case(
        "configuration",
        "17 MiB",
        "run run.yaml",
        2,
        "expected at most 16777216",
        {"run.yaml": sparse(b"run: {}\n", 17 << 20)},
    )
    # The empty file is a run with all defaults: it fails for want of steps.
    case(
        "configuration",
        "empty",
        "run run.yaml",
        2,
        "steps/*.steps.npy: found no file of that pattern",
        {"run.yaml": b""},
    )


# ---- ice -----------------------------------------------------------------------------------------

PARAMETERS = b"0.9 0\n1.08 0\n6954 0\n6618 0\n"
SETTINGS = b"1\n1\n0.35\n0.9\n"
LAYERS = b"1000 0.04 0.01 0\n1010 0.05 0.02 0\n1020 0.04 0.01 0\n"
PPC = {"ice/icemodel.par": PARAMETERS, "ice/cfg.txt": SETTINGS, "ice/icemodel.dat": LAYERS}


def ppc(name, says, leave_out=(), **files):
    """A good ppc folder with some files replaced: icemodel_dat=b"..."."""
    content = {**PPC, **{"ice/" + key.replace("_", "."): value for key, value in files.items()}}
    for key in leave_out:
        del content[key]
    case("ice (ppc folder)", name, "validate -s ice.directory=ice", 2, says, content)


def ice_file(name, text, says, **files):
    case(
        "ice (YAML, CSV)",
        name,
        "validate -s ice.file=ice.yaml",
        2,
        says,
        {
            "ice.yaml": text.encode(),
            **{key.replace("_", "."): value for key, value in files.items()},
        },
    )


def ice_csv(name, data, says):
    ice_file("CSV: " + name, "layers: {file: layers.csv}", says, layers_csv=data)


def ice_cases():
    case(
        "ice (ppc folder)",
        "not there",
        "validate -s ice.directory=ice",
        2,
        "error: ice.directory: ice: No such file",
    )
    case(
        "ice (ppc folder)",
        "a file",
        "validate -s ice.directory=ice",
        2,
        "ice: error: found a file",
        {"ice": b""},
    )
    case(
        "ice (ppc folder)",
        "empty",
        "validate -s ice.directory=ice",
        2,
        [
            "ice/icemodel.par: error: No such file",
            "ice/cfg.txt: error: No such file",
            "ice/icemodel.dat: error: No such file",
        ],
        {"ice": folder()},
    )
    for name in sorted(PPC):
        ppc("without " + name[4:], name + ": error: No such file", leave_out=[name])
    ppc(
        "icemodel.dat is a folder", "ice/icemodel.dat: error: found a folder", icemodel_dat=folder()
    )
    ppc(
        "icemodel.dat is a pipe",
        "ice/icemodel.dat: error: found a device or pipe",
        icemodel_dat=pipe(),
    )
    ppc("icemodel.dat is empty", ["ice/icemodel.dat: error: found no rows"], icemodel_dat=b"")
    ppc(
        "a row cut short",
        ["ice/icemodel.dat:2: error: found 2 columns"],
        icemodel_dat=b"1000 0.04 0.01 0\n1010 0.0",
    )
    ppc(
        "NaN in a layer",
        ["ice/icemodel.dat:2:6: error: column 2: found 'nan', expected a finite number"],
        icemodel_dat=b"1000 0.04 0.01 0\n1010 nan 0.01 0\n",
    )
    ppc(
        "infinity in a layer",
        ["ice/icemodel.dat:1:6: error: column 2: found '1e999'"],
        icemodel_dat=b"1000 1e999 0.01 0\n",
    )
    ppc(
        "negative scattering",
        ["ice/icemodel.dat:1: error: be400: found -0.04"],
        icemodel_dat=b"1000 -0.04 0.01 0\n",
    )
    ppc(
        "depths that fall",
        ["ice/icemodel.dat:2: error: depth: found 990, expected increasing depths"],
        icemodel_dat=b"1000 0.04 0.01 0\n990 0.04 0.01 0\n",
    )
    ppc(
        "depths at unequal distances",
        ["ice/icemodel.dat:3: error: depth: found 1025", "equal spacing"],
        icemodel_dat=b"1000 0.04 0.01 0\n1010 0.04 0.01 0\n1025 0.04 0.01 0\n",
    )
    ppc(
        "nine columns",
        ["ice/icemodel.dat:1: error: found 9 columns"],
        icemodel_dat=b"1000 0.04 0.01 0 1 2 3 4 5\n",
    )
    ppc(
        "5000 layers",
        ["ice/icemodel.dat:4097: error: found more than 4096 rows"],
        icemodel_dat=b"".join(b"%d 0.04 0.01 0\n" % (i + 1) for i in range(5000)),
    )
    ppc(
        "words instead of numbers",
        ["ice/icemodel.dat:1:1: error: column 1: found 'depth'"],
        icemodel_dat=b"depth be400 adust400 dtau\n",
    )
    ppc(
        "a line without end",
        ["ice/icemodel.dat:1: error: found 1 columns"],
        icemodel_dat=b"9" * (4 << 20),
    )
    ppc("binary junk", ["ice/icemodel.dat:"], icemodel_dat=bytes(range(256)) * 16)
    ppc(
        "three parameters",
        ["ice/icemodel.par: error: found 3 rows, expected 4"],
        icemodel_par=b"0.9 0\n1.08 0\n6954 0\n",
    )
    ppc(
        "a parameter out of range",
        ["ice/icemodel.par:1: error: alpha: found 900"],
        icemodel_par=b"900 0\n1.08 0\n6954 0\n6618 0\n",
    )
    ppc(
        "five settings",
        ["ice/cfg.txt: error: found 5 numbers, expected 4, 7"],
        cfg_txt=b"1\n1\n0.35\n0.9\n0\n",
    )
    ppc(
        "a mean cosine of 1",
        ["ice/cfg.txt:4: error: mean_cosine: found 1"],
        cfg_txt=b"1\n1\n0.35\n1\n",
    )
    ppc(
        "bubbles without depths",
        ["ice/icemodel.bbl: error: found 1 numbers, expected 3"],
        icemodel_bbl=b"0.1\n",
    )
    ppc(
        "a wavelength table that falls",
        ["ice/wv.dat:2: error:", "does not fall"],
        wv_dat=b"0.5 300\n0.1 400\n1 500\n",
    )
    ppc(
        "an angular acceptance of words",
        ["ice/as.dat:1:1: error: maximum: found 'high'"],
        as_dat=b"high\n",
    )
    ice_file(
        "without layers", "name: mine", ["ice.yaml:1:1: error:", "the key 'layers' is missing"]
    )
    ice_file(
        "an empty name",
        'name: ""\nlayers: [[1000, 0.04, 0.01, 0]]',
        [
            'ice.yaml:1:7: error: name: found the quoted text ""',
            "expected a text that is not empty",
        ],
    )
    ice_file("no layer", "layers: []", ["ice.yaml:1:9: error: layers: found"])
    ice_file(
        "a layer of three numbers",
        "layers: [[1000, 0.04, 0.01]]",
        ["ice.yaml:1:10: error: layers[0]"],
    )
    ice_file(
        "a layer with a word",
        "layers: [[1000, clear, 0.01, 0]]",
        ["layers[0].be400: found 'clear'"],
    )
    ice_file(
        "no absorption",
        "layers: [[1000, 0.04, 0, 0]]\nabsorption_a: 0\n",
        ["absorption: found 0, expected more than 0"],
    )
    ice_file(
        "a mean cosine of 2",
        "layers: [[1000, 0.04, 0.01, 0]]\nmean_cosine: 2\n",
        ["ice.yaml:2:14: error: mean_cosine: found 2"],
    )
    ice_file(
        "an unknown key", "layers: [[1000, 0.04, 0.01, 0]]\nalhpa: 1\n", ["did you mean 'alpha'?"]
    )
    ice_file(
        "a table that is not there", "layers: {file: none.csv}", ["none.csv: error: No such file"]
    )
    header = b"depth_m,be400_per_m,adust400_per_m,delta_tau_K\n"
    ice_csv(
        "another header",
        b"a,b,c,d\n1,2,3,4\n",
        ["layers.csv:1:1: error: found column 'a'", "depth_m"],
    )
    ice_csv(
        "a column missing",
        b"depth_m,be400_per_m,delta_tau_K\n1000,0.04,0\n",
        ["layers.csv:1: error: found no column 'adust400_per_m'"],
    )
    ice_csv(
        "a column twice",
        b"depth_m,depth_m,be400_per_m,adust400_per_m,delta_tau_K\n1,1,1,1,1\n",
        ["layers.csv:1:9: error: found column depth_m twice"],
    )
    ice_csv(
        "an empty field",
        header + b"1000,,0.01,0\n",
        ["layers.csv:2:6: error: be400_per_m: found ''"],
    )
    ice_csv(
        "a field too many",
        header + b"1000,0.04,0.01,0,0\n",
        ["layers.csv:2: error: found 5 columns"],
    )
    ice_csv("only the header", header, ["layers.csv: error: found no rows"])
    ice_csv(
        "1000 columns",
        b",".join([b"depth_m"] * 1000) + b"\n",
        ["layers.csv:1: error: found 1000 columns"],
    )


# ---- geometry and light --------------------------------------------------------------------------


def geometry(name, data, says, ending="detector.csv", exit_status=2):
    case(
        "detector (geo-f2k)" if ending.endswith("f2k") else "detector (CSV)",
        name,
        "validate -s detector.file=" + ending,
        exit_status,
        says,
        {ending: data},
    )


def geometry_cases():
    header = b"string,module,x,y,z\n"
    geometry("empty", b"", "detector.csv: error: found no rows of numbers")
    geometry("only the header", header, "detector.csv: error: found no rows of numbers")
    geometry(
        "another header",
        b"om,tube,x,y,z\n1,1,0,0,0\n",
        "detector.csv:1:1: error: found column 'om'",
    )
    geometry("a column missing", b"string,module,x,y\n1,1,0,0\n", "found no column 'z'")
    geometry(
        "a module twice",
        header + b"1,1,0,0,0\n1,1,0,0,50\n",
        "detector.csv:3: error: found string 1, module 1 again (first on line 2)",
    )
    geometry(
        "modules inside each other",
        header + b"1,1,0,0,0\n1,2,0,0,0.1\n",
        "detector.csv:3: error: string 1, module 2: found 0.1 m from string 1, module 1 (line 2)",
    )
    geometry("NaN", header + b"1,1,nan,0,0\n", "detector.csv:2:5: error: x: found 'nan'")
    geometry("infinity", header + b"1,1,0,0,-inf\n", "detector.csv:2:9: error: z: found '-inf'")
    geometry(
        "100 km away", header + b"1,1,100000,0,0\n", "x: found 100000 m, expected -10000 .. 10000 m"
    )
    geometry(
        "string 65536", header + b"65536,1,0,0,0\n", "string: found 65536, expected a whole number"
    )
    geometry("module 1.5", header + b"1,1.5,0,0,0\n", "module: found 1.5, expected a whole number")
    geometry(
        "an efficiency of 0",
        b"string,module,x,y,z,efficiency\n1,1,0,0,0,0\n",
        "efficiency: found 0",
    )
    geometry(
        "a line cut short", header + b"1,1,0,0,0\n1,2,0", "detector.csv:3: error: found 3 columns"
    )
    geometry("binary junk", bytes(range(256)) * 16, "detector.csv:")
    geometry("not there", link("nowhere"), "error: detector.file: detector.csv: No such file")
    geometry("a folder", folder(), "detector.csv: error: found a folder")
    geometry(
        "a device without end", link("/dev/zero"), "detector.csv: error: found a device or pipe"
    )
    geo = "geo-f2k"
    geometry("empty", b"", "geo-f2k: error: found no modules in the deep ice", geo)
    geometry(
        "no module in the ice",
        b"A 0x1 0 0 0 1 61\nB 0x2 0 0 0 1 64\n",
        "geo-f2k: error: found no modules in the deep ice",
        geo,
    )
    geometry("six fields", b"A 0x1 0 0 0 1\n", "geo-f2k:1: error: found 6 fields, expected 7", geo)
    geometry(
        "a module twice",
        b"A 0x1 0 0 0 1 1\nB 0x2 50 0 0 1 1\n",
        "geo-f2k:2: error: found string 1",
        geo,
    )
    geometry(
        "modules inside each other",
        b"A 0x1 0 0 0 1 1\nB 0x2 0 0 0.2 1 2\n",
        "geo-f2k:2: error: string 1, module 2: found 0.2 m",
        geo,
    )
    geometry(
        "a word for a coordinate",
        b"A 0x1 0 zero 0 1 1\n",
        "geo-f2k:1:9: error: y: found 'zero'",
        geo,
    )

    def spectrum(name, data, says):
        case(
            "light",
            name,
            "validate -s 'light.spectra=[{file: led.txt}]'",
            2,
            says,
            {"led.txt": data},
        )

    spectrum("one point", b"400 1\n", "led.txt: error: found one point, expected at least two")
    spectrum(
        "wavelengths that fall",
        b"400 1\n390 1\n",
        "led.txt:2: error: wavelength: found 390 after 400",
    )
    spectrum(
        "nothing but zeros", b"400 0\n410 0\n", "led.txt: error: density: found nothing but zeros"
    )
    spectrum("a negative density", b"400 -1\n410 1\n", "led.txt:1: error: density: found -1")
    spectrum("an infrared lamp", b"900 1\n910 1\n", "led.txt:1: error: wavelength: found 900")
    case(
        "light",
        "an acceptance that is not there",
        "validate -s light.acceptance=none.dat",
        2,
        "error: light.acceptance: none.dat: No such file",
    )
