#!/usr/bin/env bash
# Promises: step files that are claimed from a folder during a run are computed once; bad ones are
# quarantined; a stopped run continues later; hits are those of a list of files.
# To join: put step files into a folder with make_steps and compare the hits with those of hits/.
source "$(dirname "$0")/../common.bash"

make_steps() {
    expect 0 "$ICESTREAM" generate -s run.seed="$1" -s workload.event="$1" -s workload.steps=100 \
        -o "$2"
}

# A folder has to give the same hits as a list of files.
mkdir in steps
for seed in 1 2 3; do
    make_steps $seed steps/$seed.steps.npy
done
expect 0 "$ICESTREAM" run -q -s sink.directory=expected
cp steps/1.steps.npy steps/2.steps.npy in
echo nonsense >in/bad.steps.npy
expect 3 "$ICESTREAM" run -s source.directory=in
says err "in/bad.steps.npy: byte 0: found no .npy magic string" "1 of 3 files quarantined"
for seed in 1 2; do
    cmp expected/$seed.hits.npy hits/$seed.hits.npy || fail "$seed differs"
done
grep -q "found no .npy magic string" hits/quarantine/bad.steps.npy.reason || fail "no reason"
cmp -s in/1.steps.npy steps/1.steps.npy || fail "the step file was not kept"

# A second run has nothing to do. Missing hit files are made again.
expect 0 "$ICESTREAM" run -s source.directory=in
says err "0 files done"
rm hits/2.hits.npy
expect 0 "$ICESTREAM" run -s source.directory=in
says err "1 file done"
cmp expected/2.hits.npy hits/2.hits.npy || fail "2 differs"

# Hit files of other settings are not overwritten.
expect 3 "$ICESTREAM" run -s source.directory=steps -s run.seed=7 -s source.after=keep
says err "found hits of another input or of other settings in hits/1.hits.npy"
cmp expected/1.hits.npy hits/1.hits.npy || fail "1 was replaced"

# A service: files arrive while it runs, sink.command is called for every file, and a signal ends it.
mkdir live
"$ICESTREAM" run -s source.directory=live -s source.watch=true -s source.after=move \
    -s sink.directory=served -s 'sink.command=[touch, called]' -s metrics.file=numbers \
    2>service.err &
service=$!
await test -e served/run.journal
make_steps 3 live/3.part
mv live/3.part live/3.steps.npy
await test -e served/3.hits.npy
await test -e called
await test -e live/.icestream/done/3.steps.npy
kill -USR1 $service
await grep -q "1 file in, 1 out" service.err
kill -TERM $service
wait $service && fail "the exit status of a terminated service is 0"
[ $? = 143 ] || fail "the exit status of a terminated service is not 143"
cmp expected/3.hits.npy served/3.hits.npy || fail "3 differs"
grep -q 'icestream_files_total{result="done"} 1' numbers || fail "no metrics"
prints "1 done" status served

# The time limit, and the exit status for batch systems: with work left, and when all files are done.
expect 0 "$ICESTREAM" generate -s workload.steps=200000 -o live/big.steps.npy
expect 75 "$ICESTREAM" run -q --time-limit 1 -s source.directory=live -s source.watch=true \
    -s sink.directory=served
says err "1 left"
expect 85 "$ICESTREAM" run -q --time-limit 1 --unfinished-exit 85 -s source.directory=live \
    -s source.watch=true -s sink.directory=served
rm live/big.steps.npy
expect 0 "$ICESTREAM" run --time-limit 1 --unfinished-exit 85 -s source.directory=live -s source.watch=true \
    -s sink.directory=served
says err "the time limit is reached" "0 left"
finish
