#!/usr/bin/env bash
# clang-tidy on library, program and stages, with the checks of .clang-tidy.
#
#   scripts/check_tidy.sh [--quick] [FILE.c ...]
#
# --quick: the analyzer follows fewer paths through each function (30,000 nodes instead of 225,000), which takes 0.4 of
# the time.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

options=()
if [[ ${1:-} == --quick ]]; then
    options=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=30000)
    shift
fi
[[ ${1:-} != -* ]] || wrong_usage
# Only compile_commands.json is needed, and the list of stage headers that configuring makes.
configure clang
files=("$@")
if ((${#files[@]} == 0)); then
    # What this machine cannot build, such as GPU schedules without a CUDA toolkit, has no commands.
    mapfile -t files < <(find base bench graphs kernels pipeline tables -name '*.c' | sort |
        while read -r file; do
            if grep -q "\"file\": .*/$file\"" build/clang/compile_commands.json; then
                echo "$file"
            fi
        done)
fi
# One file per process: clang-tidy 14 sees uninitialised va_lists from the second file on.
printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p build/clang "${options[@]}" \
    2> >(grep -v ' warnings\? generated' >&2)
echo "clang-tidy: ${#files[@]} files are clean"
