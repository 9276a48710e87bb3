#!/usr/bin/env bash
# Promises: help, wrong command lines, configurations and files that do not exist get the messages and exit
# statuses of README.md.
# To join: a command is in the first loop by being listed in --help; checks of its options go to the part of
# this file that fits. Wrong command lines and damaged files belong to bad_inputs.py.
source "$(dirname "$0")/../common.bash"

prints "icestream 0." --version
prints "icestream 0." version
refuses 2 "unknown command rnu; did you mean run?" help rnu
# A low limit of open files is an error, not a signal; a limit that can be raised is raised.
for files in 8 14 31; do
    (ulimit -n $files && "$ICESTREAM" version) >out 2>err
    [ $? -eq 1 ] || fail "not an error with $files open files"
    says err "found a limit below 32 open files (ulimit -n), expected at least 32"
done
(ulimit -S -n 8 && "$ICESTREAM" version >out 2>err) || fail "the soft limit of files is not raised: $(cat err)"
# A small stack is an error, not a signal.
for size in 64 128; do
    (ulimit -s $size && "$ICESTREAM" version) >out 2>err
    [ $? -eq 1 ] || fail "not an error with a stack of $size kB"
    says err "found a stack limit below 256 kB (ulimit -s), expected at least 256 kB"
done
(ulimit -S -s 64 && "$ICESTREAM" version >out 2>err) || fail "the soft limit is not raised: $(cat err)"
(ulimit -s 512 && "$ICESTREAM" bench -s workload.steps=2 --repeats 1 >out 2>err) || fail "512 kB: $(cat err)"
expect 0 "$ICESTREAM" --help
says out "usage: icestream COMMAND" "run " "validate " "info " "generate " "compare " "stages " \
    "convert " "plan " "bench " "exit statuses:" "130  interrupted"
is_empty err
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
[ "$(wc -w <<<"$commands")" -ge 11 ] || fail "commands are missing: $commands"
for command in $commands; do
    expect 0 "$ICESTREAM" "$command" --help
    says out "usage: icestream $command" "--help"
    is_empty err
done

refuses 2 "expected FROM TO" convert one.npy
refuses 2 "device.threads: found '0', expected a whole number from 1 to 1024, or auto" generate --threads 0 -o a.steps.npy
for command in run validate plan compare bench; do
    expect 0 "$ICESTREAM" $command --help
    says out "--threads N" "--print-effective"
done
for command in "run" "generate" "plan" "compare" "trace" "bench"; do
    prints "  threads: 3" $command --print-effective --threads 3
done
refuses 2 "unknown option --print-config; did you mean --print-effective?" run --print-config
expect 0 "$ICESTREAM" generate --help
says out "--threads N" "short for --set device.threads=N; auto is one thread per core" \
    "[default: device.threads of CONFIG]" "The bytes are the same for"
expect 0 "$ICESTREAM" bench --help
says out "--repeats N" "[default: 3]" "--steps N" "short for --set workload.steps=N"
expect 0 "$ICESTREAM" trace --help
says out "--steps FILE" "the step file of the photons"
expect 0 "$ICESTREAM" generate --threads auto --set device.threads=2 --set workload.steps=9 -o - --force
is_empty err

refuses 2 "--repeats: found '0', expected a whole number from 1 to 1000000" bench --repeats 0
refuses 2 "--repeats: found '3x'" bench --repeats 3x
refuses 2 "--table: found 'html', expected md" bench --table html
expect 2 "$ICESTREAM" bench --workload cacsade
says err "workload.kind=cacsade" "did you mean 'cascade'?"
refuses 2 "detector.oversize: found '0'" bench --oversize 0
refuses 2 "found 'event-wavefront', expected schedules of the CPU" bench --set device.backend=cpu --schedules event-wavefront
refuses 2 "bench: found --repeats and --once" bench --repeats 3 --once
refuses 2 "bench: found --files and --steps, which is about generated steps; expected one of them" bench --files --steps 3
refuses 2 "--architecture: found 'sm_90', expected a whole number" plan --architecture sm_90

# The resources that a run needs, and its speed.
expect 0 "$ICESTREAM" plan --set device.backend=cpu --set device.threads=2
says out "2 threads" "wavefront, waves of 1024 photon slots of 116 bytes"
is_empty err
expect 0 "$ICESTREAM" bench --set device.backend=cpu --schedules monolithic --workload uniform \
    --counts shuffled --oversize 2 --steps 4 --photons 10 --repeats 1 --table md
says out "40 photons in 4 steps of workload uniform, oversize 2, on cpu; best of 1" "| monolithic |"
is_empty err
expect 0 "$ICESTREAM" bench --set device.backend=cpu --set workload.steps=2 --workload cascade \
    --schedules wavefront --repeats 1
says out "400 photons in 2 steps of workload cascade"

# Configuration.
refuses 2 "missing.yaml" run missing.yaml
refuses 2 "graph.schedule" run --set device.backend=cpu --set graph.schedule=event-wavefront
refuses 2 "graph.bounces_per_wave: found 4" validate --set device.backend=cpu --set graph.bounces_per_wave=4
prints "seed: 42" run --print-effective --set run.seed=42
is_empty err
expect 0 "$ICESTREAM" validate --set device.backend=cpu
says out "hex86" "south-pole-like" "wavefront"
is_empty err
prints "seed: 43" validate --print-effective --set run.seed=43
cp out effective.yaml
expect 0 "$ICESTREAM" run --print-effective effective.yaml
same out effective.yaml

# Files.
mkdir steps
expect 0 "$ICESTREAM" generate --set workload.steps=10 -o steps/a.steps.npy
is_empty out
expect 0 "$ICESTREAM" generate --set workload.steps=10 -o steps/a.steps.npy --force
rows steps/a.steps.npy 10

expect 0 "$ICESTREAM" run "${WIDE[@]}" --quiet
is_empty out
is_empty err
is_there hits/a.hits.npy
is_there hits/summary.json
expect 0 "$ICESTREAM" run "${WIDE[@]}" --resume
says err "1 skipped"
expect 0 "$ICESTREAM" run "${WIDE[@]}" --force --summary elsewhere.json
is_there elsewhere.json
says err "photons" "hits" "photons/s"
prints "hits" info hits/a.hits.npy --verify
echo "no steps" >steps/b.steps.npy
mkdir steps/c.steps.npy
expect 3 "$ICESTREAM" run "${WIDE[@]}" --resume
says err "steps/b.steps.npy:" "steps/c.steps.npy:" "2 of 3 files quarantined"
[ "$(grep -c b.steps.npy err)" -eq 1 ] || fail "steps/b.steps.npy is not named once"

expect 0 "$ICESTREAM" stages
says out "hg-sl" "{source: my_scatter.h}"
finish
