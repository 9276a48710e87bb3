"""Photon tables for tests, made without icestream (docs/tables.md 2)."""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bad_inputs_files import crc32c  # noqa: E402

AXES = [
    {"name": "r", "unit": "m", "from": 0.0, "to": 8.0, "bins": 2, "power": 2},
    {"name": "azimuth", "unit": "deg", "from": 0.0, "to": 180.0, "bins": 3, "power": 1},
    {"name": "cosine", "unit": "1", "from": -1.0, "to": 1.0, "bins": 2, "power": 1},
    {"name": "t", "unit": "ns", "from": 0.0, "to": 100.0, "bins": 4, "power": 1},
]


def cells_of(axes):
    cells = 1
    for axis in axes:
        cells *= axis["bins"] + 2
    return cells


def header_of(axes, has_squares):
    shape = "".join("%d, " % (axis["bins"] + 2) for axis in axes)[:-1]
    text = "{'shape': (%s%s), 'fortran_order': False, 'descr': '<i8', }" % ("2, " if has_squares else "", shape)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 1014) + text.encode().ljust(1013) + b"\n"


def table(sums=None, squares=None, part="a" * 64, axes=None, header=None, **changes):
    """The bytes of a file; `changes` replace keys of its metadata."""
    axes = AXES if axes is None else axes
    sums = [0] * cells_of(axes) if sums is None else sums
    rows = struct.pack("<%dq" % len(sums), *sums)
    if squares is not None:
        rows += struct.pack("<%dq" % len(squares), *squares)
    header = header_of(axes, squares is not None) if header is None else header
    metadata = {
        "schema": "icestream.table",
        "version": 1,
        "rows": len(rows) // 8,
        "crc32c": {"block_bytes": 1 << 20, "values": [crc32c(rows)]},
        "axes": axes,
        "has_squares": squares is not None,
        "geometry": "spherical",
        "step_length": 1.0,
        "area": 0.5,
        "n_group": 1.35,
        "n_phase": 1.33,
        "source": {"z": -12.5, "zenith": 90.0, "azimuth": 0.0, "energy": 1.0, "type": 11},
        "efficiency": 5,
        "seed": "7",
        "digests": {"configuration": "1" * 64, "ice": "2" * 64, "detector": ""},
        "photons": "100",
        "weight": {"whole": "50", "fraction": 1 << 31},
        "parts": [part],
    }
    metadata.update(changes)
    text = json.dumps(metadata).encode()
    body = header + rows
    tail = struct.pack("<QQII", len(body), len(text), crc32c(text), 1) + b"ISTRAIL1"
    return body + text + tail
