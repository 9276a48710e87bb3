"""Compares the histograms in the trailers of hit files with the rows of these files.

    check_histograms.py FILE...      every histogram of hits has the counts that its rows give, one of photons has
                                     all photons of the account, one of segments all of its bounces, and one of
                                     steps as many steps as all others of the file; prints nothing
    check_histograms.py --uhi FILE   boost_histogram reads the histograms; status 77 without it
"""

import json
import struct
import sys

import numpy

FIELDS = {"event": "event_id", "time": "t", "impact": "dz"}  # other quantities have the name of their field


def read(path):
    """The rows and the metadata of a hit file."""
    with open(path, "rb") as file:
        data = file.read()
    offset, length = struct.unpack("<QQ", data[-32:-16])
    return numpy.load(path), json.loads(data[offset : offset + length])


def edges_of(axis):
    if axis["type"] == "variable":
        return axis["edges"]
    low, high, bins = axis["lower"], axis["upper"], axis["bins"]
    return [low + (high - low) * i / bins for i in range(bins)] + [high]


def counts_of(rows, axes):
    """The counts of rows, as nested lists with under- and overflow."""
    edges, names = [edges_of(axis) for axis in axes], [axis["metadata"]["name"] for axis in axes]
    counts = numpy.zeros([len(each) + 1 for each in edges], int)
    values = [rows[FIELDS.get(name, name)].astype(float) for name in names]
    numpy.add.at(counts, tuple(numpy.searchsorted(each, value, "right") for each, value in zip(edges, values)), 1)
    return counts.tolist()


def check(path):
    rows, metadata = read(path)
    assert 0 < len(rows) == metadata["rows"], path
    steps, account = set(), metadata["account"]
    for histogram in metadata["histograms"]:
        assert histogram["uhi_schema"] == 1 and histogram["storage"]["type"] == "int"
        name, values = histogram["axes"][0]["metadata"]["name"], histogram["storage"]["values"]
        if name in ("bounces", "path", "delay"):
            assert sum(values) == account["created"], path
        elif name in ("layers", "candidates"):
            assert sum(values) == account["bounces"] and values[0] == 0, path
        elif name == "photons":
            steps.add(sum(values))
            assert len(steps) == 1 and 0 < min(steps) <= account["created"], path
        else:
            assert values == counts_of(rows, histogram["axes"]), (path, name)


def check_uhi(path):
    try:
        import boost_histogram
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
