"""Compares the histograms in the trailers of hit files with the rows of these files.

    check_histograms.py FILE...      every histogram of hits has the counts that its rows give, one of photons has
                                     all photons of the account, one of segments all of its bounces, and one of
                                     steps as many steps as all others of the file; prints nothing
    check_histograms.py --uhi FILE   boost_histogram reads the histograms; status 77 without it
"""

import bisect
import json
import struct
import sys

ROW = struct.Struct("<Qd3f3fffIIHHhH")


def read(path):
    """The rows and the metadata of a hit file."""
    with open(path, "rb") as file:
        data = file.read()
    offset, length = struct.unpack("<QQ", data[-32:-16])
    return list(ROW.iter_unpack(data[1024:offset])), json.loads(data[offset : offset + length])


QUANTITIES = {
    "event": lambda row: row[0],
    "time": lambda row: row[1],
    "impact": lambda row: row[7],
    "wavelength": lambda row: row[8],
    "weight": lambda row: row[9],
    "string": lambda row: row[12],
    "module": lambda row: row[13],
    "pmt": lambda row: row[14],
    "scatters": lambda row: row[15],
}


def edges_of(axis):
    if axis["type"] == "variable":
        return axis["edges"]
    low, high, bins = axis["lower"], axis["upper"], axis["bins"]
    return [low + (high - low) * i / bins for i in range(bins)] + [high]


def empty(shape):
    return [empty(shape[1:]) for _ in range(shape[0])] if shape else 0


def counts_of(rows, axes):
    """The counts of rows, as nested lists with under- and overflow."""
    edges = [edges_of(axis) for axis in axes]
    values = [QUANTITIES[axis["metadata"]["name"]] for axis in axes]
    counts = empty([len(each) + 1 for each in edges])
    for row in rows:
        at = counts
        bins = [bisect.bisect_right(each, value(row)) for each, value in zip(edges, values)]
        for number in bins[:-1]:
            at = at[number]
        at[bins[-1]] += 1
    return counts


def check(path):
    rows, metadata = read(path)
    assert rows and len(rows) == metadata["rows"], path
    steps = set()
    for histogram in metadata["histograms"]:
        assert histogram["uhi_schema"] == 1 and histogram["storage"]["type"] == "int"
        name = histogram["axes"][0]["metadata"]["name"]
        if name in ("bounces", "path", "delay"):
            assert sum(histogram["storage"]["values"]) == metadata["account"]["created"], path
            continue
        if name in ("layers", "candidates"):
            assert sum(histogram["storage"]["values"]) == metadata["account"]["bounces"], path
            assert histogram["storage"]["values"][0] == 0, path
            continue
        if name == "photons":
            steps.add(sum(histogram["storage"]["values"]))
            assert len(steps) == 1 and 0 < min(steps) <= metadata["account"]["created"], path
            continue
        names = [axis["metadata"]["name"] for axis in histogram["axes"]]
        assert histogram["storage"]["values"] == counts_of(rows, histogram["axes"]), (path, names)


def check_uhi(path):
    try:
        import boost_histogram
        import numpy
        import uhi.io.json
    except ImportError:
        sys.exit(77)
    for histogram in read(path)[1]["histograms"]:
        text = json.dumps(histogram)
        found = boost_histogram.Histogram(json.loads(text, object_hook=uhi.io.json.object_hook))
        assert (found.values(flow=True) == numpy.array(histogram["storage"]["values"])).all()
        for axis, expected in zip(found.axes, histogram["axes"]):
            assert numpy.allclose(axis.edges, edges_of(expected), rtol=1e-14)


if sys.argv[1] == "--uhi":
    check_uhi(sys.argv[2])
else:
    for name in sys.argv[1:]:
        check(name)
