#!/usr/bin/env bash
# Promises: a header that crashes, calls itself without end or never returns is named, and a signal ends it: the first one before the photons, the
# second one in them. A line says that a compiler runs, once for each text of a header, and its time is no part of the speed.
# To join: a command that loads headers gets a line where the header never returns.
source "$(dirname "$0")/../common.bash"
command -v cc >/dev/null || skip "no C compiler"
export XDG_CACHE_HOME=$FOLDER/cache

cat >light.yaml <<'YAML'
ice: { model: uniform }
device: { instruction_set: baseline, backend: cpu, threads: 1 }
light: { spectra: [{ line: 400 }] }
workload: { kind: point, steps: 10, photons_per_step: 50 }
YAML

# header NAME STAGE STATEMENT: a header whose function does this first.
header() {
    local parameters='const ice_scatter_constants *constants, float u' rest='return ice_scatter_hg(constants, u);'
    if [ "$2" = propagate ]; then
        parameters='const ice_tables *tables, ice_segment_start start' rest='return ice_propagate_cumulative(tables, start);'
    fi
    printf '#include "stages/propagate_cumulative.h"\n#include "stages/scatter_hg.h"\nICE_FN %s ice_%s_custom(%s)\n{\n    %s\n    %s\n}\n' \
        "$([ "$2" = propagate ] && echo ice_segment || echo float)" "$2" "$parameters" "$3" "$rest" >"$1.h"
}
header good scatter 'if (u < 0) return 0;'
header crash scatter 'if (u > 0) return *(volatile float *)16;'
header loop scatter 'while (*(volatile const float *)&u > 0) { }'
header deep scatter 'if (u > 0) return deeper(u);'
header bottomless propagate 'start.scattering += deeper(0.5f);'
for name in deep bottomless; do
    sed -i '2a static float deeper(float u) { volatile float kept[99] = {u}; return deeper(kept[0] / 2) + kept[0]; }' $name.h
done
header late propagate 'while (*(volatile float *)&start.scattering >= 0) { }'

# A compiler runs: once.
expect 0 "$ICESTREAM" run light.yaml -s sink.directory=good/ -s 'stages.scatter={source: good.h}'
says err " compiles the kernels for stages.scatter: good.h;" 's of it for the compiler), ' 'hits: good/light.hits.npy'
seconds=$(sed -n 's/.* in \([0-9.]*\) s (.*/\1/p' err) speed=$(sed -n 's/.*), \([0-9]*\) photons\/s.*/\1/p' err)
python3 -c "import sys; sys.exit(not $speed > 2 * 500 / $seconds)" || fail "the compiler's time is in the speed: $(cat err)"
expect 0 "$ICESTREAM" run --force light.yaml -s sink.directory=good/ -s 'stages.scatter={source: good.h}'
grep -q compile err && fail "the same header is compiled again: $(cat err)"

# A compiler that leaves a program behind, as some caches do.
printf '#!/bin/sh\nsleep 3000 & echo $! >>%q\nexec cc "$@"\n' "$PWD/left" >leaves
chmod +x leaves
CC=$PWD/leaves expect 0 timeout 1000 "$ICESTREAM" run light.yaml -s sink.directory=behind/ -s 'stages.scatter={source: good.h}'
says err "leaves' compiles the kernels"
xargs kill <left

# --set takes a whole section, and of a name such as in//light.steps.npy one slash.
mkdir in
expect 0 "$ICESTREAM" generate light.yaml -o in/light.steps.npy
expect 0 "$ICESTREAM" run --force light.yaml -s source.directory=in/ -s sink.directory=good/ -s 'stages={scatter: {source: good.h}}'
says good/run.journal '"in/light.steps.npy"'
grep -q compile err && fail "the same header is compiled again: $(cat err)"

# A header that crashes: scatter is tried before the photons, in the first thread, propagate runs in threads of the device.
for crash in run:scatter:crash validate:scatter:crash run:scatter:deep run:propagate:bottomless; do
    IFS=: read -r command stage name <<<"$crash"
    status=0
    { "$ICESTREAM" "$command" light.yaml -s sink.directory=crash/ -s "stages.$stage={source: $name.h}" >out 2>err || status=$?; } \
        2>/dev/null
    [ $status -gt 128 ] || [ $status -eq 99 ] || fail "$crash: exit status $status after a crash"
    says err "error: the kernels crashed (SIGSEGV), and they have these headers of yours: stages.$stage: $name.h;" --verify
done

# stopped STATUS SIGNALS COMMAND...: starts the command, waits until $ready succeeds, and sends SIGTERM until it ends; it must
# end after this number of signals.
stopped() {
    local expected=$1 signals=$2 sent=0 status=0 process
    shift 2
    "$ICESTREAM" "$@" >out 2>err &
    process=$!
    await $ready
    sleep 1
    while kill -0 $process 2>/dev/null && [ $sent -lt "$signals" ]; do
        kill -TERM $process
        sent=$((sent + 1))
        sleep 1
    done
    await gone $process
    kill -KILL $process 2>/dev/null
    wait $process 2>/dev/null || status=$?
    [ $status -eq "$expected" ] || fail "$1: exit status $status instead of $expected after $sent signals"
}
# shellcheck disable=SC2317 # called through `await`
gone() {
    ! kill -0 "$1" 2>/dev/null
}
# shellcheck disable=SC2317
is_compiled() {
    compgen -G "cache/icestream/*.so" >/dev/null
}
# shellcheck disable=SC2317
is_running() {
    grep -q "device: cpu" err
}
ready=is_compiled
for command in run validate tabulate; do
    rm -rf cache
    more=()
    [ $command != tabulate ] || more=(-s stages.tabulate=spherical -o t.npy)
    stopped 143 1 $command light.yaml -s sink.directory=loop/ -s 'stages.scatter={source: loop.h}' "${more[@]}"
    says err 'kernels have not returned, and they have these headers of yours: stages.scatter: loop.h'
done
ready=is_running
stopped 143 2 run light.yaml -s sink.directory=late/ -s 'stages.propagate={source: late.h}'
says err 'cancelled by a second signal' 'kernels have not returned, and they have these headers of yours: stages.propagate: late.h'
is_missing late/light.hits.npy
finish
