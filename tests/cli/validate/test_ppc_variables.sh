#!/usr/bin/env bash
# Promise: a variable of the environment that ppc reads is a warning with the key to give instead, in validate and in run,
# unless the configuration gives this key. To join: a row of pipeline/models/plausibility_environment.c.
set -eu
icestream=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
expect() { # COUNT TEXT FILE
    [[ $(grep -c -- "$2" "$3") == "$1" ]] || { echo "FAILED: $3 has not $1 times: $2"; cat "$3"; exit 1; }
}
export OVSZ=1 WFLA=405 FWID=9.7 FLDR=0 PPCTABLESDIR=ice
"$icestream" validate > a.txt
expect 1 "warning    the environment has OVSZ=1, a variable of ppc, which icestream does not read; usual: detector.oversize" a.txt
expect 5 "a variable of ppc" a.txt
"$icestream" validate -s detector.oversize=1 > b.txt
expect 0 "OVSZ" b.txt
expect 4 "a variable of ppc" b.txt
"$icestream" run -s workload.steps=1 -s device.backend=cpu 2> c.txt
expect 1 "warning: the environment has FLDR=0, .*usual: one flasher for each LED" c.txt
unset OVSZ WFLA FWID FLDR PPCTABLESDIR
"$icestream" validate > d.txt
expect 0 "a variable of ppc" d.txt
echo "ok: variables of ppc"
