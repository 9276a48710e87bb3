"""The declarations of the package are those of the public headers, as a C compiler understands them."""
import os
import re
import shutil
import subprocess

import icestream
import pytest
from icestream import _library

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")
FOLDERS = [os.path.join(ROOT, "base"), os.path.join(ROOT, "pipeline")]
HEADERS = [os.path.join(FOLDERS[0], "icestream_error.h"), os.path.join(FOLDERS[1], "icestream.h"),
           os.path.join(FOLDERS[1], "icestream_session.h")]
ffi = _library.ffi


@pytest.fixture(name="text")
def read_headers():
    if not all(os.path.exists(path) for path in HEADERS):
        pytest.skip("the headers are not next to the tests")
    texts = []
    for path in HEADERS:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return re.sub(r"/\*.*?\*/", "", "\n".join(texts), flags=re.S)


def test_every_function_and_every_status_is_there(text):
    names = set(re.findall(r"ICESTREAM_PUBLIC[^;]*?\b(icestream_\w+)\(", text))
    assert len(names) >= 36
    for name in names:
        assert ffi.typeof(getattr(_library.lib, name)).kind == "function"
    for name, value, exit_status in re.findall(r"X\((ICESTREAM_\w+), (-?\d+), (\d+),", text):
        assert getattr(_library.lib, name) == int(value)
        assert _library.lib.icestream_status_exit(int(value)) == int(exit_status)
        if value != "0" and not name.endswith("TERMINATED"):  # no function of the package is ended by SIGTERM
            fault = _library.exception_of(int(value), ffi.new("icestream_error *"))
            assert type(fault) is not icestream.Error and fault.exit_status == int(exit_status) and str(fault)


def test_structs_and_constants_are_those_of_the_compiler(text, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    values, structs = {}, re.findall(r"typedef struct icestream_(\w+) \{", text)
    for struct in structs:
        name = "icestream_" + struct
        values["sizeof(%s)" % name] = ffi.sizeof(name)
        for field, about in ffi.typeof(name).fields:
            values["offsetof(%s, %s)" % (name, field)] = about.offset
            values["sizeof(((%s *)0)->%s)" % (name, field)] = ffi.sizeof(about.type)
    for body in re.findall(r"^(?:typedef )?enum \{(.*?)\}", text, flags=re.S | re.M):
        for name in re.findall(r"(ICESTREAM_\w+)(?: =|,|\s*$)", body):
            values[name] = getattr(_library.lib, name)
    assert len(structs) > 12 and len(values) > 250
    program = tmp_path / "layout.c"
    program.write_text("#include <icestream.h>\n" + "".join(
        "_Static_assert((long long)(%s) == %d, \"%s\");\n" % (name, value, name) for name, value in values.items()))
    subprocess.run([compiler, "-fsyntax-only", *("-I" + folder for folder in FOLDERS), str(program)], check=True)


def test_a_source_archive_has_every_folder_that_cmake_reads():
    paths = [os.path.join(ROOT, "CMakeLists.txt"), os.path.join(ROOT, "python", "backend.py")]
    if not all(os.path.exists(path) for path in paths):
        pytest.skip("the repository is not around the tests")
    paths += [os.path.join(ROOT, "cmake", name) for name in os.listdir(os.path.join(ROOT, "cmake")) if name.endswith(".cmake")]
    texts = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    copied = set(re.findall(r'"([\w.]+)"', re.search(r"SOURCES = \((.*?)\)", texts.pop(1), flags=re.S).group(1)))
    read = set(re.findall(r"CMAKE_SOURCE_DIR\}/(\w+)", "\n".join(texts)))
    assert len(read) > 8 and read <= copied
