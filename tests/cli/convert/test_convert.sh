#!/usr/bin/env bash
# Promises: `-` is standard input or output in every direction of `convert` in which both formats are streams, and
# in `trace -o -`: the bytes are those of the file, reports go to standard error, nothing binary goes to a terminal,
# and a reader that has gone ends the command quietly. No bit of a number changes in CSV. A fault leaves no file.
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
untrailed $hits >message
rm late
"$I" convert - - <slow >late &
exec 7>slow
cat message >&7
await grep -q HIT late
exec 7>&-
wait $! || fail "the stream of messages ends with an error"
same late a.txt

# CSV.
"$I" generate -s workload.steps=1500 -o many.steps.npy 2>/dev/null
"$I" run -q "${WIDE[@]}" -s detector.keep_hit_photons=false -s 'source.files=[many.steps.npy]'
expect 0 "$I" convert hits/many.hits.npy h.csv
is_empty out
is_empty err
"$I" convert --format csv - - <hits/many.hits.npy | cmp - h.csv || fail "hits from a stream as CSV"
"$I" convert --format txt $hits - | cmp - a.txt || fail "the text of hits"
if python=$(python_with numpy); then
    expect 0 "$python" - <<'PYTHON'
import csv, numpy
hits = numpy.load("hits/many.hits.npy")
head, *rows = csv.reader(open("h.csv", newline=""))
units = {"t": "ns", "x": "m", "y": "m", "z": "m", "wavelength": "nm"}
assert head == [name + ("_" + units[name] if name in units else "") for name in hits.dtype.names], head
assert len(rows) == len(hits) > 100
for name, column in zip(hits.dtype.names, zip(*rows)):
    kind = hits.dtype[name]
    values = [(float if kind.kind == "f" else int)(text) for text in column]
    assert numpy.array(values, kind).tobytes() == hits[name].tobytes(), name  # bytes, so that -0 is not 0
PYTHON
else
    echo "skipped: no Python with NumPy: the numbers in CSV are not compared"
fi

# Waveforms.
prints "bins of 10 ns" convert --waveforms 10 $hits w.csv
expect 0 "$I" convert --waveforms 10 - - <$hits
same out w.csv
says err "standard output: "
expect 0 "$I" convert --waveforms 10 $hits w.npy
expect 0 "$I" convert --waveforms 10 --npy $hits -
same out w.npy
refuses 2 "--npy: expected - as TO" convert --waveforms 10 --npy $hits x.csv
refuses 2 "--npy: expected --waveforms NS together with it" convert --npy $hits -

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
refuses 3 "standard input, message 0: found a file of steps" convert - - <s.steps.npy
head -c 2000 $hits >short.npy
refuses 3 "standard input, message 0: byte 2000: found the end of the input" convert - - <short.npy
refuses 3 "standard input, message 0: " convert - x.csv <short.npy
is_missing x.csv
is_missing x.csv.part
expect 74 bash -c "$I convert $hits - >/dev/full"
says err "standard output: cannot write: No space left on device"
is_missing -- -
"$I" convert $hits - 2>quiet | true
"$I" trace --hits $hits --steps s.steps.npy -o - 2>>quiet | head -c 1 >/dev/null
! grep -v -e "points of" -e "identical" quiet || fail "a closed pipe is not quiet"

if has_terminals; then
    expect 2 in_terminal "$I" trace --hits $hits --steps s.steps.npy -o -
    says out "--output: found a terminal as standard output"
    expect 2 in_terminal "$I" convert --waveforms 10 --npy $hits -
    says out "-: found a terminal as standard output"
    expect 2 in_terminal "$I" convert - -
    says out "-: found a terminal as standard input"
fi

finish
