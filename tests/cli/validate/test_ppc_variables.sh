#!/usr/bin/env bash
# Promise: a variable of the environment that ppc reads is a warning with the key to give instead, in validate and in run,
# unless the configuration gives this key. To join: a row of pipeline/photons/models/plausibility_environment.c.
source "$(dirname "$0")/../common.bash"
found() { [ "$(grep -c "a variable of ppc" "$2")" = "$1" ] || fail "not $1 variables: $(cat "$2")"; }
export OVSZ=1 WFLA=405 FWID=9.7 FLDR=0 PPCTABLESDIR=ice
prints "warning    the environment has OVSZ=1, a variable of ppc, which icestream does not read; usual: detector.oversize" validate
found 5 out
expect 0 "$ICESTREAM" validate -s detector.oversize=1
found 4 out
! grep OVSZ out || fail "the key is given"
expect 0 "$ICESTREAM" run -s workload.steps=1 -s device.backend=cpu
grep -q "warning: the environment has FLDR=0, .*usual: one flasher for each LED" err || fail "no warning in a run: $(cat err)"
unset OVSZ WFLA FWID FLDR PPCTABLESDIR
expect 0 "$ICESTREAM" validate
found 0 out
finish
