#!/usr/bin/env python3
"""Compares a .csv file of `icestream convert` with the hit file that it was made from, bit for bit.

    check_hit_csv.py A.hits.npy A.csv
"""
import ast
import csv
import struct
import sys

CODES = {"f4": "f", "f8": "d", "u2": "H", "u4": "I", "u8": "Q", "i2": "h", "i4": "i"}


def read_npy(path):
    """The columns of a table, as {field: (code of struct, values)}."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<I" if data[6] > 1 else "<H", data, 8)[0]
    first = (12 if data[6] > 1 else 10) + size
    header = ast.literal_eval(data[first - size : first].decode())
    codes = [CODES[kind.lstrip("<")] for _, kind in header["descr"]]
    rows = struct.Struct("<" + "".join(codes))
    end = first + rows.size * header["shape"][0]
    columns = list(zip(*rows.iter_unpack(data[first:end]))) or [()] * len(codes)
    return {name: (code, values) for (name, _), code, values in zip(header["descr"], codes, columns)}


def same(name, code, expected, found):
    """Compares the bytes of numbers, so that -0 is not 0."""
    flat = [[v for row in rows for v in (row if isinstance(row, tuple) else (row,))] for rows in (expected, found)]
    kind = "<%d%s" % (len(flat[0]), code)
    assert len(flat[0]) == len(flat[1]) and struct.pack(kind, *flat[0]) == struct.pack(kind, *flat[1]), name


def check_csv(npy, path):
    table = read_npy(npy)
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    units = {"t": "ns", "x": "m", "y": "m", "z": "m", "wavelength": "nm"}
    assert rows[0] == [name + ("_" + units[name] if name in units else "") for name in table], rows[0]
    for (name, (code, values)), column in zip(table.items(), zip(*rows[1:])):
        same(name, code, values, [(float if code in "fd" else int)(text) for text in column])


check_csv(*sys.argv[1:])
