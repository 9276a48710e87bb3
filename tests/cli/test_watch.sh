#!/usr/bin/env bash
# Step files claimed from a folder while the run lasts: once and for all, bad ones set aside, what
# was stopped goes on.
source "$(dirname "$0")/common.bash"

make_steps() {
    expect 0 "$ICESTREAM" generate -s run.seed="$1" -s workload.event="$1" -s workload.steps=100 \
        -o "$2"
}

# What a list of files gives is what a folder has to give.
mkdir in steps
for seed in 1 2 3; do
    make_steps $seed steps/$seed.steps.npy
done
expect 0 "$ICESTREAM" run -q -s sink.directory=expected
cp steps/1.steps.npy steps/2.steps.npy in
echo nonsense >in/bad.steps.npy
expect 3 "$ICESTREAM" run -s source.directory=in
says err "in/bad.steps.npy: byte 0: found no .npy magic string" "1 of 3 files set aside"
for seed in 1 2; do
    cmp expected/$seed.hits.npy hits/$seed.hits.npy || fail "$seed differs"
done
grep -q "found no .npy magic string" hits/quarantine/bad.steps.npy.reason || fail "no reason"
cmp -s in/1.steps.npy steps/1.steps.npy || fail "the step file was not kept"

# Once more there is nothing to do; where the hits are gone they are made again.
expect 0 "$ICESTREAM" run -s source.directory=in
says err "0 files done"
rm hits/2.hits.npy
expect 0 "$ICESTREAM" run -s source.directory=in
says err "1 file done"
cmp expected/2.hits.npy hits/2.hits.npy || fail "2 differs"

# Hits of other settings stay.
expect 3 "$ICESTREAM" run -s source.directory=steps -s run.seed=7 -s source.after=keep
says err "found hits of another input or of other settings in hits/1.hits.npy"
cmp expected/1.hits.npy hits/1.hits.npy || fail "1 was replaced"

# A service: files come while it runs; a signal ends it, another program hears of every file.
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
await grep -q "1 files in, 1 out" service.err
kill -TERM $service
wait $service && fail "a service that was terminated says 0"
[ $? = 143 ] || fail "a service that was terminated does not say 143"
cmp expected/3.hits.npy served/3.hits.npy || fail "3 differs"
grep -q 'icestream_files_total{result="done"} 1' numbers || fail "no metrics"
expect 0 "$ICESTREAM" status served
says out "1 done"

# The time limit, and the exit status that a batch system wants.
expect 75 "$ICESTREAM" run -q --time-limit 1 -s source.directory=live -s source.watch=true \
    -s sink.directory=served
expect 85 "$ICESTREAM" run -q --time-limit 1 --unfinished-exit 85 -s source.directory=live \
    -s source.watch=true -s sink.directory=served
finish
