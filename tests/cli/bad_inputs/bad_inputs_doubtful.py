"""Cases for bad_inputs.py: single numbers of detectors, ppc folders and ice files that are legal and most
likely mistakes, of which `icestream validate` warns. To join: one more call of doubts()."""

from bad_inputs_files import case, named

GROUP = "plausibility"
HEADER = b"string,module,x,y,z\n"
ICE = b"layers: [[1948.07, 0.04, 0.01, 0]]\n"
WATER = (
    b"optics: { table: [[wavelength_nm, absorption_length_m, scattering_length_m], [250, 20, 50], [700, 5, 50]] }\n"
    b"scattering: { mean_cosine: 0.9 }\nindex: { salinity: 38, temperature: 13, pressure: 220 }\n"
)


def doubts(name, command, says, **files):
    """`icestream validate` accepts this and warns."""
    content = {key.replace("_csv", ".csv").replace("_yaml", ".yaml"): value for key, value in files.items()}
    case(GROUP, name, "validate --print-effective " + command, 0, ["warning    ", says], content)


def list_cases():
    """Values of single modules, and modules at odd places."""

    def modules(name, data, says):
        doubts(name, "-s detector.file=d.csv", "d.csv:" + says, d_csv=data)

    header = HEADER.replace(b"\n", b",efficiency\n")
    modules("efficiencies in percent", header + b"1,1,0,0,0,95\n1,2,0,0,50,1\n",
        "2: string 1, module 1: efficiency: found 95; 1 of 2 modules are below 0.01 or above 10")
    modules("a digit too many in a position", HEADER + b"1,1,125,0,0\n1,2,1250,0,17\n1,3,125,0,34\n",
        "3: string 1, module 2: x, y: found 1250, 0 m, which is 1125 m away from module 1 of this string; 2 such steps")
    modules("positions in centimetres", HEADER + b"1,1,0,0,500\n2,1,-1200,0,-500\n",
        "2: x, y, z: found modules that are at least 1562 m apart")
    doubts("layers of water by depth", "-s ice.file=water.yaml",
        "water.yaml:4:9: found layers from z = 1850 to 2050 m, and all modules are below",
        water_yaml=WATER + b"layers: [[1900, 1, 1], [2000, 1, 1]]\n")
    doubts("modules above 60 in a geo-f2k", "-s detector.file=geo-f2k",
        "geo-f2k:2: found 1 module with numbers above 60 deep in the ice, which is left out",
        **{"geo-f2k": b"AA 0x1 0 0 -1948 1 60\nAA 0x2 0 0 -1960 1 61\n"})
    doubts("strings and modules from 0 in a geo-f2k", "-s detector.file=geo-f2k",
        "geo-f2k:1: found 3 modules of string 0 or with number 0, which are left out, as in ppc",
        **{"geo-f2k": b"A 0x1 0 0 -1948 0 0\nA 0x2 0 0 -1960 0 1\nA 0x3 50 0 -1948 1 0\nA 0x4 50 0 -1960 1 1\n"})
    pmts = b"1 0 0 0.1 0 0 1 0 %d\n2 0.1 0 0 1 0 0 0 0\n"
    doubts("a disabled PMT in DETX", "-s detector.file=d.detx",
        "d.detx:6: found 1 PMT with a status that is not 0 (1: disabled), which is taken as good",
        **{"d.detx": b"1 V3\n0 1\nUTM WGS84 32N 1 2 3\n1\n1 1 1 2\n" + pmts % 1})
    doubts("a comment of DETX that is broken over lines", "-s detector.file=d.detx",
        "d.detx:2: found 2 lines before the header of the file, as a broken comment leaves them",
        **{"d.detx": b"# command -s 'x\n808951460 15\n808996773 15'\n1 V3\n0 1\nUTM WGS84 32N 1 2 3\n1\n1 1 1 2\n" + pmts % 0})
    prometheus = b"### Metadata ###\nMedium:\t%s\nDOM Radius [cm]:\t30\n### Modules ###\n0\t0\t%d\t0\t0\n0\t0\t%d\t0\t1\n"
    doubts("modules of KM3NeT in ice", "-s detector.file=d.detx",
        "d.detx: found modules in water, and light flies in ice; usual: ice.file: a file of water",
        **{"d.detx": b"1 V3\n0 1\nUTM WGS84 32N 1 2 3\n1\n1 1 1 2\n" + pmts % (0)})
    doubts("modules of Prometheus in water, in ice", "-s detector.file=d.geo", "d.geo: found modules in water, and light flies in ice",
        **{"d.geo": prometheus % (b"water", 0, 20)})
    doubts("a radius of Prometheus that is not used", "-s detector.file=d.geo",
        "d.geo: found a radius of 0.3 m, and detector.radius has its default, 0.1651 m; usual: detector.radius: 0.3",
        **{"d.geo": prometheus % (b"ice", -1948, -1968)})
    doubts("a curve of acceptance a little above its maximum", "-s detector.angular_acceptance=as.dat",
        "as.dat: angular acceptance: found 0.60429 at a cosine of 0.913, which is 0.18 % above its maximum, 0.6032; the larger number is used",
        **{"as.dat": b"0.6032\n0.3\n0.5\n0\n-0.2\n"})
    for name, data, says in (
        ("an effective area in m2 as acceptance", b"wl,acc\n300,0.001\n400,0.0111\n600,0.001\n",
         "qe.csv: found 0.0111 at the best wavelength; usual: 0.05 to 0.45"),
        ("a relative curve as acceptance", b"wl,acc\n300,0.1\n400,1\n600,0.1\n", "qe.csv: found 1 at the best wavelength"),
    ):
        doubts(name, "-s light.acceptance=qe.csv", says, **{"qe.csv": data})
    doubts("a radius in inches", "-s detector.radius=6.5 -s detector.oversize=1",
        "--set detector.radius: detector.radius: found 6.5 m; usual: 0.1 to 0.25 m")


def folder_cases():
    """Files of a ppc folder."""

    def folder(name, says, **files):
        content = {
            "icemodel_par": b"0.9\n1.08\n6954.1\n6617.75\n",
            "cfg_txt": b"5\n1\n0.35\n0.9\n",
            "icemodel_dat": b"1900 0.04 0.01 0\n2000 0.04 0.01 0\n",
            "geo_f2k": b"".join(b"AA 0x1 0 0 %d 1 %d\n" % (-1940 - 17 * m, m) for m in range(1, 13)),
        }
        content.update(files)
        doubts(name, "-s ice.directory=ice -s stages.detect=pe", says, **named(content, "ice/"))

    folder("an efficiency of all modules in percent", "ice/cfg.txt:2: efficiency: found 99 for all modules; usual: about 1",
        cfg_txt=b"5\n99\n0.35\n0.9\n")
    folder("the mean cosine and the share of Liu swapped", "ice/cfg.txt:4: mean_cosine: found 0.35, light that scatters by wide angles",
        cfg_txt=b"5\n1\n0.9\n0.35\n")
    folder("an exponent with a wrong sign in icemodel.par", "ice/icemodel.par:2: kappa: found -1.08",
        icemodel_par=b"0.9\n-1.08\n6954.1\n6617.75\n")
    folder("an efficiency of one module in percent", "ice/eff-f2k: string 1, module 2: efficiency: found 100", eff_f2k=b"1 2 100\n")
    folder("modules of high efficiency without their curve",
        "light.high_efficiency: found auto, but no wv.rde lies in the folder of the ice, and 1 module is", eff_f2k=b"1 2 1.35 1\n")
    folder("depths of bubbles in kilometres", "ice/icemodel.bbl:1: bubbles: found depths of 1.35 and 1.4 m, above all layers",
        icemodel_bbl=b"11.7 1.35 1.4\n")
    folder("all modules off", "detector.voltages: all 12 modules are off", hvs_f2k=b"1 1 0\n")
    folder("azimuths of cables in radians", "ice/dx.dat: azimuth: found 12 azimuths, all between -2 pi and 2 pi",
        dx_dat=b"".join(b"1 %d %.1f 0\n" % (m, m / 2) for m in range(1, 13)))


def ice_cases():
    def doubtful(name, text, says):
        doubts(name, "-s ice.file=ice.yaml", "ice.yaml:" + says, ice_yaml=text)

    doubtful("scattering and absorption swapped", b"layers: [[1948.07, 0.01, 0.04, 0]]\n",
        "1:9: found more absorption by dust than effective scattering in every layer, such as 0.04 and 0.01")
    doubtful("coefficients in 1/cm", b"layers: [[1948.07, 0.0004, 0.0001, 0]]\n",
        "1:9: effective scattering: found 0.0004 1/m at 400 nm in the dirtiest layer, a length of 2500 m")
    doubtful("a decimal point forgotten in one layer", b"layers: [[1900, 0.04, 0.01, 0], [2000, 4, 0.01, 0], [2100, 0.04, 0.01, 0]]\n",
        "1:9: be400: found 4 1/m in the layer at a depth of 2000 m, between layers of 0.04 and 0.04")
    doubtful("temperatures in place of differences", b"layers: [[1948.07, 0.04, 0.01, 243]]\n",
        "1:9: dtau: found differences of temperature from 243 to 243 K")
    doubtful("heights in place of depths", b"layers: [[-100, 0.04, 0.01, 0], [0, 0.04, 0.01, 0]]\n",
        "1:9: found layers from z = 1898.07 to 2098.07 m, and all modules are below")
    doubtful("an exponent with a wrong sign", ICE + b"alpha: -0.9\n", "2:8: alpha: found -0.9, with which")
    doubtful("pure ice that is black", ICE + b"absorption_a: 6954100\n",
        "2:15: absorption_a, absorption_b: found 6.9541e+06 1/m and 6617.75 nm, with which pure ice absorbs")
    doubtful("an absorption anisotropy with the wrong sign", ICE + b"absorption_anisotropy: [-0.6, 0.3, 0.3]\n",
        "2:24: absorption_anisotropy: found a logarithm of -0.6 along the flow")
    doubtful("hole ice without a radius", ICE + b"hole: { effective_scattering: 0.5 }\n",
        "2:31: hole.effective_scattering: has no effect, because hole.radius is not given")
    doubts("positions of a tilt in kilometres", "-s ice.file=ice.yaml", "ice.yaml:2:7: tilt: found layers that rise by 80 m per m",
        ice_yaml=b"layers: [[1948.07, 0.04, 0.01, 0]]\ntilt: { file: tilt.csv }\n",
        tilt_csv=b"depth_m,position_m,shift_m\n1200,-0.5,-40\n1200,0.5,40\n3600,-0.5,-40\n3600,0.5,40\n")
    doubtful("hole ice as wide as a house", ICE + b"hole: { radius: 8 }\n", "2:17: hole.radius: found 8 m, much wider than the modules")
    doubtful("coefficients of hole ice in place of lengths", ICE + b"hole: { radius: 0.3, effective_scattering: 33, absorption: 0.01 }\n",
        "2:44: hole.effective_scattering: found a length of 33 m, longer than that of the clearest ice")
