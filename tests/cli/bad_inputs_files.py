"""What the cases of bad_inputs.py are made of: .npy files by hand, special files, their list."""

import os
import struct
from dataclasses import dataclass, field
from types import SimpleNamespace

# Of the program under test, and made by it: steps, their hits, the steps
# as HDF5 (b"" without HDF5).
good = SimpleNamespace(program="", steps=b"", hits=b"", hit_count=0, hdf5=b"")


# ---- .npy, by hand ------------------------------------------------------------------------------

STEP_FIELDS = [(name, "<f4") for name in "x y z t dx dy dz length beta weight".split()] + [
    ("photons", "<u4"),
    ("source_id", "<u4"),
    ("event_id", "<u8"),
    ("step_id", "<u4"),
    ("kind", "|u1"),
    ("spectrum", "|u1"),
    ("flags", "<u2"),
]
STEP_ROW = struct.Struct("<10f2IQI2BH")
GOOD_STEP = dict(
    x=0,
    y=0,
    z=0,
    t=0,
    dx=0,
    dy=0,
    dz=1,
    length=1,
    beta=1,
    weight=1,
    photons=10,
    source_id=0,
    event_id=0,
    step_id=0,
    kind=1,
    spectrum=0,
    flags=0,
)
NAN, INFINITY = float("nan"), float("inf")


def step(**changes):
    """One row; values of another field than the given ones are good."""
    return STEP_ROW.pack(*{**GOOD_STEP, **changes}.values())


def descr(fields=None, **types):
    """The `descr` of a header, some fields with another type."""
    return repr([(name, types.get(name, kind)) for name, kind in fields or STEP_FIELDS])


def npy_header(text, version=(1, 0), length=None):
    """Magic string, version, length and the padded dictionary."""
    count = "<H" if version[0] == 1 else "<I"
    preamble = 8 + struct.calcsize(count)
    body = text.encode("latin-1")
    body += b" " * (-(preamble + len(body) + 1) % 64) + b"\n"
    return (
        b"\x93NUMPY"
        + bytes(version)
        + struct.pack(count, len(body) if length is None else length)
        + body
    )


def npy(*rows, shape=None, types=None, order="False", keys="", data=None, **header):
    """A file as numpy.save writes it, or nearly so."""
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, %s}" % (
        types or descr(),
        order,
        shape or "(%d,)" % len(rows),
        keys,
    )
    return npy_header(text, **header) + (b"".join(rows) if data is None else data)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def trailer(body, text, version=1, magic=b"ISTRAIL1", offset=None, checksum=None):
    """A file, the JSON behind it and the tail."""
    tail = struct.pack(
        "<QQII",
        len(body) if offset is None else offset,
        len(text),
        crc32c(text) if checksum is None else checksum,
        version,
    )
    return body + text + tail + magic


# ---- what a case finds in its folder -----------------------------------


class Special:
    """Something that is not simply a file with some bytes."""

    def __init__(self, make):
        self.make = make


def folder():
    return Special(os.mkdir)


def pipe():
    return Special(os.mkfifo)


def link(target):
    return Special(lambda path: os.symlink(target, path))


def sparse(data, size):
    """Bytes, then nothing up to a size."""

    def make(path):
        with open(path, "wb") as file:
            file.write(data)
            file.truncate(size)

    return Special(make)


def locked(content=b"", mode=0):
    """A file, or with None a folder, that its owner may not read or write."""

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
    group: str
    name: str
    command: str
    exit: int
    says: list
    files: dict = field(default_factory=dict)
    stdin: bytes = b""
    stdout: str = None  # a device to write to
    unprivileged: bool = False
    limits: tuple = ()  # (resource, value)
    closed: tuple = ()  # standard streams
    check: object = None  # function of the folder, gives a list of faults
    unsanitized: bool = False  # sanitizers need what the limits take away
    varies: str = ""  # regular expression: the part of the message that depends on the machine


CASES = []


def case(group, name, command, exit_status, says, files=None, **more):
    CASES.append(
        Case(
            group,
            name,
            command,
            exit_status,
            [says] if isinstance(says, str) else says,
            files or {},
            **more
        )
    )
