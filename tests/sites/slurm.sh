#!/usr/bin/env bash
# Promises: the array of configs/sites/slurm-array.sh computes every step file once, although its tasks end
# early, are killed or are cancelled. To join: submit another configuration and check how its tasks end.
# shellcheck disable=SC2317 # functions are called through `within`
# shellcheck source=tests/sites/slurm_cluster.bash
source "$(dirname "$0")/slurm_cluster.bash"

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
