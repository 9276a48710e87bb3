"""The build of the package: scikit-build-core, and source archives that have the sources of the library, too.

In the repository the sources of the library lie above this folder. A source archive cannot reach above its own folder, so
it gets them as a folder `source`, and pyproject.toml names that folder.
"""
import os
import shutil
import tempfile

from scikit_build_core import build
from scikit_build_core.build import (build_editable, build_wheel, get_requires_for_build_editable,
                                     get_requires_for_build_sdist, get_requires_for_build_wheel,
                                     prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel)

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
           "get_requires_for_build_sdist", "get_requires_for_build_wheel", "prepare_metadata_for_build_editable",
           "prepare_metadata_for_build_wheel"]

SOURCES = ("CMakeLists.txt", "LICENSE", "README.md", "base", "cmake", "configs", "docs", "examples", "graphs", "kernels",
           "packaging", "physics", "pipeline", "python", "stages", "tables")
MOVED = (('cmake.source-dir = ".."', 'cmake.source-dir = "source"'), ('build-dir = "../build/python"', 'build-dir = "build"'),
         ('input = "../pipeline', 'input = "source/pipeline'))
LEFT_OUT = shutil.ignore_patterns("dist", "build", "__pycache__", "*.egg-info", ".*")


def build_sdist(sdist_directory, config_settings=None):
    """Makes the source archive. Called by pip and build, in the folder of pyproject.toml."""
    if os.path.isdir("source"):  # this is an unpacked source archive
        return build.build_sdist(sdist_directory, config_settings)
    target = os.path.abspath(sdist_directory)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(here, tree, ignore=LEFT_OUT)
        os.mkdir(os.path.join(tree, "source"))
        for name in SOURCES:
            path = os.path.join(here, "..", name)
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(tree, "source", name), ignore=LEFT_OUT)
            else:
                shutil.copy(path, os.path.join(tree, "source", name))
        project = os.path.join(tree, "pyproject.toml")
        with open(project, encoding="utf-8") as file:
            text = file.read()
        for old, new in MOVED:
            if old not in text:
                raise RuntimeError("pyproject.toml: found no line with %s, expected one" % old)
            text = text.replace(old, new)
        with open(project, "w", encoding="utf-8") as file:
            file.write(text)
        os.chdir(tree)
        try:
            return build.build_sdist(target, config_settings)
        finally:
            os.chdir(here)
