"""`python -m icestream COMMAND`: the commands that are written in Python."""
from __future__ import annotations

import argparse
import sys
from typing import Optional, Sequence

from . import importer, report
from ._library import Error


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs a command and returns its exit status. argparse ends the process with 2 if the command line is wrong."""
    parser = argparse.ArgumentParser(prog="python -m icestream", description="Commands of icestream that are written in Python.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    report.add_command(commands)
    importer.add_command(commands)
    given = parser.parse_args(arguments)
    try:
        given.execute(given)
    except Error as error:
        print(str(error).encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
        return error.exit_status
    except ImportError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
