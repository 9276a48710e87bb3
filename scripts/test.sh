#!/usr/bin/env bash
# Builds icestream and runs its tests.
#
#   scripts/test.sh [--full] [--preset NAME] [CTEST OPTIONS ...]
#
# Without --full this is the short way: it runs tests of every kind, statistical tests use a twentieth
# of their photons (ICESTREAM_TEST_SCALE=0.05), and tests with the label `long` are left out. On two idle cores
# building takes about five minutes, once, and testing about five.
# --full: every test, with all photons, which takes longer.
# --preset: release (the default), cpu (without CUDA), clang, asan, tsan or coverage; built in
#   build/NAME. Only what the selected tests run is built. Where there is no GPU, tests of GPUs are left out.
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
    excluded=long
    if ! [[ -e /dev/nvidia0 || -e /dev/dxg ]]; then
        echo "test.sh: there is no GPU here: the tests of GPUs are neither built nor run" >&2
        excluded='long|^gpu$'
    fi
    selection=(--label-exclude "$excluded" "${selection[@]}")
    echo "test.sh: on two idle cores building takes about five minutes the first time, and testing about five" >&2
else
    echo "test.sh: on two idle cores building takes about five minutes the first time, and testing longer" >&2
fi
groups=(build test)
[[ $preset != clang && $preset != asan ]] || groups+=(check)
scripts/setup.sh "${groups[@]}"
configure "$preset"

# The targets of the selected tests: tests/ROOM/NAME.c is the suite NAME, and what else is a test runs the program.
selected_targets() {
    local name
    echo icestream_library
    ctest --preset "$preset" --show-only "${selection[@]}" | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r name; do
        case $name in
        faults/*) echo installed ics_inject ;;
        lab/* | cli/program/documents) echo installed icestream-lab ;;
        *) [[ -e tests/$name.c ]] || echo installed ;;
        esac
        [[ ! -e tests/$name.c ]] || basename "$name"
    done | tr ' ' '\n' | sort -u
}
mapfile -t targets < <(selected_targets)
build "$preset" --target "${targets[@]}"

# A folder of our own: two runs side by side must not meet in /tmp, and nothing is left behind.
TMPDIR=$(mktemp -d)
export TMPDIR
# Kernels with a header are compiled three times as fast, and give the same bytes; --full takes the options that users get.
[[ $full == yes ]] || export CC="${CC:-cc} -O1"
trap 'rm -rf "$TMPDIR"' EXIT
# redis-tools has the server of Redis under another name; tests of queues start it.
if ! command -v redis-server >/dev/null && command -v redis-check-rdb >/dev/null; then
    mkdir "$TMPDIR/bin"
    ln -s "$(command -v redis-check-rdb)" "$TMPDIR/bin/redis-server"
    PATH=$PATH:$TMPDIR/bin
fi
launcher=()
if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
    # Its shadow memory collides with the wide address randomisation of newer kernels.
    launcher=(setarch --addr-no-randomize)
fi
# Tests of the program from outside wait for half of their time (37 of them used 127 s of processor time
# in 252 s), so more tests than cores run side by side.
report=$TMPDIR/tests.xml
run_tests() {
    "${launcher[@]}" ctest --preset "$preset" --parallel "$(($(nproc) * 2))" --output-junit "$report" "$@"
}

# What tests did not check here, and why: their lines "skipped: REASON".
print_skipped() {
    awk '
        /<testcase / {
            name = $0
            sub(/.* name="/, "", name)
            sub(/".*/, "", name)
            how = /status="notrun"/ ? "skipped" : "in part"
        }
        /skipped: / {
            sub(/.*skipped: /, "")
            sub(/<\/system-out>.*/, "")
            if (!seen[name $0]++) print "  " name " (" how "): " $0
        }' "$report"
}

status=0
run_tests "${selection[@]}" || status=$?
# Now and then LeakSanitizer itself crashes while it looks for leaks at the end of a process
# (github.com/google/sanitizers/issues/1353). A test that failed with the message of this crash says nothing about
# icestream, so it is run a second time, if no test failed for another reason.
if [[ $preset == asan ]] && ((status != 0)) && scripts/leak_check_crashed.py "$report"; then
    status=0
    run_tests --rerun-failed || status=$?
fi
echo "Not checked here:"
print_skipped
exit "$status"
