#!/usr/bin/env python3
"""Promises: configs/particles/to_csv.py gives each particle of GENIE, NUANCE, PROPOSAL and SIREN once, at its position and time;
a record that it cannot read ends it with file and line, without a traceback and without a half list.

    test_converters.py ROOT

To join: a new record gets an entry in right() or wrong(), and a new program one in MUTATED.
"""
import contextlib
import importlib.util
import io
import json
import math
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
PARTICLES = os.path.join(sys.argv[1], "configs", "particles")
LIGHT = 0.299792458  # m/ns
FAULTS = []


def load():
    spec = importlib.util.spec_from_file_location("to_csv", os.path.join(PARTICLES, "to_csv.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TO_CSV = load()


def convert(reader, data, *options):
    """Returns the rows (or none), the message, and the notes of a conversion."""
    out, notes, message = io.StringIO(), io.StringIO(), None
    with open("in", "wb") as file:
        file.write(data)
    sys.argv = ["to_csv.py", reader, "in", *options]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(notes):
            TO_CSV.main()
    except SystemExit as end:
        message = str(end.code)
    return [line.split(",") for line in out.getvalue().splitlines()[1:]], message, notes.getvalue()


def check(good, *text):
    if not good:
        FAULTS.append(" ".join(map(str, text)))


def siren(**columns):
    return json.dumps(columns).encode()


def along(energy):
    """A massless momentum along z."""
    return [energy, 0.0, 0.0, energy]


def tree(**more):
    """A vertex with muons of 12, 23 and 31 GeV and hadrons, and at 40 m the decay of the muon of 23 GeV."""
    record = {
        "vertex": [[0.0, 0.0, 0.0], [0.0, 0.0, 40.0]],
        "parent_idx": [-1, 0],
        "primary_type": [14, 13],
        "primary_momentum": [along(71.0), along(23.0)],
        "secondary_types": [[13, 13, 13, -2000001006], [11, 2212]],
        "secondary_momenta": [[along(e) for e in (12.0, 23.0, 31.0, 5.0)], [along(4.0), [1.938272, 0, 0, 1.0]]],
    }
    record.update(more)
    return siren(**{name: value for name, value in record.items() if value is not None})


def right():
    """Records and the (type, energy, time, z, length) of their rows."""
    way = 40 / LIGHT
    both = [("13", 12, 0, 0), ("13", 31, 0, 0), ("hadr", 5, 0, 0)]
    later = [("11", 4, way, 40), ("hadr", 1, way, 40)]
    yield "the muon that decays, by its momentum", "siren", tree(), both + later
    yield "no parent_idx", "siren", tree(parent_idx=None), both + later
    yield "times of SIREN", "siren", tree(
        vertex_time=[7.0, 150.0], secondary_times=[[7.0] * 4, [150.0, 151.0]]
    ), [(k, e, 7, z) for k, e, _, z in both] + [("11", 4, 150, 40), ("hadr", 1, 151, 40)]
    yield "only vertex_time", "siren", tree(vertex_time=[7.0, 150.0]), [
        (k, e, 150 if z else 7, z) for k, e, _, z in both + later
    ]
    yield "zeros of an old event", "siren", tree(vertex_time=[0.0, 0.0]), both + later
    slow = [5.0, 0.0, 0.0, 3.0]  # 0.6 of the speed of light
    yield "a slow parent", "siren", siren(
        vertex=[[0, 0, 0], [0, 0, 18]], parent_idx=[-1, 0], primary_type=[14, 5914],
        secondary_types=[[5914], [22]], secondary_momenta=[[slow], [along(5.0)]],
    ), [("22", 5, 30 / LIGHT, 18)]  # fmt: skip
    yield "a dark particle", "siren", siren(
        vertex=[[0, 0, 0]], primary_type=[14], secondary_types=[[5914, 11]], secondary_momenta=[[slow, along(1.0)]]
    ), [("dark", 5, 0, 0), ("11", 1, 0, 0)]
    begin = b"$ begin\n$ nuance 1\n$ vertex %s\n"
    end = b"$ track 13 2000.0 0 0 1 0\n$ track 8016 14000 -999 -999 -999 0\n$ end\n"
    lines = [("13", 2, 5, -340), ("1000080160", 14, 5, -340)]
    yield "GENIE in m and s", "genie", begin % b"0 1 -340 5e-9" + end, lines
    yield "NUANCE in cm and ns", "nuance", begin % b"0 100 -34000 5" + end, lines
    header = b"event,type,energy,x,y,z,dx,dy,dz,time,length\n"
    yield "names of PROPOSAL", "proposal", header + b"1,13,5e5,0,0,2e4,0,0,-1,0,3e4\n" + (
        b"1,Interaction_Type.Brems,4e4,0,0,1.5e4,0,0,-1,1.668e-7,\n"
    ), [("13", 500, 0, 200), ("brems", 40, 166.8, 150)]


def check_right():
    for name, reader, data, wanted in right():
        rows, message, _ = convert(reader, data)
        found = [(row[1], float(row[8]), float(row[9]), float(row[4])) for row in rows]
        good = message is None and len(found) == len(wanted)
        for one, other in zip(found, wanted):
            good = good and one[0] == other[0] and all(math.isclose(a, b, abs_tol=2e-3) for a, b in zip(one[1:], other[1:]))
        check(good, name, message, found, "expected", wanted)
    rows, _, notes = convert("siren", tree())
    check("1 charged particles fly 40 m" in notes, "a note of the way:", notes)
    rows, _, notes = convert("siren", tree(), "--ways")
    check([row[1::9] for row in rows[:2]] == [["13", ""], ["13", "40.0"]] and not notes, "--ways:", rows, notes)


def wrong():
    """Records and what the message says."""
    yield "siren", b"\n[1]\n", "in:2: error: record: found [1], expected an object"
    yield "siren", b"{", "in:1: error: line: found no JSON"
    yield "siren", b"[" * 5000, "in:1: error: line: found lists in lists"
    yield "siren", b"\n", "in:1: error: file: found no particle"
    yield "siren", b"\xff\n", "in:1: error: line: found bytes that are no text"
    yield "siren", siren(vertex=[]), "record: found no primary_type, secondary_momenta, secondary_types"
    yield "siren", tree(vertex=[[0, 0, 0]]), "primary_type: found a list of 2, expected a list of 1"
    yield "siren", tree(parent_idx=[-1, 1]), "parent_idx 1: found 1, expected -1, or an earlier vertex: 0 to 0"
    yield "siren", tree(primary_type=[14, 15]), "primary_type 1: found 15, expected the type of a secondary of its parent"
    yield "siren", tree(primary_momentum=None), "vertex 1: found 3 possible secondaries of type 13, expected primary_momentum"
    yield "siren", tree(primary_momentum=[along(71.0), along(20.0)]), "primary_momentum 1: found [20.0, 0.0, 0.0, 20.0]"
    yield "siren", tree(vertex_time=[0.0, 1.3e-7]), "vertex_time 1: found 1.3e-07 ns, expected 133.426 ns or more"
    yield "siren", tree(secondary_times=[[0.0], [0.0]]), "secondary_times 0: found a list of 1, expected a list of 4"
    yield "siren", tree(secondary_types=[[13, 13, 13], [11, 2212]]), "secondary_momenta 0: found a list of 4"
    yield "siren", tree(vertex=[[0, 0, "a"], [0, 0, 40]]), "vertex 0 z: found a, expected a number in m"
    yield "siren", tree(vertex=[[0, 0, True], [0, 0, 40]]), "vertex 0 z: found True, expected a number"
    yield "siren", tree(vertex=[[0, 0, 4e4], [0, 0, 40]]), "vertex 0 z: found 40000.0, expected a number in m from -10000"
    yield "siren", tree(primary_momentum=[along(71.0), [1.0, 0, 0, 23.0]]), "expected (E, px, py, pz) with E at least"
    yield "siren", tree(primary_momentum=[along(71.0), [float("nan"), 0, 0, 1]]), "found nan, expected a number in GeV"
    yield "genie", b"hello\n", "in:1: error: line: found hello, expected a line of $ begin"
    yield "genie", b"$ begin\n$ vertex 0 0 -34000 0\n", "in:2: error: vertex z: found -34000, expected a number in m from"
    yield "genie", b"$ begin\n$ vertex 0 0 0\n", "in:2: error: vertex: found 5 words, expected 6"
    yield "genie", b"$ begin\n$ begin\n", "in:2: error: line: found $ begin, expected $ end before it"
    yield "genie", b"$ track 13 1 0 0 1 0\n", "in:1: error: line: found $ track, expected $ begin before it"
    yield "genie", b"$ begin\n$ track 13 1 0 0 1 0\n", "in:2: error: track: found no vertex before it"
    yield "genie", b"$ begin\n$ vertex 0 0 0 0\n$ track 13 1 0 0 1 0\n", "in:3: error: file: found its end, expected $ end"
    yield "genie", b"$ begin\n$ vertex 0 0 0 0\n$ track x 1 0 0 1 0\n", "in:3: error: code: found x, expected a number"
    header = b"event,type,energy,x,y,z,dx,dy,dz,time,length\n"
    yield "proposal", b"event,type\n1,2\n", "in:1: error: columns: found event, type, expected also dx, dy, dz"
    yield "proposal", header + b"1,13\n", "in:2: error: line: found 2 fields, expected 11"
    yield "proposal", header + b"1,1000000011,1,0,0,0,0,0,1,0,\n", "in:2: error: type: found 1000000011, expected a PDG code"
    yield "proposal", header + b"1,13,1,0,0,0,0,0,0,0,\n", "in:2: error: dx, dy, dz: found 0, 0, 0, expected a direction"
    yield "proposal", header + b"1,13,1,0,0,0,0,0,1,1e9,\n", "in:2: error: time: found 1e9, expected a number in s"


def check_wrong():
    for reader, data, wanted in wrong():
        rows, message, _ = convert(reader, data)
        check(not rows and message and wanted in message, reader, data[:200], "says", message, "and not", wanted)


MUTATED = {"genie": "genie.txt", "nuance": "genie.txt", "proposal": "proposal.csv", "siren": "siren.jsonl"}
VALUES = [None, True, -1, 0, 1e400, 10**400, "13", "", [], [[]], {}, [1], float("nan"), "\u0661", "1_0"]


def mutate_json(value, stream):
    """Replaces, drops or doubles one node."""
    if isinstance(value, (list, dict)) and value and stream.random() < 0.8:
        key = stream.choice(list(value) if isinstance(value, dict) else range(len(value)))
        fate = stream.random()
        if fate < 0.15:
            del value[key]
        elif fate < 0.25 and isinstance(value, list):
            value.append(value[key])
        else:
            value[key] = mutate_json(value[key], stream)
        return value
    return stream.choice(VALUES)


def mutate_text(data, stream):
    data = bytearray(data)
    for _ in range(stream.randint(1, 3)):
        at = stream.randrange(len(data))
        end = at + stream.randint(0, 12)
        data[at:end] = stream.choice([b"", b"\n", b" ", b",", b"nan", b"1e999", b"\xff", b"\"", b"$ ", b"-", b"13", b"\0"])
    return bytes(data)


def check_mutated():
    """Each mutant is read, or refused with file and line. 3000 mutants of each program with a fixed seed."""
    stream = random.Random(37)
    refused = 0
    for reader, name in MUTATED.items():
        with open(os.path.join(PARTICLES, name), "rb") as file:
            example = file.read()
        for _ in range(3000):
            if reader == "siren" and stream.random() < 0.7:
                record = json.loads(tree(vertex_time=[0.0, 150.0], secondary_times=[[0.0] * 4, [150.0] * 2]))
                data = json.dumps(mutate_json(record, stream)).encode()
            else:
                data = mutate_text(example, stream)
            try:
                rows, message, _ = convert(reader, data)
            except Exception as error:  # a traceback for the user
                check(False, reader, data, "ends with", repr(error))
                return
            refused += message is not None
            good = message is None and rows or (message and not rows and re.match(r"in:\d+: error: .*: found .*, expected ", message))
            check(good, reader, data, "ends with", message)
    check(refused > 3000, "only", refused, "mutants are refused")


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    check_right()
    check_wrong()
    check_mutated()
for fault in FAULTS[:20]:
    print("FAILED:", fault)
sys.exit(bool(FAULTS))
