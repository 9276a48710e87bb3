#!/usr/bin/env bash
# Promise: an array of configs/sites/slurm-array.sh with configs/sites/queue.yaml computes all tickets of a queue, although its
# tasks share no folder, are preempted and reach their time limit. No step file is computed twice, except what was being
# shipped when its task was preempted; all hit files equal those of one undisturbed run, and no log or job has the password.
#
#   slurm_queue.sh ICESTREAM [FILES [TASKS [PREEMPTIONS]]]
#
# It needs a redis-server, too. To join: another way in which tasks end.
# shellcheck disable=SC2317 # functions are called through `within`
# shellcheck source=tests/sites/slurm_cluster.bash
source "$(dirname "$0")/slurm_cluster.bash"
FILES=${2:-48} TASKS=${3:-3} PREEMPTIONS=${4:-1}
CPUS=2
SECRET=known-secret-of-the-queue
command -v redis-server >/dev/null || skip "redis-server is missing (scripts/setup.sh test)"

# ---- a queue -------------------------------------------------------------------------------------

start_broker() {
    port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
    queue=redis://127.0.0.1:$port/ice
    mkdir broker
    printf 'port %s\nbind 127.0.0.1\nsave ""\nappendonly yes\ndir "%s"\nlogfile log\nrequirepass %s\n' \
        "$port" "$FOLDER/broker" "$SECRET" | redis-server - >/dev/null &
    broker=$!
    trap 'kill "$broker"; stop_cluster' EXIT
    (umask 077 && echo "$SECRET" >secret)
    await "$ICESTREAM" status --password secret "$queue" >/dev/null 2>&1
}

# Sets the numbers of tickets that are done, dead, waiting and in work.
count() {
    "$ICESTREAM" status --json --password secret "$queue" >status.json 2>/dev/null || return
    read -r DONE DEAD WAITING WORK < <(python3 -c 'import json
status = json.load(open("status.json"))
print(status["done"], status["dead"], status["waiting"], status["in_work"])')
}

done_or_ended() {
    count && { [ "$DONE" -ge "$1" ] || has_ended "$job"; }
}

works_or_ended() {
    count && { [ "$WORK" -ge 1 ] || has_ended "$job"; }
}

count_preempted() {
    cat log-* | grep -c 'DUE TO PREEMPTION'
}

mkdir steps store node
steps=$(steps_per_file)
[ "${steps:-0}" -gt 0 ] || { fail "no rate: $(cat err)"; finish; }
for ((i = 0; i < FILES; ++i)); do
    expect 0 "$ICESTREAM" generate -s workload.steps="$steps" -s workload.event="$i" -o "steps/$i.steps.npy"
done
expect 0 "$ICESTREAM" run -q -s 'source.files=[steps/*.steps.npy]' -s sink.directory=reference
start_broker
expect 0 "$ICESTREAM" put steps/*.steps.npy --queue "$queue" --password secret --embed 64000000
start_cluster "$CPUS" 'PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF'

# A task works for 5 s at most each time that it is queued, because the last 55 s of its minute are the margin.
export ICESTREAM ICESTREAM_MARGIN=55 ICESTREAM_LOCAL=$FOLDER/node
if ! job=$(sbatch --parsable --chdir=/ --partition=low --array=0-$((TASKS - 1)) --time=1 --cpus-per-task=1 \
    --output="$FOLDER/log-%A_%a" "$ARRAY" "${ARRAY%/*}/queue.yaml" --set "source.queue=$queue" \
    --set "source.queue_password=$FOLDER/secret" --set source.lease=5 --set graph.batch=2000 \
    --set "source.fetch=[]" --set "sink.ship=[]" --set "sink.url=file://$FOLDER/store/{name}"); then
    fail "cannot submit the array"
    finish
fi
for ((i = 1; i <= PREEMPTIONS; ++i)); do
    within 300 done_or_ended $((i * FILES / (2 * PREEMPTIONS + 1))) || fail "$DONE tickets are done: $(cat log-*)"
    # A job that comes between two starts of the tasks preempts none. Then another one comes.
    for ((try = 0; try < 5 && $(count_preempted) < i; ++try)); do
        within 60 works_or_ended || fail "no task works: $(cat log-*)"
        other=$(sbatch --parsable --chdir="$FOLDER" --partition=high --cpus-per-task="$CPUS" --output=/dev/null --wrap 'sleep 1')
        ends "$other"
    done
done
scontrol show job "$job" >shown
ps -e -o args= >>shown
ends "$job"

cat log-"${job}"_* >all
for ((task = 0; task < TASKS; ++task)); do
    [ "$(field "${job}_$task" ExitCode)" = 0:0 ] || fail "task $task: $(field "${job}_$task" ExitCode)"
done
preempted=$(grep -c 'DUE TO PREEMPTION' all)
again=$(grep -c 'exit status 75' all)
[ "$preempted" -ge "$PREEMPTIONS" ] || fail "$preempted tasks were preempted, expected $PREEMPTIONS or more"
[ "$again" -ge 1 ] || fail "no task reached its time limit"
count
[ "$DONE $DEAD $WAITING $WORK" = "$FILES 0 0 0" ] ||
    fail "found $DONE tickets done, $DEAD dead, $WAITING waiting and $WORK in work, expected $FILES done"
for ((i = 0; i < FILES; ++i)); do
    same "reference/$i.hits.npy" "store/$i.hits.npy"
done
computed=$(cat node/*/hits/run.journal | grep -c '"event":"done"')
# Slurm sends SIGTERM to all processes of a job, so a program that ships a hit file ends, too.
unshipped=$(grep -c 'is left unfinished: ' all)
if [ "$computed" -lt "$FILES" ] || [ "$computed" -gt $((FILES + unshipped)) ]; then
    fail "$computed hit files were made, expected $FILES, and at most $unshipped more"
fi
stay=$(find node -name '*.hits.npy' | wc -l)
[ "$stay" -le "$unshipped" ] || fail "$stay hit files stay on the node, expected at most $unshipped"
if grep -rqF -e "$SECRET" shown all node; then
    fail "a log, a job or a list of processes has the password"
fi
[ "$FAILURES" -eq 0 ] || cat all
echo "$FILES tickets by $TASKS tasks: $preempted starts were preempted, $again reached the time limit, $((computed - FILES)) files were" \
    "made twice"
finish
