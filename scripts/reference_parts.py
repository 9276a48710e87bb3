"""What the scripts reference_*.py share: where things are, runs of the program, and the tail of chi-square."""
import math
import os
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.realpath(os.environ.get("ICESTREAM_SHARED", os.path.join(ROOT, "../shared")))
PROGRAM = os.environ.get("ICESTREAM", "icestream")


def call(*words, **where):
    """Runs the program, `run` and `tabulate` with the words of OPTIONS, and returns what it prints. A program that fails ends
    this script with status 2."""
    options = shlex.split(os.environ.get("OPTIONS", "")) if words[0] in ("run", "tabulate") else []
    command = [PROGRAM, *words, *options]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **where)
    if result.returncode != 0:
        print(f"{os.path.basename(sys.argv[0])}: {shlex.join(command)}\n{result.stderr}", file=sys.stderr)
        sys.exit(2)
    return result.stdout


def chi_square_p(chi_square, degrees):
    """The upper tail of chi-square, by the cube root of Wilson and Hilferty, good to 1e-4 for 10 degrees and more."""
    if degrees < 1:
        return 1.0
    z = ((chi_square / degrees) ** (1 / 3) - (1 - 2 / (9 * degrees))) / math.sqrt(2 / (9 * degrees))
    return 0.5 * math.erfc(z / math.sqrt(2))
