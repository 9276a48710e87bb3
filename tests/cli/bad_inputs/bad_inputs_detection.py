"""Cases for bad_inputs.py: what modules detect. To join: one more ppc() for a file of a ppc folder, or
configuration() for a run file."""

from bad_inputs_files import case, folder, named, npy, pipe, step
from bad_inputs_ice import PPC

GROUP = "detection"


def ppc(name, says, **files):
    """A good ppc folder with files added, for a run that detects: as_dat=b"...", eff_f2k=b"..."."""
    content = {**PPC, **named(files, "ice/")}
    case(GROUP, name, "validate -s ice.directory=ice -s stages.detect=pe", 2, says, content)


def configuration(name, text, says, **files):
    case(GROUP, name, "validate run.yaml", 2, says, {"run.yaml": text.encode(), **named(files)})


def curve_cases():
    ppc("a curve above its maximum", ["ice/as.dat: error: angular acceptance: found 0.68 at a cosine of 1", "maximum, 0.5"],
        as_dat=b"0.5\n0.34\n0.51\n0\n-0.17\n")
    ppc("a curve below zero", ["as.dat: error:", "found nothing above 0"], as_dat=b"1\n-1\n")
    ppc("the number 0 alone as a curve", ["as.dat: error:", "found 1 number, the first one 0"], as_dat=b"0\n")
    ppc("a coefficient of NaN", "as.dat:2:1: error: coefficient of x^0", as_dat=b"1\nnan\n")
    ppc("18 numbers", "as.dat:18: error: found more than 17", as_dat=b"1\n" + b"0.01\n" * 17)
    ppc("an edge beyond the module", "as.dat: error: edge: found 2", as_dat=b"0\n2\n")
    ppc("binary junk as a curve", "as.dat:1:1: error: maximum", as_dat=bytes(range(1, 256)))
    ppc("a folder as a curve", "as.dat: error: found a folder", as_dat=folder())
    ppc("a pipe as a curve", "as.dat: error: found a device or pipe", as_dat=pipe())
    configuration("a polynomial above its maximum", "detector: {angular_polynomial: [0.2, 0.34, 0.51]}",
        ["run.yaml:1:32: error: angular acceptance: found 0.85 at a cosine of 1"])
    configuration("a polynomial of one number", "detector: {angular_polynomial: [1]}",
        ["run.yaml:1:32: error: detector.angular_polynomial: found a list of 1"])
    configuration("a polynomial and a file", "detector: {angular_polynomial: [1, 1], angular_acceptance: as.dat}",
        ["run.yaml:1:32: error: detector.angular_polynomial: replaces"])


def list_cases():
    ppc("no efficiency", "ice/eff-f2k:1: error: efficiency: found 0", eff_f2k=b"1 1 0\n")
    ppc("type 7", "ice/eff-f2k:1: error: type: found 7", eff_f2k=b"1 1 1 7\n")
    ppc("a module twice", "ice/eff-f2k:2: error: found string 1, module 1 again (first on line 1)", eff_f2k=b"1 1 1\n1 1 1.35\n")
    ppc("half a module", "ice/eff-f2k:1: error: module: found 1.5", eff_f2k=b"1 1.5 1\n")
    ppc("an empty list", "ice/eff-f2k: error: found no rows", eff_f2k=b"")
    ppc("an axis of length 2", "ice/cx.dat:1: error: axis: found", cx_dat=b"1 1 0 0 2 0\n")
    ppc("a cable at 400 degrees", "ice/dx.dat:1: error: azimuth", dx_dat=b"1 1 400 1\n")
    ppc("a cable in words", "ice/dx.dat:1:5: error: column 3", dx_dat=b"1 1 north 1\n")
    ppc("a negative voltage", "ice/hvs-f2k:1: error: voltage", hvs_f2k=b"1 1 -1200\n")
    ppc("a ratio of 0", "ice/wv.rde:2: error: ratio: found 0", wv_rde=b"300 1\n400 0\n")
    ppc("ratios out of order", "ice/wv.rde:2: error: wavelength: found 300 after 400", wv_rde=b"400 1\n300 1\n")
    ppc("ratios at 200 nm", "ice/wv.rde:1: error: wavelength: found 200", wv_rde=b"200 1\n")
    ppc("ratios whose columns are swapped", "ice/wv.rde:1: error: found wavelengths in column 2, expected them in column 1: the columns are swapped",
        wv_rde=b"1 400\n1 410\n")
    configuration("a list that is not there", "detector: {cables: none.dat}",
        ["run.yaml:1:20: error: detector.cables: none.dat: No such file"])


def detection_cases():
    configuration("photo-electrons that nobody makes", "sink: {hits: pe}",
        ["run.yaml:1:14: error: sink.hits: 'pe' needs stages.detect: pe, and it is none"])
    configuration("a stage of another name", "stages: {detect: electrons}",
        ["run.yaml:1:18: error: stages.detect: found 'electrons', expected one of none, pe, pmt-plane, pmt-place"])
    bright = step(x=4.0, z=2.0, photons=20000, flags=1, spectrum=3, weight=1e4)
    case(GROUP, "a weight that makes more than certain", "run -q -s stages.detect=pe -s device.threads=1", 3,
        ["field weight: found 10000, with which photon", "1 of 1 files quarantined"], {"steps/a.steps.npy": npy(bright)})
