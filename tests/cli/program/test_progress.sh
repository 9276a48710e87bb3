#!/usr/bin/env bash
# Promises: on a terminal compare, bench, generate and trace show a line of progress like that of a run, and remove
# it before they print their result; into a file or a pipe they write no such line.
# To join: one more command is a line of the loop, with what its line begins with.
source "$(dirname "$0")/../common.bash"
has_terminals || exit 77

# Standard error is the terminal, and standard output a file. `expect` calls it, and sh expands its words.
# shellcheck disable=SC2016,SC2317
watched() { in_terminal sh -c '"$0" "$@" >printed' "$@"; }

cat >run.yaml <<'YAML'
device: { backend: cpu, threads: 2 }
ice: { model: uniform }
workload: { steps: 100, photons_per_step: 100 }
graph: { batch: 2000 }
YAML
erase=$'\r\033[K'
while IFS='|' read -r line command; do
    # shellcheck disable=SC2086 # words
    expect 0 watched "$ICESTREAM" $command
    says out "$erase$line" " photons at "
    [ "$(tr '\r' '\n' <out | grep -aF "$line" -A1 | grep -acF $'\033[K')" -ge 2 ] || fail "the line of $command stays"
    # shellcheck disable=SC2086 # words
    expect 0 "$ICESTREAM" $command
    grep -qF ' photons at ' err && fail "progress of $command in a file"
done <<'COMMANDS'
wavefront: |compare run.yaml --schedules wavefront,monolithic
wavefront, 1 of 1: |bench run.yaml --repeats 1 --schedules wavefront
a.steps.npy: |generate run.yaml --force -o a.steps.npy
following photons: |trace run.yaml --photon 0:1:3 --force -o a.paths.npy
COMMANDS
finish
