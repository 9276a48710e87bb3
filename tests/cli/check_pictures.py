#!/usr/bin/env python3
"""Compares .vtp and .csv files of `icestream convert` with the .npy files that they were made from, bit for bit.

    check_pictures.py hits A.hits.npy A.vtp MODULES.csv     paths A.npy A.vtp
    check_pictures.py modules MODULES.csv A.vtp             csv A.hits.npy A.csv

Uses nothing but Python's own modules: its XML reader shows that a .vtp is XML. Prints the number of pieces.
"""
import ast
import base64
import csv
import struct
import sys
import xml.etree.ElementTree

CODES = {"f4": "f", "f8": "d", "u2": "H", "u4": "I", "u8": "Q", "i2": "h", "i4": "i"}
TYPES = {"Float32": "f", "Float64": "d", "UInt16": "H", "UInt32": "I", "UInt64": "Q", "Int16": "h", "Int32": "i"}


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


def read_array(array):
    data = base64.b64decode("".join(array.text.split()), validate=True)
    (size,) = struct.unpack_from("<Q", data)
    assert len(data) == 8 + size, "an array of %d bytes says that it has %d" % (len(data) - 8, size)
    code, number = TYPES[array.get("type")], int(array.get("NumberOfComponents"))
    values = [row[0] for row in struct.iter_unpack("<" + code, data[8:])]
    return code, values if number == 1 else [tuple(values[i : i + number]) for i in range(0, len(values), number)]


def read_vtp(path):
    """The arrays of all pieces together, as {(element, name): (code, values)}, and the number of pieces."""
    root = xml.etree.ElementTree.parse(path).getroot()
    assert root.attrib == {"type": "PolyData", "version": "1.0", "byte_order": "LittleEndian", "header_type": "UInt64"}
    arrays, pieces, points = {}, root.findall("PolyData/Piece"), 0
    for piece in pieces:
        count = int(piece.get("NumberOfPoints"))
        cells = int(piece.get("NumberOfVerts")) + int(piece.get("NumberOfLines"))
        lengths = {"Points": count, "PointData": count, "CellData": cells}
        for element in piece:
            for array in element:
                code, values = read_array(array)
                name = array.get("Name")
                expected = lengths.get(element.tag, count if name == "connectivity" else cells)
                assert len(values) == expected, "%s %s: %d rows" % (element.tag, name, len(values))
                if element.tag in ("Verts", "Lines"):
                    values = [points + value for value in values]
                arrays.setdefault((element.tag, name), (code, []))[1].extend(values)
        points += count
    return arrays, len(pieces)


def same(name, code, expected, found):
    """Compares the bytes of numbers, so that -0 is not 0."""
    flat = [[v for row in rows for v in (row if isinstance(row, tuple) else (row,))] for rows in (expected, found)]
    kind = "<%d%s" % (len(flat[0]), code)
    assert len(flat[0]) == len(flat[1]) and struct.pack(kind, *flat[0]) == struct.pack(kind, *flat[1]), name


def single(values):
    return struct.unpack("<%df" % len(values), struct.pack("<%df" % len(values), *values))


def column_of(name, names):
    """The name of a column without its unit."""
    return name if name in names else name.rsplit("_", 1)[0]


def check_arrays(table, arrays, element, vectors):
    for (where, name), (code, values) in arrays.items():
        if where == element:
            fields = vectors.get(name) or [column_of(name, table)]
            expected = table[fields[0]][1] if len(fields) == 1 else list(zip(*(table[f][1] for f in fields)))
            assert code == table[fields[0]][0], "%s has the type %s" % (name, code)
            same(name, code, expected, values)
    return {f for (where, n) in arrays if where == element for f in vectors.get(n) or [column_of(n, table)]}


def check_dots(arrays, count):
    same("connectivity", "i", range(count), arrays["Verts", "connectivity"][1])
    same("offsets", "i", range(1, count + 1), arrays["Verts", "offsets"][1])


def read_modules(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def check_hits(npy, vtp, modules):
    table, (arrays, pieces) = read_npy(npy), read_vtp(vtp)
    vectors = {"impact_m": ["x", "y", "z"], "direction": ["dx", "dy", "dz"]}
    seen = check_arrays(table, arrays, "PointData", vectors)
    assert seen == set(table), "fields are missing: %s" % (set(table) - seen)
    where = {(int(m["string"]), int(m["module"])): m for m in read_modules(modules)}
    homes = [where[key] for key in zip(table["string"][1], table["module"][1])]
    places = [single([float(m[a]) + table[a][1][i] for i, m in enumerate(homes)]) for a in "xyz"]
    same("points", "f", list(zip(*places)), arrays["Points", "points"][1])
    check_dots(arrays, len(homes))
    return pieces


def check_paths(npy, vtp):
    table, (arrays, pieces) = read_npy(npy), read_vtp(vtp)
    seen = check_arrays(table, arrays, "PointData", {"direction": ["dx", "dy", "dz"]})
    same("points", "f", list(zip(*(table[a][1] for a in "xyz"))), arrays["Points", "points"][1])
    count = len(table["t"][1])
    same("connectivity", "i", range(count), arrays["Lines", "connectivity"][1])
    photons = list(zip(*(table[name][1] for name in ("event_id", "step_id", "photon_id"))))
    ends = [i + 1 for i in range(count) if i + 1 == count or photons[i + 1] != photons[i]]
    same("offsets", "i", ends, arrays["Lines", "offsets"][1])
    for k, name in enumerate(("event_id", "step_id", "photon_id")):
        same(name, table[name][0], [photons[end - 1][k] for end in ends], arrays["CellData", name][1])
    same("fate", "H", [table["kind"][1][end - 1] for end in ends], arrays["CellData", "fate"][1])
    missing = set(table) - seen - {"x", "y", "z", "event_id", "step_id", "photon_id"}
    assert not missing, "fields are missing: %s" % missing
    return pieces


def check_modules(table, vtp):
    modules, (arrays, pieces) = read_modules(table), read_vtp(vtp)
    for name, code, kind in (("string", "H", int), ("module", "H", int), ("efficiency", "f", float)):
        same(name, code, [kind(m[name]) for m in modules], arrays["PointData", name][1])
    places = list(zip(*(single([float(m[axis]) for m in modules]) for axis in "xyz")))
    same("points", "f", places, arrays["Points", "points"][1])
    check_dots(arrays, len(modules))
    return pieces


def check_csv(npy, path):
    table = read_npy(npy)
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    units = {"t": "ns", "x": "m", "y": "m", "z": "m", "wavelength": "nm"}
    assert rows[0] == [name + ("_" + units[name] if name in units else "") for name in table], rows[0]
    for (name, (code, values)), column in zip(table.items(), zip(*rows[1:])):
        same(name, code, values, [(float if code in "fd" else int)(text) for text in column])
    return 1


CHECKS = {"hits": check_hits, "paths": check_paths, "modules": check_modules, "csv": check_csv}
print(CHECKS[sys.argv[1]](*sys.argv[2:]))
