"""The bytes of a photon table (docs/tables.md 2), the same as those that `icestream table` writes."""
from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Any, Dict, Iterator, Type

import numpy as np
import numpy.typing as npt

from ._abi import VERSION
from ._commands import Path
from ._convert import needed
from ._library import Error, FailedError, InputError, OutputError, lib

_BLOCK = 1 << 20              # bytes of sums with one checksum
_METADATA_MOST = 64 << 20     # bytes


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
    crc32c = needed("crc32c", "a photon table").crc32c
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
        (len(header) + len(data), 8), (len(text), 8), (crc32c(text), 4), (1, 4))) + b"ISTRAIL1"
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
