#!/usr/bin/env bash
# Promise: a run that claims step files from a folder takes nothing that is an output, removes nothing that is not its
# own, goes on when the folder is removed and made again, waits for a file that is still being written, and takes over
# the files of a process of this machine that was killed. To join: `steps NAME EVENT` makes a step file.
source "$(dirname "$0")/../common.bash"

steps() {
    expect 0 "$ICESTREAM" generate -s workload.steps=5 -s "workload.event=$2" -o "$1"
}

steps a.npy 1
steps b.npy 2

# Source and sink in one folder, and a pattern that fits hit files: an error of the configuration.
mkdir one
cp a.npy one/x.npy
for pattern in '*.npy' '*' 'x*.npy' '?*[xyz.]npy' '*.journal' 'summary.*'; do
    for command in run validate; do
        expect 2 "$ICESTREAM" $command -s source.directory=one -s sink.directory=./one/ -s "source.pattern=\"$pattern\""
        says err "--set source.pattern=\"$pattern\": error: source.pattern: found '$pattern', which fits outputs such as"
    done
done
expect 0 "$ICESTREAM" validate -s source.directory=one -s sink.directory=one -s 'source.pattern="?.npy"'
# A quarantine in the folder of the step files: a bad file would be claimed for ever.
expect 2 "$ICESTREAM" validate -s source.directory=one -s sink.quarantine=./one
says err "sink.quarantine: found ./one, which is the folder of the step files, expected another folder"

# Another run has its outputs in the folder: they are left where they are, whatever the pattern.
expect 0 "$ICESTREAM" run -q -s source.files=b.npy -s sink.directory=one
cp one/b.hits.npy expected.hits.npy
touch one/c.hits.npy.command one/c.hits.npy.checkpoint
expect 0 "$ICESTREAM" run -s source.directory=one -s sink.directory=hits -s 'source.pattern="*"' \
    -s sink.journal=one/run.journal --summary one/summary.json --metrics one/numbers
says err "one/b.hits.npy: found the name of an output, expected a step file; it is left where it is" \
    "1 file done, 0 skipped, 0 quarantined"
same one/b.hits.npy expected.hits.npy
is_there one/run.journal
is_there one/summary.json
is_there one/numbers

# Files of other programs that look like unfinished hit files stay; those of killed writers go.
mkdir in parts
cp a.npy in/a.steps.npy
mine=(parts/old.hits.npy.0123abcd.part parts/summary.json.89abcdef.part)
others=(parts/other.hits.npy.gz.part parts/other.hits.npy.firstpart 'parts/old.hits.npy.2nd part' parts/old.hits.npy.part
    parts/summary.json.counterpart parts/old.hits.npy.0123ABCD.part parts/old.hits.npy.0123abcde.part
    parts/x.npy.0123abcd.part parts/run-1.hits.npy.zst.part)
touch "${mine[@]}" "${others[@]}"
expect 0 "$ICESTREAM" run -q -s source.directory=in -s sink.directory=parts
for file in "${mine[@]}"; do is_missing "$file"; done
for file in "${others[@]}"; do is_there "$file"; done

# The watched folder is removed, and made again.
"$ICESTREAM" run -s source.directory=in -s source.watch=true -s source.scan=0.1 -s sink.directory=watched 2>watched.err &
service=$!
await test -e watched/a.hits.npy
# The worker may make its folder again while rm looks at another one.
until rm -rf in 2>rm.err; do :; done
await grep -q "cannot watch the folder" watched.err
mkdir in
cp b.npy in/b.part
mv in/b.part in/b.steps.npy
await test -e in/.icestream/marks/b.steps.npy
kill -TERM $service
wait $service
[ $? = 143 ] || fail "the exit status of a terminated service is not 143"
is_there watched/b.hits.npy

# Two workers, and the folder is removed and made again. Both lock their names in the new spool, so neither takes the
# other one for dead: every file is claimed once.
rm -rf in watched
mkdir in
workers=()
for worker in one two; do
    "$ICESTREAM" run -s source.directory=in -s source.watch=true -s source.scan=0.1 -s sink.directory=watched \
        -s source.worker=$worker 2>$worker.err &
    workers+=($!)
    await test -e in/.icestream/claimed/$worker/.lease
done
until rm -rf in 2>rm.err; do :; done
await grep -q "cannot watch the folder" one.err
await grep -q "cannot watch the folder" two.err
mkdir in
for number in 1 2 3 4 5 6; do
    cp b.npy in/b.part
    mv in/b.part in/again$number.steps.npy
done
await test -e in/.icestream/locks/one
await test -e in/.icestream/locks/two
for number in 1 2 3 4 5 6; do
    await test -e in/.icestream/marks/again$number.steps.npy
done
kill -TERM "${workers[@]}"
wait "${workers[@]}"
[ "$(grep -c '"event":"claimed"' watched/run.journal)" = 6 ] || fail "files were claimed again: $(cat watched/run.journal)"

# A program writes a file under its final name: the first half is there when the run reads it, and the rest comes
# before the run reads it again. This machine may be too busy for that, so the program has five attempts.
# shellcheck disable=SC2317 # `await` calls it
has_answer() {
    grep -qE '"event":"(done|quarantined)"' watched/run.journal
}
for _ in 1 2 3 4 5; do
    rm -rf in watched
    mkdir in
    "$ICESTREAM" run -s source.directory=in -s source.watch=true -s source.scan=0.1 -s sink.directory=watched \
        2>watched.err &
    service=$!
    await test -e watched/run.journal
    exec 7>in/slow.steps.npy
    head -c 500 a.npy >&7
    await grep -qE '"event":"(retried|quarantined)"' watched/run.journal
    tail -c +501 a.npy >&7
    exec 7>&-
    await has_answer
    kill -TERM $service
    wait $service
    grep -q '"event":"done"' watched/run.journal && break
done
says watched.err "found a bad file that was changed less than a second ago, expected a complete one"
[ "$(grep -c '"event":"done"' watched/run.journal)" = 1 ] || fail "the slow file was not computed once: $(cat watched.err)"
digest=$(sha256sum watched/slow.hits.npy)
says watched/run.journal "\"output_digest\":\"${digest%% *}\""

# A worker is killed while it holds a file. A neighbour on this machine takes the file over long before the lease ends.
rm -rf in
mkdir in
cp a.npy in/a.steps.npy
expect 137 "$ICESTREAM" run -s source.directory=in -s source.lease=86400 -s sink.directory=killed \
    -s "sink.command=[$(command -v bash), -c, 'kill -9 \$PPID']"
is_missing in/a.steps.npy
expect 0 "$ICESTREAM" run -s source.directory=in -s source.lease=86400 -s sink.directory=killed
says err "0 files done, 1 skipped"
is_there in/a.steps.npy
finish
