#!/usr/bin/env python3
"""Promise: a run file that leaves out a key whose default changed gets one line with both values from validate, and none once
it gives the key; hits of the old default are named by --resume. Every row of CHANGELOG.md whose version still has its line is
tried.

    changed_defaults.py ICESTREAM

To join: a row of CHANGELOG.md needs an entry of RUN_FILES."""
import pathlib
import re
import subprocess
import sys
import tempfile

# For each key a run file to which it matters, as short as can be. Its hits depend on the key if it has no stages.tabulate.
RUN_FILES = {
    "detector.oversize": "workload: {steps: 10}",
    "detector.keep_hit_photons": "detector: {oversize: 5}\nworkload: {steps: 10}",
    "detector.crossing": "detector: {oversize: 5}\nworkload: {steps: 10}",
    "particles.cascades": "particles: {list: [{type: e-, x: 30, y: 40, z: -350, zenith: 0, azimuth: 0, energy: 30}]}\n",
    "table.source": "stages: {tabulate: spherical}\nice: {model: uniform}\n"
    "particles: {list: [{type: e-, x: 0, y: 0, z: 0, zenith: 0, azimuth: 0, energy: 0.1}]}\n",
    "table.outside": "stages: {tabulate: spherical}\nice: {model: uniform}\nworkload: {kind: point, steps: 1}\n",
}


def rows():
    """(version, key, old, new) of each row of the changelog."""
    version, found = "", []
    for line in (pathlib.Path(__file__).parents[3] / "CHANGELOG.md").read_text().splitlines():
        head = re.match(r"## (\S+)", line)
        row = re.match(r"\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (.*) \|$", line)
        version = head.group(1) if head else version
        if row:
            found.append((version,) + row.groups()[:3])
    return found


def order(version):
    return [int(part) for part in version.split(".")]


def lines_about(program, folder, text, key, setting):
    """The lines of validate about a key."""
    (folder / "run.yaml").write_text(text)
    command = [program, "validate", "run.yaml"] + (["-s", setting] if setting else [])
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, (command, text, result.stdout, result.stderr)
    return [line for line in result.stdout.splitlines() if line.startswith("default    " + key + " ")]


def resume(program, folder, key, old, new):
    """Hits of the old default are not kept by a run that leaves the key out."""
    run = [program, "run", "run.yaml", "-s", "device.backend=cpu", "-s", "sink.directory=" + key]
    subprocess.run(run + ["-s", "%s=%s" % (key, old)], cwd=folder, capture_output=True, check=True)
    result = subprocess.run(run + ["--resume"], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 74, (key, result.returncode, result.stderr)
    assert re.search(r"%s: found %s \(the default before [0-9.]+\), expected %s" % (re.escape(key), re.escape(old), re.escape(new)),
                     result.stderr), (key, result.stderr)
    assert ("%s is not given: " % key) in result.stderr, result.stderr


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    now = order(subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for version, key, old, new in rows():
            if now[1] >= order(version)[1] + 2:
                continue
            assert key in RUN_FILES, "RUN_FILES has no run file for %s" % key
            text = RUN_FILES[key]
            found = lines_about(program, folder, text, key, None)
            assert len(found) == 1 and new in found[0] and old in found[0], (key, found)
            assert not lines_about(program, folder, text, key, "%s=%s" % (key, new)), key
            if "tabulate" not in text:
                resume(program, folder, key, old, new)
            print("ok: %s" % key)
        # Without a run file there is nothing old.
        result = subprocess.run([program, "validate"], cwd=folder, capture_output=True, text=True, check=True)
        assert "\ndefault " not in result.stdout, result.stdout


if __name__ == "__main__":
    main()
