#!/usr/bin/env bash
# Promises: `icestream convert` writes hits, paths and modules as .vtp and hits as .csv. No bit of a number changes, a
# stream gives the bytes of a file, a file of many pieces is as good as one of a single piece, and a fault leaves no
# file.
# To join: a new field of hits or paths needs nothing; a new picture gets its check in check_pictures.py.
CHECK=$(realpath "$(dirname "$0")/check_pictures.py")
source "$(dirname "$0")/common.bash"
I=$ICESTREAM

# check PIECES KIND FILES...
check() {
    local pieces=$1
    shift
    expect 0 python3 "$CHECK" "$@"
    [ "$(cat out)" = "$pieces" ] || fail "$* has $(cat out) pieces instead of $pieces"
}

"$I" generate -s workload.steps=1500 -o s.steps.npy 2>/dev/null
"$I" run -q "${WIDE[@]}" -s detector.keep_hit_photons=false -s 'source.files=[s.steps.npy]'
hits=hits/s.hits.npy
"$I" trace "${WIDE[@]}" -s detector.keep_hit_photons=false --hits $hits --steps s.steps.npy -o p.npy >/dev/null
printf 'detector: {dense: true}\n' >run.yaml
"$I" geometry >m.csv
"$I" geometry run.yaml >dense.csv

# Files.
expect 0 "$I" convert $hits h.vtp --detector m.csv
is_empty out
is_empty err
check 1 hits $hits h.vtp m.csv
expect 0 "$I" convert p.npy p.vtp
[ "$(row_count p.npy)" -gt 16384 ] || fail "the paths fit into one block"
check 3 paths p.npy p.vtp
expect 0 "$I" convert m.csv m.vtp
check 1 modules m.csv m.vtp
expect 0 "$I" convert run.yaml dense.vtp
check 1 modules dense.csv dense.vtp
expect 0 "$I" convert $hits h.csv
check 1 csv $hits h.csv

# Streams.
"$I" convert --format vtp --detector m.csv - - <$hits | cmp - h.vtp || fail "hits from a stream"
"$I" convert --format csv - - <$hits | cmp - h.csv || fail "hits from a stream as CSV"
"$I" convert --format vtp - - <p.npy | cmp - p.vtp || fail "paths from a stream"
"$I" convert --format vtp m.csv - | cmp - m.vtp || fail "modules to a stream"
"$I" convert --format txt $hits - >a.txt
"$I" convert $hits - | cmp - a.txt || fail "the text of hits"
# Each message is a piece, and a reader gets it before the next one comes.
mkfifo slow
"$I" convert --format vtp --detector run.yaml - - <slow >late.vtp &
exec 7>slow
cat $hits >&7
await grep -q "</Piece>" late.vtp
exec 7>&-
wait $! || fail "the stream ends with an error"
check 1 hits $hits late.vtp m.csv
cat $hits $hits | "$I" convert --detector m.csv - two.vtp
[ "$(grep -c "<Piece" two.vtp)" -eq 2 ] || fail "two messages are not two pieces"

# A file without rows has one piece without points.
printf 'string,module,x,y,z\n1,1,9000,9000,9000\n' >far.csv
"$I" run -q "${WIDE[@]}" -s detector.keep_hit_photons=false -s 'source.files=[s.steps.npy]' -s sink.directory=none -s detector.file=far.csv 2>/dev/null
expect 0 "$I" convert none/s.hits.npy none.vtp --detector far.csv
says none.vtp '<Piece NumberOfPoints="0" NumberOfVerts="0"' "</VTKFile>"

# Faults, which leave no file.
expect 3 "$I" convert $hits x.vtp --detector far.csv
says err "$hits: hit 0: found string" "expected a module of the detector far.csv"
expect 2 "$I" convert $hits x.vtp
says err "$hits: found a file of hits, expected --detector FILE"
expect 2 "$I" convert $hits x.vtp --detector none.yaml
says err "none.yaml"
expect 3 "$I" convert s.steps.npy x.vtp
says err "s.steps.npy: found a file of steps, expected one of paths or hits"
expect 3 "$I" convert - x.vtp </dev/null
says err "standard input: found the end of the input"
head -c 2000 p.npy >short.npy
expect 3 "$I" convert - x.vtp <short.npy
says err "standard input, message 0: "
expect 74 "$I" convert $hits h.csv
says err "h.csv: found an existing file"
expect 0 "$I" convert $hits h.csv --force
expect 74 bash -c "$I convert --format csv $hits - >/dev/full"
says err "standard output: cannot write: No space left on device"
is_missing x.vtp
is_missing x.vtp.part
finish
