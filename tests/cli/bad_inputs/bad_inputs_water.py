"""Cases for bad_inputs.py: water, a file of absorption, scattering and index by wavelength. To join: one more
water() for the YAML file, or water_csv() for a table."""

from bad_inputs_files import case

OPTICS = "optics: {table: [[wavelength_nm, absorption_length_m, scattering_length_m], [250, 2, 20], [700, 2, 40]]}\n"
SCATTERING = "scattering: {mean_cosine: 0.9}\n"
INDEX = "index: {salinity: 38, temperature: 13, pressure: 220}\n"
TABLE_AS_WELL = ", table: [[wavelength_nm, phase_index], [250, 1.4], [400, 1.35], [700, 1.33]]}"


def water(name, text, says, table=None, more=""):
    files = {"water.yaml": text.encode()}
    if table is not None:
        files["water.csv"] = table
    case("water", name, "validate -s ice.file=water.yaml" + more, 2, says, files)


def water_csv(name, table, says):
    water("CSV: " + name, "optics: {file: water.csv}\n" + SCATTERING + INDEX, says, table)


def water_cases():
    water("optics that are nothing", "optics: {}\n" + SCATTERING + INDEX, ["water.yaml:1:1: error:", "the key 'optics.file' is missing"])
    water("a table that is a word", "optics: {table: clear}\n" + SCATTERING + INDEX, "water.yaml:1:17: error: table: found 'clear'")
    water("a row that is too short", OPTICS.replace("[250, 2, 20]", "[250, 2]") + SCATTERING + INDEX,
        ["water.yaml:1:77: error: table: found a list of 2, expected a list of 3 numbers"])
    water("a length of nothing", OPTICS.replace("[250, 2, 20]", "[250, 2, 0]") + SCATTERING + INDEX,
        ["water.yaml:1:86: error: scattering_length_m: found '0'"])
    water("a table that ends in the band", OPTICS.replace("700", "600") + SCATTERING + INDEX,
        ["found wavelengths of 250 .. 600 nm", "optics.extend: constant"])
    water("no wavelength", OPTICS.replace("wavelength_nm", "scattering_per_m") + SCATTERING + INDEX,
        ["water.yaml:1:18: error: table: found no column 'wavelength_nm'"])
    water("no angles", OPTICS + INDEX, "water.yaml:1:1: error: the key 'scattering.mean_cosine' is missing")
    water("no index", OPTICS + SCATTERING, "the key 'index.salinity' is missing: the index needs salinity (per mille)")
    water("water in kelvin", OPTICS + SCATTERING + INDEX.replace("13", "286"), "water.yaml:3:36: error: index.temperature: found '286'")
    water("an index twice", OPTICS + SCATTERING + INDEX.replace("}", TABLE_AS_WELL),
        ["water.yaml:3:19: error: index.salinity: found also a table of the index"])
    water("an index below that of nothing", OPTICS + SCATTERING + "index: {table: [[wavelength_nm, phase_index], [250, 0.9]]}\n",
        ["water.yaml:3:53: error: phase_index: found '0.9'"])
    water("layers that sink", OPTICS + SCATTERING + INDEX + "layers: [[0, 1, 1], [-10, 1, 1]]\n",
        ["water.yaml:4:21: error: layers[1].z: found -10 after 0"])
    water("keys of ice", OPTICS + SCATTERING + INDEX + "alpha: 1\n", "water.yaml:4:1: error: unknown key 'alpha'")
    water("molecules without their stage", OPTICS + SCATTERING.replace("}", ", rayleigh_fraction: 0.2}") + INDEX,
        ["stages.scatter: found hg-sl, which does not simulate molecules", "expected rayleigh-hg"])
    water_csv("not there", None, "water.csv: error: No such file")
    water_csv("empty", b"", "water.csv: error: found no rows")
    water_csv("binary junk", bytes(range(256)) * 16, "water.csv: error: found binary data, expected text")
    water_csv("micrometres", b"wavelength_nm,absorption_per_m,scattering_per_m\n0.25,1,1\n0.7,1,1\n",
        ["water.csv:2: error: wavelength_nm: found 0.25, expected 100 .. 2000"])
    water_csv("wavelengths that fall", b"wavelength_nm,absorption_per_m,scattering_per_m\n700,1,1\n250,1,1\n",
        ["water.csv:3: error: wavelength_nm: found 250 after 700, expected it to ascend"])
    water_csv("absorption twice", b"wavelength_nm,absorption_per_m,absorption_length_m,scattering_per_m\n250,1,1,1\n",
        ["optics: found 2 columns of absorption, expected one"])
    water_csv("not a number", b"wavelength_nm,absorption_per_m,scattering_per_m\n250,nan,1\n700,1,1\n",
        ["water.csv:2:5: error: absorption_per_m: found 'nan', expected a finite number"])
