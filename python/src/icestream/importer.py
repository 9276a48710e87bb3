"""Writes a complete, commented run file for the ice folder of a user of ppc or clsim:
`python -m icestream import ppc|clsim DIR [F2K] -o FILE`.

docs/for-ppc-users.md and docs/for-clsim-users.md say what the run files do. Everything that can be read wrongly is read
by the library: a run file that is written was checked with its models before.
"""
from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import stat
import struct
import sys
from typing import Any, Dict, List, Optional, Tuple

from ._commands import layers
from ._config import open_config
from ._library import Error, call, fault, ffi, lib, usage
from .convert import written

# Public models without a file `version`, by the digest of the numbers of icemodel.dat, with what their scattering needs: those of
# pipeline/photons/models/ice/known.c.
KNOWN = {
    "63b1daabd134bf49c94200cd0979819ea970244e6107e8dab64c07b74de4a92e": ("spice_bfr-v2", "constant"),
    "ea7a0748e15c47d3ffe18abc6bd53fcae38a80c0d3a7d6d10136b0151d866f8c": ("spice_ftp-v3m", "none"),
    "901f598f9c574cd31f6fd1252aa1d4406e363a7488e2b9b789e893f0631bf7ff": ("spice_bfr-dv1", "constant"),
}
TILT_AZIMUTH = math.radians(225)  # along which ppc measures the positions of a tilt
HOLE_RADIUS, HOLE_ABSORPTION, BIREFRINGENCE = 7, 9, (16, 20, 24)  # indices of the numbers in cfg.txt

HEAD = """\
# A run in the ice of {path}, written by `python -m icestream import {program}`.
# Change what you like: every key has its reason, and configs/README.md has all keys.
#
#   icestream validate RUN.yaml      # what was understood
#   icestream run RUN.yaml           # makes steps of the particles, and simulates them

run:
  seed: 1                          # all random numbers

sink:
  directory: hits/

ice:
  directory: {quoted}
"""
PPC = """\
{tilt}{subtraction}\
  # anisotropy, birefringence, hole_ice and tilt are on if the folder has them. The
  # efficiency of cfg.txt is used.
{columns}
detector:
  layout: auto                     # geo-f2k of the folder; its z is counted from the surface,
                                   # hits and particles from 1948.07 m below it
  oversize: {oversize:<22g} # line {oversize_line} of cfg.txt, a whole number in ppc
  crossing: disc                   # entry bunches hits less (docs/oversize.md)
  keep_hit_photons: {keep:<14} # ppc lets photons go on after a hit if the oversize is above 1
  # auto: as.dat, eff-f2k, cx.dat, dx.dat and hvs-f2k of the folder, if they are there
{angular}\
  efficiencies: auto
  axes: auto
  cables: auto
  voltages: auto
  excluded: []                     # a module that flashes: [[63, 20]]. It absorbs light and
                                   # records none, as in ppc

light:
{acceptance}\
  high_efficiency: auto            # wv.rde

stages:
  detect: pe                       # hits are photo-electrons, as the HIT lines of ppc
"""
TILT = """\
  tilt_origin: {0:<19.7g} # (m) ppc counts positions along the tilt from string {1};
                                   # the default 0 would shift the tilt by that much
"""
AS_VERSION = """\
  birefringence_subtraction: auto  # as the file `version` of the folder says
"""
SUBTRACTION = """\
  # The folder does not say whether its scattering contains that by crystals. constant: it
  # does, what ppc assumes (BFRM=0); scaled: it does, at 400 nm (BFRM=1); none: it does
  # not (BFRM=2).
  birefringence_subtraction: {}
"""
COLUMNS = """\
  hole_ice: unscaled               # as in ppc, whose wide modules stick out of their
                                   # columns, so that hole ice is nearly off. Vertical
                                   # light on a module in a column of 30 cm (effective
                                   # scattering 20 cm): 0.875 of that in clear ice at
                                   # oversize 5, 0.133 at 2, 0.0074 at 1; 8 cm (3 cm):
                                   # 0.991, 0.933, 0.724. Right: true, and oversize 1
"""
ACCEPTANCE = """\
  acceptance: auto                 # wv.dat of the folder: light that no module would
                                   # detect is not made. Steps belong to this choice
"""
BUILT_IN = """\
  {0}: standard
  # The folder has no {1}, without which ppc ends: this is the built-in curve.
"""
CLSIM = """\
{tilt}\
  birefringence: false             # clsim has none
  hole_ice: false                  # clsim has hole ice only in the angular acceptance

detector:
{layout}\
  # file: modules.csv              # write the I3Geometry as CSV with the columns
                                   # string,module,x,y,z,efficiency (m, z as in I3Geometry)
  oversize: 5                      # DOMOversizeFactor, 5 unless you set it
  crossing: disc                   # entry bunches hits less (docs/oversize.md)
  keep_hit_photons: false          # StopDetectedPhotons is true
  angular_acceptance: {angular}
  efficiencies: none               # clsim takes them from the calibration, not from ppc's files
  axes: none
  voltages: none
  cables: none                     # for the cable shadow of clsim: {cables},
  cable_length: 1                  # (m) with cables of this length

light:
  acceptance: standard             # the acceptance of the module by wavelength in clsim
  high_efficiency: none

stages:
  detect: pe                       # hits are photo-electrons (MCPEs); none: photons
"""
CLSIM_TILT = "  tilt_origin: 0                   # clsim counts positions along the tilt from 0\n"
LAYOUTS = ("  layout: hex86                    # NOT your detector: the folder has no modules. Instead:\n",
           "  layout: auto                     # geo-f2k of the folder. For the modules of a GCD file:\n")
ANGULAR = ("standard     # built in, because the folder has no as.dat; or a file like it",
           "auto         # as.dat of the folder; or a file like it")
PARTICLES = """\

particles:
  conventions: {0:<19} # light yields as in {0} (docs/particles.md)
  losses: none                     # the list contains the energy losses of tracks; auto
                                   # makes those that a bare track lacks
"""
EXAMPLE = """\
  # An example. Replace it by `file: events.f2k`, `.csv` or `.yaml`. z is 0 at the centre
  # of the detector: z = 1948.07 m minus the depth. Energies are in GeV.
  list:
    - {type: e-, x: 25, y: -60, z: -350, zenith: 50, azimuth: 70, energy: 1000}
"""
COUNT = """\
  events: count                    # numbers the events 0, 1, 2, ...: those of the
                                   # file do not ascend
"""


# ---- what the folder has -------------------------------------------------------------------------


def _config_fault(text: str) -> Error:
    return fault(text, "ICESTREAM_E_CONFIG")


def _rows(path: str) -> List[Tuple[int, List[str]]]:
    """The lines of a text that are not empty, with their numbers from 1, without comments."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            rows = [(number, line.split("#")[0].split()) for number, line in enumerate(file, 1)]
    except OSError as error:
        raise _config_fault("%s: error: %s" % (path, error.strerror)) from error
    return [row for row in rows if row[1]]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _settings(folder: str) -> List[Tuple[int, float]]:
    """The first number of each line of cfg.txt, with the line."""
    return [(line, _number(words[0])) for line, words in _rows(os.path.join(folder, "cfg.txt")) if re.match(r"[-+.]*\d", words[0])]


def _known(folder: str) -> Tuple[str, str]:
    """The public model whose numbers icemodel.dat has, and what its scattering needs; empty texts: another one."""
    digest = hashlib.sha256()
    for _, words in _rows(os.path.join(folder, "icemodel.dat")):
        digest.update(struct.pack("<%dd" % (1 + len(words)), len(words), *(_number(word) + 0.0 for word in words)))
    return KNOWN.get(digest.hexdigest(), ("", ""))


def _origin(folder: str) -> Tuple[Optional[int], float]:
    """The string from which ppc counts positions along a tilt, that at position 0, and its mean position (m); NaN: geo-f2k
    lacks this string."""
    strings = [int(float(words[0])) for _, words in _rows(os.path.join(folder, "tilt.par")) if float(words[1]) == 0]
    if not strings:
        return None, math.nan
    modules = [words for _, words in _rows(os.path.join(folder, "geo-f2k")) if int(words[5]) == strings[-1]]
    way = [math.cos(TILT_AZIMUTH) * float(words[2]) + math.sin(TILT_AZIMUTH) * float(words[3]) for words in modules]
    return strings[-1], sum(way) / len(way) if way else math.nan


def _counts_events(path: str) -> bool:
    """Checks a list of particles, and returns whether the numbers of its events do not ascend, as a run needs them. Many f2k
    files number all events 1. Faults of the list are for `validate`."""
    found = "standard input" if path == "-" else None
    if found is None and os.path.exists(path) and not os.path.isfile(path):
        found = "a folder" if stat.S_ISDIR(os.stat(path).st_mode) else "a pipe or device"
    if found:
        raise _config_fault("%s: error: F2K: found %s, expected an f2k file, whose name the run file contains" % (path, found))
    last, is_f2k = -1.0, False
    for _, words in _rows(path):
        is_f2k |= len(words) > 1 and words[0] in ("EM", "TR")
        if len(words) > 1 and words[0] == "EM" and not math.isnan(_number(words[1])):
            if _number(words[1]) <= last:
                return True
            last = _number(words[1])
    if not is_f2k:
        raise _config_fault("%s: error: found no line that begins with EM or TR, expected the particles of ppc, an f2k list" % path)
    return False


# ---- the run file --------------------------------------------------------------------------------


def _quoted(path: str) -> str:
    """A path as YAML."""
    escaped = re.sub(r'["\\]', r"\\\g<0>", path)
    return '"%s"' % "".join(c if c.isprintable() else "\\u%04X" % ord(c) for c in escaped)


def _path_for(output: str, path: str) -> str:
    """A run file in the current folder, or on standard output, names a path as it was given; another one names the whole path."""
    return os.path.realpath(path) if "/" in output else path


def _particles(program: str, path: Optional[str], counts_events: bool) -> str:
    listed = EXAMPLE if path is None else "  file: %s\n  format: f2k\n" % _quoted(path) + COUNT * counts_events
    return PARTICLES.format(program) + listed


def _warn(text: str, *values: object) -> None:
    print("warning: " + text % values, file=sys.stderr)


def _subtraction(folder: str, wanted: Optional[str], has_version: bool) -> str:
    """The lines about birefringence."""
    if has_version:
        return AS_VERSION
    name, needed = _known(folder)
    if wanted is None and not needed:
        raise _config_fault(
            "%s: error: found birefringent ice without a file 'version', which is none of the public models; expected --subtraction "
            "constant (its scattering contains that by crystals, what ppc assumes), scaled (it does, at 400 nm) or none (it does not)"
            % folder)
    if wanted is not None and needed and wanted != needed:
        _warn("--subtraction: found %s, and icemodel.dat of %s is that of %s (by its numbers), whose scattering needs %s; scattering "
              "lengths are wrong otherwise", wanted, folder, name, needed)
    return SUBTRACTION.format((wanted or needed) + ("   # icemodel.dat is that of " + name if name else ""))


def _ppc(folder: str, has: Dict[str, bool], subtraction: Optional[str]) -> str:
    """The ice, the detector and the light for ppc."""
    if not has["geo-f2k"]:
        raise _config_fault("%s: error: found no geo-f2k, which ppc reads; expected a folder with the modules of the detector" % folder)
    numbers = _settings(folder)
    values = [value for _, value in numbers]
    is_birefringent = len(values) > BIREFRINGENCE[-1] + 3 and any(values[i] > 0 for i in BIREFRINGENCE)
    has_columns = len(values) > HOLE_ABSORPTION and values[HOLE_RADIUS] > 0
    string, origin = _origin(folder) if has["tilt.par"] and not has["tilt.set"] else (None, math.nan)
    oversize = max(1.0, math.floor(values[0] + 0.5))
    text = PPC.format(
        tilt="" if math.isnan(origin) else TILT.format(origin, string),
        subtraction=_subtraction(folder, subtraction, has["version"]) if is_birefringent else "",
        columns=COLUMNS if has_columns and oversize > 1 else "", oversize=oversize, oversize_line=numbers[0][0],
        keep="true" if oversize > 1 else "false",
        angular="  angular_acceptance: auto\n" if has["as.dat"] else BUILT_IN.format("angular_acceptance", "as.dat"),
        acceptance=ACCEPTANCE if has["wv.dat"] else BUILT_IN.format("acceptance", "wv.dat"))
    if string is not None and math.isnan(origin):
        _warn("found no string %d in geo-f2k of %s, from which ppc counts positions along the tilt (position 0 in tilt.par), wrote no "
              "ice.tilt_origin, so that they are counted from the origin", string, folder)
    return text


def _clsim(has: Dict[str, bool]) -> str:
    return CLSIM.format(tilt=CLSIM_TILT if has["tilt.par"] and not has["tilt.set"] else "", layout=LAYOUTS[has["geo-f2k"]],
                        angular=ANGULAR[has["as.dat"]], cables="auto (dx.dat)" if has["dx.dat"] else "a file like dx.dat")


def _warn_of_missing(folder: str, is_ppc: bool, has: Dict[str, bool]) -> None:
    """Warns of what the program of the folder needs, and the folder lacks."""
    curves = [("as.dat", "detector.angular_acceptance"), ("wv.dat", "light.acceptance")]
    for name, key in curves[:1 + is_ppc]:
        if not has[name]:
            _warn("found no %s in %s, wrote %s: standard, the built-in curve; is the folder complete?", name, folder, key)
    if not has["geo-f2k"]:
        _warn("found no geo-f2k in %s, wrote detector.layout: hex86, which is a made detector; usual: detector.file with the modules of "
              "yours", folder)


def write(program: str, folder: str, output: str, particles: Optional[str] = None, *, subtraction: Optional[str] = None,
          force: bool = False) -> None:
    """Writes the run file for a user of `program`, "ppc" or "clsim"; output "-" is standard output. Raises ConfigError: the
    folder or a file of it cannot be read; OutputError: an existing file without force."""
    is_ppc = program == "ppc"
    if not is_ppc and (particles is not None or subtraction is not None):
        raise usage("import clsim: found %s, which is for ppc, expected DIR alone" % (particles or "--subtraction"))
    layers({"ice": {"directory": folder, "birefringence": False}})  # its errors name what is wrong with the folder
    counts_events = _counts_events(particles) if particles is not None else False
    has = {name: os.path.exists(os.path.join(folder, name))
           for name in ("geo-f2k", "version", "tilt.set", "tilt.par", "dx.dat", "as.dat", "wv.dat")}
    path = _path_for(output, folder)
    text = HEAD.format(path=path, program=program, quoted=_quoted(path)) + (_ppc(folder, has, subtraction) if is_ppc else _clsim(has))
    config = open_config(text + _particles(program, None, False), [])
    call(lib.icestream_validate, config, ffi.NULL)
    text += _particles(program, None if particles is None else _path_for(output, particles), counts_events)
    if output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        with written(output, force) as part, open(part, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    _warn_of_missing(folder, is_ppc, has)


def add_command(commands: Any) -> None:
    """Adds the command to the subparsers of `python -m icestream`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "import", help="writes a run file for the ice folder of a user of ppc or clsim",
        description="Writes a run file for the ice folder of a user of ppc or clsim. DIR has icemodel.dat, icemodel.par and cfg.txt; F2K "
        "is a file of particles. The run file has every key that must differ from the default, with the reason.")
    parser.add_argument("program", metavar="ppc|clsim", choices=["ppc", "clsim"])
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("particles", metavar="F2K", nargs="?")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the run file to write; - is standard output")
    parser.add_argument("--subtraction", choices=["constant", "scaled", "none"],
                        help="ice.birefringence_subtraction [default: that of a public model]")
    parser.add_argument("-f", "--force", action="store_true", help="overwrite an existing file")
    parser.set_defaults(execute=lambda given: write(given.program, given.folder, given.output, given.particles,
                                                    subtraction=given.subtraction, force=given.force))
