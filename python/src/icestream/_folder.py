"""Temporary folders."""
from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Optional


def _remove(path: str, process: int) -> None:
    if process == os.getpid():
        shutil.rmtree(path, ignore_errors=True)


class Folder:
    """A temporary folder: with Folder() as path. It is removed at the end of the block, with the object, or at the end of the
    process. A child of fork does not remove it, as it would with tempfile.TemporaryDirectory."""

    def __init__(self, prefix: str = "icestream-", place: Optional[str] = None) -> None:
        self.path = tempfile.mkdtemp(prefix=prefix, dir=place)
        self.remove = weakref.finalize(self, _remove, self.path, os.getpid())

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()
