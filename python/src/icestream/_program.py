"""Starts the program `icestream` that the package carries."""
from __future__ import annotations

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "icestream")


def main() -> None:
    """Becomes the program, with the same arguments."""
    if not os.path.exists(PROGRAM):
        sys.exit("icestream: this package carries no program: %s does not exist" % PROGRAM)
    os.execv(PROGRAM, ["icestream", *sys.argv[1:]])
