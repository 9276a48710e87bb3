"""Hits for other libraries. Each function needs a library that is not installed with icestream."""
from __future__ import annotations

import importlib
import os
from typing import Any, Union

import numpy as np


def needed(name: str, what: str) -> Any:
    """Imports a module. Raises ImportError with what to do."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError("%s needs the package %s, which cannot be imported (%s); install it with: pip install %s"
                          % (what, name.split(".", maxsplit=1)[0], error, name.split(".", maxsplit=1)[0])) from error


def _columns(table: Any) -> Any:
    """Field names and columns, each in one piece."""
    plain = np.asarray(table)
    return {name: np.ascontiguousarray(plain[name]) for name in plain.dtype.names or ()}


def to_pandas(table: Any) -> Any:
    pandas = needed("pandas", "to_pandas")
    return pandas.DataFrame(_columns(table))


def to_awkward(table: Any, by_event: bool) -> Any:
    awkward = needed("awkward", "to_awkward")
    array = awkward.Array(_columns(table))
    if not by_event:
        return array
    _, first = np.unique(np.asarray(table["event_id"]), return_index=True)
    if np.any(np.diff(table["event_id"].astype(np.int64)) < 0):
        order = np.argsort(np.asarray(table["event_id"]), kind="stable")
        array = array[order]
        _, first = np.unique(np.asarray(table["event_id"])[order], return_index=True)
    return awkward.unflatten(array, np.diff(np.append(first, len(table))))


def to_parquet(table: Any, path: Union[str, "os.PathLike[str]"]) -> None:
    pyarrow = needed("pyarrow", "to_parquet")
    parquet = needed("pyarrow.parquet", "to_parquet")
    parquet.write_table(pyarrow.table(_columns(table)), os.fspath(path))
