"""Cases for bad_inputs.py: lists of particles, and particles that cannot be simulated. To join: one more
particles(name, data, message)."""

from bad_inputs_files import case, folder, locked

FRAME = b"V 2000.1.2\nTBEGIN ? ? ?\nEM 1 1 1970 0 0 0\n"
END = b"EE\nTEND ? ? ?\nEND\n"


def particles(name, data, says, ending="p.f2k", exit_status=2, options="", **more):
    case("particles (%s)" % {"k": "f2k", "v": "CSV", "l": "YAML"}[ending[-1]], name,
        "generate -s particles.file=%s %s-o a.steps.npy" % (ending, options), exit_status, says, {ending: data}, **more)


def f2k_cases():
    particles("empty", b"", "p.f2k:0: error: the file ends here, expected V, TBEGIN and events")
    particles("a folder", folder(), "p.f2k: error: found a folder, expected a file")
    particles("not readable", locked(b"", 0), "p.f2k: error: Permission denied", unprivileged=True)
    particles("cut off in an event", FRAME, "p.f2k:3: error: the file ends here, expected EE")
    particles("cut off between events", FRAME + b"EE\n", "p.f2k:4: error: the file ends here, expected END")
    particles("an unknown particle", FRAME + b"TR 1 0 amuu 0 0 0 0 0 0 1 0\n" + END,
        ["p.f2k:4:8: error: type: found 'amuu', expected a name of f2k as mu,", "did you mean 'amu'?"])
    particles("a track outside an event", FRAME + b"EE\nTR 1 0 e- 0 0 0 0 0 0 1 0\n",
        "p.f2k:5:1: error: found 'TR' here, expected EM before it")
    particles("more than ten wrong lines", FRAME + b"TR 1 0 axion 0 0 0 0 0 0 1 0\n" * 15 + END,
        ["p.f2k:13:8: error: type: found 'axion'", "p.f2k: error: and 5 more"])
    particles("a muon that has no light in ppc", FRAME + b"TR 1 0 mu 0 0 0 0 0 100 10 0\n" + END,
        "found particles without light, expected at least one photon; with particles.conventions: ppc only",
        options="-s particles.conventions=ppc ")
    particles("a tau without a length", FRAME + b"TR 1 0 tau- 0 0 0 0 0 ? 100 0\n" + END,
        "p.f2k:4: error: tau: found no length, expected the length (m) to its decay, and its decay products as particles: a tau of 100 GeV flies 0.0049 m on average, and decays are simulated with particles.decays: auto",
        options="-s particles.decays=none ")
    particles("a tau without a length and something on its line", FRAME + b"TR 1 0 tau- 0 0 0 0 0 ? 1e6 0\nTR 1 0 hadr 0 0 -40 0 0 0 5 0\n" + END,
        "p.f2k:4: error: tau: found no length, and particles on its line behind its start, expected the length (m) to its decay")
    particles("no particle", FRAME + END, "p.f2k:6: error: found no particle, expected at least one")
    particles("a field missing", FRAME + b"TR 1 0 e- 0 0 0 0 0 0 1\n" + END, "p.f2k:4: error: TR: found 11 fields, expected 12")
    particles("a coordinate that is not a number", FRAME + b"TR 1 0 e- 0 nan 0 0 0 0 1 0\n" + END,
        "p.f2k:4:13: error: y: found 'nan', expected a number from -10000 to 10000 m")
    particles("an energy without end", FRAME + b"TR 1 0 e- 0 0 0 0 0 0 1e999 0\n" + END,
        "p.f2k:4:23: error: energy: found '1e999', expected a number from 0")
    particles("events that do not ascend", FRAME + b"TR 1 0 e- 0 0 0 0 0 0 1 0\nEE\nEM 1 1 1970 0 0 0\nTR 1 0 e- 0 0 0 0 0 0 1 0\n" + END,
        "p.f2k:6:4: error: event: found 1 after 1, expected ascending numbers")
    particles("a line of a million characters", FRAME + b"x" * 1000000, "p.f2k:4: error: found a line of more than 4096 characters")
    particles("noise", bytes(range(256)) * 100, "p.f2k:")
    particles("a track out of the world", FRAME + b"TR 1 0 mu 0 0 9000 180 0 2000 1 0\n" + END,
        "p.f2k:4: error: length: found a track of 2000 m to (")
    particles("too much energy for losses", FRAME + b"TR 1 0 mu 0 0 0 180 0 2000 1e11 0\n" + END,
        "p.f2k:4: error: energy: found a track of 1e+11 GeV, expected at most 1000000000 GeV with", options="-s particles.losses=simple ")
    case("particles (f2k)", "a name without an ending", "generate -s particles.file=list -o a.steps.npy", 2,
        "expected a name that ends in .f2k, .csv, .tsv or .yaml, or particles.format", {"list": b""})
    case("particles (f2k)", "standard input that breaks off", "generate -s particles.file=- -s particles.format=f2k -o -", 2,
        "standard input:4: error: the file ends here, expected EE", stdin=FRAME + b"TR 1 0 e- 0 0 0 0 0 0 1 0\n")


def csv_cases():
    particles("an unknown column", b"type,x,y,z,zenit\n", ["p.csv:1:12: error: found column 'zenit'", "did you mean 'zenith'?"], "p.csv")
    particles("columns and no particle", b"type,x,y,z\n", "p.csv:1: error: found no particle, expected at least one", "p.csv")
    particles("no types", b"x,y,z\n0,0,0\n", "p.csv:1: error: found no column 'type'", "p.csv")
    particles("a row too short", b"type,photons\nsc1\n", "p.csv:2: error: found 1 columns, expected 2 as in the first line", "p.csv")
    particles("a field that the type does not have", b"type,photons,energy\nsc1,5,5\n", "p.csv:2: error: sc1: energy: is not for this type",
        "p.csv")
    particles("a module that is not there", b"type,string,module,led,photons\nflasher,87,1,7,5\n",
        "p.csv:2: error: string, module: found [87, 1], expected a module of hex86", "p.csv")
    particles("a spectrum that is not there", b"type,x,y,z,spectrum,photons\npoint,0,0,0,7,5\n",
        "p.csv:2: error: spectrum: found 7, expected at most 6", "p.csv")
    particles("an LED that no module has", b"type,string,module,led,photons\nflasher,63,20,13,5\n",
        "p.csv:2:15: error: led: found '13', expected a whole number from 1 to 12", "p.csv")
    row = b"type;x;y;z;zenith;azimuth;energy\ne-;0;0;%b;0;0;%b\n"
    for name, z, energy, says in (
        ("a decimal comma", b"-1,5", b"9", "p.csv:2:8: error: z: found '-1,5', expected a number from -10000 to 10000 m; a decimal comma is not read"),
        ("commas between thousands", b"0", b"1,000,000", "; commas between thousands (or decimal commas) are not read"),
        ("a minus of a word processor", "\u221250".encode(), b"9", "p.csv:2:8: error: z: found '\u221250', expected a number from -10000 to 10000 m; it begins with a dash"),
        ("digits of another script", "\u0663".encode(), b"9", "p.csv:2:8: error: z: found '\u0663', expected a number"),
    ):
        particles(name, row % (z, energy), says, "p.csv")
    particles("a comma between thousands without quotes", b"type,x,y,z,zenith,azimuth,energy\ne-,0,0,0,0,0,1,000\n",
        "p.csv:2: error: found 8 columns, expected 7 as in the first line; a comma within a number separates columns", "p.csv")


def yaml_cases():
    particles("an unknown key", b"- {type: e-, energi: 5}\n", "p.yaml:1:14: error: unknown key 'energi', did you mean 'energy'?", "p.yaml")
    particles("a mapping", b"type: e-\n", "p.yaml:1:1: error: found a mapping", "p.yaml")
    particles("a pulse without its table", b"- {type: point, x: 0, y: 0, z: 0, photons: 5, pulse: file}\n",
        "p.yaml: particle 1: error: pulse: found file, expected particles.pulse: a table of time (ns) and intensity", "p.yaml")
    particles("a particle without a position", b"- {type: e-, energy: 5}\n", "p.yaml:1:3: error: e-: expected a position: x, y, z",
        "p.yaml")
    particles("two directions", b"- {type: e-, x: 0, y: 0, z: 0, zenith: 20, dx: 0, dy: 0, dz: 1, energy: 5}\n",
        "p.yaml:1:3: error: e-: found dx, dy, dz, zenith, expected a direction: zenith and azimuth; or", "p.yaml")
