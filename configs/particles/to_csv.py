#!/usr/bin/env python3
"""Writes a list of particles for icestream (CSV) from texts of other programs.

    to_csv.py genie events.txt > events.csv       # gntpc -f nuance_tracker or t2k_tracker: cm, ns, MeV
    to_csv.py proposal losses.csv > events.csv    # written as docs/particles.md shows: cm, s, MeV
    to_csv.py siren events.jsonl > events.csv     # written as docs/particles.md shows: m, GeV

The axes of the lists must be those of the detector: x, y and z up, in the coordinates of its modules.
"""

import csv
import json
import sys

COLUMNS = ["event", "type", "x", "y", "z", "dx", "dy", "dz", "energy", "time", "length"]
MASS = {2212: 0.938272, 2112: 0.939565}  # GeV
# Interaction types of PROPOSAL; 1000000008 is the continuous loss, whose light is that of the track.
LOSS = {2: "brems", 3: "delta", 4: "epair", 5: "munu", 6: "MuPair", 7: "hadr", 8: "ContinuousEnergyLoss"}


def genie(file):
    """Particles after the nucleus (status 0)."""
    event, vertex = -1, None
    for line in file:
        word = line.split()
        if word[:2] == ["$", "begin"]:
            event += 1
        elif word[:2] == ["$", "vertex"]:
            vertex = [float(value) / 100 for value in word[2:5]] + [float(word[5])]
        elif word[:2] == ["$", "track"] and word[7] == "0":
            code, energy = int(word[2]), float(word[3]) / 1000
            row = [event, code, *vertex[:3], *word[4:7], energy, vertex[3], ""]
            if code in MASS:  # the rest energy of a nucleon makes no light
                row[1], row[8] = "hadr", energy - MASS[code]
            yield row


def proposal(file):
    """Tracks with their PDG codes and losses with PROPOSAL's interaction types."""
    for row in csv.DictReader(file):
        code = int(row["type"])
        kind = LOSS[code - 1000000000] if code > 1000000000 else code
        position = [float(row[name]) / 100 for name in ("x", "y", "z")]
        length = float(row["length"]) / 100 if row["length"] else ""
        yield [
            row["event"], kind, *position, row["dx"], row["dy"], row["dz"],
            float(row["energy"]) / 1000, float(row["time"]) * 1e9, length,
        ]  # fmt: skip


def siren(file):
    """All secondaries of all vertices. A secondary that interacts itself would be counted twice."""
    for event, line in enumerate(file):
        record = json.loads(line)
        primaries = record["primary_type"]
        for vertex, types, momenta in zip(
            record["vertex"], record["secondary_types"], record["secondary_momenta"]
        ):
            for kind, (energy, *momentum) in zip(types, momenta):
                if kind not in primaries[1:]:
                    yield [event, kind, *vertex, *momentum, energy, 0, ""]


def main():
    readers = {"genie": genie, "proposal": proposal, "siren": siren}
    if len(sys.argv) != 3 or sys.argv[1] not in readers:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as file:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(readers[sys.argv[1]](file))


if __name__ == "__main__":
    main()
