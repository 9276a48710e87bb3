#!/usr/bin/env bash
# Promises: icestream-lab describes its commands, refuses what it cannot do, and what only a GPU has is not measured
# without one (common.bash hides the GPUs of the machine). icestream names the command that took the place of an
# option. To join: a new command gets a line in each part that it belongs to.
LAB=$(realpath "$2")
source "$(dirname "$0")/../cli/common.bash"

expect 0 "$LAB" help
says out "usage: icestream-lab COMMAND" "  speed " "  stages " "  shapes " "  sweep " "exit statuses:"
expect 0 "$LAB" version
says out "icestream-lab "
expect 0 "$LAB" help shapes
says out "usage: icestream-lab shapes [OPTIONS] [CONFIG]" "--repeats N"
expect 2 "$LAB" swep
says err "icestream-lab: unknown command swep; did you mean sweep?" "try: icestream-lab --help"
expect 2 "$LAB" sweep --once
says err "icestream-lab sweep: " "--once" "try: icestream-lab sweep --help"

expect 1 "$LAB" sweep
says err "sweep is about blocks and registers of a GPU: "
is_empty out
expect 2 "$LAB" sweep -s device.backend=cpu
says err "device.backend: found cpu, but sweep is about blocks and registers of a GPU; expected auto or cuda"
expect 1 "$LAB" stages
says err "stages reads clocks of a GPU: "
for command in stages shapes sweep; do
    expect 2 "$LAB" $command -s stages.tabulate=spherical
    says err "$command: found stages.tabulate, whose table has one kernel and no hits"
done
expect 2 "$LAB" shapes --files
says err "shapes: found --files"
expect 2 "$LAB" speed --files --steps 3
says err "speed: found --files and --steps"
expect 2 "$LAB" speed --without random -s device.backend=cpu
says err "device.backend: found cpu, but speed --without changes the kernels of a GPU; expected auto or cuda"
expect 2 "$LAB" speed --without collide
says err "--without: found 'collide', expected random or divergence"
expect 0 "$LAB" speed -s device.backend=cpu --schedules monolithic --steps 4 --photons 10 --repeats 1
says out "40 photons in 4 steps of workload cascade, oversize 1, on cpu; best of 1" "monolithic"
is_empty err

while read -r command option instead; do
    expect 2 "$ICESTREAM" "$command" "$option"
    says err "the option $option of $command left in version 0.3.0; use $instead"
done <<'ROWS'
bench --reference scripts/reference_clsim.py --files FOLDER and FOLDER/run.yaml
bench --roofline bench/roofline.py
bench --profiler bench/roofline.py, which counts with ncu
bench --impact bench/impact.py PART
bench --shapes icestream-lab shapes
bench --stages icestream-lab stages
bench --sweep icestream-lab sweep
compare --profile bench/roofline.py --files
compare --profiler bench/roofline.py, which counts with ncu
ROWS
finish
