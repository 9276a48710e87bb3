"""What the tests of the recipes in configs/sites share."""
import os
import re
import shutil
import subprocess
import sys
import tempfile


def check(right, what):
    if not right:
        sys.exit(f"FAILED: {what}")


def submit_commands(path, **given):
    """Returns the commands of a submit file of HTCondor with macros replaced. Values of `given` come first."""
    with open(path, encoding="utf-8") as lines:
        matches = [re.match(r"(\w+)\s*=\s*(.*\S)", line) for line in lines]
    commands = {**{match[1]: match[2] for match in matches if match}, **given}
    for key in commands:
        while "$(" in commands[key]:
            commands[key] = re.sub(r"\$\((\w+)\)", lambda name: commands[name[1]], commands[key])
    return commands


def unit_settings(path):
    """Returns all values of each key of a unit file of systemd, in their order."""
    settings = {}
    with open(path, encoding="utf-8") as unit:
        for key, value in re.findall(r"^(\w+)=(.*)$", unit.read(), re.MULTILINE):
            settings.setdefault(key, []).append(value)
    return settings


def verify_unit(path):
    """systemd-analyze finds nothing in a unit file, if it is installed."""
    if shutil.which("systemd-analyze") is None:
        print("skipped: systemd-analyze is missing: the unit was not verified")
        return
    with tempfile.TemporaryDirectory() as folder, open(path, encoding="utf-8") as unit:
        copy = f"{folder}/{os.path.basename(path).replace('@.', '@test.')}"
        with open(copy, "w", encoding="utf-8") as file:
            file.write(unit.read().replace("/usr/local/bin/icestream", "/bin/true"))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False)
    name = os.path.basename(path).split("@")[0] + "@"
    about = [line for line in said.stderr.splitlines() if name in line]
    check(said.returncode == 0 and not about, f"systemd-analyze verify: {said.stderr}")
    print("systemd-analyze verify found nothing")
