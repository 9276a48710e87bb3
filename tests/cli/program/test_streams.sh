#!/usr/bin/env bash
# Promises: no binary data go to a terminal or are awaited from one, colours are for terminals only, a summary can
# go to standard output, and files of another kind are named as what they are.
# To join: a stream that carries binary data gets a line in the part for terminals.
source "$(dirname "$0")/../common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=5 -o steps/a.steps.npy
cat >in_terminal.py <<'PYTHON'
"""Runs a command with a terminal as standard input, output and error, and prints what it wrote."""
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
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PYTHON
# shellcheck disable=SC2317 # `expect` calls it
terminal() { python3 in_terminal.py env "$@"; }
red=$(printf '\033[1;31merror:')

if has_terminals; then
    expect 2 terminal "$ICESTREAM" generate -s workload.steps=5 -o -
    says out "--output: found a terminal as standard output, expected a file or a pipe"
    expect 2 terminal "$ICESTREAM" run -s sink.directory=-
    says out "sink.directory: found a terminal as standard output, expected"
    expect 2 terminal "$ICESTREAM" run -s source.files=[-]
    says out "source.files: found a terminal as standard input, expected"
    expect 2 terminal TERM=xterm "$ICESTREAM" validate -s run.seed=-1
    says out "$red"
    expect 2 terminal TERM=xterm NO_COLOR=1 "$ICESTREAM" validate -s run.seed=-1
    ! grep -qF "$red" out || fail "a colour with NO_COLOR"
fi
expect 2 "$ICESTREAM" validate -s run.seed=-1
! grep -qF "$red" err || fail "a colour in a pipe"

# A summary on standard output, and nothing else there.
expect 0 "$ICESTREAM" run -q --summary -
python3 -m json.tool <out >/dev/null || fail "no JSON: $(cat out)"
is_missing -- -
expect 2 "$ICESTREAM" run -s sink.directory=- --summary -
says err '--summary: found -, and sink.directory is "-", too'

# `gpu` is another word for cuda, and a byte order mark is accepted.
printf '\357\273\277# from an editor\ndevice: {backend: gpu}\n' >mark.yaml
expect 0 "$ICESTREAM" run --print-effective mark.yaml
says out "backend: cuda"
printf '\357\273\277run: {seed: -1}\n' >mark.yaml
expect 2 "$ICESTREAM" run mark.yaml
says err "mark.yaml:1:13: error: run.seed"

# Files of another kind.
printf '\211PNG\r\n\032\nxxxxxxxxxxxx' >picture
printf '\037\213\010xxxxxxxxxxxxxx' >packed.npy
echo "just some text" >text
expect 3 "$ICESTREAM" info picture
says err "this begins like a picture (PNG)"
expect 3 "$ICESTREAM" info packed.npy
says err "this begins like compressed data (gzip)"
expect 3 "$ICESTREAM" info text
says err "this begins like text"
expect 2 "$ICESTREAM" validate picture
says err "not valid UTF-8 text" "this is a picture (PNG)"
finish
