"""Tables of steps, hits, paths and waveforms as HDF5 and back, by h5py. docs/files.md 11 defines the layout. The library
checks each .npy file that is read or made: header, values, and the checksums of rows and metadata."""
from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import signal
import struct
import subprocess
import sys
from typing import Any, Iterator

import numpy as np

from ._arrays import HIT, PATH_POINT, STEP, WAVEFORM_BIN
from ._commands import Path, _describe, _read
from ._config import encode
from ._convert import needed
from ._folder import Folder
from ._library import LIBRARY_PATH, Error, fault

TABLES = {"hits": HIT, "steps": STEP, "paths": PATH_POINT, "waveforms": WAVEFORM_BIN}
UNITS = {"t": "ns", "x": "m", "y": "m", "z": "m", "length": "m", "path": "m", "wavelength": "nm"}  # of other fields: 1
CENTRES = {"hits": "x, y, z from the module's centre, z up; ", "waveforms": ""}  # of other tables: the detector's centre
CHUNK, HEADER, ROW_MOST, METADATA_MOST = 16384, 1024, 1 << 20, 64 << 20
TAIL, MAGIC = struct.Struct("<QQII8s"), b"ISTRAIL1"
STATUS, FULL = {"read": "ICESTREAM_E_INPUT", "write": "ICESTREAM_E_OUTPUT"}, (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def to_hdf5(source: Path, path: Path, force: bool = False) -> None:
    """Writes a .npy file of steps, hits, paths or waveforms, with its metadata, as HDF5. force: replaces an existing file."""
    needed("h5py", "to_hdf5")
    with written(path, force) as part:
        kind = _describe(encode(source, "source"), False)["kind"]
        if kind not in TABLES:
            raise fault("%s: found a file of kind %s, expected steps, hits, paths or waveforms" % (os.fsdecode(source), kind))
        _in_child("write", os.fsdecode(path), os.fsdecode(source), part, kind)


def from_hdf5(path: Path, target: Path, force: bool = False) -> None:
    """Writes the table of an HDF5 file as .npy: /hits, else /steps, else /paths, else /waveforms. force: replaces an existing
    file. Needs h5py. Raises InputError, also if HDF5 crashes on a damaged file, or OutputError."""
    needed("h5py", "from_hdf5")
    name = os.fsdecode(encode(path, "path"))
    if os.path.exists(name) and not os.path.isfile(name):  # HDF5 would wait for the writer of a named pipe
        raise fault("%s: found something that is not a file, expected an HDF5 file" % name)
    with written(target, force) as part:
        _in_child("read", name, part)
        _describe(encode(part, "target"), False, name)


@contextlib.contextmanager
def written(path: Path, force: bool) -> Iterator[str]:
    """The name of a file in a folder of its own, which becomes the file `path` if the block ends well."""
    name = os.fsdecode(encode(path, "path"))
    if not force and os.path.lexists(name):
        raise fault("%s: found an existing file, expected none (force=True overwrites)" % name, "ICESTREAM_E_OUTPUT")
    try:
        with Folder(".icestream-", os.path.dirname(name) or ".") as own:
            part = os.path.join(own, os.path.basename(name))
            yield part
            with open(part, "rb") as file:
                os.fsync(file.fileno())
            os.replace(part, name)
    except OSError as error:
        raise fault("%s: cannot write: %s" % (name, error.strerror), "ICESTREAM_E_OUTPUT") from error


def _in_child(which: str, shown: str, *arguments: str) -> None:
    """Runs _read_table or _write_table in a process of its own, because the HDF5 library crashes on some damaged files and on
    full disks. `shown` is the HDF5 file in errors."""
    code = "import sys; sys.path = [*filter(None, sys.path)]; from icestream import convert; convert._serve(*sys.argv[1:])"
    folders = os.pathsep.join(folder or "." for folder in sys.path)
    done = subprocess.run([sys.executable, "-c", code, which, shown, *arguments], capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": folders, "ICESTREAM_LIBRARY": LIBRARY_PATH})
    if done.stdout.startswith(b"["):
        raise fault(*json.loads(done.stdout))
    if done.returncode:
        how = signal.strsignal(-done.returncode) if done.returncode < 0 else done.stderr.decode(errors="replace").strip()[-300:]
        raise fault("%s: the library that uses HDF5 crashed (%s), expected a whole file" % (shown, how), STATUS[which])


def _serve(which: str, shown: str, *arguments: str) -> None:
    """What the child does. It leaves at once, because HDF5 writes again at the exit what it could not write."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is expected
    try:
        (_write_table if which == "write" else _read_table)(shown, *arguments)
    except BaseException as error:  # pylint: disable=broad-except
        code = getattr(error, "errno", None)
        kind = "ICESTREAM_E_MEMORY" if isinstance(error, MemoryError) else "ICESTREAM_E_OUTPUT" if code in FULL else STATUS[which]
        text = str(error) if isinstance(error, Error) else "%s: cannot convert: %s" % (shown, code and os.strerror(code) or error)
        os.write(1, json.dumps([text, kind]).encode())
    os._exit(0)


def _write_table(_: str, name: str, part: str, kind: str) -> None:
    """From the .npy file `name`, which the library has checked, to the HDF5 file `part`."""
    h5py, rows = needed("h5py", "to_hdf5"), _read(name)
    with open(name, "rb") as npy:
        npy.seek(-TAIL.size, os.SEEK_END)
        begin, length, checksum, _, magic = TAIL.unpack(npy.read())
        npy.seek(begin if magic == MAGIC else 0)
        text = npy.read(length) if magic == MAGIC else b""
    attributes = {"unit of " + field: UNITS.get(field, "1") for field in TABLES[kind].names or ()}
    attributes["coordinates"] = CENTRES.get(kind, "x, y, z from the detector's centre, z up; ") + "t after the event's t0"
    attributes["schema"] = "icestream." + kind
    with h5py.File(part, "w") as file:
        table = file.create_dataset(kind, data=rows, maxshape=(None,), chunks=(CHUNK,), track_times=False)
        for key, value in attributes.items():
            table.attrs.create(key, value, dtype=h5py.string_dtype("utf-8", len(value) + 1))
        if text:
            metadata = file.create_dataset("metadata", data=np.frombuffer(text, "u1"), track_times=False)
            metadata.attrs.create("crc32c", checksum, dtype="<u4")


def _read_table(name: str, part: str) -> None:
    """From the HDF5 file `name` to the .npy file `part`."""
    with needed("h5py", "from_hdf5").File(name, "r") as file, open(part, "wb") as made:
        kind = next((kind for kind in TABLES if kind in file), None)
        if kind is None:
            raise fault("%s: found none of the datasets /steps, /hits, /paths and /waveforms, expected one of them" % name)
        table, place = file[kind], "%s: dataset %s" % (name, kind)
        found: Any = getattr(table, "dtype", np.dtype("f4"))
        if found.names is None or found.itemsize > ROW_MOST or len(table.shape or ()) != 1:
            raise fault("%s: found no table, expected one dimension of compound rows of at most 1 MiB" % place)
        # Of a damaged number of rows HDF5 would invent rows. We assume that compression makes them at most 2^16 times smaller.
        rows, size, filters = table.shape[0], table.id.get_storage_size(), table.id.get_create_plist().get_nfilters()
        if rows >> (16 if filters else 0) > size // table.id.get_type().get_size():
            raise fault("%s: found %d rows in %d bytes, expected rows that are in the file" % (place, rows, size))
        kept = [field for field in found.names if field in (TABLES[kind].names or ()) and found[field].kind in "fiub"]
        types = [(field, found[field].newbyteorder("<").str) for field in kept]
        header = "{'shape': (%20d,), 'descr': %r, 'fortran_order': False, }" % (rows, types)
        made.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", HEADER - 10) + header.ljust(HEADER - 11).encode() + b"\n")
        step = max(1, 16 * ROW_MOST // found.itemsize)
        for first in range(0, rows, step):
            made.write(table.fields(kept)[first:first + step].astype(types).tobytes())
        if "metadata" in file:
            stored, place = file["metadata"], "%s: dataset metadata" % name
            if not (0 < stored.size <= METADATA_MOST and stored.dtype == np.uint8 and "crc32c" in stored.attrs):
                raise fault("%s: found something else, expected the bytes of a JSON object, with their checksum crc32c" % place)
            text, checksum = stored[()].tobytes(), int(stored.attrs["crc32c"])
            made.write(text + TAIL.pack(made.tell(), len(text), checksum, 1, MAGIC))
