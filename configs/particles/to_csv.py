#!/usr/bin/env python3
"""Writes a list of particles for icestream (CSV) from files of other programs.

    to_csv.py genie events.txt > events.csv       # gntpc -f nuance_tracker or t2k_tracker: m, s, MeV
    to_csv.py nuance events.txt > events.csv      # the same format as NUANCE and WCSim write it: cm, ns, MeV
    to_csv.py proposal losses.csv > events.csv    # written as docs/particles.md shows: cm, s, MeV
    to_csv.py siren events.jsonl > events.csv     # written as docs/particles.md shows: m, ns, GeV

It is the front of icestream.io in Python, whose other formats it reads, too, if their packages are installed: docs/particles.md.
The axes of the lists must be those of the detector: x, y and z up, in the coordinates of its modules. A wrong record
ends the program with its file and line, and nothing is written. --ways also writes charged particles of SIREN that
interact again, as tracks to their next vertex; --pdg reads evt files whose codes are those of the Particle Data Group.
"""

import importlib
import importlib.util
import os
import shutil
import sys
import tempfile


def load_io():
    """icestream.io of the repository, without the package around it, which needs the library of icestream; else the installed one."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "src", "icestream", "io")
    if "icestream_io" in sys.modules:
        return sys.modules["icestream_io"]
    if not os.path.isdir(folder):
        return importlib.import_module("icestream.io")
    spec = importlib.util.spec_from_file_location("icestream_io", os.path.join(folder, "__init__.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules["icestream_io"] = module
    spec.loader.exec_module(module)
    return module


def main():
    io = load_io()
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    given = {word for word in sys.argv[1:] if word.startswith("--")}
    allowed = {"siren": {"--ways"}, "evt": {"--pdg"}, "corsika": {"--pdg"}}
    if len(words) != 2 or words[0] not in io.FORMATS or given - allowed.get(words[0].partition("-")[0], set()):
        sys.exit(__doc__ + "\nFormats: " + ", ".join(io.FORMATS))
    options = {name: value for word, name, value in (("--ways", "ways", True), ("--pdg", "codes", "pdg")) if word in given}
    source = io.Source(words[1])
    try:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as rows:
            try:
                io.write_csv(io.rows(source, words[0], **options), rows)
            except io.Fault as error:
                sys.exit(f"{source.path}:{source.where or 1}: error: {error}")
            except ImportError as error:
                sys.exit(f"{words[0]}: error: {error}; it needs: pip install {' '.join(io.FORMATS[words[0]].packages)}")
            except (BrokenPipeError, MemoryError, RecursionError):
                raise
            except Exception as error:  # libraries raise anything for a damaged file
                if not io.FORMATS[words[0]].packages:
                    raise
                sys.exit(f"{source.path}:{source.where or 1}: error: cannot read as {words[0]}: {error}")
            rows.seek(0)
            shutil.copyfileobj(rows, sys.stdout)
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        sys.exit(f"{source.path}: error: {error.strerror}")
    for note in source.notes:
        print(f"to_csv.py: {note}", file=sys.stderr)


if __name__ == "__main__":
    main()
