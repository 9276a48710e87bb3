#!/usr/bin/env bash
# Promise: the Python package works with the shared library of a build. Its declarations are made of the public headers.
# To join: write a test python/tests/test_NAME.py.
#
#   python_package.sh LIBRARY PROGRAM SOURCE_DIRECTORY [PYTEST OPTIONS ...]
#
# ICESTREAM_TEST_LONG=1: also the tests that compile. Uses Debian's Python with python3-cffi, python3-numpy and python3-pytest. Exit status 77: they are missing.
# Tests of the page of a run also use python3-jinja2 and python3-matplotlib, those of tables python3-crc32c and python3-scipy, and
# are skipped without them.
set -euo pipefail
library=$(realpath "$1") program=$(realpath "$2") source=$(realpath "$3")
shift 3
python=/usr/bin/python3
with_hist=$source/build/python-hist/bin/python3 # of scripts/setup.sh hist: the same Python with hist
if "$with_hist" -c "import cffi, hist, numpy, pytest" 2>/dev/null; then
    python=$with_hist
fi
for module in cffi numpy pytest; do
    if ! "$python" -c "import $module" 2>/dev/null; then
        echo "skipped: $python has no module $module (Debian: python3-$module)"
        exit 77
    fi
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source/python/src/icestream" "$folder"
"$python" "$source/python/make_abi.py" "$source/base" "$source/pipeline" "$folder/icestream/_abi.py"
cd "$source/python/tests"
export PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 ICESTREAM_LIBRARY=$library ICESTREAM_PROGRAM=$program
# Reasons of skipped tests have the form that scripts/test.sh collects.
"$python" -m pytest -q -rs -p no:cacheprovider --basetemp="$folder/tests" "$@" . | sed -E 's/^SKIPPED \[[0-9]+\] \S+ /skipped: /'
