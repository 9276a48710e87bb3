"""Cases for bad_inputs.py: tracing photons, hits in another ice, hits as text and as waveforms. To join: one more traced(),
replayed() or converted()."""

import struct

from bad_inputs_files import NAN, case, folder, good, npy, step


def traced(name, command, says, files=None, exit_status=2, **more):
    case("trace", name, "trace -s ice.model=uniform -o p.npy " + command, exit_status, says,
        {"a.hits.npy": good.hits, "steps/a.steps.npy": good.steps, **(files or {})}, **more)


def trace_cases():
    traced("no photons", "", "trace: expected photons: --hits FILE, --photon EVENT:STEP:PHOTON")
    case("trace", "no output", "trace --photon 0:0:0", 2, "icestream trace: expected --output FILE", {})
    traced("an option that left", "--hits a.hits.npy --select t>0", "the option --select of trace left in version 0.3.0; use --hits FILE")
    traced("hits that are steps", "--hits steps/a.steps.npy", "found a file of steps (its fields are theirs), expected one of hits", exit_status=3)
    traced("hits that are not there", "--hits none.npy", "none.npy: cannot open", exit_status=3)
    traced("damaged hits", "--hits a.hits.npy", "a.hits.npy: ", {"a.hits.npy": good.hits[:1100] + b"\xff" + good.hits[1101:]}, 3)
    traced("a photon of two numbers", "--photon 0:1", "--photon: found '0:1', expected EVENT:STEP")
    traced("a negative photon", "--photon 0:1:-1", "--photon: found '0:1:-1'")
    traced("a photon beyond 32 bits", "--photon 0:1:4294967296", "--photon: found '0:1:4294967296'")
    traced("a step that is not there", "--photon 0:40:0", "event_id 0, step_id 40: found no such step in 1 step file", exit_status=3)
    traced("a photon that is not there", "--photon 0:39:500", "found photons 0 to 499, expected photon 500 among them", exit_status=3)
    traced("a list that is not there", "--photon @none", "none: error: No such file")
    traced("a list that is a folder", "--photon @list", "list: error: found a folder", {"list": folder()})
    traced("a list with junk", "--photon @list", ["list:2:1: error: photon: found '0:1'", "list:3:7: error: photon: found"],
        {"list": b"0:1:2 # the first\n0:1\n0:1:3 \xff\x01\n"})
    traced("an empty list", "--photon @list", "found no photon in the lists", {"list": b"# none\n"})
    traced("two steps of one name", "--photon 0:0:0", "found two different steps with event_id 0 and step_id 0",
        {"steps/b.steps.npy": npy(step())}, 3)
    traced("damaged steps", "--photon 0:0:0 --steps a.npy", "a.npy: row 0, field beta: found 2", {"a.npy": npy(step(beta=2))}, 3)
    traced("hits of another seed", "-s detector.oversize=5 -s run.seed=2 --hits a.hits.npy",
        "hits were not reproduced, expected all to the last bit", exit_status=1)
    traced("hits of other steps", "--hits a.hits.npy", "from which the hits were made", {"steps/a.steps.npy": npy(step())}, 3)
    traced("an output that is there", "--photon 0:0:0", "p.npy: found an existing file", {"p.npy": b"mine"}, 74)
    traced("steps from a pipe", "-s source.files=[-] --photon 0:0:0", 'source.files: found "-"')


def replayed(name, command, says, files=None, exit_status=2):
    case("hits in another ice", name, command, exit_status, says,
        {"a.hits.npy": good.hits, "steps/a.steps.npy": good.steps, "to.yaml": b"ice: {tilt: false}\n", **(files or {})})


def replay_cases():
    reweight, gradient = "reweight a.hits.npy -o w.npy ", "gradient a.hits.npy -o g.npy "
    replayed("no target", reweight, "--to: found 0 targets, expected 1 to 64")
    replayed("no output", "reweight a.hits.npy --to to.yaml", "reweight: expected --output FILE")
    replayed("no hits", "reweight to.yaml --to to.yaml -o w.npy", "found no hit file after to.yaml, expected at least one")
    replayed("a target that is not there", reweight + "--to none.yaml", "none.yaml: error: ")
    replayed("a target that is a folder", reweight + "--to list", "list: error: ", {"list": folder()})
    replayed("a target with junk", reweight + "--to to.yaml", "to.yaml:1:7: error: unknown key 'ice.tlit', did you mean 'ice.tilt'?",
        {"to.yaml": b"ice: {tlit: false}\n"})
    replayed("a target with a wrong value", reweight + "--to ice.tilt=2", "ice.tilt: found '2', expected true or false")
    replayed("a target with other modules", reweight + "--to detector.radius=0.2", "detector.radius: found 0.2, expected 0.1651 as in the hits")
    replayed("a target with another seed", reweight + "--to run.seed=7", "run.seed: found 7, expected 1 as in the hits")
    replayed("a target with a header", reweight + "--to to.yaml", "stages.scatter: found ",
        {"to.yaml": b"stages: {scatter: {source: my.h}}\n", "my.h": b"\n"})
    replayed("another configuration", "reweight to.yaml -s run.seed=7 a.hits.npy --to to.yaml -o w.npy", "run.seed (1, 7)")
    replayed("hits that are steps", "reweight steps/a.steps.npy --to to.yaml -o w.npy", "found a file of steps", exit_status=3)
    replayed("hits that were cut", reweight + "--to to.yaml", "a.hits.npy: ", {"a.hits.npy": good.hits[:-40]}, 3)
    replayed("hits that were edited", reweight + "--to to.yaml", "a.hits.npy: ", {"a.hits.npy": good.hits[:1100] + b"\xff" + good.hits[1101:]}, 3)
    replayed("hits without a trailer", reweight + "--to to.yaml", "a.hits.npy: trailer: settings: found none",
        {"a.hits.npy": good.hits[:1024 + 64 * good.hit_count]}, 3)
    replayed("hits of other steps", reweight + "--to to.yaml", "from which the hits were made", {"steps/a.steps.npy": npy(step())}, 3)
    replayed("steps of other hits", reweight + "--to to.yaml --steps b.npy", "b.npy", {"b.npy": npy(step())}, 3)
    replayed("weights instead of hits", "reweight a.hits.npy --to to.yaml -o a.hits.npy --force", "--output: found a.hits.npy, which is an input")
    replayed("weights that are there", reweight + "--to to.yaml", "w.npy: found an existing file", {"w.npy": b"mine"}, 74)
    replayed("a parameter that is none", gradient + "-p layers.colour", "--parameters: found layers.colour, expected one of layers.scattering")
    replayed("a parameter twice", gradient + "-p mean_cosine mean_cosine", "--parameters: found mean_cosine, expected each key once")
    replayed("a parameter of columns", gradient + "-p hole.absorption", "which has no columns of hole ice")
    replayed("a size that is none", gradient + "--dense=many", "--dense: found many, expected a size such as 4GB")
    replayed("derivatives that are too many", gradient + "--dense=1kB", "expected at most 1000")


def converted(name, command, says, files=None, exit_status=2):
    case("hits as text and waveforms", name, "convert " + command, exit_status, says, {"a.hits.npy": good.hits, **(files or {})})


def exchange_cases():
    late = bytearray(good.hits[: 1024 + 64 * good.hit_count])
    late[1024 + 8 : 1024 + 16] = struct.pack("<d", NAN)
    far = bytearray(late)
    far[1024 + 8 : 1024 + 16] = struct.pack("<d", 1e300)
    converted("steps as text", "a.npy a.txt", "a.npy: found a file of steps (its fields are theirs), expected one of hits", {"a.npy": good.steps}, 3)
    converted("text that is read", "a.txt a.npy", "a.txt: found an unknown ending", {"a.txt": b""})
    converted("a NaN as text", "b.npy b.txt", "field t: found nan", {"b.npy": bytes(late)}, 3)
    converted("text over a file", "a.hits.npy b.txt", "found an existing file", {"b.txt": b""}, 74)
    converted("a NaN as CSV", "b.npy b.csv", "field t: found nan", {"b.npy": bytes(late)}, 3)
    for left, instead in (("a.h5", "convert.to_hdf5() or"), ("a.vtp", "scene.hits(),")):
        converted("an ending that left: " + left, "a.hits.npy " + left, left + ": the ending " + left[1:] + " of convert left in version 0.3.0; use icestream." + instead)
    converted("an option that left", "a.hits.npy a.csv --detector m.csv", "the option --detector of convert left in version 0.3.0; use icestream.scene")
    converted("a format for a file", "--format csv a.hits.npy a.csv", "--format: expected - as TO")
    converted("a format of waveforms", "--format csv --waveforms 5 a.hits.npy -", "--format: found --waveforms")
    converted("an unknown format", "--format xml a.hits.npy -", "--format: found 'xml', expected txt or csv")
    converted("bins of no width", "--waveforms 0 a.hits.npy w.npy", "--waveforms: found 0")
    converted("bins of words", "--waveforms wide a.hits.npy w.npy", "--waveforms: found 'wide'")
    converted("bins without end", "--waveforms inf a.hits.npy w.npy", "--waveforms: found 'inf'")
    converted("waveforms as HDF5", "--waveforms 5 a.hits.npy w.h5", "w.h5: found an unknown ending")
    converted("a range of one number", "--waveforms 5 --range 3 a.hits.npy w.npy", "--range: found '3'")
    converted("an empty range", "--waveforms 5 --range 3:3 a.hits.npy w.npy", "--range: found 3:3")
    converted("too many bins", "--waveforms 1e-6 --range 0:1e6 a.hits.npy w.csv", "--range: found 1e+12 bins, expected fewer")
    converted("a range alone", "--range 3:4 a.hits.npy w.npy", "--range: expected --waveforms")
    converted("a hit after all bins", "--waveforms 5 b.npy w.npy", "which is 1e+300 ns away from another hit of the same step",
        {"b.npy": bytes(far)}, 3)
    converted("NaN in waveforms", "--waveforms 5 b.npy w.csv", "field t: found nan", {"b.npy": bytes(late)}, 3)
