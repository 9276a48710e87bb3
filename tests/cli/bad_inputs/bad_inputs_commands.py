"""Cases for bad_inputs.py: sinks, standard input, the command line, info and convert. To join: one more sink(),
stream(), usage() or looked_at()."""

import json
import os
import resource
import struct

from bad_inputs_files import NAN, case, folder, good, link, locked, npy, pipe, step

# ---- sinks, streams ------------------------------------------------------------------------------


def has_the_hits(where):
    """Compares header and rows of the hits, without the metadata, with those of the good hit file."""
    with open(os.path.join(where, "hits/a.hits.npy"), "rb") as file:
        return [] if good.hits[: 1024 + 64 * good.hit_count] == file.read()[: 1024 + 64 * good.hit_count] else ["other hits"]


def has_a_summary(where):
    try:
        with open(os.path.join(where, "hits/summary.json"), "rb") as file:
            json.load(file)
        return []
    except (OSError, ValueError) as error:
        return [str(error)]


def sink(name, command, says, files=None, exit_status=74, **more):
    case("sink", name, command, exit_status, says, {**({} if more.get("stdin") else {"steps/a.steps.npy": good.steps}), **(files or {})},
        **more)


def waveform_cases():
    """Waveforms where hits are expected, and bins that cannot be."""

    def waveforms(name, keys, says):
        text = "sink: {hits: waveforms, " + keys + "}"
        case("sink", name, "validate run.yaml", 2, says, {"run.yaml": text.encode()})

    def resumed(name, data, says):
        files = {"steps/a.steps.npy": good.steps, "hits/a.hits.npy": data}
        command = "run -q -s sink.hits=waveforms -s source.files=steps/a.steps.npy"
        case("sink", name, command, 74, says, files)

    waveforms("waveforms to standard output", "directory: '-'", "run.yaml:1:14: error: sink.hits: found waveforms with")
    waveforms("bins of 0 ns", "waveform_bin: 0", "sink.waveform_bin: found '0', expected a number from 1e-06")
    waveforms("bins of NaN", "waveform_bin: .nan", "sink.waveform_bin: found '.nan'")
    waveforms("a range the wrong way round", "waveform_range: [9, 1]", "sink.waveform_range: found [9, 1], expected [LOW")
    waveforms("a range of one number", "waveform_range: [9]", "sink.waveform_range: found a list of 1")
    waveforms("a range of words", "waveform_range: [soon, late]", "sink.waveform_range")
    waveforms("2^40 bins", "waveform_bin: 1e-6, waveform_range: [0, 1099511.627776]",
        ["sink.waveform_range: found 1.09951163e+12 bins of 1e-06 ns, expected fewer than 2^31"])
    case("sink", "bins of hits", "validate run.yaml", 2,
        ["run.yaml:1:22: error: sink.waveform_bin: is for sink.hits: waveforms, and it is auto"], {"run.yaml": b"sink: {waveform_bin: 5}"})
    case("sink", "waveforms for clients", "validate run.yaml", 2, ["sink.hits: found waveforms with source.listen"],
        {"run.yaml": b"source: {listen: 'unix:s'}\nsink: {hits: waveforms}"})
    resumed("junk instead of waveforms", b"junk", "hits/a.hits.npy")


def sink_cases():
    sink("a read-only folder", "run", "sink.directory: hits/: Permission denied", {"hits": locked(None, 0o555)}, unprivileged=True)
    sink("a file", "run", "sink.directory: hits/: Not a directory", {"hits": b""})
    sink("below a file", "run -s sink.directory=file/hits", "sink.directory: file/hits: Not a directory", {"file": b""})
    sink("a device", "run -s sink.directory=/dev/null", "sink.directory: /dev/null: Not a directory")
    sink("a link to nowhere", "run", "sink.directory: hits/: No such file", {"hits": link("nowhere/at/all")})
    sink("no name", "run -s sink.directory=", "sink.directory: found", exit_status=2)
    sink("an output that is there", "run", ["hits/a.hits.npy: already exists", "nothing was computed; --resume", "--force"],
        {"hits/a.hits.npy": b"mine"})
    sink("an output that is a folder", "run --force", "hits/a.hits.npy: found a folder", {"hits/a.hits.npy": folder()})
    sink("an output that is a pipe", "run --force", "hits/a.hits.npy: found something that is not a file", {"hits/a.hits.npy": pipe()})
    sink("a folder in place of the .part", "run", "hits/a.hits.npy: cannot create its .part file", {"hits/a.hits.npy.part": folder()})
    sink("a name too long", "run -s sink.directory=" + "d" * 300, "File name too long")
    sink("an output name too long", "run -s 'source.files=*.npy'", "File name too long", {"n" * 250 + ".npy": good.steps})
    sink("a full device", "run -q -s sink.directory=-", "standard output: cannot write hits: No space left", stdout="/dev/full")
    sink("a file size limit", "run -q", "hits/a.hits.npy: cannot write: File too large", limits=((resource.RLIMIT_FSIZE, 2000),))
    sink("every stream closed", "run -s ice.model=uniform -s detector.oversize=5", [], exit_status=0, closed=(0, 1, 2), check=has_the_hits)
    sink("standard output closed", "run -q -s sink.directory=-", "standard output: cannot write hits: Bad file descriptor", closed=(1,))
    sink("a step file whose name is not UTF-8", "run -q -s 'source.files=*.npy'", [], {"\udcff.npy": good.steps}, exit_status=0,
        check=has_a_summary)
    sink("a summary to a link", "run -q --summary null", ["null: found a symbolic link, expected a summary or no file"],
        {"null": link("/dev/null")}, check=lambda where: ([] if os.path.islink(os.path.join(where, "null")) else ["the link is gone"]))
    sink("a summary in no folder", "run -q --summary none/summary.json", "none/: cannot look for .part files: No such file")
    sink("steps into a folder that is not there", "generate -s workload.steps=9 -o none/a.steps.npy",
        "none/a.steps.npy: cannot create its .part file: No such file")
    sink("steps into a file without a name", "generate -s workload.steps=9 -o ''", "found an empty name, expected that of a file")
    sink("help to a full device", "--help", "standard output: No space left on device", stdout="/dev/full")
    sink("help of a command to a full device", "run --help", "standard output: No space left on device", stdout="/dev/full")
    sink("steps over a file", "generate -s workload.steps=9 -o steps/a.steps.npy", "steps/a.steps.npy: found an existing file")
    sink("steps over a device", "generate -s workload.steps=9 -o null --force", "null: found something that is not a file",
        {"null": link("/dev/null")})
    sink("steps to a full device", "generate -s workload.steps=9 -o -", "No space left on device", stdout="/dev/full")


    def stream(name, data, says, exit_status=3):
        case("standard input", name, "run -q -s source.files=- -s sink.directory=hits -s ice.model=uniform", exit_status, says, stdin=data)

    message = npy(step())
    stream("text", b"hello\n", "standard input, message 0: byte 0: found no .npy magic string")
    stream("a message cut in its header", message[:50], "standard input, message 0: byte 50: found the end")
    stream("a message cut in its rows", message[:-10], ["standard input, message 0: byte", "10 bytes more of the rows"])
    stream("junk behind a message", message + b"junk", "standard input, message 1: byte 0: found no .npy magic")
    stream("a trailer that is not announced", message + b"{junk",
        ["standard input, message 1: byte 0: found a trailer", "announces no trailer"])
    stream("a message with a trailer cut short", good.steps[:-5], ["standard input, message 0: ", "5 bytes more of the trailer"])
    stream("2^50 rows announced", npy(step(), shape="(1125899906842624,)"), ["expected", "of the rows"])
    stream("a step id twice", npy(step(), step(step_id=1), step()), "found 0 twice in event 0")
    case("standard input", "closed", "run -q -s source.files=-", 3, "standard input: byte 0: cannot read: Bad file descriptor", closed=(0,))
    case("standard input", "a folder", "run -q -s source.files=-", 3, "cannot read: Is a directory", {"folder": folder()}, stdin="folder")
    for name, key, says in (
        ("an address that others reach", "source.listen=0.0.0.0:4711", "which other machines can reach"),
        ("no address", "source.listen=here", "expected unix:PATH or HOST:PORT"),
        ("numbers for others", "metrics.listen=0.0.0.0:9464", "without metrics.token, metrics are not served to other machines"),
    ):
        case("clients", name, "validate -s " + key, 2, ["--set " + key.split("=")[0], says], {})
    case("clients", "numbers of a run for others", "run -q -s workload.steps=1 -s metrics.listen=0.0.0.0:9464", 2,
        "--set metrics.listen: error: metrics.listen: found '0.0.0.0:9464', expected HOST:PORT")
    case("claimed files", "a folder that is not there", "run -q -s source.directory=none", 2,
        "--set source.directory: error: none: No such file", {})
    case("claimed files", "not a step file", "run -q -s source.directory=in", 3, "1 of 1 files quarantined",
        {"in/a.steps.npy": b"nonsense"})


# ---- commands ------------------------------------------------------------------------------------


def command_cases():
    def usage(name, command, says, exit_status=2, **more):
        case("command line", name, command, exit_status, says, **more)

    usage("nothing", "", "icestream: expected a command")
    usage("an unknown command", "rnu", "unknown command rnu; did you mean run?")
    usage("an empty command", "''", "unknown command")
    usage("an unknown option", "run --forse", "unknown option --forse; did you mean --force?")
    usage("an option of another command", "validate --force", "this command has no option --force")
    usage("an unknown letter", "run -qx", "unknown option")
    usage("a value for a switch", "run --force=yes", "--force=yes")
    usage("an option before the command", "-s run.seed=1 run", "unknown option -s; options follow the name")
    usage("a key as an option", "run --run.seed=1", "key of the configuration is given by --set run.seed=1")
    usage("a key without --set", "run a.yaml run.seed=1", "given by --set KEY=VALUE")
    usage("--set with blanks", "run a.yaml --set run.seed = 1", "--set KEY=VALUE has no blanks around =")
    usage("a path with a tilde", "validate -s detector.file=~/d.csv", "found '~/d.csv', expected the whole path")
    usage("a path with a variable of the shell", "validate -s detector.file=data/$RUN/d.csv", "variables such as $HOME are not replaced")
    usage("no value", "run --set", "expected a value after --set")
    usage("two configurations", "run a.yaml b.yaml", "unexpected argument b.yaml")
    usage("--set without =", "run -s run.seed", "--set run.seed: error: expected path=value")
    usage("--set without a key", "run -s =1", "--set =1: error: expected path=value")
    usage("--set of an unknown key", "run -s run.sede=1", "did you mean 'run.seed'?")
    usage("--set of a section", "run -s run=1", "'run' is a section, expected a key in it: seed")
    usage("--set that is no YAML", "run -s 'detector.excluded=[[1, 2'", "--set detector.excluded=")
    usage("--set of a wrong value", "run -s graph.pool=big", "graph.pool: found 'big'")
    usage("--set of a key without end", "run -s %s=1" % ("a." * 5000), "unknown key")
    usage("--set that is not UTF-8", "run -s source.files=\udcff", "not valid UTF-8")
    usage("an unknown instruction set", "run -s device.instruction_set=mmx", "found 'mmx'")
    usage("no GPU", "run -s device.backend=cuda", "device.backend: found cuda", 1)
    usage("info of nothing", "info", "icestream info: expected FILE")
    usage("info of what is not there", "info none.npy", "none.npy: cannot open: No such file", 3)
    usage("generate without a file", "generate", "expected --output FILE")
    usage("merge of nothing", "merge -o b.npy", "icestream merge: expected FILE")
    usage("merge without a file", "merge a.npy", "icestream merge: expected --output FILE")
    usage("merge into a table", "merge a.npy -o b.csv", "--output: found b.csv")
    usage("merge of what is not there", "merge none.npy -o b.npy", "none.npy: cannot open: No such file", 3)
    usage("merge of an empty folder", "merge in -o b.npy", "in: found no file with a name in *.hits.npy", 3, files={"in": folder()})
    usage("merge of rows", "merge a.npy -o b.npy --rows 5", "--rows: found no --watch, which it is for")
    usage("merge into one row", "merge --watch in -o b.hits.npy --rows 0", "--rows")
    usage("merge that watches two folders", "merge --watch in out -o b.hits.npy", "--watch: found 2 operands, expected one folder")
    usage("merge that watches and replaces", "merge --watch in -o b.hits.npy --force", "--force: cannot go with --watch")
    usage("merge that watches for any name", "merge --watch in -o b.npy", "--output: found b.npy, expected a name that ends in .hits.npy")
    usage("merge that watches nothing", "merge --watch in -o b.hits.npy", "in: cannot be read: No such file", 3)
    usage("merge of steps", "merge a.steps.npy -o b.npy", "a.steps.npy: ", 3, files={"a.steps.npy": good.steps})
    usage("merge of hits without a trailer", "merge a.npy -o b.npy",
        "a.npy: trailer: found no seed or no digests of configuration, ice and detector", 3,
        files={"a.npy": good.hits[: 1024 + 64 * good.hit_count]})
    usage("merge of hits twice", "merge a.npy b.npy -o c.npy", "b.npy: found hits of the step file with SHA-256 ", 3,
        files={"a.npy": good.hits, "b.npy": good.hits})
    usage("merge into a folder that is not there", "merge a.npy -o none/b.npy", "none/b.npy", 74, files={"a.npy": good.hits})
    usage("merge into what is there", "merge a.npy -o b.npy", "b.npy: found an existing file, expected none (--force overwrites)", 74, files={"a.npy": good.hits, "b.npy": b"mine"})
    usage("bench without photons", "bench -s workload.steps=0", "workload.steps: found 0, expected 1 or more")
    usage("compare of one schedule", "compare --schedules wavefront", "one schedule alone")
    usage("compare of commas", "compare --schedules ,,", "--schedules: found ''")
    usage("compare of a GPU schedule", "compare --schedules event-wavefront,wavefront", "--schedules: found 'event-wavefront'")
    usage("compare against nothing", "compare --against none.yaml", "none.yaml: error: cannot open")
    usage("convert of one kind", "convert a.npy b.npy", "b.npy: found an unknown ending, expected .txt or .csv")
    usage("convert of an unknown kind", "convert a.txt b.csv", "a.txt: found an unknown ending")
    usage("a pool larger than the memory", "validate -s device.threads=2 -s graph.pool=268435456",
        "graph.pool: found too much: 2 threads with 268435456 photon slots each need ", limits=((resource.RLIMIT_AS, 1 << 30),),
        unsanitized=True)
    usage("more threads than there may be", "validate -s device.threads=1000",
        "device.threads: found too much: 1000 threads with 1024 photon slots each need ", limits=((resource.RLIMIT_AS, 1 << 30),),
        unsanitized=True)

    def looked_at(name, data, says, command="info --verify a.npy", exit_status=3):
        case("info, convert", name, command, exit_status, says,
            {(command.split()[-1].split("/")[-1] if command.startswith("info") else command.split()[1]): data})

    looked_at("neither steps nor hits", npy(bytes(4), types="[('a', '<f4')]"),
        "a.npy: header: found neither field photons nor field photon_id")
    looked_at("hits cut short", good.hits[:-200], "a.npy: trailer")
    looked_at("hits without a trailer", good.hits[: 1024 + 64 * good.hit_count], "a.npy: found no trailer, expected one")
    swapped = good.hits[:1024] + good.hits[1088:1152] + good.hits[1024:1088] + good.hits[1152:]
    looked_at("two hits exchanged", swapped, "a.npy: rows 0 to 16383: found CRC-32C")
    late = bytearray(good.hits)
    late[1024 + 8 : 1024 + 16] = struct.pack("<d", NAN)
    looked_at("a hit at NaN", bytes(late), "a.npy: rows 0 to 16383: found CRC-32C")
    looked_at("a bad step", npy(step(), step(step_id=1, beta=2)), "a.npy: row 1, field beta: found 2")
    looked_at("a folder", folder(), "a.npy: found a folder")
    looked_at("HDF5", b"\x89HDF\r\n\x1a\n" + bytes(2000), "from_hdf5() in Python makes .npy", "info a.h5")
