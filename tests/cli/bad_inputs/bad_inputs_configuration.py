"""Cases for bad_inputs.py: run files. To join: one more configuration(name, text, message), or a case() if
the fault is that of the file and not of its text."""

from bad_inputs_files import case, folder, link, locked, npy, pipe, sparse, step


def configuration(name, text, says, exit_status=2):
    data = text.encode() if isinstance(text, str) else text
    case("configuration", name, "validate run.yaml", exit_status, says, {"run.yaml": data})


def configuration_cases():
    configuration("a mapping that does not end", "run: {seed: 1", "run.yaml:2:1: error: did not find expected ',' or '}'")
    configuration("a list at the top", "[1, 2]", ["run.yaml:1:1: error:", "found a list", "mapping"])
    configuration("a word at the top", "hello", ["run.yaml:1:1: error:", "'hello'"])
    configuration("tabs as indentation", "run:\n\tseed: 1\n", ["run.yaml:2:1: error:", "tabs"])
    configuration("a tag", "run: {seed: !!int 1}", ["run.yaml:1:13: error:", "tags are not supported"])
    configuration("two documents", "run: {seed: 1}\n---\nrun: {seed: 2}\n", ["run.yaml:2:1: error:", "second document"])
    configuration("an unknown key", "graph: {scedule: auto}", ["run.yaml:1:9: error:", "graph.scedule", "did you mean 'graph.schedule'?"])
    configuration("a key that left", "graph: {compact: {method: partition}}",
        ["run.yaml:1:19: error: the key 'graph.compact.method' left in version 0.3.0; use stages.compact"])
    configuration("volumes, which left", "sink: {rotate: 100}",
        ["run.yaml:1:8: error: the key 'sink.rotate' left in version 0.3.0; use icestream merge"])
    configuration("a key twice", "run: {seed: 1, seed: 2}", ["run.yaml:1:16: error:", "'seed' is given twice, first at run.yaml:1:7"])
    configuration("a section twice", "run: {seed: 1}\nrun: {seed: 2}\n", ["run.yaml:2:1: error:", "'run' is given twice"])
    configuration("a key with a dot", "graph.schedule: auto", ["run.yaml:1:1: error:", "graph: {schedule"])
    configuration("a list as a key", "? [a, b]\n: 1\n", ["run.yaml:1:3: error:", "a key must be a word"])
    configuration("a merge key", "run: &a {seed: 1}\ngraph: {<<: *a}\n", ["run.yaml:2:9: error:", "merge keys"])
    configuration("text for a number", "run: {seed: one}", ["run.yaml:1:13: error:", "run.seed: found 'one', expected a whole number"])
    configuration("a negative seed", "run: {seed: -1}", "run.seed: found '-1', expected")
    configuration("a seed beyond 64 bits", "run: {seed: 18446744073709551616}", "run.seed: found '18446744073709551616', expected")
    configuration("an exponent without end", "run: {seed: 1e999999999999999999999}", "run.seed: found '1e999999999999999999999'")
    configuration("a fraction for a whole number", "graph: {pool: 1000.5}", "graph.pool: found '1000.5'")
    configuration("a quoted number", "run: {seed: '1'}", ["run.seed: found", "expected a whole number"])
    configuration("a pool of 2^29", "graph: {pool: 536870912}",
        ["graph.pool: found '536870912', expected a whole number from 16 to 268435456"])
    configuration("settings of a kernel that is not there", "graph: {tune: {monolitic: {threads: 256}}}",
        ["run.yaml:1:16: error: graph.tune: found the kernel 'monolitic', expected one of create,"])
    configuration("more registers than a multiprocessor has", "graph: {tune: {monolithic: {threads: 512, registers: 255}}}",
        ["run.yaml:1:28: error: graph.tune.monolithic: found 255 registers", "at most 128"])
    configuration("no threads", "device: {threads: 0}", "device.threads: found '0', expected")
    configuration("oversize NaN", "detector: {oversize: .nan}", "detector.oversize: found '.nan'")
    configuration("oversize infinite", "detector: {oversize: 1e400}", "detector.oversize: found '1e400'")
    configuration("a radius of zero", "detector: {radius: 0}", "detector.radius: found '0', expected")
    configuration("checkpoints of a table all the time", "stages: {tabulate: spherical}\ntable: {checkpoint: 0}",
        ["run.yaml:2:21: error: table.checkpoint: found '0', expected a number from 0.001 to 86400, or off"])
    configuration("a scalar for a section", "graph: fast", ["run.yaml:1:8: error:", "graph: found 'fast'"])
    configuration("a mapping for a scalar", "run: {seed: {a: 1}}", "run.seed: found a mapping")
    configuration("two kinds of ice", "ice: {model: uniform, file: a.yaml}", ["only one of", "ice.file", "ice.model"])
    configuration("absorbing planes upside down", "ice: {absorb_above: -10, absorb_below: 10}",
        ["ice.absorb_above", "expected it above ice.absorb_below"])
    configuration("an excluded module that is not there", "detector: {excluded: [[87, 1]]}",
        ["detector.excluded: found [87, 1], expected a module of hex86"])
    configuration("an excluded module of three numbers", "detector: {excluded: [[1, 2, 3]]}",
        ["detector.excluded: found", "expected [string, module]"])
    configuration("a spectrum without light", "light: {spectra: [{}]}", "run.yaml:1:19: error: the key 'line' is missing")
    configuration("a line outside the band", "light: {spectra: [{line: 800}]}", "line: found '800'")
    configuration("250 spectra", "light: {spectra: [%s]}" % ", ".join(["{line: 400}"] * 250), ["light.spectra", "at most 249"])
    configuration("standard input twice", 'source: {files: ["-", "-"]}', ["source.files", "only once"])
    configuration("no source", "source: {files: []}", ["source.files: found", "expected a list of paths"])
    configuration("a GPU schedule on the CPU", "device: {backend: cpu}\ngraph: {schedule: event-wavefront}\n", "graph.schedule: 'event-wavefront' needs a GPU")
    configuration("an unknown anchor", "run: {seed: *a}", ["run.yaml:1:13: error:", "unknown anchor '*a'"])
    configuration("an anchor in itself", "source: &a {files: [*a]}", "contains itself")
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 12):
        bomb += "a%d: &a%d [%s]\n" % (i, i, ", ".join(["*a%d" % (i - 1)] * 10))
    configuration("an alias bomb", bomb, ["run.yaml:", "too many values"])
    configuration("2000 anchors", "".join("k%d: &k%d 1\n" % (i, i) for i in range(2000)), "anchors")
    configuration("brackets without end", "[" * 1000000, ["run.yaml:1:33: error:", "nested deeper than 32"])
    configuration("mappings inside each other", "{a: " * 100000, "nested deeper than 32 levels")
    configuration("a word of 8 MiB", "x" * (8 << 20), "run.yaml:1:1: error:")
    configuration("a key of 100 000 letters", "k" * 100000 + ": 1\n", "run.yaml:1")
    configuration("1 000 001 values", "[" + "1," * 1000001 + "]", ["run.yaml:", "too many values"])
    configuration("300 000 %TAG directives", "".join("%%TAG !%x! x\n" % i for i in range(300000)) + "--- {}\n",
        ["run.yaml:1:1: error:", "%TAG"])
    configuration("200 000 unknown keys", "".join("%040d: 1\n" % i for i in range(200000)),
        ["run.yaml:1:1: error: unknown key", "run.yaml: error: and 199990 more"])
    configuration("a NUL", b"run: {seed: 1}\n\0", ["run.yaml:2:1: error:", "0x00"])
    configuration("an escaped NUL", 'ice: {file: "a\\0b"}', ["run.yaml:1:13: error:", "NUL"])
    configuration("not UTF-8", b"run: {seed: \xff\xfe}\n", ["run.yaml:1:13: error:", "not valid UTF-8", "0xFF"])
    configuration("UTF-16", "run: {seed: 1}".encode("utf-16"), ["run.yaml:1:1: error:", "not valid UTF-8"])
    configuration("binary junk", bytes(range(256)) * 16, "run.yaml:1:1: error:")
    case("configuration", "a word that is a .npy file", "validate run.yaml", 2, "run.yaml:1:1: error:", {"run.yaml": npy(step())})
    case("configuration", "not there", "run run.yaml", 2, "run.yaml: error: cannot open the file: No such file")
    case("configuration", "a folder", "run run.yaml", 2, "run.yaml: error: found a folder", {"run.yaml": folder()})
    case("configuration", "a folder as a stage header", "run -s 'stages.scatter={source: .}' -s workload.steps=1", 2,
        ".: found a folder, expected a file of at most 16 MiB")
    case("configuration", "a stage header that keeps a value", "run -s 'stages.scatter={source: mine.h}' -s workload.steps=1", 2,
        "mine.h(3): error: found the variable 'calls', which keeps its value between calls, expected none, or const",
        {"mine.h": b"ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n{\n    static int calls;\n    return (float)(calls++ % 2) * u;\n}\n"})
    case("configuration", "candidates with a header for collide", "validate run.yaml", 2,
        "found axis candidates, which counts what a built-in variant tests, and stages.collide is a header",
        {"run.yaml": b"sink: {checkpoint: off, histograms: [{name: candidates, from: 0, to: 9, bins: 9}]}\nstages: {collide: {source: mine.h}}\n", "mine.h": b""})
    case("configuration", "a pipe", "run run.yaml", 2, "run.yaml: error: found a pipe", {"run.yaml": pipe()})
    case("configuration", "a device without end", "run run.yaml", 2, "run.yaml: error: found a pipe", {"run.yaml": link("/dev/zero")})
    case("configuration", "a link to itself", "run run.yaml", 2, "run.yaml: error: cannot open the file: Too many levels",
        {"run.yaml": link("run.yaml")})
    case("configuration", "unreadable", "run run.yaml", 2, "run.yaml: error: cannot open the file: Permission denied",
        {"run.yaml": locked(b"run: {seed: 1}")}, unprivileged=True)
    case("configuration", "17 MiB", "run run.yaml", 2, "expected at most 16777216", {"run.yaml": sparse(b"run: {}\n", 17 << 20)})
    # The empty file is a run with all defaults: it fails for want of steps.
    case("configuration", "empty", "run run.yaml", 2, "steps/*.steps.npy: found no file of that pattern", {"run.yaml": b""})


def histogram(name, text, says):
    configuration(name, "sink: {histograms: %s}" % text, says)


def histogram_cases():
    axis = "{name: time, from: 0, to: 9, bins: 9}"
    histogram("a histogram of nothing", "[[]]", "run.yaml:1:21: error: sink.histograms: found a list of 0 axes")
    histogram("a histogram of four axes", "[[%s]]" % ", ".join([axis] * 4), "found a list of 4 axes, expected one to 3")
    histogram("a histogram of words", "[time]", "run.yaml:1:21: error: found 'time', expected a mapping")
    histogram("a histogram of an unknown quantity", "[{name: tine, from: 0, to: 9, bins: 9}]", "did you mean 'time'?")
    histogram("a histogram without bins", "[{name: time, from: 0, to: 9}]", "bins")
    histogram("a histogram of no bins", "[{name: time, from: 0, to: 9, bins: 0}]", "found '0', expected a whole number from 1")
    histogram("a histogram of 2^40 bins", "[{name: time, from: 0, to: 9, bins: 1099511627776}]", "from 1 to 1048574")
    histogram("a histogram backwards", "[{name: time, from: 9, to: 0, bins: 9}]", "axis time: found from 9 and to 0")
    histogram("a histogram up to infinity", "[{name: time, from: 0, to: .inf, bins: 9}]", ["run.yaml:1:47: error:", "to: found '.inf'"])
    histogram("a logarithm of zero", "[{name: time, from: 0, to: 9, bins: 9, scale: log}]", "found from 0 and scale log")
    for quantity, bins in (("bounces", 100), ("path", 64), ("time", 9)):
        histogram("a logarithm of %s from a number that no float has" % quantity,
            "[{name: %s, from: 1e-300, to: 100, bins: %d, scale: log}]" % (quantity, bins),
            ["axis %s: found from 1e-300 and scale log, expected from 1.17549e-38 or above" % quantity])
    histogram("bins whose edges are the same number", "[{name: time, from: 1e15, to: 1000000000000001, bins: 900}]", "expected wider bins")
    histogram("an axis of a histogram twice", "[[%s, %s]]" % (axis, axis), "found axis time twice in one histogram")
    histogram("histograms with too many bins",
        "[[{name: string, from: 0, to: 1022, bins: 1022}, {name: module, from: 0, to: 1022, bins: 1022}], %s]" % axis,
        ["run.yaml:1:20: error: sink.histograms: found 1048587 bins with their under- and overflow, expected at most 1048576"])
    configuration("histograms of messages", 'sink: {directory: "-", histograms: [%s]}' % axis,
        ["sink.histograms: is for files, whose trailer has the histograms"])
    configuration("histograms of hits and waveforms", "sink: {hits: waveforms, histograms: [%s]}" % axis,
        ["sink.histograms: counts hits, and the files of sink.hits: waveforms have none"])
    bounces = "{name: bounces, from: 0, to: 64, bins: 64}"
    histogram("bounces together with hits", "[[%s, %s]]" % (bounces, axis), ["found axis bounces among 2 axes, expected it alone, because it counts photons"])
    histogram("many bins of bounces", "[{name: bounces, from: 0, to: 65537, bins: 65537}]", ["axis bounces: found 65537 bins, expected at most 65536"])
    path = "{name: path, from: 0, to: 64, bins: 64}"
    delay = "{name: delay, from: 1, to: 64, bins: 70000, scale: log}"
    steps = "{name: photons, from: 0, to: 64, bins: 64}"
    histogram("path by delay", "[[%s, %s]]" % (path, delay), "found axis path among 2 axes, expected it alone, because it counts photons")
    layers = "{name: layers, from: 1, to: 9, bins: 8}"
    histogram("layers by bounces", "[[%s, %s]]" % (layers, bounces), ["found axis layers among 2 axes, expected it alone, because it counts segments of photons"])
    histogram("many bins of layers", "[{name: layers, from: 1, to: 66, bins: 65}]", ["axis layers: found 65 bins, expected at most 64, because it counts segments of photons"])
    histogram("candidates by layers", "[[{name: candidates, from: 0, to: 9, bins: 9}, %s]]" % layers, ["found axis candidates among 2 axes, expected it alone, because it counts segments of photons"])
    histogram("layers with checkpoints", "[%s]" % layers, "which checkpoints do not hold; expected sink.checkpoint: off")
    histogram("steps together with hits", "[[%s, %s]]" % (axis, steps), ["found axis photons among 2 axes, expected it alone, because it counts steps"])
    histogram("many bins of delay", "[%s]" % delay, "axis delay: found 70000 bins, expected at most 65536")
    histogram("five histograms of photons", "[%s]" % ", ".join([bounces, path] * 2 + [bounces]),
        ["found 5 histograms of photons, expected at most 4"])
    histogram("five histograms of photons with few and many bins",
        "[%s]" % ", ".join([bounces, path.replace("bins: 64", "bins: 640")] * 2 + [layers]),
        ["found 5 histograms of photons, expected at most 4"])
    histogram("bounces with checkpoints", "[%s]" % bounces, "which checkpoints do not hold; expected sink.checkpoint: off")
    histogram("steps with checkpoints", "[%s]" % steps, "which checkpoints do not hold; expected sink.checkpoint: off")
