"""The bytes of a photon table (docs/tables.md 2), the same as those that `icestream table` writes."""
from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from typing import Any, Dict, Iterable, Iterator, Type

import numpy as np
import numpy.typing as npt

from ._abi import VERSION
from ._commands import Path
from ._library import Error, FailedError, InputError, OutputError, lib

_BLOCK = 1 << 20              # bytes of sums with one checksum
_METADATA_MOST = 64 << 20     # bytes

Words = npt.NDArray[np.uint32]


def fault(kind: Type[Error], text: str, cause: int = 0) -> Error:
    """The exception of an error that the package finds itself."""
    status = {FailedError: lib.ICESTREAM_E_FAILED, InputError: lib.ICESTREAM_E_INPUT, OutputError: lib.ICESTREAM_E_OUTPUT}[kind]
    return kind(text, status, int(lib.icestream_status_exit(status)), cause)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[str]:
    """The name of a temporary file. It gets the name `path` when it is complete."""
    name = os.fsdecode(path)
    part = "%s.%d.part" % (name, os.getpid())
    try:
        yield part
        with open(part, "rb") as file:
            os.fsync(file.fileno())
        os.replace(part, name)
    except OSError as error:
        raise fault(OutputError, "%s: cannot write: %s" % (name, error.strerror or error), error.errno or 0) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)


def write_table(path: Path, array: npt.NDArray[np.int64], metadata: Dict[str, Any]) -> None:
    """Writes sums, or sums and squares, with what the trailer says of them."""
    data = array.reshape(-1).view(np.uint8)
    shape = "{'shape': (%s,), 'fortran_order': False, 'descr': '<i8', }" % ", ".join(map(str, array.shape))
    header = (b"\x93NUMPY\x01\x00" + (1014).to_bytes(2, "little") + shape.encode()).ljust(1023) + b"\n"
    checksums = [crc32c(data[first:first + _BLOCK]) for first in range(0, len(data), _BLOCK)]
    text = _json({**metadata, "schema": "icestream.table", "version": 1, "producer": "icestream " + VERSION,
                  "coordinates": "axes", "units": {"sum": "2^-32 of a weight"}, "rows": array.size,
                  "crc32c": {"block_bytes": _BLOCK, "values": checksums}}).encode()
    if len(text) > _METADATA_MOST:
        raise fault(OutputError, "%s: found %d bytes of metadata, expected at most %d (fewer given edges, or fewer parts)"
                    % (os.fsdecode(path), len(text), _METADATA_MOST))
    tail = b"".join(number.to_bytes(size, "little") for number, size in (
        (len(header) + len(data), 8), (len(text), 8), (crc32c(np.frombuffer(text, np.uint8)), 4), (1, 4))) + b"ISTRAIL1"
    with writing(path) as part, open(part, "wb") as file:
        for piece in (header, data.data, text, tail):
            file.write(piece)


def _json(value: Any) -> str:
    """The text that jansson makes of a value: floats have 17 digits, and their exponents neither + nor zeros in front."""
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (json.dumps(key), _json(member)) for key, member in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(map(_json, value))
    if isinstance(value, float):
        text = re.sub(r"e(-?)\+?0*", r"e\1", "%.17g" % value)
        return text if "." in text or "e" in text else text + ".0"
    return json.dumps(value, ensure_ascii=False)


# ---- checksums

@functools.lru_cache(maxsize=None)
def _table() -> Words:
    """What 16 bits make of a checksum of 0."""
    words: Words = np.arange(1 << 16, dtype=np.uint32)
    for _ in range(16):
        words = np.where(words & 1, words >> 1 ^ np.uint32(0x82F63B78), words >> 1)
    return words


def _steps(words: Words, columns: Iterable[Any]) -> Words:
    """Continues checksums by 16 bits for each column."""
    table = _table()
    for column in columns:
        words = table[(words ^ column) & 0xffff] ^ (words >> 16)
    return words


@functools.lru_cache(maxsize=None)
def _zeros() -> Words:
    """What 1024 zeros make of each bit of a checksum."""
    return _steps(np.uint32(1) << np.arange(32, dtype=np.uint32), np.zeros(512, np.uint32))


def _shift(zeros: Words, words: Words) -> Words:
    """Continues checksums by the zeros of which `zeros` says what they make of each bit."""
    bits = words[:, None] >> np.arange(32, dtype=np.uint32) & 1
    shifted: Words = np.bitwise_xor.reduce(bits * zeros, axis=1)
    return shifted


def crc32c(data: npt.NDArray[np.uint8]) -> int:
    """The CRC-32C of at least four bytes. Pieces of 1024 bytes are computed at the same time and joined in pairs. Zeros in
    front change nothing, because the checksum begins with 0 there and the usual start value is added to the first four bytes."""
    pieces = 1 << (max(len(data) - 1, 0) >> 10).bit_length()
    padded = np.zeros(pieces << 10, np.uint8)
    start = len(padded) - len(data)
    padded[start:] = data
    padded[start:start + 4] ^= 0xff
    words = _steps(np.zeros(pieces, np.uint32), np.ascontiguousarray(padded.view("<u2").reshape(pieces, 512).T))
    zeros = _zeros()
    while len(words) > 1:
        words = _shift(zeros, words[0::2]) ^ words[1::2]
        zeros = _shift(zeros, zeros)
    return int(words[0]) ^ 0xffffffff
