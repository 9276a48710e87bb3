#!/usr/bin/env bash
# Promises: `-` is standard input or output in every direction of `convert` in which both formats are streams, and
# in `trace -o -`: the bytes are those of the file, reports go to standard error, nothing binary goes to a terminal,
# and a reader that has gone ends the command quietly.
# To join: a new format gets its line here, or the error that says why it is no stream.
source "$(dirname "$0")/../common.bash"
I=$ICESTREAM

"$I" generate -s workload.steps=50 -o s.steps.npy 2>/dev/null
mkdir two
"$I" run -q -s 'source.files=[s.steps.npy]'
hits=hits/s.hits.npy

# Hits become text.
expect 0 "$I" convert $hits a.txt
expect 0 "$I" convert $hits -
same out a.txt
"$I" convert - - <$hits | cmp - a.txt || fail "file to text"
"$I" run -q -s 'source.files=[s.steps.npy]' -s sink.directory=- | "$I" convert - - | cmp - a.txt || fail "message"
expect 0 "$I" convert - b.txt <$hits
same b.txt a.txt
# Messages follow each other, with and without trailers.
cat $hits $hits >two/hits
[ "$("$I" convert - - <two/hits | grep -c HIT)" -eq "$((2 * $(grep -c HIT a.txt)))" ] || fail "two messages"
# A message is passed on before the next one comes.
mkfifo slow
"$I" convert - - <slow >late &
exec 7>slow
cat $hits >&7
await grep -q HIT late
exec 7>&-
wait $! || fail "the stream ends with an error"
same late a.txt
# The same without a trailer, as a run writes messages of hits.
head -c $((1024 + 64 * $(row_count $hits))) $hits >message
rm late
"$I" convert - - <slow >late &
exec 7>slow
cat message >&7
await grep -q HIT late
exec 7>&-
wait $! || fail "the stream of messages ends with an error"
same late a.txt

# Waveforms.
expect 0 "$I" convert --waveforms 10 $hits w.csv
says out "bins of 10 ns"
expect 0 "$I" convert --waveforms 10 - - <$hits
same out w.csv
says err "standard output: "
expect 0 "$I" convert --waveforms 10 $hits w.npy
expect 0 "$I" convert --waveforms 10 --npy $hits -
same out w.npy
expect 2 "$I" convert --waveforms 10 --npy $hits x.csv
says err "--npy: expected - as TO"
expect 2 "$I" convert --npy $hits -
says err "--npy: expected --waveforms NS together with it"

# Paths of photons.
expect 0 "$I" trace --hits $hits --steps s.steps.npy -o t.npy
says out "t.npy: " "hits are identical"
expect 0 "$I" trace --hits $hits --steps s.steps.npy -o -
same out t.npy
says err "standard output: " "hits are identical"
expect 0 "$I" geometry
cp out modules
expect 0 "$I" geometry -o modules.csv
same modules modules.csv

# What is no stream, or not what it should be.
expect 3 "$I" convert - - <s.steps.npy
says err "standard input, message 0: found a file of steps"
head -c 2000 $hits >short.npy
expect 3 "$I" convert - - <short.npy
says err "standard input, message 0: byte 2000: found the end of the input"
expect 74 bash -c "$I convert $hits - >/dev/full"
says err "standard output: cannot write: No space left on device"
is_missing -- -
"$I" convert $hits - 2>quiet | true
"$I" trace --hits $hits --steps s.steps.npy -o - 2>>quiet | head -c 1 >/dev/null
! grep -v -e "points of" -e "identical" quiet || fail "a closed pipe is not quiet"

cat >in_terminal.py <<'PYTHON'
"""Runs a command with a terminal as standard input and output, and prints what it wrote."""
import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)
PYTHON
if has_terminals; then
    expect 2 python3 in_terminal.py "$I" trace --hits $hits --steps s.steps.npy -o - </dev/null
    says out "--output: found a terminal as standard output"
    expect 2 python3 in_terminal.py "$I" convert --waveforms 10 --npy $hits - </dev/null
    says out "-: found a terminal as standard output"
    expect 2 python3 in_terminal.py "$I" convert - - </dev/null
    says out "-: found a terminal as standard input"
fi

finish
