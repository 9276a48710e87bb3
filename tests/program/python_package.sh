#!/usr/bin/env bash
# Promise: the Python package works with the shared library of a build. Its declarations are made of the public headers.
# To join: write a test python/tests/test_NAME.py.
#
#   python_package.sh LIBRARY PROGRAM SOURCE_DIRECTORY [PYTEST OPTIONS ...]
#
# ICESTREAM_TEST_LONG=1: also the tests that compile, and attacks 20 times. LIBRARY may have sanitizers: what they report of the library
# is a failure, what they report of Python alone is not. Uses Debian's Python with python3-cffi, python3-numpy and python3-pytest. Exit status 77: they are missing.
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

# The runtime of a sanitizer must be there before Python, and writes each report into a file.
launcher=(env)
case $(nm -D --undefined-only "$library") in
*__asan_init*)
    # Leaks: Python keeps memory until its end, in which the sanitizer sees pointers if each object is memory of malloc().
    launcher=(env "LD_PRELOAD=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")" PYTHONMALLOC=malloc "LSAN_OPTIONS=exitcode=0"
        "ASAN_OPTIONS=log_path=$folder/report:allocator_may_return_null=1" "UBSAN_OPTIONS=log_path=$folder/report:print_stacktrace=1")
    # The program has its own runtime, and a compiler needs none.
    printf '#!/bin/sh\nexec env -u LD_PRELOAD %q "$@"\n' "$program" >"$folder/program"
    printf '#!/bin/sh\nexec env -u LD_PRELOAD %s "$@"\n' "${CC:-cc}" >"$folder/cc"
    chmod +x "$folder/program" "$folder/cc"
    export ICESTREAM_PROGRAM=$folder/program CC=$folder/cc
    ;;
*__tsan_init*)
    # What threads of Python do to each other is not looked at; their locks are.
    options=log_path=$folder/report:exitcode=0:allocator_may_return_null=1:die_after_fork=0:ignore_noninstrumented_modules=1
    launcher=(setarch --addr-no-randomize env "LD_PRELOAD=$(gcc -print-file-name=libtsan.so)"
        "TSAN_OPTIONS=$options:suppressions=$source/tests/support/tsan.suppressions")
    ;;
esac
# Reasons of skipped tests have the form that scripts/test.sh collects.
status=0
"${launcher[@]}" "$python" -m pytest -q -rs -p no:cacheprovider --basetemp="$folder/tests" "${@:-.}" | sed -uE 's/^SKIPPED \[[0-9]+\] \S+ /skipped: /' || status=$?
# Each report counts but that of a leak: it counts if the library made it and nothing of Python that is lost holds it, as do the threads that
# the end of Python stops. In a child of fork the sanitizer does not see what threads of the parent hold, and
# now and then it crashes itself (github.com/google/sanitizers/issues/1353).
for report in "$folder"/report.*; do
    [[ -e $report ]] || break
    forked=$(grep -c 'was not suspended. False leaks' "$report" || true)
    grep -v 'was not suspended. False leaks' "$report" | awk -v RS= -v forked="$forked" '
        /SUMMARY|LeakSanitizer(: detected| has encountered a fatal error)|WARNING: AddressSanitizer failed to allocate/ || / leak of / && (forked || !/^Direct/ || !/ in (ics|ice|icestream)_|libicestream/) { next }
        { bad = 1; print }
        END { exit bad }' >"$folder/ours" && continue
    echo "FAILED: a report of the sanitizer"
    cat "$folder/ours"
    status=1
done
exit "$status"
