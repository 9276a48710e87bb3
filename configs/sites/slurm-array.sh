#!/bin/bash
#SBATCH --job-name=icestream
#SBATCH --array=0-7
#SBATCH --time=01:00:00
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
# The tasks of this array share one folder of step files: each claims the next file that nobody has.
#
#   sbatch slurm-array.sh CONFIG [OPTIONS of icestream run ...]
#
# CONFIG names source.directory, on a file system that all nodes see, and source.watch is false. A
# task ends when no file is left to claim. Before the job's time is over it writes what is finished,
# gives the rest back to the folder and is queued again. Options of sbatch override those above;
# with GPUs: sbatch --gres=gpu:1 slurm-array.sh CONFIG. docs/sites.md tells the rest.
#
# ICESTREAM           the program (icestream)
# ICESTREAM_MARGIN    s between the end of the work and that of the job (120)
# ICESTREAM_REQUEUES  how often a task may be queued again (20)
# ICESTREAM_JOURNALS  the sink's folder: each task has a journal of its own there, as NFS wants it
set -uo pipefail

icestream=${ICESTREAM:-icestream}
margin=${ICESTREAM_MARGIN:-120}
requeues=${ICESTREAM_REQUEUES:-20}
restarts=${SLURM_RESTART_COUNT:-0}
# Of an array whose SLURM_JOB_ID is that of its last task, or of all tasks, this one alone.
task=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}

say() {
    echo "slurm-array.sh: $*" >&2
}

if (($# < 1)) || [[ -z $task ]]; then
    say "usage: sbatch slurm-array.sh CONFIG [OPTIONS of icestream run ...]"
    exit 2
fi

# Seconds since 1970 at which Slurm ends the job; nothing where it has no limit.
job_end() {
    local end=${SLURM_JOB_END_TIME:-}
    if [[ -z $end ]]; then
        end=$(squeue --noheader --jobs "$task" --format %e) || return
        [[ $end =~ ^(N/A|NONE|Unknown)$ ]] || end=$(date --date "$end" +%s) || return
    fi
    [[ $end =~ ^[0-9]+$ ]] && echo "$end"
    return 0
}

end=$(job_end) || {
    say "Slurm does not say when job $task ends"
    exit 1
}
limit=()
if [[ -n $end ]]; then
    left=$((end - $(date +%s) - margin))
    if ((left < 1)); then
        say "the job's time limit is not longer than ICESTREAM_MARGIN, $margin s: nothing was done"
        exit 2
    fi
    limit=(--time-limit "$left")
fi

# A name for each start: where the last one was killed with its node, its claims run out, and this
# one need not wait for that.
worker=slurm-$task-$restarts
settings=(--set "source.worker=$worker")
[[ -z ${SLURM_CPUS_PER_TASK:-} ]] || settings+=(--set "device.threads=$SLURM_CPUS_PER_TASK")
[[ -z ${ICESTREAM_JOURNALS:-} ]] ||
    settings+=(--set "sink.journal=$ICESTREAM_JOURNALS/run.journal.$worker")

# scancel and preemption send SIGTERM to this shell and to icestream. The shell waits for it.
trap 'terminated=yes' TERM
terminated=no
"$icestream" run --resume "${limit[@]}" --summary "summary-$worker.json" "${settings[@]}" "$@" &
child=$!
status=0
wait "$child" || status=$?
while kill -0 "$child" 2>/dev/null; do
    status=0
    wait "$child" || status=$?
done
say "$worker: exit status $status"

case $status in
75 | 134 | 137 | 139) ;; # work is left; or killed, for want of memory for example
*) exit "$status" ;;
esac
if [[ $terminated == yes ]]; then
    exit "$status"
fi
if ((restarts >= requeues)); then
    say "was queued again $restarts times, which is as often as ICESTREAM_REQUEUES allows"
    exit "$status"
fi
scontrol requeue "$task" || exit "$status"
# Slurm ends this shell. Its exit status would count if it came first.
sleep 60
exit "$status"
