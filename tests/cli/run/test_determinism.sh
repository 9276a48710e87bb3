#!/usr/bin/env bash
# Promises: hit files are equal, byte for byte, for every schedule, for 1 and 2 threads, three batch sizes,
# five pool sizes and every instruction set of this machine.
# To join: a setting that must not change hits gets a row or a loop here.
source "$(dirname "$0")/../common.bash"

mkdir steps
expect 0 "$ICESTREAM" generate -s workload.steps=150 -s workload.counts=shuffled \
    -o steps/a.steps.npy
expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s sink.directory=reference
[ "$(row_count reference/a.hits.npy)" -gt 50 ] || fail "too few hits to compare"

sets=
for name in baseline avx2 avx512; do
    "$ICESTREAM" validate -s device.instruction_set=$name >/dev/null 2>&1 && sets="$sets $name"
done
echo "instruction sets:$sets"
case $sets in *baseline*) ;; *) fail "no baseline kernels" ;; esac

runs=0
for set in $sets; do
    for schedule in wavefront monolithic; do
        for threads in 1 2; do
            for batch in 173 5000 1000000; do
                for pool in 16 100 256 1000 20000; do
                    expect 0 "$ICESTREAM" run -q "${WIDE[@]}" --force -s sink.directory=hits \
                        -s device.instruction_set="$set" -s graph.schedule="$schedule" \
                        -s device.threads=$threads -s graph.batch=$batch -s graph.pool=$pool
                    cmp -s hits/a.hits.npy reference/a.hits.npy ||
                        fail "$set $schedule, $threads threads, batch $batch, pool $pool: differs"
                    runs=$((runs + 1))
                done
            done
        done
    done
done
echo "$runs runs"

# The cull of photons that cannot reach a module must not cost a hit; only the account may differ.
expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s sink.directory=culled -s graph.reach_cull=false
same_rows reference/a.hits.npy culled/a.hits.npy
# The comparison can fail: another seed gives other hits.
expect 0 "$ICESTREAM" run -q "${WIDE[@]}" -s sink.directory=other -s run.seed=2
cmp -s other/a.hits.npy reference/a.hits.npy && fail "another seed gives the same hits"
finish
