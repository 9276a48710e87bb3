#!/usr/bin/env bash
# Promises: no binary data go to a terminal or are awaited from one, colours are for terminals only, a summary can
# go to standard output, and files of another kind are named as what they are.
# To join: a stream that carries binary data gets a line in the part for terminals.
source "$(dirname "$0")/../common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=5 -o steps/a.steps.npy
# shellcheck disable=SC2317 # `expect` calls it
terminal() { in_terminal env "$@"; }
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
refuses 2 '--summary: found -, and sink.directory is "-", too' run -s sink.directory=- --summary -

# `gpu` is another word for cuda, and a byte order mark is accepted.
printf '\357\273\277# from an editor\ndevice: {backend: gpu}\n' >mark.yaml
prints "backend: cuda" run --print-effective mark.yaml
printf '\357\273\277run: {seed: -1}\n' >mark.yaml
refuses 2 "mark.yaml:1:13: error: run.seed" run mark.yaml

# Files of another kind.
printf '\211PNG\r\n\032\nxxxxxxxxxxxx' >picture
printf '\037\213\010xxxxxxxxxxxxxx' >packed.npy
echo "just some text" >text
refuses 3 "this begins like a picture (PNG)" info picture
refuses 3 "this begins like compressed data (gzip)" info packed.npy
refuses 3 "this begins like text" info text
expect 2 "$ICESTREAM" validate picture
says err "not valid UTF-8 text" "this is a picture (PNG)"
finish
