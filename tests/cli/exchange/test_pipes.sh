#!/usr/bin/env bash
# Promises: messages through standard input, standard output and named pipes give the same hits as files.
# To join: compare the rows of the output with those of hits/.
source "$(dirname "$0")/../common.bash"

mkdir steps
for seed in 1 2 3; do
    expect 0 "$ICESTREAM" generate -s run.seed=$seed -s workload.steps=$((200 * seed)) \
        -o steps/$seed.steps.npy
    expect 0 "$ICESTREAM" generate -s run.seed=$seed -s workload.steps=$((200 * seed)) -o -
    mv out $seed.message
done
expect 0 "$ICESTREAM" run "${WIDE[@]}" -q

# One message.
"$ICESTREAM" generate -s run.seed=2 -s workload.steps=400 -o - |
    "$ICESTREAM" run "${WIDE[@]}" -q -s source.files=- -s sink.directory=- >2.out || fail "the pipe broke"
count=$(row_count hits/2.hits.npy)
rows 2.out "$count"
[ "$count" -gt 100 ] || fail "only $count hits to compare"
untrailed hits/2.hits.npy >2.rows
same 2.out 2.rows

# Several messages: one message each, in the same order.
cat 1.message 2.message 3.message |
    "$ICESTREAM" run "${WIDE[@]}" -q -s source.files=- -s sink.directory=- >all.out || fail "the pipe broke"
for seed in 1 2 3; do
    untrailed hits/$seed.hits.npy
done >all.rows
same all.out all.rows
"$ICESTREAM" run "${WIDE[@]}" -q -s 'source.files=[steps/*.npy]' -s sink.directory=- >files.out ||
    fail "files to standard output"
same files.out all.rows

# Messages in, files out; and no message at all.
cat 1.message 2.message | "$ICESTREAM" run "${WIDE[@]}" -q -s source.files=- -s sink.directory=numbered ||
    fail "messages to files"
rows numbered/stdin-000000.hits.npy "$(row_count hits/1.hits.npy)"
rows numbered/stdin-000001.hits.npy "$(row_count hits/2.hits.npy)"
is_missing numbered/stdin-000002.hits.npy
"$ICESTREAM" run "${WIDE[@]}" -q -s source.files=- -s sink.directory=- </dev/null >empty.out ||
    fail "no message is no error"
is_empty empty.out

# A message that is cut off is quarantined; the messages before it are kept.
{
    cat 1.message
    head -c 5000 2.message
} >broken
"$ICESTREAM" run "${WIDE[@]}" -q -s source.files=- -s sink.directory=- <broken >broken.out 2>err
[ $? -eq 3 ] || fail "a broken message is not exit status 3"
says err "standard input" "1 of 2 files quarantined"
cmp <(untrailed hits/1.hits.npy) broken.out || fail "other bytes before the broken message"

# A bad message leaves no hit file, is named by its number, and does not touch the next one, if the fault does
# not hide where that begins. Whole step files have a trailer, which shows that their rows were damaged.
# spoil FILE BYTE CHARACTER: a copy of step file 2 with another byte.
spoil() {
    cp steps/2.steps.npy "$1"
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
spoil rows.npy 1088 '\001'                                          # source_id
spoil beta.npy $((1024 + 35)) '\177'                                # row 0
spoil tail.npy $(($(stat -c %s steps/2.steps.npy) - 1)) x           # the next message cannot be found
# shellcheck disable=SC2016 # the program expands it
printf '#!/bin/sh\necho "$1" >>shipped.list\n' >shipped
chmod +x shipped
cp hits/2.hits.npy .
while read -r name reason; do
    cat steps/1.steps.npy "$name" steps/3.steps.npy |
        "$ICESTREAM" run "${WIDE[@]}" -s source.files=- -s "sink.directory=out-$name" -s 'sink.command=[./shipped]' 2>err
    [ $? -eq 3 ] || fail "$name is not exit status 3"
    says err "standard input, message 1: $reason" "1 of"
    grep -q 'message 2:' err && fail "$name is filed under the next message"
    is_missing "out-$name/stdin-000001.hits.npy"
    grep -q 000001 shipped.list && fail "$name was shipped"
    rows "out-$name/stdin-000000.hits.npy" "$(row_count hits/1.hits.npy)"
    if [ "$name" = tail.npy ]; then
        is_missing "out-$name/stdin-000002.hits.npy"
    else
        rows "out-$name/stdin-000002.hits.npy" "$(row_count hits/3.hits.npy)"
    fi
    grep -q '"event":"done".*message 1"' "out-$name/run.journal" && fail "$name is done in the journal"
done <<'BAD'
rows.npy rows 0 to
beta.npy row 0, field beta
tail.npy trailer
2.hits.npy found a file of hits
BAD
# The hits are not written before the trailer has come.
mkfifo slow
"$ICESTREAM" run "${WIDE[@]}" -q -s source.files=slow -s sink.directory=held 2>err &
run=$!
exec 8>slow
head -c $((1024 + 72 * 400)) rows.npy >&8
await test -s held/run.journal
tail -c +$((1024 + 72 * 400 + 1)) rows.npy >&8
exec 8>&-
wait $run
[ $? -eq 3 ] || fail "a wrong trailer that comes late is not exit status 3"
is_missing held/slow-000000.hits.npy

# If the reader of a pipe ends, the run ends with an output error and not by a signal.
expect 74 bash -c "set -o pipefail; '$ICESTREAM' run -q -s 'source.files=[steps/*.npy]' \
    -s sink.directory=- | head -c 10 >/dev/null"
says err "standard output"
if [ -e /dev/full ]; then
    "$ICESTREAM" run "${WIDE[@]}" -q -s 'source.files=[steps/1.steps.npy]' -s sink.directory=- >/dev/full 2>err
    [ $? -eq 74 ] || fail "a full device is not exit status 74"
    says err "standard output: cannot write hits: No space left on device"
fi

# Python can read and write messages.
if ! python=$(python_with numpy); then
    echo "skipped: no Python with NumPy: the files are not compared"
    finish
fi
expect 0 "$python" - <<'PYTHON'
import numpy
hits = numpy.load("hits/2.hits.npy")
steps = numpy.load("steps/2.steps.npy")
assert hits.dtype.names == ("event_id", "t", "x", "y", "z", "dx", "dy", "dz", "wavelength",
                            "weight", "step_id", "photon_id", "string", "module", "pmt",
                            "scatters"), hits.dtype.names
assert hits.dtype.itemsize == 64
assert len(steps) == 400 and steps["photons"].sum() == 400 * 200
key = numpy.lexsort((hits["module"], hits["string"], hits["photon_id"], hits["step_id"],
                     hits["event_id"]))
assert (key == numpy.arange(len(hits))).all()
assert (hits["wavelength"] > 280).all() and (hits["wavelength"] < 680).all()
assert (hits["photon_id"] < 200).all() and (hits["pmt"] == -1).all()
norm = hits["dx"] ** 2 + hits["dy"] ** 2 + hits["dz"] ** 2
assert abs(norm - 1).max() < 1e-5, abs(norm - 1).max()
with open("all.out", "rb") as stream:
    lengths = [len(numpy.load(stream)) for _ in range(3)]
    assert stream.read() == b""
assert lengths[1] == len(hits)
PYTHON
# The same from a pipe, as in docs/files.md. A pipe is not a file, because it cannot seek.
# shellcheck disable=SC2002
cat all.out | expect 0 "$python" -c '
import numpy, sys, types
pipe = sys.stdin.buffer
stream = types.SimpleNamespace(read=pipe.read)
with open("piped.rows", "wb") as out:
    while pipe.peek(1):
        out.write(numpy.lib.format.read_array(stream).tobytes())
'
for seed in 1 2 3; do
    untrailed hits/$seed.hits.npy | tail -c +1025
done >file.rows
same piped.rows file.rows
# A file that numpy.save writes is a step file.
expect 0 "$python" - <<'PYTHON'
import numpy
steps = numpy.load("steps/2.steps.npy")
wider = numpy.zeros(len(steps), dtype=[("note", "<i8")] + steps.dtype.descr[::-1])
for name in steps.dtype.names:
    wider[name] = steps[name]
numpy.save("wider.npy", wider)
PYTHON
expect 0 "$ICESTREAM" run "${WIDE[@]}" -q -s 'source.files=[wider.npy]' -s sink.directory=-
same out 2.rows

# A named pipe is a stream that ends when its last writer closes it.
mkfifo pipe
cat steps/1.steps.npy steps/2.steps.npy >pipe &
expect 0 "$ICESTREAM" run "${WIDE[@]}" -s source.files=pipe -s sink.directory=piped
rows piped/pipe-000000.hits.npy "$(row_count hits/1.hits.npy)"
rows piped/pipe-000001.hits.npy "$(row_count hits/2.hits.npy)"
is_missing piped/pipe-000002.hits.npy
finish
