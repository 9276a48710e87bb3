"""Arrays of steps, hits, paths and waveforms. Their fields are those of the structs in icestream.h."""
from __future__ import annotations

import os
from typing import Any, Dict, NamedTuple, Optional, Union

import numpy as np
import numpy.typing as npt

from ._library import ffi, lib, usage

_SCALARS = {
    "float": "<f4", "double": "<f8", "uint8_t": "u1", "int16_t": "<i2", "uint16_t": "<u2", "int32_t": "<i4",
    "uint32_t": "<u4", "uint64_t": "<u8",
}

Table = npt.NDArray[np.void]


def dtype_of(name: str) -> "np.dtype[np.void]":
    """The dtype of a struct of the library, with the offsets of C."""
    struct = ffi.typeof(name)
    fields = struct.fields
    return np.dtype({
        "names": [field for field, _ in fields],
        "formats": [_SCALARS[about.type.cname] for _, about in fields],
        "offsets": [about.offset for _, about in fields],
        "itemsize": ffi.sizeof(struct),
    })


STEP = dtype_of("icestream_step")
HIT = dtype_of("icestream_hit")
PATH_POINT = dtype_of("icestream_path_point")
WAVEFORM_BIN = dtype_of("icestream_waveform_bin")


class Account(NamedTuple):
    """How photons ended: created = absorbed + detected + left + stopped."""

    created: int
    absorbed: int
    detected: int
    left: int
    stopped: int
    hits: int
    bounces: int
    photo_electrons: int
    undetected: int


def account_of(account: Any) -> Account:
    """The account of an icestream_account."""
    return Account(*(int(getattr(account, name)) for name in Account._fields))


class Hits(np.ndarray):
    """Hits: a NumPy array with the fields of a hit file, in the order of a hit file.

    Hits of a session are the array that the library filled: nothing is copied. The memory is freed when the last array
    that uses it is gone. The members below belong to the whole result of a ticket and are None in parts of it.

    ticket: the number of the submission. account: how its photons ended. steps: how many steps it had.
    seconds: how long it took (s). thread_seconds: for how long threads of this machine worked on it (s).
    """

    ticket: Optional[int]
    account: Optional[Account]
    steps: Optional[int]
    seconds: Optional[float]
    thread_seconds: Optional[float]

    def __array_finalize__(self, _: Any) -> None:
        self.ticket = None
        self.account = None
        self.steps = None
        self.seconds = None
        self.thread_seconds = None

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str) or (isinstance(key, list) and bool(key) and isinstance(key[0], str)):
            return self.view(np.ndarray)[key]
        return super().__getitem__(key)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a column for each field. Needs pandas."""
        from ._convert import to_pandas
        return to_pandas(self)

    def to_awkward(self, by_event: bool = False) -> Any:
        """An awkward.Array of records, or with by_event a list of hits for each event. Needs awkward."""
        from ._convert import to_awkward
        return to_awkward(self, by_event)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a Parquet file with a column for each field. Needs pyarrow."""
        from ._convert import to_parquet
        to_parquet(self, path)


def hits_of(pointer: Any, count: int) -> Hits:
    """The hits that the library gave to us, where they are. The array frees them at its end."""
    if pointer == ffi.NULL:
        return np.empty(0, HIT).view(Hits)
    owned = ffi.gc(pointer, lib.icestream_hits_free, count * HIT.itemsize)
    return np.frombuffer(ffi.buffer(owned, count * HIT.itemsize), HIT).view(Hits)


def _check_whole(name: str, value: npt.ArrayLike) -> None:
    """Refuses numbers that do not fit into a field of whole numbers: older versions of NumPy make others of them."""
    numbers = np.asarray(value)
    if STEP[name].kind == "u" and numbers.dtype.kind in "iuf" and numbers.size:
        most = np.iinfo(STEP[name]).max
        if not (numbers.min() >= 0 and numbers.max() <= most):
            raise usage("steps: field %s: found numbers from %s to %s, expected 0 to %d"
                        % (name, numbers.min(), numbers.max(), most))


def steps(count: int, **fields: npt.ArrayLike) -> Table:
    """An array of steps: light of beta 1 and weight 1 along +z, with step_id 0, 1, 2, ... Give other fields by name:
    steps(10, z=numpy.linspace(-400, 400, 10), photons=1000)."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise usage("steps: found %r, expected a whole number from 0" % (count,))
    table: Table = np.zeros(count, STEP)
    defaults: Dict[str, npt.ArrayLike] = {"dz": 1, "beta": 1, "weight": 1, "event_id": 1, "step_id": np.arange(count)}
    for name, value in {**defaults, **fields}.items():
        if name not in (STEP.names or ()):
            raise usage("steps: found the field %r, expected one of %s" % (name, ", ".join(STEP.names or ())))
        _check_whole(name, value)
        try:
            table[name] = value
        except (TypeError, ValueError, OverflowError) as error:
            raise usage("steps: field %s: %s" % (name, error)) from error
    return table


def check_steps(array: Any) -> Table:
    """The steps as the library reads them: in one piece, at a multiple of 8. Copies only arrays that are not so. Raises
    UsageError if it is not an array of steps."""
    if not isinstance(array, np.ndarray):
        raise usage("steps: found %s, expected a NumPy array of the dtype icestream.STEP" % type(array).__name__)
    if array.dtype != STEP:
        raise usage("steps: found an array of %s, expected the dtype icestream.STEP: %s" % (array.dtype, STEP))
    if array.ndim != 1:
        raise usage("steps: found an array of %d dimensions, expected 1" % array.ndim)
    if array.flags.c_contiguous and array.ctypes.data % 8 == 0:
        return array
    copy: Table = np.empty(len(array), STEP)
    copy[:] = array
    return copy
