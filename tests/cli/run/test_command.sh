#!/usr/bin/env bash
# Promise: a sink.command that fails is an error that stays: in the log, the journal, the summary, the exit status
# and `icestream status`. It is tried again, also by later runs, and nothing is moved or deleted before it has
# succeeded. To join: `run_with SCRIPT ARGUMENTS...` runs with a sink.command that executes the script, with the
# path of the hit file as $1.
# The shell of sink.command expands the scripts in single quotes, and `expect` calls run_with.
# shellcheck disable=SC2016,SC2317
source "$(dirname "$0")/../common.bash"

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
says out "shipping or sink.command has not succeeded for 1" "command_failed:"
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
# command.
rm -f called
expect 137 run_with 'kill -9 $PPID' -s source.files=a.steps.npy -s sink.directory=killed
expect 0 run_with 'echo "$1" >>called' --resume -s source.files=a.steps.npy -s sink.directory=killed
[ "$(wc -l <called)" = 1 ] || fail "the command was not started once after a kill: $(cat called)"

# A run that waits for files tries as long as it lasts. A signal ends it, and the step file is given back.
cp a.steps.npy in/c.steps.npy
"$ICESTREAM" run -s "sink.command=[$(command -v false)]" -s source.directory=in -s source.watch=true \
    -s sink.directory=watched 2>watched.err &
service=$!
await test -e watched/run.journal
await grep -q '"event":"retried"' watched/run.journal
kill -USR1 $service
await grep -q "1 file in, 0 out, sink.command failed for 1" watched.err
kill -TERM $service
wait $service
[ $? = 143 ] || fail "the exit status of a terminated service is not 143"
is_there in/c.steps.npy
is_there watched/c.hits.npy.command
says watched.err "0 files done, 0 skipped, 0 quarantined, 1 left (for 1 only sink.command has not succeeded)"
journal_has watched given_back
expect 0 "$ICESTREAM" status watched
says out "shipping or sink.command has not succeeded for 1, which are not done" "1 claimed, 1 computed" "0 in work"

# A time limit ends a run also if a program does not end, and does not obey SIGTERM.
expect 75 timeout -s KILL 60 "$ICESTREAM" run --time-limit 1 -s source.files=a.steps.npy -s sink.directory=asleep \
    -s "sink.command=[$(command -v bash), -c, 'trap \"\" TERM; while :; do sleep 1; done']"
says err "0 files done, 0 skipped, 0 quarantined, 1 left (for 1 only sink.command has not succeeded)"
is_there asleep/a.hits.npy.command

# The program is looked for before anything is computed: from the folder of the file that names it, in PATH, or absolute.
mkdir -p conf/bin elsewhere folder
cat >conf/run.yaml <<'END'
source: { files: ../a.steps.npy }
sink:
  directory: ../found
  command: [./ship.sh]
END
for command in run validate; do
    expect 2 "$ICESTREAM" $command conf/run.yaml
    says err "conf/run.yaml:4:12: error: sink.command: found './ship.sh', which is $PWD/conf/./ship.sh: No such file or directory; expected a program"
    expect 2 "$ICESTREAM" $command conf/run.yaml -s 'sink.command=[nothere-at-all]'
    says err "--set sink.command: error: sink.command: found 'nothere-at-all', and no folder of PATH has such a program ($PATH)"
    refuses 2 "found '$PWD/folder', Is a directory; expected a program" $command conf/run.yaml -s "sink.command=[$PWD/folder]"
    echo text >conf/plain
    refuses 2 "which is $PWD/./conf/plain: Permission denied; expected a program" $command conf/run.yaml -s 'sink.command=[./conf/plain]'
done
is_missing found
printf '#!%s\necho "$0 $1" >>%s/called.by\n' "$(command -v bash)" "$PWD" >conf/ship.sh
chmod +x conf/ship.sh
cp conf/ship.sh conf/bin/ship-in-path
(cd elsewhere && expect 0 "$ICESTREAM" run -q ../conf/run.yaml)
says called.by "$PWD/elsewhere/../conf/./ship.sh ../conf/../found/a.hits.npy"
# Default paths are in the folder of the file, as if it named them; without a file they are in the current folder.
mkdir -p conf/steps
cp a.steps.npy conf/steps/standard.steps.npy
echo 'run: { seed: 3 }' >conf/defaults.yaml
expect 0 "$ICESTREAM" run -q conf/defaults.yaml
[ -s conf/hits/standard.hits.npy ] || fail "no conf/hits/standard.hits.npy"
echo 'sink: { directory: hits }' >>conf/defaults.yaml
expect 74 "$ICESTREAM" run -q conf/defaults.yaml # the same file
says err "conf/hits/standard.hits.npy: already exists"
is_missing hits
(cd conf && expect 0 "$ICESTREAM" run -q -s sink.name=here.hits.npy)
[ -s conf/hits/here.hits.npy ] || fail "no conf/hits/here.hits.npy"
expect 0 env PATH="$PWD/conf/bin:$PATH" "$ICESTREAM" run -q conf/run.yaml -s 'sink.command=[ship-in-path]' -s sink.directory=path
says called.by "$PWD/conf/bin/ship-in-path path/a.hits.npy"
expect 0 "$ICESTREAM" run -q conf/run.yaml -s 'sink.command=[conf/ship.sh]' -s sink.directory=set
says called.by "$PWD/conf/ship.sh set/a.hits.npy"
# The printed configuration means the same in another folder.
(cd elsewhere && "$ICESTREAM" validate ../conf/run.yaml --print-effective >../printed.yaml 2>/dev/null)
says printed.yaml "command: [\"$PWD/elsewhere/../conf/./ship.sh\"]"
finish
