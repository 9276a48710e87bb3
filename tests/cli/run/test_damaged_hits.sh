#!/usr/bin/env bash
# Promise: a hit file that is damaged does not cost its step file. The hit file goes to the quarantine with its reason,
# the hits are computed again, and are those of a run without damage. To join: `damage FILE` changes a byte of a row.
source "$(dirname "$0")/../common.bash"

damage() {
    printf '\x55' | dd of="$1" bs=1 seek=1500 conv=notrunc status=none
}

expect 0 "$ICESTREAM" generate -s workload.steps=100 -o a.steps.npy
expect 0 "$ICESTREAM" run "${WIDE[@]}" -q -s source.files=a.steps.npy -s sink.directory=expected
cp expected/a.hits.npy damaged.hits.npy
damage damaged.hits.npy
cmp -s expected/a.hits.npy damaged.hits.npy && fail "the byte was not changed"

# A claimed step file, found when the run starts, with and without --resume.
for option in --quiet --resume; do
    mkdir in hits
    cp a.steps.npy in
    cp damaged.hits.npy hits/a.hits.npy
    expect 0 "$ICESTREAM" run "${WIDE[@]}" $option -s source.directory=in
    is_there in/a.steps.npy
    same hits/a.hits.npy expected/a.hits.npy
    same hits/quarantine/a.hits.npy damaged.hits.npy
    says hits/quarantine/a.hits.npy.reason "hits/a.hits.npy: rows 0 to" "the rows were damaged after writing"
    says hits/run.journal '"event":"hits_quarantined"' '"output":"hits/quarantine/a.hits.npy"' '"event":"done"'
    is_missing hits/quarantine/a.steps.npy
    expect 0 "$ICESTREAM" status hits
    says out "hits_quarantined: in/a.steps.npy: hits/a.hits.npy: rows 0 to" "quarantine: 1 file"
    rm -r in hits
done

# A named step file with --resume. A second damaged file gets another name. --force replaces the file.
mkdir hits
for name in a.hits.npy a.hits.npy.2; do
    cp damaged.hits.npy hits/a.hits.npy
    expect 0 "$ICESTREAM" run "${WIDE[@]}" --resume -s source.files=a.steps.npy
    says err "warning: hits/a.hits.npy: rows 0 to" "this hit file is now hits/quarantine/$name, and the hits of"
    same hits/a.hits.npy expected/a.hits.npy
    same hits/quarantine/$name damaged.hits.npy
done
cp damaged.hits.npy hits/a.hits.npy
expect 0 "$ICESTREAM" run "${WIDE[@]}" -q --resume --force -s source.files=a.steps.npy
same hits/a.hits.npy expected/a.hits.npy
is_missing hits/quarantine/a.hits.npy.3

# A service: a damaged file has the name of the output of a new step file. The step file is not lost.
mkdir in
cp a.steps.npy in
rm -r hits
"$ICESTREAM" run "${WIDE[@]}" -q -s source.directory=in -s source.watch=true -s source.scan=0.1 &
service=$!
await test -e hits/a.hits.npy
mkdir hits/folder.hits.npy
cp damaged.hits.npy hits/b.hits.npy
ln a.steps.npy in/b.steps.npy
await grep -q '"event":"done".*in/b.steps.npy' hits/run.journal
same hits/b.hits.npy expected/a.hits.npy
kill -TERM $service
wait $service

# Something that is no file is not moved, nor is a file that cannot be read. Their step files wait, and others are done.
ln -s loop.hits.npy hits/loop.hits.npy
for name in folder loop c; do
    cp a.steps.npy in/$name.steps.npy
done
expect 74 "$ICESTREAM" run "${WIDE[@]}" -q -s source.directory=in
says err "hits/folder.hits.npy: found something that is not a file, expected a hit file or nothing" \
    "hits/loop.hits.npy: cannot open: Too many levels of symbolic links" "2 left"
is_there in/folder.steps.npy
is_there in/loop.steps.npy
same hits/c.hits.npy expected/a.hits.npy
grep -q '"event":"failed".*in/folder.steps.npy' hits/run.journal || fail "the journal has no line of the step file that failed"

# A service tries these step files again and again, and does all others. Here both places are free in the end.
"$ICESTREAM" run "${WIDE[@]}" -q -s source.directory=in -s source.watch=true -s source.scan=0.1 &
service=$!
await grep -q '"event":"retried".*in/folder.steps.npy' hits/run.journal
await grep -q '"event":"retried".*in/loop.steps.npy' hits/run.journal
ln a.steps.npy in/d.steps.npy
await grep -q '"event":"done".*in/d.steps.npy' hits/run.journal
rmdir hits/folder.hits.npy
rm hits/loop.hits.npy
for name in folder loop; do
    await grep -q "\"event\":\"done\".*in/$name.steps.npy" hits/run.journal
    same hits/$name.hits.npy expected/a.hits.npy
done
kill -TERM $service
wait $service
finish
