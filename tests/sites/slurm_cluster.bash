# shellcheck shell=bash
# For tests in a real Slurm, which this file starts in the folder of the test: munge, controller and one node. It needs root
# and the packages of `scripts/setup.sh sites`; without them the test is skipped. To join: source this file with the program
# as $1, and call start_cluster.
# shellcheck disable=SC2317 # functions are called through `within` and `trap`
ARRAY=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../configs/sites/slurm-array.sh")
# shellcheck source=tests/cli/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/../cli/common.bash"

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

# start_cluster CPUS [LINES]: starts a Slurm whose node has this number of CPUs. LINES of slurm.conf replace its partition.
start_cluster() {
    local host ports partitions=${2:-PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE State=UP}
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
$partitions
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
