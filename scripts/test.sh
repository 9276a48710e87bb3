#!/usr/bin/env bash
# Builds icestream and runs its tests.
#
#   scripts/test.sh [--quick] [--preset NAME] [CTEST OPTIONS ...]
#
# --quick: statistical tests with a twentieth of their photons (ICESTREAM_TEST_SCALE=0.05).
# --preset: release (the default), cpu (without CUDA), clang, asan, tsan or coverage; built in
#   build/NAME.
# Anything else goes to ctest: -L propagation, -R npy, --rerun-failed, ...
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

preset=release
selection=()
while (($# > 0)); do
    case $1 in
    --quick) export ICESTREAM_TEST_SCALE=0.05 ;;
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
groups=(build test)
[[ $preset != clang ]] || groups+=(check)
scripts/setup.sh "${groups[@]}"
configure "$preset"
build "$preset"

# A folder of our own: two runs side by side must not meet in /tmp, and nothing is left behind.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
launcher=()
if [[ $preset == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
    # Its shadow memory collides with the wide address randomisation of newer kernels.
    launcher=(setarch --addr-no-randomize)
fi
"${launcher[@]}" ctest --preset "$preset" --parallel "$(nproc)" "${selection[@]}"
