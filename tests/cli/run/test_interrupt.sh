#!/usr/bin/env bash
# Promises: after SIGINT, SIGTERM or SIGKILL a run with --resume continues and gives the same bytes.
# To join: call `interrupted` with another signal or moment and compare the hits with the reference.
source "$(dirname "$0")/../common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=500 -o steps/1.steps.npy
expect 0 "$ICESTREAM" generate -s workload.steps=15000 -s run.seed=2 -o steps/2.steps.npy
expect 0 "$ICESTREAM" generate -s workload.steps=500 -s run.seed=3 -o steps/3.steps.npy
settings=(-s graph.batch=20000 -s device.threads=2)
expect 0 "$ICESTREAM" run -q "${settings[@]}" -s sink.directory=reference

# interrupted STATUS SIGNAL TIMES FOLDER [PAUSE]: starts a run, waits for its first hit file, stops it.
interrupted() {
    local expected=$1 signal=$2 times=$3 folder=$4 pause=${5:-0.01} process status=0
    "$ICESTREAM" run "${settings[@]}" -s sink.directory="$folder" >out 2>err &
    process=$!
    while [ ! -e "$folder/1.hits.npy" ] && kill -0 $process 2>/dev/null; do
        sleep 0.02
    done
    while [ "$times" -gt 0 ] && kill -"$signal" $process 2>/dev/null; do
        times=$((times - 1))
        # Another process may be slow to start, so signals at the same time have none in between.
        [ "$pause" = 0 ] || sleep "$pause"
    done
    wait $process || status=$?
    [ $status -eq "$expected" ] || fail "$signal: exit status $status instead of $expected"
    is_there "$folder/1.hits.npy"
    same "$folder/1.hits.npy" reference/1.hits.npy
    is_missing "$folder/2.hits.npy"
}

continues() {
    expect 0 "$ICESTREAM" run "${settings[@]}" --resume -s sink.directory="$1"
    says err "2 files done, 1 skipped"
    for name in 1 2 3; do
        same "$1/$name.hits.npy" reference/$name.hits.npy
    done
    [ -z "$(find "$1" -name '*.part')" ] || fail "a .part is left in $1"
}

interrupted 130 INT 1 drained
says err "stopping" "interrupted: 1 of 3 files done, 2 left"
says drained/summary.json '"status": "interrupted"' '"left": 2'
[ -z "$(find drained -name '*.part')" ] || fail "a .part is left after SIGINT"
continues drained

# timeout(1) signals the process and its group: equal signals within half a second count as one.
interrupted 143 TERM 3 twice 0
says err "stopping" "terminated: 1 of 3 files done, 2 left"
grep -q "cancelled by a second signal" err && fail "signals at the same time cancel the run"
is_there twice/2.hits.npy.checkpoint
continues twice
says err "were computed before" "; with the checkpoint "

# A later signal cancels the run. The second step file is one batch of one thread, so that the run is not done before. On a
# busy machine signals may arrive closer together than they are sent, so they are sent until the run ends.
settings=(-s graph.batch=3000000 -s device.threads=1)
interrupted 143 TERM 100 abandoned 0.6
settings=(-s graph.batch=20000 -s device.threads=2)
says err "cancelled by a second signal" "since their last checkpoints is lost" "terminated: 1 of 3 files done, 2 left"
[ -z "$(find abandoned -name '*.part')" ] || fail "a .part is left after the second SIGTERM"
continues abandoned

interrupted 137 KILL 1 killed
continues killed

# Files that a run has not claimed are left, too: in the message, in the error of the summary and in its counts.
mkdir many
for i in {10..69}; do
    cp steps/2.steps.npy many/"$i".steps.npy
done
"$ICESTREAM" run "${settings[@]}" -s source.directory=many -s sink.directory=early 2>err &
process=$!
await test -e early/10.hits.npy
kill -TERM $process
wait $process
[ $? = 143 ] || fail "the status of a run that is terminated early"
done_files=$(find early -name '*.hits.npy' | wc -l)
left=$((60 - done_files))
says err "terminated: $done_files of 60 files done, $left left"
says early/summary.json "\"error\": \"terminated: $done_files of 60 files done, $left left\"" "\"left\": $left"
[ "$(find many -maxdepth 1 -name '*.steps.npy' | wc -l)" -ge "$left" ] || fail "step files are missing"

# A run that waits for input can be stopped.
mkfifo silent
sleep 60 >silent &
rm err
sleeper=$!
"$ICESTREAM" run -s source.files=- -s sink.directory=waiting <silent >out 2>err &
process=$!
await grep -qs "device: " err # a shell lets its background processes ignore SIGINT until they handle it
kill -INT $process
status=0
wait $process || status=$?
kill $sleeper
[ $status -eq 130 ] || fail "waiting for input: exit status $status instead of 130"

# So can a run that waits for the writer of a named pipe.
mkfifo unopened.csv
rm err
"$ICESTREAM" run -s particles.file=unopened.csv -s sink.directory=unopened >out 2>err &
process=$!
await grep -qs "device: " err
kill -INT $process
status=0
wait $process || status=$?
[ $status -eq 130 ] || fail "waiting for a writer: exit status $status instead of 130"
finish
