"""Hits for other libraries. Each function needs a library that is not installed with icestream."""
from __future__ import annotations

import importlib
import json
import os
from typing import Any, Union

import numpy as np

from ._library import usage


def needed(name: str, what: str, package: str = "") -> Any:
    """Imports a module. Raises ImportError with what to do. package: its name for pip, if it differs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = package or name.split(".", maxsplit=1)[0]
        raise ImportError("%s needs the package %s, which cannot be imported (%s); install it with: pip install %s"
                          % (what, package, error, package)) from error


def _columns(table: Any) -> Any:
    """Field names and columns, each in one piece."""
    plain = np.asarray(table)
    return {name: np.ascontiguousarray(plain[name]) for name in plain.dtype.names or ()}


def to_pandas(table: Any) -> Any:
    pandas = needed("pandas", "to_pandas")
    return pandas.DataFrame(_columns(table))


def to_awkward(table: Any, by_event: bool, events: Any) -> Any:
    awkward = needed("awkward", "to_awkward")
    rows = np.asarray(table)
    if not by_event:
        return awkward.Array(_columns(rows))
    wanted = _events_of(table, events)
    rows = rows[np.argsort(rows["event_id"], kind="stable")]
    begins = np.searchsorted(rows["event_id"], wanted, side="left")
    ends = np.searchsorted(rows["event_id"], wanted, side="right")
    if int((ends - begins).sum()) != len(rows):
        lost = np.setdiff1d(rows["event_id"], wanted)
        raise usage("events: found no %d, which has hits, expected all events with hits" % lost[0])
    order = np.concatenate([np.arange(begin, end) for begin, end in zip(begins, ends)]) if len(wanted) else np.arange(0)
    return awkward.unflatten(awkward.Array(_columns(rows[order.astype(np.int64)])), ends - begins)


def _events_of(table: Any, events: Any) -> Any:
    """The numbers of the events of a list by events: those given, those that were simulated, or those with hits."""
    known = getattr(table, "events", None) if events is None else events
    wanted = np.asarray(np.unique(np.asarray(table["event_id"])) if known is None else known)
    if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu") or len(np.unique(wanted)) != len(wanted):
        raise usage("events: found %s, expected a list of event numbers, each once" % (events,))
    return wanted.astype(np.uint64)


def to_parquet(table: Any, path: Union[str, "os.PathLike[str]"]) -> None:
    pyarrow = needed("pyarrow", "to_parquet")
    parquet = needed("pyarrow.parquet", "to_parquet")
    about = getattr(table, "metadata", None)
    content = pyarrow.table(_columns(table))
    if about is not None:
        content = content.replace_schema_metadata({"icestream": json.dumps(about)})
    parquet.write_table(content, os.fspath(path))
