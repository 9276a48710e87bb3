#!/usr/bin/env bash
# Promises: every command whose reader has gone ends without a word and without a signal: with exit status 74, or 0
# if it wrote nothing more. Only a run says it, because hits are missing then. `icestream help COMMAND` is the help of every command, and no help has colours.
# To join: a new command gets a line in `lines`.
source "$(dirname "$0")/../common.bash"
I=$ICESTREAM

"$I" generate -s workload.steps=9 -o a.steps.npy 2>/dev/null
"$I" run -q "${WIDE[@]}" -s 'source.files=[a.steps.npy]'
AXES='[{name: r, from: 0, to: 100, bins: 10}]'
"$I" tabulate -s workload.steps=9 -s stages.tabulate=spherical -s "table.axes=$AXES" -o a.table.npy 2>/dev/null
printf 'source: {files: [a.steps.npy]}\ndevice: {backend: cpu}\ndetector: {oversize: 5}\n' >run.yaml
lines=(
    "run -q run.yaml -s sink.directory=-"
    "validate run.yaml"
    "info a.steps.npy hits/a.hits.npy"
    "status hits"
    "generate -s workload.steps=9 -o -"
    "compare run.yaml --schedules wavefront,monolithic"
    "trace run.yaml --hits hits/a.hits.npy -o -"
    "reweight hits/a.hits.npy --steps a.steps.npy --to ice.hole_ice=false -o -"
    "gradient hits/a.hits.npy --steps a.steps.npy -o -"
    "stages"
    "keys"
    "keys --json-schema"
    "geometry"
    "convert hits/a.hits.npy -"
    "plan run.yaml"
    "split run.yaml a.steps.npy --parts 2 -f -o part{part}.steps.npy"
    "put --help"
    "send --help"
    "tabulate -f -s workload.steps=9 -s device.backend=cpu -s stages.tabulate=spherical -o -"
    "table info a.table.npy"
    "merge -f hits/a.hits.npy -o merged.hits.npy"
    "bench -s workload.steps=2 --repeats 1 --schedules wavefront"
    "help"
    "help --bash"
    "help --zsh"
    "help --fish"
    "help --scdoc run"
    "convert --format csv hits/a.hits.npy -"
)
for line in "${lines[@]}"; do
    {
        (
            trap '' PIPE
            while printf x 2>/dev/null; do sleep 0.01; done # until the reader has gone
        )
        # shellcheck disable=SC2086 # the words of a line
        "$I" $line 2>quiet
        echo $? >status
    } | true
    status=$(cat status)
    [[ $status == 74 || $status == 0 ]] || fail "$line: exit status $status"
    if [[ $line == run* ]]; then
        says quiet "standard output: cannot write hits: Broken pipe" "0 of 1 files done, 1 left"
        continue
    fi
    ! grep -E "error|cannot|gone|Broken" quiet || fail "$line: not quiet"
    [[ $line == generate* || $status == 74 ]] || fail "$line: the closed pipe was not noticed"
done
commands=$("$I" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
    [[ $command == import || " ${lines[*]}" == *" $command"* ]] || fail "$command has no line in this test"
    expect 0 "$I" help "$command"
    cp out help.txt
    expect 0 "$I" "$command" --help
    same out help.txt
    ! grep -q $'\033' out || fail "colours in the help of $command"
done
finish
