# shellcheck shell=bash
# Every test of the program from outside sources this file, with the program as $1. This file makes a folder,
# in which the test runs, and defines checks that print what they found. Call `finish` at the end.
set -u
ICESTREAM=$(realpath "$1")
REPOSITORY=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
# These tests use the CPU, also on a machine with a GPU; the tests of GPUs are in tests/gpu.
export CUDA_VISIBLE_DEVICES=
# Wide modules give many hits of few photons: "$ICESTREAM" run "${WIDE[@]}".
# shellcheck disable=SC2034 # the tests use it
WIDE=(-s detector.oversize=5)
FOLDER=$(mktemp -d)
FAILURES=0
# The end of every test. Processes that it has started and not ended are killed.
# shellcheck disable=SC2317 # called by the trap
tidy_up() {
    # shellcheck disable=SC2046 # one word for each process
    kill -KILL $(jobs -p) 2>/dev/null
    rm -rf "$FOLDER"
}
trap tidy_up EXIT
cd "$FOLDER" || exit 1

fail() {
    echo "FAILED: $*"
    FAILURES=$((FAILURES + 1))
}

# Ends the test. Every test calls it in its last line.
finish() {
    [ "$FAILURES" -eq 0 ] && exit 0
    echo "$FAILURES checks failed"
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}

# has_terminals: whether a test can open a pseudo-terminal here. If not, it prints that this part is left out.
has_terminals() {
    python3 -c 'import pty; pty.openpty()' 2>/dev/null && return
    echo "skipped: no pseudo-terminal can be opened (no /dev/pts, or no Python)"
    return 1
}

# in_terminal COMMAND...: runs it with a terminal as standard input, output and error, and prints what it wrote.
in_terminal() {
    python3 -c '
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    text += piece
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))' "$@"
}

# expect STATUS COMMAND...: runs the command, with stdout in ./out and stderr in ./err, and checks its exit
# status.
expect() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "exit status $status instead of $expected: $*"
        cat err
    fi
}

# await CONDITION...: repeats the command until it succeeds, for at most a minute.
await() {
    for ((try = 0; try < 600; ++try)); do
        "$@" && return
        sleep 0.1
    done
    fail "waited in vain: $*"
}

# says FILE TEXT...: checks that every text occurs in the file.
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

# refuses STATUS TEXT ARGUMENT...: icestream ends with this status, and standard error has the text.
refuses() {
    expect "$1" "$ICESTREAM" "${@:3}"
    says err "$2"
}

# prints TEXT ARGUMENT...: icestream succeeds, and standard output has the text.
prints() {
    expect 0 "$ICESTREAM" "${@:2}"
    says out "$1"
}

# needs_curl: skips the test where curl is missing, or cannot sign requests to S3 as the recipe curl.sh needs it.
# shellcheck disable=SC2034 # the tests use the recipe
needs_curl() {
    local version
    RECIPE=$REPOSITORY/configs/sites/transfer/curl.sh
    command -v curl >/dev/null || skip "there is no curl"
    version=$(curl --version | sed -n '1s/^curl \([0-9.]*\).*/\1/p')
    [ "$(printf '7.87\n%s\n' "$version" | sort -V | head -n 1)" = 7.87 ] ||
        skip "found curl $version, expected 7.87 or later for --aws-sigv4"
}

# python_with MODULE: prints the first Python of this machine that has the module; fails if there is none. The
# last Python is the one of scripts/setup.sh hist.
python_with() {
    local candidate
    for candidate in python3 /usr/bin/python3 "$REPOSITORY/build/python-hist/bin/python3"; do
        "$candidate" -c "import $1" 2>/dev/null && echo "$candidate" && return
    done
    return 1
}

is_empty() {
    [ ! -s "$1" ] || {
        fail "$1 is not empty:"
        head -c 500 "$1"
    }
}

is_there() {
    [ -e "$1" ] || fail "$1 does not exist"
}

is_missing() {
    [ ! -e "$1" ] || fail "$1 exists"
}

same() {
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

# rows FILE COUNT: checks the number of rows in the file's header.
rows() {
    local found
    found=$(head -c 1024 "$1" | grep -aoE "'shape': *\( *[0-9]+" | grep -oE '[0-9]+$')
    [ "$found" = "$2" ] || fail "$1 has ${found:-no} rows instead of $2"
}

row_count() {
    head -c 1024 "$1" | grep -aoE "'shape': *\( *[0-9]+" | grep -oE '[0-9]+$'
}

# untrailed FILE [BYTES]: the file without its trailer: header and rows, of 64 bytes in a hit file, and 72 in a step file.
untrailed() {
    head -c $((1024 + ${2:-64} * $(row_count "$1"))) "$1"
}

# same_rows FILE FILE: the rows of two hit files are equal. Their trailers may name different inputs.
same_rows() {
    cmp -s <(untrailed "$1") <(untrailed "$2") || fail "the rows of $1 and $2 differ"
}
