"""Promises of the rows of `icestream reweight` and `gradient`, for test_reweight.sh: numbers of files and of each other.

    check_weights.py equal FILE COLUMN             all weights of a target are exactly 1
    check_weights.py closure WEIGHTS COLUMN HITS   the sum of a target is that of a run in its ice, within 4 standard deviations
                                                   (false alarm 6e-5, and the seeds are fixed)
    check_weights.py order FIRST SECOND            the same rows in another order
    check_weights.py gradient GRADIENT WEIGHTS F   weights of all layers' scattering (column 0) and absorption (column 1) times F
                                                   are those that the two derivatives of each layer give exactly
    check_weights.py dense GRADIENT DENSE          both files have the same derivatives
"""
import json
import math
import struct
import sys


def read(path):
    """The rows of a file, as tuples, and its metadata."""
    with open(path, "rb") as file:
        data = file.read()
    header = 10 + struct.unpack("<H", data[8:10])[0]
    words = eval(data[10:header])["descr"]     # a dictionary of texts and numbers, written by icestream
    letters = {"<u8": "Q", "<u4": "I", "<u2": "H", "<i2": "h", "<f8": "d", "<f4": "f"}
    form = struct.Struct("<" + "".join(str(field[2][0] if len(field) > 2 else 1) + letters[field[1]] for field in words))
    offset, length = struct.unpack("<QQ", data[-32:-16])
    about = json.loads(data[offset:offset + length])
    return [form.unpack_from(data, header + i * form.size) for i in range(about["rows"])], about


def check(holds, *what):
    if not holds:
        sys.exit("check_weights.py: " + " ".join(str(word) for word in what))


def equal(path, column):
    rows, _ = read(path)
    check(rows and all(row[7 + int(column)] == 1.0 for row in rows), "a weight is not 1")


def closure(path, column, hits):
    target = read(path)[1]["targets"][int(column)]
    photons = {}
    for row in read(hits)[0]:
        identity = row[0], row[10], row[11]
        photons[identity] = photons.get(identity, 0) + row[9]
    total, error = sum(photons.values()), math.sqrt(sum(w * w for w in photons.values()))
    pull = (target["sum"] - total) / math.hypot(target["error"], error)
    print("weighted %.6g +- %.3g, simulated %.6g +- %.3g, pull %.2f, share %.3f" %
          (target["sum"], target["error"], total, error, pull, target["share"]))
    check(abs(pull) < 4, "pull", pull)
    own = read(path)[1]["own"]
    check(abs(own["sum"] - total) > 5 * math.hypot(own["error"], error), "the test is too weak: the ices are too much alike")


def order(first, second):
    a, b = read(first)[0], read(second)[0]
    check(sorted(a) == sorted(b) and a != b, "the rows differ by more than their order")


def gradient(path, weights, factor):
    rows, about = read(path)
    factor = float(factor)
    expected = {}
    for hit, parameter, value, second in rows:
        check(about["parameters"][parameter]["exact"], "not exact")
        column = about["parameters"][parameter]["key"] == "layers.absorption"
        logarithm = (value - second) * math.log(factor) + second * (factor - 1)
        expected[hit, column] = expected.get((hit, column), 0) + logarithm
    worst = 0
    for hit, row in enumerate(read(weights)[0]):
        for column in range(2):
            worst = max(worst, abs(math.log(row[7 + column]) - expected.get((hit, column), 0)))
    print("largest difference of ln w: %.2g" % worst)
    check(worst < 1e-3, "ln w differs by", worst)


def dense(path, other):
    sparse = {(row[0], row[1]): row[2] for row in read(path)[0]}
    for hit, row in enumerate(read(other)[0]):
        for parameter, value in enumerate(row[7:]):
            check(sparse.get((hit, parameter), 0) == value, "hit", hit, "parameter", parameter)


globals()[sys.argv[1]](*sys.argv[2:])
