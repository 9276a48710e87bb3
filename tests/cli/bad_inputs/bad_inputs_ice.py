"""Cases for bad_inputs.py: layers of ice, in ppc folders, YAML files and CSV tables. To join: one more
ppc(), ice_file() or ice_csv() with the message. What ice has beyond its layers is in
bad_inputs_ice_features.py."""

from bad_inputs_files import case, folder, named, pipe

PARAMETERS = b"0.9 0\n1.08 0\n6954 0\n6618 0\n"
SETTINGS = b"1\n1\n0.35\n0.9\n"
LAYERS = b"1000 0.04 0.01 0\n1010 0.05 0.02 0\n1020 0.04 0.01 0\n"
PPC = {"ice/icemodel.par": PARAMETERS, "ice/cfg.txt": SETTINGS, "ice/icemodel.dat": LAYERS}


def ppc(name, says, leave_out=(), **files):
    """A good ppc folder with some files replaced: icemodel_dat=b"..."."""
    content = {**PPC, **named(files, "ice/")}
    for key in leave_out:
        del content[key]
    case("ice (ppc folder)", name, "validate -s ice.directory=ice", 2, says, content)


def ice_file(name, text, says, **files):
    case("ice (YAML, CSV)", name, "validate -s ice.file=ice.yaml", 2, says, {"ice.yaml": text.encode(), **named(files)})


def ice_csv(name, data, says):
    ice_file("CSV: " + name, "layers: {file: layers.csv}", says, layers_csv=data)


def ice_cases():
    case("ice (ppc folder)", "not there", "validate -s ice.directory=ice", 2, "error: ice.directory: ice: No such file")
    case("ice (ppc folder)", "a file", "validate -s ice.directory=ice", 2, "ice: error: found a file", {"ice": b""})
    case("ice (ppc folder)", "empty", "validate -s ice.directory=ice", 2,
        "ice: error: found no icemodel.dat, icemodel.par, cfg.txt, expected a ppc ice folder", {"ice": folder()})
    case("ice (ppc folder)", "a table of photonics", "validate -s ice.directory=ice", 2,
        "ice: error: found Ice_table.made.i3coords.txt, a table of photonics, which is not read",
        {"ice/Ice_table.made.i3coords.txt": b"NLAYER 1\n"})
    case("ice (ppc folder)", "water of a changed ppc", "validate -s ice.directory=ice", 2,
        "ice: error: found sca_len.dat and abs_len.dat, water of a changed ppc",
        {**PPC, "ice/sca_len.dat": b"400 50\n", "ice/abs_len.dat": b"400 60\n"})
    case("ice (ppc folder)", "the folder above", "validate -s ice.directory=models", 2,
        "models: error: found folders of ice, such as made, expected one of them", {"models/made/icemodel.dat": LAYERS})
    for name in sorted(PPC):
        ppc("without " + name[4:], "ice: error: found no " + name[4:] + ", expected a ppc ice folder", leave_out=[name])
    ppc("icemodel.dat is a folder", "ice/icemodel.dat: error: found a folder", icemodel_dat=folder())
    ppc("icemodel.dat is a pipe", "ice/icemodel.dat: error: found a device or pipe", icemodel_dat=pipe())
    ppc("icemodel.dat is empty", "ice/icemodel.dat: error: found no rows", icemodel_dat=b"")
    ppc("a row cut short", "ice/icemodel.dat:2: error: found 2 columns", icemodel_dat=b"1000 0.04 0.01 0\n1010 0.0")
    ppc("NaN in a layer", ["ice/icemodel.dat:2:6: error: column 2: found 'nan', expected a finite number"],
        icemodel_dat=b"1000 0.04 0.01 0\n1010 nan 0.01 0\n")
    ppc("infinity in a layer", "ice/icemodel.dat:1:6: error: column 2: found '1e999'", icemodel_dat=b"1000 1e999 0.01 0\n")
    ppc("negative scattering", "ice/icemodel.dat:1: error: be400: found -0.04", icemodel_dat=b"1000 -0.04 0.01 0\n")
    ppc("depths that fall", ["ice/icemodel.dat:2: error: depth: found 990, expected increasing depths"],
        icemodel_dat=b"1000 0.04 0.01 0\n990 0.04 0.01 0\n")
    ppc("depths at unequal distances", ["ice/icemodel.dat:3: error: depth: found 1025", "equal spacing"],
        icemodel_dat=b"1000 0.04 0.01 0\n1010 0.04 0.01 0\n1025 0.04 0.01 0\n")
    ppc("nine columns", "ice/icemodel.dat:1: error: found 9 columns", icemodel_dat=b"1000 0.04 0.01 0 1 2 3 4 5\n")
    ppc("5000 layers", ["ice/icemodel.dat:4097: error: found more than 4096 rows"],
        icemodel_dat=b"".join(b"%d 0.04 0.01 0\n" % (i + 1) for i in range(5000)))
    ppc("words instead of numbers", "ice/icemodel.dat:1:1: error: column 1: found 'depth'", icemodel_dat=b"depth be400 adust400 dtau\n")
    ppc("a line without end", "ice/icemodel.dat:1: error: found 1 columns", icemodel_dat=b"9" * (4 << 20))
    ppc("binary junk", "ice/icemodel.dat:", icemodel_dat=bytes(range(256)) * 16)
    ppc("three parameters", "ice/icemodel.par: error: found 3 rows, expected alpha, kappa, A, B", icemodel_par=b"0.9 0\n1.08 0\n6954 0\n")
    ppc("a parameter out of range", "ice/icemodel.par:1: error: alpha: found 900", icemodel_par=b"900 0\n1.08 0\n6954 0\n6618 0\n")
    ppc("three settings", "ice/cfg.txt: error: found 3 numbers, expected at least 4", cfg_txt=b"1\n1\n0.35\n")
    ppc("a mean cosine of 1", "ice/cfg.txt:4: error: mean_cosine: found 1", cfg_txt=b"1\n1\n0.35\n1\n")
    ppc("bubbles without depths", "ice/icemodel.bbl: error: found 1 numbers, expected 3", icemodel_bbl=b"0.1\n")
    ppc("a wavelength table that falls", ["ice/wv.dat:3: error:", "does not fall"], wv_dat=b"0 280\n0.5 300\n0.1 400\n1 500\n")
    ppc("an angular acceptance of words", "ice/as.dat:1:1: error: maximum: found 'high'", as_dat=b"high\n")
    ice_file("without layers", "name: mine", ["ice.yaml:1:1: error:", "the key 'layers' is missing"])
    ice_file("an empty name", 'name: ""\nlayers: [[1000, 0.04, 0.01, 0]]',
        ['ice.yaml:1:7: error: name: found the quoted text ""', "expected a text that is not empty"])
    ice_file("no layer", "layers: []", "ice.yaml:1:9: error: layers: found")
    ice_file("a layer of three numbers", "layers: [[1000, 0.04, 0.01]]", "ice.yaml:1:10: error: layers[0]")
    ice_file("a layer with a word", "layers: [[1000, clear, 0.01, 0]]", "layers[0].be400: found 'clear'")
    ice_file("no absorption", "layers: [[1000, 0.04, 0, 0]]\nabsorption_a: 0\n", "absorption: found 0, expected more than 0")
    ice_file("a mean cosine of 2", "layers: [[1000, 0.04, 0.01, 0]]\nmean_cosine: 2\n", "ice.yaml:2:14: error: mean_cosine: found 2")
    ice_file("an unknown key", "layers: [[1000, 0.04, 0.01, 0]]\nalhpa: 1\n", "did you mean 'alpha'?")
    ice_file("a table that is not there", "layers: {file: none.csv}", "none.csv: error: No such file")
    header = b"depth_m,be400_per_m,adust400_per_m,delta_tau_K\n"
    ice_csv("another header", b"a,b,c,d\n1,2,3,4\n", ["layers.csv:1:1: error: found column 'a'", "depth_m"])
    ice_csv("a column missing", b"depth_m,be400_per_m,delta_tau_K\n1000,0.04,0\n", "layers.csv:1: error: found no column 'adust400_per_m'")
    ice_csv("a column twice", b"depth_m,depth_m,be400_per_m,adust400_per_m,delta_tau_K\n1,1,1,1,1\n",
        ["layers.csv:1:9: error: found column depth_m twice"])
    ice_csv("an empty field", header + b"1000,,0.01,0\n", "layers.csv:2:6: error: be400_per_m: found ''")
    ice_csv("a field too many", header + b"1000,0.04,0.01,0,0\n", "layers.csv:2: error: found 5 columns")
    ice_csv("only the header", header, "layers.csv: error: found no rows")
    ice_csv("1000 columns", b",".join([b"depth_m"] * 1000) + b"\n", "layers.csv:1: error: found 1000 columns")
