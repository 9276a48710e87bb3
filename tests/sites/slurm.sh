#!/usr/bin/env bash
# Promises: the array of configs/sites/slurm-array.sh computes every step file once, although its tasks end
# early, are killed or are cancelled. It starts a real Slurm in its folder: munge, controller and one node. This needs root
# and the packages of `scripts/setup.sh sites`; without them the test is skipped.
# To join: submit another configuration and check how its tasks end.
# shellcheck disable=SC2317 # functions are called through `within` and `trap`
ARRAY=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs/sites/slurm-array.sh")
# shellcheck source=tests/cli/common.bash
source "$(dirname "$0")/../cli/common.bash"

for program in munged slurmctld slurmd sbatch python3; do
    command -v "$program" >/dev/null || skip "$program is missing (scripts/setup.sh sites)"
done
[ "$EUID" -eq 0 ] || skip "starting a Slurm needs root"

stop_cluster() {
    local name pids=()
    for name in slurmd slurmctld munged; do
        [ ! -s "$FOLDER/$name.pid" ] || pids+=("$(cat "$FOLDER/$name.pid")")
    done
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    for name in "${pids[@]}"; do
        # The daemons write their state into the folder when they end.
        timeout 30 tail --pid="$name" -f /dev/null
    done
    rm -rf "$FOLDER"
}
trap stop_cluster EXIT

# within SECONDS COMMAND...: repeats the command until it succeeds; fails after this time.
within() {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.2
    done
}

is_idle() {
    [ "$(sinfo --noheader --format %T 2>/dev/null | sort -u)" = idle ]
}

# start_cluster CPUS: starts a Slurm whose node has this number of CPUs.
start_cluster() {
    local host ports
    host=$(hostname -s)
    ports=$(python3 -c 'import socket
free = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*(each.getsockname()[1] for each in free))')
    mkdir munge state spool
    # munged checks the permissions of the folder of its socket.
    chmod 755 "$FOLDER" munge
    (umask 077 && head -c 128 /dev/urandom >munge/key)
    munged --force --key-file="$FOLDER/munge/key" --socket="$FOLDER/munge/socket" \
        --pid-file="$FOLDER/munged.pid" --log-file="$FOLDER/munge/log" \
        --seed-file="$FOLDER/munge/seed" || fail "munged does not start"
    # cred_expire: how long (s) a job that is queued again waits.
    cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
AuthType=auth/munge
AuthInfo=socket=$FOLDER/munge/socket,cred_expire=5
StateSaveLocation=$FOLDER/state
SlurmdSpoolDir=$FOLDER/spool
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmdPidFile=$FOLDER/slurmd.pid
SlurmctldLogFile=$FOLDER/slurmctld.log
SlurmdLogFile=$FOLDER/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=2,bf_interval=2
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$1 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$FOLDER/slurm.conf
    slurmctld -c || fail "slurmctld does not start"
    slurmd || fail "slurmd does not start"
    within 120 is_idle || {
        fail "the node does not become idle"
        tail -n 20 slurmctld.log slurmd.log
        finish
    }
}

has_ended() {
    ! squeue --noheader --jobs "$1" --states all --format %T |
        grep -qvE 'COMPLETED|FAILED|CANCELLED|TIMEOUT'
}

# ends JOB: waits until all its tasks have ended.
ends() {
    within 400 has_ended "$1" || {
        fail "job $1 does not end"
        squeue --jobs "$1" --states all
        tail -n 20 log-"$1"_* slurmctld.log slurmd.log
        finish
    }
}

# field JOB NAME: prints a field of what Slurm reports about the job.
field() {
    scontrol show job "$1" | grep -oE "\\b$2=[^ ]*" | cut -d= -f2
}

# Prints the number of steps that a thread computes in 0.4 s of CPU time. A task works for 5 s each time that it is queued, so
# on a machine that is twelve times slower it still computes one file.
steps_per_file() {
    local TIMEFORMAT=%U seconds
    expect 0 "$ICESTREAM" generate -s workload.steps=5000 -o trial.steps.npy
    seconds=$( { time "$ICESTREAM" run -q -s source.files=trial.steps.npy -s device.threads=1 \
        -s graph.batch=2000 -s sink.directory=trial 2>err; } 2>&1)
    awk -v seconds="$seconds" 'BEGIN { if (seconds > 0) print int(0.4 * 5000 / seconds) }'
}

FILES=60
TASKS=2

# ---- jobs ----------------------------------------------------------------------------------------

# submit CONFIG ARRAY OPTIONS...: submits an array and sets `job`. A task has a minute; the last 55 s of it are
# the margin, so a task works for 5 s at most each time that it is queued.
submit() {
    local config=$1 array=$2
    shift 2
    if ! job=$(sbatch --parsable --chdir="$FOLDER" --array="$array" --time=1 --cpus-per-task=1 \
        --output="$FOLDER/log-%A_%a" "$@" "$ARRAY" "$config" --log json); then
        fail "cannot submit $config"
        finish
    fi
}

nothing_is_claimed() {
    [ -z "$(find "$1/.icestream/claimed" -name '*.steps.npy' 2>&1)" ]
}

config() {
    cat >"$1.yaml" <<END
source: { directory: $1, watch: $2, lease: $3 }
sink: { directory: $1-hits }
graph: { batch: 2000 }
END
}

mkdir shared waiting endless
steps=$(steps_per_file)
[ "${steps:-0}" -gt 0 ] || { fail "no rate: $(cat err)"; finish; }
for ((i = 0; i < FILES; ++i)); do
    expect 0 "$ICESTREAM" generate -s workload.steps="$steps" -s run.seed=$i \
        -o "shared/$(printf %03d $i).steps.npy"
done
start_cluster $TASKS
export ICESTREAM ICESTREAM_MARGIN=55

# 1. All files are done, once each. A task has time for some of them only: it is queued again and
# goes on.
config shared false 60
ICESTREAM_JOURNALS=shared-hits submit shared.yaml 0-$((TASKS - 1))
ends "$job"
for task in $(seq 0 $((TASKS - 1))); do
    ended=$(field "${job}_$task" ExitCode)
    [ "$ended" = 0:0 ] || fail "task $task: $ended"
    [ "$(grep 'exit status' "log-${job}_$task" | tail -n 1 | grep -c 'exit status 0')" = 1 ] ||
        fail "task $task does not end with 0"
done
cat log-"${job}"_* >all
again=$(grep -c 'exit status 75' all)
[ "$again" -ge 1 ] || fail "no task reached its time limit"
grep -q "slurm-${job}_[0-9]*-1: exit status" all || fail "no task was queued again"
for ((i = 0; i < FILES; ++i)); do
    name=$(printf %03d $i)
    expect 0 "$ICESTREAM" info --verify "shared-hits/$name.hits.npy"
    done=$(cat shared-hits/run.journal* | grep -c "\"event\":\"done\".*$name.hits.npy")
    [ "$done" = 1 ] || fail "$name.steps.npy was done $done times"
done
[ "$(find shared-hits -name '*.hits.npy*' | wc -l)" = "$FILES" ] || fail "$(ls shared-hits)"
[ ! -e shared-hits/run.journal ] || fail "the tasks share a journal"
expect 0 "$ICESTREAM" status shared-hits
says out "$FILES computed, 0 skipped, 0 quarantined, 0 failed"
nothing_is_claimed shared || fail "claims are left: $(ls -R shared/.icestream/claimed)"
[ "$FAILURES" -eq 0 ] || grep -vE '"event":"(claimed|done)"' all
echo "$FILES files by $TASKS tasks, which were queued again $again times"

# 2. A task is not queued again for ever: its one file needs more time than the task has each time.
config endless false 5
expect 0 "$ICESTREAM" generate -s workload.steps=$((100 * steps)) -o endless/large.steps.npy
ICESTREAM_REQUEUES=1 submit endless.yaml 0
ends "$job"
[ "$(field "${job}_0" ExitCode)" = 75:0 ] || fail "a file without end: $(field "${job}_0" ExitCode)"
[ "$(grep -c 'exit status 75' "log-${job}_0")" = 2 ] || fail "it was not queued again once"
says "log-${job}_0" "was queued again 1 times, which is as often as ICESTREAM_REQUEUES allows"

# 3. A task that is killed, for example because it needs too much memory, is queued again and continues. A task
# that is cancelled returns its claims and is not queued again.
config waiting true 5
put_file() {
    expect 0 "$ICESTREAM" generate -s workload.steps=100 -o "waiting/$1.steps.npy"
    within 180 test -e "waiting-hits/$1.hits.npy" || fail "no hits of $1: $(cat "log-${job}_0")"
}
unset ICESTREAM_MARGIN
submit waiting.yaml 0 --time=60
put_file first
kill -KILL "$(grep '"event":"start"' waiting-hits/run.journal | tail -n 1 |
    grep -oE '"pid":[0-9]+' | cut -d: -f2)"
put_file second
says "log-${job}_0" "slurm-${job}_0-0: exit status 137"
# If it was killed between the hit file and the end of the claim, its lease has to expire.
within 180 nothing_is_claimed waiting || fail "claims are left: $(ls -R waiting/.icestream)"
scancel "$job"
ends "$job"
[ "$(field "${job}_0" JobState)" = CANCELLED ] || fail "cancelled: $(field "${job}_0" JobState)"
within 60 grep -q "slurm-${job}_0-1: exit status 143" "log-${job}_0" || fail "$(cat "log-${job}_0")"
nothing_is_claimed waiting || fail "claims are left: $(ls -R waiting/.icestream)"

# 4. If the margin leaves no time to work, the task reports this.
export ICESTREAM_MARGIN=100
submit waiting.yaml 0
ends "$job"
[ "$(field "${job}_0" ExitCode)" = 2:0 ] || fail "too short: $(field "${job}_0" ExitCode)"
says "log-${job}_0" "is not longer than ICESTREAM_MARGIN, 100 s"
finish
