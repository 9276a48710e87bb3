#!/usr/bin/env bash
# Promises: `icestream convert` writes hits as .csv. No bit of a number changes, a stream gives the bytes of a file, and a
# fault leaves no file.
# To join: a new field of hits needs nothing.
CHECK=$(realpath "$(dirname "$0")/check_hit_csv.py")
source "$(dirname "$0")/../common.bash"
I=$ICESTREAM

"$I" generate -s workload.steps=1500 -o s.steps.npy 2>/dev/null
"$I" run -q "${WIDE[@]}" -s detector.keep_hit_photons=false -s 'source.files=[s.steps.npy]'
hits=hits/s.hits.npy
expect 0 "$I" convert $hits h.csv
is_empty out
is_empty err
expect 0 python3 "$CHECK" $hits h.csv
"$I" convert --format csv - - <$hits | cmp - h.csv || fail "hits from a stream as CSV"
"$I" convert --format txt $hits - >a.txt
"$I" convert $hits - | cmp - a.txt || fail "the text of hits"

# A fault leaves no file.
head -c 2000 $hits >short.npy
expect 3 "$I" convert - x.csv <short.npy
says err "standard input, message 0: "
is_missing x.csv
is_missing x.csv.part
finish
