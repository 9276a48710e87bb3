#!/usr/bin/env bash
# Builds icestream and runs its tests.
#
#   scripts/test.sh [--full] [--preset NAME] [CTEST OPTIONS ...]
#
# Without --full this is the short way: it runs tests of every kind, statistical tests use a twentieth
# of their photons (ICESTREAM_TEST_SCALE=0.05), and tests with the label `long` are left out. After
# the build it takes at most five minutes on two cores.
# --full: every test, with all photons.
# --preset: release (the default), cpu (without CUDA), clang, asan, tsan or coverage; built in
#   build/NAME. Of tsan only the programs of the selected tests are built, because it compiles nothing that release
#   does not compile, and with the same compiler.
# Anything else goes to ctest: -L propagation, -R npy, --rerun-failed, ...
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

preset=release
full=no
selection=()
while (($# > 0)); do
    case $1 in
    --full) full=yes ;;
    --preset)
        preset=${2:?"test.sh: --preset wants a name"}
        shift
        ;;
    -h | --help)
        usage
        exit
        ;;
    *) selection+=("$1") ;;
    esac
    shift
done
if [[ $full == no ]]; then
    export ICESTREAM_TEST_SCALE=${ICESTREAM_TEST_SCALE:-0.05}
    selection=(--label-exclude long "${selection[@]}")
fi
groups=(build test)
[[ $preset != clang && $preset != asan ]] || groups+=(check)
scripts/setup.sh "${groups[@]}"
configure "$preset"

# The targets that the selected tests run: their suites, and the program. tests/ROOM/NAME.c is the suite NAME; what else
# is a test runs the program.
selected_targets() {
    local name
    echo icestream
    ctest --preset "$preset" --show-only "${selection[@]}" | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r name; do
        [[ ! -e tests/$name.c ]] || basename "$name"
    done
}
if [[ $preset == tsan && $full == no ]]; then
    mapfile -t targets < <(selected_targets)
    build "$preset" --target "${targets[@]}"
else
    build "$preset"
fi

# A folder of our own: two runs side by side must not meet in /tmp, and nothing is left behind.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
launcher=()
if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
    # Its shadow memory collides with the wide address randomisation of newer kernels.
    launcher=(setarch --addr-no-randomize)
fi
# Tests of the program from outside wait for half of their time (37 of them used 127 s of processor time
# in 252 s), so more tests than cores run side by side.
run_tests() {
    "${launcher[@]}" ctest --preset "$preset" --parallel "$(($(nproc) * 2))" "$@"
}

if [[ $preset != asan ]]; then
    run_tests "${selection[@]}"
    exit
fi
# Now and then LeakSanitizer itself crashes while it looks for leaks at the end of a process
# (github.com/google/sanitizers/issues/1353). A test that failed with the message of this crash says nothing about
# icestream, so it is run a second time, if no test failed for another reason.
report=$TMPDIR/tests.xml
if ! run_tests "${selection[@]}" --output-junit "$report"; then
    scripts/leak_check_crashed.py "$report"
    run_tests --rerun-failed
fi
