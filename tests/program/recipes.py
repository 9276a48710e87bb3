#!/usr/bin/env python3
"""Promise: the recipes in packaging/ are for this version of icestream, have the form that their programs read, and use
only options that the build has; the definition of Apptainer runs the commands of the Dockerfile.

    recipes.py SOURCE_DIRECTORY

To join: a new recipe gets a function here. Exit status 77: PyYAML is missing.
"""
import ast
import os
import re
import sys

try:
    import yaml
except ImportError:
    print("skipped: no PyYAML")
    sys.exit(77)

ROOT = sys.argv[1]
FAULTS = []


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def check(good, text):
    if not good:
        FAULTS.append(text)


def check_options(name, text):
    for option in sorted(set(re.findall(r"\b(ICESTREAM_[A-Z0-9_]+)", text))):
        check(option in OPTIONS, "%s: %s is no option of the build" % (name, option))


def check_conda():
    text = read("packaging", "conda", "recipe.yaml")
    recipe = yaml.safe_load(text)
    check(recipe["context"]["version"] == VERSION, "conda: another version")
    check({"package", "source", "build", "requirements", "tests", "about"} < set(recipe), "conda: a section is missing")
    check(recipe["requirements"]["host"][:7] == sorted(recipe["requirements"]["host"][:7]), "conda: not sorted")
    check_options("conda", text)


def check_spack():
    text = read("packaging", "spack", "packages", "icestream", "package.py")
    package = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    calls = [node.value for node in package.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    arguments = {}
    for call in calls:
        arguments.setdefault(call.func.id, []).append(ast.literal_eval(call.args[0]))
    check(package.name == "Icestream", "spack: the class is named after its folder")
    check(arguments["version"] == [VERSION], "spack: another version")
    for call in calls:
        for word in (word for word in call.keywords if word.arg == "when"):
            variant = ast.literal_eval(word.value)
            check(variant in ["+cuda"] + ["+" + name for name in arguments["variant"]], "spack: no variant " + variant)
    check_options("spack", text)


def commands(text):
    """The commands that build, without what joins them."""
    return re.findall(r"(?:scripts/setup\.sh|cmake|cpack|apt-get install) [^\n\\&]*[^\s\\&]", text)


def check_containers():
    docker, apptainer = read("packaging", "Dockerfile"), read("packaging", "apptainer.def")
    images = re.findall(r"_IMAGE=([a-z/]+:\S*24.04)$", docker, re.M)
    check(re.findall(r"^From: (.*)$", apptainer, re.M) == images, "containers: other images")
    expected = [c.replace("${TARGETS}", "all kernels") for c in commands(docker.split("\nFROM", 1)[1])]
    found = commands(apptainer.split("%post", 1)[1])
    check(expected[:5] == found[:5], "containers: other commands: %s and %s" % (expected, found))


with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as main_file:
    BUILD = main_file.read() + "".join(
        read("cmake", name) for name in os.listdir(os.path.join(ROOT, "cmake")) if name.endswith(".cmake"))
VERSION = re.search(r"project\(icestream VERSION (\S+)", BUILD).group(1)
OPTIONS = set(re.findall(r"(?:option|set)\((ICESTREAM_[A-Z0-9_]+)", BUILD))
check_conda()
check_spack()
check_containers()
print("\n".join(FAULTS) or "good")
sys.exit(bool(FAULTS))
