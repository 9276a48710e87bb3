#!/usr/bin/env python3
"""Writes a list of particles for icestream (CSV) from texts of other programs.

    to_csv.py genie events.txt > events.csv       # gntpc -f nuance_tracker or t2k_tracker: m, s, MeV
    to_csv.py nuance events.txt > events.csv      # the same format as NUANCE and WCSim write it: cm, ns, MeV
    to_csv.py proposal losses.csv > events.csv    # written as docs/particles.md shows: cm, s, MeV
    to_csv.py siren events.jsonl > events.csv     # written as docs/particles.md shows: m, ns, GeV

The axes of the lists must be those of the detector: x, y and z up, in the coordinates of its modules. A wrong record
ends the program with its file and line, and nothing is written. --ways also writes charged particles of SIREN that
interact again, as tracks to their next vertex.
"""

import csv
import json
import math
import os
import reprlib
import shutil
import sys
import tempfile

COLUMNS = ["event", "type", "x", "y", "z", "dx", "dy", "dz", "energy", "time", "length"]
LIGHT_SPEED = 0.299792458  # m/ns
MASS = {2212: 0.938272, 2112: 0.939565}  # GeV
# Interaction types of PROPOSAL (Particle.h), as names and as numbers from 1000000000. The light of a continuous loss
# is that of the track. A decay is no loss: its products are particles.
LOSS = {
    "Brems": "brems", "Ioniz": "delta", "Epair": "epair", "Photonuclear": "munu", "MuPair": "MuPair", "Hadrons": "hadr",
    "ContinuousEnergyLoss": "ContinuousEnergyLoss", "WeakInt": "hadr", "Compton": "delta", "Annihilation": "gamma",
    "Photopair": "epair",
}  # fmt: skip
LOSS_CODES = dict(zip([*range(2, 11), 12, 13], LOSS))
# Particles of SIREN without charge that make no light unless they interact again (ParticleTypes.def).
INVISIBLE = {*range(5910, 5917), 5921, 5901, 5902, 5903}
CHARGED = {11, 13, 15}
FARTHEST = 1e4  # m, the largest coordinate of icestream


class Fault(Exception):
    """A record that cannot be read: the field, what was found, what was expected."""

    def __init__(self, what, found, expected):
        found = found if isinstance(found, str) else reprlib.repr(found)
        super().__init__(f"{what}: found {found[:60]}, expected {expected}")


def number(value, what, low=-math.inf, high=math.inf, unit=""):
    """Returns a finite number from a text or from JSON."""
    expected = f"a number{unit and ' in '}{unit}"
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Fault(what, value, expected)
    try:
        if isinstance(value, str) and ("_" in value or not value.isascii()):
            raise ValueError
        result = float(value)
    except (ValueError, OverflowError):
        raise Fault(what, value if isinstance(value, str) else "a huge number", expected) from None
    if not math.isfinite(result) or not low <= result <= high:
        raise Fault(what, str(value), f"{expected} from {low:g} to {high:g}" if low > -math.inf else expected)
    return result


def whole(value, what):
    result = number(value, what)
    if result != int(result) or abs(result) > 2**53:
        raise Fault(what, str(value), "a whole number")
    return int(result)


def position(values, what, metre=1.0, unit="m"):
    most = FARTHEST / metre
    return [number(value, f"{what} {axis}", -most, most, unit) * metre for axis, value in zip("xyz", values)]


def make_row(event, code, where, momentum, energy, time, length=""):
    """One line of the list. The rest energy of a nucleon makes no light, and a particle at rest has no direction."""
    if code in MASS:
        code, energy = "hadr", max(energy - MASS[code], 0.0)
    direction = momentum if any(momentum) else [0, 0, 1]
    return [event, code, *where, *direction, energy, time, length]


# ---- NUANCE's format ----


def is_nucleus(code):
    """NUANCE's code of a nucleus is 1000 Z + A."""
    return code > 1000 and code // 1000 <= 118 and code // 1000 <= code % 1000 <= 3 * (code // 1000) + 2


def tracker(lines, metre, nanosecond, units):
    """Particles after the nucleus (status 0). A vertex holds until the next one; gntpc gives a particle at rest the
    direction -999."""
    event, vertex, is_open = -1, None, False
    for line in lines:
        word = line.split()
        if not word:
            continue
        kind = word[1] if word[0] == "$" and len(word) > 1 else word[0]
        counts = {"begin": 2, "end": 2, "stop": 2, "vertex": 6, "track": 8, "nuance": 2, "genie": 2, "info": 2}
        if word[0] != "$" or kind not in counts:
            raise Fault("line", line.strip(), "a line of $ begin, nuance, genie, vertex, track, info, end or stop")
        if len(word) < counts[kind]:
            raise Fault(kind, f"{len(word)} words", f"{counts[kind]}")
        if (kind == "begin") == is_open and kind != "stop" or (kind == "stop" and is_open):
            raise Fault("line", f"$ {kind}", "$ end before it" if is_open else "$ begin before it")
        if kind == "begin":
            event, vertex, is_open = event + 1, None, True
        elif kind == "end":
            is_open = False
        elif kind == "stop":
            return
        elif kind == "vertex":
            where = position(word[2:5], "vertex", metre, units[0])
            vertex = [*where, number(word[5], "vertex time", unit=units[1]) * nanosecond]
        elif kind == "track":
            code, status = whole(word[2], "code"), whole(word[7], "status")
            energy = number(word[3], "energy", 0, 1e14, "MeV") / 1000
            direction = [number(value, "direction", -999, 1.001) for value in word[4:7]]
            if vertex is None:
                raise Fault("track", "no vertex before it", "a line $ vertex")
            if status == 0:
                code = f"10{code // 1000:04d}{code % 1000:03d}0" if is_nucleus(code) else code
                direction = [0, 0, 0] if min(direction) < -1.001 else direction
                yield make_row(event, code, vertex[:3], direction, energy, vertex[3])
    if is_open:
        raise Fault("file", "its end", "$ end of the last event")


def genie(lines):
    """gntpc writes the vertex in the units of GENIE's record, m and s (gNtpConv.cxx, GHepRecord.cxx)."""
    return tracker(lines, 1.0, 1e9, ("m", "s"))


def nuance(lines):
    return tracker(lines, 0.01, 1.0, ("cm", "ns"))


# ---- PROPOSAL ----


def proposal(lines):
    """Tracks with their PDG codes and losses with PROPOSAL's interaction types."""
    names = None
    for line in lines:
        try:
            fields = next(csv.reader([line], strict=True), [])
        except csv.Error as error:
            raise Fault("line", f"no CSV ({error})", "fields with complete quotes") from None
        if names is None:
            names = fields
            missing = sorted(set(COLUMNS) - set(names))
            if missing:
                raise Fault("columns", ", ".join(names), f"also {', '.join(missing)}")
            continue
        if len(fields) != len(names):
            raise Fault("line", f"{len(fields)} fields", f"{len(names)}")
        row = dict(zip(names, fields))
        kind = row["type"].strip().rpartition(".")[2]
        if kind not in LOSS:
            code = whole(row["type"], "type")
            kind = LOSS_CODES.get(code - 1000000000) if code > 1000000000 else None
            if code > 1000000000 and kind is None:
                raise Fault("type", str(code), "a PDG code, or a loss of PROPOSAL: " + ", ".join(LOSS))
            kind = kind or code
        kind = LOSS.get(kind, kind)
        direction = [number(row[axis], axis, -1.001, 1.001) for axis in ("dx", "dy", "dz")]
        if not any(direction):
            raise Fault("dx, dy, dz", "0, 0, 0", "a direction")
        length = number(row["length"], "length", 0, 1e7, "cm") / 100 if row["length"].strip() else ""
        energy = number(row["energy"], "energy", 0, 1e14, "MeV") / 1000
        time = number(row["time"], "time", -1e3, 1e3, "s") * 1e9
        where = position([row[axis] for axis in "xyz"], "position", 0.01, "cm")
        yield [whole(row["event"], "event"), kind, *where, *direction, energy, time, length]


# ---- SIREN ----


def listed(value, what, count=None):
    if not isinstance(value, list) or (count is not None and len(value) != count):
        found = f"a list of {len(value)}" if isinstance(value, list) else value
        raise Fault(what, found, "a list" if count is None else f"a list of {count}")
    return value


def momentum_of(value, what):
    """Returns (E, px, py, pz) in GeV."""
    momentum = [number(part, what, -1e11, 1e11, "GeV") for part in listed(value, what, 4)]
    if math.hypot(*momentum[1:]) > momentum[0] * (1 + 1e-6) + 1e-6:
        raise Fault(what, momentum, "(E, px, py, pz) with E at least as large as the momentum")
    return momentum


class Tree:
    """The interactions of one event, with the secondaries that make them."""

    def __init__(self, record):
        if not isinstance(record, dict):
            raise Fault("record", record, "an object with vertex, primary_type, ... (to_json with lines=True)")
        record = {name: value for name, value in record.items() if value is not None}
        missing = {"vertex", "primary_type", "secondary_types", "secondary_momenta"} - set(record)
        if missing:
            raise Fault("record", f"no {', '.join(sorted(missing))}", "these of SIREN's SaveEvents")
        vertices = listed(record["vertex"], "vertex")
        count = len(vertices)
        if count == 0:
            raise Fault("vertex", "an empty list", "at least one vertex")
        self.vertices = [position(listed(v, f"vertex {i}", 3), f"vertex {i}") for i, v in enumerate(vertices)]

        def column(name, convert):
            if name not in record:
                return None
            return [convert(value, f"{name} {i}") for i, value in enumerate(listed(record[name], name, count))]

        def each(convert):
            return lambda values, what: [convert(v, f"{what}.{k}") for k, v in enumerate(listed(values, what))]

        self.primaries = column("primary_type", whole)
        self.types = column("secondary_types", each(whole))
        self.momenta = column("secondary_momenta", each(momentum_of))
        self.primary_momenta = column("primary_momentum", momentum_of)
        self.parents = column("parent_idx", whole)
        self.times = column("vertex_time", lambda value, what: number(value, what, -1e12, 1e12, "ns"))
        own = column("secondary_times", each(lambda value, what: number(value, what, -1e12, 1e12, "ns")))
        for i, types in enumerate(self.types):
            listed(self.momenta[i], f"secondary_momenta {i}", len(types))
            if own is not None:
                listed(own[i], f"secondary_times {i}", len(types))
        self.link()
        self.set_times(own)

    def link(self):
        """Finds the secondary that makes each vertex: self.origin[i] is (vertex, number), None for a root."""
        self.origin = [None] * len(self.vertices)
        taken = set()
        for i, kind in enumerate(self.primaries):
            parent = self.parents[i] if self.parents else (None if i else -1)
            if parent == -1:
                continue
            if parent is not None and not 0 <= parent < i:
                raise Fault(f"parent_idx {i}", str(parent), f"-1, or an earlier vertex: 0 to {i - 1}")
            among = range(i) if parent is None else [parent]
            found = [(p, k) for p in among for k, t in enumerate(self.types[p]) if t == kind and (p, k) not in taken]
            if not found:
                raise Fault(f"primary_type {i}", str(kind), "the type of a secondary of its parent")
            if len(found) > 1 and self.primary_momenta is None:
                raise Fault(f"vertex {i}", f"{len(found)} possible secondaries of type {kind}", "primary_momentum")
            best = min(found, key=lambda at: self.distance(i, at)) if len(found) > 1 else found[0]
            if len(found) > 1 and self.distance(i, best) > 0.01:
                raise Fault(f"primary_momentum {i}", self.primary_momenta[i], "that of a secondary of its parent")
            self.origin[i] = best
            taken.add(best)

    def distance(self, i, at):
        """Difference of momenta, relative to the energy."""
        wanted, found = self.primary_momenta[i], self.momenta[at[0]][at[1]]
        return math.dist(wanted, found) / max(wanted[0], 1e-9)

    def way_to(self, i):
        """Length (m) and time (ns) of the way to a vertex. SIREN flies at the speed of the momentum."""
        parent, number_there = self.origin[i]
        energy, *momentum = self.momenta[parent][number_there]
        length = math.dist(self.vertices[i], self.vertices[parent])
        speed = min(math.hypot(*momentum) / energy, 1.0) if energy > 0 else 0.0
        if length > 0 and speed == 0:
            raise Fault(f"vertex {i}", f"a way of {length:g} m of a particle at rest", "a momentum")
        return length, length / (speed * LIGHT_SPEED) if length > 0 else 0.0

    def set_times(self, own):
        """Events of SIREN before July 2026 have no times: then the first vertex has 0. If a newer SIREN wrote such an
        event again, all its times are 0."""
        ways = [self.way_to(i) if origin else (0.0, 0.0) for i, origin in enumerate(self.origin)]
        given = [time for times in [self.times or [], *(own or [])] for time in times]
        self.has_zeros = bool(given) and not any(given) and any(length for length, _ in ways)
        if self.has_zeros:
            self.times = own = None
        if self.times is None:
            self.times = [0.0] * len(self.vertices)
            for i, origin in enumerate(self.origin):
                if own and own[i]:
                    self.times[i] = min(own[i])
                elif origin is not None:
                    self.times[i] = self.times[origin[0]] + ways[i][1]
        for i, origin in enumerate(self.origin):
            least = ways[i][0] / LIGHT_SPEED
            earliest = self.times[origin[0]] + least if origin else self.times[i]
            if self.times[i] < earliest - 0.01 - 1e-4 * least - 1e-9 * abs(earliest):
                raise Fault(
                    f"vertex_time {i}", f"{self.times[i]:.6g} ns",
                    f"{earliest:.6g} ns or more, {ways[i][0]:.6g} m after its parent")  # fmt: skip
        self.secondary_times = own or [[time] * len(types) for time, types in zip(self.times, self.types)]


def siren(lines, writes_ways=False):
    """All secondaries, without those that interact again: their own secondaries are in the list."""
    event, lengths, zeros = -1, [], 0
    for line in lines:
        if not line.strip():
            continue
        event += 1
        try:
            record = json.loads(line)
        except RecursionError:
            raise Fault("line", "lists in lists", "a JSON object of SIREN") from None
        except ValueError as error:
            raise Fault("line", f"no JSON ({error})", "one JSON object per line (to_json with lines=True)") from None
        tree = Tree(record)
        zeros += tree.has_zeros
        goes_to = {origin: i for i, origin in enumerate(tree.origin) if origin}
        for i, vertex in enumerate(tree.vertices):
            for k, (kind, (energy, *momentum)) in enumerate(zip(tree.types[i], tree.momenta[i])):
                row = make_row(event, kind, vertex, momentum, energy, tree.secondary_times[i][k])
                if (i, k) not in goes_to:
                    row[1] = "dark" if abs(kind) in INVISIBLE else row[1]
                    yield row
                elif abs(kind) in CHARGED and tree.way_to(goes_to[i, k])[0] > 0:
                    row[-1] = tree.way_to(goes_to[i, k])[0]
                    lengths.append(row[-1])
                    if writes_ways and abs(kind) != 11:
                        yield row
    if zeros:
        print(
            f"to_csv.py: {zeros} events have the time 0 at all vertices; their times are computed from the distances.",
            file=sys.stderr,
        )
    if lengths and not writes_ways:
        print(
            f"to_csv.py: {len(lengths)} charged particles fly {sum(lengths):.6g} m to their next vertices. The light of "
            "these ways is not in the list; --ways writes them as tracks.", file=sys.stderr)  # fmt: skip


# ---- all of them ----


class Lines:
    """The lines of a file, one by one, and the number of the last one."""

    def __init__(self, file):
        self.file, self.at = file, 0

    def __iter__(self):
        for line in self.file:
            self.at += 1
            try:
                yield line.decode("utf-8-sig" if self.at == 1 else "utf-8")
            except UnicodeDecodeError:
                raise Fault("line", "bytes that are no text", "text in UTF-8") from None


def main():
    readers = {"genie": genie, "nuance": nuance, "proposal": proposal, "siren": siren}
    words = [word for word in sys.argv[1:] if word != "--ways"]
    writes_ways = len(words) < len(sys.argv) - 1
    if len(words) != 2 or words[0] not in readers or (writes_ways and words[0] != "siren"):
        sys.exit(__doc__)
    name, path = words
    try:
        with open(path, "rb") as file, tempfile.TemporaryFile("w+", encoding="utf-8") as rows:
            lines = Lines(file)
            out = csv.writer(rows, lineterminator="\n")
            out.writerow(COLUMNS)
            try:
                found = siren(lines, True) if writes_ways else readers[name](lines)
                count = sum(1 for row in found if out.writerow(row))
                if count == 0:
                    raise Fault("file", "no particle", "at least one")
            except Fault as error:
                sys.exit(f"{path}:{max(lines.at, 1)}: error: {error}")
            rows.seek(0)
            shutil.copyfileobj(rows, sys.stdout)
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        sys.exit(f"{path}: error: {error.strerror}")


if __name__ == "__main__":
    main()
