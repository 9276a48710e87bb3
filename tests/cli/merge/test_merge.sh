#!/usr/bin/env bash
# Promises: a merged hit file has the rows of its inputs, sorted, and the sum of their accounts; it does not depend on
# the order of the inputs; files that hold the same step file, or hits of other settings, are refused, and then
# nothing is written; `run --resume` and `trace` find the step files of a merged file; a merge that is killed at any
# moment and started again has every hit once; 2,000 files take less than 100 MB of memory.
# To join: make hit files in `each`, merge them, and compare with `rows_of`.
source "$(dirname "$0")/../common.bash"
python=$(python_with numpy) || skip "no NumPy"

# rows_of FILE...: the rows of all hit files, sorted, as text.
rows_of() {
    local file
    for file in "$@"; do
        "$ICESTREAM" info --verify "$file" >/dev/null || fail "$file is not sound"
        tail -c +1025 "$file" | head -c $((64 * $(row_count "$file"))) | od -An -v -tx1 -w64
    done | sort
}

# metadata FILE EXPRESSION: prints a Python expression of the metadata m.
metadata() {
    "$python" - "$@" <<'PYTHON'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
offset, length = struct.unpack("<QQ", data[-32:-16])
m = json.loads(data[offset:offset + length])
print(eval(sys.argv[2]))
PYTHON
}

mkdir steps
for event in 1 2 3 4 5 6; do
    expect 0 "$ICESTREAM" generate -s run.seed=$event -s workload.event=$event -s workload.steps=100 \
        -o steps/$event.steps.npy
done
histogram="sink.histograms=[[{name: time, from: 0, to: 1000, bins: 10}]]"
run=("$ICESTREAM" run -q -s device.math=portable -s "$histogram" "${WIDE[@]}")
expect 0 "${run[@]}" -s sink.directory=each
rows_of each/*.hits.npy >expected
[ -s expected ] || fail "no hits"

# Whole folders and files in any order give the same bytes, also in two steps.
expect 0 "$ICESTREAM" merge each -o all.hits.npy
says out "all.hits.npy: " "of 6 step files, from 6 hit files"
rows_of all.hits.npy >found
same expected found
expect 0 "$ICESTREAM" merge each/[654].hits.npy -o first.hits.npy
expect 0 "$ICESTREAM" merge each/[312].hits.npy first.hits.npy -o again.hits.npy
same all.hits.npy again.hits.npy
expect 0 "$ICESTREAM" info all.hits.npy
says out "inputs" "6 step files"
[ "$(metadata all.hits.npy 'len(set(m["inputs"])), "input" in m["digests"]')" = "(6, False)" ] ||
    fail "the merged file does not name its step files"
created=0
for event in 1 2 3 4 5 6; do
    created=$((created + $(metadata each/$event.hits.npy 'm["account"]["created"]')))
done
[ "$(metadata all.hits.npy 'm["account"]["created"]')" = $created ] || fail "the account is not the sum"
[ "$(metadata all.hits.npy 'sum(m["histograms"][0]["storage"]["values"])')" = "$(wc -l <expected)" ] ||
    fail "the histogram does not count all hits"

# Refusals name both files, and leave nothing.
mkdir others
cp each/1.hits.npy copy.hits.npy
"${run[@]}" -s source.files=steps/1.steps.npy -s sink.directory=others/seed -s run.seed=2 2>/dev/null
"${run[@]}" -s source.files=steps/1.steps.npy -s sink.directory=others/ice -s ice.model=uniform 2>/dev/null
"${run[@]}" -s source.files=steps/1.steps.npy -s sink.directory=others/detector -s detector.radius=0.2 2>/dev/null
"${run[@]}" -s source.files=steps/1.steps.npy -s sink.directory=others/histogram -s "sink.histograms=[]" 2>/dev/null
head -c 4000 each/1.hits.npy >damaged.hits.npy
refused() {
    local file=$1
    shift
    expect 3 "$ICESTREAM" merge each/2.hits.npy each/1.hits.npy "$file" -o refused.npy
    says err "$file" "$@"
    is_missing refused.npy
    is_missing refused.npy.part
}
refused copy.hits.npy "whose hits each/1.hits.npy has as well"
refused all.hits.npy "whose hits each/"
refused others/seed/1.hits.npy "found other settings than in each/2.hits.npy" "run.seed (2, 1)"
refused others/ice/1.hits.npy "found other settings than in each/2.hits.npy" "ice.model (uniform, south-pole-like)"
refused others/detector/1.hits.npy "found other settings than in each/2.hits.npy" "detector.radius (0.2, "
refused damaged.hits.npy "damaged.hits.npy: "
expect 3 "$ICESTREAM" merge each/2.hits.npy others/histogram/1.hits.npy -o refused.npy
says err "others/histogram/1.hits.npy: histograms: found other ones than in each/2.hits.npy"
cp all.hits.npy before
expect 74 "$ICESTREAM" merge each -o all.hits.npy
refuses 2 "--output: found all.hits.npy, which is the input all.hits.npy" merge all.hits.npy -o all.hits.npy --force
same all.hits.npy before
expect 0 "$ICESTREAM" merge each -o all.hits.npy --force

# A run and `trace` find the step files of a merged file, also when their own hit files are gone.
cp -r each resumed
mv resumed/[123].hits.npy .
expect 0 "$ICESTREAM" merge [123].hits.npy -o resumed/some.hits.npy
rm resumed/4.hits.npy resumed/run.journal
expect 0 "${run[@]}" -s sink.directory=resumed --resume
[ "$(grep -c '"event":"skipped"' resumed/run.journal)" = 5 ] || fail "not 5 step files are skipped: $(cat resumed/run.journal)"
is_missing resumed/1.hits.npy
rows_of resumed/*.hits.npy >found
same expected found
expect 0 "$ICESTREAM" trace -s device.math=portable "${WIDE[@]}" -s 'source.files=[steps/*.steps.npy]' \
    --hits resumed/some.hits.npy -o paths.npy
# Claimed step files are skipped as well, and once.
expect 0 "${run[@]}" -s source.directory=steps -s sink.directory=resumed --resume
[ "$(grep -c '"event":"claimed"' resumed/run.journal)" = 6 ] || fail "not each step file is claimed once"
rm -r steps/.icestream
# Hits of other settings do not count, and a damaged merged file is not believed.
printf 'X' | dd of=resumed/some.hits.npy bs=1 seek=2000 conv=notrunc status=none
expect 0 "${run[@]}" -s sink.directory=resumed --resume
says err "resumed/some.hits.npy: rows 0 to" "this hit file is now resumed/quarantine/some.hits.npy"
rows_of resumed/*.hits.npy >found
same expected found

# ---- killed ----

# 2,000 inputs with other step files, made of one hit file by their digests.
"$python" - each/1.hits.npy <<'PYTHON'
import hashlib, json, os, struct, sys, zlib
def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF
table = []
for n in range(256):
    for _ in range(8):
        n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
    table.append(n)
data = open(sys.argv[1], "rb").read()
offset, length = struct.unpack("<QQ", data[-32:-16])
old = json.loads(data[offset:offset + length])["digests"]["input"].encode()
at = data.index(old)
os.mkdir("many")
for i in range(2000):
    new = data[:at] + hashlib.sha256(b"%d" % i).hexdigest().encode() + data[at + 64:]
    crc = struct.pack("<I", crc32c(new[offset:offset + length]))
    open("many/%04d.hits.npy" % i, "wb").write(new[:-16] + crc + new[-12:])
PYTHON
rows=$((2000 * $(row_count each/1.hits.npy)))

python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$ICESTREAM" merge many -o whole.hits.npy >peak ||
    fail "2,000 files are not merged"
# Sanitizers need more memory than the program.
grep -qaE '__(asan|tsan)_init' "$ICESTREAM" || [ "$(cat peak)" -lt 100000 ] || fail "2,000 files take $(cat peak) KiB"
rows whole.hits.npy $rows
"$ICESTREAM" info --verify whole.hits.npy >/dev/null || fail "whole.hits.npy is not sound"

# A merge that is killed leaves no output, and the next one makes the whole one.
for after in 0.05 0.1 0.2 0.4; do
    rm -f killed.hits.npy
    "$ICESTREAM" merge many -o killed.hits.npy >/dev/null 2>&1 &
    sleep $after
    kill -9 $!
    wait $! 2>/dev/null
    [ ! -e killed.hits.npy ] || same whole.hits.npy killed.hits.npy
done
rm -f killed.hits.npy
expect 0 "$ICESTREAM" merge many -o killed.hits.npy
same whole.hits.npy killed.hits.npy
"$ICESTREAM" merge many -o stopped.hits.npy >/dev/null 2>err &
await test -e stopped.hits.npy.part -o -e stopped.hits.npy
kill -TERM $!
wait $!
[ $? = 143 ] && is_missing stopped.hits.npy
is_missing stopped.hits.npy.part

# ---- watched ----

# start: a merge that watches, in $merge.
start() {
    "$ICESTREAM" merge --watch in -o joined/all.hits.npy --rows $((rows / 8)) >>watch.out 2>watch.err &
    merge=$!
}

in_joined() {
    local file sum=0
    for file in joined/*.hits.npy; do
        [ -e "$file" ] && sum=$((sum + $(row_count "$file")))
    done
    echo $sum
}

# shellcheck disable=SC2317 # called by await
has_joined() {
    [ "$(in_joined)" -ge "$1" ]
}

mkdir in joined
for part in 0 1 2 3; do
    start
    for file in many/[0-9][0-9][0-9][$((2 * part))$((2 * part + 1))].hits.npy; do
        ln "$file" in/
    done
    await has_joined $((rows * (part + 1) / 8))
    kill -9 $merge
    wait $merge 2>/dev/null
done
start
for file in many/*[89].hits.npy; do
    ln "$file" in/
done
# A file that cannot be merged is left out.
cp others/seed/1.hits.npy in/seed.hits.npy
cp damaged.hits.npy in/
cp many/0008.hits.npy in/twice.hits.npy
await grep -q "in/twice.hits.npy" watch.err
says watch.err "warning: in/seed.hits.npy: found other settings than in" "warning: in/damaged.hits.npy: " \
    "warning: in/twice.hits.npy: found hits of the step file" "this file is left out"
kill -INT $merge
wait $merge
[ $? = 130 ] || fail "the exit status of an interrupted merge is not 130"
[ "$(in_joined)" = $rows ] || fail "$(in_joined) hits are joined, expected $rows"
files=(joined/*)
[ ${#files[@]} -gt 4 ] || fail "--rows makes no new files: ${files[*]}"
expect 0 "$ICESTREAM" merge joined -o joined.hits.npy
same whole.hits.npy joined.hits.npy

# The end of a run in the folder ends the merge. The outputs may be in the same folder.
mkdir live
"$ICESTREAM" merge --watch live -o live/all.hits.npy >watch.out 2>watch.err &
merge=$!
await grep -q "live: waiting" watch.out
expect 0 "${run[@]}" -s sink.directory=live
wait $merge || fail "the merge does not end with the run: $(cat watch.err)"
rows_of live/all-000000.hits.npy >found
same expected found
same live/all-000000.hits.npy all.hits.npy
finish
