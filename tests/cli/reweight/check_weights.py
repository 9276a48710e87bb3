"""Promises of the rows of `icestream reweight` and `gradient`, for test_reweight.sh: numbers of files and of each other.

    check_weights.py equal FILE COLUMN [WITHIN]    all weights of a target are 1: exactly, or within a number
    check_weights.py closure WEIGHTS COLUMN HITS   the sum of a target is that of a run in its ice, within 4 standard deviations
                                                   (false alarm 6e-5, and the seeds are fixed)
    check_weights.py bins WEIGHTS COLUMN OWN HITS  the sum of weighted hits, and those in modules and in 10 nm of wavelength, are those of
                                                   a run with the target's settings (4 standard deviations: false alarm 1.2e-4 in all)
    check_weights.py off WEIGHTS STRING MODULE     weights are 0 on this module, and 1 elsewhere
    check_weights.py order FIRST SECOND            the same rows in another order
    check_weights.py gradient GRADIENT WEIGHTS F   weights of all layers' scattering (column 0) and absorption (column 1) times F
                                                   are those that the two derivatives of each layer give exactly
    check_weights.py differences GRADIENT WEIGHTS KEYS
                                                   derivatives are differences of weights: a line of KEYS has a key and the step of its four
                                                   targets, which are 2, 1, -1 and -2 steps away
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


def equal(path, column, within="0"):
    worst = max(abs(row[7 + int(column)] - 1) for row in read(path)[0])
    check(worst <= float(within), "a weight differs from 1 by", worst)


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


def sums(hits, weights, key):
    """Sums of weights, and of the squares of what photons weigh, for each value of a key."""
    photons = {}
    for row, weight in zip(hits, weights):
        photon = key(row), row[0], row[10], row[11]
        photons[photon] = photons.get(photon, 0) + weight
    found = {}
    for (value, *_), weight in photons.items():
        total, square, count = found.get(value, (0, 0, 0))
        found[value] = total + weight, square + weight * weight, count + 1
    return found


def deviation(first, second):
    """The chi-square of bins with at least 25 effective photons, as a normal deviation (Wilson and Hilferty), and their number."""
    chi2 = bins = 0
    for key in first.keys() & second.keys():
        (a, a2, _), (b, b2, _) = first[key], second[key]
        if a * a >= 25 * a2 and b * b >= 25 * b2:
            chi2, bins = chi2 + (a - b) ** 2 / (a2 + b2), bins + 1
    check(bins > 0, "no bin has 25 photons")
    return ((chi2 / bins) ** (1 / 3) - 1 + 2 / (9 * bins)) / math.sqrt(2 / (9 * bins)), bins


def bins(path, column, own, hits):
    mine, others = read(own)[0], read(hits)[0]
    weights = [row[7 + int(column)] * hit[9] for row, hit in zip(read(path)[0], mine)]
    plain, other = [hit[9] for hit in mine], [hit[9] for hit in others]
    total = sums(mine, weights, lambda row: 0)[0], sums(others, other, lambda row: 0)[0]
    pull = (total[0][0] - total[1][0]) / math.sqrt(total[0][1] + total[1][1])
    check(abs(pull) < 4, "pull", pull)
    print("pull %.2f, share %.2f" % (pull, total[0][0] ** 2 / total[0][1] / total[0][2]), end="")
    weak = True
    for name, key in (("modules", lambda row: row[12:14]), ("wavelengths", lambda row: int(row[8] / 10))):
        there = sums(others, other, key)
        found, count = deviation(sums(mine, weights, key), there)
        before, _ = deviation(sums(mine, plain, key), there)
        print(", %s %.1f (without weights %.1f) in %d bins" % (name, found, before, count), end="")
        check(found < 4, name, found)
        weak = weak and before < 5
    print()
    light = abs(sum(plain) - total[1][0]) < 5 * math.sqrt(total[1][1] + sum(w * w for w in plain))
    check(not (weak and light), "the test is too weak: both runs are too much alike")


def off(path, string, module):
    rows = read(path)[0]
    dark = [row[7] for row in rows if row[3:5] == (int(string), int(module))]
    check(dark and not any(dark), "weights of the module are not 0")
    check(all(row[7] == 1 for row in rows if row[3:5] != (int(string), int(module))), "a weight is not 1")


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


def differences(path, weights, keys):
    rows, about = read(path)
    names = [parameter["key"] for parameter in about["parameters"]]
    found = {}
    for hit, parameter, value, _ in rows:
        if names[parameter] != "detector.efficiencies" or about["parameters"][parameter]["module"] == 4:
            found[hit, names[parameter]] = value
    hits = read(weights)[0]
    for number, line in enumerate(open(keys)):
        key, step = line.split()
        worst = largest = 0
        for hit, row in enumerate(hits):
            logs = [math.log(weight) for weight in row[7 + 4 * number:11 + 4 * number]]
            expected = (8 * (logs[1] - logs[2]) - (logs[0] - logs[3])) / (12 * float(step))
            value = found.get((hit, key), 0)
            largest = max(largest, abs(value))
            worst = max(worst, abs(value - expected) / (1 + abs(value) + row[6]))
        print("%s: largest derivative %.3g, difference %.2g" % (key, largest, worst))
        check(largest > 0.01, "the derivatives by %s are too small for a test" % key)
        check(worst < 1e-5, "derivatives by %s differ by %g" % (key, worst))


def dense(path, other):
    sparse = {(row[0], row[1]): row[2] for row in read(path)[0]}
    for hit, row in enumerate(read(other)[0]):
        for parameter, value in enumerate(row[7:]):
            check(sparse.get((hit, parameter), 0) == value, "hit", hit, "parameter", parameter)


globals()[sys.argv[1]](*sys.argv[2:])
