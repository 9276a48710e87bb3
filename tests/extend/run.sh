#!/usr/bin/env bash
# Shows what an extension costs: applies the patches of this folder to a copy of the repository, builds the
# copy, and tests it.
#
#   tests/extend/run.sh
#
# Each patch adds one extension. The script counts the files that each patch touches, and compares the count
# with the limit for this kind of extension. It builds the program, the tests that the patches bring or change,
# and the tests that go through all variants, keys and commands; it also runs scripts/check_names.py and
# scripts/check_arrows.py. Warnings of the compiler are errors. The copy has no ../shared next to it.
#
# Ends with a table of extensions, files, limits and changed lines. Exit status 1: a patch touches too many files or does not
# apply, or something fails in the copy.
set -euo pipefail

# Extensions in the order in which they are applied, and the largest numbers of files.
order=(scatter shape key command schedule feature format source)
declare -A limits=([scatter]=5 [shape]=3 [key]=6 [command]=4 [schedule]=8 [feature]=10 [format]=5 [source]=6)

# Tests that guard extensions of every kind: names of test programs, then names of other tests in ctest.
suites=(test_anisotropy test_birefringence test_config_errors test_config_overrides test_config_print test_commands
    test_graph test_hole test_kernels test_origin_keys test_scatter_parameters test_stages_list test_tilt)
others=(cli/program/test_usage stages/headers_are_device_clean)

usage() {
    sed -n '2,/^[^#]/{/^[^#]/d;s/^# \{0,1\}//;p}' "$0"
}

case ${1:-} in
'') ;;
-h | --help)
    usage
    exit
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
here=$(realpath "$(dirname "$0")")
source=$(realpath "$here/../..")
folder=$(realpath "$(mktemp -d)")
trap 'rm -rf "$folder"' EXIT
copy=$folder/icestream
mkdir "$copy" "$folder/tmp"
# git apply must not find a repository above the copy, because it would then skip files silently.
export GIT_CEILING_DIRECTORIES=$folder

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

# Copies the tracked files as they are in the working tree.
copy_repository() {
    if git -C "$source" ls-files -z >"$folder/tracked" 2>"$folder/refusal"; then
        tar -C "$source" --null --files-from "$folder/tracked" -c | tar -C "$copy" -x
    else
        echo "run.sh: git does not list the files ($(head -n 1 "$folder/refusal")); copying all but build/" >&2
        (
            cd "$source"
            find . -mindepth 1 -maxdepth 1 ! -name .git ! -name 'build*' -exec cp -r -t "$copy" {} +
        )
    fi
}

# files_of NAME: the files that a patch touches.
files_of() {
    git apply --numstat "$here/$1.patch" | cut -f 3
}

# add_tests_of NAME: adds the tests among the files of a patch to `suites` and `others`.
add_tests_of() {
    local file name
    for file in $(files_of "$1"); do
        name=$(basename "${file%.*}")
        case $file in
        tests/cli/*.sh) others+=("$(dirname "${file#tests/}")/$name") ;;
        tests/*/test_*.c) suites+=("$name") ;;
        tests/kernels/emulated/*) suites+=(test_kernels) ;;
        tests/cli/bad_inputs/*.py) has_bad_inputs=yes ;;
        esac
    done
}

copy_repository
cd "$copy"
table=$(printf '%-10s %6s %6s %6s' extension files limit lines)
too_many=()
has_bad_inputs=no
applied=0
for name in "${order[@]}"; do
    [[ -e $here/$name.patch ]] || continue
    git apply "$here/$name.patch" || fail "$name.patch does not apply after the patches before it"
    applied=$((applied + 1))
    count=$(files_of "$name" | wc -l)
    lines=$(git apply --numstat "$here/$name.patch" | awk '{ sum += $1 + $2 } END { print sum }')
    table+=$(printf '\n%-10s %6d %6d %6d' "$name" "$count" "${limits[$name]}" "$lines")
    ((count <= limits[$name])) || too_many+=("$name")
    add_tests_of "$name"
done
patches=("$here"/*.patch)
((${#patches[@]} == applied)) || fail "tests/extend has a patch that is none of: ${order[*]}"
((${#too_many[@]} == 0)) || fail "too many files: ${too_many[*]}"$'\n'"$table"

scripts/setup.sh build test check
scripts/check_names.py
scripts/check_arrows.py

# shellcheck source=scripts/common.sh
source scripts/common.sh
configure release -DICESTREAM_TESTS=ON
mapfile -t suites < <(printf '%s\n' "${suites[@]}" | sort -u)
# Warnings are read from the output, because ccache has what a build without -Werror compiled.
build release --target icestream "${suites[@]}" | tee "$folder/built"
! grep -q 'warning:' "$folder/built" || fail "the compiler warns"
names=$(printf '|[a-z]*/%s' "${suites[@]}")$(printf '|%s' "${others[@]}")
TMPDIR=$folder/tmp ICESTREAM_TEST_SCALE=${ICESTREAM_TEST_SCALE:-0.05} \
    ctest --preset release --parallel "$(nproc)" --no-tests=error --tests-regex "^(${names#|})\$"
[[ $has_bad_inputs == no ]] || python3 tests/cli/bad_inputs/bad_inputs.py build/release/icestream --only '(keys)'
printf '\n%s\n' "$table"
