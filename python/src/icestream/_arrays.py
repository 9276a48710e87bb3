"""Arrays of steps, hits, paths and waveforms. Their fields are those of the structs in icestream.h."""
from __future__ import annotations

import mmap
import os
import warnings
from copy import deepcopy
from typing import Any, BinaryIO, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

from ._library import IcestreamWarning, fault, ffi, lib, usage

_SCALARS = {
    "float": "<f4", "double": "<f8", "uint8_t": "u1", "int16_t": "<i2", "uint16_t": "<u2", "int32_t": "<i4",
    "uint32_t": "<u4", "uint64_t": "<u8",
}

Table = npt.NDArray[np.void]
_HEADER_MOST = 9984  # of a step file with a record of light (bytes)


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


# Of the fields of hits, as in the trailer of a hit file.
UNITS = {"event_id": "1", "t": "ns", "x": "m", "y": "m", "z": "m", "dx": "1", "dy": "1", "dz": "1", "wavelength": "nm",
         "weight": "1", "step_id": "1", "photon_id": "1", "string": "1", "module": "1", "pmt": "1", "scatters": "1"}


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


def _is_field(key: Any) -> bool:
    """Whether an index names fields, which are plain numbers."""
    return isinstance(key, str) or (isinstance(key, list) and bool(key) and isinstance(key[0], str))


class Steps(np.ndarray):
    """Steps: a NumPy array with the fields of a step file.

    light: the record of what the light was made with (files.md 2.5), as JSON; None: there is none. generate() and load() give
    it. Slices, views, copies and pickles keep it, and so does numpy.concatenate of arrays with one record. run() refuses
    steps whose light was made for other settings than those of the run.
    """

    light: Optional[str]

    def __array_finalize__(self, source: Any) -> None:
        self.light = getattr(source, "light", None)

    def __getitem__(self, key: Any) -> Any:
        return self.view(np.ndarray)[key] if _is_field(key) else super().__getitem__(key)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        result = super().__array_function__(function, types, arguments, named)
        if type(result) is not np.ndarray or result.dtype != STEP or function not in (np.concatenate, np.copy):
            return result
        parts = [part for part in (arguments[0] if function is np.concatenate else [self]) if len(part)]
        records = {getattr(part, "light", None) for part in parts}
        if len(records) > 1:
            warnings.warn("concatenate: the light of these steps was made with different settings, or some have no record of it, "
                          "so that the result has none", IcestreamWarning, stacklevel=3)
        joined = result.view(Steps)
        joined.light = records.pop() if len(records) == 1 else None
        return joined

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a step file with the record, which numpy.save would leave out."""
        with open(path, "wb") as file:
            write_steps(file, self)

    def __reduce__(self) -> Tuple[Any, ...]:
        make, arguments, state = super().__reduce__()  # type: ignore[misc]
        return make, arguments, (state, self.light)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])  # type: ignore[misc]
        self.light = state[1]


class WeightSum(NamedTuple):
    """A sum of weights. error: its standard deviation, if photons are independent; hits of one photon count together.
    effective: how many photons of equal weight have a sum that fluctuates as much."""

    sum: float
    error: float
    effective: float


def weight_sum(hits: Table) -> WeightSum:
    """The sum of the weights of hits, with its error. Any hits: of a module, of an event, of several files."""
    if not isinstance(hits, np.ndarray) or "weight" not in (hits.dtype.names or ()) or "photon_id" not in hits.dtype.names:
        raise usage("hits: found %s, expected an array of hits" % type(hits).__name__)
    names = ("event_id", "step_id", "photon_id")
    rows = np.atleast_1d(np.asarray(hits))
    columns = [rows[name] for name in names]
    order = np.lexsort(columns[::-1])
    is_first = np.ones(len(rows), dtype=bool)
    if len(rows):
        is_first[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    photons = np.bincount(np.cumsum(is_first) - 1, rows["weight"][order].astype(np.float64)) if len(rows) else np.zeros(0)
    total, squares = float(photons.sum()), float((photons * photons).sum())
    return WeightSum(total, squares ** 0.5, total * total / squares if squares > 0 else 0.0)


_WHOLE = ("ticket", "account", "steps", "seconds", "thread_seconds", "events", "metadata")  # members of Hits


class Hits(np.ndarray):
    """Hits: a NumPy array with the fields of a hit file, in the order of a hit file.

    Hits of a session are the array that the library filled: nothing is copied. The memory is freed when the last array
    that uses it is gone. The members below belong to the whole result of a ticket and are None in parts of it. Copies and
    pickles keep them.

    ticket: the number of the submission. account: how its photons ended. steps: how many steps it had.
    seconds: how long it took (s). thread_seconds: for how long threads of this machine worked on it (s). events: the numbers
    of all events that were simulated, also of those without hits; None: not known (particles of a file or of the configuration).
    metadata: of a session its seed, version and configuration, of a file what its trailer says.
    """

    ticket: Optional[int]
    account: Optional[Account]
    steps: Optional[int]
    seconds: Optional[float]
    thread_seconds: Optional[float]
    events: Optional[npt.NDArray[np.uint64]]
    metadata: Optional[Dict[str, Any]]

    def __array_finalize__(self, _: Any) -> None:
        for name in _WHOLE:
            setattr(self, name, None)

    def copy(self, *arguments: Any, **named: Any) -> "Hits":
        copied = super().copy(*arguments, **named)
        copied.__dict__.update(self.__dict__)
        return copied

    def __copy__(self) -> "Hits":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "Hits":
        copied = super().copy()
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __reduce__(self) -> Tuple[Any, ...]:
        make, arguments, state = super().__reduce__()  # type: ignore[misc]
        return make, arguments, (state, [getattr(self, name) for name in _WHOLE])

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])  # type: ignore[misc]
        for name, value in zip(_WHOLE, state[1]):
            setattr(self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self.view(np.ndarray)[key] if _is_field(key) else super().__getitem__(key)

    def weight_sum(self) -> WeightSum:
        """The sum of the weights, with its error: weight_sum()."""
        return weight_sum(self)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a column for each field. Needs pandas."""
        from ._convert import to_pandas
        return to_pandas(self)

    def to_awkward(self, by_event: bool = False, events: Optional[npt.ArrayLike] = None) -> Any:
        """An awkward.Array of records, or with by_event a list of hits for each event, empty for an event without hits. The
        lists have the order of `events`; None: of the member `events` or, if that is None, the events with hits. Needs
        awkward."""
        from ._convert import to_awkward
        return to_awkward(self, by_event, events)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a Parquet file with a column for each field, and with `metadata` as JSON under the key icestream of its
        schema. Needs pyarrow."""
        from ._convert import to_parquet
        to_parquet(self, path)


def hits_of(pointer: Any, count: int) -> Hits:
    """The hits that the library gave to us, where they are. The array frees them at its end."""
    if pointer == ffi.NULL:
        return np.empty(0, HIT).view(Hits)
    owned = ffi.gc(pointer, lib.icestream_hits_free, count * HIT.itemsize)
    return np.frombuffer(ffi.buffer(owned, count * HIT.itemsize), HIT).view(Hits)


def _check_time(numbers: Any) -> None:
    """Warns of times that single precision has rounded by more than 0.001 ns."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize < 8 and numbers.size and np.abs(numbers).max() > 32768:
        warnings.warn("steps: t: found %.6g ns in single precision, which rounds such times by more than 0.001 ns; usual: "
                      "t in double precision" % np.abs(numbers).max(), IcestreamWarning, stacklevel=5)


def _check_number(name: str, value: npt.ArrayLike) -> None:
    """Refuses numbers that a field would make others of: NumPy cuts 100.7 to 100, and its older versions wrap -1."""
    numbers = np.asarray(value)
    if name == "t":
        _check_time(numbers)
    if not numbers.size or numbers.dtype.kind not in "iuf":
        return
    if STEP[name].kind == "f":
        with np.errstate(over="ignore"):
            bad = np.isfinite(numbers) & ~np.isfinite(numbers.astype(STEP[name]))
        if np.any(bad):
            raise usage("steps: field %s: found %s, expected at most %g" % (name, numbers[bad].flat[0], np.finfo(STEP[name]).max))
        return
    most = int(np.iinfo(STEP[name]).max)
    bad = ~((numbers >= 0) & (numbers <= most))
    if np.any(bad):
        raise usage("steps: field %s: found %s, expected whole numbers from 0 to %d" % (name, numbers[bad].flat[0], most))
    if numbers.dtype.kind == "f":
        # Larger floats have lost their last digits, which matters to identities.
        exact = 2 ** {4: 24, 2: 11}.get(numbers.dtype.itemsize, 53) if name.endswith("_id") else 2 ** 53
        bad = (numbers != np.floor(numbers)) | (numbers >= float(exact))
        if np.any(bad):
            raise usage("steps: field %s: found %r, expected whole numbers from 0 to %d%s"
                        % (name, float(numbers[bad].flat[0]), most,
                           " (as integers from %d on, which these floats round)" % exact if name.endswith("_id") else ""))


def steps(count: int, **fields: npt.ArrayLike) -> Steps:
    """An array of steps: light of beta 1 and weight 1 along +z, with step_id 0, 1, 2, ... Give other fields by name:
    steps(10, z=numpy.linspace(-400, 400, 10), photons=1000). They have no record of their light."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
        raise usage("steps: found %r, expected a whole number from 0" % (count,))
    table = np.zeros(count, STEP).view(Steps)
    defaults: Dict[str, npt.ArrayLike] = {"dz": 1, "beta": 1, "weight": 1, "event_id": 1, "step_id": np.arange(count)}
    for name, value in {**defaults, **fields}.items():
        if name not in (STEP.names or ()):
            raise usage("steps: found the field %r, expected one of %s" % (name, ", ".join(STEP.names or ())))
        _check_number(name, value)
        try:
            table[name] = value
        except (TypeError, ValueError, OverflowError) as error:
            raise usage("steps: field %s: %s" % (name, error)) from error
    return table


def write_steps(file: BinaryIO, array: Table) -> None:
    """Writes steps as .npy, with their record of light in the header (files.md 2.4)."""
    record = getattr(array, "light", None)
    rows = check_steps(array)
    about = repr(np.lib.format.header_data_from_array_1_0(rows))
    text = about.encode("ascii") + (b" # light: " + record.encode("ascii") if record is not None else b"")
    if len(text) > _HEADER_MOST - 74:
        raise usage("steps: found a record of light of %d bytes, expected fewer than %d" % (len(record or ""), _HEADER_MOST))
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
    file.write(memoryview(rows).cast("B") if len(rows) else b"")


def _mapping_of(array: Table) -> Optional[mmap.mmap]:
    """The file, mapped into memory, that an array lies in and that others can make shorter. None: there is none. That of
    generate() has no name any more."""
    part: Any = array
    while part is not None and not isinstance(part, mmap.mmap):
        name = getattr(part, "filename", None)
        if name is not None and not os.path.lexists(name):
            return None
        part = part.obj if isinstance(part, memoryview) else getattr(part, "base", None)
    try:
        return part if part is not None and part.size() else None
    except OSError:  # memory without a file
        return None


def _copy_of(array: Table, mapping: mmap.mmap) -> Table:
    """A copy of steps that lie in a file. The system copies the bytes and reports an error where the file has become shorter;
    if this process read them, that would end it (SIGBUS)."""
    last = (len(array) - 1) * array.strides[0]
    begin, size, done = min(0, last), abs(last) + array.itemsize, 0
    source = memoryview(ffi.buffer(ffi.cast("char *", array.ctypes.data + begin), size))
    descriptor = os.memfd_create("icestream-steps")
    try:
        while done < size:
            done += os.write(descriptor, source[done:])
        memory = mmap.mmap(descriptor, size)
        shorter = len(mapping) - mapping.size()  # behind the end of a file its last page has zeros
    except OSError as error:
        raise fault("steps: cannot copy %d bytes that are mapped from a file: %s" % (size, error.strerror)) from error
    finally:
        os.close(descriptor)
    if shorter > 0:
        raise fault("steps: found a file that lost %d bytes after it was mapped, expected one that keeps its length" % shorter)
    copy = np.ndarray(array.shape, array.dtype, memory, -begin, array.strides).view(Steps)
    copy.light = getattr(array, "light", None)
    return copy


def check_steps(array: Any) -> Table:
    """The steps as the library reads them: in one piece, at a multiple of 8, and in no memory of a file. Copies only arrays that are not so. Fields are found by name if each fits its field of STEP. Raises UsageError if it is not
    an array of steps."""
    if not isinstance(array, np.ndarray):
        raise usage("steps: found %s, expected a NumPy array of the dtype icestream.STEP" % type(array).__name__)
    names = STEP.names or ()
    found = array.dtype if array.dtype.names is not None else STEP
    fits = set(names) <= set(array.dtype.names or ()) and all(
        found[name].isnative and np.can_cast(found[name], STEP[name], "safe") for name in names)
    if not fits:
        raise usage("steps: found an array of %s, expected the dtype icestream.STEP: %s" % (array.dtype, STEP))
    if array.ndim != 1:
        raise usage("steps: found an array of %d dimensions, expected 1" % array.ndim)
    mapping = _mapping_of(array) if len(array) else None
    if mapping is not None:
        array = _copy_of(array, mapping)
    if array.dtype == STEP and array.flags.c_contiguous and array.ctypes.data % 8 == 0:
        return array
    _check_time(array["t"])
    copy = np.empty(len(array), STEP).view(Steps)
    for name in names:
        copy[name] = array[name]
    copy.light = getattr(array, "light", None)
    return copy
