# shellcheck shell=bash
# Sourced by every test with the program as $1: a folder to work in, checks that say what they saw.
set -u
ICESTREAM=$(realpath "$1")
# These tests are about the CPU, also where there is a GPU: that has its own, in tests/gpu.
export CUDA_VISIBLE_DEVICES=
FOLDER=$(mktemp -d)
FAILURES=0
trap 'rm -rf "$FOLDER"' EXIT
cd "$FOLDER" || exit 1

fail() {
    echo "FAILED: $*"
    FAILURES=$((FAILURES + 1))
}

# Ends the test: its last line.
finish() {
    [ "$FAILURES" -eq 0 ] && exit 0
    echo "$FAILURES checks failed"
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

# expect STATUS COMMAND...: runs it with stdout in ./out and stderr in ./err, checks the exit status.
expect() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "exit status $status instead of $expected: $*"
        cat err
    fi
}

# await CONDITION...: until the command succeeds, at most a minute.
await() {
    for ((try = 0; try < 600; ++try)); do
        "$@" && return
        sleep 0.1
    done
    fail "waited in vain: $*"
}

# says FILE TEXT...: every text occurs in the file.
says() {
    local file=$1 text
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$file" || {
            fail "'$text' is missing in $file:"
            cat "$file"
        }
    done
}

is_empty() {
    [ ! -s "$1" ] || {
        fail "$1 is not empty:"
        head -c 500 "$1"
    }
}

is_there() {
    [ -e "$1" ] || fail "$1 is not there"
}

is_missing() {
    [ ! -e "$1" ] || fail "$1 is there"
}

same() {
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

# rows FILE COUNT: the file's header announces so many rows.
rows() {
    local found
    found=$(head -c 1024 "$1" | grep -aoE "'shape': *\( *[0-9]+" | grep -oE '[0-9]+$')
    [ "$found" = "$2" ] || fail "$1 has ${found:-no} rows instead of $2"
}

row_count() {
    head -c 1024 "$1" | grep -aoE "'shape': *\( *[0-9]+" | grep -oE '[0-9]+$'
}
