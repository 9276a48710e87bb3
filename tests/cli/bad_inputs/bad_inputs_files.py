"""What the cases of bad_inputs.py are made of: .npy files by hand, special files, and the list of cases."""

import os
import struct
from dataclasses import dataclass, field
from types import SimpleNamespace

# The program under test, and good files that it wrote: steps and their hits.
good = SimpleNamespace(program="", steps=b"", hits=b"", hit_count=0)


# ---- .npy, by hand ------------------------------------------------------------------------------

STEP_FIELDS = [
    *((name, "<f4") for name in ("x", "y", "z")),
    ("photons", "<u4"),
    *((name, "<f4") for name in ("dx", "dy", "dz", "length", "beta", "weight")),
    ("t", "<f8"),
    ("event_id", "<u8"),
    ("step_id", "<u4"),
    ("kind", "|u1"),
    ("spectrum", "|u1"),
    ("flags", "<u2"),
    ("source_id", "<u8"),
]
STEP_ROW = struct.Struct("<3fI6fdQI2BHQ")
GOOD_STEP = dict(x=0, y=0, z=0, photons=10, dx=0, dy=0, dz=1, length=1, beta=1, weight=1, t=0, event_id=0, step_id=0, kind=1,
                 spectrum=0, flags=0, source_id=0)
NAN, INFINITY = float("nan"), float("inf")


def step(**changes):
    """Returns a row of a step file. The fields that are not given have good values."""
    return STEP_ROW.pack(*{**GOOD_STEP, **changes}.values())


def descr(fields=None, **types):
    """Returns the `descr` of a header, with other types for the fields that are named."""
    return repr([(name, types.get(name, kind)) for name, kind in fields or STEP_FIELDS])


def npy_header(text, version=(1, 0), length=None):
    """Returns a header: magic string, version, length and the padded dictionary."""
    count = "<H" if version[0] == 1 else "<I"
    preamble = 8 + struct.calcsize(count)
    body = text.encode("latin-1")
    body += b" " * (-(preamble + len(body) + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack(count, len(body) if length is None else length) + body


def npy(*rows, shape=None, types=None, order="False", keys="", data=None, **header):
    """Returns a file as numpy.save writes it. Every part can be replaced by a wrong one."""
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, %s}" % (types or descr(), order, shape or "(%d,)" % len(rows), keys)
    return npy_header(text, **header) + (b"".join(rows) if data is None else data)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def trailer(body, text, version=1, magic=b"ISTRAIL1", offset=None, checksum=None):
    """Returns the bytes of a file with a trailer: the rows, the JSON and the tail."""
    tail = struct.pack("<QQII", len(body) if offset is None else offset, len(text), crc32c(text) if checksum is None else checksum, version)
    return body + text + tail + magic


# ---- files of a case -----------------------------------------------------------------------------


def named(files, place=""):
    """Turns Python names into names of files: icemodel_dat into icemodel.dat, eff_f2k into eff-f2k."""
    return {place + key.replace("_f2k", "-f2k").replace("_", "."): value for key, value in files.items()}


class Special:
    """Something else than a file with bytes. `make` creates it at a path."""

    def __init__(self, make):
        self.make = make


def folder():
    return Special(os.mkdir)


def pipe():
    return Special(os.mkfifo)


def link(target):
    return Special(lambda path: os.symlink(target, path))


def sparse(data, size):
    """A file of this size that begins with `data` and has zeros behind it. It needs no disk space."""

    def make(path):
        with open(path, "wb") as file:
            file.write(data)
            file.truncate(size)

    return Special(make)


def locked(content=b"", mode=0):
    """A file with these permissions, or a folder if `content` is None."""

    def make(path):
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(content)
        os.chmod(path, mode)

    return Special(make)


@dataclass
class Case:
    group: str  # what the cases are about
    name: str
    command: str  # without the name of the program
    exit: int  # the expected exit status
    says: list  # texts that standard error must contain
    files: dict = field(default_factory=dict)  # path in the folder: bytes or a Special
    stdin: bytes = b""  # bytes, or the path of a file to open
    stdout: str = None  # a device to write to
    unprivileged: bool = False  # run as the user `nobody`, not as root
    limits: tuple = ()  # (resource, value)
    closed: tuple = ()  # numbers of the standard streams that are closed
    check: object = None  # a function that gets the folder and returns a list of faults
    unsanitized: bool = False  # skipped in builds with sanitizers, which cannot run with these limits


CASES = []


def case(group, name, command, exit_status, says, files=None, **more):
    CASES.append(Case(group, name, command, exit_status, [says] if isinstance(says, str) else says, files or {}, **more))
