#!/bin/bash
#SBATCH --job-name=icestream
#SBATCH --array=0-7
#SBATCH --time=01:00:00
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
# The tasks of this array share one folder of step files, or a queue: each task claims the next free file.
#
#   sbatch slurm-array.sh CONFIG [OPTIONS of icestream run ...]
#
# CONFIG names source.directory, on a file system that all nodes can access, or source.queue (queue.yaml); source.watch is
# false. A task ends when no file is left to claim. Before the time limit of its job a task writes what is
# finished, gives the other files back to the folder or the queue, and is queued again. Options of sbatch override
# those above; with GPUs: sbatch --gres=gpu:1 slurm-array.sh CONFIG. docs/sites.md has the details.
#
# ICESTREAM           the program [default: icestream]
# ICESTREAM_MARGIN    time (s) between the end of the work and the time limit of the job [default: 120]
# ICESTREAM_REQUEUES  how often a task may be queued again [default: 20]
# ICESTREAM_LOCAL     a folder on the node, such as /tmp: each task has its own sink.directory and its summary there. It is for
#                     queues, whose tasks share no folder. CONFIG ships the hit files (sink.url)
# ICESTREAM_JOURNALS  a folder, usually sink.directory: each task writes its own journal there (needed on NFS)
set -uo pipefail

icestream=${ICESTREAM:-icestream}
margin=${ICESTREAM_MARGIN:-120}
requeues=${ICESTREAM_REQUEUES:-20}
restarts=${SLURM_RESTART_COUNT:-0}
# SLURM_JOB_ID may name the last task of an array, or all its tasks. This name means only this task.
task=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}

log() {
    echo "slurm-array.sh: $*" >&2
}

if (($# < 1)) || [[ -z $task ]]; then
    log "usage: sbatch slurm-array.sh CONFIG [OPTIONS of icestream run ...]"
    exit 2
fi

# Prints when Slurm ends the job (s since 1970), or nothing if the job has no time limit.
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
    log "Slurm does not report when job $task ends"
    exit 1
}
limit=()
if [[ -n $end ]]; then
    left=$((end - $(date +%s) - margin))
    if ((left < 1)); then
        log "the job's time limit is not longer than ICESTREAM_MARGIN, $margin s: nothing was done"
        exit 2
    fi
    limit=(--time-limit "$left")
fi

# Each start has another name. If the previous start died with its node, this one can begin at once: it need
# not wait until the lease of the old name expires.
worker=slurm-$task-$restarts
settings=(--set "source.worker=$worker")
summary=summary-$worker.json
if [[ -n ${ICESTREAM_LOCAL:-} ]]; then
    # A task that is queued again on the same node continues in its folder.
    local_folder=$ICESTREAM_LOCAL/icestream-$task
    # A folder of this name that is not ours may lead elsewhere.
    if ! (umask 077 && mkdir -p "$local_folder") || [[ -L $local_folder || ! -O $local_folder ]]; then
        log "$local_folder: expected a folder of this user, which ICESTREAM_LOCAL names"
        exit 74
    fi
    settings+=(--set "sink.directory=$local_folder/hits")
    summary=$local_folder/$summary
fi
[[ -z ${SLURM_CPUS_PER_TASK:-} ]] || settings+=(--set "device.threads=$SLURM_CPUS_PER_TASK")
[[ -z ${ICESTREAM_JOURNALS:-} ]] ||
    settings+=(--set "sink.journal=$ICESTREAM_JOURNALS/run.journal.$worker")

# scancel and preemption send SIGTERM to this shell and to icestream. The shell waits for it.
trap 'terminated=yes' TERM
terminated=no
"$icestream" run --resume "${limit[@]}" --summary "$summary" "${settings[@]}" "$@" &
child=$!
status=0
wait "$child" || status=$?
while kill -0 "$child" 2>/dev/null; do
    status=0
    wait "$child" || status=$?
done
log "$worker: exit status $status"

case $status in
75 | 134 | 137 | 139) ;; # work is left (75), or the run crashed or was killed, for example because of too little memory
*) exit "$status" ;;
esac
if [[ $terminated == yes ]]; then
    exit "$status"
fi
if ((restarts >= requeues)); then
    log "was queued again $restarts times, which is as often as ICESTREAM_REQUEUES allows"
    exit "$status"
fi
scontrol requeue "$task" || exit "$status"
# Slurm ends this shell while it sleeps. If the shell ended first, its exit status would count.
sleep 60
exit "$status"
