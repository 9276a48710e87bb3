"""Cases for bad_inputs.py: values that are legal and most likely mistakes. The program goes on and warns. To
join: one more warns() for a run, or particle() for a particle. A correct configuration gets no such warning:
sound_cases() has some."""

import glob
import json
import os
import struct
import subprocess

from bad_inputs_files import GOOD_STEP, case, descr, good, npy, step

GROUP = "plausibility"
HEADER = b"string,module,x,y,z\n"
ICE = b"layers: [[1948.07, 0.04, 0.01, 0]]\n"


def has_warnings(count):
    """Checks that summary.json has this number of warnings."""

    def check(where):
        with open(os.path.join(where, "hits", "summary.json"), encoding="utf-8") as file:
            found = json.load(file)["warnings"]
        return [] if len(found) == count else ["summary.json has the warnings %s" % found]

    return check


def warns(name, command, says, steps=None, check=None, **files):
    """A run with this command line ends well and says this on standard error."""
    content = {key.replace("_csv", ".csv").replace("_yaml", ".yaml"): value for key, value in files.items()}
    content["a.steps.npy"] = steps or npy(step())
    says = says if isinstance(says, list) else [says]
    case(GROUP, name, "run -s source.files=a.steps.npy " + command, 0, ["warning: "] + says, content, check=check)


def particle(name, text, says, exit_status=0):
    case(GROUP, name, "validate --print-effective run.yaml", exit_status, ["warning    run.yaml:1:20: particle 1: " + says],
        {"run.yaml": ("particles: { list: [%s] }" % text).encode()})


def workload(name, position, says):
    case(GROUP, name, "validate --print-effective -s workload.kind=point -s 'workload.position=%s'" % position, 0,
        ["warning    --set workload.position: workload.position: found light " + says])


def detector_cases():
    warns("modules in the air", "-s detector.file=d.csv",
        "d.csv:3: string 1, module 2: z: found 1960 m, which is above the surface of the ice", d_csv=HEADER + b"1,1,0,0,0\n1,2,0,0,1960\n")
    warns("modules far above the table of the ice", "-s detector.file=d.csv",
        "d.csv:2: string 1, module 1: z: found 1900 m, which is far above the table of the ice", d_csv=HEADER + b"1,1,0,0,1900\n")
    warns("modules in the rock", "-s detector.file=d.csv",
        "d.csv:2: string 1, module 1: z: found -2000 m, which is below the ice (z = -901.93 m)", d_csv=HEADER + b"1,1,0,0,-2000\n")
    warns("modules that overlap at their oversize", "-s detector.oversize=100",
        "found 100, with which modules are 33.02 m wide, and the two closest are 17 m apart")
    warns("the world ends inside the detector", "-s ice.absorb_above=100",
        "found 501.5 m, which is above ice.absorb_above, where photons end (z = 100 m); 2064 of 5160")
    warns("the world begins inside the detector", "-s ice.absorb_below=-100",
        "which is below ice.absorb_below, where photons end (z = -100 m)")


def ice_cases():
    def ice(name, text, says):
        warns(name, "-s ice.file=ice.yaml", "ice.yaml:" + says, ice_yaml=text)

    ice("lengths in place of coefficients", b"layers: [[1948.07, 25, 0.01, 0]]\n",
        "1:9: effective scattering: found 25 1/m at 400 nm in the clearest layer, a length of 0.04 m")
    ice("an absorption length in place of a coefficient", b"layers: [[1948.07, 0.04, 100, 0]]\n",
        "1:9: absorption: found 100 1/m at 400 nm in the clearest layer, a length of 0.01 m")
    ice("factors in place of logarithms", ICE + b"anisotropy: [1.04, 0.92]\n",
        "2:13: anisotropy: found logarithms up to 1.04 along and 0.92 across the flow, which are factors of 2.829 and 2.509")
    ice("an anisotropy that is swapped", ICE + b"anisotropy: [-0.08, 0.04]\n",
        "2:13: anisotropy: found a logarithm of -0.08 along and 0.04 across the flow")
    ice("light that scatters backwards", ICE + b"mean_cosine: -0.9\n", "2:14: mean_cosine: found -0.9, light that scatters backwards")
    ice("hole ice much narrower than the modules", ICE + b"hole: { radius: 0.05 }\n",
        "2:17: hole.radius: found 0.05 m, much narrower than the modules (0.1651 m)")


def run_cases():
    warns("a low limit of bounces", "-s run.bounce_limit=1",
        ["run.bounce_limit: found 1, and photons of this ice scatter 33.4 times on average", "warning: run.bounce_limit (1) stopped 94.6 % of the photons, whose hits are missing"],
        steps=npy(step(photons=1000)))
    warns("1000 threads", "-s device.threads=1000 -s device.backend=cpu -s graph.pool=16",
        "--set device.threads: device.threads: found 1000, and this process has")


def generate_cases():
    """`generate` warns in the same way, before it makes the steps."""

    def generate(name, options, says, exit_status=0, **files):
        content = {key.replace("_yaml", ".yaml"): value for key, value in files.items()}
        case(GROUP, name, "generate -o a.steps.npy " + options, exit_status, ["warning: " + says], content)

    generate("generated light of a workload in the air", "-s workload.kind=point -s workload.steps=1 -s 'workload.position=[0, 0, 1949]'",
        "--set workload.position: workload.position: found light at z = 1949 m, above the surface")
    generate("generated light of a particle in the air", "run.yaml",
        "run.yaml:1:20: particle 1: found light at z = 1950 m, above the surface (1948.07 m)",
        run_yaml=b"particles: { list: [{type: e-, x: 0, y: 0, z: 1950, zenith: 10, azimuth: 0, energy: 1}] }")
    generate("generated light of an LED that emits none", "run.yaml",
        "run.yaml:1:20: particle 1: brightness: found 5 (width 20), with which an LED emits no light", exit_status=2,
        run_yaml=b"particles: { list: [{type: flasher, string: 1, module: 1, led: 7, brightness: 5, width: 20}] }")


def light_cases():
    workload("a workload in the air", "[0, 0, 1949]", "at z = 1949 m, above the surface (1948.07 m)")
    workload("a workload in the rock", "[0, 0, -2500]", "at z = -2500 m, below the ice (-901.93 m)")
    workload("a workload that no module can see", "[5000, 0, 0]", "4375 m away from the nearest module")
    workload("a workload inside a module", "[0, 216.506, 178.5]", "inside string 63, module 20")
    particle("a particle in the air", "{type: e-, x: 0, y: 0, z: 1950, zenith: 10, azimuth: 0, energy: 100}",
        "found light at z = 1950 m, above the surface (1948.07 m)")
    particle("a particle far above the table of the ice", "{type: e-, x: 0, y: 0, z: 1900, zenith: 10, azimuth: 0, energy: 100}",
        "found light at z = 1900 m, far above the table of the ice (1005 m)")
    particle(
        "an LED that emits no light",
        "{type: flasher, string: 63, module: 20, led: 7, brightness: 5, width: 20}",
        "brightness: found 5 (width 20), with which an LED emits no light",
        exit_status=2,  # and there is no other light
    )
    particle("a module that sees its own flash", "{type: flasher, string: 63, module: 20, led: 7, brightness: 127, width: 20}",
        "string, module: found [63, 20], which flashes and records its own light")
    particle("light inside a module", "{type: e-, x: -187.5, y: -541.2, z: 501.5, energy: 100, zenith: 90, azimuth: 0}",
             "found light that begins inside string 1, module 1 (0.0659 m from its centre)")
    near = ("{ detector: { oversize: 5 }, particles: { list: [{type: %s, event: 1, x: -188, y: -541, z: 501.5, energy: 100, "
            "zenith: 90, azimuth: 0}] } }")
    for name, shower, says in (
        ("light inside an oversized module", "e-", "begins 0.566 m from string 1, module 1"),
        ("a track past an oversized module", "mu-", "begins 0.566 m from string 1, module 1"),
    ):
        case(GROUP, name, "validate --print-effective run.yaml", 0, ["warning    run.yaml", says, "usual: detector.oversize: 1"],
             {"run.yaml": (near % shower).encode()})
    # A run of 4e7 photons with oversize 1 and 5 saw -58 % on this module.
    case(GROUP, "a cascade that ends in an oversized module", "validate --print-effective run.yaml", 0,
        ["begins 0 m from string 43, module 28", "wrong by about -67.5 %"],
        {"run.yaml": b"{ detector: { oversize: 5 }, particles: { list: [{type: e-, event: 1, x: 6, y: 0, z: 42.5, energy: 100, dx: -1, dy: 0, dz: 0}] } }"})


def table(name, header, rows, says, exit_status=0):
    content = header + "".join("\n" + row for row in rows) + "\n"
    case(GROUP, name, "validate --print-effective -s particles.file=p.csv", exit_status, [says], {"p.csv": content.encode()})


def table_cases():
    rows = ["e-,%d,0,0,0,%g,%g,10" % (i, 0.3 + 0.5 * i, 0.2 + i) for i in range(6)]
    header = "type,event,x,y,z,zenith,azimuth,energy"
    table("angles in radians", header, rows,
        "warning    p.csv:7: zenith, azimuth: found at most 2.8 and 5.2 degrees in 6 particles; are these angles in radians?")
    table("particles without a column event", header.replace("event,", ""), ["e-,0,0,0,90,0,10", "e-,0,0,0,90,0,20"],
        "warning    p.csv:1: event: found no such column, so that all particles of the list are one event")
    timed = header + ",time"
    for name, head, rows, says in (
        ("one direction in radians", header, ["e-,1,9,0,0,0.5236,2.094,10"], "2: zenith, azimuth: found at most 0.5236"),
        ("positions in km", header, ["e-,1,0.06,0.02,-0.35,50,0,10"], "2: x, y, z: found at most 0.35 m in 1 particle"),
        ("a line twice", header, ["e-,1,9,0,0,50,0,10"] * 2, "3: found the particle of p.csv:2 again"),
        ("a line without its event", header, ["e-,,9,0,0,50,0,10", "e-,1,9,0,0,50,0,10"], "2: event: found no number"),
        ("a neutrino among others", header, ["12,1,,,,,,1e6", "e-,2,9,0,0,50,0,10"], "2: event 1: found only particles without"),
        ("times in seconds", timed, ["e-,1,9,0,0,50,0,10,%de-9" % i for i in (9, 30)], "3: time: found 9e-09 to 3e-08"),
        ("a Julian date as a time", timed, ["e-,1,9,0,0,50,0,10,59067"], "2: time: found 59067 to 59067 in 1 particle"),
        ("a UNIX time", timed, ["e-,1,9,0,0,50,0,10,1764430123"], "2: time: found 1764430123 to 1764430123"),
    ):
        table(name, head, rows, "warning    p.csv:" + says)
    track = "event,type,energy,x,y,z,dx,dy,dz,time,length"
    muon, loss = "1,mu,%g,0,30,200,0,0,-1,0,300", "1,brems,%g,0,30,%d,0,0,-1,%s,"
    table(
        "losses without times",
        track,
        [muon % 800, loss % (40, 100, ""), loss % (25, -50, "")],
        "warning    p.csv:3: time: found 0 ns for the brems of 40 GeV on the line of the mu at p.csv:2, expected "
        "333.56 ns, when it passes (2 such losses, the last one: expected 833.91 ns)",
    )
    table("losses in MeV", track, [muon % 800, loss % (40000, 100, "333.56")],
        "warning    p.csv:2: energy: found losses of 40000 GeV in all on the line of this mu, expected at most its energy, 800 GeV; are they in MeV?")
    table("a tau that is too old", track, ["1,tau,100,0,0,0,0,0,-1,0,300"],
        "the first one of 100 GeV and 300 m, has more length than a tau of this energy flies")


def steps_cases():
    many = {"photons": 1000}

    def steps(name, says, command="", check=None, **changes):
        warns(name, command, says, steps=npy(step(**{**many, **changes})), check=check)

    steps("steps with z from the surface", ["a.steps.npy: x, y, z: found light at z = -2500", "warning: no hits: "], z=-2500)
    steps("steps in the air", "a.steps.npy: x, y, z: found light at z = 1950", z=1950)
    steps("steps that no module can see",
        ["a.steps.npy: x, y, z: found light 4375 m away from the nearest module", "m away from the region where the light begins"], x=5000,
        check=has_warnings(2))
    steps("steps of weight 0", "a.steps.npy: weight: found 0 in 1 of the first 1 steps, so that their hits count nothing", weight=0)
    steps("steps of weight 0 that should be detected", "so that their photons make no photo-electrons", command="-s stages.detect=pe",
        weight=0)
    single = struct.Struct("<3fI7fQI2BHQ").pack(*{**GOOD_STEP, **many, "t": 1e7}.values())
    warns("late steps in single precision", "",
        "a.steps.npy: t: found 1e+07 ns in single precision, which rounds such times to within 0.5 ns; usual: t in double precision (f8)",
        steps=npy(single, types=descr(t="<f4")))
    steps("steps of 1000 km", "a.steps.npy: length: found 1e+06 m, longer than the world", length=1e6)


def kind_cases():
    """Files that are not text are named as what they are, in one line."""

    def kind(name, data, says, command, exit_status=2):
        case(GROUP, name, "validate -s " + command, exit_status, ["error: found " + says + ", expected text in UTF-8\n"], {"file": data})

    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
    kind("a picture as an acceptance", picture, "a picture (PNG)", "light.acceptance=file")
    kind("a hit file as a detector", good.hits, "a NumPy file (.npy)", "detector.file=file")
    kind("HDF5 as efficiencies", b"\x89HDF\r\n\x1a\n" + bytes(2000), "an HDF5 file", "detector.efficiencies=file")
    kind("a pointer of Git LFS", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
        "a pointer of Git LFS in place of the file", "light.acceptance=file")
    kind("a page of the web", b"<!DOCTYPE html>\n<html>404</html>\n", "an HTML page", "detector.file=file")
    for form in ("csv", "f2k"):
        kind("compressed particles in " + form, b"\x1f\x8b\x08" + bytes(range(256)), "compressed data (gzip)",
            "particles.file=file -s particles.format=" + form)
    case(GROUP, "161 faults of one file", "validate -s light.high_efficiency=file", 2,
        ["file:10: error: found 3 columns", "file: error: and 151 more\n"], {"file": b"1 2 3\n" * 161})


def sound_cases():
    """Shipped configurations get no warning, except for those that are right."""
    right = ("oversize 5 is not used", "sums are wrong by more than 1 %", "was fitted for 400 .. 700 nm", "records its own light", "has no energy")

    def check(_):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
        faults = []
        commands = [[path] for path in glob.glob(root + "/configs/r*/*.yaml")]
        commands += [
            ["-s", "particles.file=" + path] for path in glob.glob(root + "/configs/particles/*")
        ]
        commands += [
            ["-s", "ice.file=" + path, *more]
            for path in glob.glob(root + "/configs/ice/*.yaml")
            for more in ([], ["-s", "detector.oversize=16"])
        ]
        for command in commands:
            if "/reference/" in command[0] and not os.path.isdir(root + "/../shared/ice"):
                continue
            done = subprocess.run(
                [good.program, "validate", *command],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # there are no step files
                check=False,
            )
            faults += [
                "%s: %s" % (command[-1], line)
                for line in done.stdout.decode().splitlines()
                if line.startswith("warning") and not any(text in line for text in right)
            ]
        return faults

    case(GROUP, "no warning for shipped configurations", "stages", 0, [], check=check)
