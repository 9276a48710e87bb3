#!/usr/bin/env bash
# Promise: a sink.command that fails is an error that stays: in the log, the journal, the summary, the exit status
# and `icestream status`. It is tried again, also by later runs, and nothing is moved or deleted before it has
# succeeded. To join: `run_with SCRIPT ARGUMENTS...` runs with a sink.command that executes the script, with the
# path of the hit file as $1.
# The shell of sink.command expands the scripts in single quotes, and `expect` calls run_with.
# shellcheck disable=SC2016,SC2317
source "$(dirname "$0")/common.bash"

expect 0 "$ICESTREAM" generate -s workload.steps=5 -o a.steps.npy
expect 0 "$ICESTREAM" generate -s workload.steps=5 -s workload.event=2 -o b.steps.npy

run_with() {
    local script=$1
    shift
    "$ICESTREAM" run -s "sink.command=[$(command -v bash), -c, '$script', send]" "$@"
}

journal_has() {
    grep -q "\"event\":\"$2\"" "$1/run.journal" || fail "the journal of $1 has no event $2"
}

# Claimed step files: after delete. The command fails, so the step file stays.
mkdir in
cp a.steps.npy in
expect 74 run_with 'exit 3' --fail-fast -s source.directory=in -s source.after=delete -s sink.directory=claimed
says err "sink.command:" "claimed/a.hits.npy: exit status 3"
is_there in/a.steps.npy
is_there claimed/a.hits.npy.command
journal_has claimed command_failed
says claimed/summary.json '"exit_status": 74'
expect 0 "$ICESTREAM" status claimed
says out "sink.command has not succeeded for 1" "command_failed:"
expect 0 run_with 'echo "$1" >>called' -s source.directory=in -s source.after=delete -s sink.directory=claimed
says err "0 files done, 1 skipped"
says called claimed/a.hits.npy
is_missing in/a.steps.npy
is_missing claimed/a.hits.npy.command

# The command fails once for each file: the same run tries it again, and only then moves the step file.
cat >once.sh <<'END'
name=$(basename "$1" .hits.npy)
[ -e "in/.icestream/done/$name.steps.npy" ] && touch early
[ -e "tried.$name" ] || { touch "tried.$name"; exit 1; }
END
cp a.steps.npy b.steps.npy in
expect 0 "$ICESTREAM" run -s "sink.command=[$(command -v bash), once.sh]" -s source.directory=in -s source.after=move \
    -s sink.directory=moved
journal_has moved retried
is_missing early
is_there in/.icestream/done/a.steps.npy
is_there in/.icestream/done/b.steps.npy
says moved/summary.json '"command_failed": 0' '"retries": 2'

# Listed step files: --resume takes up what failed, and nothing else.
rm -f called
expect 74 run_with 'case "$1" in *a.hits.npy) exit 1 ;; esac' --fail-fast -s source.files=a.steps.npy \
    -s sink.directory=listed
says err "exit status 1"
expect 0 run_with 'echo "$1" >>called' --resume -s 'source.files=[a.steps.npy, b.steps.npy]' -s sink.directory=listed
expect 0 run_with 'echo "$1" >>called' --resume -s 'source.files=[a.steps.npy, b.steps.npy]' -s sink.directory=listed
[ "$(sort called)" = $'listed/a.hits.npy\nlisted/b.hits.npy' ] || fail "commands were called for: $(cat called)"

# A run that is killed after it has written the hits, and before the command has succeeded. The next run starts the
# command, for one hit file per step file and for volumes.
for rotate in off 1000000; do
    rm -f called
    expect 137 run_with 'kill -9 $PPID' -s source.files=a.steps.npy -s sink.rotate=$rotate -s sink.directory=killed$rotate
    expect 0 run_with 'echo "$1" >>called' --resume -s source.files=a.steps.npy -s sink.rotate=$rotate \
        -s sink.directory=killed$rotate
    [ "$(wc -l <called)" = 1 ] || fail "the command was not started once after a kill: $(cat called)"
done

# A run that waits for files tries as long as it lasts. A signal ends it, and the step file is given back.
cp a.steps.npy in/c.steps.npy
"$ICESTREAM" run -s "sink.command=[$(command -v false)]" -s source.directory=in -s source.watch=true \
    -s sink.directory=watched 2>watched.err &
service=$!
await test -e watched/run.journal
await grep -q '"event":"retried"' watched/run.journal
kill -TERM $service
wait $service
[ $? = 143 ] || fail "the exit status of a terminated service is not 143"
is_there in/c.steps.npy
is_there watched/c.hits.npy.command

# A program that does not exist is a failure like any other.
expect 74 "$ICESTREAM" run --fail-fast -s source.files=a.steps.npy -s 'sink.command=[./nothere]' -s sink.directory=none
says err "cannot be started: no such file or directory"
finish
